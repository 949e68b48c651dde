//! Tandem: the page.
//!
//! Layers, lower ones never knowing upper ones: `platform` ← `view` ← `app`, `cli` ← the doors `page`, `desktop` and
//! `main.rs`. A view reads a snapshot and returns actions; only the app changes anything; only `platform` and the doors
//! know a browser or a thread.

pub mod app;
#[cfg(not(target_arch = "wasm32"))]
pub mod cli;
#[cfg(not(target_arch = "wasm32"))]
mod desktop;
#[cfg(target_arch = "wasm32")]
pub mod page;
pub mod platform;
pub mod view;

#[cfg(not(target_arch = "wasm32"))]
pub use desktop::window;
