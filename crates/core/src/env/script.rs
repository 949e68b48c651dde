//! Scripts: programs that act without learning, on what an agent itself sees. The one list of them.
//!
//! A world writes its programs ([`Env::program`](super::api::Env::program)); a script that it has no program for does
//! not suit it. Whoever plays by a script draws from a stream of its own, so no other draw moves.

use serde::{Deserialize, Serialize};

use crate::base::rng::{Draws, Stream, below, uniform};

/// Which script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Script {
    /// Uniform over the legal actions; suits every world.
    #[default]
    Uniform,
    /// Does nothing, where a world has an action for that.
    Idle,
    /// The course's *independent* agents: each for itself, half-competent.
    Independent,
    /// The course's MADDPG-style team: policies improved against a joint value.
    MaddpgStyle,
    /// The course's QMIX-style team: own utilities, joined monotonically.
    QmixStyle,
    /// The course's MAPPO-style team: softmax over a central advantage.
    MappoStyle,
    /// Each to the landmark nearest to it.
    Nearest,
    /// Each to its own landmark of the cheapest assignment, coming to rest there.
    Hungarian,
    /// The same, as near as it gets two env steps from now.
    HungarianGreedy,
    /// The world's own hand-written player.
    Expert,
    /// Wins a board game where it can on this move, else moves at random.
    WinElseRandom,
    /// Wins on this move, else blocks what would win on the next, else moves at random.
    OnePly,
    /// Looks two plies ahead.
    Negamax2,
    /// Looks four plies ahead.
    Negamax4,
    /// Looks six plies ahead.
    Negamax6,
    /// Looks eight plies ahead.
    Negamax8,
}

/// What is known of a script.
#[derive(Clone, Copy, Debug)]
pub struct ScriptInfo {
    /// Which.
    pub script: Script,
    /// Id in links and text ids; permanent.
    pub id: &'static str,
    /// Whether it is one of the course's teams, which are compared with one another.
    pub is_team: bool,
}

/// Every script, in menu order.
pub const SCRIPTS: [ScriptInfo; 16] = [
    ScriptInfo { script: Script::Uniform, id: "uniform", is_team: false },
    ScriptInfo { script: Script::Idle, id: "idle", is_team: false },
    ScriptInfo { script: Script::Independent, id: "independent", is_team: true },
    ScriptInfo { script: Script::MaddpgStyle, id: "maddpg_style", is_team: true },
    ScriptInfo { script: Script::QmixStyle, id: "qmix_style", is_team: true },
    ScriptInfo { script: Script::MappoStyle, id: "mappo_style", is_team: true },
    ScriptInfo { script: Script::Nearest, id: "nearest", is_team: false },
    ScriptInfo { script: Script::Hungarian, id: "hungarian", is_team: false },
    ScriptInfo { script: Script::HungarianGreedy, id: "hungarian_greedy", is_team: false },
    ScriptInfo { script: Script::Expert, id: "expert", is_team: false },
    ScriptInfo { script: Script::WinElseRandom, id: "win_else_random", is_team: false },
    ScriptInfo { script: Script::OnePly, id: "one_ply", is_team: false },
    ScriptInfo { script: Script::Negamax2, id: "negamax2", is_team: false },
    ScriptInfo { script: Script::Negamax4, id: "negamax4", is_team: false },
    ScriptInfo { script: Script::Negamax6, id: "negamax6", is_team: false },
    ScriptInfo { script: Script::Negamax8, id: "negamax8", is_team: false },
];

impl Script {
    /// All, in menu order.
    pub const ALL: [Self; SCRIPTS.len()] = {
        let mut all = [Self::Uniform; SCRIPTS.len()];
        let mut i = 0;
        while i < all.len() {
            all[i] = SCRIPTS[i].script;
            i += 1;
        }
        all
    };

    /// Its entry in the list.
    pub fn info(self) -> &'static ScriptInfo {
        SCRIPTS.iter().find(|info| info.script == self).expect("every script is listed")
    }

    /// Whether it looks ahead, so that it has something to say of every move ([`Program::foresees`]).
    pub fn looks_ahead(self) -> bool {
        matches!(
            self,
            Self::WinElseRandom | Self::OnePly | Self::Negamax2 | Self::Negamax4 | Self::Negamax6 | Self::Negamax8
        )
    }

    /// The script with that id.
    pub fn of_id(id: &str) -> Option<Self> {
        SCRIPTS.iter().find(|info| info.id == id).map(|info| info.script)
    }
}

/// An agent's turn: who it is, when, and its draws.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// The seat's stream.
    pub stream: Stream,
    /// Environment, episode and env step.
    pub at: [u32; 3],
    /// The agent.
    pub agent: u32,
}

impl Turn {
    /// Number in [0, 1) of draw `draw`.
    pub fn uniform(&self, draw: u32) -> f32 {
        uniform(self.draws(self.at[2]).words(self.agent, draw)[0])
    }

    /// Integer below `n` of draw `draw`.
    pub fn below(&self, draw: u32, n: u32) -> u32 {
        self.draws(self.at[2]).below(self.agent, draw, n)
    }

    /// Integer below `n` that stays the same for `period` env steps and is then drawn anew.
    pub fn lasting(&self, draw: u32, n: u32, period: u32) -> u32 {
        let began = self.at[2] / period * period;
        below(self.draws(began).words(self.agent, draw)[0], n)
    }

    fn draws(&self, step: u32) -> Draws {
        self.stream.env(self.at[0], self.at[1], step)
    }
}

/// A script as a world runs it. It sees one agent's observation and nothing else of the world's state.
pub trait Program: std::fmt::Debug + Send + Sync {
    /// The action of an agent that observes `obs` `[obs_len]` and may do what `legal` `[|A|]` allows.
    fn act(&self, obs: &[f32], legal: &[u32], turn: &Turn) -> u32;

    /// Whether chance has a part in it, so that one episode is a sample of many.
    fn draws(&self) -> bool {
        true
    }

    /// What it sees coming behind each action `[|A|]`, `None` where the action is illegal; empty for a program that does
    /// not look ahead.
    fn foresees(&self, obs: &[f32], legal: &[u32]) -> Vec<Option<Foreseen>> {
        let _ = (obs, legal);
        Vec::new()
    }
}

/// What a program that looks ahead sees behind an action, both sides playing as well as it can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Foreseen {
    /// It wins on the ply of that number, its own action being the first.
    Win {
        /// The ply.
        plies: u32,
    },
    /// It loses on the ply of that number.
    Loss {
        /// The ply.
        plies: u32,
    },
    /// Neither, as far as it sees.
    Nothing,
}

/// [`Script::Uniform`], in every world. An agent without a legal action gets 0, which the world ignores.
#[derive(Clone, Copy, Debug)]
pub struct Uniform;

impl Program for Uniform {
    fn act(&self, _obs: &[f32], legal: &[u32], turn: &Turn) -> u32 {
        let allowed = || (0..legal.len() as u32).filter(|&action| legal[action as usize] != 0);
        match allowed().count() as u32 {
            0 => 0,
            count => allowed().nth(turn.below(0, count) as usize).expect("the draw is below the number of actions"),
        }
    }
}

/// [`Script::Idle`], in worlds with an action that does nothing.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// That action.
    pub action: u32,
}

impl Program for Idle {
    fn act(&self, _obs: &[f32], _legal: &[u32], _turn: &Turn) -> u32 {
        self.action
    }

    fn draws(&self) -> bool {
        false
    }
}
