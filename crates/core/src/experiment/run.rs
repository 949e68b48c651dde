//! One run: a spec built into lists and buffers, advanced update by update. No pacing, no stage, no clock.

mod changes;
#[cfg(feature = "gpu")]
mod device;
mod facts;

use std::sync::Arc;

use self::facts::facts;
use super::command::{LiveChange, Weights};
use super::divergence::{Divergence, of_gradients, of_parameters};
use super::evaluate::summed_up;
use super::keep::Kept;
use super::knobs::{gradient_steps_per_update, why_not};
use super::ladder::{Ladder, Standings};
use super::snapshot::{EvalPoint, Facts, Peak, RunState, Sentence};
use super::spec::{EvalChoice, ExperimentSpec};
use super::world;
use crate::env::api::{Env, EnvState};
use crate::marl::learner::{Evaluations, Learner};
use crate::marl::parts::clock::{
    ENV_STEP, EPS, EPS_END, EPS_OVER, GRAD_NORM, GRADIENT_STEP, LOSS, LR, LR_END, LR_OVER, linear,
};
use crate::nn::graph::{Buffers, Cursor};

/// A run.
#[derive(Debug)]
pub struct Run {
    /// What it was built from.
    pub spec: ExperimentSpec,
    /// Facts for the page.
    pub facts: Facts,
    /// Lists.
    pub learner: Learner,
    /// Numbers.
    pub buffers: Buffers<f32>,
    /// Evaluations so far.
    pub evals: Vec<EvalPoint>,
    /// Env steps at which it finishes.
    pub budget: u32,
    /// First live change, if any.
    pub changed_at: Option<u32>,
    /// Why it cannot go on, if it diverged. Its weights are then those of the update before.
    pub diverged: Option<Divergence>,
    /// Update whose weights were put back, until the next update is finished.
    pub weights_of: Option<u32>,
    /// Trace hash after the updates finished.
    pub trace: [u32; 2],
    finished: u32,
    /// `spec` with the live changes taken so far.
    now: ExperimentSpec,
    pending: Vec<LiveChange>,
    part: Part,
    cursor: Cursor,
    next_eval: u32,
    /// Update from which a goal that is reached ends the run.
    heeds_goal_from: u32,
    /// Whether the last evaluation reached it.
    is_reached: bool,
    /// Of the last update that ended well.
    last: Kept,
    /// Of the best evaluation with these seats, and its mean.
    best: Option<(Kept, f32)>,
    /// Of these seats.
    ladder: Option<Ladder>,
    /// Where updates are made, if not here.
    #[cfg(feature = "gpu")]
    device: Option<device::OnDevice>,
}

/// Which list the run stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Between updates.
    Boundary,
    Rollout,
    GradientSteps,
    /// The end of an update, or of the preparation of update 0.
    Evaluation,
    /// Behind it, where there are matches.
    Matches,
    /// Behind that, where snapshots play each other.
    Ladder,
}

impl Run {
    /// Builds `spec`; its first work is to evaluate the untrained parameters. Refuses with a sentence where the world or
    /// the algorithm does not fit.
    pub fn new(spec: ExperimentSpec, number: u32) -> Result<Self, Sentence> {
        let env: Arc<dyn Env> = world::build(&spec)?.into();
        if let Some(reason) = why_not(&spec, spec.algo) {
            return Err(reason);
        }
        let learner = Learner::new(Arc::clone(&env), spec.algo, &spec.learner, spec.seed, evaluations(&spec));
        let buffers = learner.start::<f32>();
        let last = Kept::of(&learner, &buffers, 0);
        Ok(Self {
            facts: facts(&*env, &learner, &spec, number),
            buffers,
            evals: Vec::new(),
            budget: spec.budget,
            changed_at: None,
            diverged: None,
            weights_of: None,
            trace: [0; 2],
            finished: 0,
            now: spec.clone(),
            pending: Vec::new(),
            part: Part::Evaluation,
            cursor: Cursor::default(),
            next_eval: spec.eval_every,
            heeds_goal_from: 1,
            is_reached: false,
            best: None,
            ladder: Ladder::new(&learner),
            #[cfg(feature = "gpu")]
            device: None,
            last,
            learner,
            spec,
        })
    }

    /// A counter of the clock, see [`crate::marl::parts::clock`].
    pub fn count(&self, counter: usize) -> u32 {
        self.buffers.read(self.learner.clock.counters)[counter]
    }

    /// Updates finished.
    pub fn updates(&self) -> u32 {
        self.finished
    }

    /// Whether an update has begun and not ended.
    pub fn is_inside_update(&self) -> bool {
        self.part != Part::Boundary
    }

    /// Whether no update has begun; an evaluation may be under way.
    pub fn is_between_updates(&self) -> bool {
        self.part == Part::Boundary || self.is_evaluating()
    }

    /// Whether the update begun still has env steps to take (then the worlds stand between two of them).
    pub fn is_rolling_out(&self) -> bool {
        self.part == Part::Rollout
    }

