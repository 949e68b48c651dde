//! Where Tandem runs: the session's home (a worker, a thread, or inline) and the page's surroundings (address bar,
//! storage, clipboard, clock).
//!
//! The only place that knows a browser or a thread. Above it everything speaks to a [`SessionHandle`] and a [`Host`].

#[cfg(not(target_arch = "wasm32"))]
pub mod console;
mod inbox;
mod inline;
#[cfg(not(target_arch = "wasm32"))]
mod native;
mod waker;
#[cfg(target_arch = "wasm32")]
mod web;
#[cfg(target_arch = "wasm32")]
mod worker;

use tandem_core::experiment::command::Command;
use tandem_core::experiment::snapshot::Report;

pub use inbox::Inbox;
pub use inline::Inline;
#[cfg(not(target_arch = "wasm32"))]
pub use native::{Desktop, Threaded};
pub use waker::Waker;
#[cfg(target_arch = "wasm32")]
pub use web::{Browser, WebSession, page_panicked};
#[cfg(target_arch = "wasm32")]
pub use worker::run as run_worker;

/// A session, wherever it lives.
pub trait SessionHandle {
    /// Sends a command; it never waits.
    fn send(&mut self, command: Command);

    /// Reports since the last call, oldest first, at most one snapshot per run.
    fn poll(&mut self) -> Vec<Report>;

    /// Why the session died, once.
    fn take_failure(&mut self) -> Option<String>;

    /// A new session in place of a dead one; it has no experiment yet.
    fn restart(&mut self);
}

/// What surrounds the page.
pub trait Host {
    /// Seconds since some moment.
    fn now(&self) -> f64;

    /// A link that arrived since the last call: at first the one the page was opened with (empty where there was
    /// none), later what was pasted into the address bar or reached with *Back*.
    fn take_link(&mut self) -> Option<String>;

    /// Shows `fragment` (with its `#`) in the address bar as a new entry of the history.
    fn show_link(&mut self, fragment: &str);

    /// Keeps `fragment` for whoever must tell the reader where the experiment is when the page itself cannot any more;
    /// empty: the address bar has it.
    fn keep_link(&mut self, fragment: &str);

    /// The page is in the language with this tag from now on.
    fn speak(&mut self, lang: &str);

    /// The page's address without a fragment; empty on the desktop. It never changes.
    fn address(&self) -> String;

    /// A stored choice. Storage that is forbidden holds nothing.
    fn load(&self, key: &str) -> Option<String>;

    /// Stores a choice, where storage is allowed.
    fn save(&mut self, key: &str, value: &str);

    /// Copies `text`. Browsers allow it for a few seconds after a click or a key (transient activation).
    fn copy(&mut self, text: &str);

    /// Whether the last copy worked, once that is known.
    fn take_copied(&mut self) -> Option<bool>;

    /// The reader's language as a tag such as `zh-CN`.
    fn language(&self) -> Option<String>;

    /// A seed nobody has used.
    fn fresh_seed(&mut self) -> u64;

    /// Where the page came from, which decides what the browser lets it do. It never changes.
    fn origin(&self) -> Origin;
}

/// Where the page came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A window on the desktop.
    Desktop,
    /// A secure page in a browser that has WebGPU, or not.
    Secure {
        /// `navigator.gpu` is there.
        webgpu: bool,
    },
    /// `http://` from another machine: no clipboard, no WebGPU.
    Insecure,
}

/// A seed from the system's randomness. Six digits: it is read aloud in classrooms.
pub fn fresh_seed() -> u64 {
    let mut bytes = [0; 8];
    match getrandom::fill(&mut bytes) {
        Ok(()) => u64::from_le_bytes(bytes) % 1_000_000,
        // Without randomness the dice still gives another run than the default seed.
        Err(_) => 1,
    }
}
