//! The lowest layer: numbers, randomness, hashes. Uses std and libm only.

pub mod float;
pub mod hash;
pub mod lanes;
pub mod rng;
pub mod stats;
pub mod wgsl;
pub mod whole;
pub mod word;
