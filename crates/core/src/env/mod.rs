//! Worlds: rules only. They know neither networks nor drawing.

pub mod api;
pub mod bimatrix;
pub mod frame;
pub mod matrix_game;
pub mod particles;
pub mod pellet;
pub mod registry;
pub mod script;
pub mod two_step;
