//! What agents see of a pellet world, and the global state, as vectors of numbers in about [−1, 1].
//!
//! Observation of agent i: own column and row; per pellet slot *seen*, column offset, row offset; per other agent
//! (i + 1, i + 2, … around the ring) the same. Slots hold the pellets in sight, nearest first (moves without walls, then
//! upper, then left), so a slot says nothing about where a pellet was drawn; what is out of sight is three zeros.
//! State: column and row of each agent; per pellet slot *there*, column, row, in ascending order of cells.
//! The clock is in neither: a time limit truncates, it is no part of the world.

use crate::env::api::{Label, Others, StateRef};
use crate::env::pellet::{PELLETS, Pellet};

/// Numbers of one thing seen: flag, column, row.
const SLOT: usize = 3;

pub(super) fn obs_names(num_agents: u32, num_pellets: u32) -> Vec<Label> {
    let own = ["obs.own.x", "obs.own.y"].map(|id| Label::new(id, &[]));
    let pellets = (1..=num_pellets as i32)
        .flat_map(|slot| ["obs.pellet.seen", "obs.pellet.dx", "obs.pellet.dy"].map(|id| Label::new(id, &[slot])));
    let others = (1..num_agents as i32).flat_map(|place| {
        ["obs.other.seen", "obs.other.dx", "obs.other.dy"].map(|id| Label::of_other(id, &[place], Others::Around))
    });
    own.into_iter().chain(pellets).chain(others).collect()
}

/// Numbers of the state vector.
pub(super) fn state_len(num_agents: u32, num_pellets: u32) -> u32 {
    2 * num_agents + SLOT as u32 * num_pellets
}

pub(super) fn observe(world: &Pellet, state: StateRef<'_>, agent: u32, obs: &mut [f32]) {
    let agents = world.agents(state);
    let here = world.place(agents[agent as usize]);
    obs[..2].copy_from_slice(&world.position(here));
    let (pellet_slots, other_slots) = obs[2..].split_at_mut(world.spec.num_pellets as usize * SLOT);

    // Distances sort as (moves, rows down, columns right) packed into one key beside the offset.
    let mut nearest = [(i32::MAX, 0, 0); *PELLETS.end() as usize];
    let pellets = world.pellets_left(state);
    for (entry, &cell) in nearest.iter_mut().zip(pellets) {
        let (dx, dy) = world.offset(here, cell);
        *entry = (dx.abs() + dy.abs(), dy, dx);
    }
    let nearest = &mut nearest[..pellets.len()];
    nearest.sort_unstable();
    pellet_slots.fill(0.0);
    let in_sight = nearest.iter().filter(|&&(_, dy, dx)| world.sees(dx, dy));
    for (slot, &(_, dy, dx)) in pellet_slots.chunks_exact_mut(SLOT).zip(in_sight) {
        slot.copy_from_slice(&world.seen(dx, dy));
    }

    let ring = agents.iter().cycle().skip(agent as usize + 1);
    for (slot, &cell) in other_slots.chunks_exact_mut(SLOT).zip(ring) {
        let (dx, dy) = world.offset(here, cell);
        slot.copy_from_slice(&if world.sees(dx, dy) { world.seen(dx, dy) } else { [0.0; SLOT] });
    }
}

pub(super) fn state(world: &Pellet, state: StateRef<'_>, out: &mut [f32]) {
    let (agent_slots, pellet_slots) = out.split_at_mut(world.spec.num_agents as usize * 2);
    for (slot, &cell) in agent_slots.chunks_exact_mut(2).zip(world.agents(state)) {
        slot.copy_from_slice(&world.position(world.place(cell)));
    }
    pellet_slots.fill(0.0);
    for (slot, &cell) in pellet_slots.chunks_exact_mut(SLOT).zip(world.pellets_left(state)) {
        let [x, y] = world.position(world.place(cell));
        slot.copy_from_slice(&[1.0, x, y]);
    }
}

impl Pellet {
    /// Column and row of a state word.
    fn place(&self, cell: i32) -> (i32, i32) {
        let (column, row) = self.spec.map.column_row(cell as u32);
        (column as i32, row as i32)
    }

    /// Columns to the right and rows down from `here` to a cell.
    fn offset(&self, here: (i32, i32), cell: i32) -> (i32, i32) {
        let (column, row) = self.place(cell);
        (column - here.0, row - here.1)
    }

    /// Whether something so far off is in sight (Chebyshev distance; walls hide nothing).
    fn sees(&self, dx: i32, dy: i32) -> bool {
        self.spec.sight.is_none_or(|radius| dx.abs().max(dy.abs()) <= radius as i32)
    }

    /// A place as numbers: −1 at the left and upper edge, 1 at the right and lower one.
    fn position(&self, (column, row): (i32, i32)) -> [f32; 2] {
        let scaled = |at: i32, side: u32| 2.0 * at as f32 / (side - 1) as f32 - 1.0;
        [scaled(column, self.spec.map.width), scaled(row, self.spec.map.height)]
    }

    /// A slot in sight: 1 and the offset as a share of the longest possible one.
    fn seen(&self, dx: i32, dy: i32) -> [f32; SLOT] {
        [1.0, dx as f32 / (self.spec.map.width - 1) as f32, dy as f32 / (self.spec.map.height - 1) as f32]
    }
}
