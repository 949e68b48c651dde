//! Tandem: the page.
//!
//! Layers, lower ones never knowing upper ones: `platform` ← `view` ← `app` ← the two mains. A view reads a
//! snapshot and returns actions; only the app changes anything; only `platform` knows a browser or a thread.

pub mod platform;
pub mod view;
