//! Whole QMIX updates in f32 on fixed data, whose losses are known from PyTorch, JAX and TensorFlow.js: the run's own
//! list of gradient steps, its replay and its parameters filled with the numbers of the recipe.

use std::sync::Arc;

use tandem_core::marl::learner::{Evaluations, Learner};
use tandem_core::marl::parts::clock::LOSS;
use tandem_core::marl::settings::{AlgoChoice, LearnerSettings, PositivityChoice};
use tandem_core::nn::graph::Buffers;

use crate::recipe::{fill, signed, unit};
use crate::support::{Tiny, fill_count, settings};

/// Sizes of a work: episodes, steps, agents, observation, state, actions, hidden, embedding.
struct Work {
    b: usize,
    t: usize,
    n: usize,
    o: usize,
    s: usize,
    a: usize,
    h: usize,
    e: usize,
}

/// A learner of these sizes: two hidden layers shared by all agents, agent ids, double Q-learning, linear
/// hypernetworks, norms up to 10, targets that stay as they are; the whole ring is the minibatch.
fn learner(w: &Work) -> Learner {
    let mut env = Tiny::new(w.n as u32, w.a as u32, 1, w.t as u32);
    env.info.obs_len = w.o as u32;
    env.info.state_len = w.s as u32;
    env.info.fixed_length = true;
    let settings = LearnerSettings {
        lr: 5e-4,
        gamma: 0.99,
        batch: w.b as u32,
        buffer: w.b as u32,
        target_every: u32::MAX,
        double_q: true,
        agent_id: true,
        hidden: w.h as u32,
        layers: 2,
        embed: w.e as u32,
        positivity: PositivityChoice::Abs,
        monotone: true,
        clip: 10.0,
        ..settings()
    };
    Learner::new(Arc::new(env), AlgoChoice::Qmix, &settings, 1, Evaluations { episodes: 1, explores: false })
}

/// The recipe's parameters, targets equal to them, and its replay.
fn filled(w: &Work, learner: &Learner) -> Buffers<f32> {
    let buffers = learner.start::<f32>();
    let mixer = learner.central.mixer().expect("QMIX");
    // Tensors are numbered through: the agents' layers, then the mixer's.
    let mut numbers = (1..).step_by(2);
    let agents = (learner.agents.block.seen_by_training(), learner.agents.nets.iter().collect());
    let net = &mixer.net;
    for (block, nets) in [agents, (mixer.block, vec![&net.hyper_w1, &net.hyper_b1, &net.hyper_w2, &net.value])] {
        let mut weights = buffers.write(block.weights);
        weights.fill(0.0);
        nets.iter().flat_map(|net| &net.layers).zip(&mut numbers).for_each(|(layer, k)| fill(layer, k, &mut weights));
    }
    for target in &learner.targets {
        buffers.write(target.target).copy_from_slice(&buffers.read(target.weights));
    }

    // Rows of observations are (episode, step 0..=T, agent); rows of states are (episode, step 0..=T).
    let ring = &learner.replay().expect("value-based").ring;
    let moments = w.b * (w.t + 1);
    let mut obs = buffers.write(ring.obs);
    let stride = obs.len() / (moments * w.n);
    for (row, x) in obs.chunks_exact_mut(stride).enumerate() {
        (0..w.o).for_each(|i| x[i] = signed(20, row * w.o + i) as f32);
        x[w.o + row % w.n] = 1.0;
    }
    let mut state = buffers.write(ring.state);
    let stride = state.len() / moments;
    for (row, x) in state.chunks_exact_mut(stride).enumerate() {
        (0..w.s).for_each(|i| x[i] = signed(21, row * w.s + i) as f32);
    }
    buffers.write(ring.mask).fill(1);
    for (i, action) in buffers.write(ring.action).iter_mut().enumerate() {
        *action = (5.0 * unit(22, i)) as u32;
    }
    for (i, rewards) in buffers.write(ring.reward).chunks_exact_mut(w.n + 1).enumerate() {
        rewards[w.n] = signed(23, i) as f32;
    }
    for (i, terminal) in buffers.write(ring.terminal).iter_mut().enumerate() {
        *terminal = if unit(24, i) < 0.02 { 1.0 } else { 0.0 };
    }
    buffers.write(ring.weight).fill(1.0);
    fill_count(learner, &buffers);
    drop((obs, state));
    buffers
}

/// The losses of `updates` gradient steps on the same batch.
fn losses(w: &Work, updates: usize) -> Vec<f32> {
    let learner = learner(w);
    let buffers = filled(w, &learner);
    let loss = |_| {
        learner.gradient_steps.run(&buffers);
        buffers.read(learner.clock.scalars)[LOSS]
    };
    (0..updates).map(loss).collect()
}

fn check(work: &Work, first: f32, thirty_first: f32) {
    let losses = losses(work, 31);
    for (got, expected) in [(losses[0], first), (losses[30], thirty_first)] {
        assert!((got / expected - 1.0).abs() < 1e-5, "{got} instead of {expected}");
    }
}

/// 3 agents, 32 episodes of 25 steps.
#[test]
fn a_qmix_update_has_the_losses_of_other_frameworks() {
    check(&Work { b: 32, t: 25, n: 3, o: 18, s: 54, a: 5, h: 64, e: 32 }, 1.811_299, 0.630_435);
}

/// 2 agents, 64 episodes of one step.
#[test]
fn a_small_qmix_update_has_the_losses_of_other_frameworks() {
    check(&Work { b: 64, t: 1, n: 2, o: 8, s: 6, a: 5, h: 32, e: 32 }, 2.507_312, 1.121_289);
}
