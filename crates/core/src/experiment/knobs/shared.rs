//! Fields that several worlds have under one key: number of agents, time limit, size, sight.
//!
//! A link and the panel know one key; which settings it stands for depends on the world.

use std::ops::RangeInclusive;

use crate::env::board::BoardSpec;
use crate::env::particles::{MAX_AGENTS, Scenario};
use crate::env::pellet::{AGENTS, SIZE};
use crate::experiment::spec::{EnvChoice, ExperimentSpec};
use crate::experiment::world::num_agents;

/// Fewest cells along a side of a foraging or pursuit world in a link, as lbforaging registers them.
const LEAST_SIDE: u32 = 5;

/// Whether the user says how many agents there are, all kinds together.
pub(super) fn has_agents(s: &ExperimentSpec) -> bool {
    match s.env {
        EnvChoice::Particles(scenario) => matches!(scenario, Scenario::Spread | Scenario::Adversary),
        EnvChoice::Board(_) => false,
        env => !env.is_short_game(),
    }
}

/// How many agents the user has asked for; where the world says it, nothing to judge.
pub(super) fn agents(s: &ExperimentSpec) -> u32 {
    if has_agents(s) { num_agents(s) } else { 2 }
}

pub(super) fn set_agents(s: &mut ExperimentSpec, agents: u32) {
    match s.env {
        EnvChoice::Pellet => s.pellet.agents = agents,
        EnvChoice::Foraging => s.foraging.players = agents,
        EnvChoice::Pursuit => s.pursuit.n_pursuers = agents,
        // One is the adversary.
        EnvChoice::Particles(Scenario::Adversary) => s.particles.agents = agents.saturating_sub(1),
        EnvChoice::Particles(Scenario::Spread) => s.particles.agents = agents,
        EnvChoice::Particles(_) | EnvChoice::Matrix | EnvChoice::TwoStep | EnvChoice::Board(_) => {}
    }
}

/// What a world has room for where that is less than others have.
pub(super) fn bounds(key: &str, s: &ExperimentSpec) -> Option<RangeInclusive<u32>> {
    match (key, s.env) {
        ("agents", EnvChoice::Pellet | EnvChoice::Foraging | EnvChoice::Pursuit) => Some(AGENTS),
        ("agents", EnvChoice::Particles(Scenario::Adversary)) => Some(2..=MAX_AGENTS as u32),
        // A move is left to each player.
        ("opening", EnvChoice::Board(BoardSpec::ConnectFour)) => Some(0..=40),
        ("opening", EnvChoice::Board(BoardSpec::TicTacToe)) => Some(0..=7),
        ("size", EnvChoice::Foraging | EnvChoice::Pursuit) => Some(LEAST_SIDE..=*SIZE.end()),
        _ => None,
    }
}

/// Whether an episode is cut off at a limit that the user sets.
pub(super) fn has_limit(s: &ExperimentSpec) -> bool {
    !s.env.is_short_game() && !matches!(s.env, EnvChoice::Board(_))
}

pub(super) fn limit(s: &ExperimentSpec) -> u32 {
    match s.env {
        EnvChoice::Foraging => s.foraging.time_limit,
        EnvChoice::Pursuit => s.pursuit.max_cycles,
        EnvChoice::Particles(_) => s.particles.max_cycles,
        EnvChoice::Pellet | EnvChoice::Matrix | EnvChoice::TwoStep | EnvChoice::Board(_) => s.pellet.limit,
    }
}

pub(super) fn set_limit(s: &mut ExperimentSpec, limit: u32) {
    match s.env {
        EnvChoice::Pellet => s.pellet.limit = limit,
        EnvChoice::Foraging => s.foraging.time_limit = limit,
        EnvChoice::Pursuit => s.pursuit.max_cycles = limit,
        EnvChoice::Particles(_) => s.particles.max_cycles = limit,
        EnvChoice::Matrix | EnvChoice::TwoStep | EnvChoice::Board(_) => {}
    }
}

/// Whether the world is a grid of a size that the user sets.
pub(super) fn has_size(s: &ExperimentSpec) -> bool {
    matches!(s.env, EnvChoice::Pellet | EnvChoice::Foraging | EnvChoice::Pursuit)
}

/// Columns and rows.
pub(super) fn size(s: &ExperimentSpec) -> (u32, u32) {
    match s.env {
        EnvChoice::Foraging => (s.foraging.columns, s.foraging.rows),
        EnvChoice::Pursuit => (s.pursuit.x_size, s.pursuit.y_size),
        _ => (s.pellet.width, s.pellet.height),
    }
}

pub(super) fn set_size(s: &mut ExperimentSpec, (width, height): (u32, u32)) {
    match s.env {
        EnvChoice::Pellet => (s.pellet.width, s.pellet.height) = (width, height),
        EnvChoice::Foraging => (s.foraging.columns, s.foraging.rows) = (width, height),
        EnvChoice::Pursuit => (s.pursuit.x_size, s.pursuit.y_size) = (width, height),
        EnvChoice::Matrix | EnvChoice::TwoStep | EnvChoice::Particles(_) | EnvChoice::Board(_) => {}
    }
}

/// Whether agents see only so far as the user sets.
pub(super) fn has_sight(s: &ExperimentSpec) -> bool {
    matches!(s.env, EnvChoice::Pellet | EnvChoice::Foraging)
}

pub(super) fn sight(s: &ExperimentSpec) -> Option<u32> {
    match s.env {
        EnvChoice::Foraging => s.foraging.sight,
        _ => s.pellet.sight,
    }
}

pub(super) fn set_sight(s: &mut ExperimentSpec, sight: Option<u32>) {
    match s.env {
        EnvChoice::Pellet => s.pellet.sight = sight,
        EnvChoice::Foraging => s.foraging.sight = sight,
        EnvChoice::Matrix | EnvChoice::TwoStep | EnvChoice::Pursuit | EnvChoice::Particles(_) | EnvChoice::Board(_) => {
        }
    }
}
