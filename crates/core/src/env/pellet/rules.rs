//! The env step of the pellet world, written once for a world and for eight in lanes; in the order of the rules of
//! `mod.rs`.
//!
//! Nothing branches on what is in a world: who is not concerned adds 0, so that lanes need not agree. Sums have the order
//! of agents and pellets, and what is 0 is +0.

use super::{AGENTS_AT, GONE, MOVE_COST, OWN, PARTS, Pellet, TEAM, TIME, TieRule};
use crate::base::lanes::Number;
use crate::base::whole::{Whole, sort};
use crate::env::api::{Ended, weighted};
use crate::env::pellet::{ACTION_NAMES, PelletMap};

/// By how much an action changes the number of an agent's cell `[|A|, cells]`: 0 at a wall or the edge.
pub(super) fn moves(map: &PelletMap) -> Vec<i32> {
    let cells = 0..map.cells.len() as u32;
    let of = |action| cells.clone().map(move |cell| map.moved(cell, action) as i32 - cell as i32);
    (0..ACTION_NAMES.len() as u32).flat_map(of).collect()
}

/// An action as a number; all beyond the five are one.
#[inline(always)]
pub(super) fn choice(action: u32) -> i32 {
    action.min(ACTION_NAMES.len() as u32) as i32
}

impl Pellet {
    /// Moves all agents, takes the pellets they stand on, pays. `words` are the state's, `actions` are `[n]`; what is
    /// paid goes into `rewards` `[n]` and `parts` `[n, parts]`.
    #[inline(always)]
    pub(super) fn advance<W: Whole>(
        &self,
        words: &mut [W],
        actions: &[W],
        rewards: &mut [W::Reals],
        parts: &mut [W::Reals],
    ) {
        let (nobody, one, nothing) = (W::of(0), W::of(1), W::Reals::of(0.0));
        let (clock, things) = words.split_at_mut(AGENTS_AT);
        let (agents, things) = things.split_at_mut(self.spec.num_agents as usize);
        let (pellets, arrived) = things.split_at_mut(self.spec.num_pellets as usize);

        clock[TIME] = clock[TIME] + one;
        let cells = W::of(self.spec.map.cells.len() as i32);
        let cost = W::Reals::of(f64::from(self.spec.move_cost));
        for ((at, &action), parts) in agents.iter_mut().zip(actions).zip(parts.chunks_exact_mut(PARTS)) {
            // No action beyond the table moves anybody.
            let by = (action * cells + *at).entry(&self.moves, 0);
            let moved = one - by.is(nobody);
            *at = *at + by;
            (parts[OWN], parts[MOVE_COST]) = (nothing, nothing - moved.real() * cost);
        }

        let mut team = nothing;
        arrived[0] = nobody;
        for pellet in &mut *pellets {
            // Nobody stands where nothing is left.
            let count = agents.iter().fold(nobody, |count, at| count + at.is(*pellet));
            let share = self.share(count);
            for (agent, (at, parts)) in agents.iter().zip(parts.chunks_exact_mut(PARTS)).enumerate() {
                let here = at.is(*pellet);
                parts[OWN] = parts[OWN] + here.real() * share;
                // Pellets lie on distinct cells, so no bit is added twice.
                arrived[0] = arrived[0] + here * W::of(1 << agent);
            }
            let is_taken = one - count.is(nobody);
            team = team + is_taken.real();
            *pellet = is_taken.choose(W::of(GONE), *pellet);
        }
        // The pellets left move up, so that the state tells which are left and not which slot once held another.
        sort(pellets);

        for (reward, parts) in rewards.iter_mut().zip(parts.chunks_exact_mut(PARTS)) {
            parts[TEAM] = team;
            *reward = weighted(&self.info.part_weights, parts);
        }
    }

    /// What each of `count` agents gets that arrive at one pellet.
    #[inline(always)]
    fn share<W: Whole>(&self, count: W) -> W::Reals {
        match self.spec.tie {
            TieRule::Split => W::Reals::of(1.0) / count.choose(count, W::of(1)).real(),
            TieRule::Nobody => count.is(W::of(1)).real(),
        }
    }

    /// How the env step ended that left these words.
    #[inline(always)]
    pub(super) fn ended(&self, words: &[i32]) -> Ended {
        let terminated = words[self.pellets_at().start] == GONE;
        let truncated = !terminated && words[TIME] as u32 >= self.spec.time_limit;
        Ended { terminated, truncated }
    }
}
