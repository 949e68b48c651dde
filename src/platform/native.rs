//! The desktop: a session in a thread of its own, choices kept for the window's life, egui's clipboard.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::thread::Builder;
use std::time::{Duration, Instant};

use tandem_core::experiment::command::Command;
use tandem_core::experiment::session::Session;
use tandem_core::experiment::snapshot::Report;

use super::inbox::Inbox;
use super::waker::Waker;
use super::{Host, Origin, SessionHandle, fresh_seed};

/// What thread and page share.
#[derive(Debug, Default)]
struct Shared {
    inbox: Inbox,
    failure: Option<String>,
}

/// A session in a thread.
#[derive(Debug)]
pub struct Threaded {
    commands: Sender<Command>,
    shared: Arc<Mutex<Shared>>,
    waker: Waker,
}

impl Threaded {
    /// Starts the thread.
    pub fn spawn(waker: Waker) -> Self {
        let (commands, received) = channel();
        let shared = Arc::new(Mutex::new(Shared::default()));
        let (theirs, wake) = (Arc::clone(&shared), waker.clone());
        let run = move || {
            let start = now();
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| train(start, &received, &theirs, &wake))) {
                fail(&theirs, panic_text(panic.as_ref()));
                wake.wake();
            }
        };
        if let Err(error) = Builder::new().name("session".to_owned()).spawn(run) {
            fail(&shared, error.to_string());
        }
        Self { commands, shared, waker }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is where the page gets its time on the desktop")]
pub(super) fn now() -> Instant {
    Instant::now()
}

fn fail(shared: &Mutex<Shared>, text: String) {
    if let Ok(mut shared) = shared.lock() {
        shared.failure = Some(text);
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}

/// The thread: ticks while there is work, else sleeps until a command comes or something moves by itself.
fn train(start: Instant, commands: &Receiver<Command>, shared: &Mutex<Shared>, waker: &Waker) {
    let mut clock = || start.elapsed().as_secs_f64();
    let mut session = Session::new();
    let mut busy = false;
    let mut wake_in = None;
    loop {
        let command = match (busy, wake_in) {
            (true, _) => match commands.try_recv() {
                Err(TryRecvError::Disconnected) => return,
                command => command.ok(),
            },
            (false, Some(seconds)) => match commands.recv_timeout(Duration::from_secs_f64(f64::max(seconds, 0.0))) {
                Err(RecvTimeoutError::Disconnected) => return,
                command => command.ok(),
            },
            (false, None) => match commands.recv() {
                Err(_) => return,
                Ok(command) => Some(command),
            },
        };
        for command in command.into_iter().chain(commands.try_iter()) {
            session.apply(command);
        }
        let tick = session.tick(&mut clock);
        (busy, wake_in) = (tick.busy, tick.wake_in);
        let reports = session.take_reports();
        if reports.is_empty() {
            continue;
        }
        if let Ok(mut shared) = shared.lock() {
            for report in reports {
                shared.inbox.push(report);
            }
        }
        waker.wake();
    }
}

impl SessionHandle for Threaded {
    fn send(&mut self, command: Command) {
        // A dead thread has left its failure, which the page shows.
        let _ = self.commands.send(command);
    }

    fn poll(&mut self) -> Vec<Report> {
        self.shared.lock().map(|mut shared| shared.inbox.take()).unwrap_or_default()
    }

    fn take_failure(&mut self) -> Option<String> {
        self.shared.lock().ok()?.failure.take()
    }

    fn restart(&mut self) {
        *self = Self::spawn(self.waker.clone());
    }
}

/// The desktop window's surroundings.
#[derive(Debug)]
pub struct Desktop {
    start: Instant,
    link: Option<String>,
    choices: BTreeMap<String, String>,
    ctx: egui::Context,
    copied: Option<bool>,
}

impl Desktop {
    /// A window opened with `link`.
    pub fn new(link: Option<String>, ctx: egui::Context) -> Self {
        let link = Some(link.unwrap_or_default());
        Self { start: now(), link, choices: BTreeMap::new(), ctx, copied: None }
    }
}

impl Host for Desktop {
    fn now(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    fn take_link(&mut self) -> Option<String> {
        self.link.take()
    }

    fn show_link(&mut self, _fragment: &str) {}

    fn keep_link(&mut self, _fragment: &str) {}

    fn speak(&mut self, _lang: &str) {}

    fn address(&self) -> String {
        String::new()
    }

    fn load(&self, key: &str) -> Option<String> {
        self.choices.get(key).cloned()
    }

    fn save(&mut self, key: &str, value: &str) {
        self.choices.insert(key.to_owned(), value.to_owned());
    }

    fn copy(&mut self, text: &str) {
        self.ctx.copy_text(text.to_owned());
        self.copied = Some(true);
    }

    fn take_copied(&mut self) -> Option<bool> {
        self.copied.take()
    }

    fn language(&self) -> Option<String> {
        super::console::language()
    }

    fn fresh_seed(&mut self) -> u64 {
        fresh_seed()
    }

    fn origin(&self) -> Origin {
        Origin::Desktop
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_handle_ends_its_thread() {
        let session = Threaded::spawn(Waker::default());
        let shared = Arc::downgrade(&session.shared);
        drop(session);
        // The thread wakes at once; the bound only keeps a broken test from hanging.
        for _ in 0..100_000_000 {
            if shared.strong_count() == 0 {
                return;
            }
            std::thread::yield_now();
        }
        panic!("the thread still runs");
    }
}
