//! Connect Four solved exactly: negamax with a transposition table, asked from both ends inwards.
//!
//! Score (Pons 2015): a win with the mover's last but k-th piece is worth k + 1, so 22 − (pieces the winner has placed),
//! negative for a loss, 0 for a draw. Windows of one point from the extremes inwards make it iterative deepening: a near
//! win or loss is found without looking at the rest of the tree. Positions of ten pieces take seconds at most, the empty
//! board far too long.

use super::rules::{CONNECT_FOUR, Position, each};

/// Entries of the table, a prime so that every bit of a key takes part: 32 MiB.
const ENTRIES: u64 = 4_194_301;
/// Most points there are; also what keeps a score positive in the table.
const MOST: i32 = 22;
/// Columns from the middle outwards.
const ORDER: [u32; 7] = [3, 4, 2, 5, 1, 6, 0];

/// A solver with what it has learned so far.
#[derive(Clone, Debug)]
pub struct Solver {
    /// Key of a position in the upper bits, in the lowest eight an upper bound of its score + [`MOST`]; 0 is empty.
    table: Vec<u64>,
    /// Positions looked at.
    pub nodes: u64,
}

impl Default for Solver {
    fn default() -> Self {
        Self { table: vec![0; ENTRIES as usize], nodes: 0 }
    }
}

impl Solver {
    /// The score of a position in which the game is not over.
    pub fn solve(&mut self, position: Position) -> i32 {
        let left = (CONNECT_FOUR.cells() - position.plies()) as i32;
        if CONNECT_FOUR.completing(position.own, position.taken()) & CONNECT_FOUR.open(position.taken()) != 0 {
            return (left + 1) / 2;
        }
        let (mut low, mut high) = (-(left / 2), (left + 1) / 2);
        while low < high {
            if self.negamax(position, high - 1, high) >= high {
                return high;
            }
            high -= 1;
            if low < high && self.negamax(position, low, low + 1) <= low {
                return low;
            }
            low = (low + 1).min(high);
        }
        low
    }

    /// Score of a position whose mover cannot win at once; a bound of it outside (alpha, beta).
    fn negamax(&mut self, position: Position, alpha: i32, beta: i32) -> i32 {
        self.nodes += 1;
        let taken = position.taken();
        let left = (CONNECT_FOUR.cells() - taken.count_ones()) as i32;
        let safe = safe_moves(position);
        if safe == 0 {
            return -(left / 2);
        }
        if left <= 2 {
            return 0;
        }
        let alpha = alpha.max(-((left - 2) / 2));
        if alpha >= beta {
            return alpha;
        }
        // The pieces and, by the carry above them, their number in every column.
        let key = position.own + taken + CONNECT_FOUR.bottom();
        let known = self.table[(key % ENTRIES) as usize];
        let most = if known >> 8 == key { (known & 0xFF) as i32 - MOST } else { (left - 1) / 2 };
        let beta = beta.min(most);
        if alpha >= beta {
            return beta;
        }
        let mut moves = [(0, 0); 7];
        let mut count = 0;
        for column in ORDER {
            let cell = safe & CONNECT_FOUR.column(column);
            if cell != 0 {
                // More threats first; equal ones stay in the order of the columns.
                let threats = CONNECT_FOUR.completing(position.own | cell, taken | cell).count_ones();
                let at = moves[..count].iter().position(|&(_, other)| other < threats).unwrap_or(count);
                moves[at..=count].rotate_right(1);
                moves[at] = (cell, threats);
                count += 1;
            }
        }
        let mut best = alpha;
        for &(cell, _) in &moves[..count] {
            let value = -self.negamax(position.after(cell), -beta, -best);
            if value >= beta {
                return value;
            }
            best = best.max(value);
        }
        self.table[(key % ENTRIES) as usize] = key << 8 | (best + MOST) as u64;
        best
    }
}

/// The moves after which the opponent cannot win at once.
fn safe_moves(position: Position) -> u64 {
    let taken = position.taken();
    let threats = CONNECT_FOUR.completing(position.other, taken);
    let mut open = CONNECT_FOUR.open(taken);
    let forced = open & threats;
    if forced != 0 {
        if each(forced).count() > 1 {
            return 0;
        }
        open = forced;
    }
    // A piece below such a cell would lift the opponent onto it.
    open & !(threats >> 1)
}
