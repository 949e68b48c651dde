//! Eight worlds a step, a lane each: the same rules on [`Lanes`], compiled for the widest registers.
//!
//! States come and go one world after the other; their words are transposed on the way in and out. Nothing here knows a
//! rule.

use super::view::THINGS;
use super::{AGENTS, AGENTS_AT, Pellet, rules};
use crate::base::lanes::{LANES, Lanes, kernel};
use crate::base::whole::Whole;
use crate::env::api::Tile;

type Wide = Lanes<i32>;

/// Most words of a state: env steps, things, who arrived.
const WORDS: usize = AGENTS_AT + THINGS + 1;

kernel! {
    /// See [`Env::step_tile`](crate::env::api::Env::step_tile).
    #[inline(never)]
    pub(super) fn step[](world: &Pellet, tile: &mut Tile<'_>) => step_eight
}

#[inline(always)]
fn step_eight(world: &Pellet, tile: &mut Tile<'_>) {
    let (n, width) = (world.spec.num_agents as usize, world.info.ints as usize);
    let mut words = [Wide::of(0); WORDS];
    let words = &mut words[..width];
    let mut actions = [Wide::of(0); *AGENTS.end() as usize];
    let actions = &mut actions[..n];
    gather(tile.ints, words, |word| word);
    gather(tile.actions, actions, rules::choice);

    world.advance(words, actions, tile.rewards, tile.parts);

    for (lane, row) in tile.ints.chunks_exact_mut(width).enumerate() {
        row.iter_mut().zip(&*words).for_each(|(to, word)| *to = word.0[lane]);
        tile.ended[lane] = world.ended(row);
    }

    let mut places = [Wide::of(0); THINGS];
    let mut slots = [Wide::of(0); THINGS];
    let places = world.sights.places(&words[world.things_at()], &mut places);
    for agent in 0..n {
        let slots = world.sights.slots(places, n, agent, &mut slots);
        for lane in 0..LANES {
            let row = &mut tile.obs[(lane * n + agent) * tile.obs_stride..][..world.info.obs_len as usize];
            world.sights.write(words[AGENTS_AT + agent].0[lane], slots.iter().map(|slot| slot.0[lane]), row);
        }
    }
}

/// Columns of eight rows that lie one after the other.
#[inline(always)]
fn gather<T: Copy>(rows: &[T], columns: &mut [Wide], number: impl Fn(T) -> i32) {
    let width = columns.len();
    for (k, column) in columns.iter_mut().enumerate() {
        for lane in 0..LANES {
            column.0[lane] = number(rows[lane * width + k]);
        }
    }
}
