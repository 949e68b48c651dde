//! A number that moves with env steps (exploration, learning rates): a pure function of the step, never of wall time
//! or episodes.

/// A value over env steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Schedule {
    /// Always the same.
    Constant(f32),
    /// From `start` at env step 0 in a straight line to `end` at env step `over`, and `end` from there on.
    Linear {
        /// Value at env step 0.
        start: f32,
        /// Value from env step `over` on.
        end: f32,
        /// Env steps the line takes; 0 means `end` at once.
        over: u32,
    },
}

impl Schedule {
    /// The value at `env_step`.
    pub fn at(&self, env_step: u32) -> f32 {
        match *self {
            Self::Constant(value) => value,
            Self::Linear { end, over, .. } if env_step >= over => end,
            Self::Linear { start, end, over } => start + (end - start) * (env_step as f32 / over as f32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_starts_and_ends_exactly() {
        let epsilon = Schedule::Linear { start: 1.0, end: 0.05, over: 10_000 };
        assert_eq!([0, 10_000, u32::MAX].map(|step| epsilon.at(step)), [1.0, 0.05, 0.05]);
        assert!((epsilon.at(5_000) - 0.525).abs() < 1e-6);
        assert_eq!(Schedule::Linear { start: 1.0, end: 0.1, over: 0 }.at(0), 0.1);
        assert_eq!(Schedule::Constant(0.3).at(7), 0.3);
    }
}
