//! Multi-agent proximal policy optimisation (Yu et al. 2022, arXiv 2103.01955): PPO for every agent's own policy, with
//! a critic that sees the state while they train:
//!
//!   A from V(s) by GAE(λ) or n-step;
//!   L = mean_i −min(r_i·A, clip(r_i, 1 ± ε)·A) − c_e·H(π_i(·|o_i)) + c_v·(V(s) − R)².
//!
//! Acting never sees the critic. Where the game has a team reward, V is one number and all agents share its advantage;
//! where it has not, V has an output per agent, each of its own reward. Deviations from the paper: networks are
//! feed-forward, the value loss is squared (Huber's there), the critic's input is the environment's state alone.

use super::ppo_step::PpoStep;
use crate::nn::graph::{List, Plan};

/// One update's gradient steps: every policy reads its agent's o_i, the critic the state s.
pub fn gradient_steps(plan: &mut Plan, list: &mut List, step: &PpoStep<'_>) {
    let (reads, reads_next) = (step.rollout.state, step.rollout.next_state);

    step.values(list, [reads, reads_next]);
    step.advantages(plan, list);
    step.passes(list, reads, |list| {
        step.policy_loss(list);
        step.value_loss(list);
    });
}
