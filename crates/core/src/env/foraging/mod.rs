//! Level-based foraging (Albrecht and Ramamoorthy 2013), move by move as in lbforaging 2.0.0 (Papoudakis et al. 2021).
//!
//! Rules, in the order of an env step:
//! 1. A move is allowed onto the field where no food lies, players notwithstanding; a load is allowed beside food. What
//!    is not allowed counts as standing still.
//! 2. A player moves if it alone has its target cell as target. So swapping works, following works, moving into a
//!    player that stands fails, and a player may end up on the cell of one whose own move failed: the reference's
//!    stacking bug, kept.
//! 3. The players that load beside one food are a team. If their levels reach the food's, it is gone and each is paid
//!    level · food, divided by (team's level · all food spawned) where rewards are normalised; else each pays the
//!    penalty.
//! 4. No food left *terminates* the episode; else the time limit *truncates* it. The reference reports both as `done`.
//!
//! The state's words: env steps, sum of the food levels spawned, bits of the players paid in the last env step, then
//! cell and level of the players, cell and level of the foods in row-major order; an eaten food has level 0, a food
//! that found no place has cell −1 as well.

mod error;
mod script;
mod spawn;
mod spec;
mod view;

use std::ops::Range;

pub use self::error::ForagingError;
pub use self::spec::{FOOD, ForagingSpec, LEVEL, PENALTY, PLAYERS, SIDE, SIGHT, TIME_LIMIT};
use crate::base::rng::Draws;
use crate::env::api::{
    Ended, Env, EnvInfo, EnvState, Frame, Headline, Role, StateMut, StateRef, StepOut, Thing, ThingKind,
};
use crate::env::range::within;
use crate::env::script::{Idle, Program, Script, Uniform};

/// The rules.
#[derive(Clone, Debug)]
pub struct Foraging {
    spec: ForagingSpec,
    info: EnvInfo,
}

/// A state as a person writes it down.
#[derive(Clone, Debug, PartialEq)]
pub struct ForagingScene {
    /// `[n]`: row, column and level of each player.
    pub players: Vec<[i64; 3]>,
    /// Row, column and level of each food.
    pub foods: Vec<[i64; 3]>,
    /// Sum of the food levels at the reset; it only scales rewards.
    pub spawned: u32,
}

/// Text ids of the actions, in the reference's order.
const ACTIONS: [&str; 6] = ["action.stay", "action.up", "action.down", "action.left", "action.right", "action.load"];
/// Stands still.
const NONE: u32 = 0;
/// Takes the food beside it, with whoever loads it in the same env step.
const LOAD: u32 = 5;
/// Reward part: food taken.
const FOOD_PART: usize = 0;
/// Reward part: loads that failed, at most 0.
const PENALTY_PART: usize = 1;
/// Reward parts of an agent.
const PARTS: usize = 2;
/// Word of the env steps taken.
const TIME: usize = 0;
/// Word of the sum of levels spawned.
const SPAWNED: usize = 1;
/// Word of the bits of the players just paid.
const PAID: usize = 2;
/// First word of the players' cells.
const FIRST: usize = 3;
/// Cell of a food that found no place.
const NOWHERE: i32 = -1;

impl ForagingSpec {
    /// The rules, or why there are none.
    pub fn validate(&self) -> Result<Foraging, ForagingError> {
        error::check(self)?;
        let alone = self.players == 1;
        let role = Role { id: "role.forager".to_owned(), ..Role::agent(&ACTIONS, view::labels(self)) };
        let info = EnvInfo {
            num_agents: self.players,
            num_actions: ACTIONS.len() as u32,
            obs_len: role.obs.len() as u32,
            state_len: view::state_len(self),
            roles: vec![role],
            role_of: vec![0; self.players as usize],
            part_names: ["part.food", "part.penalty"].map(str::to_owned).to_vec(),
            part_weights: vec![1.0; PARTS],
            mix: None,
            idle_action: Some(NONE),
            max_steps: self.time_limit,
            fixed_length: false,
            common_reward: alone,
            team_reward: true,
            obs_determines_state: view::sees_everything(self),
            in_turns: false,
            fixed_mask: false,
            headline: Headline::Sum,
            enumerated_starts: 0,
            ints: FIRST as u32 + 2 * (self.players + self.food),
            reals: 0,
            revision: 1,
        };
        Ok(Foraging { spec: self.clone(), info })
    }
}

