//! A picture of a world as data: what the page paints on the stage.
//!
//! It goes to the page as it is, so it has serde. Worlds of one look share a variant.

use serde::{Deserialize, Serialize};

/// A picture of a world as data, painted by the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Frame {
    /// A grid with agents and what they are after.
    Grid {
        /// Cells in a row.
        width: u32,
        /// Rows; row 0 is drawn on top.
        height: u32,
        /// `[height·width]`, row-major: whether a cell is a wall.
        walls: Vec<bool>,
        /// Cell of each agent, row-major index.
        agents: Vec<u32>,
        /// Level of each agent; empty where agents have none.
        levels: Vec<u32>,
        /// What they are after and have not got yet.
        things: Vec<Thing>,
        /// Sight radius in cells (Chebyshev), `None` when unlimited.
        sight: Option<u32>,
        /// Agents that got something in the last env step.
        arrived: Vec<bool>,
    },
    /// A board on which two players place pieces.
    Board {
        /// Rows, row 0 on top.
        rows: u32,
        /// Columns.
        columns: u32,
        /// `[rows·columns]`, row-major: 0 empty, 1 the first player's piece, 2 the second's.
        cells: Vec<u8>,
        /// Whether a move is a column in which the piece falls, rather than a cell.
        drops: bool,
        /// Who is to move; nobody once the game is over.
        to_move: Option<u32>,
        /// Cell of the last piece.
        last: Option<u32>,
        /// Cells of every line that wins.
        lines: Vec<Vec<u32>>,
        /// How the game ended, if it has.
        outcome: Option<Outcome>,
    },
    /// Discs in the plane.
    Particles {
        /// Every agent.
        agents: Vec<Particle>,
        /// Every landmark.
        landmarks: Vec<Particle>,
        /// Agent and landmark whose distance is paid for.
        pairs: Vec<(u32, u32)>,
        /// Pairs of agents in contact.
        touching: Vec<(u32, u32)>,
        /// What each agent said last; empty where nobody speaks.
        words: Vec<Option<u32>>,
    },
    /// One stage of a matrix game or of a tree of them.
    Matrix {
        /// `[rows, columns]` payoffs of both agents at the state shown: (agent 1, agent 2).
        payoffs: Vec<(f32, f32)>,
        /// Actions of agent 1.
        rows: u32,
        /// Actions of agent 2.
        columns: u32,
        /// The joint action just played, if any.
        played: Option<(u32, u32)>,
        /// Which state of the game is shown (0 for one-state games; the two-step game has 0, 1 = 2A, 2 = 2B).
        stage: u32,
        /// Names of the stages, one per state of the game.
        stages: Vec<String>,
        /// How often the game is repeated and which repetition comes next (1-based).
        repetition: (u32, u32),
    },
}

/// What agents of a grid are after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thing {
    /// What it is.
    pub kind: ThingKind,
    /// Its number: the same thing has the same one from env step to env step.
    pub id: u32,
    /// Its cell, row-major index.
    pub cell: u32,
    /// Its level; 0 where it has none.
    pub level: u32,
}

/// See [`Thing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThingKind {
    /// Taken by standing on it.
    Pellet,
    /// Loaded by agents beside it whose levels suffice together.
    Food,
    /// Moves, and is caught when surrounded.
    Evader,
}

/// How a board game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// This player has a line.
    Won(u32),
    /// The board is full.
    Drawn,
    /// This player made an illegal move.
    Illegal(u32),
}

/// A disc in the plane, lengths in the world's unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Particle {
    /// Centre.
    pub at: [f32; 2],
    /// Velocity, lengths per unit of time.
    pub velocity: [f32; 2],
    /// Radius.
    pub radius: f32,
    /// Whether it pushes what it touches.
    pub collides: bool,
    /// Whether it is a landmark that somebody is to reach.
    pub is_goal: bool,
    /// A colour that is part of the rules (red, green, blue from 0 to 1), where it has one.
    pub tint: Option<[f32; 3]>,
}
