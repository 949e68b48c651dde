//! What an environment is: immutable rules ([`Env`]) acting on a plain state ([`EnvState`]).
//!
//! Rules hold no mutable state and the state holds no rules, so a batch is two flat arrays, a copy of a world is a
//! copy of numbers, and a checkpoint or a shader sees the same words. Validation happens in constructors: once a
//! rule object exists, nothing here can fail.

use crate::base::float::Real;
use crate::base::lanes::{LANES, Lanes, Number};
use crate::base::rng::Draws;
use crate::base::wgsl::Constant;
pub use crate::env::frame::{Frame, Outcome, Particle, Thing, ThingKind};
use crate::env::script::{Program, Script, Uniform};

/// Longest segment in replay, env steps.
pub const LONGEST_SEGMENT: u32 = 128;

/// Most agents an environment may have.
pub const MAX_AGENTS: usize = 16;
/// Most parts a reward may have.
pub const MAX_PARTS: usize = 8;

/// What the rest of the program needs to know about an environment, fixed for its life.
#[derive(Clone, Debug, PartialEq)]
pub struct EnvInfo {
    /// Number of agents, n.
    pub num_agents: u32,
    /// Number of actions, |A|: the most of any role. What an agent lacks or may not do now is masked.
    pub num_actions: u32,
    /// Length of an observation vector: the longest of any role, zeros behind a shorter one.
    pub obs_len: u32,
    /// Length of the global state vector.
    pub state_len: u32,
    /// The kinds of agents, see [`EnvInfo::role`].
    pub roles: Vec<Role>,
    /// Each agent's kind, an index of `roles` `[n]`.
    pub role_of: Vec<u32>,
    /// Text id of each of the reward's parts (`part.team`); [`StepOut::parts`] has one row of these per agent.
    pub part_names: Vec<String>,
    /// Weight of each part in an agent's reward, see [`weighted`].
    pub part_weights: Vec<f64>,
    /// The two parts that α mixes, where there are such: their weights are α and 1 − α, see [`remixed`].
    pub mix: Option<Mix>,
    /// The action that does nothing and so counts as no move, where there is one.
    pub idle_action: Option<u32>,
    /// Longest possible episode in env steps (the time limit, or the game's own length).
    pub max_steps: u32,
    /// Whether every episode has exactly `max_steps` env steps (then replay keeps whole episodes).
    pub fixed_length: bool,
    /// Whether all agents always get the same reward.
    pub common_reward: bool,
    /// Whether there is one reward of the team, as VDN and QMIX require: a common reward, or one that is common but
    /// for each agent's own costs, which are then summed. See [`Env::team_reward`].
    pub team_reward: bool,
    /// Whether one agent moves in each env step, see [`Env::to_move`]; else all move at once.
    pub in_turns: bool,
    /// Whether what an agent may do is always the same.
    pub fixed_mask: bool,
    /// Whether every observation determines the state (then the page says so: nothing is partially observed).
    pub obs_determines_state: bool,
    /// The headline measure of an episode.
    pub headline: Headline,
    /// How many start states an evaluation enumerates; 0 where starts are drawn.
    pub enumerated_starts: u32,
    /// Words of integer state and numbers of real state one world takes.
    pub ints: u32,
    /// See `ints`.
    pub reals: u32,
    /// Rises with every change of the rules.
    pub revision: u32,
}

impl EnvInfo {
    /// What `agent` shares with its kind.
    pub fn role(&self, agent: u32) -> &Role {
        &self.roles[self.role_of[agent as usize] as usize]
    }

    /// Whether the world goes on while nobody acts, so that a person's hands rest on the keys: discs in the plane. There
    /// every role's first action is the quiet one. Other worlds wait for each move.
    pub fn flows(&self) -> bool {
        self.reals > 0
    }

    /// Env steps of one segment in replay: a whole episode where all have one length that a rollout can hold, else 1.
    pub fn segment_steps(&self) -> u32 {
        if self.fixed_length && self.max_steps <= LONGEST_SEGMENT { self.max_steps } else { 1 }
    }
}

