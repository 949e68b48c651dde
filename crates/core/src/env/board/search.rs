//! Looking ahead a few plies: negamax with alpha-beta over wins and losses alone.
//!
//! What the horizon hides is worth 0, a win is worth more the sooner it comes, a loss less. No table and no knowledge
//! of good squares, so what a depth means is plain. Values are exact at the root, also of moves that are not the best
//! ([`foresee`]) or only as good ([`best`]).

use super::rules::{Position, Rules, each};
use crate::env::script::Foreseen;

/// All best moves at this depth in plies (at least 1), as cells.
pub fn best(rules: &Rules, position: Position, depth: u32) -> u64 {
    let depth = depth as i32;
    let (mut best, mut cells) = (-depth, 0);
    for cell in outward(rules, rules.open(position.taken())) {
        // A value equal to the best must be known exactly, anything less need not be.
        let value = after(rules, position, cell, depth, best - 1, depth);
        if value > best {
            (best, cells) = (value, 0);
        }
        if value == best {
            cells |= cell;
        }
    }
    cells
}

/// What lies behind each move `[|A|]` within `depth` plies; `None` where the move is illegal.
pub fn foresee(rules: &Rules, position: Position, depth: u32) -> Vec<Option<Foreseen>> {
    let value = |action| {
        let cell = rules.placed(position.taken(), action);
        (cell != 0).then(|| after(rules, position, cell, depth as i32, -(depth as i32), depth as i32))
    };
    let told = |value: i32| match value {
        0 => Foreseen::Nothing,
        _ if value > 0 => Foreseen::Win { plies: depth + 1 - value.unsigned_abs() },
        _ => Foreseen::Loss { plies: depth + 1 - value.unsigned_abs() },
    };
    (0..rules.actions()).map(|action| value(action).map(told)).collect()
}

/// Value of placing a piece on `cell` with `depth` plies to look at, this one included; exact inside (alpha, beta).
fn after(rules: &Rules, position: Position, cell: u64, depth: i32, alpha: i32, beta: i32) -> i32 {
    if rules.completing(position.own, position.taken()) & cell != 0 {
        return depth;
    }
    -negamax(rules, position.after(cell), depth - 1, -beta, -alpha)
}

/// A win on the ply with d plies left is worth d, so a win n plies from the root is worth depth + 1 − n.
fn negamax(rules: &Rules, position: Position, depth: i32, alpha: i32, beta: i32) -> i32 {
    let taken = position.taken();
    let open = rules.open(taken);
    if depth == 0 || open == 0 {
        return 0;
    }
    if rules.completing(position.own, taken) & open != 0 {
        return depth;
    }
    if depth == 1 {
        return 0;
    }
    // Not now, so a win is two plies off at best, and a loss comes on the next ply at worst.
    let (mut alpha, beta) = (alpha.max(1 - depth), beta.min(depth - 2));
    if alpha >= beta {
        return alpha;
    }
    let threats = rules.completing(position.other, taken) & open;
    if threats.count_ones() > 1 {
        return 1 - depth;
    }
    for cell in outward(rules, if threats == 0 { open } else { threats }) {
        let value = -negamax(rules, position.after(cell), depth - 1, -beta, -alpha);
        if value >= beta {
            return value;
        }
        alpha = alpha.max(value);
    }
    alpha
}

/// Cells in the order in which they are searched: central columns first, where most lines go through.
fn outward(rules: &Rules, cells: u64) -> impl Iterator<Item = u64> {
    let (rules, middle) = (*rules, rules.columns / 2);
    (0..rules.columns).flat_map(move |k| {
        let column = if k % 2 == 0 { middle + k / 2 } else { middle - k.div_ceil(2) };
        each(cells & rules.column(column))
    })
}
