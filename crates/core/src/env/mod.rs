//! Worlds: rules only. They know neither networks nor drawing.

pub mod api;
