//! Connect Four and tic-tac-toe of PettingZoo: AEC traces on an empty board.

use tandem_core::env::api::{Env, EnvState};
use tandem_core::env::board::{BoardGame, BoardSpec};
use tandem_core::experiment::snapshot::Sentence;

use super::check::Stop;
use super::format::{Episode, Malformed, numbers};
use super::params::Params;
use super::replay::Subject;

/// A board game.
pub(super) struct Board {
    game: BoardGame,
    /// Number in the first player's name.
    first: u32,
}

impl Board {
    pub(super) fn new(spec: BoardSpec, episode: &Episode) -> Result<Self, Stop> {
        Params::new(&episode.params).finish()?;
        let Some(board) = episode.init.get("board") else { return Err(Malformed("init.board".to_owned()).into()) };
        let game = spec.build();
        let cells = numbers("init.board", board)?;
        if cells.len() * 2 != game.info().obs_len as usize {
            return Err(Malformed(format!("init.board: {board}")).into());
        }
        if cells.iter().any(|&cell| cell != 0.0) {
            return Err(Stop::Unsupported(Sentence::new("conformance.begun", &[])));
        }
        Ok(Self { game, first: u32::from(spec == BoardSpec::TicTacToe) })
    }
}

impl Subject for Board {
    fn env(&self) -> &dyn Env {
        &self.game
    }

    fn names(&self) -> Vec<String> {
        (self.first..self.first + 2).map(|player| format!("player_{player}")).collect()
    }

    fn start(&self) -> EnvState {
        let mut state = EnvState::new(self.game.info());
        let stream = tandem_core::base::rng::Stream::new(0, "env");
        // The start is an empty board, whatever is drawn.
        self.game.reset(state.view_mut(), &stream.env(0, 0, 0));
        state
    }
}
