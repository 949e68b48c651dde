//! Value decomposition network (Sunehag et al. 2017, arXiv 1706.05296).
//!
//! The team's value is the sum of utilities, Q_tot = Σ_i Q_i(o_i, a_i) (eq. 1), trained on the team's reward:
//!
//!   y = r + γ·(1 − terminal)·Σ_i Q_i⁻(o_i', a_i'),   L = mean (y − Q_tot)².
//!
//! Each agent's argmax is the team's argmax, trivially; what is not additive cannot be expressed.

use super::parts::sum_mixer::{Sum, SumBackward};
use super::parts::td::Columns;
use super::q_step::QStep;
use crate::nn::graph::{List, Phase, Plan};

/// One gradient step.
pub fn gradient_step(plan: &mut Plan, list: &mut List, step: &QStep<'_>) {
    let shape = [step.batch.count, step.batch.steps];
    let q_tot = plan.buffer("q_tot", &shape);
    let next_tot = plan.buffer("q_tot.next", &shape);
    let dq_tot = plan.buffer("q_tot.gradient", &shape);
    let dims = step.dims;

    step.sample(list, Columns::Team);
    step.utilities(list);
    list.train(Phase::Centralise, Sum { dims, q: step.taken, q_tot });
    list.train(Phase::Centralise, Sum { dims, q: step.next, q_tot: next_tot });
    step.td_error(plan, list, Columns::Team, q_tot, next_tot, dq_tot);
    step.zero(list, None);
    list.train(Phase::Apply, SumBackward { dims, dq_tot, dq: step.dtaken });
    step.apply(list, None);
}
