//! What changes while a run goes on: live fields, the goal, who learns.

use super::{Part, Run, evaluations};
use crate::experiment::command::LiveChange;
use crate::experiment::keep::Kept;
use crate::experiment::knobs::can_reseat;
use crate::experiment::ladder::Ladder;
use crate::experiment::spec::Seats;
use crate::nn::graph::{Buffers, Plan};

impl Run {
    /// A live field changes at the next update boundary, after so many updates as are returned. The new value is brought
    /// into the field's range; a field that has no effect here and seats that this run cannot go on with change nothing.
    pub fn change(&mut self, change: LiveChange) -> Option<u32> {
        let is_possible = match &change {
            LiveChange::Seats(seats) => can_reseat(&self.now, seats),
            change => change.applies(&self.now),
        };
        if !is_possible {
            return None;
        }
        let at = self.updates() + u32::from(self.is_inside_update() && !self.is_evaluating());
        if change.trains_otherwise() {
            self.changed_at.get_or_insert(at);
        }
        self.pending.push(change.within_range());
        if self.part == Part::Boundary {
            self.take_changes();
        }
        Some(at)
    }

    pub(super) fn take_changes(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        #[cfg(feature = "gpu")]
        self.fetch();
        #[cfg(feature = "gpu")]
        let before = self.now.learner.seats.clone();
        for change in std::mem::take(&mut self.pending) {
            match change {
                LiveChange::Seats(seats) => self.reseat(seats),
                LiveChange::Goal(goal) => self.aim_at(goal),
                change => change.apply(&mut self.now),
            }
            self.learner.write_settings(&self.buffers, &self.now.learner);
        }
        #[cfg(feature = "gpu")]
        self.give_back(self.now.learner.seats != before);
    }

    /// The run goes on with other learners: new lists on the same numbers.
    fn reseat(&mut self, seats: Seats) {
        if !can_reseat(&self.now, &seats) {
            return; // an earlier change of the same update made it impossible
        }
        let update = self.weights_update();
        self.now.learner.seats = seats;
        let learner = self.learner.reseated(self.spec.algo, &self.now.learner, evaluations(&self.spec));
        let numbers = std::mem::replace(&mut self.buffers, Buffers::new(&Plan::default()));
        self.buffers = learner.take_over(&self.learner, numbers);
        self.learner = learner;
        // Copies kept of the old lists do not fit the new ones, and earlier evaluations are of other learners.
        self.last = Kept::of(&self.learner, &self.buffers, update);
        self.best = None;
        self.ladder = Ladder::new(&self.learner);
        // Nor has who learns now reached anything.
        self.heed_goal_from(self.finished);
    }

    /// Another goal ends the run, or none; one that is as it was changes nothing.
    fn aim_at(&mut self, goal: Option<f32>) {
        let before = self.now.goal();
        LiveChange::Goal(goal).apply(&mut self.now);
        if self.now.goal() != before {
            self.heed_goal_from(self.finished);
        }
    }
}
