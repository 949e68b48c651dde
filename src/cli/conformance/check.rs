//! What a replay is judged by: one comparison for everything, tolerances as the format names them, the first failure.

use std::collections::BTreeMap;

use tandem_core::env::registry::EnvError;
use tandem_core::experiment::snapshot::Sentence;
use tandem_core::experiment::world::sentence;

use super::format::Malformed;

/// How far a number may be off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tolerance {
    /// Not at all.
    Exact,
    /// 1e-9: sums in another order, another library's exponential.
    Double,
    /// 1e-6: one unit in the last place of f32 near 1.
    Single,
}

/// Why a replay of an episode ended early.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stop {
    /// This release does not know what the episode asks for, or has no world of that size.
    Unsupported(Sentence),
    /// Our rules do otherwise.
    Failed(Sentence),
    /// The file is not of the format.
    Malformed(Malformed),
}

/// What a file's replay came to.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    /// Episodes that were replayed.
    pub(super) replayed: u32,
    /// Largest deviation of each quantity that was compared, what failed included.
    pub(super) deviations: BTreeMap<&'static str, f64>,
    /// The first thing that was wrong.
    pub(super) failure: Option<Sentence>,
    /// Episodes that were left out, each with the reason.
    pub(super) unsupported: Vec<(String, Sentence)>,
    /// The first thing that was not of the format.
    pub(super) malformed: Option<Malformed>,
}

/// Where a replay stands, and what it has found.
#[derive(Debug)]
pub(super) struct Check<'a> {
    pub(super) findings: &'a mut Findings,
    pub(super) episode: &'a str,
    /// `reset`, or the number of the step from 0.
    pub(super) step: String,
}

impl From<Malformed> for Stop {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

impl Stop {
    /// Our rules have no such world. The reference had it, so its parameters are right and our bounds narrower.
    pub(super) fn out_of_bounds(error: impl Into<EnvError>) -> Self {
        Self::Unsupported(sentence(&error.into()))
    }

    /// The file's start is none of the world's states.
    pub(super) fn no_start(error: impl Into<EnvError>) -> Self {
        Self::Failed(sentence(&error.into()))
    }
}

impl Tolerance {
    fn allows(self, expected: f64, found: f64) -> bool {
        // An infinity differs from itself by NaN.
        if expected == found || (expected.is_nan() && found.is_nan()) {
            return true;
        }
        let allowed = match self {
            Self::Exact => return false,
            Self::Double => 1e-9,
            Self::Single => 1e-6,
        };
        (expected - found).abs() <= allowed
    }
}

impl Check<'_> {
    /// Compares numbers that have the name `name` and belong to `quantity`.
    pub(super) fn numbers(
        &mut self,
        quantity: &'static str,
        name: &str,
        expected: &[f64],
        found: &[f64],
        tolerance: Tolerance,
    ) -> Result<(), Stop> {
        if expected.len() != found.len() {
            let count = |numbers: &[f64]| format!("[{}]", numbers.len());
            return Err(self.differs(name, &count(expected), &count(found)));
        }
        for (index, (&expected, &found)) in expected.iter().zip(found).enumerate() {
            let is_allowed = tolerance.allows(expected, found);
            let deviation = (expected - found).abs();
            let largest = self.findings.deviations.entry(quantity).or_default();
            *largest = match (deviation.is_finite(), is_allowed) {
                (true, _) => largest.max(deviation),
                // Equal infinities; of unequal ones what lies between has no number.
                (false, true) => *largest,
                (false, false) => f64::INFINITY,
            };
            if !is_allowed {
                return Err(self.differs(&format!("{name}[{index}]"), &expected.to_string(), &found.to_string()));
            }
        }
        self.findings.deviations.entry(quantity).or_default();
        Ok(())
    }

    /// Compares words: names, lists of names.
    pub(super) fn words<T: PartialEq + std::fmt::Debug>(
        &mut self,
        quantity: &'static str,
        expected: &T,
        found: &T,
    ) -> Result<(), Stop> {
        if expected == found {
            self.findings.deviations.entry(quantity).or_default();
            return Ok(());
        }
        Err(self.differs(quantity, &format!("{expected:?}"), &format!("{found:?}")))
    }

    /// Our number is another one.
    pub(super) fn differs(&self, name: &str, expected: &str, found: &str) -> Stop {
        Stop::Failed(Sentence::new("conformance.differs", &[self.episode, &self.step, name, expected, found]))
    }
}
