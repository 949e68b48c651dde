//! The ranges a picture of Q_tot covers, and how they change: still while the state stays, easing to a new state's.

use egui::emath::easing;
use tandem_core::experiment::snapshot::Mixed;

/// How long axes take to reach a new state's ranges, seconds.
const EASE_SECS: f64 = 0.3;
/// No axis is narrower than this, so that noise does not fill it.
const NARROWEST: f32 = 0.05;

/// Share of an axis that the values of a state must fill for the axis to stay as it is.
const FULL_ENOUGH: f32 = 0.6;

/// Ranges of the three axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ranges {
    /// Q_i.
    pub x: (f32, f32),
    /// Q_j.
    pub y: (f32, f32),
    /// Q_tot.
    pub z: (f32, f32),
}

/// Which state and which reading of it the axes belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Run, kind of stage, environment or episode, env step.
    pub moment: (u32, bool, u32, u32, u32),
    /// The pair of agents.
    pub pair: (u32, u32),
    /// Which mixer is shown: as trained, without |·|, without |·| at another state.
    pub reading: u32,
}

/// Axes under way.
#[derive(Clone, Debug, Default)]
pub struct Axes {
    subject: Option<Subject>,
    from: Ranges,
    to: Ranges,
    /// What the newest values need.
    wanted: Ranges,
    started: f64,
    /// How long the present movement takes: shorter where states follow each other fast.
    secs: f64,
    /// When the subject changed last.
    changed: f64,
}

impl Ranges {
    /// The ranges that `mixed` asks for.
    pub fn of(mixed: &Mixed) -> Self {
        let values = mixed.surface.iter().chain(&mixed.table).copied().filter(|z| z.is_finite());
        let (low, high) = values.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), z| (low.min(z), high.max(z)));
        let z = if low <= high { (low, high) } else { (0.0, 0.0) };
        Self { x: widened(mixed.x), y: widened(mixed.y), z: widened(z) }
    }

    fn each(self, other: Self, f: impl Fn((f32, f32), (f32, f32)) -> (f32, f32)) -> Self {
        Self { x: f(self.x, other.x), y: f(self.y, other.y), z: f(self.z, other.z) }
    }
}

impl Axes {
    /// Takes up the newest picture at time `now`, `frame_secs` after the frame before it.
    pub fn follow(&mut self, now: f64, frame_secs: f64, subject: Subject, wanted: Ranges) {
        let is_same = self.subject == Some(subject);
        // The same state under newer weights: the scale stays as long as the values fill most of it.
        let kept = |shown: (f32, f32), wanted: (f32, f32)| {
            let fits = shown.0 <= wanted.0 && wanted.1 <= shown.1;
            if fits && wanted.1 - wanted.0 >= FULL_ENOUGH * (shown.1 - shown.0) { shown } else { wanted }
        };
        let to = if is_same { self.to.each(wanted, kept) } else { wanted };
        if to != self.to {
            self.from = if self.subject.is_none() { to } else { self.at(now) };
            self.to = to;
            // The change happened since the last frame: a slow page must not show the old axes for a frame more.
            self.started = now - frame_secs;
        }
        if !is_same {
            self.secs = (0.7 * (now - self.changed)).clamp(1e-3, EASE_SECS);
            self.changed = now;
        }
        self.subject = Some(subject);
        self.wanted = wanted;
    }

    /// The ranges at time `now`. Values that outrun the easing widen them, so that nothing lies outside the axes.
    pub fn at(&self, now: f64) -> Ranges {
        let t = easing::cubic_out(((now - self.started) / self.secs.max(1e-3)).clamp(0.0, 1.0) as f32);
        let eased = self.from.each(self.to, |from, to| (from.0 + (to.0 - from.0) * t, from.1 + (to.1 - from.1) * t));
        eased.each(self.wanted, |eased, wanted| (eased.0.min(wanted.0), eased.1.max(wanted.1)))
    }

