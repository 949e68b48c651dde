//! Two agents choose at once; a table pays. One state, so the observation and the state are constants.
//!
//! Rules: the game is played `repeat` times and then *terminates*. An observation is two zeros (as in EPyMARL's matrix
//! games), the state a constant one, so that a mixer has an input. Where one agent has fewer actions than the other
//! its surplus actions are masked; one that is played all the same counts as the agent's last action.
//!
//! Sources of the named games: Claus and Boutilier 1998 (climbing, penalty), Son et al. 2019 (non-monotonic).

use crate::base::rng::Draws;
use crate::base::wgsl::Constant;
use crate::env::api::{
    Ended, Env, EnvInfo, EnvState, Frame, Headline, Label, Optimum, Role, StateMut, StateRef, StepOut, WgslRules,
};
use crate::env::bimatrix::Bimatrix;

/// Fewest and most actions of an agent.
pub const ACTIONS: std::ops::RangeInclusive<u32> = 2..=6;
/// How often a game may be repeated in an episode.
pub const REPEAT: std::ops::RangeInclusive<u32> = 1..=100;
/// What a cell may pay.
pub const PAYOFF: std::ops::RangeInclusive<f32> = -1000.0..=1000.0;

/// A matrix game as the user sets it up.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixSpec {
    /// Actions of agent 1.
    pub rows: u32,
    /// Actions of agent 2.
    pub columns: u32,
    /// `[rows, columns]`: payoffs of agents 1 and 2.
    pub payoffs: Vec<(f32, f32)>,
    /// Env steps of an episode.
    pub repeat: u32,
}

/// A game with a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NamedGame {
    /// Its id, which also ends its text ids.
    pub id: &'static str,
    /// Actions of agent 1.
    pub rows: u32,
    /// Actions of agent 2.
    pub columns: u32,
    /// `[rows, columns]`: payoffs of agents 1 and 2.
    pub payoffs: &'static [(f32, f32)],
    /// Text ids of the actions where they have names of their own, else empty.
    pub actions: &'static [&'static str],
}

/// Why a [`MatrixSpec`] is no game.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MatrixError {
    /// Too few or too many actions.
    #[error("Agent {agent} has {given} actions: between 2 and 6 are possible.")]
    Actions {
        /// 1 or 2.
        agent: u32,
        /// What was asked for.
        given: u32,
    },
    /// The table does not fit the actions.
    #[error("The payoff table has {given} cells, but {rows} × {columns} actions need {}.", rows * columns)]
    Cells {
        /// Cells given.
        given: usize,
        /// Actions of agent 1.
        rows: u32,
        /// Actions of agent 2.
        columns: u32,
    },
    /// A payoff out of range.
    #[error("The payoff in row {row}, column {column} is {given}: numbers from -1000 to 1000 are possible.")]
    Payoff {
        /// 1-based.
        row: u32,
        /// 1-based.
        column: u32,
        /// The offending number.
        given: f32,
    },
    /// Too many repetitions, or none.
    #[error("The game is repeated {0} times: between 1 and 100 are possible.")]
    Repeat(u32),
}

/// The rules.
#[derive(Clone, Debug)]
pub struct MatrixGame {
    game: Bimatrix,
    repeat: u32,
    info: EnvInfo,
}

/// Cells of a common payoff.
macro_rules! common {
    ($($payoff:expr),* $(,)?) => { &[$(($payoff as f32, $payoff as f32)),*] };
}

