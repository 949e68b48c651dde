//! Gradients of an MLP: from dy = ∂L/∂y to ∂L/∂weights (added).
//!
//! Layer by layer from the last: dz = dy ⊙ act′(h); ∂L/∂W += xᵀ·dz; ∂L/∂b += Σ dz; ∂L/∂h = dz·Wᵀ. Shapes are those of
//! [`mlp_forward`](mod@crate::nn::cpu::mlp_forward), whose `hidden` it reads; `grad` has the layout of `weights`; the
//! padding of `dy` must be 0.
//!
//! Order: each parameter's gradient grows by one product a row, in the order of `rows`, so several calls equal one
//! call on their rows joined, and rows with dy = 0 change no bit. An element of ∂L/∂h is summed over outputs in order.

use crate::base::float::Real;
use crate::base::lanes::{LANES, Lanes, kernel, padded};
use crate::nn::cpu::dense::{BLOCK, TILE, activate_backward, for_tiles, load, products, store};
use crate::nn::layers::{Layer, Mlp};

kernel! {
    /// See the file's header. `scratch` is working memory that grows once; its contents mean nothing between calls.
    pub fn mlp_backward<R: Real>(
        net: &Mlp,
        weights: &[R],
        rows: &[u32],
        x: &[R],
        hidden: &[R],
        dy: &[R],
        scratch: &mut Vec<R>,
        grad: &mut [R],
    ) => backward
}

#[inline(always)]
fn backward<R: Real, const P: usize>(
    net: &Mlp,
    weights: &[R],
    rows: &[u32],
    x: &[R],
    hidden: &[R],
    dy: &[R],
    scratch: &mut Vec<R>,
    grad: &mut [R],
) {
    let (inputs, outputs) = (padded(net.inputs()) as usize, padded(net.outputs()) as usize);
    let hidden_width = net.hidden_width() as usize;
    let needed = Work::<R>::len(net);
    if scratch.len() < needed {
        scratch.resize(needed, R::ZERO);
    }
    let mut work = Work::new(net, weights, &mut scratch[..needed]);
    for rows in rows.chunks(BLOCK) {
        let starts = |width: usize| Starts::new(rows.iter().map(|&row| row as usize * width));
        let dy_at = starts(outputs);
        for (to, &at) in work.dz.chunks_exact_mut(outputs).zip(dy_at.as_slice()) {
            to.copy_from_slice(&dy[at..at + outputs]);
        }
        let (x_at, hidden_at) = (starts(inputs), starts(hidden_width));
        backward_block::<R, P>(net, (x, x_at.as_slice()), (hidden, hidden_at.as_slice()), &mut work, grad);
    }
}

/// Where the rows of a block start in a buffer.
pub(super) struct Starts {
    at: [usize; BLOCK],
    len: usize,
}

impl Starts {
    pub(super) fn new(starts: impl Iterator<Item = usize>) -> Self {
        let mut this = Self { at: [0; BLOCK], len: 0 };
        for start in starts {
            this.at[this.len] = start;
            this.len += 1;
        }
        this
    }

    pub(super) fn as_slice(&self) -> &[usize] {
        &self.at[..self.len]
    }
}

/// Working memory of a network's backward pass over one block of rows.
pub(super) struct Work<'a, R> {
    /// Wᵀ of each layer but the first, the last layer's first: `[outputs, padded(inputs)]` each.
    transposed: &'a mut [R],
    /// Inputs of the layer at hand, `[block, padded(inputs)]`.
    packed: &'a mut [R],
    /// ∂L/∂z of the layer at hand, `[block, padded(outputs)]`; the caller puts ∂L/∂y of the network here.
    pub(super) dz: &'a mut [R],
    /// The same of the layer below.
    below: &'a mut [R],
}

impl<'a, R: Real> Work<'a, R> {
    /// Numbers of memory that [`Work::new`] needs.
    pub(super) fn len(net: &Mlp) -> usize {
        transposed_layers(net).map(transposed_len).sum::<usize>() + 3 * BLOCK * widest(net)
    }

    /// Transposes the weights into `memory`.
    pub(super) fn new(net: &Mlp, weights: &[R], memory: &'a mut [R]) -> Self {
        let block = BLOCK * widest(net);
        let (packed, memory) = memory.split_at_mut(block);
        let (dz, memory) = memory.split_at_mut(block);
        let (below, transposed) = memory.split_at_mut(block);
        let mut rest = &mut *transposed;
        for layer in transposed_layers(net) {
            let (to, next) = rest.split_at_mut(transposed_len(layer));
            transpose(layer, weights, to);
            rest = next;
        }
        Self { transposed, packed, dz, below }
    }
}