/// A name with numbers in it: the words are the text table's.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Label {
    /// Text id (`obs.pellet.dx`).
    pub id: String,
    /// Arguments, by position.
    pub args: Vec<i32>,
    /// Where the first argument counts other agents from 1: in which order. Who that is depends on who observes.
    pub others: Option<Others>,
}

/// In which order an observation lists the agents other than its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Others {
    /// By number, the observer left out.
    Ascending,
    /// Around the ring: the one after the observer first.
    Around,
}

impl Label {
    /// The name `id` with `args`.
    pub fn new(id: &str, args: &[i32]) -> Self {
        Self { id: id.to_owned(), args: args.to_vec(), others: None }
    }

    /// The same, its first argument being a place among other agents.
    pub fn of_other(id: &str, args: &[i32], order: Others) -> Self {
        Self { others: Some(order), ..Self::new(id, args) }
    }

    /// The name as `agent` of `n` reads it: another agent goes by its own number.
    #[must_use]
    pub fn seen_by(&self, agent: u32, n: u32) -> Self {
        let (own, n) = (agent as i32, n as i32);
        let mut args = self.args.clone();
        if let (Some(order), Some(place)) = (self.others, args.first_mut()) {
            *place = match order {
                Others::Ascending => *place + i32::from(*place > own),
                Others::Around => (own + *place) % n + 1,
            };
        }
        Self { id: self.id.clone(), args, others: None }
    }
}

/// What agents of one kind have in common.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Role {
    /// Text id of the kind's name (`role.agent`).
    pub id: String,
    /// A name for each of its actions, at most |A|.
    pub actions: Vec<Label>,
    /// A name for every index of its observation vector, at most the longest of any role.
    pub obs: Vec<Label>,
}

impl Role {
    /// Agents that are all alike, whose actions' names have no numbers in them.
    pub fn agent(actions: &[&str], obs: Vec<Label>) -> Self {
        Self { id: "role.agent".to_owned(), actions: actions.iter().map(|id| Label::new(id, &[])).collect(), obs }
    }
}

/// Indices of the two parts whose weights are α and 1 − α.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Mix {
    /// The part weighted by α.
    pub team: u32,
    /// The part weighted by 1 − α.
    pub own: u32,
    /// Whether the world's own name for the mix is the weight of `own` (`local_ratio`) rather than α.
    pub names_own: bool,
}

/// An agent's reward: Σ_k w_k · part_k, summed in the order of the parts.
#[inline(always)]
pub fn weighted<W: Real, N: Number>(weights: &[W], parts: &[N]) -> N {
    weights.iter().zip(parts).fold(N::of(0.0), |sum, (&weight, &part)| sum + N::of(weight.to_f64()) * part)
}

/// The weights of the same parts at another α: what the rules would have paid for the same play. At the rules' own α
/// they are the rules' own, whatever rounding 1 − α would add.
#[must_use]
pub fn remixed<R: Real>(weights: &[R], mix: Mix, alpha: R) -> Vec<R> {
    let mut weights = weights.to_vec();
    if alpha != weights[mix.team as usize] {
        weights[mix.team as usize] = alpha;
        weights[mix.own as usize] = R::ONE - alpha;
    }
    weights
}

/// The measure an environment is judged by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Headline {
    /// Env steps until the episode's end (an unfinished episode counts the time limit); lower is better.
    #[default]
    Steps,
    /// Mean undiscounted return of some agents, of the team where the reward is common; higher is better.
    Mean {
        /// The first of them.
        first: u32,
        /// How many, from 1.
        count: u32,
    },
    /// Sum of all agents' undiscounted returns; higher is better.
    Sum,
}

impl Headline {
    /// Whether smaller numbers are better.
    pub fn lower_is_better(self) -> bool {
        matches!(self, Self::Steps)
    }
}

/// The best headline value an environment admits, found by search: a number to draw beside a curve, never typed in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Optimum {
    /// In the headline's unit, mean over `starts`.
    pub value: f64,
    /// How many start states were searched.
    pub starts: u32,
    /// Whether these are all start states, weighted as the environment draws them; else they are a fixed sample.
    pub exact: bool,
    /// Whether the agents see less than the search did, so that they may be unable to reach this value.
    pub full_information: bool,
}