    /// Whether the next frame differs from this one.
    pub fn is_moving(&self, now: f64) -> bool {
        self.from != self.to && now < self.started + self.secs
    }
}

/// Where `value` lies in `range`, 0 to 1 inside.
pub fn unit(value: f32, range: (f32, f32)) -> f32 {
    (value - range.0) / (range.1 - range.0).max(1e-9)
}

fn widened((low, high): (f32, f32)) -> (f32, f32) {
    let missing = (NARROWEST - (high - low)).max(0.0) / 2.0;
    (low - missing, high + missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(high: f32) -> Ranges {
        Ranges { x: (0.0, 1.0), y: (0.0, 1.0), z: (0.0, high) }
    }

    fn subject(step: u32) -> Subject {
        Subject { moment: (1, false, 0, 1, step), pair: (0, 1), reading: 0 }
    }

    #[test]
    fn the_scale_stays_while_the_state_stays() {
        let mut axes = Axes::default();
        axes.follow(0.0, 0.0, subject(3), ranges(2.0));
        axes.follow(1.0, 0.0, subject(3), ranges(1.5));
        assert_eq!(axes.at(1.5).z, (0.0, 2.0), "somewhat narrower values do not move the axis");
        axes.follow(2.0, 0.0, subject(3), ranges(2.5));
        assert_eq!(axes.at(3.0).z, (0.0, 2.5), "values that would not fit do");
        axes.follow(4.0, 0.0, subject(3), ranges(0.5));
        assert_eq!(axes.at(5.0).z, (0.0, 0.5), "and so do values that would be a line in it");
    }

    #[test]
    fn a_new_state_is_eased_to_and_reached() {
        let mut axes = Axes::default();
        axes.follow(0.0, 0.0, subject(3), ranges(2.0));
        assert!(!axes.is_moving(0.0), "the first picture is there at once");
        axes.follow(1.0, 0.0, subject(4), ranges(1.0));
        let middle = axes.at(1.1).z.1;
        assert!(middle > 1.0 && middle < 2.0);
        assert!(axes.is_moving(1.1));
        assert_eq!(axes.at(1.3).z, (0.0, 1.0));
        assert!(!axes.is_moving(1.3));
    }

    #[test]
    fn values_never_lie_outside_the_axes() {
        let mut axes = Axes::default();
        axes.follow(0.0, 0.0, subject(3), ranges(1.0));
        for frame in 1..20 {
            let high = 1.0 + frame as f32;
            axes.follow(f64::from(frame) * 0.05, 0.05, subject(3 + frame), ranges(high));
            assert!(axes.at(f64::from(frame) * 0.05).z.1 >= high);
        }
    }

    #[test]
    fn a_fast_stage_and_a_slow_page_see_the_axes_arrive() {
        // Twelve env steps a second at sixty frames: there before the next step.
        let mut axes = Axes::default();
        for step in 0..5 {
            axes.follow(f64::from(step) / 12.0, 1.0 / 60.0, subject(step), ranges(9.0 - step as f32));
        }
        assert_eq!(axes.at(5.0 / 12.0).z, (0.0, 5.0));
        // Three frames a second, each with a new state: every frame shows its own axes.
        let mut axes = Axes::default();
        for step in 0..5 {
            let now = f64::from(step) / 3.0;
            axes.follow(now, 1.0 / 3.0, subject(step), ranges(9.0 - step as f32));
            assert_eq!(axes.at(now).z, (0.0, 9.0 - step as f32));
        }
    }

    #[test]
    fn a_flat_function_still_has_an_axis() {
        let flat = Mixed { surface: vec![0.5; 4], x: (0.2, 0.2), y: (0.0, 1.0), ..Mixed::default() };
        let ranges = Ranges::of(&flat);
        assert!((ranges.z.1 - ranges.z.0 - NARROWEST).abs() < 1e-6);
        assert!((ranges.x.1 - ranges.x.0 - NARROWEST).abs() < 1e-6);
        assert!((unit(0.5, ranges.z) - 0.5).abs() < 1e-5);
    }
}
