//! The pellet gridworld: agents on a grid look for pellets; the episode ends with the last one.
//!
//! Rules, in the order of an env step:
//! 1. All agents move at once. A move into a wall or the edge stays; agents may share a cell.
//! 2. A pellet on a cell where an agent now stands is taken. The team gets 1 for it. Whoever arrived gets 1 as its own;
//!    several who arrive at once split it evenly, or nobody gets it ([`TieRule`]). No rule looks at an agent's index.
//! 3. Reward of an agent = α·team + (1 − α)·own − move cost, the cost being paid by whoever changed its cell.
//! 4. The last pellet *terminates* the episode; else the time limit *truncates* it.
//!
//! Pellets lie on distinct cells, uniformly among those allowed, reachable from some start and free of agents.
//! The state's words: env steps, cell of each agent, cells of the pellets left (ascending, then −1), bits of the agents
//! that arrived in the last env step.

mod error;
mod lockstep;
mod map;
mod optimum;
mod rules;
mod script;
mod view;

use std::ops::RangeInclusive;

use crate::base::rng::Draws;
use crate::base::wgsl::Constant;
use crate::env::api::{
    Ended, Env, EnvInfo, EnvState, Frame, Headline, Mix, Optimum, Role, StateMut, StateRef, StepOut, Thing, ThingKind,
    Tile, WgslRules, weighted,
};
use crate::env::script::{Program, Script, Uniform};

use self::view::Sights;

pub use self::error::PelletError;
pub use self::map::{Cell, PelletMap, SIZE, StartLayout, UNREACHABLE};

/// How many agents there may be.
pub const AGENTS: RangeInclusive<u32> = 1..=8;
/// How many pellets there may be.
pub const PELLETS: RangeInclusive<u32> = 1..=8;
/// Sight radius in cells, where it is limited.
pub const SIGHT: RangeInclusive<u32> = 1..=16;
/// Env steps of an episode.
pub const TIME_LIMIT: RangeInclusive<u32> = 1..=1_000;

/// The world as the user sets it up.
#[derive(Clone, Debug, PartialEq)]
pub struct PelletSpec {
    /// Cells, walls and hand-placed starts.
    pub map: PelletMap,
    /// Number of agents.
    pub num_agents: u32,
    /// Where agents start.
    pub starts: StartLayout,
    /// Pellets of an episode.
    pub num_pellets: u32,
    /// How far an agent sees, in cells along the longer axis (Chebyshev; walls hide nothing); `None`: everything.
    pub sight: Option<u32>,
    /// What a move costs whoever makes it; staying, also at a wall, is free.
    pub move_cost: f32,
    /// Env steps until the episode is truncated.
    pub time_limit: u32,
    /// Who owns a pellet that several reach at once.
    pub tie: TieRule,
    /// Weight of the team's reward, from 0 (whoever arrives is paid: competition) to 1 (everyone is: cooperation).
    pub alpha: f32,
}

/// Who owns a pellet that several agents reach in the same env step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TieRule {
    /// Each gets an even share.
    #[default]
    Split,
    /// Nobody; the pellet is gone all the same.
    Nobody,
}

/// The rules.
#[derive(Clone, Debug)]
pub struct Pellet {
    spec: PelletSpec,
    /// `None` where they are drawn.
    starts: Option<Vec<u32>>,
    /// Cells agents walk on, ascending: where random starts fall.
    open: Vec<u32>,
    /// Cells that may hold a pellet and that some agent can reach, ascending.
    allowed: Vec<u32>,
    /// See [`rules::moves`].
    moves: Vec<i32>,
    sights: Sights,
    info: EnvInfo,
}

impl Default for PelletSpec {
    /// The course's world: 4 × 4, two agents in one corner, one pellet, full sight, one team reward.
    fn default() -> Self {
        Self {
            map: PelletMap::open(4, 4),
            num_agents: 2,
            starts: StartLayout::OneCorner,
            num_pellets: 1,
            sight: None,
            move_cost: 0.0,
            time_limit: 50,
            tie: TieRule::Split,
            alpha: 1.0,
        }
    }
}

