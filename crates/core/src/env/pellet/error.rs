//! What can be wrong with a pellet world, in sentences for whoever set it up.

use crate::env::pellet::{AGENTS, PELLETS, PelletSpec, SIGHT, SIZE, TIME_LIMIT};

/// Why a [`PelletSpec`] is no world.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PelletError {
    /// Too small or too large.
    #[error("The world is {width} × {height} cells: both sides must be from 2 to 16.")]
    Size {
        /// Cells in a row.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// The list of cells does not fit the size.
    #[error("The map lists {given} cells, but its size needs {needed}: choose the size again.")]
    Cells {
        /// Cells listed.
        given: usize,
        /// Width times height.
        needed: u32,
    },
    /// Too many agents, or none.
    #[error("There are {0} agents: from 1 to 8 are possible.")]
    Agents(u32),
    /// Too many pellets, or none.
    #[error("There are {0} pellets: from 1 to 8 are possible.")]
    Pellets(u32),
    /// The sight radius is out of range.
    #[error("The sight radius is {0}: it must be from 1 to 16 cells, or unlimited.")]
    Sight(u32),
    /// The move cost is out of range.
    #[error("A move costs {0}: it must be from 0 to 1.")]
    MoveCost(f32),
    /// The mix is out of range.
    #[error("The team's weight α is {0}: it must be from 0 to 1.")]
    Alpha(f32),
    /// The time limit is out of range.
    #[error("The time limit is {0} env steps: it must be from 1 to 1000.")]
    TimeLimit(u32),
    /// Nobody can stand anywhere.
    #[error("Every cell is a wall: remove a wall.")]
    OnlyWalls,
    /// A hand-placed start is unusable.
    #[error("Agent {0} starts in a wall or outside the world: place it on a free cell.")]
    StartBlocked(u32),
    /// Random starts on a world in parts.
    #[error(
        "Walls cut the world into parts, and with random starts a pellet could be out of everyone's reach: open a wall or choose other starts."
    )]
    Disconnected,
    /// No place for the pellets.
    #[error(
        "{pellets} pellets need as many cells that agents reach and do not start on, but there are {room}: free more cells or use fewer pellets."
    )]
    TooFewPelletCells {
        /// Cells there are for certain.
        room: u32,
        /// Pellets of an episode.
        pellets: u32,
    },
}

/// Every number by itself.
pub(super) fn check_ranges(spec: &PelletSpec) -> Result<(), PelletError> {
    let (width, height) = (spec.map.width, spec.map.height);
    if !SIZE.contains(&width) || !SIZE.contains(&height) {
        return Err(PelletError::Size { width, height });
    }
    if spec.map.cells.len() != (width * height) as usize {
        return Err(PelletError::Cells { given: spec.map.cells.len(), needed: width * height });
    }
    if !AGENTS.contains(&spec.num_agents) {
        return Err(PelletError::Agents(spec.num_agents));
    }
    if !PELLETS.contains(&spec.num_pellets) {
        return Err(PelletError::Pellets(spec.num_pellets));
    }
    if let Some(radius) = spec.sight.filter(|radius| !SIGHT.contains(radius)) {
        return Err(PelletError::Sight(radius));
    }
    // `contains` is false for NaN.
    if !(0.0..=1.0).contains(&spec.move_cost) {
        return Err(PelletError::MoveCost(spec.move_cost));
    }
    if !(0.0..=1.0).contains(&spec.alpha) {
        return Err(PelletError::Alpha(spec.alpha));
    }
    if !TIME_LIMIT.contains(&spec.time_limit) {
        return Err(PelletError::TimeLimit(spec.time_limit));
    }
    Ok(())
}
