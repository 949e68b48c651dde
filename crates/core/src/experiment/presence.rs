//! Whether anybody is at the page: training nobody looks at pauses after the minutes its experiment allows. Time is handed
//! in, as everywhere in a session, and only pacing depends on it: the run is the same run.

/// When somebody was last heard of.
#[derive(Debug, Default)]
pub(super) struct Presence {
    at: f64,
    is_new: bool,
    is_missed: bool,
}

impl Presence {
    /// Somebody is there.
    pub(super) fn heard(&mut self) {
        self.is_new = true;
    }

    /// Takes the time of a tick in.
    pub(super) fn tick(&mut self, now: f64) {
        if std::mem::take(&mut self.is_new) {
            self.at = now;
        }
    }

    /// Whether nobody was heard of for so many minutes; 0 minutes are for ever.
    pub(super) fn is_alone(&self, now: f64, minutes: u32) -> bool {
        minutes > 0 && now - self.at >= f64::from(minutes) * 60.0
    }

    /// Training has paused for want of it.
    pub(super) fn miss(&mut self) {
        self.is_missed = true;
    }

    /// Somebody has told training what to do next.
    pub(super) fn resume(&mut self) {
        self.is_missed = false;
    }

    /// Whether training has paused for that and was not told to go on since: who comes back is to read why.
    pub(super) fn is_missed(&self) -> bool {
        self.is_missed
    }
}