impl Foraging {
    /// The state of a scene right after a reset.
    pub fn place(&self, scene: &ForagingScene) -> Result<EnvState, ForagingError> {
        let count = |what, given, needed: u32, fewer: bool| {
            let is_right = given == needed as usize || fewer && given < needed as usize;
            let needed = if fewer { format!("at most {needed}") } else { needed.to_string() };
            if is_right { Ok(()) } else { Err(ForagingError::Things { what, given, needed }) }
        };
        count("players", scene.players.len(), self.spec.players, false)?;
        count("foods", scene.foods.len(), self.spec.food, true)?;
        let mut state = EnvState::new(&self.info);
        let ints = &mut state.ints;
        ints[SPAWNED] = scene.spawned as i32;
        ints[self.food_cells_at()].fill(NOWHERE);
        for (food, &[row, column, level]) in scene.foods.iter().enumerate() {
            let slot = self.food_cells_at().start + food;
            let cell = self.cell(row, column).filter(|cell| !ints[self.food_cells_at()].contains(cell));
            ints[slot] = cell.ok_or(ForagingError::Place { what: format!("food {}", food + 1), row, column })?;
            ints[self.food_levels_at().start + food] = level_of(level)?;
        }
        for (player, &[row, column, level]) in scene.players.iter().enumerate() {
            // Two players may share a cell: the rules themselves can bring that about.
            let cell = self.cell(row, column).filter(|cell| !ints[self.food_cells_at()].contains(cell));
            let what = || format!("player {}", player + 1);
            ints[self.cells_at().start + player] =
                cell.ok_or_else(|| ForagingError::Place { what: what(), row, column })?;
            ints[self.levels_at().start + player] = level_of(level)?;
        }
        self.settle(ints);
        Ok(state)
    }

    /// Row, column of each player.
    pub fn players(&self, state: StateRef<'_>) -> impl Iterator<Item = (i32, i32)> {
        state.ints[self.cells_at()].iter().map(|&cell| self.place_of(cell))
    }

    /// Row, column and level of each food that is left, in row-major order.
    pub fn foods(&self, state: StateRef<'_>) -> impl Iterator<Item = [i32; 3]> {
        let levels = &state.ints[self.food_levels_at()];
        let things = state.ints[self.food_cells_at()].iter().zip(levels).filter(|&(_, &level)| level != 0);
        things.map(|(&cell, &level)| {
            let (row, column) = self.place_of(cell);
            [row, column, level]
        })
    }

    /// Word range of the players' cells.
    fn cells_at(&self) -> Range<usize> {
        FIRST..FIRST + self.spec.players as usize
    }

    /// Word range of the players' levels.
    fn levels_at(&self) -> Range<usize> {
        let first = self.cells_at().end;
        first..first + self.spec.players as usize
    }

    /// Word range of the foods' cells.
    fn food_cells_at(&self) -> Range<usize> {
        let first = self.levels_at().end;
        first..first + self.spec.food as usize
    }

    /// Word range of the foods' levels.
    fn food_levels_at(&self) -> Range<usize> {
        let first = self.food_cells_at().end;
        first..first + self.spec.food as usize
    }

    /// Brings the foods into row-major order, those without a place behind.
    fn settle(&self, ints: &mut [i32]) {
        let (cells, levels) = (self.food_cells_at(), self.food_levels_at());
        let food = self.spec.food as usize;
        let later = |cell: i32| if cell == NOWHERE { i32::MAX } else { cell };
        for end in (1..food).rev() {
            for slot in 0..end {
                if later(ints[cells.start + slot]) > later(ints[cells.start + slot + 1]) {
                    ints.swap(cells.start + slot, cells.start + slot + 1);
                    ints.swap(levels.start + slot, levels.start + slot + 1);
                }
            }
        }
    }

    fn cell(&self, row: i64, column: i64) -> Option<i32> {
        let inside =
            (0..i64::from(self.spec.rows)).contains(&row) && (0..i64::from(self.spec.columns)).contains(&column);
        inside.then(|| (row * i64::from(self.spec.columns) + column) as i32)
    }

