//! The policy of logits z over legal actions: π_a = e^(z_a − m) / Σ over legal b of e^(z_b − m), m the largest legal
//! logit. An illegal action has no term anywhere, so its probability is exactly 0 whatever its logit.
//!
//! Acting and learning both come here with the same logits and mask, so the ratio of an unchanged policy is exactly 1.

use crate::base::float::Real;

/// What the probabilities of one row of logits have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaskedSoftmax<R> {
    max: R,
    sum: R,
    log_sum: R,
}

impl<R: Real> MaskedSoftmax<R> {
    /// Of `logits`, at least |A| numbers (a padded row), and `mask` `[|A|]`, 0 where an action is illegal. `None` where
    /// nothing is legal: an agent that is not to move has no policy.
    pub fn of(logits: &[R], mask: &[u32]) -> Option<Self> {
        let max = legal(logits, mask).reduce(R::max)?;
        let sum = legal(logits, mask).fold(R::ZERO, |sum, z| sum + (z - max).exp());
        Some(Self { max, sum, log_sum: sum.ln() })
    }

    /// [`MaskedSoftmax::of`], and π of every action into `probs` `[|A|]`, 0 for an illegal one: each exponential once.
    pub fn with_probs(logits: &[R], mask: &[u32], probs: &mut [R]) -> Option<Self> {
        let max = legal(logits, mask).reduce(R::max)?;
        let mut sum = R::ZERO;
        for ((p, &z), &legal) in probs.iter_mut().zip(logits).zip(mask) {
            *p = if legal == 0 { R::ZERO } else { (z - max).exp() };
            sum += *p;
        }
        for p in probs {
            *p /= sum;
        }
        Some(Self { max, sum, log_sum: sum.ln() })
    }

    /// ln π of a legal action with logit `z`; finite even where π underflows.
    pub fn log_prob(&self, z: R) -> R {
        (z - self.max) - self.log_sum
    }

    /// π of a legal action with logit `z`.
    pub fn prob(&self, z: R) -> R {
        (z - self.max).exp() / self.sum
    }

    /// The first legal action at which the sum of probabilities exceeds `u` in 0 .. 1. One whose probability has
    /// underflown to 0 is never drawn, an illegal one cannot be.
    pub fn draw(&self, logits: &[R], mask: &[u32], u: R) -> u32 {
        let threshold = u * self.sum;
        let mut drawn = super::masked_argmax(logits, mask).expect("a policy has a legal action");
        let mut cumulated = R::ZERO;
        for (action, (&z, _)) in (0..).zip(logits.iter().zip(mask)).filter(|(_, (_, legal))| **legal != 0) {
            let p = (z - self.max).exp();
            cumulated += p;
            if p > R::ZERO {
                drawn = action;
            }
            if cumulated > threshold {
                break;
            }
        }
        drawn
    }
}

/// Logits of legal actions.
fn legal<R: Real>(logits: &[R], mask: &[u32]) -> impl Iterator<Item = R> {
    logits.iter().zip(mask).filter(|&(_, &legal)| legal != 0).map(|(&z, _)| z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn illegal_actions_have_no_part_in_it() {
        let (logits, mask) = ([1.0_f64, 900.0, 1.0, 1.0 + std::f64::consts::LN_2], [1, 0, 1, 1]);
        let policy = MaskedSoftmax::of(&logits, &mask).expect("three are legal");
        assert!((policy.prob(logits[3]) - 0.5).abs() < 1e-15);
        assert!((policy.log_prob(logits[0]) - crate::base::float::ln(0.25)).abs() < 1e-15);
        let mut probs = [f64::NAN; 4];
        assert_eq!(MaskedSoftmax::with_probs(&logits, &mask, &mut probs), Some(policy));
        assert_eq!(probs, [policy.prob(logits[0]), 0.0, policy.prob(logits[2]), policy.prob(logits[3])]);
        assert_eq!([0.0, 0.24, 0.26, 0.49, 0.51, 0.999].map(|u| policy.draw(&logits, &mask, u)), [0, 0, 2, 2, 3, 3]);
        assert_eq!(MaskedSoftmax::of(&logits, &[0; 4]), None);
    }
}