/// One block of rows, given as buffers and the starts of its rows there; ∂L/∂y lies in `work.dz`.
#[inline(always)]
pub(super) fn backward_block<R: Real, const P: usize>(
    net: &Mlp,
    (x, x_at): (&[R], &[usize]),
    (hidden, hidden_at): (&[R], &[usize]),
    work: &mut Work<'_, R>,
    grad: &mut [R],
) {
    let count = x_at.len();
    let mut transposed = &*work.transposed;
    let mut hidden_end = net.hidden_width() as usize;
    for (l, layer) in net.layers.iter().enumerate().rev() {
        let (inputs, outputs) = (padded(layer.weight.rows) as usize, layer.weight.stride() as usize);
        let packed = &mut work.packed[..count * inputs];
        let (source, at, offset) = if l == 0 { (x, x_at, 0) } else { (hidden, hidden_at, hidden_end - inputs) };
        for (to, &at) in packed.chunks_exact_mut(inputs).zip(at) {
            to.copy_from_slice(&source[at + offset..at + offset + inputs]);
        }
        let dz = &work.dz[..count * outputs];
        weight_gradient::<R, P>(layer, packed, dz, grad);
        if l > 0 {
            let (w, rest) = transposed.split_at(transposed_len(layer));
            transposed = rest;
            let below = &mut work.below[..count * inputs];
            input_gradient::<R, P>(layer, w, dz, below);
            activate_backward(net.activation, packed, below);
            std::mem::swap(&mut work.dz, &mut work.below);
            hidden_end -= inputs;
        }
    }
}

/// ∂L/∂W += xᵀ·dz and ∂L/∂b += Σ dz for a block of rows lying one after the other.
#[inline(always)]
fn weight_gradient<R: Real, const P: usize>(layer: &Layer, x: &[R], dz: &[R], grad: &mut [R]) {
    let (inputs, outputs) = (padded(layer.weight.rows) as usize, layer.weight.stride() as usize);
    let bias = &mut grad[layer.bias.range()];
    for dz in dz.chunks_exact(outputs) {
        bias.iter_mut().zip(dz).for_each(|(b, d)| *b += *d);
    }
    let weight = &mut grad[layer.weight.range()];
    for (i, rows) in weight.chunks_mut(TILE * outputs).enumerate() {
        let mut col = 0;
        if P > 1 {
            while col + P * LANES <= outputs {
                outer_products::<R, P>(rows, x, inputs, i * TILE, dz, outputs, col);
                col += P * LANES;
            }
        }
        while col < outputs {
            outer_products::<R, 1>(rows, x, inputs, i * TILE, dz, outputs, col);
            col += LANES;
        }
    }
}

/// `TILE` rows and `P` lanes of columns of ∂L/∂W: row k += Σ over the block of x\[i + k\]·dz\[col ..\].
#[inline(always)]
fn outer_products<R: Real, const P: usize>(
    grad: &mut [R],
    x: &[R],
    inputs: usize,
    i: usize,
    dz: &[R],
    outputs: usize,
    col: usize,
) {
    let mut acc = [[Lanes::ZERO; P]; TILE];
    for (acc, row) in acc.iter_mut().zip(grad.chunks_exact(outputs)) {
        *acc = load(&row[col..]);
    }
    for (x, dz) in x.chunks_exact(inputs).zip(dz.chunks_exact(outputs)) {
        let dz: [Lanes<R>; P] = load(&dz[col..]);
        let x: &[R; TILE] = x[i..].first_chunk().expect("rows are padded to whole lanes");
        for k in 0..TILE {
            let x = Lanes::splat(x[k]);
            for p in 0..P {
                acc[k][p] += dz[p] * x;
            }
        }
    }
    // Inputs are padded to whole tiles: sums beyond the last row of W are dropped here.
    for (acc, row) in acc.into_iter().zip(grad.chunks_exact_mut(outputs)) {
        store(acc, &mut row[col..]);
    }
}

/// ∂L/∂h = dz·Wᵀ for a block of rows lying one after the other; h are the layer's inputs.
#[inline(always)]
fn input_gradient<R: Real, const P: usize>(layer: &Layer, transposed: &[R], dz: &[R], dh: &mut [R]) {
    let (inputs, outputs) = (padded(layer.weight.rows) as usize, layer.weight.stride() as usize);
    for_tiles!(dz.len() / outputs, |first, M| {
        let from: [usize; M] = std::array::from_fn(|m| (first + m) * outputs);
        let to: [usize; M] = std::array::from_fn(|m| (first + m) * inputs);
        products::<R, P, M>(&transposed[..transposed_len(layer)], None, inputs, Some(dz), from, dh, to);
    });
}

/// Layers whose inputs need a gradient, from the last: all but the first.
fn transposed_layers(net: &Mlp) -> impl Iterator<Item = &Layer> {
    net.layers[1..].iter().rev()
}

fn transposed_len(layer: &Layer) -> usize {
    layer.weight.cols as usize * padded(layer.weight.rows) as usize
}

fn widest(net: &Mlp) -> usize {
    let widths = net.layers.iter().map(|layer| padded(layer.weight.rows).max(layer.weight.stride()));
    widths.max().expect("a network has a layer") as usize
}

fn transpose<R: Real>(layer: &Layer, weights: &[R], to: &mut [R]) {
    let (inputs, outputs) = (padded(layer.weight.rows) as usize, layer.weight.stride() as usize);
    to.fill(R::ZERO);
    for (i, row) in weights[layer.weight.range()].chunks_exact(outputs).enumerate() {
        for (o, &w) in row[..layer.weight.cols as usize].iter().enumerate() {
            to[o * inputs + i] = w;
        }
    }
}