/// One world's state: integers and reals, meaning defined by its rules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnvState {
    /// Cells, flags, counters.
    pub ints: Vec<i32>,
    /// Positions, velocities.
    pub reals: Vec<f64>,
}

/// A world's state inside a batch.
#[derive(Debug)]
pub struct StateMut<'a> {
    /// See [`EnvState::ints`].
    pub ints: &'a mut [i32],
    /// See [`EnvState::reals`].
    pub reals: &'a mut [f64],
}

/// A world's state inside a batch, to read.
#[derive(Clone, Copy, Debug)]
pub struct StateRef<'a> {
    /// See [`EnvState::ints`].
    pub ints: &'a [i32],
    /// See [`EnvState::reals`].
    pub reals: &'a [f64],
}

impl EnvState {
    /// Zeros of the size `info` asks for.
    pub fn new(info: &EnvInfo) -> Self {
        Self { ints: vec![0; info.ints as usize], reals: vec![0.0; info.reals as usize] }
    }

    /// To read.
    pub fn view(&self) -> StateRef<'_> {
        StateRef { ints: &self.ints, reals: &self.reals }
    }

    /// To change.
    pub fn view_mut(&mut self) -> StateMut<'_> {
        StateMut { ints: &mut self.ints, reals: &mut self.reals }
    }
}

impl StateMut<'_> {
    /// To read.
    pub fn view(&self) -> StateRef<'_> {
        StateRef { ints: self.ints, reals: self.reals }
    }
}

/// What one env step gives. Buffers are the caller's, so that stepping allocates nothing.
#[derive(Debug)]
pub struct StepOut<'a> {
    /// Reward of each agent, `[n]`.
    pub rewards: &'a mut [f64],
    /// Raw reward parts of each agent, `[n, parts]`; weighted by [`EnvInfo::part_weights`] a row sums to the agent's
    /// reward.
    pub parts: &'a mut [f64],
}

/// [`LANES`] worlds whose states lie one after the other, for [`Env::step_tile`].
#[derive(Debug)]
pub struct Tile<'a> {
    /// Integer states `[LANES, ints]`.
    pub ints: &'a mut [i32],
    /// Real states `[LANES, reals]`.
    pub reals: &'a mut [f64],
    /// Joint actions `[LANES, n]`, each below |A|.
    pub actions: &'a [u32],
    /// Rewards of each agent `[n]`, a world in each lane.
    pub rewards: &'a mut [Lanes<f64>],
    /// Raw reward parts of each agent `[n, parts]`, a world in each lane.
    pub parts: &'a mut [Lanes<f64>],
    /// Observations after the env step `[LANES, n, obs_stride]`, of which numbers beyond `obs_len` are left alone.
    pub obs: &'a mut [f32],
    /// See `obs`.
    pub obs_stride: usize,
    /// How each env step ended.
    pub ended: &'a mut [Ended; LANES],
}

/// How an env step ended. `terminated` and `truncated` may not both be true; bootstrapping looks at `terminated` only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// The world itself ended: there is no future value.
    pub terminated: bool,
    /// The time limit cut the episode: the future has value, we just do not look.
    pub truncated: bool,
}

impl Ended {
    /// Whether the episode is over, for either reason.
    pub fn any(self) -> bool {
        self.terminated || self.truncated
    }
}

/// Rules in WGSL, behind `marl/wgsl/world.wgsl`: functions `reset_world`, `step_world`, `observe_agent`, `state_vector` and
/// `legal_actions`.
#[derive(Clone, Debug)]
pub struct WgslRules {
    /// The text.
    pub source: &'static str,
    /// What it is told of this world.
    pub constants: Vec<(&'static str, Constant)>,
}

/// The rules of a world. An env step takes an action of every agent; where they move in turns, only the mover's counts.
pub trait Env: std::fmt::Debug + Send + Sync {
    /// Fixed facts.
    fn info(&self) -> &EnvInfo;

