//! Work W2: MAPPO updates on one rollout, over and over. The calls are those of a run's list of gradient steps in their
//! own order, all but two: the critic's values of the rollout and the order of its items are given.

use super::recipe::{action, fill_layers, fill_observations, fill_rows, signed, unit};
use super::sizes::Sizes;
use super::{Check, Quantity, Work};
use crate::base::float::ln;
use crate::experiment::spec::ExperimentSpec;
use crate::marl::learner::Learner;
use crate::marl::parts::advantage::Advantages;
use crate::marl::parts::clock::LOSS;
use crate::marl::parts::minibatch::BeginPass;
use crate::marl::settings::{ActivationChoice, AdvantageChoice, AlgoChoice, LearnerSettings, NormAdvChoice};
use crate::nn::graph::{Buffers, Call, Compute as _, Id, Precision as _, Reals, Training, Words};

const STEPS: u32 = 25;
const ENVS: u32 = 128;
const AGENTS: u32 = 3;
const EPOCHS: u32 = 4;
const MINIBATCHES: u32 = 4;

/// A learner, its one rollout, and the orders in which each epoch takes its items.
#[derive(Debug)]
pub(super) struct MappoUpdate {
    learner: Learner,
    buffers: Buffers<f32>,
    orders: Vec<Vec<u32>>,
    order: Id<Words, Training>,
}

impl MappoUpdate {
    /// The recipe's parameters, rollout, values and orders.
    pub(super) fn new() -> Self {
        let learner = learner();
        let buffers = learner.start();
        let critic = learner.central.critic().expect("MAPPO has a critic");
        fill_layers(learner.agents.nets[0].layers.iter(), 31, &mut buffers.write(learner.agents.block.weights));
        fill_layers(critic.nets[0].layers.iter(), 37, &mut buffers.write(critic.block.weights));

        let rollout = &learner.on_policy().expect("MAPPO learns from its rollout").rollout;
        let (items, n) = ((STEPS * ENVS) as usize, AGENTS as usize);
        fill_observations(&mut buffers.write(rollout.obs), 50, 18, items * n, n);
        fill_rows(&mut buffers.write(rollout.state), 54, items, |i| signed(51, i));
        buffers.write(rollout.mask).fill(1);
        buffers.write(rollout.weight).fill(1.0);
        buffers.write(rollout.action).iter_mut().enumerate().for_each(|(i, a)| *a = action(52, i));
        let uniform = -ln(5.0);
        fill_rows(&mut buffers.write(rollout.log_prob), n, items, |i| uniform + 0.1 * signed(53, i));
        for (item, rewards) in buffers.write(rollout.reward).chunks_exact_mut(n + 1).enumerate() {
            rewards[n] = signed(55, item) as f32;
            let done = if unit(56, item) < 0.04 { 1.0 } else { 0.0 };
            (buffers.write(rollout.terminal)[item], buffers.write(rollout.ended)[item]) = (done, done);
        }
        let named = |name| learner.plan.named::<Reals>(name).expect("a buffer of PPO's gradient steps");
        for (values, first) in [("rollout.value", 0), ("rollout.next_value", ENVS as usize)] {
            fill_rows(&mut buffers.write(named(values)), 1, items, |i| signed(54, first + i));
        }
        let order = learner.plan.named("rollout.order").expect("a buffer of PPO's gradient steps");
        Self { orders: (0..EPOCHS).map(|epoch| sorted(60 + epoch, items)).collect(), order, learner, buffers }
    }

    /// One update; its losses, one by one, go to `told`.
    fn update(&self, mut told: impl FnMut(f32)) {
        let calls = || self.learner.gradient_steps.calls().map(|(_, call)| call);
        let not = |name| move |call: &&dyn Call| call.name() != name;
        let run = |call| f32::run(call, &self.buffers);
        calls().skip_while(not(Advantages::NAME)).take_while(not(BeginPass::NAME)).for_each(run);
        for order in &self.orders {
            self.buffers.write(self.order).copy_from_slice(order);
            for _ in 0..MINIBATCHES {
                calls().skip_while(not(BeginPass::NAME)).skip(1).for_each(run);
                told(self.buffers.read(self.learner.clock.scalars)[LOSS]);
            }
        }
    }
}

impl Work for MappoUpdate {
    fn checks(&mut self) -> Vec<Check> {
        let mut losses = Vec::new();
        self.update(|loss| losses.push(loss));
        vec![
            Check::loss(Quantity::FirstLoss, losses[0], 0.897_996),
            Check::loss(Quantity::Loss16, losses[15], 0.882_933),
        ]
    }

    fn run(&mut self) -> u32 {
        self.update(|_| {});
        1
    }
}

/// 0 .. `count` in the order of tensor `k`'s elements; equal ones keep theirs.
fn sorted(k: u32, count: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count as u32).collect();
    order.sort_by(|&a, &b| unit(k, a as usize).total_cmp(&unit(k, b as usize)));
    order
}

/// Two hidden layers with tanh, shared by all agents, agent ids, the team's value, norms up to 0.5.
fn learner() -> Learner {
    let settings = LearnerSettings {
        lr: 5e-4,
        lr_over: 0,
        critic_lr: 5e-4,
        gamma: 0.99,
        advantage: AdvantageChoice::Gae,
        gae_lambda: 0.95,
        norm_adv: NormAdvChoice::Batch,
        envs: ENVS,
        rollout: STEPS,
        agent_id: true,
        hidden: 64,
        layers: 2,
        activation: ActivationChoice::Tanh,
        clip: 0.5,
        clip_ratio: 0.2,
        value_coef: 0.5,
        value_clip: 0.0,
        value_norm: false,
        entropy: 0.01,
        entropy_over: 0,
        epochs: EPOCHS,
        minibatches: MINIBATCHES,
        ..ExperimentSpec::default().learner
    };
    Sizes::new(AGENTS, 18, 54, STEPS).learner(AlgoChoice::Mappo, &settings)
}
