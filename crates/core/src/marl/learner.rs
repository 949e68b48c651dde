//! A run as lists on buffers: what all algorithms have in common. What differs between value-based learning and policy
//! gradients is built in `value_based.rs` and `policy_gradient.rs`.

use std::sync::Arc;

use super::evaluation::Evaluation;
use super::matches::Matches;
use super::parts::agents::Agents;
use super::parts::clock::{
    CRITIC_RATE, Clock, ENTROPY, ENTROPY_END, ENTROPY_OVER, ENV_STEP, EPS, EPS_END, EPS_OVER, LR, LR_END, LR_OVER,
    RING_FILL,
};
use super::parts::critic::Critic;
use super::parts::explore::Behaviour;
use super::parts::joint_critic::JointCritic;
use super::parts::optimise::{Block, Target};
use super::parts::pool::Pool;
use super::parts::replay::Replay;
use super::parts::tally::Tally;
use super::parts::turns::{Turns, one_moves_all};
use super::parts::world::{ResetAll, Starts, World, input_len};
use super::policy_gradient::OnPolicy;
use super::qmix::MixingNetwork;
use super::settings::{ActivationChoice, AlgoChoice, ExploreChoice, LearnerSettings};
use super::{policy_gradient, value_based};
use crate::base::float::Real;
use crate::base::rng::Stream;
use crate::env::api::Env;
use crate::nn::graph::{Buffers, Doubles, Id, List, Phase, Plan, Precision, Reals, Training, leave_out_unread};
use crate::nn::init::{init_mixer, init_mlp, init_orthogonal};
use crate::nn::layers::{Activation, Layout, Mlp};

pub use super::evaluation::Evaluations;

/// Gain of a policy's last layer: at first nearly all actions are equally likely (Andrychowicz et al. 2021).
const NEARLY_UNIFORM: f64 = 0.01;

/// Everything of a run that is not a number: networks, lists, ids of buffers.
#[derive(Debug)]
pub struct Learner {
    /// The rules.
    pub env: Arc<dyn Env>,
    /// Settings it was built from.
    pub settings: LearnerSettings,
    /// The seed.
    pub seed: u64,
    /// All buffers.
    pub plan: Plan,
    /// Counters, schedules, scalars.
    pub clock: Clock,
    /// Training environments.
    pub world: World,
    /// Agents' networks.
    pub agents: Agents,
    /// Which algorithm.
    pub algo: AlgoChoice,
    /// How the agents gather data.
    pub behaviour: Behaviour,
    /// Whose turn it is, where a decision is what is learned from ([`one_moves_all`]). Else waiting is an env step like any
    /// other.
    pub turns: Option<Turns>,
    /// Earlier selves that play against the network, where it plays against itself.
    pub pool: Option<Pool>,
    /// What joins the agents while they train.
    pub central: Central,
    /// Parameters that are followed by a slow copy.
    pub targets: Vec<Target>,
    /// What is learned from.
    pub experience: Experience,
    /// Returns, action frequencies, trace hash.
    pub tally: Tally,
    /// Puts the training environments at their start; once.
    pub reset: List,
    /// One update's rollout.
    pub rollout: List,
    /// One update's gradient steps.
    pub gradient_steps: List,
    /// Evaluation.
    pub evaluation: Evaluation,
    /// Games against scripts, where agents move in turns.
    pub matches: Option<Matches>,
}

/// What joins the agents while they train, and is gone when they act.
#[derive(Debug)]
pub enum Central {
    /// Nothing: every agent learns for itself.
    Nothing,
    /// VDN: the team's value is the sum of utilities.
    Sum,
    /// QMIX: a network on the state mixes the utilities.
    Mixer(MixingNetwork),
    /// IPPO and MAPPO: a critic values what each agent sees, or the state.
    Critic(Critic),
    /// COMA: a critic values each action of an agent beside what the others did.
    Counterfactual(JointCritic),
}

/// What an update learns from.
#[derive(Debug)]
pub enum Experience {
    /// Value-based learners: minibatches of what was seen lately.
    Replay(Replay),
    /// Policy gradients: the rollout just made.
    OnPolicy(OnPolicy),
}