    /// Puts `state` at the start of an episode; `draws` are those of step 0.
    fn reset(&self, state: StateMut<'_>, draws: &Draws);

    /// Puts `state` at enumerated start number `start` (below `enumerated_starts`). Returns whether the episode is
    /// already over there (a pellet on an agent's cell counts 0 steps).
    fn reset_to(&self, state: StateMut<'_>, start: u32) -> bool;

    /// One env step. `actions` is `[n]`, each below |A|; an illegal action is treated as the environment documents.
    fn step(&self, state: StateMut<'_>, actions: &[u32], draws: &Draws, out: &mut StepOut<'_>) -> Ended;

    /// One env step of [`LANES`] worlds together, and what their agents then observe: the bits of [`Env::step`] and
    /// [`Env::observe`] in each. False, and nothing done, where these rules have no such way.
    fn step_tile(&self, tile: &mut Tile<'_>) -> bool {
        let _ = tile;
        false
    }

    /// Observation of `agent` into `obs` `[obs_len]`.
    fn observe(&self, state: StateRef<'_>, agent: u32, obs: &mut [f32]);

    /// Global state vector into `out` `[state_len]`.
    fn state(&self, state: StateRef<'_>, out: &mut [f32]);

    /// Whether the global state is the agents' observations one after the other, each as long as its role's: then nobody
    /// need compute it.
    fn state_is_observations(&self) -> bool {
        false
    }

    /// Legal actions of `agent` into `mask` `[|A|]`, 1 legal, 0 not: none for an agent that is not to move.
    fn legal(&self, state: StateRef<'_>, agent: u32, mask: &mut [u32]);

    /// The agent to move where they move in turns ([`EnvInfo::in_turns`]) and the game is not over.
    fn to_move(&self, state: StateRef<'_>) -> Option<u32> {
        let _ = state;
        None
    }

    /// Env steps taken in this episode.
    fn step_count(&self, state: StateRef<'_>) -> u32;

    /// What the stage draws.
    fn frame(&self, state: StateRef<'_>) -> Frame;

    /// The same world with `agent` standing at grid cell `cell`, everything else as now; `None` where that makes no
    /// sense (no grid, a wall, or the episode would be over there).
    fn standing_at(&self, state: StateRef<'_>, agent: u32, cell: u32) -> Option<EnvState>;

    /// The team's reward of an env step from what [`Env::step`] gave; `None` where the game has no such reward
    /// ([`EnvInfo::team_reward`]).
    fn team_reward(&self, out: &StepOut<'_>) -> Option<f64> {
        self.info().common_reward.then(|| out.rewards[0])
    }

    /// These rules turn by turn, where agents move one after the other.
    fn sequential(&self) -> Option<&dyn Sequential> {
        None
    }

    /// The scripts that suit this world.
    fn scripts(&self) -> &'static [Script] {
        &[Script::Uniform]
    }

    /// A script as a program of this world; `None` where it does not suit it.
    fn program(&self, script: Script) -> Option<Box<dyn Program>> {
        (script == Script::Uniform).then(|| Box::new(Uniform) as Box<dyn Program>)
    }

    /// The best headline value, by search; `None` where it is unknown or would be a return that the agents
    /// do not share. It may take milliseconds: ask once.
    fn optimum(&self) -> Option<Optimum> {
        None
    }

    /// These rules as a device runs them, if it can.
    fn wgsl(&self) -> Option<WgslRules> {
        None
    }

    /// Exact optimal joint Q-values of the team at `state`, `[|A|^n]`, the first agent's action slowest, NaN where a
    /// joint action is illegal; `None` where they are unknown.
    fn exact_q(&self, state: StateRef<'_>, gamma: f32) -> Option<Vec<f32>> {
        let _ = (state, gamma);
        None
    }
}

/// Rules whose agents move one after the other: a turn is an env step (board games), or an env step is a turn of every
/// agent in order, each of which moves the world and pays (pursuit).
pub trait Sequential: Env {
    /// The turn of `agent`: moves the world, and pays all agents into `rewards` `[n]`.
    fn turn(&self, state: StateMut<'_>, agent: u32, action: u32, draws: &Draws, rewards: &mut [f64]) -> Ended;
}
