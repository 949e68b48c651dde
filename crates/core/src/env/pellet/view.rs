//! What agents see of a pellet world, and the global state, as vectors of numbers in about [−1, 1].
//!
//! Observation of agent i: own column and row; per pellet slot *seen*, column offset, row offset; per other agent
//! (i + 1, i + 2, … around the ring) the same. Slots hold the pellets in sight, nearest first (moves without walls, then
//! upper, then left), so a slot says nothing about where a pellet was drawn; what is out of sight is three zeros.
//! State: column and row of each agent; per pellet slot *there*, column, row, in ascending order of cells.
//! The clock is in neither: a time limit truncates, it is no part of the world.
//!
//! Every number there is of a cell or of an offset is worked out once ([`Sights`]). What fills a slot is then a whole
//! number, the same way for one world and for eight in lanes; it becomes three numbers where it is written.

use super::map::SIZE;
use super::{AGENTS, PELLETS, Pellet, PelletSpec};
use crate::base::wgsl::Constant;
use crate::base::whole::{Whole, sort};
use crate::env::api::{Label, Others, StateRef};

/// Numbers of one thing seen: flag, column, row.
const SLOT: usize = 3;
/// Most agents and pellets together.
pub(super) const THINGS: usize = (*AGENTS.end() + *PELLETS.end()) as usize;

/// Places of neighbouring rows differ by this: from the left edge to the right one and back is less.
const ROW: i32 = 2 * *SIZE.end() as i32;
/// An offset is a difference of places plus this, so that none is negative.
const CENTRE: i32 = ROW * ROW / 2 + ROW / 2;
/// How many offsets there are.
const OFFSETS: usize = (ROW * ROW) as usize;
/// Place of what is gone: no offset to it is among [`OFFSETS`].
const FAR: i32 = OFFSETS as i32;
/// What fills the slot of a pellet that is not seen. It is above all that are, and its offset is nobody's.
const UNSEEN: i32 = ROW * OFFSETS as i32;

/// What can be seen of a cell, and from one cell of another.
#[derive(Clone, Debug)]
pub(super) struct Sights {
    /// Column and row of a cell as numbers: −1 at the left and upper edge, 1 at the right and lower one `[cells]`.
    positions: Vec<[f32; 2]>,
    /// The place of a cell: its column, and [`ROW`] for each row above it `[cells]`.
    places: Vec<i32>,
    /// What pellets are sorted by: moves, then the offset, which is rows down, then columns right `[OFFSETS]`.
    ranks: Vec<i32>,
    /// 1 and the offset as a share of the longest possible one; zeros where that is out of sight `[OFFSETS]`.
    seen: Vec<[f32; SLOT]>,
}

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
    let (n, things) = (world.spec.num_agents as usize, &state.ints[world.things_at()]);
    let (mut places, mut slots) = ([0; THINGS], [0; THINGS]);
    let places = world.sights.places(things, &mut places);
    let slots = world.sights.slots(places, n, agent as usize, &mut slots);
    world.sights.write(things[agent as usize], slots.iter().copied(), obs);
}

pub(super) fn state(world: &Pellet, state: StateRef<'_>, out: &mut [f32]) {
    let position = |cell: i32| world.sights.positions[cell as usize];
    let (agent_slots, pellet_slots) = out.split_at_mut(world.spec.num_agents as usize * 2);
    for (slot, &cell) in agent_slots.chunks_exact_mut(2).zip(world.agents(state)) {
        slot.copy_from_slice(&position(cell));
    }
    pellet_slots.fill(0.0);
    for (slot, &cell) in pellet_slots.chunks_exact_mut(SLOT).zip(world.pellets_left(state)) {
        let [x, y] = position(cell);
        slot.copy_from_slice(&[1.0, x, y]);
    }
}

impl Sights {
    /// Those of a world, whose sides are already known to be right. Something is in sight within the radius along either
    /// axis (Chebyshev distance; walls hide nothing).
    pub(super) fn new(spec: &PelletSpec) -> Self {
        let map = &spec.map;
        let (across, down) = (map.width - 1, map.height - 1);
        let cells = (0..map.cells.len() as u32).map(|cell| map.column_row(cell));
        let scaled = |at: u32, last: u32| 2.0 * at as f32 / last as f32 - 1.0;
        let positions = cells.clone().map(|(column, row)| [scaled(column, across), scaled(row, down)]).collect();
        let places = cells.map(|(column, row)| row as i32 * ROW + column as i32).collect();
        let (mut ranks, mut seen) = (vec![UNSEEN; OFFSETS], vec![[0.0; SLOT]; OFFSETS]);
        let in_sight = |last: u32| {
            let radius = spec.sight.unwrap_or(last).min(last) as i32;
            -radius..=radius
        };
        for dy in in_sight(down) {
            for dx in in_sight(across) {
                let offset = CENTRE + dy * ROW + dx;
                ranks[offset as usize] = (dx.abs() + dy.abs()) * OFFSETS as i32 + offset;
                seen[offset as usize] = [1.0, dx as f32 / across as f32, dy as f32 / down as f32];
            }
        }
        Self { positions, places, ranks, seen }
    }

    /// As a shader knows them.
    pub(super) fn constants(&self) -> [(&'static str, Constant); 7] {
        let words = |numbers: &[i32]| Constant::Words(numbers.iter().map(|&number| number as u32).collect());
        [
            ("POSITIONS", Constant::Reals(self.positions.as_flattened().to_vec())),
            ("PLACES", words(&self.places)),
            ("RANKS", words(&self.ranks)),
            ("SEEN", Constant::Reals(self.seen.as_flattened().to_vec())),
            ("OFFSETS", Constant::Word(OFFSETS as u32)),
            ("CENTRE", Constant::Word(CENTRE as u32)),
            ("UNSEEN", Constant::Word(UNSEEN as u32)),
        ]
    }

    /// Where things are.
    #[inline(always)]
    pub(super) fn places<'a, W: Whole>(&self, cells: &[W], places: &'a mut [W]) -> &'a [W] {
        let places = &mut places[..cells.len()];
        places.iter_mut().zip(cells).for_each(|(place, cell)| *place = cell.entry(&self.places, FAR));
        places
    }

    /// What `agent` sees, from the places of all n agents and of the pellets: its offset in the lower digits.
    #[inline(always)]
    pub(super) fn slots<'a, W: Whole>(&self, places: &[W], n: usize, agent: usize, slots: &'a mut [W]) -> &'a [W] {
        let slots = &mut slots[..places.len() - 1];
        let (agents, pellets) = places.split_at(n);
        let (nearest, others) = slots.split_at_mut(pellets.len());
        let origin = agents[agent] - W::of(CENTRE);
        for (slot, &pellet) in nearest.iter_mut().zip(pellets) {
            *slot = (pellet - origin).entry(&self.ranks, UNSEEN);
        }
        sort(nearest);
        let ring = agents[agent + 1..].iter().chain(&agents[..agent]);
        for (slot, &other) in others.iter_mut().zip(ring) {
            *slot = other - origin;
        }
        slots
    }

    /// The observation of an agent on `cell` that sees `slots`.
    #[inline(always)]
    pub(super) fn write(&self, cell: i32, slots: impl Iterator<Item = i32>, obs: &mut [f32]) {
        let (own, rest) = obs.split_at_mut(2);
        own.copy_from_slice(&self.positions[cell as usize]);
        for (numbers, slot) in rest.chunks_exact_mut(SLOT).zip(slots) {
            numbers.copy_from_slice(&self.seen[slot as usize % OFFSETS]);
        }
    }
}
