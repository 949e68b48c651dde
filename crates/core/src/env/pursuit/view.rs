//! What pursuers see, number for number as in `pursuit_v5`, and the global state.
//!
//! Observation: a square of cells around the pursuer, rows from above, of each cell three numbers: 1 for a building or
//! outside the map, how many pursuers, how many evaders. State: the same three numbers of the whole map.

use super::{NOWHERE, Pursuit, PursuitSpec};
use crate::env::api::{Label, StateRef};

/// Numbers of a cell.
pub(super) const CHANNELS: usize = 3;

/// Cells from the pursuer to the edge of what it sees.
pub(super) fn offset(spec: &PursuitSpec) -> i32 {
    (spec.obs_range as i32 - 1) / 2
}

/// A name for every index of the observation.
pub(super) fn labels(spec: &PursuitSpec) -> Vec<Label> {
    let (side, offset) = (spec.obs_range as i32, offset(spec));
    let cells = (-offset..side - offset).flat_map(|dy| (-offset..side - offset).map(move |dx| [dx, dy]));
    cells
        .flat_map(|place| ["obs.near.wall", "obs.near.pursuers", "obs.near.evaders"].map(|id| Label::new(id, &place)))
        .collect()
}

pub(super) fn observe(world: &Pursuit, state: StateRef<'_>, agent: u32, obs: &mut [f32]) {
    let (side, offset) = (world.spec.obs_range as i32, offset(&world.spec));
    let (own_x, own_y) = world.place_of(state.ints[world.pursuers_at()][agent as usize]);
    let (x_size, y_size) = (world.spec.x_size as i32, world.spec.y_size as i32);
    // Of an even range the reference fills all but the last row and column.
    let is_seen = |dx: i32, dy: i32| dx.abs() <= offset && dy.abs() <= offset;
    let mut cells = obs.chunks_exact_mut(CHANNELS);
    for dy in -offset..side - offset {
        for (dx, cell) in (-offset..side - offset).zip(&mut cells) {
            let (x, y) = (own_x + dx, own_y + dy);
            let is_open = is_seen(dx, dy)
                && (0..x_size).contains(&x)
                && (0..y_size).contains(&y)
                && !world.walls[world.cell(x, y) as usize];
            cell.copy_from_slice(&[if is_open { 0.0 } else { 1.0 }, 0.0, 0.0]);
        }
    }
    count(world, state, obs, |x, y| {
        let (dx, dy) = (x - own_x, y - own_y);
        is_seen(dx, dy).then(|| ((dy + offset) * side + dx + offset) as usize)
    });
}

pub(super) fn state(world: &Pursuit, state: StateRef<'_>, out: &mut [f32]) {
    for (cell, &wall) in out.chunks_exact_mut(CHANNELS).zip(&world.walls) {
        cell.copy_from_slice(&[if wall { 1.0 } else { 0.0 }, 0.0, 0.0]);
    }
    count(world, state, out, |x, y| Some(world.cell(x, y) as usize));
}

/// Adds everybody to the cell that `index` finds for a place.
fn count(world: &Pursuit, state: StateRef<'_>, cells: &mut [f32], index: impl Fn(i32, i32) -> Option<usize>) {
    for (channel, kind) in [(1, world.pursuers_at()), (2, world.evaders_at())] {
        for &cell in state.ints[kind].iter().filter(|&&cell| cell != NOWHERE) {
            let (x, y) = world.place_of(cell);
            if let Some(at) = index(x, y) {
                cells[at * CHANNELS + channel] += 1.0;
            }
        }
    }
}
