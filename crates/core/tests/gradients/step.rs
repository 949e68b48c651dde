//! The gradients that a gradient step leaves, against central differences of the loss the same step writes.

use tandem_core::marl::learner::Learner;
use tandem_core::marl::parts::clock::LOSS;
use tandem_core::nn::graph::Buffers;

/// A kink (of ReLU, |w|, a clip range, the hysteretic weight) inside a step spoils a difference; it will not lie inside
/// a step ten times smaller too.
const STEPS: [f64; 2] = [1e-6, 1e-7];
const TOLERANCE: f64 = 1e-5;
/// Smaller gradients are compared with this.
const FLOOR: f64 = 1e-2;

/// Checks every parameter that `step` trains when taken from `buffers`, and returns the buffers after it.
pub(crate) fn check_gradients(
    what: &str,
    learner: &Learner,
    buffers: &Buffers<f64>,
    step: impl Fn(&Buffers<f64>),
) -> Buffers<f64> {
    check_blocks(what, learner, |_| true, buffers, step)
}

/// [`check_gradients`] of the blocks of [`Learner::blocks`] that `step` trains.
pub(crate) fn check_blocks(
    what: &str,
    learner: &Learner,
    trains: impl Fn(usize) -> bool,
    buffers: &Buffers<f64>,
    step: impl Fn(&Buffers<f64>),
) -> Buffers<f64> {
    let after = buffers.clone();
    step(&after);
    for (_, (layout, block)) in learner.blocks().enumerate().filter(|&(k, _)| trains(k)) {
        let grad = after.read(block.grad);
        let loss = |at: usize, by: f64| {
            let moved = buffers.clone();
            moved.write(block.weights)[at] += by;
            step(&moved);
            let loss = moved.read(learner.clock.scalars)[LOSS];
            assert!(loss.is_finite(), "{what}: a loss of {loss}");
            loss
        };
        let mut largest = 0.0_f64;
        for tensor in &layout.tensors {
            let stride = tensor.stride() as usize;
            for (j, at) in tensor.range().enumerate() {
                if (j % stride) as u32 >= tensor.cols {
                    assert_eq!(grad[at], 0.0, "{what}: padding of {} has a gradient", tensor.name);
                    continue;
                }
                let difference = |step: f64| (loss(at, step) - loss(at, -step)) / (2.0 * step);
                let agrees = |expected: f64| (grad[at] - expected).abs() <= TOLERANCE * expected.abs().max(FLOOR);
                assert!(
                    STEPS.into_iter().any(|step| agrees(difference(step))),
                    "{what}, {} at {at}: {} by the list, {:?} by differences",
                    tensor.name,
                    grad[at],
                    STEPS.map(difference)
                );
                largest = largest.max(grad[at].abs());
            }
        }
        assert!(largest > 1e-3, "{what}: gradients are all about 0, nothing was checked");
    }
    after
}
