//! Worlds: rules only. They know neither networks nor drawing.

pub mod aec;
pub mod api;
pub mod bimatrix;
pub mod board;
pub mod foraging;
pub mod frame;
pub mod matrix_game;
pub mod parallel;
pub mod particles;
pub mod pellet;
pub mod playthrough;
pub mod pursuit;
pub mod range;
pub mod registry;
pub mod script;
pub mod two_step;
