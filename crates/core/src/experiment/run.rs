//! One run: a spec built into lists and buffers, advanced update by update. No pacing, no stage, no clock.

use std::sync::Arc;

use super::command::LiveChange;
use super::evaluate::summed_up;
use super::knobs::why_not;
use super::snapshot::{EvalPoint, Facts, Optimum, RunState, Sentence};
use super::spec::{EvalChoice, ExperimentSpec};
use super::world;
use crate::env::api::Env;
use crate::marl::learner::{Evaluations, Learner};
use crate::marl::parts::clock::{
    ENV_STEP, EPS, EPS_END, EPS_OVER, GRAD_NORM, GRADIENT_STEP, LOSS, LR, LR_END, LR_OVER, linear,
};
use crate::marl::parts::explore::Behaviour;
use crate::marl::settings::LearnerSettings;
use crate::nn::graph::{Buffers, Cursor};
use crate::nn::layers::Tensor;

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
    /// The first tensor that left the finite range, if any.
    pub bad_tensor: Option<String>,
    /// Trace hash after the updates finished.
    pub trace: [u32; 2],
    finished: u32,
    settings: LearnerSettings,
    pending: Vec<LiveChange>,
    part: Part,
    cursor: Cursor,
    next_eval: u32,
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
}

impl Run {
    /// Builds `spec`; its first work is to evaluate the untrained parameters. Refuses with a sentence where the world or the algorithm
    /// does not fit.
    pub fn new(spec: ExperimentSpec, number: u32) -> Result<Self, Sentence> {
        let env: Arc<dyn Env> = world::build(&spec)?.into();
        if let Some(reason) = why_not(&spec, spec.algo) {
            return Err(reason);
        }
        let explores = spec.eval_policy == EvalChoice::Exploring;
        let evaluations = Evaluations { episodes: spec.eval_episodes, explores };
        let learner = Learner::new(Arc::clone(&env), spec.algo, &spec.learner, spec.seed, evaluations);
        let buffers = learner.start::<f32>();
        Ok(Self {
            facts: facts(&*env, &learner, &spec, number),
            buffers,
            evals: Vec::new(),
            budget: spec.budget,
            changed_at: None,
            bad_tensor: None,
            trace: [0; 2],
            finished: 0,
            settings: spec.learner.clone(),
            pending: Vec::new(),
            part: Part::Evaluation,
            cursor: Cursor::default(),
            next_eval: spec.eval_every,
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

    /// Whether the update begun still has env steps to take (then the worlds stand between two of them).
    pub fn is_rolling_out(&self) -> bool {
        self.part == Part::Rollout
    }

    /// Whether it may go on, or why not.
    pub fn end(&self) -> Option<RunState> {
        if self.is_inside_update() {
            return None;
        }
        if let Some(tensor) = &self.bad_tensor {
            return Some(RunState::Diverged { tensor: tensor.clone(), update: self.updates() });
        }
        (self.count(ENV_STEP) >= self.budget).then_some(RunState::Finished)
    }

    /// Another `budgets` budgets' worth of env steps, as far as the counters reach.
    pub fn extend(&mut self, budgets: u32) {
        let per_update = u64::from(self.learner.env_steps_per_update());
        let most_updates = u64::from(u32::MAX / self.spec.learner.grad_steps.max(1));
        let most = (most_updates * per_update).min(u64::from(u32::MAX)) - per_update;
        let wanted = u64::from(self.budget) + u64::from(budgets) * u64::from(self.spec.budget);
        self.budget = wanted.min(most) as u32;
    }

    /// The evaluation of the untrained parameters, if it is not done.
    pub fn prepare(&mut self) {
        while self.updates() == 0 && self.part == Part::Evaluation {
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
        let lists = &self.learner;
        match self.part {
            Part::Boundary => {
                self.take_changes();
                self.part = Part::Rollout;
                self.work();
            }
            Part::Rollout => {
                if lists.rollout.run_iteration(&mut self.cursor, &self.buffers) {
                    self.part = Part::GradientSteps;
                    if !self.learner.learns_at(self.count(ENV_STEP)) {
                        self.finish_update();
                    }
                }
            }
            Part::GradientSteps => {
                let done = lists.gradient_steps.run_iteration(&mut self.cursor, &self.buffers);
                self.bad_tensor = self.first_bad_tensor();
                if done || self.bad_tensor.is_some() {
                    self.finish_update();
                }
            }
            Part::Evaluation => {
                if lists.evaluation.list.run_iteration(&mut self.cursor, &self.buffers) {
                    self.evals.push(summed_up(&self.learner, &self.buffers));
                    self.part = Part::Boundary;
                }
            }
        }
    }

    /// A live field changes at the next update, whose number (counted from 0) is returned. The new value is brought
    /// into the field's range.
    pub fn change(&mut self, change: LiveChange) -> u32 {
        self.pending.push(change.within_range());
        let at = self.updates() + u32::from(self.is_inside_update() && self.part != Part::Evaluation);
        self.changed_at.get_or_insert(at);
        if self.part == Part::Boundary {
            self.take_changes();
        }
        at
    }

    /// Hash of all parameters' bits.
    pub fn weights_hash(&self) -> [u32; 2] {
        let blocks = self.learner.blocks();
        let all: Vec<f32> = blocks.iter().flat_map(|(_, block)| self.buffers.read(block.weights).clone()).collect();
        crate::base::hash::weights_hash(&all).0
    }

    /// Loss and gradient norm of the last gradient step, if there was one.
    pub fn loss_and_norm(&self) -> Option<(f32, f32)> {
        let scalars = self.buffers.read(self.learner.clock.scalars);
        (self.count(GRADIENT_STEP) > 0).then_some((scalars[LOSS], scalars[GRAD_NORM]))
    }

    /// ε of an ε-greedy behaviour policy, as the next update will have it; 0 where agents draw from their own policy.
    pub fn epsilon(&self) -> f32 {
        if self.learner.behaviour == Behaviour::Softmax {
            return 0.0;
        }
        let s = self.buffers.read(self.learner.clock.settings);
        linear(s[EPS], s[EPS_END], s[EPS_OVER], self.count(ENV_STEP))
    }

    /// Learning rate, as the next gradient step will have it.
    pub fn lr(&self) -> f32 {
        let s = self.buffers.read(self.learner.clock.settings);
        linear(s[LR], s[LR_END], s[LR_OVER], self.count(ENV_STEP))
    }

    fn take_changes(&mut self) {
        for change in std::mem::take(&mut self.pending) {
            let l = &mut self.settings;
            match change {
                LiveChange::Lr(lr) => {
                    l.critic_lr *= lr / l.lr;
                    (l.lr, l.lr_end, l.lr_over) = (lr, lr, 0);
                }
                LiveChange::Epsilon(eps) => (l.eps, l.eps_end, l.eps_over) = (eps, eps, 0),
            }
            self.learner.write_settings(&self.buffers, &self.settings);
        }
    }

    fn finish_update(&mut self) {
        self.cursor = Cursor::default();
        self.finished += 1;
        self.trace.copy_from_slice(&self.buffers.read(self.learner.tally.trace));
        let env_steps = self.count(ENV_STEP);
        let is_due = env_steps >= self.next_eval || env_steps >= self.budget;
        self.part = Part::Boundary;
        if is_due && self.bad_tensor.is_none() {
            self.next_eval = (env_steps / self.spec.eval_every + 1) * self.spec.eval_every;
            self.part = Part::Evaluation;
        }
    }

    /// Looks closer only when loss or gradient norm is not finite. Gradients come first: parameters follow them.
    fn first_bad_tensor(&self) -> Option<String> {
        let (loss, norm) = self.loss_and_norm()?;
        if loss.is_finite() && norm.is_finite() {
            return None;
        }
        let blocks = self.learner.blocks();
        let gradients = blocks.iter().map(|&(layout, block)| (layout, block.grad));
        let weights = blocks.iter().map(|&(layout, block)| (layout, block.weights));
        for (layout, buffer) in gradients.chain(weights) {
            let numbers = self.buffers.read(buffer);
            let is_bad = |tensor: &&Tensor| numbers[tensor.range()].iter().any(|x| !x.is_finite());
            if let Some(tensor) = layout.tensors.iter().find(is_bad) {
                return Some(tensor.name.clone());
            }
        }
        Some("gradient norm".to_owned())
    }
}

fn facts(env: &dyn Env, learner: &Learner, spec: &ExperimentSpec, run: u32) -> Facts {
    let info = env.info();
    Facts {
        run,
        num_agents: info.num_agents,
        num_actions: info.num_actions,
        action_names: info.action_names.clone(),
        obs_names: info.obs_names.clone(),
        state_names: info.state_names.clone(),
        part_names: info.part_names.clone(),
        part_weights: info.part_weights.clone(),
        mix: info.mix,
        idle_action: info.idle_action,
        lower_is_better: info.headline.lower_is_better(),
        max_steps: info.max_steps,
        optimum: env.optimum().map(|o| Optimum {
            value: o.value as f32,
            exact: o.exact,
            full_information: o.full_information,
        }),
        obs_determines_state: info.obs_determines_state,
        enumerated_starts: info.enumerated_starts,
        agent_parameters: learner.agents.layout.num_parameters(),
        mixer_parameters: learner.central.mixer().map_or(0, |mixer| mixer.layout.num_parameters()),
        critic_parameters: learner.central.critic().map_or(0, |critic| critic.layout.num_parameters()),
        is_policy_gradient: learner.behaviour == Behaviour::Softmax,
        env_steps_per_update: learner.env_steps_per_update(),
        budget: spec.budget,
    }
}
