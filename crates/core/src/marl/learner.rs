//! A value-based run as lists on buffers: rollout, gradient steps, evaluation.

use std::sync::Arc;

use super::parts::agents::Agents;
use super::parts::clock::{BeginEvaluation, BeginUpdate, Clock, EPS, EPS_END, EPS_OVER, LR, LR_END, LR_OVER};
use super::parts::explore::EpsilonGreedy;
use super::parts::optimise::Block;
use super::parts::replay::{Segments, Store};
use super::parts::world::{Observe, ResetAll, Starts, Step, Tally, World, input_len};
use super::q_step::QStep;
use super::qmix::MixingNetwork;
use super::settings::{ActivationChoice, AlgoChoice, LearnerSettings, PositivityChoice};
use super::{iql, qmix, vdn};
use crate::base::float::Real;
use crate::base::rng::Stream;
use crate::env::api::Env;
use crate::nn::graph::{Buffers, Compute, Execution, Id, List, Phase, Plan, Precision, Reals, Training, View, Wires};
use crate::nn::init::{init_mixer, init_mlp};
use crate::nn::layers::{Activation, Layout, Mixer, Positivity};

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
    /// QMIX's mixer.
    pub mixer: Option<MixingNetwork>,
    /// Whether the team's value is the sum of utilities.
    pub is_sum: bool,
    /// Returns, action frequencies, trace hash.
    pub tally: Tally,
    /// Replay.
    pub ring: Segments,
    /// Minibatch.
    pub batch: Segments,
    /// Puts the training environments at their start; once.
    pub reset: List,
    /// One update's rollout.
    pub rollout: List,
    /// One update's gradient steps.
    pub gradient_steps: List,
    /// Evaluation.
    pub evaluation: Evaluation,
}

/// How evaluations are made.
#[derive(Clone, Copy, Debug)]
pub struct Evaluations {
    /// Episodes where starts are drawn; where all starts are enumerated, at least this many unless play is greedy, and
    /// always a whole number from each start.
    pub episodes: u32,
    /// Whether they follow the behaviour policy rather than the greedy one.
    pub explores: bool,
}

/// Episodes on streams of their own, one per world, to the time limit.
#[derive(Debug)]
pub struct Evaluation {
    /// Its worlds.
    pub world: World,
    /// Whether it plays every start and nothing by chance.
    pub is_exhaustive: bool,
    /// Undiscounted return of each agent `[E, n]`.
    pub returns: Id<Reals, Training>,
    /// The list.
    pub list: List,
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
        let info = env.info().clone();
        let plan = &mut Plan::default();
        let clock = Clock::new(plan);
        let world = World::new(plan, "train", Arc::clone(&env), settings.envs, settings.agent_id);
        let mut sizes = vec![input_len(&*env, settings.agent_id)];
        sizes.extend((0..settings.layers).map(|_| settings.hidden));
        sizes.push(info.num_actions);
        let activation = match settings.activation {
            ActivationChoice::Relu => Activation::Relu,
            ActivationChoice::Tanh => Activation::Tanh,
        };
        let agents = Agents::new(plan, info.num_agents, settings.shared, &sizes, activation);
        let mixer = algo.info().has_mixer.then(|| mixing_network(plan, &*env, settings));
        let tally = Tally::new(plan, &world, clock);
        let segment = info.segment_steps();
        let ring = Segments::new(plan, "replay", &world, settings.buffer, segment);
        let batch = Segments::new(plan, "batch", &world, settings.batch, segment);

        let mut reset = List::default();
        let stream = Stream::new(seed, "environment");
        reset.train(Phase::Environment, ResetAll { world: world.clone(), stream, starts: Starts::Drawn });

        let mut rollout = List::default();
        rollout.train(Phase::Observe, BeginUpdate { clock });
        rollout.repeat(settings.rollout, |list| {
            act(plan, list, "train", &world, &agents, clock.epsilon, Stream::new(seed, "explore"));
            list.train(Phase::Environment, Step { world: world.clone(), stream, auto_reset: true });
            let timeout_terminal = settings.timeout_terminal;
            list.train(Phase::Store, Store { world: world.clone(), ring, clock, timeout_terminal });
            list.train(Phase::Store, tally.clone());
        });

        let mut gradient_steps = List::default();
        let sampling = Stream::new(seed, "replay");
        let step = QStep::new(plan, &agents, settings, clock, (ring, batch), tally.trace, sampling);
        gradient_steps.repeat(settings.grad_steps, |list| match algo {
            AlgoChoice::Iql => iql::gradient_step(plan, list, &step),
            AlgoChoice::Vdn => vdn::gradient_step(plan, list, &step),
            AlgoChoice::Qmix => {
                qmix::gradient_step(plan, list, &step, mixer.as_ref().expect("QMIX was given its mixer"));
            }
        });