    fn place_of(&self, cell: i32) -> (i32, i32) {
        let columns = self.spec.columns as i32;
        (cell / columns, cell % columns)
    }

    /// The cell that `action` leads to from `cell`; `None` off the field.
    fn target(&self, cell: i32, action: u32) -> Option<i32> {
        let (row, column) = self.place_of(cell);
        let (rows, columns) = match action {
            1 => (-1, 0),
            2 => (1, 0),
            3 => (0, -1),
            4 => (0, 1),
            _ => (0, 0),
        };
        self.cell(i64::from(row + rows), i64::from(column + columns))
    }

    /// Slot of the food at `cell`.
    fn food_at(&self, ints: &[i32], cell: i32) -> Option<usize> {
        let levels = &ints[self.food_levels_at()];
        ints[self.food_cells_at()].iter().zip(levels).position(|(&at, &level)| at == cell && level != 0)
    }

    /// Slot of the first food beside `cell`: above, below, left, right.
    fn food_beside(&self, ints: &[i32], cell: i32) -> Option<usize> {
        (1..LOAD).filter_map(|action| self.target(cell, action)).find_map(|beside| self.food_at(ints, beside))
    }

    fn is_legal(&self, ints: &[i32], cell: i32, action: u32) -> bool {
        match action {
            NONE => true,
            LOAD => self.food_beside(ints, cell).is_some(),
            1..LOAD => self.target(cell, action).is_some_and(|target| self.food_at(ints, target).is_none()),
            _ => false,
        }
    }

    /// All moves at once; returns the bits of the players that load.
    fn act(&self, ints: &mut [i32], actions: &[u32]) -> u32 {
        let mut targets = [0; *PLAYERS.end() as usize];
        let mut loading = 0;
        for (player, &action) in actions.iter().enumerate() {
            let at = ints[self.cells_at().start + player];
            let action = if self.is_legal(ints, at, action) { action } else { NONE };
            loading |= u32::from(action == LOAD) << player;
            targets[player] = self.target(at, action).expect("a legal move stays on the field");
        }
        let targets = &targets[..actions.len()];
        for (player, target) in targets.iter().enumerate() {
            if targets.iter().filter(|&other| other == target).count() == 1 {
                ints[self.cells_at().start + player] = *target;
            }
        }
        loading
    }

    /// Food is taken or the attempt charged: writes the parts, drops the food, sets the bits of who was paid.
    fn load(&self, ints: &mut [i32], mut loading: u32, parts: &mut [f64]) {
        parts.fill(0.0);
        ints[PAID] = 0;
        for player in 0..self.spec.players as usize {
            let at = ints[self.cells_at().start + player];
            let food = (loading >> player & 1 == 1).then(|| self.food_beside(ints, at)).flatten();
            let Some(slot) = food else { continue };
            let cell = ints[self.food_cells_at().start + slot];
            let level = ints[self.food_levels_at().start + slot];
            let (row, column) = self.place_of(cell);
            let is_beside = |member: &usize| {
                let (other_row, other_column) = self.place_of(ints[self.cells_at().start + member]);
                (other_row - row).abs() + (other_column - column).abs() == 1
            };
            let team = (0..self.spec.players as usize)
                .filter(|&member| loading >> member & 1 == 1)
                .filter(is_beside)
                .fold(0_u32, |team, member| team | 1 << member);
            let members = || (0..self.spec.players as usize).filter(|&member| team >> member & 1 == 1);
            let strength: i32 = members().map(|member| ints[self.levels_at().start + member]).sum();
            loading &= !team;
            if strength < level {
                members().for_each(|member| parts[member * PARTS + PENALTY_PART] -= self.spec.penalty);
                continue;
            }
            for member in members() {
                let reward = f64::from(ints[self.levels_at().start + member] * level);
                let scale = if self.spec.normalize_reward { f64::from(strength * ints[SPAWNED]) } else { 1.0 };
                parts[member * PARTS + FOOD_PART] = reward / scale;
            }
            ints[PAID] |= team as i32;
            ints[self.food_levels_at().start + slot] = 0;
        }
    }

    /// Whether all food is gone.
    fn is_over(&self, ints: &[i32]) -> bool {
        ints[self.food_levels_at()].iter().all(|&level| level == 0)
    }
}

