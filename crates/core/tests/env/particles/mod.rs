//! Particle worlds: reference trajectories, physics in two precisions, scripted players, known mistakes.

mod golden;
mod physics;
mod pitfalls;
mod scripted;
