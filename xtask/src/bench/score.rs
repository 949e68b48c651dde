//! The rates of everybody over the rounds, and ratios of them.

use super::contest::{CONTESTANTS, Contestant, Place, Program, Target, Work};
use super::line::Line;

/// What somebody reached at a work, one rate a round.
pub(super) struct Score {
    pub(super) by: &'static Contestant,
    pub(super) work: &'static Work,
    pub(super) rates: Vec<f64>,
    pub(super) unit: String,
    /// Why there are no further rates.
    pub(super) failure: Option<String>,
}

/// Median and range of a few numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Score {
    pub(super) fn new(by: &'static Contestant, work: &'static Work) -> Self {
        Self { by, work, rates: Vec::new(), unit: String::new(), failure: None }
    }

    pub(super) fn add(&mut self, line: Line) {
        self.rates.push(line.rate);
        self.unit = line.unit;
    }
}

impl Spread {
    /// `None` of no numbers.
    pub(super) fn of(mut numbers: Vec<f64>) -> Option<Self> {
        numbers.sort_by(f64::total_cmp);
        let (low, high) = (*numbers.first()?, *numbers.last()?);
        let middle = numbers.len() / 2;
        let median =
            if numbers.len() % 2 == 1 { numbers[middle] } else { f64::midpoint(numbers[middle - 1], numbers[middle]) };
        Some(Self { median, low, high })
    }
}

/// How many times the peer's rate Tandem reached, round by round; `None` where either has no rate.
pub(super) fn ratio(scores: &[Score], target: &Target) -> Option<Spread> {
    let of = |is_meant: &dyn Fn(&Contestant) -> bool| {
        scores.iter().find(|score| score.work.id == target.work && is_meant(score.by))
    };
    let ours = of(&|by| matches!(by.program, Program::Tandem) && by.place == target.place)?;
    let theirs = of(&|by| by.name == target.peer)?;
    Spread::of(ours.rates.iter().zip(&theirs.rates).map(|(ours, theirs)| ours / theirs).collect())
}

/// Where the peer of a target runs.
pub(super) fn place(target: &Target) -> Option<Place> {
    CONTESTANTS.iter().find(|by| by.name == target.peer).map(|by| by.place)
}

/// A rate or a ratio in three digits: 1.29, 428, 69.0 k, 18.1 M.
pub(super) fn readable(value: f64) -> String {
    let (value, suffix) = match value {
        1e6.. => (value / 1e6, " M"),
        1e4.. => (value / 1e3, " k"),
        _ => (value, ""),
    };
    let digits = match value {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{value:.digits$}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::super::contest::{CONTESTANTS, TARGETS, WORKS};
    use super::{Score, Spread, ratio, readable};

    /// W1 by whoever stands at `index` of the contestants.
    fn score(index: usize, rates: &[f64]) -> Score {
        Score { rates: rates.to_vec(), ..Score::new(&CONTESTANTS[index], &WORKS[0]) }
    }

    #[test]
    fn the_middle_of_an_even_number_lies_between() {
        assert_eq!(Spread::of(vec![4.0, 1.0, 3.0, 2.0]), Some(Spread { median: 2.5, low: 1.0, high: 4.0 }));
        assert_eq!(Spread::of(vec![3.0, 1.0, 2.0]), Some(Spread { median: 2.0, low: 1.0, high: 3.0 }));
        assert_eq!(Spread::of(Vec::new()), None);
    }

    #[test]
    fn ratios_are_taken_within_a_round() {
        let target = &TARGETS[0];
        assert_eq!((target.work, target.peer), ("W1", "TensorFlow.js"));
        // The machine was twice as fast in the second round; the native rates must not be taken.
        let scores = [score(0, &[1.0, 1.0]), score(6, &[140.0, 300.0]), score(7, &[20.0, 40.0])];
        assert_eq!(ratio(&scores, target), Some(Spread { median: 7.25, low: 7.0, high: 7.5 }));
    }

    #[test]
    fn who_was_not_measured_is_not_compared() {
        assert_eq!(ratio(&[score(6, &[140.0]), score(7, &[])], &TARGETS[0]), None);
        assert_eq!(ratio(&[score(6, &[140.0])], &TARGETS[0]), None);
    }

    #[test]
    fn three_digits() {
        let texts = [1.288, 10_084.0, 428.4, 69_012.0, 18_123_456.0, 9_089.0, 34.02].map(readable);
        assert_eq!(texts, ["1.29", "10.1 k", "428", "69.0 k", "18.1 M", "9089", "34.0"]);
    }
}