fn level_of(given: i64) -> Result<i32, ForagingError> {
    within("level", given, &(i64::from(*LEVEL.start())..=i64::from(*LEVEL.end())))?;
    Ok(given as i32)
}

impl Env for Foraging {
    fn info(&self) -> &EnvInfo {
        &self.info
    }

    fn reset(&self, state: StateMut<'_>, draws: &Draws) {
        spawn::scatter(self, state.ints, draws);
    }

    fn reset_to(&self, _state: StateMut<'_>, _start: u32) -> bool {
        unreachable!("starts are drawn, none is enumerated")
    }

    /// Actions that the mask forbids stand still.
    fn step(&self, state: StateMut<'_>, actions: &[u32], _draws: &Draws, out: &mut StepOut<'_>) -> Ended {
        let ints = state.ints;
        ints[TIME] += 1;
        let loading = self.act(ints, actions);
        self.load(ints, loading, out.parts);
        for (reward, parts) in out.rewards.iter_mut().zip(out.parts.chunks_exact(PARTS)) {
            *reward = parts[FOOD_PART] + parts[PENALTY_PART];
        }
        let terminated = self.is_over(ints);
        Ended { terminated, truncated: !terminated && ints[TIME] as u32 >= self.spec.time_limit }
    }

    fn observe(&self, state: StateRef<'_>, agent: u32, obs: &mut [f32]) {
        view::observe(self, state, agent, obs);
    }

    fn state(&self, state: StateRef<'_>, out: &mut [f32]) {
        view::state(self, state, out);
    }

    fn legal(&self, state: StateRef<'_>, agent: u32, mask: &mut [u32]) {
        let cell = state.ints[self.cells_at().start + agent as usize];
        for (action, legal) in (0..).zip(mask.iter_mut()) {
            *legal = u32::from(self.is_legal(state.ints, cell, action));
        }
    }

    fn step_count(&self, state: StateRef<'_>) -> u32 {
        state.ints[TIME] as u32
    }

    fn frame(&self, state: StateRef<'_>) -> Frame {
        let ints = state.ints;
        let (width, height) = (self.spec.columns, self.spec.rows);
        let foods = ints[self.food_cells_at()].iter().zip(&ints[self.food_levels_at()]);
        let things = (0..).zip(foods).filter(|&(_, (_, &level))| level != 0).map(|(id, (&cell, &level))| Thing {
            kind: ThingKind::Food,
            id,
            cell: cell as u32,
            level: level as u32,
        });
        Frame::Grid {
            width,
            height,
            walls: vec![false; (width * height) as usize],
            agents: ints[self.cells_at()].iter().map(|&cell| cell as u32).collect(),
            levels: ints[self.levels_at()].iter().map(|&level| level as u32).collect(),
            things: things.collect(),
            sight: Some(self.spec.radius()).filter(|&radius| radius + 1 < width.max(height)),
            arrived: (0..self.spec.players).map(|player| ints[PAID] >> player & 1 == 1).collect(),
        }
    }

    fn standing_at(&self, state: StateRef<'_>, agent: u32, cell: u32) -> Option<EnvState> {
        let is_free = cell < self.spec.rows * self.spec.columns && self.food_at(state.ints, cell as i32).is_none();
        (is_free && !self.is_over(state.ints)).then(|| {
            let mut moved = EnvState { ints: state.ints.to_vec(), reals: Vec::new() };
            moved.ints[self.cells_at().start + agent as usize] = cell as i32;
            moved
        })
    }

    /// The sum of the players' rewards, as EPyMARL pays a team.
    fn team_reward(&self, out: &StepOut<'_>) -> Option<f64> {
        Some(out.rewards.iter().fold(0.0, |sum, reward| sum + reward))
    }

    fn scripts(&self) -> &'static [Script] {
        &[Script::Uniform, Script::Idle, Script::Expert]
    }

    fn program(&self, script: Script) -> Option<Box<dyn Program>> {
        Some(match script {
            Script::Uniform => Box::new(Uniform),
            Script::Idle => Box::new(Idle { action: NONE }),
            Script::Expert => Box::new(script::Forager::new(&self.spec)),
            _ => return None,
        })
    }
}
