//! What a run is: its description, the commands that steer it, the snapshots it publishes.
//!
//! The place of serde: environments, networks and algorithms below know nothing of formats.

pub mod bench;
pub mod command;
pub mod compare;
pub mod divergence;
pub mod evaluate;
pub mod joint;
pub mod keep;
pub mod knobs;
pub mod ladder;
pub mod link;
pub mod pack;
pub mod policy;
mod presence;
pub mod presets;
mod rates;
pub mod run;
pub mod session;
pub mod snapshot;
pub mod spec;
pub mod stage;
pub mod trial;
pub mod world;