impl Central {
    /// The mixing network, if there is one.
    pub fn mixer(&self) -> Option<&MixingNetwork> {
        match self {
            Self::Mixer(mixer) => Some(mixer),
            Self::Nothing | Self::Sum | Self::Critic(_) | Self::Counterfactual(_) => None,
        }
    }

    /// The critic, if there is one.
    pub fn critic(&self) -> Option<&Critic> {
        match self {
            Self::Critic(critic) => Some(critic),
            Self::Nothing | Self::Sum | Self::Mixer(_) | Self::Counterfactual(_) => None,
        }
    }

    /// Names and places of the tensors of either critic.
    pub fn critic_layout(&self) -> Option<&Layout> {
        let values = self.critic().map(|critic| &critic.layout);
        values.or_else(|| self.counterfactual().map(|critic| &critic.layout))
    }

    /// Numbers either critic reads at once; 0 without one.
    pub fn critic_inputs(&self) -> u32 {
        match self {
            Self::Critic(critic) => critic.nets[0].inputs(),
            Self::Counterfactual(critic) => critic.net.inputs(),
            Self::Nothing | Self::Sum | Self::Mixer(_) => 0,
        }
    }

    /// The critic of actions, if there is one.
    pub fn counterfactual(&self) -> Option<&JointCritic> {
        match self {
            Self::Counterfactual(critic) => Some(critic),
            Self::Nothing | Self::Sum | Self::Mixer(_) | Self::Critic(_) => None,
        }
    }
}

/// What the builders of both families start from.
#[derive(Debug)]
pub(super) struct Common<'a> {
    pub(super) settings: &'a LearnerSettings,
    pub(super) seed: u64,
    pub(super) clock: Clock,
    pub(super) world: &'a World,
    pub(super) agents: &'a Agents,
    pub(super) tally: &'a Tally,
    pub(super) turns: Option<Turns>,
    pub(super) pool: Option<&'a Pool>,
    /// Draws of env steps and resets of the training environments.
    pub(super) environment: Stream,
}

/// What a family adds.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) central: Central,
    pub(super) targets: Vec<Target>,
    pub(super) experience: Experience,
    pub(super) rollout: List,
    pub(super) gradient_steps: List,
}

impl Learner {
    /// Builds lists and describes buffers. `settings` are taken as valid (see the knob table).
    pub fn new(
        env: Arc<dyn Env>,
        algo: AlgoChoice,
        settings: &LearnerSettings,
        seed: u64,
        evaluations: Evaluations,
    ) -> Self {
        let learns_decisions = env.info().in_turns && one_moves_all(settings, algo, env.info().num_agents);
        Self::build(env, algo, settings, seed, evaluations, learns_decisions)
    }

    /// The same run with other seats, among these `settings`. What is learned from stays what it is, decisions or env steps,
    /// so that nothing learned is lost; only where two networks take the place of one do decisions become env steps.
    #[must_use]
    pub fn reseated(&self, algo: AlgoChoice, settings: &LearnerSettings, evaluations: Evaluations) -> Self {
        let learns_decisions = self.turns.is_some() && one_moves_all(settings, algo, self.agents.count);
        Self::build(Arc::clone(&self.env), algo, settings, self.seed, evaluations, learns_decisions)
    }

