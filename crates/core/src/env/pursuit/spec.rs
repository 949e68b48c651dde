//! A pursuit world as the user sets it up, and what can be wrong with it, in sentences.
//!
//! Fields have the names and meaning of `pursuit_v5`'s arguments (PettingZoo 1.27.0). Serde is here because the settings
//! are a part of the experiment that crosses to the worker; links have their own form.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::map;
use crate::env::range::{OutOfRange, within};

/// Cells along x and y.
pub const SIDE: RangeInclusive<u32> = 2..=32;
/// How many pursuers there may be.
pub const PURSUERS: RangeInclusive<u32> = 1..=16;
/// How many evaders there may be.
pub const EVADERS: RangeInclusive<u32> = 1..=64;
/// Cells along a side of what a pursuer sees.
pub const OBS_RANGE: RangeInclusive<u32> = 1..=33;
/// Env steps of an episode.
pub const TIME_LIMIT: RangeInclusive<u32> = 1..=10_000;
/// What a tag, a catch or an env step may pay.
pub const REWARD: RangeInclusive<f64> = -1000.0..=1000.0;

/// The world as the user sets it up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PursuitSpec {
    /// Cells along x, drawn to the right.
    pub x_size: u32,
    /// Cells along y, drawn downwards.
    pub y_size: u32,
    /// Env steps until the episode is truncated.
    pub max_cycles: u32,
    /// Whether every pursuer gets the mean of all rewards; else each its own.
    pub shared_reward: bool,
    /// Evaders of an episode.
    pub n_evaders: u32,
    /// Number of pursuers, n.
    pub n_pursuers: u32,
    /// Cells along a side of the square a pursuer sees. Of an even number the last row and column show walls only, as
    /// in the reference.
    pub obs_range: u32,
    /// Pursuers that must stand on an evader to catch it, where it need not be surrounded.
    pub n_catch: u32,
    /// Whether evaders stand still.
    pub freeze_evaders: bool,
    /// What an evader beside a pursuer pays that pursuer at every turn, before it is divided by the number of pursuers.
    pub tag_reward: f64,
    /// What a pursuer gets in an env step in which it helped to catch.
    pub catch_reward: f64,
    /// What every env step pays.
    pub urgency_reward: f64,
    /// Whether an evader is caught by surrounding it; else by standing on it.
    pub surround: bool,
    /// Side of the window in which everybody starts, as a share of the map's sides.
    pub constraint_window: f64,
}

/// Why a [`PursuitSpec`] is no world, or a scene none of its states.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PursuitError {
    /// A number out of its range.
    #[error(transparent)]
    Range(#[from] OutOfRange),
    /// More of a kind than there are free cells.
    #[error(
        "The parameter {name} is {given}, but the map has {free} cells without a building: it must be from 1 to {free}."
    )]
    Crowded {
        /// The parameter.
        name: &'static str,
        /// What was asked for.
        given: u32,
        /// Free cells.
        free: u32,
    },
    /// A scene of another number of pursuers or evaders.
    #[error("The scene has {given} {name}: there must be {needed}.")]
    Count {
        /// `n_pursuers` or `n_evaders`.
        name: &'static str,
        /// How many there are.
        given: usize,
        /// How many there must be.
        needed: u32,
    },
    /// Somebody of a scene stands in a building or off the map.
    #[error("Somebody stands at x = {x}, y = {y}: that is off the map or in a building.")]
    Place {
        /// Cell along x.
        x: i64,
        /// Cell along y.
        y: i64,
    },
}

impl Default for PursuitSpec {
    /// The reference's defaults.
    fn default() -> Self {
        Self {
            x_size: 16,
            y_size: 16,
            max_cycles: 500,
            shared_reward: true,
            n_evaders: 30,
            n_pursuers: 8,
            obs_range: 7,
            n_catch: 2,
            freeze_evaders: false,
            tag_reward: 0.01,
            catch_reward: 5.0,
            urgency_reward: -0.1,
            surround: true,
            constraint_window: 1.0,
        }
    }
}

/// Whether the settings make a world that can be reset.
pub(super) fn check(spec: &PursuitSpec) -> Result<(), PursuitError> {
    within("x_size", spec.x_size, &SIDE)?;
    within("y_size", spec.y_size, &SIDE)?;
    within("max_cycles", spec.max_cycles, &TIME_LIMIT)?;
    within("n_pursuers", spec.n_pursuers, &PURSUERS)?;
    within("n_evaders", spec.n_evaders, &EVADERS)?;
    within("obs_range", spec.obs_range, &OBS_RANGE)?;
    within("n_catch", spec.n_catch, &PURSUERS)?;
    within("tag_reward", spec.tag_reward, &REWARD)?;
    within("catch_reward", spec.catch_reward, &REWARD)?;
    within("urgency_reward", spec.urgency_reward, &REWARD)?;
    let free = map::rectangle(spec.x_size, spec.y_size).iter().filter(|&&wall| !wall).count() as u32;
    for (name, given) in [("n_pursuers", spec.n_pursuers), ("n_evaders", spec.n_evaders)] {
        if given > free {
            return Err(PursuitError::Crowded { name, given, free });
        }
    }
    let least = 1.0 / f64::from(spec.x_size.min(spec.y_size));
    Ok(within("constraint_window", spec.constraint_window, &(least..=1.0))?)
}
