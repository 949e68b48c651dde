//! The algorithms through their real lists: targets, masks, exploration, value factorisation, what is reported.
//!
//! Names carry the number of the pitfall they watch, see `docs/pitfalls.md`.

mod climbing;
mod coma;
mod edges;
mod episode_ends;
mod exploration;
mod frozen;
mod games;
mod masks;
mod mixing;
mod numbers;
mod optimiser;
mod padding;
mod ppo_advantages;
mod ppo_rollout;
mod ppo_values;
mod seats;
mod self_play;
mod standardised;
mod support;
mod turns;
mod wires;
mod works;
