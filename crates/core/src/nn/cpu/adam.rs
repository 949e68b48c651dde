//! Adam (Kingma and Ba 2015, algorithm 1) as PyTorch writes it: m ← β₁m + (1−β₁)g; v ← β₂v + (1−β₂)g²;
//! w ← w − (lr / (1−β₁ᵗ))·m / (√(v) / √(1−β₂ᵗ) + ε), with g = scale·grad, the scale coming from norm clipping.
//!
//! All buffers have the layout of the weights. A parameter with gradient 0 and moments 0 (padding) stays as it is.

use crate::base::float::Real;
use crate::base::lanes::kernel;

/// Numbers of one optimiser step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamParams<R> {
    /// Learning rate.
    pub lr: R,
    /// Decay of the first moment.
    pub beta1: R,
    /// Decay of the second moment.
    pub beta2: R,
    /// Added to the denominator.
    pub eps: R,
    /// 1 − β₁ᵗ, t being the gradient step and the first being 1.
    pub bias1: R,
    /// 1 − β₂ᵗ.
    pub bias2: R,
}

kernel! {
    /// See the file's header.
    pub fn adam<R: Real>(
        p: &AdamParams<R>,
        scale: R,
        grad: &[R],
        weights: &mut [R],
        m: &mut [R],
        v: &mut [R],
    ) => step
}

#[inline(always)]
fn step<R: Real, const P: usize>(p: &AdamParams<R>, scale: R, grad: &[R], weights: &mut [R], m: &mut [R], v: &mut [R]) {
    let (keep1, keep2) = (R::ONE - p.beta1, R::ONE - p.beta2);
    let (lr, root) = (p.lr / p.bias1, R::ONE / p.bias2.sqrt());
    for (((w, m), v), g) in weights.iter_mut().zip(m).zip(v).zip(grad) {
        let g = *g * scale;
        *m = p.beta1 * *m + keep1 * g;
        *v = p.beta2 * *v + keep2 * g * g;
        *w -= lr * *m / (v.sqrt() * root + p.eps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_is_the_learning_rate_whatever_the_gradient() {
        let p = AdamParams { lr: 1e-3, beta1: 0.9, beta2: 0.999, eps: 0.0, bias1: 1.0 - 0.9, bias2: 1.0 - 0.999 };
        let (mut w, mut m, mut v) = ([1.0_f64; 3], [0.0; 3], [0.0; 3]);
        adam(&p, 0.5, &[1e-4, -7.0, 300.0], &mut w, &mut m, &mut v);
        for (w, sign) in w.iter().zip([1.0, -1.0, 1.0]) {
            assert!((w - (1.0 - sign * 1e-3)).abs() < 1e-12, "{w}");
        }
    }

    #[test]
    fn padding_stays_zero() {
        let p = AdamParams { lr: 1e-3, beta1: 0.9, beta2: 0.999, eps: 1e-5, bias1: 0.1, bias2: 0.001 };
        let (mut w, mut m, mut v) = ([0.0_f32], [0.0], [0.0]);
        adam(&p, 1.0, &[0.0], &mut w, &mut m, &mut v);
        assert_eq!((w, m, v), ([0.0], [0.0], [0.0]));
    }
}