    /// Whether it may go on, or why not.
    pub fn end(&self) -> Option<RunState> {
        if self.is_inside_update() {
            return None;
        }
        if let Some(Divergence { tensor, cause }) = &self.diverged {
            return Some(RunState::Diverged { tensor: tensor.clone(), cause: *cause, update: self.updates() });
        }
        if self.count(ENV_STEP) >= self.budget {
            return Some(RunState::Finished);
        }
        self.is_reached.then_some(RunState::Reached)
    }

    /// Goes on after its end: for another budget, in which its goal still ends it, or past the goal, which ends it no more
    /// until goal or seats are others.
    pub fn go_on(&mut self) {
        if self.end() == Some(RunState::Finished) {
            self.extend(1);
        }
        if self.is_reached {
            self.heed_goal_from(u32::MAX);
        }
    }

    /// Minutes without anyone at the page after which training pauses; 0 never.
    pub fn idle(&self) -> u32 {
        self.now.idle
    }

    /// A goal reached before that update ends nothing.
    pub fn heed_goal_from(&mut self, update: u32) {
        self.heeds_goal_from = update.max(1);
        self.is_reached = false;
    }

    /// The best evaluation with these seats, where the last one is worse and its weights are those that act. None of a
    /// board: its headline is a game of the networks against each other, which does not say how well they play.
    pub fn peak(&self) -> Option<Peak> {
        if self.facts.in_turns {
            return None;
        }
        let ((kept, mean), last) = (self.best.as_ref()?, self.evals.last()?);
        let acts = self.weights_of.is_none() && self.diverged.is_none();
        (acts && better(self.facts.lower_is_better, *mean, last.mean))
            .then_some(Peak { update: kept.update, mean: *mean })
    }

    /// Another `budgets` budgets' worth of env steps, as far as the counters reach.
    pub fn extend(&mut self, budgets: u32) {
        let wanted = u64::from(self.budget) + u64::from(budgets) * u64::from(self.spec.budget);
        self.budget = wanted.min(u64::from(self.most_env_steps())) as u32;
    }

    /// The largest budget that the counters of env steps and gradient steps reach.
    pub fn most_env_steps(&self) -> u32 {
        let per_update = u64::from(self.learner.env_steps_per_update());
        let most_updates = u64::from(u32::MAX / gradient_steps_per_update(&self.spec).max(1));
        ((most_updates * per_update).min(u64::from(u32::MAX)) - per_update) as u32
    }

    /// The evaluation of the untrained parameters, if it is not done.
    pub fn prepare(&mut self) {
        while self.updates() == 0 && self.is_evaluating() {
            self.work();
        }
    }

    /// To the next update boundary.
    pub fn update(&mut self) {
        self.prepare();
        self.work();
        while self.is_inside_update() {
            self.work();
        }
    }

    /// A piece of work small enough to look up from: an env step of every training environment, a gradient step, or an
    /// env step of every evaluation episode.
    pub fn work(&mut self) {
        if self.part == Part::Boundary {
            self.part = Part::Rollout;
            #[cfg(feature = "gpu")]
            if self.update_on_device() {
                return;
            }
        }
        let lists = &self.learner;
        match self.part {
            Part::Boundary | Part::Rollout => {
                if lists.rollout.run_iteration(&mut self.cursor, &self.buffers) {
                    self.part = Part::GradientSteps;
                    if !self.learner.learns_now(&self.buffers) {
                        self.finish_update();
                    }
                }
            }
            Part::GradientSteps => {
                self.diverged = of_parameters(lists, &self.buffers);
                let mut done = self.diverged.is_some();
                if !done {
                    done = lists.gradient_steps.run_iteration(&mut self.cursor, &self.buffers);
                    self.diverged = of_gradients(lists, &self.buffers);
                }
                if done || self.diverged.is_some() {
                    self.finish_update();
                }
            }
            Part::Evaluation => {
                if lists.evaluation.list.run_iteration(&mut self.cursor, &self.buffers) {
                    self.part = Part::Matches;
                    if lists.matches.is_none() {
                        self.begin_ladder();
                    }
                }
            }
            Part::Matches => {
                let list = lists.matches.as_ref().map(|matches| &matches.list);
                if list.is_none_or(|list| list.run_iteration(&mut self.cursor, &self.buffers)) {
                    self.begin_ladder();
                }
            }
            Part::Ladder => {
                if self.ladder.as_mut().is_none_or(Ladder::work) {
                    self.finish_evaluation();
                }
            }
        }
        if self.part == Part::Boundary {
            self.take_changes();
        }
    }

    /// Puts kept weights back, between updates, and lets a diverged run go on. Returns the updates finished, or nothing
    /// where an update has begun or no such weights are kept.
    pub fn take_weights(&mut self, which: Weights) -> Option<u32> {
        if self.part != Part::Boundary {
            return None;
        }
        let kept = match which {
            Weights::Best => &self.best.as_ref()?.0,
            Weights::Last => &self.last,
        };
        let update = kept.update;
        #[cfg(feature = "gpu")]
        self.device.iter_mut().for_each(|device| device.read(&self.learner, &self.buffers));
        kept.put(&self.buffers);
        #[cfg(feature = "gpu")]
        self.device.iter().for_each(|device| device.write(&self.learner, &self.buffers));
        // What is in the buffers now is the last that is good.
        self.last.take(&self.buffers, update);
        self.weights_of = Some(update);
        self.diverged = None;
        self.changed_at.get_or_insert(self.finished);
        Some(self.finished)
    }

