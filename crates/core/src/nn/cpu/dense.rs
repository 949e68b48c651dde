//! Matrix products of the network kernels, tiled for registers: up to [`TILE`] rows × `P` lanes of sums are kept
//! while weights stream by (`P` as in `kernel!` of [`lanes`](crate::base::lanes)).
//!
//! Tiles change which sums are worked on together, never the order within a sum: element (r, o) of x·W + b is
//! b_o + x_r0·W_0o + x_r1·W_1o + …, left to right, whatever rows share its tile.

use crate::base::float::Real;
use crate::base::lanes::{LANES, Lanes, padded, whole, whole_mut};
use crate::nn::layers::{Activation, Layer, Mlp};

/// Rows of a register tile: 4 × 8 f32 sums fill half of the sixteen 128-bit registers, 4 × 16 half of the 256-bit ones.
pub(super) const TILE: usize = 4;

/// Rows worked on one step after the other, so that their vectors and a layer's gradient stay in the nearest cache.
pub(super) const BLOCK: usize = 32;

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

/// y = x·W + b for the rows of `x` and `y` that start at `x_at` and `y_at`; without `x`, inputs lie in `y`'s buffer.
#[inline(always)]
pub(super) fn affine<R: Real, const P: usize, const M: usize>(
    layer: &Layer,
    weights: &[R],
    x: Option<&[R]>,
    x_at: [usize; M],
    y: &mut [R],
    y_at: [usize; M],
) {
    let (w, b) = (&weights[layer.weight.range()], &weights[layer.bias.range()]);
    products::<R, P, M>(w, Some(b), layer.weight.stride() as usize, x, x_at, y, y_at);
}

/// y = x·W (+ b) as in [`affine`], W being `[inputs, stride]`.
#[inline(always)]
pub(super) fn products<R: Real, const P: usize, const M: usize>(
    w: &[R],
    b: Option<&[R]>,
    stride: usize,
    x: Option<&[R]>,
    x_at: [usize; M],
    y: &mut [R],
    y_at: [usize; M],
) {
    let mut col = 0;
    if P > 1 {
        while col + P * LANES <= stride {
            product::<R, P, M>(w, b, stride, col, x, x_at, y, y_at);
            col += P * LANES;
        }
    }
    while col < stride {
        product::<R, 1, M>(w, b, stride, col, x, x_at, y, y_at);
        col += LANES;
    }
}

/// `P` lanes of columns, from `col`.
#[inline(always)]
fn product<R: Real, const P: usize, const M: usize>(
    w: &[R],
    b: Option<&[R]>,
    stride: usize,
    col: usize,
    x: Option<&[R]>,
    x_at: [usize; M],
    y: &mut [R],
    y_at: [usize; M],
) {
    let inputs = w.len() / stride;
    // Loops where `map` would do: its closures are not always inlined, and this runs once for every few sums.
    let source = x.unwrap_or(y);
    let mut x: [&[R]; M] = [&[]; M];
    for m in 0..M {
        x[m] = &source[x_at[m]..x_at[m] + inputs];
    }
    let start = match b {
        Some(b) => load(&b[col..]),
        None => [Lanes::ZERO; P],
    };
    let mut acc = [start; M];
    for (i, row) in (0..inputs).zip(w.chunks_exact(stride)) {
        let w: [Lanes<R>; P] = load(&row[col..]);
        for m in 0..M {
            let x = Lanes::splat(x[m][i]);
            for p in 0..P {
                acc[m][p] += w[p] * x;
            }
        }
    }
    for m in 0..M {
        store(acc[m], &mut y[y_at[m] + col..]);
    }
}

/// `P` lanes lying one after the other.
#[inline(always)]
pub(super) fn load<R: Real, const P: usize>(x: &[R]) -> [Lanes<R>; P] {
    let mut lanes = [Lanes::ZERO; P];
    for p in 0..P {
        lanes[p] = Lanes::load(&x[p * LANES..]);
    }
    lanes
}

/// Overwrites `P` lanes lying one after the other.
#[inline(always)]
pub(super) fn store<R: Real, const P: usize>(lanes: [Lanes<R>; P], x: &mut [R]) {
    for p in 0..P {
        lanes[p].store(&mut x[p * LANES..]);
    }
}

/// Runs the hidden layers of `net` on rows of `x`, keeping their activations in `hidden`, and returns where the last
/// layer finds its inputs there (`hidden_at` itself for a network without hidden layers).
#[inline(always)]
pub(super) fn hidden_layers<R: Real, const P: usize, const M: usize>(
    net: &Mlp,
    weights: &[R],
    x: &[R],
    x_at: [usize; M],
    hidden: &mut [R],
    hidden_at: [usize; M],
) -> [usize; M] {
    let mut from = hidden_at;
    for (l, layer) in net.layers[..net.layers.len() - 1].iter().enumerate() {
        let (x, x_at, to) = match l {
            0 => (Some(x), x_at, hidden_at),
            _ => (None, from, from.map(|at| at + padded(layer.weight.rows) as usize)),
        };
        affine::<R, P, M>(layer, weights, x, x_at, hidden, to);
        for at in to {
            activate::<R, P>(net.activation, &mut hidden[at..at + layer.weight.stride() as usize]);
        }
        from = to;
    }
    from
}

/// The activation, in place.
#[inline(always)]
fn activate<R: Real, const P: usize>(activation: Activation, x: &mut [R]) {
    match activation {
        Activation::Relu => {
            for x in whole_mut(x) {
                // Written so that NaN passes: a diverged run must show itself.
                *x = if *x < R::ZERO { R::ZERO } else { *x };
            }
        }
        // Narrow registers wait for a number's chain of steps unless it is cut into short loops; wide ones do not.
        Activation::Tanh if P == 1 => R::tanh_all(x),
        Activation::Tanh => {
            for x in whole_mut(x) {
                *x = x.tanh();
            }
        }
    }
}

/// Turns the gradient of activations `h` into that of their inputs, in place.
#[inline(always)]
pub(super) fn activate_backward<R: Real>(activation: Activation, h: &[R], d: &mut [R]) {
    let pairs = whole_mut(d).iter_mut().zip(whole(h));
    match activation {
        Activation::Relu => {
            for (d, h) in pairs {
                *d = if *h > R::ZERO { *d } else { R::ZERO };
            }
        }
        Activation::Tanh => {
            for (d, h) in pairs {
                *d *= R::ONE - *h * *h;
            }
        }
    }
}