impl PelletSpec {
    /// The rules, or why there are none.
    pub fn validate(&self) -> Result<Pellet, PelletError> {
        error::check_ranges(self)?;
        let open = self.map.open_cells();
        let Some(&first_open) = open.first() else { return Err(PelletError::OnlyWalls) };
        let starts = self.map.start_cells(self.starts, self.num_agents)?;
        let reached_from: Vec<Vec<u32>> = match &starts {
            Some(cells) => cells.iter().map(|&cell| self.map.distances(cell)).collect(),
            None => vec![self.map.distances(first_open)],
        };
        let is_reachable = |cell: u32| reached_from.iter().any(|distances| distances[cell as usize] != UNREACHABLE);
        if starts.is_none() && !open.iter().all(|&cell| is_reachable(cell)) {
            return Err(PelletError::Disconnected);
        }
        let allowed: Vec<u32> = open
            .iter()
            .copied()
            .filter(|&cell| self.map.cells[cell as usize] == Cell::Free && is_reachable(cell))
            .collect();
        let covered = match &starts {
            Some(cells) => allowed.iter().filter(|&cell| cells.contains(cell)).count() as u32,
            None => self.num_agents,
        };
        let room = (allowed.len() as u32).saturating_sub(covered);
        if room < self.num_pellets {
            return Err(PelletError::TooFewPelletCells { room, pellets: self.num_pellets });
        }
        let enumerated_starts = if starts.is_some() && self.num_pellets == 1 { allowed.len() as u32 } else { 0 };
        let info = self.info(enumerated_starts);
        let (moves, sights) = (rules::moves(&self.map), Sights::new(self));
        Ok(Pellet { spec: self.clone(), starts, open, allowed, moves, sights, info })
    }

    fn info(&self, enumerated_starts: u32) -> EnvInfo {
        let (agents, pellets, alpha) = (self.num_agents, self.num_pellets, f64::from(self.alpha));
        let obs = view::obs_names(agents, pellets);
        let alone = agents == 1;
        EnvInfo {
            num_agents: agents,
            num_actions: ACTION_NAMES.len() as u32,
            obs_len: obs.len() as u32,
            state_len: view::state_len(agents, pellets),
            roles: vec![Role::agent(&ACTION_NAMES, obs)],
            role_of: vec![0; agents as usize],
            part_names: ["part.team", "part.own", "part.move_cost"].map(str::to_owned).to_vec(),
            part_weights: vec![alpha, 1.0 - alpha, 1.0],
            // Whoever is alone is the team.
            mix: (!alone).then_some(Mix { team: TEAM as u32, own: OWN as u32, names_own: false }),
            idle_action: Some(STAY),
            max_steps: self.time_limit,
            fixed_length: false,
            common_reward: alone || (alpha == 1.0 && self.move_cost == 0.0),
            team_reward: alone || alpha == 1.0,
            in_turns: false,
            fixed_mask: true,
            obs_determines_state: self.sees_everything(),
            headline: Headline::Steps,
            enumerated_starts,
            ints: AGENTS_AT as u32 + agents + pellets + 1,
            reals: 0,
            revision: 1,
        }
    }

    /// Whether the sight radius spans the world.
    fn sees_everything(&self) -> bool {
        self.sight.is_none_or(|radius| radius + 1 >= self.map.width.max(self.map.height))
    }
}

impl Pellet {
    /// Word range of the pellets' cells.
    fn pellets_at(&self) -> std::ops::Range<usize> {
        let first = AGENTS_AT + self.spec.num_agents as usize;
        first..first + self.spec.num_pellets as usize
    }

    /// Word range of all cells, the agents' and the pellets'.
    fn things_at(&self) -> std::ops::Range<usize> {
        AGENTS_AT..self.pellets_at().end
    }

