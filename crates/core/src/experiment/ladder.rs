//! A few snapshots of the learner, the newest and earlier ones spread evenly over training, and what came of letting
//! each play each from either side: whether training goes up, or round in circles.
//!
//! A snapshot is taken at every evaluation, and only its own games are played then: earlier ones do not change. What
//! plays lies in buffers of its own (`marl/bouts.rs`), so the run has the same bits with a ladder and without.

use serde::{Deserialize, Serialize};

use crate::env::api::EnvState;
use crate::marl::bouts::{Bouts, GAMES, PLACES};
use crate::marl::learner::Learner;
use crate::marl::matches::OUTCOMES;
use crate::nn::graph::{Buffers, Cursor};

/// Snapshots of the learner against each other, greedy, every pairing from the same positions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Standings {
    /// Env steps at which the snapshots were taken, rising.
    pub env_steps: Vec<u32>,
    /// Games of a pairing.
    pub games: u32,
    /// How whoever moves first (row) fared against whoever moves second (column) `[snapshots, snapshots]`.
    pub scores: Vec<Score>,
}

impl Standings {
    /// A row for each snapshot that moves first.
    pub fn rows(&self) -> impl Iterator<Item = (u32, &[Score])> {
        self.env_steps.iter().copied().zip(self.scores.chunks(self.env_steps.len().max(1)))
    }
}

/// Outcomes of games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score {
    /// Games won.
    pub won: u32,
    /// Games drawn.
    pub drawn: u32,
    /// Games lost.
    pub lost: u32,
}

/// The snapshots and their games.
#[derive(Debug)]
pub struct Ladder {
    bouts: Bouts,
    openings: Vec<EnvState>,
    buffers: Buffers<f32>,
    cursor: Cursor,
    /// Oldest first.
    rungs: Vec<Rung>,
    /// Games of rung i as first player against rung j `[i][j]`; the newest one's while they are played are not there.
    scores: Vec<Vec<Score>>,
}

/// A snapshot.
#[derive(Clone, Copy, Debug)]
struct Rung {
    env_steps: u32,
    /// Where its weights are.
    place: u32,
}

impl Ladder {
    /// Without a snapshot; `None` where nobody plays against themselves, see [`Bouts::new`].
    pub fn new(learner: &Learner) -> Option<Self> {
        let bouts = bouts(learner)?;
        let openings = bouts.openings(&*learner.env);
        let buffers = bouts.start(&openings);
        Some(Self { bouts, openings, buffers, cursor: Cursor::default(), rungs: Vec::new(), scores: Vec::new() })
    }

    /// Keeps the learner as it is now. Where all places are taken, the snapshot goes without which the others are spread
    /// most evenly; the first stays. Its games are then to be worked at.
    pub fn take(&mut self, learner: &Learner, buffers: &Buffers<f32>, env_steps: u32) {
        self.make_room(env_steps);
        let weights = buffers.read(learner.agents.block.weights);
        self.buffers.write(self.bouts.weights)[..weights.len()].copy_from_slice(&weights);
        self.rungs.push(Rung { env_steps, place: 0 });
        self.cursor = Cursor::default();
    }

    /// Plays a move of every game of the newest snapshot. Returns whether they are over.
    pub fn work(&mut self) -> bool {
        let is_done = self.bouts.list.run_iteration(&mut self.cursor, &self.buffers);
        if !is_done && self.buffers.read(self.bouts.ended).contains(&0) {
            return false;
        }
        let results = self.buffers.read(self.bouts.results);
        let score = |seat: u32, place: u32| {
            let [won, drawn, lost] = results.as_chunks::<OUTCOMES>().0[(seat * PLACES + place) as usize];
            Score { won, drawn, lost }
        };
        for (row, rung) in self.scores.iter_mut().zip(&self.rungs) {
            row.push(score(1, rung.place));
        }
        self.scores.push(self.rungs.iter().map(|rung| score(0, rung.place)).collect());
        true
    }

    /// The matrix, as far as it has been played.
    pub fn standings(&self) -> Standings {
        Standings {
            env_steps: self.rungs[..self.scores.len()].iter().map(|rung| rung.env_steps).collect(),
            games: GAMES,
            scores: self.scores.concat(),
        }
    }

    /// The positions that the games of every pairing start from.
    pub fn openings(&self) -> &[EnvState] {
        &self.openings
    }

    /// Frees place 0.
    fn make_room(&mut self, env_steps: u32) {
        let steps: Vec<u32> = self.rungs.iter().map(|rung| rung.env_steps).collect();
        let free = if (self.rungs.len() as u32) < PLACES {
            self.rungs.len() as u32
        } else {
            let dropped = most_crowded(&steps, env_steps);
            self.scores.remove(dropped);
            self.scores.iter_mut().for_each(|row| _ = row.remove(dropped));
            self.rungs.remove(dropped).place
        };
        if let Some(newest) = self.rungs.last_mut().filter(|newest| newest.place == 0) {
            let mut weights = self.buffers.write(self.bouts.weights);
            let len = weights.len() / PLACES as usize;
            weights.copy_within(..len, free as usize * len);
            newest.place = free;
        }
    }
}

/// Bytes of the buffers of a run's ladder.
pub fn bytes(learner: &Learner) -> u64 {
    bouts(learner).map_or(0, |bouts| bouts.plan.bytes())
}

fn bouts(learner: &Learner) -> Option<Bouts> {
    Bouts::new(&learner.env, &learner.settings, &learner.agents, learner.seed)
}

/// Of snapshots at rising env steps, the one, but the first, whose neighbours are closest once another stands at `next`;
/// the earliest of several.
fn most_crowded(steps: &[u32], next: u32) -> usize {
    let after = |i: usize| steps.get(i + 1).copied().unwrap_or(next);
    (1..steps.len()).min_by_key(|&i| after(i) - steps[i - 1]).expect("there are several places")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_are_spread_evenly_over_training_and_begin_with_the_first() {
        let mut kept: Vec<u32> = Vec::new();
        for evaluation in 0..200 {
            if kept.len() == PLACES as usize {
                kept.remove(most_crowded(&kept, evaluation));
            }
            kept.push(evaluation);
            assert_eq!((kept[0], kept[kept.len() - 1]), (0, evaluation));
            let gaps: Vec<u32> = kept.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let (between, newest) = gaps.split_at(gaps.len().saturating_sub(1));
            let longest = gaps.iter().max().copied().unwrap_or(1);
            assert!(between.iter().all(|gap| 3 * gap >= longest), "{kept:?}");
            assert!(newest.iter().all(|&gap| gap >= 1), "{kept:?}");
        }
    }
}
