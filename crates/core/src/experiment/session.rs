//! An experiment that can be ticked: takes [`Command`]s, publishes [`Report`]s, never waits and reads no clock.

use super::command::Command;
use super::snapshot::Report;

/// What the host should do after a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tick {
    /// Tick again at once (after letting messages through).
    pub busy: bool,
    /// Otherwise: seconds until something moves by itself, if anything does.
    pub wake_in: Option<f64>,
}

/// A run and what surrounds it: stage, curves, pacing.
#[derive(Debug, Default)]
pub struct Session {
    reports: Vec<Report>,
}

impl Session {
    /// A session without an experiment; `Command::Load` gives it one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a command. Training commands act at the next update boundary.
    pub fn apply(&mut self, command: Command) {
        let _ = command;
    }

    /// Works for about ten milliseconds of `clock` (monotonic seconds).
    pub fn tick(&mut self, clock: &mut dyn FnMut() -> f64) -> Tick {
        let _ = clock;
        Tick { busy: false, wake_in: None }
    }

    /// Reports since the last call, oldest first.
    pub fn take_reports(&mut self) -> Vec<Report> {
        std::mem::take(&mut self.reports)
    }
}