    fn build(
        env: Arc<dyn Env>,
        algo: AlgoChoice,
        settings: &LearnerSettings,
        seed: u64,
        evaluations: Evaluations,
        learns_decisions: bool,
    ) -> Self {
        let info = env.info();
        let mut plan = Plan::default();
        let clock = Clock::new(&mut plan);
        let world = World::new(&mut plan, "train", Arc::clone(&env), settings.envs, settings.agent_id);
        let mut sizes = vec![input_len(&*env, settings.agent_id)];
        sizes.extend((0..settings.layers).map(|_| settings.hidden));
        sizes.push(info.num_actions);
        let agents = Agents::new(&mut plan, &*env, &settings.seats, settings.shared, &sizes, activation(settings));
        let tally = Tally::new(&mut plan, &world, clock);
        let behaviour = algo.info().behaviour;

        let environment = Stream::new(seed, "environment");
        let mut reset = List::default();
        reset.train(Phase::Environment, ResetAll { world: world.clone(), stream: environment, starts: Starts::Drawn });
        let pool = learns_decisions.then(|| Pool::new(&mut plan, &agents, settings)).flatten();
        let past = pool.as_ref().map(|pool| pool.past).unwrap_or_default();
        let turns = learns_decisions.then(|| Turns::new(&mut plan, "train", &world, agents.learners(), past));
        let common = Common {
            settings,
            seed,
            clock,
            world: &world,
            agents: &agents,
            tally: &tally,
            turns,
            pool: pool.as_ref(),
            environment,
        };
        let Built { central, targets, experience, rollout, gradient_steps } = match behaviour {
            Behaviour::EpsilonGreedy => value_based::build(&mut plan, algo, &common),
            Behaviour::Softmax => policy_gradient::build(&mut plan, algo, &common),
        };
        let evaluation = Evaluation::new(&mut plan, &env, settings, &agents, behaviour, clock, seed, evaluations);
        let matches = Matches::new(&mut plan, &env, settings, &agents, seed);
        let mut lists = vec![&reset, &rollout, &gradient_steps, &evaluation.list];
        lists.extend(matches.iter().map(|matches| &matches.list));
        leave_out_unread(&mut plan, &lists);
        Self {
            settings: settings.clone(),
            seed,
            plan,
            clock,
            world,
            agents,
            algo,
            behaviour,
            turns,
            pool,
            central,
            targets,
            experience,
            tally,
            reset,
            rollout,
            gradient_steps,
            evaluation,
            matches,
            env,
        }
    }

    /// The buffers of update 0: initial weights, targets equal to them, environments at their start.
    pub fn start<R: Precision>(&self) -> Buffers<R> {
        let buffers = Buffers::new(&self.plan);
        let stream = Stream::new(self.seed, "weights");
        let last = if self.behaviour == Behaviour::Softmax { NEARLY_UNIFORM } else { 1.0 };
        self.agents.init(&buffers, |net, layout, weights| self.init(net, layout, &stream, last, weights));
        self.init_central(&buffers);
        if let Some(pool) = &self.pool {
            pool.begin(&self.agents, &buffers);
        }
        for target in &self.targets {
            buffers.write(target.target).copy_from_slice(&buffers.read(target.weights));
        }
        let powers = self.blocks().map(|(_, block)| block.powers);
        powers.chain([self.agents.frozen.powers]).for_each(|powers| buffers.write(powers).fill(R::ONE));
        self.write_settings(&buffers, &self.settings);
        self.reset.run(&buffers);
        buffers
    }

    /// Initial weights of what joins the agents.
    pub(super) fn init_central<R: Real>(&self, buffers: &Buffers<R>) {
        match &self.central {
            Central::Nothing | Central::Sum => {}
            Central::Mixer(mixer) => {
                let stream = Stream::new(self.seed, "mixer weights");
                init_mixer(&mixer.net, &mixer.layout, &stream, &mut buffers.write(mixer.block.weights));
            }
            Central::Critic(critic) => {
                let stream = Stream::new(self.seed, "critic weights");
                for net in &critic.nets {
                    self.init(net, &critic.layout, &stream, 1.0, &mut buffers.write(critic.block.weights));
                }
            }
            Central::Counterfactual(critic) => {
                let stream = Stream::new(self.seed, "critic weights");
                self.init(&critic.net, &critic.layout, &stream, 1.0, &mut buffers.write(critic.block.weights));
            }
        }
    }

    /// Initial weights of a network; `last` is the gain of its last layer where they are orthogonal.
    fn init<R: Real>(&self, net: &Mlp, layout: &Layout, stream: &Stream, last: f64, weights: &mut [R]) {
        if self.settings.orthogonal {
            // The gains of He et al. 2015 and of PyTorch's `calculate_gain`.
            let hidden = if net.activation == Activation::Relu { 2.0_f64.sqrt() } else { 5.0 / 3.0 };
            init_orthogonal(net, layout, stream, (hidden, last), weights);
        } else {
            init_mlp(net, layout, stream, weights);
        }
    }

