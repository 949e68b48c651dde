//! target ← target + τ·(online − target): soft target updates; τ = 1 is a hard copy, exact to the bit, and τ = 0
//! leaves the target alone.

use crate::base::float::Real;

/// See the file's header.
pub fn polyak<R: Real>(mix: R, online: &[R], target: &mut [R]) {
    if mix == R::ONE {
        target.copy_from_slice(online);
    } else if mix != R::ZERO {
        target.iter_mut().zip(online).for_each(|(t, o)| *t += mix * (*o - *t));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_copies_zero_keeps_between_moves() {
        let online = [0.1_f32, 1e9, -3.0];
        let mut target = [7.0_f32, 1.0, 2.0];
        polyak(0.0, &online, &mut target);
        assert_eq!(target, [7.0, 1.0, 2.0]);
        polyak(0.25, &online, &mut target);
        assert_eq!(target[2], 0.75);
        polyak(1.0, &online, &mut target);
        assert_eq!(target, online);
    }
}
