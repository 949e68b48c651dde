//! y = MLP(x) for chosen rows: h₁ = act(x·W₁ + b₁), …, y = h·W + b.
//!
//! `x` `[*, padded(inputs)]`, `hidden` `[*, hidden_width]`, `y` `[*, padded(outputs)]`; only the rows named in `rows`
//! are read or written, so that several networks and time slices can share buffers. The padding of y is written 0.

use crate::base::float::Real;
use crate::base::lanes::{kernel, padded};
use crate::nn::cpu::dense::{affine, for_tiles, hidden_layers};
use crate::nn::layers::Mlp;

kernel! {
    /// See the file's header. `hidden` keeps what [`mlp_backward`](crate::nn::cpu::mlp_backward()) needs.
    pub fn mlp_forward<R: Real>(
        net: &Mlp,
        weights: &[R],
        rows: &[u32],
        x: &[R],
        hidden: &mut [R],
        y: &mut [R],
    ) => forward
}

#[inline(always)]
fn forward<R: Real, const P: usize>(net: &Mlp, weights: &[R], rows: &[u32], x: &[R], hidden: &mut [R], y: &mut [R]) {
    for_tiles!(rows.len(), |first, M| {
        let rows: [u32; M] = std::array::from_fn(|m| rows[first + m]);
        forward_tile::<R, P, M>(net, weights, rows, x, hidden, y);
    });
}

#[inline(always)]
fn forward_tile<R: Real, const P: usize, const M: usize>(
    net: &Mlp,
    weights: &[R],
    rows: [u32; M],
    x: &[R],
    hidden: &mut [R],
    y: &mut [R],
) {
    let start = |width: u32| rows.map(|row| row as usize * width as usize);
    let (x_at, hidden_at, y_at) =
        (start(padded(net.inputs())), start(net.hidden_width()), start(padded(net.outputs())));
    let last = &net.layers[net.layers.len() - 1];
    let from = hidden_layers::<R, P, M>(net, weights, x, x_at, hidden, hidden_at);
    let (x, x_at) = if net.layers.len() == 1 { (x, x_at) } else { (&*hidden, from) };
    affine::<R, P, M>(last, weights, Some(x), x_at, y, y_at);
}
