//! Q_tot = ELU(q·W1(s) + b1(s))·w2(s) + V(s) (Rashid et al. 2018, figure 2), W1 and w2 made non-negative.
//!
//! Transition b has its state in row `rows[b]` of `state` `[*, padded(state_len)]`, its agents' values in row b of
//! `q` `[count, agents]` (dense) and its result in `q_tot` `[count]`. `trace` `[count, trace_width]` keeps what the
//! backward pass needs: W1 `[agents, E]`, h `[E]`, w2 `[E]`, V `[8]`, W1 and w2 as the hypernetworks gave them,
//! hidden layers of W1, w2 and V.
//!
//! Order: q·W1 + b1 adds agents in order to b1; h·w2 is summed in lanes, then V is added.

use crate::base::float::Real;
use crate::base::lanes::{LANES, Lanes, kernel, padded, whole, whole_mut};
use crate::nn::cpu::dense::{BLOCK, affine, for_tiles, hidden_layers};
use crate::nn::layers::{Mixer, Positivity};

kernel! {
    /// See the file's header.
    pub fn mixer_forward<R: Real>(
        net: &Mixer,
        weights: &[R],
        rows: &[u32],
        state: &[R],
        q: &[R],
        trace: &mut [R],
        q_tot: &mut [R],
    ) => forward
}

#[inline(always)]
fn forward<R: Real, const P: usize>(
    net: &Mixer,
    weights: &[R],
    rows: &[u32],
    state: &[R],
    q: &[R],
    trace: &mut [R],
    q_tot: &mut [R],
) {
    let (agents, width, stride) = (net.agents as usize, net.trace_width() as usize, padded(net.state_len()) as usize);
    for (block, rows) in rows.chunks(BLOCK).enumerate() {
        let start = block * BLOCK;
        for_tiles!(rows.len(), |first, M| {
            let state_at: [usize; M] = std::array::from_fn(|m| rows[first + m] as usize * stride);
            let trace_at: [usize; M] = std::array::from_fn(|m| (start + first + m) * width);
            hyper_tile::<R, P, M>(net, weights, state, state_at, trace, trace_at);
        });
        for b in start..start + rows.len() {
            let row = &mut trace[b * width..(b + 1) * width];
            mixing_weights(net, row);
            q_tot[b] = mix(net, row, &q[b * agents..(b + 1) * agents]);
        }
    }
}

/// Where the parts of a trace row lie; W1 comes first.
pub(in crate::nn) struct Parts {
    pub(in crate::nn) h: usize,
    pub(in crate::nn) w2: usize,
    pub(in crate::nn) value: usize,
    pub(in crate::nn) raw_w1: usize,
    pub(in crate::nn) raw_w2: usize,
    pub(in crate::nn) w1_hidden: usize,
    pub(in crate::nn) w2_hidden: usize,
    pub(in crate::nn) value_hidden: usize,
}

impl Parts {
    pub(in crate::nn) fn new(net: &Mixer) -> Self {
        let embed = net.embed as usize;
        let h = net.agents as usize * embed;
        let (w2, value) = (h + embed, h + 2 * embed);
        let raw_w1 = value + LANES;
        let raw_w2 = raw_w1 + h;
        let w1_hidden = raw_w2 + embed;
        let w2_hidden = w1_hidden + net.hyper_w1.hidden_width() as usize;
        let value_hidden = w2_hidden + net.hyper_w2.hidden_width() as usize;
        Self { h, w2, value, raw_w1, raw_w2, w1_hidden, w2_hidden, value_hidden }
    }
}

/// The hypernetworks and V for `M` states: everything in the trace but W1 and w2; h's place holds b1.
#[inline(always)]
pub(super) fn hyper_tile<R: Real, const P: usize, const M: usize>(
    net: &Mixer,
    weights: &[R],
    state: &[R],
    state_at: [usize; M],
    trace: &mut [R],
    trace_at: [usize; M],
) {
    let parts = Parts::new(net);
    // A loop, not four calls: the tile is inlined once.
    for (net, hidden, to) in [
        (&net.hyper_w1, parts.w1_hidden, parts.raw_w1),
        (&net.hyper_b1, 0, parts.h),
        (&net.hyper_w2, parts.w2_hidden, parts.raw_w2),
        (&net.value, parts.value_hidden, parts.value),
    ] {
        let last = &net.layers[net.layers.len() - 1];
        let from = hidden_layers::<R, P, M>(net, weights, state, state_at, trace, trace_at.map(|at| at + hidden));
        let (x, x_at) = if net.layers.len() == 1 { (Some(state), state_at) } else { (None, from) };
        affine::<R, P, M>(last, weights, x, x_at, trace, trace_at.map(|at| at + to));
    }
}

/// W1 and w2 of a trace row from what [`hyper_tile`] put there.
#[inline(always)]
pub(super) fn mixing_weights<R: Real>(net: &Mixer, trace: &mut [R]) {
    let parts = Parts::new(net);
    let (mixing, raw) = trace[..parts.w1_hidden].split_at_mut(parts.raw_w1);
    let (raw_w1, raw_w2) = raw.split_at(parts.h);
    positive(net.positivity, raw_w1, &mut mixing[..parts.h]);
    positive(net.positivity, raw_w2, &mut mixing[parts.w2..parts.value]);
}

/// Q_tot of a trace row; b1 becomes h.
#[inline(always)]
fn mix<R: Real>(net: &Mixer, trace: &mut [R], q: &[R]) -> R {
    let parts = Parts::new(net);
    let (w1, rest) = trace.split_at_mut(parts.h);
    let (h, rest) = rest.split_at_mut(parts.w2 - parts.h);
    let (w2, value) = rest.split_at(parts.value - parts.w2);
    mix_row(w1, h, w2, value[0], q)
}

/// Q_tot from W1, b1 (which becomes h), w2, V and q.
#[inline(always)]
pub(super) fn mix_row<R: Real>(w1: &[R], h: &mut [R], w2: &[R], value: R, q: &[R]) -> R {
    let embed = h.len();
    for (w1, &q) in w1.chunks_exact(embed).zip(q) {
        for (h, w) in whole_mut(h).iter_mut().zip(whole(w1)) {
            *h += *w * q;
        }
    }
    for h in whole_mut(h) {
        *h = h.elu();
    }
    let mut acc = Lanes::ZERO;
    for (h, w2) in h.as_chunks().0.iter().zip(w2.as_chunks().0) {
        acc += Lanes(*h) * Lanes(*w2);
    }
    acc.sum() + value
}

/// Mixing weights from what the hypernetwork gives.
#[inline(always)]
fn positive<R: Real>(positivity: Positivity, raw: &[R], weights: &mut [R]) {
    weights.copy_from_slice(raw);
    match positivity {
        Positivity::Abs => {
            for w in whole_mut(weights) {
                *w = w.abs();
            }
        }
        Positivity::Softplus => {
            for w in whole_mut(weights) {
                *w = w.softplus();
            }
        }
        Positivity::Free => {}
    }
}
