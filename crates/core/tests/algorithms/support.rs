//! Worlds small enough to compute by hand, networks that are tables, and access to a run's buffers by name.

use std::cell::{Ref, RefMut};
use std::fmt::{Debug, Formatter};
use std::sync::Arc;

use tandem_core::base::float::Real;
use tandem_core::base::rng::Draws;
use tandem_core::env::api::{Ended, Env, EnvInfo, EnvState, Frame, Headline, Label, Role, StateMut, StateRef, StepOut};
use tandem_core::experiment::evaluate::summed_up;
use tandem_core::experiment::run::Run;
use tandem_core::experiment::snapshot::EvalPoint;
use tandem_core::experiment::spec::ExperimentSpec;
use tandem_core::marl::learner::{Evaluations, Learner};
use tandem_core::marl::parts::clock::{ENV_STEP, RING_FILL};
use tandem_core::marl::parts::world::MAX_AGENTS;
use tandem_core::marl::settings::{ActivationChoice, AlgoChoice, LearnerSettings, TargetChoice};
use tandem_core::nn::graph::{Buffers, Content, Doubles, Id, List, Plan, Precision, Reals, Training, Words};
use tandem_core::nn::layers::{Layer, Mlp};

type Rules = dyn Fn(u32, &[u32], &mut [f32]) -> Ended + Send + Sync;
type Views = dyn Fn(u32, u32, &mut [f32]) + Send + Sync;
type Mask = dyn Fn(u32, u32, u32) -> bool + Send + Sync;

/// A world whose whole state is the number of env steps taken, t. Where it is in turns, agent t mod n moves.
pub(crate) struct Tiny {
    pub(crate) info: EnvInfo,
    /// Env step t → t+1 under a joint action: writes rewards `[n]`.
    pub(crate) rules: Box<Rules>,
    /// What an agent sees at t.
    pub(crate) observe: Box<Views>,
    /// Whether an action is legal for an agent at t.
    pub(crate) legal: Box<Mask>,
}

impl Debug for Tiny {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tiny").field("info", &self.info).finish_non_exhaustive()
    }
}

impl Tiny {
    /// `agents` with `actions` see t one-hot among `times` entries (beyond the last: nothing), are paid nothing and are
    /// cut off after `limit` env steps, unless told otherwise.
    pub(crate) fn new(agents: u32, actions: u32, times: u32, limit: u32) -> Self {
        let names = |what: &str, count: u32| (0..count).map(|i| Label::new(what, &[i as i32])).collect::<Vec<_>>();
        let (acts, obs) = (names("action", actions), names("time", times));
        Self {
            info: EnvInfo {
                num_agents: agents,
                num_actions: actions,
                obs_len: times,
                state_len: times,
                roles: vec![Role { id: "role.agent".to_owned(), actions: acts, obs }],
                role_of: vec![0; agents as usize],
                part_names: vec!["part.payoff".to_owned()],
                part_weights: vec![1.0],
                mix: None,
                idle_action: None,
                max_steps: limit,
                fixed_length: false,
                common_reward: true,
                team_reward: true,
                in_turns: false,
                fixed_mask: false,
                obs_determines_state: true,
                headline: Headline::Mean { first: 0, count: agents },
                enumerated_starts: 1,
                ints: 1,
                reals: 0,
                revision: 1,
            },
            rules: Box::new(move |t, _, _| Ended { terminated: false, truncated: t + 1 == limit }),
            observe: Box::new(|t, _, obs| one_hot(t, obs)),
            legal: Box::new(|_, _, _| true),
        }
    }
}

pub(crate) fn one_hot(t: u32, out: &mut [f32]) {
    out.fill(0.0);
    if let Some(x) = out.get_mut(t as usize) {
        *x = 1.0;
    }
}

impl Env for Tiny {
    fn info(&self) -> &EnvInfo {
        &self.info
    }
    fn reset(&self, state: StateMut<'_>, _draws: &Draws) {
        state.ints[0] = 0;
    }
    fn reset_to(&self, state: StateMut<'_>, _start: u32) -> bool {
        state.ints[0] = 0;
        false
    }
    fn step(&self, state: StateMut<'_>, actions: &[u32], _draws: &Draws, out: &mut StepOut<'_>) -> Ended {
        let t = state.ints[0] as u32;
        let mut rewards = [0.0_f32; MAX_AGENTS];
        let ended = (self.rules)(t, actions, &mut rewards[..out.rewards.len()]);
        out.rewards.iter_mut().zip(rewards).for_each(|(to, r)| *to = f64::from(r));
        out.parts.copy_from_slice(out.rewards);
        state.ints[0] += 1;
        ended
    }
    fn observe(&self, state: StateRef<'_>, agent: u32, obs: &mut [f32]) {
        (self.observe)(self.step_count(state), agent, obs);
    }
    fn state(&self, state: StateRef<'_>, out: &mut [f32]) {
        one_hot(self.step_count(state), out);
    }
    fn legal(&self, state: StateRef<'_>, agent: u32, mask: &mut [u32]) {
        let t = self.step_count(state);
        for (action, legal) in (0..).zip(mask) {
            *legal = u32::from((self.legal)(t, agent, action));
        }
    }
    fn to_move(&self, state: StateRef<'_>) -> Option<u32> {
        self.info.in_turns.then(|| self.step_count(state) % self.info.num_agents)
    }
    fn step_count(&self, state: StateRef<'_>) -> u32 {
        state.ints[0] as u32
    }
    fn frame(&self, _state: StateRef<'_>) -> Frame {
        unreachable!("nobody draws this world")
    }
    fn standing_at(&self, _state: StateRef<'_>, _agent: u32, _cell: u32) -> Option<EnvState> {
        None
    }
}

