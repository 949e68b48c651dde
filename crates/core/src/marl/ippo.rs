//! Independent proximal policy optimisation (de Witt et al. 2020, arXiv 2011.09533): every agent runs PPO (Schulman et
//! al. 2017) on what it sees, with its own reward, as if the others were part of the world:
//!
//!   A_i from V_i(o_i) by GAE(λ), or n-step, or relative to other episodes of the same start;
//!   L = mean_i −min(r_i·A_i, clip(r_i, 1 ± ε)·A_i) + c_v·(V_i(o_i) − R_i)² − c_e·H(π_i(·|o_i)).
//!
//! Nothing is centralised. Networks are one each, or one for all with the agent's id in its input. Deviations from the
//! paper: networks are feed-forward, critics may learn normalised returns (PopArt), the value loss is squared.

use super::ppo_step::PpoStep;
use crate::nn::graph::{List, Plan};

/// One update's gradient steps: every policy reads its agent's o_i, and so does every critic.
pub fn gradient_steps(plan: &mut Plan, list: &mut List, step: &PpoStep<'_>) {
    let (reads, reads_next) = (step.rollout.obs, step.rollout.next_obs);

    step.values(list, [reads, reads_next]);
    step.advantages(plan, list);
    step.passes(list, reads, |list| {
        step.policy_loss(list);
        step.value_loss(list);
    });
}
