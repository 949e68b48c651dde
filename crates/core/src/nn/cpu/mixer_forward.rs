//! Q_tot = ELU(q·W1(s) + b1(s))·w2(s) + V(s) (Rashid et al. 2018, figure 2), W1 and w2 made non-negative.
//!
//! Transition b has its state in row `rows[b]` of `state` `[*, padded(state_len)]`, its agents' values in row b of
//! `q` `[count, agents]` (dense) and its result in `q_tot` `[count]`. `trace` `[count, trace_width]` keeps what the
//! backward pass needs: raw W1 `[agents, E]`, h `[E]`, raw w2 `[E]`, V `[8]`, hidden layers of W1, w2 and V.
//!
//! Order: q·W1 + b1 adds agents in order to b1; h·w2 is summed in lanes, then V is added.

use crate::base::float::Real;
use crate::base::lanes::{LANES, Lanes, padded};
use crate::nn::cpu::dense::{affine, affine_within, for_tiles, hidden_layers};
use crate::nn::layers::{Mixer, Mlp, Positivity};

/// See the file's header.
pub fn mixer_forward<R: Real>(
    net: &Mixer,
    weights: &[R],
    rows: &[u32],
    state: &[R],
    q: &[R],
    trace: &mut [R],
    q_tot: &mut [R],
) {
    let (agents, width, stride) = (net.agents as usize, net.trace_width() as usize, padded(net.state_len()) as usize);
    for_tiles!(rows.len(), |first, M| {
        let state_at: [usize; M] = std::array::from_fn(|m| rows[first + m] as usize * stride);
        let trace_at: [usize; M] = std::array::from_fn(|m| (first + m) * width);
        hyper_tile(net, weights, state, state_at, trace, trace_at);
        for (m, at) in trace_at.into_iter().enumerate() {
            let b = first + m;
            q_tot[b] = mix(net, &mut trace[at..at + width], &q[b * agents..(b + 1) * agents]);
        }
    });
}

/// Where the parts of a trace row lie.
pub(super) struct Parts {
    pub(super) h: usize,
    pub(super) w2: usize,
    pub(super) value: usize,
    pub(super) w1_hidden: usize,
    pub(super) w2_hidden: usize,
    pub(super) value_hidden: usize,
}

impl Parts {
    pub(super) fn new(net: &Mixer) -> Self {
        let embed = net.embed as usize;
        let h = net.agents as usize * embed;
        let (w2, value) = (h + embed, h + 2 * embed);
        let w1_hidden = value + LANES;
        let w2_hidden = w1_hidden + net.hyper_w1.hidden_width() as usize;
        let value_hidden = w2_hidden + net.hyper_w2.hidden_width() as usize;
        Self { h, w2, value, w1_hidden, w2_hidden, value_hidden }
    }
}

/// The hypernetworks and V for `M` states: everything in the trace but h, whose place holds b1.
#[inline(always)]
pub(super) fn hyper_tile<R: Real, const M: usize>(
    net: &Mixer,
    weights: &[R],
    state: &[R],
    state_at: [usize; M],
    trace: &mut [R],
    trace_at: [usize; M],
) {
    let parts = Parts::new(net);
    let mut run = |net: &Mlp, hidden: usize, to: usize| {
        let last = &net.layers[net.layers.len() - 1];
        let to = trace_at.map(|at| at + to);
        let from = hidden_layers(net, weights, state, state_at, trace, trace_at.map(|at| at + hidden));
        if net.layers.len() == 1 {
            affine(last, weights, state, state_at, trace, to);
        } else {
            affine_within(last, weights, trace, from, to);
        }
    };
    run(&net.hyper_w1, parts.w1_hidden, 0);
    run(&net.hyper_b1, 0, parts.h);
    run(&net.hyper_w2, parts.w2_hidden, parts.w2);
    run(&net.value, parts.value_hidden, parts.value);
}

/// Q_tot of one trace row made by [`hyper_tile`]; b1 becomes h.
#[inline(always)]
pub(super) fn mix<R: Real>(net: &Mixer, trace: &mut [R], q: &[R]) -> R {
    let parts = Parts::new(net);
    let (w1, rest) = trace.split_at_mut(parts.h);
    let (h, rest) = rest.split_at_mut(parts.w2 - parts.h);
    let (w2, value) = rest.split_at(parts.value - parts.w2);
    mix_row(net.positivity, w1, h, w2, value[0], q)
}

/// Q_tot from raw W1, b1 (which becomes h), raw w2, V and q.
#[inline(always)]
pub(super) fn mix_row<R: Real>(positivity: Positivity, w1: &[R], h: &mut [R], w2: &[R], value: R, q: &[R]) -> R {
    let embed = h.len();
    for (w1, &q) in w1.chunks_exact(embed).zip(q) {
        let q = Lanes::splat(q);
        for e in (0..embed).step_by(LANES) {
            (Lanes::load(&h[e..]) + positive(positivity, Lanes::load(&w1[e..])) * q).store(&mut h[e..]);
        }
    }
    h.iter_mut().for_each(|h| *h = h.elu());
    let mut acc = Lanes::ZERO;
    for e in (0..embed).step_by(LANES) {
        acc += Lanes::load(&h[e..]) * positive(positivity, Lanes::load(&w2[e..]));
    }
    acc.sum() + value
}

/// Mixing weights from what the hypernetwork gives.
#[inline(always)]
pub(super) fn positive<R: Real>(positivity: Positivity, raw: Lanes<R>) -> Lanes<R> {
    match positivity {
        Positivity::Abs => raw.map(R::abs),
        Positivity::Softplus => raw.map(R::softplus),
        Positivity::Free => raw,
    }
}
