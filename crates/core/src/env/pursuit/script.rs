//! The world's own player: chase the nearest evader in sight.
//!
//! A pursuer walks, around buildings, to the nearest cell beside an evader that no other pursuer holds, and stays beside
//! it: an evader is caught by standing on all its sides. Who sees no evader walks straight on, in a direction drawn
//! anew now and then.

use super::spec::{OBS_RANGE, PursuitSpec};
use super::view::CHANNELS;
use super::{MOVES, STAY};
use crate::env::script::{Program, Turn};

/// Draws of a turn.
const CHOICE: u32 = 0;
const WANDER: u32 = 1;
/// Env steps in one direction.
const STRETCH: u32 = 8;
/// Most cells of an observation.
const CELLS: usize = (*OBS_RANGE.end() * *OBS_RANGE.end()) as usize;
/// Steps to a cell that cannot be reached.
const FAR: u16 = u16::MAX;

/// [`Script::Expert`](crate::env::script::Script::Expert) of this world.
#[derive(Debug)]
pub(super) struct Chaser {
    /// Cells along a side of an observation.
    side: i32,
    /// Index of the own cell.
    own: usize,
}

impl Chaser {
    pub(super) fn new(spec: &PursuitSpec) -> Self {
        let (side, offset) = (spec.obs_range as i32, super::view::offset(spec));
        Self { side, own: (offset * side + offset) as usize }
    }

    /// The cell a move leads to, if it is in sight.
    fn moved(&self, cell: usize, action: u32) -> Option<usize> {
        let (dx, dy) = MOVES[action as usize];
        let (x, y) = (cell as i32 % self.side + dx, cell as i32 / self.side + dy);
        let is_inside = (0..self.side).contains(&x) && (0..self.side).contains(&y);
        is_inside.then_some((y * self.side + x) as usize)
    }

    /// Steps to every cell from all cells beside an evader that are this pursuer's to take.
    fn steps(&self, obs: &[f32]) -> [u16; CELLS] {
        let is_wall = |cell: usize| obs[cell * CHANNELS] > 0.0;
        // The observation counts the pursuer itself.
        let others = |cell: usize| obs[cell * CHANNELS + 1] - if cell == self.own { 1.0 } else { 0.0 };
        let mut steps = [FAR; CELLS];
        let mut queue = [0; CELLS];
        let (mut first, mut end) = (0, 0);
        for cell in 0..obs.len() / CHANNELS {
            let is_beside = (0..STAY).filter_map(|action| self.moved(cell, action));
            let has_evader = is_beside.into_iter().any(|beside| obs[beside * CHANNELS + 2] > 0.0);
            if has_evader && !is_wall(cell) && others(cell) == 0.0 {
                steps[cell] = 0;
                queue[end] = cell;
                end += 1;
            }
        }
        while first < end {
            let cell = queue[first];
            first += 1;
            for next in (0..STAY).filter_map(|action| self.moved(cell, action)) {
                if steps[next] == FAR && !is_wall(next) {
                    steps[next] = steps[cell] + 1;
                    queue[end] = next;
                    end += 1;
                }
            }
        }
        steps
    }
}

impl Program for Chaser {
    fn act(&self, obs: &[f32], _legal: &[u32], turn: &Turn) -> u32 {
        let steps = self.steps(obs);
        if steps[self.own] == FAR {
            let ahead = turn.lasting(WANDER, STAY, STRETCH);
            let is_open = |action: u32| self.moved(self.own, action).is_some_and(|cell| obs[cell * CHANNELS] == 0.0);
            return if is_open(ahead) { ahead } else { turn.below(CHOICE, STAY) };
        }
        let after = |action: u32| self.moved(self.own, action).map_or(FAR, |cell| steps[cell]);
        let least = (0..=STAY).map(after).min().unwrap_or(FAR);
        let ties = || (0..=STAY).filter(|&action| after(action) == least);
        ties().nth(turn.below(CHOICE, ties().count() as u32) as usize).expect("the draw is below the number of ties")
    }
}
