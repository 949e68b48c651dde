//! Particle worlds: reference trajectories, physics in two precisions, scripted players, names of what is seen,
//! known mistakes.

mod golden;
mod names;
mod physics;
mod pitfalls;
mod scripted;