/// Every game with a table of its own; the penalty game's depends on its k.
pub const GAMES: [NamedGame; 6] = [
    NamedGame { id: "climbing", rows: 3, columns: 3, payoffs: common![11, -30, 0, -30, 7, 0, 0, 6, 5], actions: &[] },
    NamedGame {
        id: "nonmonotonic",
        rows: 3,
        columns: 3,
        payoffs: common![8, -12, -12, -12, 0, 0, -12, 0, 0],
        actions: &[],
    },
    NamedGame {
        id: "prisoners_dilemma",
        rows: 2,
        columns: 2,
        payoffs: &[(-1.0, -1.0), (-3.0, 0.0), (0.0, -3.0), (-2.0, -2.0)],
        actions: &["action.cooperate", "action.defect"],
    },
    NamedGame {
        id: "stag_hunt",
        rows: 2,
        columns: 2,
        payoffs: &[(4.0, 4.0), (0.0, 3.0), (3.0, 0.0), (2.0, 2.0)],
        actions: &["action.stag", "action.hare"],
    },
    NamedGame {
        id: "matching_pennies",
        rows: 2,
        columns: 2,
        payoffs: &[(1.0, -1.0), (-1.0, 1.0), (-1.0, 1.0), (1.0, -1.0)],
        actions: &["action.heads", "action.tails"],
    },
    // The smallest game a learner must solve: an agent that plays action 0 earns the team 0.5.
    NamedGame {
        id: "sanity",
        rows: 3,
        columns: 3,
        payoffs: common![1.0, 0.5, 0.5, 0.5, 0, 0, 0.5, 0, 0],
        actions: &[],
    },
];

/// Text ids of actions without names.
const ACTION_NAMES: [&str; 6] = ["action.1", "action.2", "action.3", "action.4", "action.5", "action.6"];

impl NamedGame {
    /// Played once.
    pub fn spec(&self) -> MatrixSpec {
        MatrixSpec { rows: self.rows, columns: self.columns, payoffs: self.payoffs.to_vec(), repeat: 1 }
    }
}

impl Default for MatrixSpec {
    /// The climbing game.
    fn default() -> Self {
        GAMES[0].spec()
    }
}

impl MatrixSpec {
    /// The game of that id, played once.
    pub fn named(id: &str) -> Option<Self> {
        GAMES.iter().find(|game| game.id == id).map(NamedGame::spec)
    }

    /// The named game these payoffs are, if any; editing a cell makes it nameless.
    pub fn name(&self) -> Option<&'static NamedGame> {
        GAMES
            .iter()
            .find(|game| (game.rows, game.columns, game.payoffs) == (self.rows, self.columns, self.payoffs.as_slice()))
    }

    /// The rules, or why there are none.
    pub fn validate(&self) -> Result<MatrixGame, MatrixError> {
        let &Self { rows, columns, ref payoffs, repeat } = self;
        for (agent, given) in [(1, rows), (2, columns)] {
            if !ACTIONS.contains(&given) {
                return Err(MatrixError::Actions { agent, given });
            }
        }
        let game = Bimatrix::new(rows, columns, payoffs.clone()).ok_or(MatrixError::Cells {
            given: payoffs.len(),
            rows,
            columns,
        })?;
        for (row, column) in game.joint_actions() {
            let (a, b) = game.at(row, column);
            // `contains` is false for NaN.
            if let Some(&given) = [a, b].iter().find(|p| !PAYOFF.contains(p)) {
                return Err(MatrixError::Payoff { row: row + 1, column: column + 1, given });
            }
        }
        if !REPEAT.contains(&repeat) {
            return Err(MatrixError::Repeat(repeat));
        }
        let num_actions = rows.max(columns);
        let names = self.name().map_or(&[][..], |game| game.actions);
        let names = if names.is_empty() { &ACTION_NAMES[..num_actions as usize] } else { names };
        let info = EnvInfo {
            num_agents: 2,
            num_actions,
            obs_len: 2,
            state_len: 1,
            roles: vec![Role::agent(names, vec![Label::new("obs.constant", &[0]); 2])],
            role_of: vec![0; 2],
            part_names: vec!["part.payoff".to_owned()],
            part_weights: vec![1.0],
            mix: None,
            idle_action: None,
            max_steps: repeat,
            fixed_length: true,
            common_reward: game.is_common(),
            team_reward: game.is_common(),
            in_turns: false,
            fixed_mask: true,
            obs_determines_state: true,
            headline: Headline::Mean { first: 0, count: 2 },
            enumerated_starts: 1,
            ints: LAST + 2,
            reals: 0,
            revision: 1,
        };
        Ok(MatrixGame { game, repeat, info })
    }
}

impl MatrixGame {
    /// The payoffs and what enumeration says about them.
    pub fn game(&self) -> &Bimatrix {
        &self.game
    }
}

