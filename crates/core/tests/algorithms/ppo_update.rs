//! A whole MAPPO update in f32 on fixed data, whose losses are known from PyTorch, JAX and TensorFlow.js: the run's own
//! calls in their own order, but for the critic's values and the order of the items, which the recipe gives.

use std::sync::Arc;

use tandem_core::marl::learner::{Evaluations, Learner};
use tandem_core::marl::parts::clock::LOSS;
use tandem_core::marl::settings::{ActivationChoice, AlgoChoice, LearnerSettings};
use tandem_core::nn::graph::{Buffers, Call, Precision};

use crate::recipe::{fill, signed, unit};
use crate::support::{Tiny, settings, words_named, write_named};

const STEPS: usize = 25;
const ENVS: usize = 128;
const AGENTS: usize = 3;
const MINIBATCHES: usize = 4;

fn learner() -> Learner {
    let mut env = Tiny::new(AGENTS as u32, 5, 1, STEPS as u32);
    env.info.obs_len = 18;
    env.info.state_len = 54;
    let settings = LearnerSettings {
        lr: 5e-4,
        critic_lr: 5e-4,
        gamma: 0.99,
        gae_lambda: 0.95,
        envs: ENVS as u32,
        rollout: STEPS as u32,
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
        epochs: 4,
        minibatches: MINIBATCHES as u32,
        ..settings()
    };
    Learner::new(Arc::new(env), AlgoChoice::Mappo, &settings, 1, Evaluations { episodes: 1, explores: false })
}

/// The recipe's parameters, rollout and values.
fn filled(learner: &Learner) -> Buffers<f32> {
    let buffers = learner.start::<f32>();
    let critic = learner.central.critic().expect("MAPPO");
    for (block, net, first) in
        [(learner.agents.block.seen_by_training(), &learner.agents.shape, 31), (critic.block, &critic.nets[0], 37)]
    {
        let mut weights = buffers.write(block.weights);
        weights.fill(0.0);
        net.layers.iter().zip((first..).step_by(2)).for_each(|(layer, k)| fill(layer, k, &mut weights));
    }
    let rollout = &learner.on_policy().expect("MAPPO").rollout;
    for (row, x) in buffers.write(rollout.obs).chunks_exact_mut(24).enumerate() {
        (0..18).for_each(|i| x[i] = signed(50, row * 18 + i) as f32);
        x[18 + row % AGENTS] = 1.0;
    }
    for (row, x) in buffers.write(rollout.state).chunks_exact_mut(56).enumerate() {
        (0..54).for_each(|i| x[i] = signed(51, row * 54 + i) as f32);
    }
    buffers.write(rollout.mask).fill(1);
    buffers.write(rollout.weight).fill(1.0);
    buffers.write(rollout.action).iter_mut().enumerate().for_each(|(i, a)| *a = (5.0 * unit(52, i)) as u32);
    let uniform = -tandem_core::base::float::ln(5.0);
    buffers.write(rollout.log_prob).iter_mut().enumerate().for_each(|(i, p)| {
        *p = (uniform + 0.1 * signed(53, i)) as f32;
    });
    for (item, rewards) in buffers.write(rollout.reward).chunks_exact_mut(AGENTS + 1).enumerate() {
        rewards[AGENTS] = signed(55, item) as f32;
        let done = if unit(56, item) < 0.04 { 1.0 } else { 0.0 };
        (buffers.write(rollout.terminal)[item], buffers.write(rollout.ended)[item]) = (done, done);
    }
    for (name, first) in [("rollout.value", 0), ("rollout.next_value", ENVS)] {
        let mut values = write_named(learner, &buffers, name);
        values.iter_mut().enumerate().for_each(|(i, v)| *v = signed(54, first + i) as f32);
    }
    buffers
}

#[test]
fn a_mappo_update_has_the_losses_of_other_frameworks() {
    let learner = learner();
    let buffers = filled(&learner);
    let calls: Vec<&dyn Call> = learner.gradient_steps.calls().map(|(_, call)| call).collect();
    let place = |name: &str| calls.iter().position(|call| call.name() == name).expect(name);
    let (advantages, pass) = (place("advantages"), place("begin_pass"));
    calls[advantages..pass].iter().for_each(|call| f32::run(*call, &buffers));
    let mut losses = Vec::new();
    for epoch in 0..4 {
        let mut order: Vec<usize> = (0..STEPS * ENVS).collect();
        order.sort_by(|&a, &b| unit(60 + epoch, a).total_cmp(&unit(60 + epoch, b)));
        let mut places = words_named(&learner, &buffers, "rollout.order");
        places.iter_mut().zip(order).for_each(|(place, item)| *place = item as u32);
        drop(places);
        for _ in 0..MINIBATCHES {
            calls[pass + 1..].iter().for_each(|call| f32::run(*call, &buffers));
            losses.push(buffers.read(learner.clock.scalars)[LOSS]);
        }
    }
    for (got, expected) in [(losses[0], 0.897_996), (losses[15], 0.882_933)] {
        assert!((got - expected).abs() < 1e-5, "{got} instead of {expected}");
    }
}
