//! Pieces that several algorithms share, each a few kernels and the code that puts them on a list.

pub mod acting;
pub mod agents;
pub mod clock;
pub mod explore;
pub mod optimise;
pub mod replay;
pub mod td;
pub mod world;