/// Word of the env steps taken.
const TIME: usize = 0;
/// First of the two words with the joint action just played, −1 before the first.
const LAST: u32 = 1;

impl Env for MatrixGame {
    fn info(&self) -> &EnvInfo {
        &self.info
    }

    fn reset(&self, state: StateMut<'_>, _draws: &Draws) {
        state.ints.copy_from_slice(&[0, -1, -1]);
    }

    fn reset_to(&self, state: StateMut<'_>, _start: u32) -> bool {
        state.ints.copy_from_slice(&[0, -1, -1]);
        false
    }

    fn step(&self, state: StateMut<'_>, actions: &[u32], _draws: &Draws, out: &mut StepOut<'_>) -> Ended {
        let row = actions[0].min(self.game.rows() - 1);
        let column = actions[1].min(self.game.columns() - 1);
        let (first, second) = self.game.at(row, column);
        let paid = [f64::from(first), f64::from(second)];
        out.rewards.copy_from_slice(&paid);
        out.parts.copy_from_slice(&paid);
        let time = state.ints[TIME] + 1;
        state.ints.copy_from_slice(&[time, row as i32, column as i32]);
        Ended { terminated: time as u32 >= self.repeat, truncated: false }
    }

    fn observe(&self, _state: StateRef<'_>, _agent: u32, obs: &mut [f32]) {
        obs.fill(0.0);
    }

    fn state(&self, _state: StateRef<'_>, out: &mut [f32]) {
        out.fill(1.0);
    }

    fn legal(&self, _state: StateRef<'_>, agent: u32, mask: &mut [u32]) {
        let own = if agent == 0 { self.game.rows() } else { self.game.columns() };
        for (action, legal) in mask.iter_mut().enumerate() {
            *legal = u32::from((action as u32) < own);
        }
    }

    fn step_count(&self, state: StateRef<'_>) -> u32 {
        state.ints[TIME] as u32
    }

    fn frame(&self, state: StateRef<'_>) -> Frame {
        let last = LAST as usize;
        Frame::Matrix {
            payoffs: self.game.cells().to_vec(),
            rows: self.game.rows(),
            columns: self.game.columns(),
            played: (state.ints[last] >= 0).then(|| (state.ints[last] as u32, state.ints[last + 1] as u32)),
            stage: 0,
            stages: vec!["stage.only".to_owned()],
            repetition: (self.repeat, (self.step_count(state) + 1).min(self.repeat)),
        }
    }

    fn standing_at(&self, _state: StateRef<'_>, _agent: u32, _cell: u32) -> Option<EnvState> {
        None
    }

    fn optimum(&self) -> Option<Optimum> {
        let best = self.game.cells().iter().map(|cell| f64::from(cell.0)).fold(f64::NEG_INFINITY, f64::max);
        let value = best * f64::from(self.repeat);
        self.game.is_common().then_some(Optimum { value, starts: 1, exact: true, full_information: false })
    }

    fn wgsl(&self) -> Option<WgslRules> {
        let payoffs = self.game.cells().iter().flat_map(|&(first, second)| [first, second]).collect();
        Some(WgslRules {
            source: include_str!("wgsl/matrix_game.wgsl"),
            constants: vec![
                ("ROW_ACTIONS", Constant::Word(self.game.rows())),
                ("COLUMN_ACTIONS", Constant::Word(self.game.columns())),
                ("PAYOFFS", Constant::Reals(payoffs)),
                ("REPEAT", Constant::Word(self.repeat)),
                ("IS_COMMON", Constant::Word(u32::from(self.info.common_reward))),
            ],
        })
    }

    /// Known for a common payoff played once: the payoff. When repeated, the value depends on how often the game is
    /// still to be played, which neither the observation nor the state tells.
    fn exact_q(&self, _state: StateRef<'_>, _gamma: f32) -> Option<Vec<f32>> {
        let side = self.info.num_actions;
        let q = |row, column| {
            if row < self.game.rows() && column < self.game.columns() { self.game.at(row, column).0 } else { f32::NAN }
        };
        (self.game.is_common() && self.repeat == 1)
            .then(|| (0..side * side).map(|joint| q(joint / side, joint % side)).collect())
    }
}