pub(crate) const ALL: [AlgoChoice; 3] = [AlgoChoice::Iql, AlgoChoice::Vdn, AlgoChoice::Qmix];

/// Small networks, one environment, one env step and one gradient step an update, no exploration schedule.
pub(crate) fn settings() -> LearnerSettings {
    LearnerSettings {
        lr: 1e-3,
        lr_end: 1e-3,
        lr_over: 0,
        gamma: 0.5,
        eps: 1.0,
        eps_end: 1.0,
        eps_over: 0,
        batch: 1,
        buffer: 1,
        warmup: 0,
        envs: 1,
        rollout: 1,
        grad_steps: 1,
        target: TargetChoice::Hard,
        target_every: 1_000,
        double_q: false,
        shared: true,
        agent_id: false,
        hidden: 8,
        layers: 1,
        embed: 8,
        hyper_layers: 1,
        hyper_hidden: 8,
        ..ExperimentSpec::default().learner
    }
}

pub(crate) const POLICIES: [AlgoChoice; 2] = [AlgoChoice::Ippo, AlgoChoice::Mappo];

/// The same for policy gradients: one gradient step on the whole rollout.
pub(crate) fn policy_settings() -> LearnerSettings {
    LearnerSettings {
        epochs: 1,
        minibatches: 1,
        entropy: 0.0,
        value_norm: false,
        activation: ActivationChoice::Tanh,
        critic_lr: 1e-3,
        ..settings()
    }
}

/// Runs the calls of that name in `list`.
pub(crate) fn run_calls<R: Precision>(list: &List, name: &str, buffers: &Buffers<R>) {
    let mut calls = list.calls().filter(|(_, call)| call.name() == name).peekable();
    assert!(calls.peek().is_some(), "no {name}");
    calls.for_each(|(_, call)| R::run(call, buffers));
}

/// The buffer of that name, to write.
pub(crate) fn write_named<'a, R: Real>(learner: &Learner, buffers: &'a Buffers<R>, name: &str) -> RefMut<'a, Vec<R>> {
    buffers.write(id::<Reals>(learner, name))
}

/// The buffer of words of that name, to write.
pub(crate) fn words_named<'a, R: Real>(learner: &Learner, buffers: &'a Buffers<R>, name: &str) -> RefMut<'a, Vec<u32>> {
    buffers.write(id::<Words>(learner, name))
}

/// A learner of `env` with seed 1.
pub(crate) fn learner(env: Tiny, algo: AlgoChoice, settings: &LearnerSettings) -> Learner {
    Learner::new(Arc::new(env), algo, settings, 1, Evaluations { episodes: 1, explores: false })
}

/// Makes one-hidden-layer weights a table: Q(x one-hot at s, a) = `table[s][a]`.
pub(crate) fn set_table<R: Real>(net: &Mlp, table: &[&[f32]], weights: &mut [R]) {
    let [hidden, output] = &net.layers[..] else { panic!("a table has one hidden layer") };
    assert!(table.len() <= hidden.weight.cols as usize);
    for Layer { weight, bias } in [hidden, output] {
        weights[weight.range()].fill(R::ZERO);
        weights[bias.range()].fill(R::ZERO);
    }
    for (s, row) in table.iter().enumerate() {
        if s < hidden.weight.rows as usize {
            weights[(hidden.weight.offset + s as u32 * hidden.weight.stride()) as usize + s] = R::ONE;
        }
        let at = (output.weight.offset + s as u32 * output.weight.stride()) as usize;
        row.iter().zip(&mut weights[at..]).for_each(|(&q, w)| *w = R::from_f32(q));
    }
}

/// Q tables of all agents' networks and of their targets.
pub(crate) fn set_tables<R: Real>(learner: &Learner, buffers: &Buffers<R>, online: &[&[f32]], target: &[&[f32]]) {
    for net in &learner.agents.nets {
        set_table(net, online, &mut buffers.write(learner.agents.block.weights));
        set_table(net, target, &mut buffers.write(learner.targets[0].target));
    }
}

/// The buffers of a kind: their names and ids.
pub(crate) fn ids<T: Content>(plan: &Plan) -> Vec<(String, Id<T, Training>)> {
    let names = T::infos(plan).iter().map(|info| info.name.clone());
    names.map(|name| (name.clone(), plan.named(&name).expect("a name of the plan"))).collect()
}