    /// The updates whose weights can be put back: of the best evaluation with these seats, if there was one, and the last
    /// that ended well.
    pub fn kept(&self) -> (Option<u32>, u32) {
        (self.best.as_ref().map(|(kept, _)| kept.update), self.last.update)
    }

    /// The update whose weights act.
    pub fn weights_update(&self) -> u32 {
        self.weights_of.unwrap_or(if self.diverged.is_some() { self.last.update } else { self.finished })
    }

    /// Snapshots against each other, where a board is learned by self-play and there is one.
    pub fn ladder(&self) -> Option<Standings> {
        self.ladder.as_ref().map(Ladder::standings).filter(|standings| !standings.env_steps.is_empty())
    }

    /// The positions that snapshots' games start from; empty without a ladder.
    pub fn openings(&self) -> &[EnvState] {
        self.ladder.as_ref().map_or(&[], Ladder::openings)
    }

    /// Hash of all parameters' bits.
    pub fn weights_hash(&self) -> [u32; 2] {
        let blocks = self.learner.blocks();
        let mut all: Vec<f32> = blocks.flat_map(|(_, block)| self.buffers.read(block.weights).clone()).collect();
        all.extend(self.buffers.read(self.learner.agents.frozen.weights).iter());
        crate::base::hash::weights_hash(&all).0
    }

    /// Loss and gradient norm of the last gradient step, if there was one.
    pub fn loss_and_norm(&self) -> Option<(f32, f32)> {
        let scalars = self.buffers.read(self.learner.clock.scalars);
        (self.count(GRADIENT_STEP) > 0).then_some((scalars[LOSS], scalars[GRAD_NORM]))
    }

    /// ε of the behaviour policy, as the next update will have it; 0 where agents draw from their own policy alone.
    pub fn epsilon(&self) -> f32 {
        let s = self.buffers.read(self.learner.clock.settings);
        linear(s[EPS], s[EPS_END], s[EPS_OVER], self.count(ENV_STEP))
    }

    /// Learning rate, as the next gradient step will have it.
    pub fn lr(&self) -> f32 {
        let s = self.buffers.read(self.learner.clock.settings);
        linear(s[LR], s[LR_END], s[LR_OVER], self.count(ENV_STEP))
    }

    /// Whether an update has ended and its evaluation has not.
    fn is_evaluating(&self) -> bool {
        matches!(self.part, Part::Evaluation | Part::Matches | Part::Ladder)
    }

    fn begin_ladder(&mut self) {
        self.part = Part::Ladder;
        let env_steps = self.count(ENV_STEP);
        match &mut self.ladder {
            Some(ladder) => ladder.take(&self.learner, &self.buffers, env_steps),
            None => self.finish_evaluation(),
        }
    }

    fn finish_evaluation(&mut self) {
        self.part = Part::Boundary;
        let point = summed_up(&self.learner, &self.buffers);
        let lower = self.facts.lower_is_better;
        let is_good = self.now.stop && !better(lower, self.now.stop_at, point.mean);
        self.is_reached = is_good && self.finished >= self.heeds_goal_from;
        match &mut self.best {
            None => self.best = Some((Kept::of(&self.learner, &self.buffers, self.finished), point.mean)),
            Some((kept, mean)) => {
                if better(lower, point.mean, *mean) {
                    kept.take(&self.buffers, self.finished);
                    *mean = point.mean;
                }
            }
        }
        self.evals.push(point);
    }

    fn finish_update(&mut self) {
        self.cursor = Cursor::default();
        self.finished += 1;
        self.weights_of = None;
        self.diverged = self.diverged.take().or_else(|| of_parameters(&self.learner, &self.buffers));
        match &self.diverged {
            None => self.last.take(&self.buffers, self.finished),
            // From here on nothing that looks at the run meets a number that is none.
            Some(_) => self.last.put(&self.buffers),
        }
        self.trace.copy_from_slice(&self.buffers.read(self.learner.tally.trace));
        self.part = Part::Boundary;
        if self.is_evaluation_due() {
            self.begin_evaluation();
        }
    }

    fn is_evaluation_due(&self) -> bool {
        let env_steps = self.count(ENV_STEP);
        env_steps >= self.next_eval || env_steps >= self.budget
    }

    fn begin_evaluation(&mut self) {
        if self.diverged.is_none() {
            self.next_eval = (self.count(ENV_STEP) / self.spec.eval_every + 1) * self.spec.eval_every;
            self.part = Part::Evaluation;
        }
    }
}

/// Whether headline `a` is better than `b`.
fn better(lower_is_better: bool, a: f32, b: f32) -> bool {
    if lower_is_better { a < b } else { a > b }
}

/// How often a spec's evaluations play, and by which policy.
pub fn evaluations(spec: &ExperimentSpec) -> Evaluations {
    Evaluations { episodes: spec.eval_episodes, explores: spec.eval_policy == EvalChoice::Exploring }
}
