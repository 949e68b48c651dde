//! Initial weights: number (tensor, element) of a seed is a pure function, whatever else is drawn.
//!
//! Element (i, j) of a tensor is number i·cols + j, padding not counted, and uses the words at counter
//! (tensor index in its layout, element, 0, 0). Everything is computed in f64, then rounded; padding stays as it is.

use crate::base::float::{Real, cos, ln};
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

/// Fills the weights of `net`, a part of `layout`, with orthogonal matrices (Saxe et al. 2014): `hidden` times one for
/// every layer but the last, `last` times one for that; biases are 0. Where a layer has more inputs than outputs its
/// columns are orthonormal, else its rows.
pub fn init_orthogonal<R: Real>(
    net: &Mlp,
    layout: &Layout,
    stream: &Stream,
    (hidden, last): (f64, f64),
    weights: &mut [R],
) {
    for (l, layer) in net.layers.iter().enumerate() {
        let gain = if l + 1 == net.layers.len() { last } else { hidden };
        let (rows, cols) = (layer.weight.rows, layer.weight.cols);
        let basis = orthonormal(rows.min(cols), rows.max(cols), layout.index(&layer.weight), stream);
        fill(&layer.weight, weights, |element| {
            let (i, j) = (element / cols, element % cols);
            gain * basis[if rows < cols { i * cols + j } else { j * rows + i } as usize]
        });
        fill(&layer.bias, weights, |_| 0.0);
    }
}

/// `count` orthonormal vectors of length `len`, one after the other: normal draws through Gram and Schmidt, each twice
/// over, which keeps them orthogonal to rounding. The directions are uniform (Stewart 1980).
fn orthonormal(count: u32, len: u32, tensor: u32, stream: &Stream) -> Vec<f64> {
    let mut all: Vec<f64> = Vec::with_capacity((count * len) as usize);
    for k in 0..count {
        let mut vector: Vec<f64> = (0..len).map(|i| normal(stream.words([tensor, k * len + i, 0, 0]))).collect();
        for _ in 0..2 {
            for earlier in all.chunks_exact(len as usize) {
                let along: f64 = vector.iter().zip(earlier).map(|(x, e)| x * e).sum();
                vector.iter_mut().zip(earlier).for_each(|(x, e)| *x -= along * e);
            }
            let norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
            for x in &mut vector {
                *x /= norm;
            }
        }
        all.extend(vector);
    }
    all
}

/// A normal draw (Box and Muller 1958) from two words.
fn normal([first, second, ..]: [u32; 4]) -> f64 {
    (-2.0 * ln(unit(first))).sqrt() * cos(std::f64::consts::TAU * unit(second))
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
    // A mixer of no agents has a tensor of no columns.
    let rows = weights[tensor.range()].chunks_exact_mut(tensor.stride().max(1) as usize);
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

    #[test]
    fn orthogonal_layers_have_orthonormal_rows_or_columns() {
        let mut layout = Layout::default();
        let net = Mlp::new(&mut layout, "net", &[12, 30, 7], Activation::Tanh);
        let mut weights = vec![0.0; layout.len as usize];
        init_orthogonal(&net, &layout, &Stream::new(5, "init"), (2.0, 0.5), &mut weights);
        for (layer, gain) in net.layers.iter().zip([2.0, 0.5]) {
            let (rows, cols) = (layer.weight.rows as usize, layer.weight.cols as usize);
            let all: Vec<f64> = elements(&layer.weight, &weights).collect();
            let count = rows.min(cols);
            let vector = |k: usize| -> Vec<f64> {
                (0..rows.max(cols)).map(|i| if rows < cols { all[k * cols + i] } else { all[i * cols + k] }).collect()
            };
            for a in 0..count {
                for b in 0..count {
                    let product: f64 = vector(a).iter().zip(vector(b)).map(|(x, y)| x * y).sum();
                    let expected = if a == b { gain * gain } else { 0.0 };
                    assert!((product - expected).abs() < 1e-12, "{a}, {b}: {product}");
                }
            }
            assert!(elements(&layer.bias, &weights).all(|b| b == 0.0));
        }
    }
}
