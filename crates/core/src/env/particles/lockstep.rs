//! Eight worlds a step, a lane each: the physics and a scenario's law on [`Lanes`], compiled for the widest registers.
//!
//! States come and go one world after the other; they are transposed on the way in and out. Nothing here knows a rule:
//! a lane has the bits of [`Env::step`](crate::env::api::Env::step) because both run the same code. Loops where closures
//! would do: those are not always inlined, and then work on one register at a time.

use super::scene::{Law, Pen, Rules, View};
use super::{MAX_AGENTS, PUSHES, Particles, TIME};
use crate::base::lanes::{LANES, Lanes, kernel};
use crate::env::api::{Ended, Tile, weighted};

type Wide = Lanes<f64>;

/// A law whose worlds move together: agents that push and say nothing, as many landmarks as agents, no goals.
pub(super) trait Lockstep {
    /// See [`Env::step_tile`](crate::env::api::Env::step_tile).
    fn step(&self, world: &Particles, tile: &mut Tile<'_>);
}

/// A law for lanes and rules for each world.
pub(super) trait Tiled: Law<Wide> + Rules {}
impl<L: Law<Wide> + Rules> Tiled for L {}

impl<L: Tiled> Lockstep for L {
    fn step(&self, world: &Particles, tile: &mut Tile<'_>) {
        match world.n() {
            2 => two(self, world, tile),
            3 => three(self, world, tile),
            4 => four(self, world, tile),
            _ => many(self, world, tile),
        }
    }
}

kernel! { #[inline(never)] fn two[L: Tiled](law: &L, world: &Particles, tile: &mut Tile<'_>) => step_two }
kernel! { #[inline(never)] fn three[L: Tiled](law: &L, world: &Particles, tile: &mut Tile<'_>) => step_three }
kernel! { #[inline(never)] fn four[L: Tiled](law: &L, world: &Particles, tile: &mut Tile<'_>) => step_four }
kernel! { #[inline(never)] fn many[L: Tiled](law: &L, world: &Particles, tile: &mut Tile<'_>) => step_many }

#[inline(always)]
fn step_two<L: Tiled>(law: &L, world: &Particles, tile: &mut Tile<'_>) {
    step::<L, 2>(law, world, 2, tile);
}

#[inline(always)]
fn step_three<L: Tiled>(law: &L, world: &Particles, tile: &mut Tile<'_>) {
    step::<L, 3>(law, world, 3, tile);
}

#[inline(always)]
fn step_four<L: Tiled>(law: &L, world: &Particles, tile: &mut Tile<'_>) {
    step::<L, 4>(law, world, 4, tile);
}

#[inline(always)]
fn step_many<L: Tiled>(law: &L, world: &Particles, tile: &mut Tile<'_>) {
    step::<L, MAX_AGENTS>(law, world, world.n(), tile);
}

/// An env step of `n` agents, with room for `CAP`. Where the compiler knows n it leaves no loop over agents.
#[inline(always)]
fn step<L: Tiled, const CAP: usize>(law: &L, world: &Particles, n: usize, tile: &mut Tile<'_>) {
    let entities = 2 * n;
    let (ints, width, obs_len) = (1, 2 * (entities + n), world.info.obs_len as usize);
    debug_assert!(
        entities == world.scene.bodies.len() && ints == world.info.ints as usize,
        "as many landmarks as agents, no goals"
    );
    debug_assert!(width == world.info.reals as usize, "nobody speaks");
    let mut places = [[[Wide::ZERO; 2]; CAP]; 2];
    let (mut v, mut force) = ([[Wide::ZERO; 2]; CAP], [[Wide::ZERO; 2]; CAP]);
    let (v, force) = (&mut v[..n], &mut force[..n]);
    let places = &mut places.as_flattened_mut()[..entities];
    let worlds = pairs(tile.reals, width, entities + n);
    for (k, pair) in places.iter_mut().chain(&mut *v).enumerate() {
        for lane in 0..LANES {
            (pair[0].0[lane], pair[1].0[lane]) = (worlds[lane][k][0], worlds[lane][k][1]);
        }
    }
    for (agent, force) in force.iter_mut().enumerate() {
        for lane in 0..LANES {
            let push = PUSHES[tile.actions[lane * n + agent] as usize];
            (force[0].0[lane], force[1].0[lane]) = (push[0], push[1]);
        }
        let accel = Wide::splat(world.scene.bodies[agent].accel);
        *force = [force[0] * accel, force[1] * accel];
    }

    world.physics.step(places, v, force);

    let worlds = pairs_mut(tile.reals, width, entities + n);
    // Landmarks stay where they are.
    for (k, pair) in places[..n].iter().enumerate().chain((entities..).zip(&*v)) {
        for lane in 0..LANES {
            worlds[lane][k] = [pair[0].0[lane], pair[1].0[lane]];
        }
    }
    for lane in 0..LANES {
        let time = &mut tile.ints[lane * ints + TIME];
        *time += 1;
        tile.ended[lane] = Ended { terminated: false, truncated: *time as u32 >= world.spec.max_cycles };
    }

    let (p, landmarks) = places.split_at(n);
    let weights = &world.info.part_weights[..];
    law.parts(View { goals: &[], p, landmarks, v, said: &[] }, tile.parts);
    for (reward, parts) in tile.rewards.iter_mut().zip(tile.parts.chunks_exact(weights.len())) {
        *reward = weighted(weights, parts);
    }

    // One world after the other: a place is a pair of numbers there, and so is what is written of it.
    let mut rows = tile.obs.chunks_exact_mut(tile.obs_stride);
    for world in pairs(tile.reals, width, entities + n) {
        let (p, landmarks, v) = (&world[..n], &world[n..entities], &world[entities..]);
        let view = View { goals: &[], p, landmarks, v, said: &[] };
        for (agent, row) in (0..n).zip(&mut rows) {
            law.observe(view, agent, &mut Pen::new(&mut row[..obs_len]));
        }
    }
}

/// The first `count` pairs of numbers of every world, of `width` numbers each.
#[inline(always)]
fn pairs<T>(all: &[T], width: usize, count: usize) -> [&[[T; 2]]; LANES] {
    let mut worlds: [&[[T; 2]]; LANES] = [&[]; LANES];
    for lane in 0..LANES {
        worlds[lane] = &all[lane * width..].as_chunks().0[..count];
    }
    worlds
}

/// [`pairs`], to change.
#[inline(always)]
fn pairs_mut<T>(mut all: &mut [T], width: usize, count: usize) -> [&mut [[T; 2]]; LANES] {
    let mut worlds: [&mut [[T; 2]]; LANES] = Default::default();
    for lane in 0..LANES {
        let (world, rest) = all.split_at_mut(width.min(all.len()));
        worlds[lane] = &mut world.as_chunks_mut().0[..count];
        all = rest;
    }
    worlds
}
