//! Connect Four and tic-tac-toe: two agents place pieces in turn, see `rules.rs`.
//!
//! An env step is one ply. Only the mover's action counts; a win pays +1 and −1, a full board nothing, and a move that
//! the mask forbids ends the game with −1 for who made it and 0 for the other, the board unchanged (no mask lets that
//! happen). Observations are the reference's planes flattened in its own order, each agent seeing its own pieces first.

pub mod rules;
pub mod script;
pub mod search;
pub mod solver;
mod spec;

use crate::base::rng::Draws;
use crate::env::api::{Ended, Env, EnvInfo, EnvState, Headline, Label, Role, Sequential, StateMut, StateRef, StepOut};
use crate::env::frame::{Frame, Outcome};
use crate::env::script::{Program, Script, Uniform};
pub use spec::BoardSpec;

use rules::{Position, Rules, each};

/// The rules.
#[derive(Clone, Debug)]
pub struct BoardGame {
    rules: Rules,
    info: EnvInfo,
    /// The cell of every bit that has one.
    cell_of: [u8; 64],
}

/// First word of each side's pieces; a side takes two, the lower half first.
const SIDES: [usize; 2] = [0, 2];
/// Word of the env steps taken.
const TIME: usize = 4;
/// Word of the last piece's bit, −1 before the first.
const LAST: usize = 5;
/// Word of the end: 0 none yet, 1 or 2 that player won, 3 drawn, 4 or 5 the first or second player moved illegally.
const END: usize = 6;
const WORDS: u32 = 7;
/// See [`END`].
const DRAWN: i32 = 3;

impl BoardGame {
    /// The game of these rules.
    pub fn new(rules: Rules) -> Self {
        let cells = rules.cells();
        let of_cell = |id: &'static str, cell: u32| {
            let (row, column) = rules.place(cell);
            Label::new(id, &[row as i32 + 1, column as i32 + 1])
        };
        let planes = ["obs.own_piece", "obs.other_piece"];
        let action = |action: u32| {
            if rules.drops { Label::new("action.column", &[action as i32 + 1]) } else { of_cell("action.cell", action) }
        };
        let role = Role {
            id: "role.player".to_owned(),
            actions: (0..rules.actions()).map(action).collect(),
            obs: (0..cells).flat_map(|cell| planes.map(|id| of_cell(id, cell))).collect(),
        };
        let mut cell_of = [0; 64];
        for cell in 0..cells {
            cell_of[rules.bit(cell) as usize] = cell as u8;
        }
        let info = EnvInfo {
            num_agents: 2,
            num_actions: rules.actions(),
            obs_len: cells * 2,
            state_len: cells * 2 + 1,
            roles: vec![role],
            role_of: vec![0; 2],
            part_names: vec!["part.outcome".to_owned()],
            part_weights: vec![1.0],
            mix: None,
            idle_action: None,
            max_steps: cells,
            fixed_length: false,
            common_reward: false,
            team_reward: false,
            in_turns: true,
            fixed_mask: false,
            obs_determines_state: true,
            // A game is zero-sum: the mean over both players would always be 0.
            headline: Headline::Mean { first: 0, count: 1 },
            enumerated_starts: 1,
            ints: WORDS,
            reals: 0,
            revision: 1,
        };
        Self { rules, info, cell_of }
    }

    /// The game's numbers.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The state in which `position` is on the board and the game goes on.
    pub fn state_of(&self, position: Position) -> EnvState {
        let mut state = EnvState::new(&self.info);
        let sides =
            if mover(position.taken()) == 0 { [position.own, position.other] } else { [position.other, position.own] };
        let view = state.view_mut();
        for (at, pieces) in SIDES.into_iter().zip(sides) {
            write_side(view.ints, at, pieces);
        }
        view.ints[TIME] = position.plies() as i32;
        view.ints[LAST] = -1;
        state
    }

    /// Planes of two sides, interleaved cell by cell.
    fn planes(&self, sides: [u64; 2], out: &mut [f32]) {
        out[..self.info.obs_len as usize].fill(0.0);
        for (plane, pieces) in sides.into_iter().enumerate() {
            for piece in each(pieces) {
                out[usize::from(self.cell_of[piece.trailing_zeros() as usize]) * 2 + plane] = 1.0;
            }
        }
    }
}

/// The pieces as whoever is to move sees them (or would, had the game not ended).
pub fn position(state: StateRef<'_>) -> Position {
    let sides = SIDES.map(|at| side(state, at));
    let mover = mover(sides[0] | sides[1]);
    Position { own: sides[mover], other: sides[1 - mover] }
}

/// Who is to move: the first player after an even number of pieces.
fn mover(taken: u64) -> usize {
    (taken.count_ones() & 1) as usize
}

fn side(state: StateRef<'_>, at: usize) -> u64 {
    u64::from(state.ints[at] as u32) | u64::from(state.ints[at + 1] as u32) << 32
}

fn write_side(ints: &mut [i32], at: usize, pieces: u64) {
    ints[at] = pieces as u32 as i32;
    ints[at + 1] = (pieces >> 32) as u32 as i32;
}

