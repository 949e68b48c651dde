//! Initial weights: number (tensor, element) of a seed is a pure function, whatever else is drawn.
//!
//! Element (i, j) of a tensor is number i·cols + j, padding not counted, and uses the words at counter
//! (tensor index in its layout, element, 0, 0). Everything is computed in f64, then rounded; padding stays as it is.

use crate::base::float::{self, Real};
use crate::base::rng::Stream;
use crate::nn::layers::{Layer, Layout, Mixer, Mlp, Tensor};

/// How a network's first weights are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init {
    /// PyTorch's `nn.Linear`: weights and biases uniform in ±1/√inputs.
    Linear,
    /// Uniform in ±√(6 / (inputs + outputs)) (Glorot and Bengio 2010), biases 0.
    Xavier,
    /// Random orthonormal rows or columns times a gain (Saxe et al. 2014), biases 0; PPO's usual choice.
    Orthogonal {
        /// Gain of every layer but the last (√2 for ReLU, 5/3 or √2 for tanh).
        hidden_gain: f32,
        /// Gain of the last layer (0.01 for a policy, 1 for a value).
        output_gain: f32,
    },
}

/// Fills the weights of `net`, a part of `layout`.
pub fn init_mlp<R: Real>(net: &Mlp, layout: &Layout, init: Init, stream: &Stream, weights: &mut [R]) {
    for (l, layer) in net.layers.iter().enumerate() {
        match init {
            Init::Linear => linear(layer, layout, stream, weights),
            Init::Xavier => {
                let bound = (6.0 / f64::from(layer.weight.rows + layer.weight.cols)).sqrt();
                uniform(&layer.weight, layout, bound, stream, weights);
                weights[layer.bias.range()].fill(R::ZERO);
            }
            Init::Orthogonal { hidden_gain, output_gain } => {
                let gain = if l + 1 == net.layers.len() { output_gain } else { hidden_gain };
                orthogonal(&layer.weight, layout, f64::from(gain), stream, weights);
                weights[layer.bias.range()].fill(R::ZERO);
            }
        }
    }
}

/// Fills the weights of `net`, a part of `layout`, as PyTorch would: [`Init::Linear`].
pub fn init_mixer<R: Real>(net: &Mixer, layout: &Layout, stream: &Stream, weights: &mut [R]) {
    for part in [&net.hyper_w1, &net.hyper_b1, &net.hyper_w2, &net.value] {
        init_mlp(part, layout, Init::Linear, stream, weights);
    }
}

fn linear<R: Real>(layer: &Layer, layout: &Layout, stream: &Stream, weights: &mut [R]) {
    let bound = 1.0 / f64::from(layer.weight.rows).sqrt();
    uniform(&layer.weight, layout, bound, stream, weights);
    uniform(&layer.bias, layout, bound, stream, weights);
}

fn uniform<R: Real>(tensor: &Tensor, layout: &Layout, bound: f64, stream: &Stream, weights: &mut [R]) {
    let index = layout.index(tensor);
    fill(tensor, weights, |element| {
        let [word, ..] = stream.words([index, element, 0, 0]);
        bound * (2.0 * unit(word) - 1.0)
    });
}

fn orthogonal<R: Real>(tensor: &Tensor, layout: &Layout, gain: f64, stream: &Stream, weights: &mut [R]) {
    let index = layout.index(tensor);
    let (rows, cols) = (tensor.rows as usize, tensor.cols as usize);
    // The shorter side's vectors can all be orthogonal to each other.
    let (count, len) = (rows.min(cols), rows.max(cols));
    let place = |vector: usize, i: usize| if rows <= cols { vector * cols + i } else { i * cols + vector };
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(count);
    for vector in 0..count {
        let mut v: Vec<f64> = (0..len)
            .map(|i| {
                let words = stream.words([index, place(vector, i) as u32, 0, 0]);
                // Box and Muller 1958.
                let radius = (-2.0 * float::ln(unit(words[0]))).sqrt();
                radius * float::cos(2.0 * std::f64::consts::PI * unit(words[1]))
            })
            .collect();
        // Gram and Schmidt, twice: once loses digits where vectors are nearly parallel.
        for _ in 0..2 {
            for b in &basis {
                let along: f64 = v.iter().zip(b).map(|(v, b)| v * b).sum();
                v.iter_mut().zip(b).for_each(|(v, b)| *v -= along * b);
            }
        }
        let length = v.iter().map(|v| v * v).sum::<f64>().sqrt();
        for v in &mut v {
            *v /= length;
        }
        basis.push(v);
    }
    fill(tensor, weights, |element| {
        let (i, j) = (element as usize / cols, element as usize % cols);
        gain * if rows <= cols { basis[i][j] } else { basis[j][i] }
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

    fn drawn(sizes: &[u32], init: Init) -> (Mlp, Vec<f64>) {
        let mut layout = Layout::default();
        layout.add("before".to_owned(), 3, 3);
        let net = Mlp::new(&mut layout, "net", sizes, Activation::Relu);
        let mut weights = vec![0.0; layout.len as usize];
        init_mlp(&net, &layout, init, &Stream::new(5, "init"), &mut weights);
        (net, weights)
    }

    fn elements<'a>(tensor: &'a Tensor, weights: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let rows = weights[tensor.range()].chunks_exact(tensor.stride() as usize);
        rows.flat_map(|row| row[..tensor.cols as usize].iter().copied())
    }

    #[test]
    fn linear_fills_its_interval_and_nothing_else() {
        let (net, weights) = drawn(&[100, 30, 5], Init::Linear);
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

    #[test]
    fn orthogonal_vectors_have_the_gain_as_length() {
        let (net, weights) = drawn(&[21, 64, 5], Init::Orthogonal { hidden_gain: 1.5, output_gain: 0.01 });
        for (layer, gain) in net.layers.iter().zip([f64::from(1.5_f32), f64::from(0.01_f32)]) {
            let (rows, cols) = (layer.weight.rows as usize, layer.weight.cols as usize);
            let w: Vec<f64> = elements(&layer.weight, &weights).collect();
            let (count, len) = (rows.min(cols), rows.max(cols));
            let at = |v: usize, i: usize| if rows <= cols { w[v * cols + i] } else { w[i * cols + v] };
            for a in 0..count {
                for b in 0..=a {
                    let dot: f64 = (0..len).map(|i| at(a, i) * at(b, i)).sum();
                    let expected = if a == b { gain * gain } else { 0.0 };
                    assert!((dot - expected).abs() < 1e-12 * gain.max(1.0), "{a}, {b}: {dot}");
                }
            }
        }
    }

    #[test]
    fn a_wider_layout_before_it_changes_draws_but_not_padding() {
        let (_, a) = drawn(&[4, 3], Init::Xavier);
        let (_, b) = drawn(&[4, 3], Init::Xavier);
        assert_eq!(a, b);
        assert!(a.iter().any(|w| *w != 0.0));
    }
}
