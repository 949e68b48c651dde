//! ‖x‖² = Σ x_i², for clipping: squares are summed in lanes, then by the tree of
//! [`Lanes::sum`](crate::base::lanes::Lanes::sum). Padding adds 0.

use crate::base::float::Real;
use crate::base::lanes::{LANES, Lanes};

/// See the file's header. `x` is a whole number of lanes long.
pub fn sq_norm<R: Real>(x: &[R]) -> R {
    let (groups, rest) = x.as_chunks::<LANES>();
    debug_assert!(rest.is_empty(), "parameter buffers are padded to whole lanes");
    let mut acc = Lanes::ZERO;
    for group in groups {
        acc += Lanes(*group) * Lanes(*group);
    }
    acc.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_squares() {
        let x: Vec<f64> = (0..24).map(f64::from).collect();
        assert_eq!(sq_norm(&x), 4324.0);
    }
}