    /// Cells of the agents, as state words.
    fn agents<'a>(&self, state: StateRef<'a>) -> &'a [i32] {
        &state.ints[AGENTS_AT..][..self.spec.num_agents as usize]
    }

    /// Cells of the pellets that are left, as state words.
    fn pellets_left<'a>(&self, state: StateRef<'a>) -> &'a [i32] {
        let pellets = &state.ints[self.pellets_at()];
        let left = pellets.iter().position(|&cell| cell == GONE).unwrap_or(pellets.len());
        &pellets[..left]
    }

    /// Draws `num_pellets` distinct cells free of agents and sorts them, so that no order of drawing remains.
    fn drop_pellets(&self, ints: &mut [i32], draws: &Draws) {
        let (pellets, things) = (self.pellets_at(), self.things_at());
        ints[pellets.clone()].fill(GONE);
        for (draw, slot) in pellets.clone().enumerate() {
            let is_taken = |ints: &[i32], cell: u32| ints[things.clone()].contains(&(cell as i32));
            let free = self.allowed.iter().filter(|&&cell| !is_taken(ints, cell)).count() as u32;
            let chosen = draws.below(Draws::WORLD, draw as u32, free) as usize;
            let cell = self.allowed.iter().copied().filter(|&cell| !is_taken(ints, cell)).nth(chosen);
            ints[slot] = cell.expect("validation left a cell for every pellet") as i32;
        }
        ints[pellets].sort_unstable();
    }
}

/// A pellet on the stage. No two lie on one cell and none moves, so its cell is its number.
fn pellet(cell: u32) -> Thing {
    Thing { kind: ThingKind::Pellet, id: cell, cell, level: 0 }
}

/// Text ids of the actions: 0 stay, then the moves.
const ACTION_NAMES: [&str; 5] = ["action.stay", "action.up", "action.down", "action.left", "action.right"];
/// The action that stays.
const STAY: u32 = 0;
/// Reward part: pellets the team has taken.
const TEAM: usize = 0;
/// Reward part: pellets the agent has arrived at, shared where several have.
const OWN: usize = 1;
/// Reward part: what the move has cost, at most 0.
const MOVE_COST: usize = 2;
/// Reward parts of an agent.
const PARTS: usize = 3;
/// Word of the env steps taken.
const TIME: usize = 0;
/// First word of the agents' cells.
const AGENTS_AT: usize = 1;
/// In place of a pellet's cell once it is taken.
const GONE: i32 = -1;

impl Env for Pellet {
    fn info(&self) -> &EnvInfo {
        &self.info
    }

    fn reset(&self, state: StateMut<'_>, draws: &Draws) {
        state.ints.fill(0);
        for agent in 0..self.spec.num_agents {
            let cell = match &self.starts {
                Some(cells) => cells[agent as usize],
                None => self.open[draws.below(agent, 0, self.open.len() as u32) as usize],
            };
            state.ints[AGENTS_AT + agent as usize] = cell as i32;
        }
        self.drop_pellets(state.ints, draws);
    }

    /// Start k: the pellet on the k-th cell that it may lie on, the agents on their start cells.
    fn reset_to(&self, state: StateMut<'_>, start: u32) -> bool {
        debug_assert!(start < self.info.enumerated_starts, "start {start} is not enumerated");
        let starts = self.starts.as_deref().unwrap_or_default();
        let cell = self.allowed[start as usize];
        state.ints.fill(0);
        for (agent, &at) in starts.iter().enumerate() {
            state.ints[AGENTS_AT + agent] = at as i32;
        }
        let is_over = starts.contains(&cell);
        state.ints[self.pellets_at()].fill(if is_over { GONE } else { cell as i32 });
        is_over
    }

    /// All actions are legal; an action beyond the five stays.
    fn step(&self, state: StateMut<'_>, actions: &[u32], _draws: &Draws, out: &mut StepOut<'_>) -> Ended {
        let mut choices = [rules::choice(STAY); *AGENTS.end() as usize];
        choices.iter_mut().zip(actions).for_each(|(choice, &action)| *choice = rules::choice(action));
        self.advance(state.ints, &choices, out.rewards, out.parts);
        self.ended(state.ints)
    }

    fn step_tile(&self, tile: &mut Tile<'_>) -> bool {
        lockstep::step(self, tile);
        true
    }

    fn observe(&self, state: StateRef<'_>, agent: u32, obs: &mut [f32]) {
        view::observe(self, state, agent, obs);
    }

