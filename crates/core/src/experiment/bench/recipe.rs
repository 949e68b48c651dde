//! Numbers that every language can make: parameters and data of whole updates whose losses are known from other
//! frameworks (PyTorch, JAX, TensorFlow.js).
//!
//! Tensor k is a stream of its own. Element i is a pure function of (k, i), computed in f64 and rounded once.

use crate::nn::layers::Layer;

/// Actions of an agent, in all works.
pub(super) const ACTIONS: u32 = 5;

/// Element `i` of tensor `k` in [0, 1): mulberry32's finish of a counter.
pub(super) fn unit(k: u32, i: usize) -> f64 {
    let a = 1_000_003_u32.wrapping_mul(k).wrapping_add((i as u32 + 1).wrapping_mul(0x6D2B_79F5));
    let t = (a ^ (a >> 15)).wrapping_mul(a | 1);
    let t = t.wrapping_add((t ^ (t >> 7)).wrapping_mul(t | 0x3D)) ^ t;
    f64::from(t ^ (t >> 14)) / 4_294_967_296.0
}

/// Element `i` of tensor `k` in [−1, 1).
pub(super) fn signed(k: u32, i: usize) -> f64 {
    2.0 * unit(k, i) - 1.0
}

/// Element `i` of tensor `k` as an action.
pub(super) fn action(k: u32, i: usize) -> u32 {
    (f64::from(ACTIONS) * unit(k, i)) as u32
}

/// Fills `layers`: the first W is tensor `k`, its b tensor `k` + 1, and so on, all in ±1/√inputs. Everything else in
/// `weights` becomes 0.
pub(super) fn fill_layers<'a>(layers: impl Iterator<Item = &'a Layer>, k: u32, weights: &mut [f32]) {
    weights.fill(0.0);
    let tensors = layers.flat_map(|layer| [&layer.weight, &layer.bias].map(|tensor| (layer.weight.rows, tensor)));
    for (k, (inputs, tensor)) in (k..).zip(tensors) {
        let bound = f64::from(inputs).sqrt();
        fill_rows(&mut weights[tensor.range()], tensor.cols as usize, tensor.rows as usize, |i| signed(k, i) / bound);
    }
}

/// Fills the first `width` numbers of each of `rows` padded rows: element i, counted without padding, is `value(i)`.
pub(super) fn fill_rows(padded: &mut [f32], width: usize, rows: usize, value: impl Fn(usize) -> f64) {
    let stride = padded.len() / rows;
    for (row, numbers) in padded.chunks_exact_mut(stride).enumerate() {
        (0..width).for_each(|j| numbers[j] = value(row * width + j) as f32);
    }
}

/// Fills padded rows of observations of `agents` in turn: `width` numbers of tensor `k`, then the agent's id one-hot.
pub(super) fn fill_observations(padded: &mut [f32], k: u32, width: usize, rows: usize, agents: usize) {
    fill_rows(padded, width, rows, |i| signed(k, i));
    let stride = padded.len() / rows;
    for (row, numbers) in padded.chunks_exact_mut(stride).enumerate() {
        numbers[width + row % agents] = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_recipe() {
        let expected = [0.926_348_44, 0.710_082_68, 0.863_839_21, 0.972_144_49];
        for (i, expected) in expected.into_iter().enumerate() {
            assert!((unit(1, i) - expected).abs() < 1e-8);
        }
    }
}
