//! The engine of graphics processors against the exact one, on whatever adapter there is: a software one on machines
//! without a graphics processor.

#![cfg(feature = "gpu")]

#[path = "gpu/document.rs"]
mod document;
#[path = "gpu/parity.rs"]
mod parity;
#[path = "gpu/sources.rs"]
mod sources;
#[path = "gpu/support.rs"]
mod support;
#[path = "gpu/updates.rs"]
mod updates;
#[path = "gpu/worlds.rs"]
mod worlds;