fn id<T: Content>(learner: &Learner, name: &str) -> Id<T, Training> {
    learner.plan.named(name).unwrap_or_else(|| panic!("no buffer {name}"))
}

/// The buffer of that name.
fn buffer<'a, T: Content, R: Real>(learner: &Learner, buffers: &'a Buffers<R>, name: &str) -> Ref<'a, Vec<T::Item<R>>> {
    buffers.read(id::<T>(learner, name))
}

/// The real buffer of that name.
pub(crate) fn named<'a, R: Real>(learner: &Learner, buffers: &'a Buffers<R>, name: &str) -> Ref<'a, Vec<R>> {
    buffer::<Reals, R>(learner, buffers, name)
}

/// Count, mean and sum of squared deviations of the rewards.
pub(crate) fn reward_moments<'a, R: Real>(learner: &Learner, buffers: &'a Buffers<R>) -> Ref<'a, Vec<f64>> {
    buffer::<Doubles, R>(learner, buffers, "reward.moments")
}

/// A counter of the run's clock.
pub(crate) fn counter<R: Real>(learner: &Learner, buffers: &Buffers<R>, which: usize) -> u32 {
    buffers.read(learner.clock.counters)[which]
}

/// One update as a run takes it.
pub(crate) fn update<R: Precision>(learner: &Learner, buffers: &Buffers<R>) {
    learner.rollout.run(buffers);
    learner.gradient_steps.run(buffers);
}

/// Plays the evaluation's episodes and sums them up.
pub(crate) fn evaluate(learner: &Learner, buffers: &Buffers<f32>) -> EvalPoint {
    learner.evaluation.list.run(buffers);
    summed_up(learner, buffers)
}

/// One env step of every training environment, and what else is due until the next one can follow.
pub(crate) fn step_env(run: &mut Run) {
    let env_steps = run.count(ENV_STEP);
    while run.count(ENV_STEP) == env_steps {
        run.work();
    }
    while run.is_inside_update() && !run.is_rolling_out() {
        run.work();
    }
}

/// Row `i` of a buffer with rows of `width`.
pub(crate) fn set_row<T: Copy>(buffer: &mut [T], width: usize, i: usize, row: &[T]) {
    buffer[i * width..][..row.len()].copy_from_slice(row);
}

/// Replay of one-step or longer segments, written by hand instead of by a rollout.
#[derive(Clone, Debug)]
pub(crate) struct Transition {
    /// State index (one-hot) before and after.
    pub(crate) states: [u32; 2],
    pub(crate) actions: Vec<u32>,
    /// Rewards of the agents, then of the team.
    pub(crate) rewards: Vec<f32>,
    pub(crate) terminal: bool,
}

/// Fills the ring from its beginning with consecutive transitions; all actions are legal everywhere.
pub(crate) fn write_replay<R: Real>(learner: &Learner, buffers: &Buffers<R>, transitions: &[Transition]) {
    let ring = &learner.replay().expect("value-based").ring;
    let (n, steps) = (learner.agents.count as usize, ring.steps as usize);
    let width = |id: Id<Reals, _>, rows: usize| buffers.read(id).len() / rows;
    let rows = ring.count as usize * (steps + 1);
    let (obs_width, state_width) = (width(ring.obs, rows * n), width(ring.state, rows));
    assert_eq!(transitions.len(), ring.count as usize * steps, "the ring is full");
    buffers.write(ring.mask).fill(1);
    buffers.write(ring.weight).fill(R::ONE);
    for (k, transition) in transitions.iter().enumerate() {
        let before = k / steps * (steps + 1) + k % steps;
        for (row, &s) in [before, before + 1].into_iter().zip(&transition.states) {
            let hot: Vec<R> = (0..state_width as u32).map(|i| if i == s { R::ONE } else { R::ZERO }).collect();
            set_row(&mut buffers.write(ring.state), state_width, row, &hot);
            for agent in 0..n {
                let hot = &hot[..obs_width.min(state_width)];
                set_row(&mut buffers.write(ring.obs), obs_width, row * n + agent, hot);
            }
        }
        set_row(&mut buffers.write(ring.action), n, k, &transition.actions);
        let rewards: Vec<R> = transition.rewards.iter().map(|&r| R::from_f32(r)).collect();
        set_row(&mut buffers.write(ring.reward), n + 1, k, &rewards);
        buffers.write(ring.terminal)[k] = if transition.terminal { R::ONE } else { R::ZERO };
    }
    fill_count(learner, buffers);
}

/// Tells the clock that the ring is full.
pub(crate) fn fill_count<R: Real>(learner: &Learner, buffers: &Buffers<R>) {
    buffers.write(learner.clock.counters)[RING_FILL] = learner.replay().expect("value-based").ring.count;
}

/// Whether two numbers agree to a millionth of the larger, or of 1.
pub(crate) fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0)
}
