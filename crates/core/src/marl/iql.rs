//! Independent Q-learning (Tan 1993; with deep networks Tampuu et al. 2017).
//!
//! Every agent learns Q_i(o_i, a_i) from its own reward as if the others were part of the world:
//!
//!   y_i = r_i + γ·(1 − terminal)·Q_i⁻(o_i', a_i'),   L = mean_i (y_i − Q_i(o_i, a_i))².
//!
//! Nothing is centralised. With hysteresis β < 1 errors that would lower an estimate count β (Matignon et al. 2007):
//! an agent then forgives its partners' exploration.

use super::parts::td::Columns;
use super::q_step::QStep;
use crate::nn::graph::{List, Plan};

/// One gradient step.
pub fn gradient_step(plan: &mut Plan, list: &mut List, step: &QStep<'_>) {
    step.sample(list, Columns::Members);
    step.utilities(list);
    step.td_error(plan, list, Columns::Members, step.taken, step.next, step.dtaken);
    step.zero(list, None);
    step.apply(list, None);
}
