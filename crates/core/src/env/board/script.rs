//! Players of board games as programs. They see what their agent sees: its own pieces, the opponent's, the mask.
//!
//! Whatever a program holds for equally good it draws from evenly.

use super::rules::{Position, Rules, each};
use super::search;
use crate::env::script::{Foreseen, Program, Script, Turn};

/// The scripts that suit a board.
pub const SCRIPTS: [Script; 7] = [
    Script::Uniform,
    Script::WinElseRandom,
    Script::OnePly,
    Script::Negamax2,
    Script::Negamax4,
    Script::Negamax6,
    Script::Negamax8,
];

/// A script as a player of this game; `None` where it does not suit it.
pub fn player(rules: Rules, script: Script) -> Option<Player> {
    let plan = match script {
        Script::WinElseRandom => Plan::Win,
        Script::OnePly => Plan::WinElseBlock,
        Script::Negamax2 => Plan::LookAhead(2),
        Script::Negamax4 => Plan::LookAhead(4),
        Script::Negamax6 => Plan::LookAhead(6),
        Script::Negamax8 => Plan::LookAhead(8),
        _ => return None,
    };
    Some(Player { rules, plan })
}

/// A player.
#[derive(Clone, Copy, Debug)]
pub struct Player {
    rules: Rules,
    plan: Plan,
}

#[derive(Clone, Copy, Debug)]
enum Plan {
    /// Completes a line where it can.
    Win,
    /// The same; else takes a cell with which the opponent would complete one.
    WinElseBlock,
    /// Takes what is best within so many plies.
    LookAhead(u32),
}

impl Player {
    /// The cells that are as good as any.
    fn best(&self, position: Position) -> u64 {
        let Self { rules, plan } = self;
        let taken = position.taken();
        let open = rules.open(taken);
        let first_of = |sets: [u64; 2]| sets.into_iter().find(|&cells| cells != 0).unwrap_or(open);
        let wins = rules.completing(position.own, taken) & open;
        match plan {
            Plan::Win => first_of([wins, open]),
            Plan::WinElseBlock => first_of([wins, rules.completing(position.other, taken) & open]),
            Plan::LookAhead(depth) => search::best(rules, position, *depth),
        }
    }

    fn position(&self, obs: &[f32]) -> Position {
        let mut position = Position::default();
        for (cell, planes) in (0..).zip(obs.chunks_exact(2)) {
            position.own |= u64::from(planes[0] != 0.0) << self.rules.bit(cell);
            position.other |= u64::from(planes[1] != 0.0) << self.rules.bit(cell);
        }
        position
    }
}

impl Program for Player {
    fn act(&self, obs: &[f32], legal: &[u32], turn: &Turn) -> u32 {
        let mut allowed = (0..legal.len() as u32).filter(|&action| legal[action as usize] != 0);
        match (allowed.next(), allowed.next()) {
            // Waiting, or no choice: nothing to think about.
            (None, _) => 0,
            (Some(only), None) => only,
            _ => {
                let best = self.best(self.position(obs));
                let drawn = turn.below(0, best.count_ones());
                let cell = each(best).nth(drawn as usize).expect("the draw is below the number of cells");
                self.rules.action(cell)
            }
        }
    }

    fn foresees(&self, obs: &[f32], legal: &[u32]) -> Vec<Option<Foreseen>> {
        let depth = match self.plan {
            Plan::Win => 1,
            Plan::WinElseBlock => 2,
            Plan::LookAhead(depth) => depth,
        };
        let mut foreseen = search::foresee(&self.rules, self.position(obs), depth);
        for (seen, _) in foreseen.iter_mut().zip(legal).filter(|(_, legal)| **legal == 0) {
            *seen = None;
        }
        foreseen
    }
}
