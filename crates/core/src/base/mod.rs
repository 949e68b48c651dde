//! The lowest layer: numbers, randomness, hashes. Uses std and libm only.

pub mod rng;
