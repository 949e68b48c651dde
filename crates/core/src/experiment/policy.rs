//! How a policy moved in the last update, and how well its critic knew, from the sums the kernels keep.

use super::snapshot::PolicyStats;
use crate::marl::learner::Learner;
use crate::marl::parts::policy_loss::{ACTIONS, CLIPPED, ENTROPIES, KL, VALUE_LOSS, VALUE_STEPS};
use crate::nn::graph::Buffers;

/// Of the newest pass over a rollout; `None` for a value-based learner, and before the first pass.
pub fn told(learner: &Learner, buffers: &Buffers<f32>) -> Option<PolicyStats> {
    let statistics = learner.on_policy()?.statistics;
    let (sums, fit) = (buffers.read(statistics.sums), buffers.read(statistics.fit));
    let actions = sums[ACTIONS];
    let mean = |sum: usize| (sums[sum] / actions) as f32;
    (actions > 0.0).then(|| PolicyStats {
        histogram: buffers.read(statistics.histogram).clone(),
        clip: learner.settings.clip_ratio,
        clip_fraction: mean(CLIPPED),
        kl: mean(KL),
        entropy: mean(ENTROPIES),
        value_loss: (sums[VALUE_STEPS] > 0.0).then(|| (sums[VALUE_LOSS] / sums[VALUE_STEPS]) as f32),
        explained_variance: (fit[1] > 0.0).then(|| (1.0 - fit[0] / fit[1]) as f32),
    })
}
