//! What a person sees of a run: views over snapshots, the theme they are painted in, the texts they speak.
//!
//! Views change nothing. They read a [`api::ViewCtx`] and push [`api::Action`]s, which the app carries out once per
//! frame.

pub mod api;
pub mod badges;
pub mod icons;
pub mod ladder;
pub mod matches;
pub mod numbers;
pub mod observation;
pub mod orbit;
pub mod outline;
pub mod parts;
pub mod plots;
pub mod policy;
pub mod qtot;
pub mod registry;
pub mod returns;
pub mod rewards;
pub mod rows;
pub mod slider;
pub mod stage;
pub mod teams;
pub mod text;
pub mod theme;
pub mod widgets;
