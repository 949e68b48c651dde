//! Gradients of [`mixer_forward`](mod@crate::nn::cpu::mixer_forward): from g = ∂L/∂Q_tot to ∂L/∂weights (added) and
//! ∂L/∂q.
//!
//! With pos the positivity map and z = q·W1 + b1, h = ELU(z): ∂L/∂V = g; ∂L/∂w2 = g·h ⊙ pos′; dz = g·w2 ⊙ ELU′(z),
//! ELU′ being 1 above 0 and h + 1 below; ∂L/∂b1 = dz; ∂L/∂W1\[a\] = q_a·dz ⊙ pos′; ∂L/∂q_a = W1\[a\]·dz. These enter
//! the hypernetworks' own backward passes. Shapes as in the forward pass; `dq_tot` `[count]`, `dq` `[count, agents]`.
//!
//! Order: parameters as in [`mlp_backward`](mod@crate::nn::cpu::mlp_backward); ∂L/∂q_a in lanes.

use crate::base::float::Real;
use crate::base::lanes::{LANES, Lanes, kernel, padded, whole, whole_mut};
use crate::nn::cpu::dense::BLOCK;
use crate::nn::cpu::mixer_forward::Parts;
use crate::nn::cpu::mlp_backward::{Starts, Work, backward_block};
use crate::nn::layers::{Mixer, Positivity};

kernel! {
    /// See the file's header. `scratch` is working memory that grows once; its contents mean nothing between calls.
    pub fn mixer_backward<R: Real>(
        net: &Mixer,
        weights: &[R],
        rows: &[u32],
        state: &[R],
        q: &[R],
        trace: &[R],
        dq_tot: &[R],
        scratch: &mut Vec<R>,
        grad: &mut [R],
        dq: &mut [R],
    ) => backward
}

#[inline(always)]
fn backward<R: Real, const P: usize>(
    net: &Mixer,
    weights: &[R],
    rows: &[u32],
    state: &[R],
    q: &[R],
    trace: &[R],
    dq_tot: &[R],
    scratch: &mut Vec<R>,
    grad: &mut [R],
    dq: &mut [R],
) {
    let nets = [&net.hyper_w1, &net.hyper_b1, &net.hyper_w2, &net.value];
    let needed: usize = nets.iter().map(|net| Work::<R>::len(net)).sum();
    if scratch.len() < needed {
        scratch.resize(needed, R::ZERO);
    }
    let mut memory = &mut scratch[..];
    let [w1, b1, w2, value] = &mut nets.map(|net| {
        let (own, rest) = std::mem::take(&mut memory).split_at_mut(Work::<R>::len(net));
        memory = rest;
        Work::new(net, weights, own)
    });
    let (agents, embed) = (net.agents as usize, net.embed as usize);
    let (width, stride) = (net.trace_width() as usize, padded(net.state_len()) as usize);
    let parts = Parts::new(net);
    for (block, rows) in rows.chunks(BLOCK).enumerate() {
        let first = block * BLOCK;
        for k in 0..rows.len() {
            let b = first + k;
            unmix_row(
                net,
                &trace[b * width..(b + 1) * width],
                &q[b * agents..(b + 1) * agents],
                dq_tot[b],
                &mut w1.dz[k * agents * embed..(k + 1) * agents * embed],
                &mut b1.dz[k * embed..(k + 1) * embed],
                &mut w2.dz[k * embed..(k + 1) * embed],
                &mut dq[b * agents..(b + 1) * agents],
            );
            let mut dv = Lanes::ZERO;
            dv.0[0] = dq_tot[b];
            dv.store(&mut value.dz[k * LANES..]);
        }
        let state_at = Starts::new(rows.iter().map(|&row| row as usize * stride));
        for (net, hidden, work) in [
            (&net.hyper_w1, parts.w1_hidden, &mut *w1),
            (&net.hyper_b1, 0, &mut *b1),
            (&net.hyper_w2, parts.w2_hidden, &mut *w2),
            (&net.value, parts.value_hidden, &mut *value),
        ] {
            let hidden_at = Starts::new((first..first + rows.len()).map(|b| b * width + hidden));
            let (x, h) = ((state, state_at.as_slice()), (trace, hidden_at.as_slice()));
            backward_block::<R, P>(net, x, h, work, grad);
        }
    }
}

/// One transition: gradients of the raw W1 `[agents, E]`, b1 `[E]`, raw w2 `[E]` and q `[agents]`.
#[inline(always)]
fn unmix_row<R: Real>(
    net: &Mixer,
    trace: &[R],
    q: &[R],
    g: R,
    dw1: &mut [R],
    dz: &mut [R],
    dw2: &mut [R],
    dq: &mut [R],
) {
    let parts = Parts::new(net);
    let (h, w2) = (&trace[parts.h..parts.w2], &trace[parts.w2..parts.value]);
    let (embed, g) = (dz.len(), Lanes::splat(g));
    for e in (0..embed).step_by(LANES) {
        let (h, w2) = (Lanes::load(&h[e..]), Lanes::load(&w2[e..]));
        (g * h).store(&mut dw2[e..]);
        let elu_slope = h.map(|h| if h > R::ZERO { R::ONE } else { h + R::ONE });
        (g * w2 * elu_slope).store(&mut dz[e..]);
    }
    for (a, w1) in trace[..parts.h].chunks_exact(embed).enumerate() {
        let (q, dw1) = (Lanes::splat(q[a]), &mut dw1[a * embed..(a + 1) * embed]);
        let mut acc = Lanes::ZERO;
        for e in (0..embed).step_by(LANES) {
            let dz = Lanes::load(&dz[e..]);
            acc += Lanes::load(&w1[e..]) * dz;
            (q * dz).store(&mut dw1[e..]);
        }
        dq[a] = acc.sum();
    }
    positive_backward(net.positivity, &trace[parts.raw_w1..parts.raw_w2], dw1);
    positive_backward(net.positivity, &trace[parts.raw_w2..parts.w1_hidden], dw2);
}

/// Turns the gradient of mixing weights into that of what the hypernetwork gave, in place.
#[inline(always)]
fn positive_backward<R: Real>(positivity: Positivity, raw: &[R], d: &mut [R]) {
    let pairs = whole_mut(d).iter_mut().zip(whole(raw));
    match positivity {
        Positivity::Abs => {
            for (d, raw) in pairs {
                let below = if *raw < R::ZERO { -*d } else { R::ZERO };
                *d = if *raw > R::ZERO { *d } else { below };
            }
        }
        Positivity::Softplus => {
            for (d, raw) in pairs {
                *d *= raw.sigmoid();
            }
        }
        Positivity::Free => {}
    }
}