    fn state(&self, state: StateRef<'_>, out: &mut [f32]) {
        view::state(self, state, out);
    }

    fn legal(&self, _state: StateRef<'_>, _agent: u32, mask: &mut [u32]) {
        mask.fill(1);
    }

    fn step_count(&self, state: StateRef<'_>) -> u32 {
        state.ints[TIME] as u32
    }

    fn frame(&self, state: StateRef<'_>) -> Frame {
        let map = &self.spec.map;
        let arrived = state.ints[self.pellets_at().end];
        Frame::Grid {
            width: map.width,
            height: map.height,
            walls: map.cells.iter().map(|&cell| cell == Cell::Wall).collect(),
            agents: self.agents(state).iter().map(|&cell| cell as u32).collect(),
            levels: Vec::new(),
            things: self.pellets_left(state).iter().map(|&cell| pellet(cell as u32)).collect(),
            sight: self.spec.sight,
            arrived: (0..self.spec.num_agents).map(|agent| arrived >> agent & 1 == 1).collect(),
        }
    }

    fn standing_at(&self, state: StateRef<'_>, agent: u32, cell: u32) -> Option<EnvState> {
        let pellets = self.pellets_left(state);
        let is_possible = self.spec.map.is_open(cell) && !pellets.is_empty() && !pellets.contains(&(cell as i32));
        is_possible.then(|| {
            let mut moved = EnvState { ints: state.ints.to_vec(), reals: Vec::new() };
            moved.ints[AGENTS_AT + agent as usize] = cell as i32;
            moved
        })
    }

    /// The team's pellets plus everyone's move cost.
    fn team_reward(&self, out: &StepOut<'_>) -> Option<f64> {
        let costs: f64 = out.parts.iter().skip(MOVE_COST).step_by(PARTS).sum();
        self.info.team_reward.then(|| weighted(&self.info.part_weights[..MOVE_COST], out.parts) + costs)
    }

    fn scripts(&self) -> &'static [Script] {
        &script::SCRIPTS
    }

    fn program(&self, script: Script) -> Option<Box<dyn Program>> {
        Some(match script {
            Script::Uniform => Box::new(Uniform),
            _ if script::SCRIPTS.contains(&script) => Box::new(script::PelletProgram::new(self, script)),
            _ => return None,
        })
    }

    fn wgsl(&self) -> Option<WgslRules> {
        let words = |numbers: &[i32]| Constant::Words(numbers.iter().map(|&number| number as u32).collect());
        let flag = |holds: bool| Constant::Word(u32::from(holds));
        let weight = |part: usize| Constant::Real(self.info.part_weights[part] as f32);
        let starts = self.starts.as_ref().unwrap_or(&self.open);
        let mut constants = vec![
            ("PELLETS", Constant::Word(self.spec.num_pellets)),
            ("CELLS", Constant::Word(self.spec.map.cells.len() as u32)),
            ("MOVES", words(&self.moves)),
            ("COST", Constant::Real(self.spec.move_cost)),
            ("SPLITS_TIES", flag(self.spec.tie == TieRule::Split)),
            ("TIME_LIMIT", Constant::Word(self.spec.time_limit)),
            ("TEAM_WEIGHT", weight(TEAM)),
            ("OWN_WEIGHT", weight(OWN)),
            ("IS_COMMON", flag(self.info.common_reward)),
            ("HAS_TEAM", flag(self.info.team_reward)),
            ("STARTS_ARE_DRAWN", flag(self.starts.is_none())),
            ("STARTS", Constant::Words(starts.clone())),
            ("STARTS_LEN", Constant::Word(starts.len() as u32)),
            ("ALLOWED", Constant::Words(self.allowed.clone())),
            ("ALLOWED_LEN", Constant::Word(self.allowed.len() as u32)),
        ];
        constants.extend(self.sights.constants());
        Some(WgslRules { source: include_str!("../wgsl/pellet.wgsl"), constants })
    }

    fn optimum(&self) -> Option<Optimum> {
        Some(optimum::search(self))
    }
}
