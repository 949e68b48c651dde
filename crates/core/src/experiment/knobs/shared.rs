//! Fields that several worlds have under one key: number of agents, time limit, size, sight.
//!
//! A link and the panel know one key; which settings it stands for depends on the world.

use crate::experiment::spec::{EnvChoice, ExperimentSpec};

/// Whether the user says how many agents there are.
pub(super) fn has_agents(s: &ExperimentSpec) -> bool {
    s.env == EnvChoice::Pellet
}

pub(super) fn set_agents(s: &mut ExperimentSpec, agents: u32) {
    match s.env {
        EnvChoice::Pellet => s.pellet.agents = agents,
        EnvChoice::Matrix | EnvChoice::TwoStep => {}
    }
}

/// Whether an episode is cut off at a limit that the user sets.
pub(super) fn has_limit(s: &ExperimentSpec) -> bool {
    s.env == EnvChoice::Pellet
}

pub(super) fn limit(s: &ExperimentSpec) -> u32 {
    match s.env {
        EnvChoice::Pellet | EnvChoice::Matrix | EnvChoice::TwoStep => s.pellet.limit,
    }
}

pub(super) fn set_limit(s: &mut ExperimentSpec, limit: u32) {
    match s.env {
        EnvChoice::Pellet => s.pellet.limit = limit,
        EnvChoice::Matrix | EnvChoice::TwoStep => {}
    }
}

/// Whether the world is a grid of a size that the user sets.
pub(super) fn has_size(s: &ExperimentSpec) -> bool {
    s.env == EnvChoice::Pellet
}

pub(super) fn size(s: &ExperimentSpec) -> (u32, u32) {
    match s.env {
        EnvChoice::Pellet | EnvChoice::Matrix | EnvChoice::TwoStep => (s.pellet.width, s.pellet.height),
    }
}

pub(super) fn set_size(s: &mut ExperimentSpec, (width, height): (u32, u32)) {
    match s.env {
        EnvChoice::Pellet => (s.pellet.width, s.pellet.height) = (width, height),
        EnvChoice::Matrix | EnvChoice::TwoStep => {}
    }
}

/// Whether agents see only so far as the user sets.
pub(super) fn has_sight(s: &ExperimentSpec) -> bool {
    s.env == EnvChoice::Pellet
}

pub(super) fn sight(s: &ExperimentSpec) -> Option<u32> {
    match s.env {
        EnvChoice::Pellet | EnvChoice::Matrix | EnvChoice::TwoStep => s.pellet.sight,
    }
}

pub(super) fn set_sight(s: &mut ExperimentSpec, sight: Option<u32>) {
    match s.env {
        EnvChoice::Pellet => s.pellet.sight = sight,
        EnvChoice::Matrix | EnvChoice::TwoStep => {}
    }
}
