//! What a run is: its description, the commands that steer it, the snapshots it publishes.
//!
//! The place of serde: environments, networks and algorithms below know nothing of formats.

pub mod command;
pub mod knobs;
pub mod link;
pub mod pack;
pub mod session;
pub mod snapshot;
pub mod spec;
pub mod world;
