//! Wakes the page when the session has something to tell. The session tells nothing more often than a person reads
//! (`SNAPSHOT_SECS`), so each message is worth a frame.

use std::sync::{Arc, Mutex};

/// Shared between whoever receives reports and whoever draws.
#[derive(Clone, Debug, Default)]
pub struct Waker(Arc<Mutex<Option<egui::Context>>>);

impl Waker {
    /// From now on `ctx` is woken: the page was started, perhaps again on a fresh canvas.
    pub fn attach(&self, ctx: egui::Context) {
        if let Ok(mut attached) = self.0.lock() {
            *attached = Some(ctx);
        }
    }

    /// Something arrived.
    pub fn wake(&self) {
        if let Ok(attached) = self.0.lock()
            && let Some(ctx) = attached.as_ref()
        {
            ctx.request_repaint();
        }
    }
}
