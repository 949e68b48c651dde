//! Wakes the page when the session has something to tell, at most twenty times a second: numbers change no faster
//! than a person reads, and a page that redraws for each message would slow the training it shows.

use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Shortest time between two wakes, seconds.
const PAUSE: f64 = 0.05;

/// Shared between whoever receives reports and whoever draws.
#[derive(Clone, Debug, Default)]
pub struct Waker {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    ctx: Option<egui::Context>,
    /// When the page was, or will be, woken.
    due: f64,
}

impl Waker {
    /// From now on `ctx` is woken: the page was started, perhaps again on a fresh canvas.
    pub fn attach(&self, ctx: egui::Context) {
        if let Ok(mut inner) = self.inner.lock() {
            *inner = Inner { ctx: Some(ctx), due: 0.0 };
        }
    }

    /// Something arrived at `now` (seconds).
    pub fn wake(&self, now: f64) {
        let Ok(mut inner) = self.inner.lock() else { return };
        if inner.due > now {
            return; // a wake is on its way
        }
        let at = now.max(inner.due + PAUSE);
        inner.due = at;
        if let Some(ctx) = &inner.ctx {
            ctx.request_repaint_after(Duration::from_secs_f64(at - now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_wake_twenty_times_a_second() {
        let waker = Waker::default();
        let mut wakes = std::collections::BTreeSet::new();
        for message in 0..1_000 {
            waker.wake(1.0 + f64::from(message) * 0.001);
            wakes.insert((waker.inner.lock().expect("not poisoned").due * 1e6) as u64);
        }
        assert!((20..=21).contains(&wakes.len()), "{} wakes in a second", wakes.len());
    }
}
