//! Replay of games of turns in which one network moves whoever's turn it is: a segment is a decision, from what its maker
//! saw to what it saw when it was to move again, with all it was paid in between.
//!
//! Every env step opens one segment in each world, at the place in the ring that belongs to it, and closes the one whose
//! maker is to move again, or all that are open where the game is over. An open segment has weight 0.

use super::clock::{Clock, RING_FILL, RING_HEAD};
use super::replay::{Segments, copy_row};
use super::turns::Turns;
use super::world::{TERMINATED, World};
use crate::base::float::Real;
use crate::nn::graph::{Compute, Id, Plan, Training, View, Wires, Words};

/// Writes the move just made by every world, and what it did for those before it. The ring holds the last n moves of
/// every world at least.
#[derive(Clone, Debug)]
pub struct StoreTurn {
    /// The worlds.
    pub world: World,
    /// Who moved.
    pub turns: Turns,
    /// The ring, of segments of one env step.
    pub ring: Segments,
    /// Head and fill.
    pub clock: Clock,
    /// 1 + the maker of a decision whose consequences are not all known, else 0 `[count]`.
    pub open: Id<Words, Training>,
}

impl StoreTurn {
    /// Its buffers.
    pub fn new(plan: &mut Plan, world: &World, turns: Turns, ring: Segments, clock: Clock) -> Self {
        Self { world: world.clone(), turns, ring, clock, open: plan.buffer("replay.open", &[ring.count]) }
    }
}

impl Compute for StoreTurn {
    type Side = Training;
    const NAME: &'static str = "store_turn";
    fn wires(&self, wires: &mut Wires) {
        let (w, r) = (&self.world, &self.ring);
        self.turns.wires(wires);
        wires.reads(w.obs).reads(w.mask).reads(w.action).reads(w.reward).reads(w.ended).reads(w.ints).reads(w.reals);
        wires.reads(w.next_obs).reads(w.next_mask);
        wires.writes(r.obs).writes(r.mask).writes(r.action).writes(r.reward).writes(r.terminal).writes(r.weight);
        wires.writes(self.open).writes(self.clock.counters);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let (w, r) = (&self.world, &self.ring);
        let n = w.env.info().num_agents;
        let (rows, count) = (w.envs * n, r.count);
        let mut clock = view.write(self.clock.counters);
        let mut open = view.write(self.open);
        for e in 0..w.envs {
            // The place of the move `age` env steps ago.
            let slot = |age: u32| (clock[RING_HEAD] + count - age * w.envs % count + e) % count;
            let (now, mover) = (slot(0), self.turns.mover(&view, e));
            copy_row::<R, _, _, _>(&view, w.obs, e * n + mover, r.obs, now * 2, rows, count * 2);
            copy_row::<R, _, _, _>(&view, w.mask, e * n + mover, r.mask, now * 2, rows, count * 2);
            copy_row::<R, _, _, _>(&view, w.action, e * n + mover, r.action, now, rows, count);
            let (mut reward, mut terminal) = (view.write(r.reward), view.write(r.terminal));
            let mut weight = view.write(r.weight);
            let at = now as usize;
            (terminal[at], weight[at]) = (R::ZERO, R::ZERO);
            reward[at * 2..at * 2 + 2].fill(R::ZERO);
            open[at] = if self.turns.teach(&view, e) { mover + 1 } else { 0 };

            let (paid, ended) = (view.read(w.reward), view.read(w.ended)[e as usize]);
            let next = w.to_move(&view, e);
            for age in 0..n {
                let at = slot(age) as usize;
                let Some(maker) = open[at].checked_sub(1) else { continue };
                reward[at * 2] += paid[(e * (n + 1) + maker) as usize];
                if ended == 0 && (age == 0 || maker != next) {
                    continue;
                }
                open[at] = 0;
                if ended & TERMINATED != 0 {
                    (terminal[at], weight[at]) = (R::ONE, R::ONE);
                } else if ended == 0 {
                    weight[at] = R::ONE;
                    let (from, to) = (e * n + maker, slot(age) * 2 + 1);
                    copy_row::<R, _, _, _>(&view, w.next_obs, from, r.obs, to, rows, count * 2);
                    copy_row::<R, _, _, _>(&view, w.next_mask, from, r.mask, to, rows, count * 2);
                }
            }
        }
        clock[RING_HEAD] = (clock[RING_HEAD] + w.envs) % count;
        clock[RING_FILL] = (clock[RING_FILL] + w.envs).min(count);
    }
}
