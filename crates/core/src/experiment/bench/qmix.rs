//! Works W1 and W5: QMIX updates on one minibatch, over and over. The calls are those of a run's list of gradient
//! steps, all but the one that draws from replay.

use super::recipe::{action, fill_layers, fill_observations, fill_rows, signed, unit};
use super::sizes::Sizes;
use super::{Check, Quantity, Work};
use crate::experiment::spec::ExperimentSpec;
use crate::marl::learner::Learner;
use crate::marl::parts::clock::LOSS;
use crate::marl::parts::replay::Sample;
use crate::marl::settings::{AlgoChoice, LearnerSettings, PositivityChoice, TargetChoice};
use crate::nn::graph::{Buffers, Compute as _, Precision as _};

/// Updates in one run.
const BACK_TO_BACK: u32 = 10;

/// How large an update is, and its losses.
#[derive(Clone, Copy, Debug)]
pub(super) struct QmixSizes {
    episodes: u32,
    steps: u32,
    agents: u32,
    obs: u32,
    state: u32,
    hidden: u32,
    embed: u32,
    /// Of the first and of the 31st update.
    losses: [f64; 2],
}

impl QmixSizes {
    /// Three agents of simple_spread.
    pub(super) const LARGE: Self = Self {
        episodes: 32,
        steps: 25,
        agents: 3,
        obs: 18,
        state: 54,
        hidden: 64,
        embed: 32,
        losses: [1.811_299, 0.630_435],
    };
    /// So small that overhead decides.
    pub(super) const SMALL: Self = Self {
        episodes: 64,
        steps: 1,
        agents: 2,
        obs: 8,
        state: 6,
        hidden: 32,
        embed: 32,
        losses: [2.507_312, 1.121_289],
    };
}

/// A learner and its one minibatch.
#[derive(Debug)]
pub(super) struct QmixUpdate {
    sizes: QmixSizes,
    learner: Learner,
    buffers: Buffers<f32>,
}

impl QmixUpdate {
    /// The recipe's parameters, targets equal to them, and its minibatch.
    pub(super) fn new(sizes: QmixSizes) -> Self {
        let learner = learner(&sizes);
        let buffers = learner.start();
        let mixer = learner.central.mixer().expect("QMIX has a mixer");
        let agents = learner.agents.nets.iter().flat_map(|net| &net.layers);
        fill_layers(agents, 1, &mut buffers.write(learner.agents.block.weights));
        let net = &mixer.net;
        let mixing = [&net.hyper_w1, &net.hyper_b1, &net.hyper_w2, &net.value].into_iter().flat_map(|net| &net.layers);
        fill_layers(mixing, 7, &mut buffers.write(mixer.block.weights));
        for target in &learner.targets {
            buffers.write(target.target).copy_from_slice(&buffers.read(target.weights));
        }

        let batch = &learner.replay().expect("a value-based learner has replay").batch;
        let (moments, n) = ((sizes.episodes * (sizes.steps + 1)) as usize, sizes.agents as usize);
        fill_observations(&mut buffers.write(batch.obs), 20, sizes.obs as usize, moments * n, n);
        fill_rows(&mut buffers.write(batch.state), sizes.state as usize, moments, |i| signed(21, i));
        buffers.write(batch.mask).fill(1);
        buffers.write(batch.weight).fill(1.0);
        buffers.write(batch.action).iter_mut().enumerate().for_each(|(i, a)| *a = action(22, i));
        for (i, rewards) in buffers.write(batch.reward).chunks_exact_mut(n + 1).enumerate() {
            rewards[n] = signed(23, i) as f32;
        }
        for (i, terminal) in buffers.write(batch.terminal).iter_mut().enumerate() {
            *terminal = if unit(24, i) < 0.02 { 1.0 } else { 0.0 };
        }
        Self { sizes, learner, buffers }
    }

    /// One update; its loss.
    fn update(&self) -> f32 {
        let calls = self.learner.gradient_steps.calls().map(|(_, call)| call);
        calls.filter(|call| call.name() != Sample::NAME).for_each(|call| f32::run(call, &self.buffers));
        self.buffers.read(self.learner.clock.scalars)[LOSS]
    }
}

impl Work for QmixUpdate {
    fn checks(&mut self) -> Vec<Check> {
        let losses: Vec<f32> = (0..31).map(|_| self.update()).collect();
        let [first, last] = self.sizes.losses;
        vec![Check::loss(Quantity::FirstLoss, losses[0], first), Check::loss(Quantity::Loss31, losses[30], last)]
    }

    fn run(&mut self) -> u32 {
        (0..BACK_TO_BACK).for_each(|_| _ = self.update());
        BACK_TO_BACK
    }
}

/// Two hidden layers shared by all agents, agent ids, double Q-learning, linear hypernetworks, norms up to 10, targets
/// that stay as they are.
fn learner(sizes: &QmixSizes) -> Learner {
    let settings = LearnerSettings {
        lr: 5e-4,
        lr_over: 0,
        gamma: 0.99,
        batch: sizes.episodes,
        buffer: sizes.episodes,
        grad_steps: 1,
        target: TargetChoice::Hard,
        target_every: u32::MAX,
        double_q: true,
        agent_id: true,
        hidden: sizes.hidden,
        layers: 2,
        embed: sizes.embed,
        hyper_layers: 1,
        positivity: PositivityChoice::Abs,
        monotone: true,
        clip: 10.0,
        ..ExperimentSpec::default().learner
    };
    Sizes::new(sizes.agents, sizes.obs, sizes.state, sizes.steps).learner(AlgoChoice::Qmix, &settings)
}
