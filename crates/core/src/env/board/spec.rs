//! Which board game: all there is to set up. Serde because it travels to the worker inside a spec of the same build.

use serde::{Deserialize, Serialize};

use super::BoardGame;
use super::rules::{CONNECT_FOUR, TIC_TAC_TOE};

/// A board game as the user chooses it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum BoardSpec {
    /// Connect Four.
    #[default]
    ConnectFour,
    /// Tic-tac-toe.
    TicTacToe,
}

impl BoardSpec {
    /// The rules; every choice is a game.
    pub fn build(self) -> BoardGame {
        BoardGame::new(match self {
            Self::ConnectFour => CONNECT_FOUR,
            Self::TicTacToe => TIC_TAC_TOE,
        })
    }
}