        let evaluation = evaluation(plan, &env, settings, &agents, clock, seed, evaluations);
        Self {
            settings: settings.clone(),
            seed,
            plan: plan.clone(),
            clock,
            world,
            agents,
            mixer,
            is_sum: algo.info().team_value && !algo.info().has_mixer,
            tally,
            ring,
            batch,
            reset,
            rollout,
            gradient_steps,
            evaluation,
            env,
        }
    }

    /// The buffers of update 0: initial weights, targets equal to them, environments at their start.
    pub fn start<R: Precision>(&self) -> Buffers<R> {
        let buffers = Buffers::new(&self.plan);
        let stream = Stream::new(self.seed, "weights");
        {
            let mut weights = buffers.write(self.agents.block.weights);
            for net in &self.agents.nets {
                init_mlp(net, &self.agents.layout, &stream, &mut weights);
            }
            buffers.write(self.agents.block.target).copy_from_slice(&weights);
        }
        if let Some(mixer) = &self.mixer {
            let mut weights = buffers.write(mixer.block.weights);
            init_mixer(&mixer.net, &mixer.layout, &Stream::new(self.seed, "mixer weights"), &mut weights);
            buffers.write(mixer.block.target).copy_from_slice(&weights);
        }
        self.write_settings(&buffers, &self.settings);
        self.reset.run(&buffers);
        buffers
    }

    /// Hands schedules to the lists; between updates only.
    pub fn write_settings<R: Real>(&self, buffers: &Buffers<R>, settings: &LearnerSettings) {
        let mut s = buffers.write(self.clock.settings);
        s[LR] = R::from_f32(settings.lr);
        s[LR_END] = R::from_f32(settings.lr_end);
        s[LR_OVER] = R::from_u32(settings.lr_over);
        let uniform = settings.explore == super::settings::ExploreChoice::Uniform;
        s[EPS] = if uniform { R::ONE } else { R::from_f32(settings.eps) };
        s[EPS_END] = if uniform { R::ONE } else { R::from_f32(settings.eps_end) };
        s[EPS_OVER] = R::from_u32(settings.eps_over);
    }

    /// Env steps of one update, all environments together.
    pub fn env_steps_per_update(&self) -> u32 {
        self.settings.envs * self.settings.rollout
    }

    /// Whether an update that ends at `env_steps` takes gradient steps.
    pub fn learns_at(&self, env_steps: u32) -> bool {
        let segments = env_steps / self.ring.steps;
        env_steps >= self.settings.warmup && segments >= self.settings.batch.min(self.settings.buffer)
    }
}

/// Observe and act: the part of a list that runs without any training data.
fn act(
    plan: &mut Plan,
    list: &mut List,
    name: &str,
    world: &World,
    agents: &Agents,
    epsilon: Id<Reals, Execution>,
    stream: Stream,
) {
    list.train(Phase::Observe, Observe { world: world.clone() });
    let q = agents.act(plan, list, &format!("{name}.act"), world);
    list.act(
        Phase::Act,
        EpsilonGreedy {
            stream,
            agents: agents.count,
            actions: agents.net(0).outputs(),
            q,
            mask: world.mask,
            epsilon,
            time: world.time,
            action: world.action,
            explored: world.explored,
        },
    );
}

fn mixing_network(plan: &mut Plan, env: &dyn Env, settings: &LearnerSettings) -> MixingNetwork {
    let positivity = match (settings.monotone, settings.positivity) {
        (false, _) => Positivity::Free,
        (true, PositivityChoice::Abs) => Positivity::Abs,
        (true, PositivityChoice::Softplus) => Positivity::Softplus,
    };
    let mut layout = Layout::default();
    let (n, s) = (env.info().num_agents, env.info().state_len());
    let (embed, layers, hidden) = (settings.embed, settings.hyper_layers, settings.hyper_hidden);
    let net = Mixer::new(&mut layout, "mixer", n, s, embed, layers, hidden, positivity);
    let block = Block::new(plan, "mixer", layout.len);
    MixingNetwork { net, layout, block }
}

fn evaluation(
    plan: &mut Plan,
    env: &Arc<dyn Env>,
    settings: &LearnerSettings,
    agents: &Agents,
    clock: Clock,
    seed: u64,
    Evaluations { episodes, explores }: Evaluations,
) -> Evaluation {
    let info = env.info();
    let (starts, episodes) = match info.enumerated_starts {
        0 => (Starts::Drawn, episodes),
        count if explores => (Starts::Enumerated(count), episodes.next_multiple_of(count)),
        count => (Starts::Enumerated(count), count),
    };
    let is_exhaustive = info.enumerated_starts > 0 && !explores;
    let world = World::new(plan, "evaluation", Arc::clone(env), episodes, settings.agent_id);
    let epsilon = plan.buffer("evaluation.epsilon", &[1]);
    let returns = plan.buffer("evaluation.return", &[episodes, info.num_agents]);
    let stream = Stream::new(seed, "evaluation");
    let mut list = List::default();
    list.train(Phase::Environment, ResetAll { world: world.clone(), stream, starts });
    list.train(Phase::Environment, ClearReturns { returns });
    list.train(Phase::Observe, BeginEvaluation { clock, explores, epsilon });
    list.repeat(info.max_steps, |list| {
        act(plan, list, "evaluation", &world, agents, epsilon, Stream::new(seed, "evaluation explore"));
        list.train(Phase::Environment, Step { world: world.clone(), stream, auto_reset: false });
        list.train(Phase::Store, AddReturns { agents: info.num_agents, reward: world.reward, returns });
    });
    Evaluation { world, is_exhaustive, returns, list }
}

#[derive(Debug)]
struct ClearReturns {
    returns: Id<Reals, Training>,
}

impl Compute for ClearReturns {
    type Side = Training;
    const NAME: &'static str = "clear_returns";
    fn wires(&self, wires: &mut Wires) {
        wires.writes(self.returns);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        view.write(self.returns).fill(R::ZERO);
    }
}

#[derive(Debug)]
struct AddReturns {
    agents: u32,
    reward: Id<Reals, Training>,
    returns: Id<Reals, Training>,
}

impl Compute for AddReturns {
    type Side = Training;
    const NAME: &'static str = "add_returns";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.reward).writes(self.returns);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let (reward, mut returns) = (view.read(self.reward), view.write(self.returns));
        let n = self.agents as usize;
        for (sums, rewards) in returns.chunks_exact_mut(n).zip(reward.chunks_exact(n + 1)) {
            for (sum, &r) in sums.iter_mut().zip(rewards) {
                *sum += r;
            }
        }
    }
}
