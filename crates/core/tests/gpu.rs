//! The engine of graphics processors against the exact one.

#![cfg(feature = "gpu")]

mod gpu {
    mod parity;
    mod updates;
}
