//! Matrix products of the network kernels, tiled for registers: up to [`TILE`] rows × 8 columns of sums are kept
//! while weights stream by.
//!
//! Tiles change which sums are worked on together, never the order within a sum: element (r, o) of x·W + b is
//! b_o + x_r0·W_0o + x_r1·W_1o + …, left to right, whatever rows share its tile.

use crate::base::float::Real;
use crate::base::lanes::{LANES, Lanes};
use crate::nn::layers::{Activation, Layer, Mlp};

/// Rows of a register tile: 4 × 8 f32 sums fill half of the sixteen 128-bit registers.
pub(super) const TILE: usize = 4;

/// Runs `$body` for every tile of `$count` rows: `$first` is the tile's first row, the constant `$M` its number of
/// rows, [`TILE`] but for the last.
macro_rules! for_tiles {
    ($count:expr, |$first:ident, $M:ident| $body:expr) => {{
        let count: usize = $count;
        let mut $first = 0;
        while $first < count {
            match count - $first {
                1 => {
                    const $M: usize = 1;
                    $body
                }
                2 => {
                    const $M: usize = 2;
                    $body
                }
                3 => {
                    const $M: usize = 3;
                    $body
                }
                _ => {
                    const $M: usize = $crate::nn::cpu::dense::TILE;
                    $body
                }
            }
            $first += $crate::nn::cpu::dense::TILE;
        }
    }};
}
pub(super) use for_tiles;

/// Eight columns, from `col`, of x·W for `M` rows, added to `start`. `w` is `[inputs, stride]`.
#[inline(always)]
pub(super) fn product<R: Real, const M: usize>(
    x: [&[R]; M],
    w: &[R],
    stride: usize,
    col: usize,
    start: Lanes<R>,
) -> [Lanes<R>; M] {
    let inputs = w.len() / stride;
    let x = x.map(|row| &row[..inputs]);
    let mut acc = [start; M];
    for (i, row) in (0..inputs).zip(w.chunks_exact(stride)) {
        let w = Lanes::load(&row[col..]);
        for m in 0..M {
            acc[m] += w * Lanes::splat(x[m][i]);
        }
    }
    acc
}

/// y = x·W + b for the rows of `x` and `y` that start at `x_at` and `y_at`.
#[inline(always)]
pub(super) fn affine<R: Real, const M: usize>(
    layer: &Layer,
    weights: &[R],
    x: &[R],
    x_at: [usize; M],
    y: &mut [R],
    y_at: [usize; M],
) {
    let (w, b, stride) = parts(layer, weights);
    let rows = x_at.map(|at| &x[at..]);
    for col in (0..stride).step_by(LANES) {
        let acc = product(rows, w, stride, col, Lanes::load(&b[col..]));
        for m in 0..M {
            acc[m].store(&mut y[y_at[m] + col..]);
        }
    }
}

/// [`affine`] where inputs and outputs lie in one buffer.
#[inline(always)]
pub(super) fn affine_within<R: Real, const M: usize>(
    layer: &Layer,
    weights: &[R],
    buffer: &mut [R],
    x_at: [usize; M],
    y_at: [usize; M],
) {
    let (w, b, stride) = parts(layer, weights);
    for col in (0..stride).step_by(LANES) {
        let acc = product(x_at.map(|at| &buffer[at..]), w, stride, col, Lanes::load(&b[col..]));
        for m in 0..M {
            acc[m].store(&mut buffer[y_at[m] + col..]);
        }
    }
}

/// Runs the hidden layers of `net` on rows of `x`, keeping their activations in `hidden`, and returns where the last
/// layer finds its inputs there (`hidden_at` itself for a network without hidden layers).
#[inline(always)]
pub(super) fn hidden_layers<R: Real, const M: usize>(
    net: &Mlp,
    weights: &[R],
    x: &[R],
    x_at: [usize; M],
    hidden: &mut [R],
    hidden_at: [usize; M],
) -> [usize; M] {
    let mut from = hidden_at;
    for (l, layer) in net.layers[..net.layers.len() - 1].iter().enumerate() {
        let to = if l == 0 {
            affine(layer, weights, x, x_at, hidden, hidden_at);
            hidden_at
        } else {
            let width = layer.weight.rows.next_multiple_of(LANES as u32) as usize;
            let to = from.map(|at| at + width);
            affine_within(layer, weights, hidden, from, to);
            to
        };
        for at in to {
            activate(net.activation, &mut hidden[at..at + layer.weight.stride() as usize]);
        }
        from = to;
    }
    from
}

/// The activation, in place.
#[inline(always)]
fn activate<R: Real>(activation: Activation, x: &mut [R]) {
    match activation {
        // Written so that NaN passes: a diverged run must show itself.
        Activation::Relu => x.iter_mut().for_each(|x| *x = if *x < R::ZERO { R::ZERO } else { *x }),
        Activation::Tanh => x.iter_mut().for_each(|x| *x = x.tanh()),
    }
}

/// Turns the gradient of activations `h` into that of their inputs, in place.
#[inline(always)]
pub(super) fn activate_backward<R: Real>(activation: Activation, h: &[R], d: &mut [R]) {
    let pairs = d.iter_mut().zip(h);
    match activation {
        Activation::Relu => pairs.for_each(|(d, h)| *d = if *h > R::ZERO { *d } else { R::ZERO }),
        Activation::Tanh => pairs.for_each(|(d, h)| *d *= R::ONE - *h * *h),
    }
}

/// W, b and the stride of a row.
#[inline(always)]
fn parts<'a, R>(layer: &Layer, weights: &'a [R]) -> (&'a [R], &'a [R], usize) {
    (&weights[layer.weight.range()], &weights[layer.bias.range()], layer.weight.stride() as usize)
}
