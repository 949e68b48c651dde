//! Initial weights: number (tensor, element) of a seed is a pure function, whatever else is drawn.
//!
//! Element (i, j) of a tensor is number i·cols + j, padding not counted, and uses the words at counter
//! (tensor index in its layout, element, 0, 0). Everything is computed in f64, then rounded; padding stays as it is.

use crate::base::float::Real;
use crate::base::rng::Stream;
use crate::nn::layers::{Layout, Mixer, Mlp, Tensor};

/// Fills the weights of `net`, a part of `layout`, as PyTorch's `nn.Linear` does: weights and biases uniform in
/// ±1/√inputs.
pub fn init_mlp<R: Real>(net: &Mlp, layout: &Layout, stream: &Stream, weights: &mut [R]) {
    for layer in &net.layers {
        let bound = 1.0 / f64::from(layer.weight.rows).sqrt();
        uniform(&layer.weight, layout, bound, stream, weights);
        uniform(&layer.bias, layout, bound, stream, weights);
    }
}

/// Fills the weights of `net`, a part of `layout`: [`init_mlp`] for each of its networks.
pub fn init_mixer<R: Real>(net: &Mixer, layout: &Layout, stream: &Stream, weights: &mut [R]) {
    for part in [&net.hyper_w1, &net.hyper_b1, &net.hyper_w2, &net.value] {
        init_mlp(part, layout, stream, weights);
    }
}

fn uniform<R: Real>(tensor: &Tensor, layout: &Layout, bound: f64, stream: &Stream, weights: &mut [R]) {
    let index = layout.index(tensor);
    fill(tensor, weights, |element| {
        let [word, ..] = stream.words([index, element, 0, 0]);
        bound * (2.0 * unit(word) - 1.0)
    });
}

/// Writes every element, padding left alone.
fn fill<R: Real>(tensor: &Tensor, weights: &mut [R], value: impl Fn(u32) -> f64) {
    let rows = weights[tensor.range()].chunks_exact_mut(tensor.stride() as usize);
    for (i, row) in (0..tensor.rows).zip(rows) {
        for (j, w) in (0..tensor.cols).zip(row) {
            *w = R::from_f64(value(i * tensor.cols + j));
        }
    }
}

/// A word as a number inside (0, 1).
fn unit(word: u32) -> f64 {
    (f64::from(word) + 0.5) / 4_294_967_296.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::layers::Activation;

    fn elements<'a>(tensor: &'a Tensor, weights: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let rows = weights[tensor.range()].chunks_exact(tensor.stride() as usize);
        rows.flat_map(|row| row[..tensor.cols as usize].iter().copied())
    }

    #[test]
    fn a_network_fills_its_interval_and_nothing_else() {
        let mut layout = Layout::default();
        layout.add("before".to_owned(), 3, 3);
        let net = Mlp::new(&mut layout, "net", &[100, 30, 5], Activation::Relu);
        let mut weights = vec![0.0; layout.len as usize];
        init_mlp(&net, &layout, &Stream::new(5, "init"), &mut weights);
        let mut filled = 0;
        for layer in &net.layers {
            let bound = 1.0 / f64::from(layer.weight.rows).sqrt();
            for tensor in [&layer.weight, &layer.bias] {
                assert!(elements(tensor, &weights).all(|w| w.abs() < bound));
                filled += tensor.num_parameters();
            }
            let n = f64::from(layer.weight.num_parameters());
            let variance = elements(&layer.weight, &weights).map(|w| w * w).sum::<f64>() / n;
            assert!((variance / (bound * bound / 3.0) - 1.0).abs() < 0.25, "{variance}");
        }
        assert_eq!(weights.iter().filter(|w| **w != 0.0).count(), filled as usize);
    }
}
