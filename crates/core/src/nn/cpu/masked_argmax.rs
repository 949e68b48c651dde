//! argmax over legal actions: the first of the largest wins; an illegal action never does, whatever its value.
//!
//! `q` has at least |A| numbers (a padded row), `mask` `[|A|]` is 0 where an action is illegal.

use crate::base::float::Real;

/// See the file's header. `None` when nothing is legal (an agent that is not to move).
pub fn masked_argmax<R: Real>(q: &[R], mask: &[u32]) -> Option<u32> {
    let mut best: Option<(u32, R)> = None;
    for (action, (&q, _)) in q.iter().zip(mask).enumerate().filter(|(_, (_, legal))| **legal != 0) {
        if best.is_none_or(|(_, largest)| q > largest) {
            best = Some((action as u32, q));
        }
    }
    best.map(|(action, _)| action)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p07_p09_only_legal_actions_and_the_first_of_equals() {
        assert_eq!(masked_argmax(&[1.0, 1000.0, 2.0, 2.0, 9.0], &[1, 0, 1, 1]), Some(2));
        assert_eq!(masked_argmax(&[f32::NEG_INFINITY, 5.0], &[1, 0]), Some(0));
        assert_eq!(masked_argmax(&[1.0, 2.0], &[0, 0]), None);
    }
}
