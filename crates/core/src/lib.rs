//! Environments, networks, algorithms and experiments of Tandem.
//!
//! Layers, lower ones never knowing upper ones: `base` ← `env`, `nn` ← `marl` ← `experiment`.
//! Nothing here knows a page, a browser or a clock: time is passed in.

pub mod base;
pub mod env;
pub mod experiment;
pub mod marl;
pub mod nn;
