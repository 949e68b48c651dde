//! Numbers that every language can make: parameters and data of whole updates whose losses are known from other
//! frameworks.

use tandem_core::nn::layers::Layer;

/// Element `i` of tensor `k` in [0, 1): mulberry32's finish of a counter.
pub(crate) fn unit(k: u32, i: usize) -> f64 {
    let a = 1_000_003_u32.wrapping_mul(k).wrapping_add((i as u32 + 1).wrapping_mul(0x6D2B_79F5));
    let t = (a ^ (a >> 15)).wrapping_mul(a | 1);
    let t = t.wrapping_add((t ^ (t >> 7)).wrapping_mul(t | 0x3D)) ^ t;
    f64::from(t ^ (t >> 14)) / 4_294_967_296.0
}

pub(crate) fn signed(k: u32, i: usize) -> f64 {
    2.0 * unit(k, i) - 1.0
}

/// W = tensor k, b = tensor k + 1, both in ±1/√inputs.
pub(crate) fn fill(layer: &Layer, k: u32, weights: &mut [f32]) {
    let bound = f64::from(layer.weight.rows).sqrt();
    for (k, tensor) in [(k, &layer.weight), (k + 1, &layer.bias)] {
        let cols = tensor.cols as usize;
        for (i, row) in weights[tensor.range()].chunks_exact_mut(tensor.stride() as usize).enumerate() {
            (0..cols).for_each(|j| row[j] = (signed(k, i * cols + j) / bound) as f32);
        }
    }
}

#[test]
fn the_numbers_are_those_of_the_recipe() {
    let expected = [0.926_348_44, 0.710_082_68, 0.863_839_21, 0.972_144_49];
    for (i, expected) in expected.into_iter().enumerate() {
        assert!((unit(1, i) - expected).abs() < 1e-8);
    }
}
