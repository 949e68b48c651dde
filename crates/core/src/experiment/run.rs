//! One run: a spec built into lists and buffers, advanced update by update. No pacing, no stage, no clock.

use std::sync::Arc;

use super::command::LiveChange;
use super::evaluate::summed_up;
use super::knobs::why_not;
use super::snapshot::{EvalPoint, Facts, Optimum, RunState, Sentence};
use super::spec::{EvalChoice, ExperimentSpec};
use super::world;
use crate::base::hash::TraceHash;
use crate::env::api::Env;
use crate::marl::learner::Learner;
use crate::marl::parts::clock::{ENV_STEP, EPS, EPS_END, EPS_OVER, GRAD_NORM, GRADIENT_STEP, LOSS, UPDATE, linear};
use crate::marl::settings::LearnerSettings;
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
    /// The first tensor that left the finite range, if any.
    pub bad_tensor: Option<String>,
    /// Trace hash at the last update boundary.
    pub trace: [u32; 2],
    settings: LearnerSettings,
    pending: Vec<LiveChange>,
    part: Part,
    cursor: Cursor,
    next_eval: u32,
}

/// Which list an update stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Between updates.
    Boundary,
    Rollout,
    GradientSteps,
    Evaluation,
}

impl Run {
    /// Builds `spec` and evaluates the untrained parameters. Refuses with a sentence where the world or the algorithm
    /// does not fit.
    pub fn new(spec: ExperimentSpec, number: u32) -> Result<Self, Sentence> {
        let env: Arc<dyn Env> = world::build(&spec)?.into();
        if let Some(reason) = why_not(&spec, spec.algo) {
            return Err(reason);
        }
        let learner = Learner::new(Arc::clone(&env), spec.algo, &spec.learner, spec.seed, spec.eval_episodes);
        let buffers = learner.start::<f32>();
        let mut run = Self {
            facts: facts(&*env, &learner, &spec, number),
            buffers,
            evals: Vec::new(),
            budget: spec.budget,
            changed_at: None,
            bad_tensor: None,
            trace: [0; 2],
            settings: spec.learner.clone(),
            pending: Vec::new(),
            part: Part::Boundary,
            cursor: Cursor::default(),
            next_eval: spec.eval_every,
            learner,
            spec,
        };
        run.prepare_evaluation();
        run.learner.evaluation.list.run(&run.buffers);
        run.evals.push(summed_up(&run.learner, &run.buffers));
        Ok(run)
    }

    /// A counter of the clock, see [`crate::marl::parts::clock`].
    pub fn count(&self, counter: usize) -> u32 {
        self.buffers.read(self.learner.clock.counters)[counter]
    }

    /// Updates finished.
    pub fn updates(&self) -> u32 {
        self.count(UPDATE) - u32::from(self.is_inside_update())
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
        if let Some(tensor) = &self.bad_tensor {
            return Some(RunState::Diverged { tensor: tensor.clone(), update: self.updates() });
        }
        (self.count(ENV_STEP) >= self.budget && !self.is_inside_update()).then_some(RunState::Finished)
    }

    /// To the next update boundary.
    pub fn update(&mut self) {
        self.work();
        while self.is_inside_update() {
            self.work();
        }
    }

    /// The smallest piece of work: an env step of every training environment, a gradient step, or an env step of the
    /// evaluation. So however large an update is, a tick stays short.
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
                        self.end_gradient_steps();
                    }
                }
            }
            Part::GradientSteps => {
                if lists.gradient_steps.run_iteration(&mut self.cursor, &self.buffers) {
                    self.bad_tensor = self.first_bad_tensor();
                    self.end_gradient_steps();
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

    /// A live field changes at the next update.
    pub fn change(&mut self, change: LiveChange) {
        self.pending.push(change);
        self.changed_at.get_or_insert(self.updates());
        if !self.is_inside_update() {
            self.take_changes();
        }
    }

    /// Hash of all parameters' bits.
    pub fn weights_hash(&self) -> [u32; 2] {
        let mut all = self.buffers.read(self.learner.agents.block.weights).clone();
        if let Some(mixer) = &self.learner.mixer {
            all.extend(self.buffers.read(mixer.block.weights).iter());
        }
        crate::base::hash::weights_hash(&all).0
    }

    /// Loss and gradient norm of the last gradient step, if there was one.
    pub fn loss_and_norm(&self) -> Option<(f32, f32)> {
        let scalars = self.buffers.read(self.learner.clock.scalars);
        (self.count(GRADIENT_STEP) > 0).then_some((scalars[LOSS], scalars[GRAD_NORM]))
    }

    /// ε of the behaviour policy, as the next update will have it.
    pub fn epsilon(&self) -> f32 {
        let s = self.buffers.read(self.learner.clock.settings);
        linear(s[EPS], s[EPS_END], s[EPS_OVER], self.count(ENV_STEP))
    }

    fn take_changes(&mut self) {
        for change in std::mem::take(&mut self.pending) {
            let l = &mut self.settings;
            match change {
                LiveChange::Lr(lr) => (l.lr, l.lr_end, l.lr_over) = (lr, lr, 0),
                LiveChange::Epsilon(eps) => (l.eps, l.eps_end, l.eps_over) = (eps, eps, 0),
            }
            self.learner.write_settings(&self.buffers, &self.settings);
        }
    }

    fn end_gradient_steps(&mut self) {
        self.trace.copy_from_slice(&self.buffers.read(self.learner.tally.trace));
        let env_steps = self.count(ENV_STEP);
        self.part = Part::Boundary;
        if env_steps >= self.next_eval && self.bad_tensor.is_none() {
            self.next_eval = (env_steps / self.spec.eval_every + 1) * self.spec.eval_every;
            self.prepare_evaluation();
            self.part = Part::Evaluation;
        }
    }

    fn prepare_evaluation(&self) {
        let epsilon = match self.spec.eval_policy {
            EvalChoice::Greedy => 0.0,
            EvalChoice::Exploring => self.epsilon(),
        };
        self.buffers.write(self.learner.evaluation.epsilon)[0] = epsilon;
    }

    /// Looks closer only when loss or gradient norm is not finite.
    fn first_bad_tensor(&self) -> Option<String> {
        let (loss, norm) = self.loss_and_norm()?;
        if loss.is_finite() && norm.is_finite() {
            return None;
        }
        let infos = self.learner.plan.real_infos().iter().enumerate();
        let bad = infos.filter(|(i, _)| self.buffers.real(*i).iter().any(|x| !x.is_finite()));
        let mut names: Vec<&str> = bad.map(|(_, info)| info.name.as_str()).collect();
        // Parameters say more than what was computed from them.
        names.sort_by_key(|name| !name.ends_with("weights"));
        Some(names.first().map_or_else(|| "loss".to_owned(), |name| (*name).to_owned()))
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "update {} · env step {} · trace {}", self.updates(), self.count(ENV_STEP), TraceHash(self.trace))
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
        mixer_parameters: learner.mixer.as_ref().map_or(0, |m| m.layout.num_parameters()),
        env_steps_per_update: learner.env_steps_per_update(),
        budget: spec.budget,
    }
}
