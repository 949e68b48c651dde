//! Counterfactual multi-agent policy gradients (Foerster et al. 2018, arXiv 1705.08926): every agent's own policy is moved
//! by how much better its action was than what the agent does on average, the others' actions kept as they were:
//!
//!   y from Q⁻ by TD(λ),   L = mean (y − Q(s, (a_i, a_-i)))²;
//!   A_i = Q(s, (a_i, a_-i)) − Σ_a π_i(a|o_i)·Q(s, (a, a_-i))   (eq. 4);
//!   L = mean −A_i·ln π_i(a_i|o_i) − c_e·H(π_i(·|o_i))   (eq. 7).
//!
//! π is bounded while agents explore, (1 − ε)·softmax + ε/|A| with ε falling. One critic has a head for each action of
//! agent i and reads the state, the others' actions and the agent's id, never a_i. Acting never sees it. Deviations from
//! the paper: networks are feed-forward, the critic takes minibatches of the rollout rather than its env steps from last to
//! first, it reads neither o_i nor last actions, and the entropy may be given a weight.

use super::coma_step::ComaStep;
use crate::nn::graph::{List, Plan};

/// One update's gradient steps: the critic's on minibatches of the rollout, then one of the policies on all of it.
pub fn gradient_steps(plan: &mut Plan, list: &mut List, step: &ComaStep<'_>) {
    step.pay_team(list);
    step.targets(plan, list);
    step.passes(list, |list| step.critic_loss(list));
    step.policy_step(plan, list);
}
