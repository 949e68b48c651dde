//! QMIX: monotonic value function factorisation (Rashid et al. 2018, arXiv 1803.11485).
//!
//! Q_tot = f(Q_1(o_1, a_1), …, Q_n(o_n, a_n); s) with ∂Q_tot/∂Q_i ≥ 0 (eq. 5): a mixing network whose weights are made
//! from the state by hypernetworks and kept non-negative. Trained like DQN on the team's reward (eq. 6–7):
//!
//!   y = r + γ·(1 − terminal)·Q_tot⁻(next),   L = mean (y − Q_tot)².
//!
//! The mixer is training data: acting never sees it. Deviations from the paper: the target's action may be chosen by
//! the online network (double Q-learning, as EPyMARL does), hypernetworks may have a hidden layer, softplus may
//! replace |·|, and networks are feed-forward.

use super::parts::optimise::{Block, Target};
use super::parts::td::Columns;
use super::q_step::QStep;
use crate::nn::calls::{MixerBackward, MixerForward, Rows};
use crate::nn::graph::{List, Phase, Plan, Training};
use crate::nn::layers::{Layout, Mixer};

/// The mixer and its parameters.
#[derive(Clone, Debug)]
pub struct MixingNetwork {
    /// Hypernetworks.
    pub net: Mixer,
    /// Names and places of its tensors.
    pub layout: Layout,
    /// Parameters.
    pub block: Block<Training>,
    /// Their slow copy.
    pub copy: Target,
}

/// One gradient step.
pub fn gradient_step(plan: &mut Plan, list: &mut List, step: &QStep<'_>, mixer: &MixingNetwork) {
    let (b, t) = (step.batch.count, step.batch.steps);
    let q_tot = plan.buffer("q_tot", &[b, t]);
    let next_tot = plan.buffer("q_tot.next", &[b, t]);
    let dq_tot = plan.buffer("q_tot.gradient", &[b, t]);
    let trace = plan.buffer("mixer.trace", &[b, t, mixer.net.trace_width()]);
    let next_trace = plan.buffer("mixer.trace.next", &[b, t, mixer.net.trace_width()]);
    // Of the T+1 states of a segment, s is one of the first T and s' one of the last T.
    let state_rows =
        |first: u32| Rows::new((0..b).flat_map(|b| (0..t).map(move |k| b * (t + 1) + k + first)).collect(), b);
    let (now, next) = (state_rows(0), state_rows(1));
    let (net, state, block) = (&mixer.net, step.batch.state, mixer.block);

    step.sample(list, Columns::Team);
    step.utilities(list);
    list.train(
        Phase::Centralise,
        MixerForward {
            net: net.clone(),
            rows: now.clone(),
            weights: block.weights,
            state,
            q: step.taken,
            trace,
            q_tot,
        },
    );
    list.train(
        Phase::Centralise,
        MixerForward {
            net: net.clone(),
            rows: next,
            weights: mixer.copy.target,
            state,
            q: step.next,
            trace: next_trace,
            q_tot: next_tot,
        },
    );
    step.td_error(plan, list, Columns::Team, q_tot, next_tot, dq_tot);
    step.zero(list, Some(mixer));
    list.train(
        Phase::Apply,
        MixerBackward {
            net: net.clone(),
            rows: now,
            weights: block.weights,
            state,
            q: step.taken,
            trace,
            dq_tot,
            scratch: step.scratch,
            grad: block.grad,
            dq: step.dtaken,
        },
    );
    step.apply(list, Some(mixer));
}