    /// Hands schedules to the lists; between updates only.
    pub fn write_settings<R: Real>(&self, buffers: &Buffers<R>, settings: &LearnerSettings) {
        let mut s = buffers.write(self.clock.settings);
        s[LR] = R::from_f32(settings.lr);
        s[LR_END] = R::from_f32(settings.lr_end);
        s[LR_OVER] = R::from_u32(settings.lr_over);
        let uniform = settings.explore == ExploreChoice::Uniform;
        let epsilon = |epsilon: f32| match (self.algo.info().has_epsilon(), uniform) {
            (false, _) => R::ZERO,
            (true, true) => R::ONE,
            (true, false) => R::from_f32(epsilon),
        };
        s[EPS] = epsilon(settings.eps);
        s[EPS_END] = epsilon(settings.eps_end);
        s[EPS_OVER] = R::from_u32(settings.eps_over);
        s[CRITIC_RATE] = R::from_f32(settings.critic_lr / settings.lr);
        s[ENTROPY] = R::from_f32(settings.entropy);
        s[ENTROPY_END] = R::from_f32(settings.entropy_end);
        s[ENTROPY_OVER] = R::from_u32(settings.entropy_over);
    }

    /// Everything that is trained: parameters with the names and places of their tensors, the agents' first.
    pub fn blocks(&self) -> impl Iterator<Item = (&Layout, Block<Training>)> {
        let agents = (&self.agents.layout, self.agents.block.seen_by_training());
        let central = match &self.central {
            Central::Nothing | Central::Sum => None,
            Central::Mixer(mixer) => Some((&mixer.layout, mixer.block)),
            Central::Critic(critic) => Some((&critic.layout, critic.block)),
            Central::Counterfactual(critic) => Some((&critic.layout, critic.block)),
        };
        std::iter::once(agents).chain(central)
    }

    /// The buffers training goes on from: parameters, Adam's moments and what corrects their bias, slow copies, scalars
    /// of the last gradient step.
    pub fn trained(&self) -> Vec<Id<Reals, Training>> {
        let blocks = self.blocks().flat_map(|(_, block)| [block.weights, block.m, block.v, block.powers]);
        let copies = self.targets.iter().map(|target| target.target);
        blocks.chain(copies).chain([self.clock.scalars]).collect()
    }

    /// The statistics a critic's parameters belong to, where it learns normalised values.
    pub fn value_moments(&self) -> Option<Id<Doubles, Training>> {
        self.central.critic().and_then(|critic| critic.moments).map(|moments| moments.numbers)
    }

    /// Env steps of one update, all environments together.
    pub fn env_steps_per_update(&self) -> u32 {
        self.settings.envs * self.settings.rollout
    }

    /// Whether the update whose rollout ends now takes gradient steps: a replay waits until it holds enough.
    pub fn learns_now<R: Real>(&self, buffers: &Buffers<R>) -> bool {
        if self.agents.learners().count() == 0 {
            return false;
        }
        let Experience::Replay(replay) = &self.experience else { return true };
        let (settings, ring) = (&self.settings, replay.ring);
        let clock = buffers.read(self.clock.counters);
        // A replay that was begun anew waits as long as the first did, as far as it can hold that much.
        let warm = settings.warmup.div_ceil(ring.steps).min(ring.count);
        clock[ENV_STEP] >= settings.warmup && clock[RING_FILL] >= warm.max(settings.batch.min(ring.count))
    }

    /// Ring and minibatch of a value-based learner.
    pub fn replay(&self) -> Option<&Replay> {
        match &self.experience {
            Experience::Replay(replay) => Some(replay),
            Experience::OnPolicy(_) => None,
        }
    }

    /// Rollout and statistics of a policy-gradient learner.
    pub fn on_policy(&self) -> Option<&OnPolicy> {
        match &self.experience {
            Experience::Replay(_) => None,
            Experience::OnPolicy(on_policy) => Some(on_policy),
        }
    }
}

/// The hidden activation as networks know it.
pub(super) fn activation(settings: &LearnerSettings) -> Activation {
    match settings.activation {
        ActivationChoice::Relu => Activation::Relu,
        ActivationChoice::Tanh => Activation::Tanh,
    }
}