impl Env for BoardGame {
    fn info(&self) -> &EnvInfo {
        &self.info
    }

    fn reset(&self, state: StateMut<'_>, _draws: &Draws) {
        state.ints.copy_from_slice(&[0, 0, 0, 0, 0, -1, 0]);
    }

    fn reset_to(&self, state: StateMut<'_>, _start: u32) -> bool {
        state.ints.copy_from_slice(&[0, 0, 0, 0, 0, -1, 0]);
        false
    }

    fn step(&self, state: StateMut<'_>, actions: &[u32], draws: &Draws, out: &mut StepOut<'_>) -> Ended {
        let sides = SIDES.map(|at| side(state.view(), at));
        let agent = mover(sides[0] | sides[1]);
        let ended = self.turn(state, agent as u32, actions[agent], draws, out.rewards);
        out.parts.copy_from_slice(out.rewards);
        ended
    }

    fn observe(&self, state: StateRef<'_>, agent: u32, obs: &mut [f32]) {
        let agent = agent as usize;
        self.planes([side(state, SIDES[agent]), side(state, SIDES[1 - agent])], obs);
    }

    /// Planes of the first and the second player, then who moves next (0 or 1).
    fn state(&self, state: StateRef<'_>, out: &mut [f32]) {
        let sides = SIDES.map(|at| side(state, at));
        self.planes(sides, out);
        out[self.info.obs_len as usize] = mover(sides[0] | sides[1]) as f32;
    }

    /// Once the game is over nobody is to move, and both see what is still open on the board, as in the reference.
    fn legal(&self, state: StateRef<'_>, agent: u32, mask: &mut [u32]) {
        mask.fill(0);
        let taken = side(state, SIDES[0]) | side(state, SIDES[1]);
        if state.ints[END] == 0 && mover(taken) != agent as usize {
            return;
        }
        for cell in each(self.rules.open(taken)) {
            mask[self.rules.action(cell) as usize] = 1;
        }
    }

    fn to_move(&self, state: StateRef<'_>) -> Option<u32> {
        (state.ints[END] == 0).then(|| mover(side(state, SIDES[0]) | side(state, SIDES[1])) as u32)
    }

    fn step_count(&self, state: StateRef<'_>) -> u32 {
        state.ints[TIME] as u32
    }

    fn frame(&self, state: StateRef<'_>) -> Frame {
        let rules = &self.rules;
        let sides = SIDES.map(|at| side(state, at));
        let mut cells = vec![0; rules.cells() as usize];
        for (player, pieces) in (1..).zip(sides) {
            for piece in each(pieces) {
                cells[rules.drawn(piece.trailing_zeros()) as usize] = player;
            }
        }
        Frame::Board {
            rows: rules.rows,
            columns: rules.columns,
            cells,
            drops: rules.drops,
            to_move: self.to_move(state),
            last: (state.ints[LAST] >= 0).then(|| rules.drawn(state.ints[LAST] as u32)),
            lines: sides.into_iter().flat_map(|pieces| rules.lines(pieces)).collect(),
            outcome: match state.ints[END] {
                0 => None,
                DRAWN => Some(Outcome::Drawn),
                won if won < DRAWN => Some(Outcome::Won(won as u32 - 1)),
                illegal => Some(Outcome::Illegal((illegal - DRAWN) as u32 - 1)),
            },
        }
    }

    fn standing_at(&self, _state: StateRef<'_>, _agent: u32, _cell: u32) -> Option<EnvState> {
        None
    }

    fn sequential(&self) -> Option<&dyn Sequential> {
        Some(self)
    }

    fn scripts(&self) -> &'static [Script] {
        &script::SCRIPTS
    }

    fn program(&self, script: Script) -> Option<Box<dyn Program>> {
        match script {
            Script::Uniform => Some(Box::new(Uniform)),
            _ => Some(Box::new(script::player(self.rules, script)?)),
        }
    }
}

impl Sequential for BoardGame {
    /// `agent` is the one to move.
    fn turn(&self, state: StateMut<'_>, agent: u32, action: u32, _draws: &Draws, rewards: &mut [f64]) -> Ended {
        let (rules, agent) = (&self.rules, agent as usize);
        let sides = SIDES.map(|at| side(state.view(), at));
        let taken = sides[0] | sides[1];
        let cell = rules.placed(taken, action.min(rules.actions() - 1));
        let own = sides[agent] | cell;
        let (end, paid) = if cell == 0 {
            (DRAWN + 1 + agent as i32, [-1.0, 0.0])
        } else if rules.has_line(own) {
            (1 + agent as i32, [1.0, -1.0])
        } else {
            (if taken | cell == rules.board() { DRAWN } else { 0 }, [0.0; 2])
        };
        if cell != 0 {
            write_side(state.ints, SIDES[agent], own);
            state.ints[LAST] = cell.trailing_zeros() as i32;
        }
        state.ints[TIME] += 1;
        state.ints[END] = end;
        (rewards[agent], rewards[1 - agent]) = (paid[0], paid[1]);
        Ended { terminated: end != 0, truncated: false }
    }
}
