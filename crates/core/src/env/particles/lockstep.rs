//! Eight worlds a step, a lane each: the physics and a scenario's law on [`Lanes`], compiled for the widest registers.
//!
//! States come and go one world after the other; they are transposed on the way in and out. Nothing here knows a rule:
//! a lane has the bits of [`Env::step`](crate::env::api::Env::step) because both run the same code. Loops where closures
//! would do: those are not always inlined, and then work on one register at a time.

use super::scene::{Law, Pen, View};
use super::{MAX_AGENTS, PUSHES, Particles, TIME};
use crate::base::lanes::{LANES, Lanes, kernel};
use crate::env::api::{Ended, MAX_PARTS, Tile, weighted};

type Wide = Lanes<f64>;

/// Most numbers of an observation for each agent that there is room for. There is an even number of them.
const OBS: usize = 6;

/// A law whose worlds move together: agents that push and say nothing, as many landmarks as agents, no goals.
pub(super) trait Lockstep {
    /// See [`Env::step_tile`](crate::env::api::Env::step_tile).
    fn step(&self, world: &Particles, tile: &mut Tile<'_>);
}

impl<L: Law<Wide>> Lockstep for L {
    fn step(&self, world: &Particles, tile: &mut Tile<'_>) {
        if world.n() <= 4 { few(self, world, tile) } else { many(self, world, tile) }
    }
}

kernel! { fn few[L: Law<Wide>](law: &L, world: &Particles, tile: &mut Tile<'_>) => step_few }
kernel! { fn many[L: Law<Wide>](law: &L, world: &Particles, tile: &mut Tile<'_>) => step_many }

#[inline(always)]
fn step_few<L: Law<Wide>>(law: &L, world: &Particles, tile: &mut Tile<'_>) {
    step::<L, 4>(law, world, tile);
}

#[inline(always)]
fn step_many<L: Law<Wide>>(law: &L, world: &Particles, tile: &mut Tile<'_>) {
    step::<L, MAX_AGENTS>(law, world, tile);
}

/// With room for `CAP` agents.
#[inline(always)]
fn step<L: Law<Wide>, const CAP: usize>(law: &L, world: &Particles, tile: &mut Tile<'_>) {
    let (n, entities) = (world.n(), world.scene.bodies.len());
    debug_assert!(entities <= 2 * CAP && world.words == 0 && world.scene.goals == 0, "there is room for what it has");
    debug_assert!(world.info.obs_len.is_multiple_of(2), "observations are rows of pairs");
    let mut places = [[[Wide::ZERO; 2]; CAP]; 2];
    let (mut v, mut force) = ([[Wide::ZERO; 2]; CAP], [[Wide::ZERO; 2]; CAP]);
    let (v, force) = (&mut v[..n], &mut force[..n]);
    let places = &mut places.as_flattened_mut()[..entities];
    let (ints, width, obs_len) = (world.info.ints as usize, world.info.reals as usize, world.info.obs_len as usize);
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
    let view = View { goals: &[], p, landmarks, v, said: &[] };
    let weights = &world.info.part_weights[..];
    law.parts(view, tile.parts);
    let mut wide_weights = [Wide::ZERO; MAX_PARTS];
    wide_weights.iter_mut().zip(weights).for_each(|(wide, &weight)| *wide = Wide::splat(weight));
    for (reward, parts) in tile.rewards.iter_mut().zip(tile.parts.chunks_exact(weights.len())) {
        *reward = weighted(&wide_weights[..weights.len()], parts);
    }

    let mut columns = [[Lanes::ZERO; OBS]; CAP];
    let columns = &mut columns.as_flattened_mut()[..obs_len];
    for agent in 0..n {
        law.observe(view, agent, &mut Pen::new(columns));
        let rows = pairs_mut(&mut tile.obs[agent * tile.obs_stride..], n * tile.obs_stride, obs_len / 2);
        for (k, [x, y]) in columns.as_chunks().0.iter().enumerate() {
            for lane in 0..LANES {
                rows[lane][k] = [x.0[lane], y.0[lane]];
            }
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
