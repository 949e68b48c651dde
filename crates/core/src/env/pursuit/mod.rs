//! Pursuit (Gupta, Egorov and Kochenderfer 2017), turn by turn as `pursuit_v5` of PettingZoo 1.27.0; `pursuit_v4` has the
//! same dynamics.
//!
//! An env step is a turn of every pursuer in order. A turn:
//! 1. The pursuer moves, unless off the map or into the building. Any number may share a cell.
//! 2. Every pursuer is paid `tag_reward` / n for each evader on its four neighbour cells. Coordinates are clipped into
//!    the map, so at its edge the own cell counts, in a corner twice.
//! 3. On the last turn evaders are caught and leave, the others move at random, whoever helped to catch gets
//!    `catch_reward` and everybody `urgency_reward`.
//! 4. With a shared reward each gets the mean instead. This is what the *turn* pays; an env step pays the sum over its
//!    turns, so that tags are paid n times.
//!
//! An evader is surrounded if the number of distinct neighbour cells with a pursuer *equals* the number of its neighbour
//! cells that could have one. The reference overlooks buildings on row and column 0, which have none.
//! No evader left *terminates*, else the time limit *truncates*; on the last env step it only truncates.
//!
//! Rewards are sums of their parts, each summed turn by turn. The reference sums whole rewards and takes numpy's
//! pairwise mean; both differ from ours by less than 1e-12.
//! The state's words: env steps, bits of the pursuers that caught in the last env step, cells of the pursuers, cells of
//! the evaders in their first order, −1 for one that is gone.

mod map;
mod script;
mod spec;
mod view;

use std::ops::Range;

pub use self::spec::{EVADERS, OBS_RANGE, PURSUERS, PursuitError, PursuitSpec, REWARD, SIDE, TIME_LIMIT};
use crate::base::rng::Draws;
use crate::env::api::{
    Ended, Env, EnvInfo, EnvState, Frame, Headline, Role, Sequential, StateMut, StateRef, StepOut, Thing, ThingKind,
    weighted,
};
use crate::env::script::{Idle, Program, Script, Uniform};

/// The rules.
#[derive(Clone, Debug)]
pub struct Pursuit {
    spec: PursuitSpec,
    walls: Vec<bool>,
    /// Cells without a building, ascending.
    open: Vec<i32>,
    info: EnvInfo,
}

/// A cell as the reference names it: x, y.
pub type Place = [i64; 2];

/// Text ids of the actions, in the reference's order.
const ACTIONS: [&str; 5] = ["action.left", "action.right", "action.down", "action.up", "action.stay"];
/// Moves of the actions.
const MOVES: [(i32, i32); 5] = [(-1, 0), (1, 0), (0, 1), (0, -1), (0, 0)];
/// Stands still.
const STAY: u32 = 4;
/// Reward part: evaders beside the pursuer.
const TAG: usize = 0;
/// Reward part: a catch it took part in.
const CATCH: usize = 1;
/// Reward part: what an env step pays.
const URGENCY: usize = 2;
/// Reward parts of an agent.
const PARTS: usize = 3;
/// Word of the env steps taken.
const TIME: usize = 0;
/// Word of the bits of the pursuers that caught in the last env step.
const CAUGHT: usize = 1;
/// First word of the pursuers' cells.
const FIRST: usize = 2;
/// Cell of an evader that is gone.
const NOWHERE: i32 = -1;

impl PursuitSpec {
    /// The rules, or why there are none.
    pub fn validate(&self) -> Result<Pursuit, PursuitError> {
        spec::check(self)?;
        let walls = map::rectangle(self.x_size, self.y_size);
        let open = (0..).zip(&walls).filter(|&(_, &wall)| !wall).map(|(cell, _)| cell).collect();
        let role = Role { id: "role.pursuer".to_owned(), ..Role::agent(&ACTIONS, view::labels(self)) };
        let info = EnvInfo {
            num_agents: self.n_pursuers,
            num_actions: ACTIONS.len() as u32,
            obs_len: role.obs.len() as u32,
            state_len: view::CHANNELS as u32 * self.x_size * self.y_size,
            roles: vec![role],
            role_of: vec![0; self.n_pursuers as usize],
            part_names: ["part.tag", "part.catch", "part.urgency"].map(str::to_owned).to_vec(),
            part_weights: vec![1.0; PARTS],
            mix: None,
            idle_action: Some(STAY),
            max_steps: self.max_cycles,
            fixed_length: false,
            common_reward: self.shared_reward || self.n_pursuers == 1,
            team_reward: self.shared_reward || self.n_pursuers == 1,
            in_turns: false,
            fixed_mask: true,
            obs_determines_state: false,
            headline: Headline::Mean { first: 0, count: self.n_pursuers },
            enumerated_starts: 0,
            ints: FIRST as u32 + self.n_pursuers + self.n_evaders,
            reals: 0,
            revision: 1,
        };
        Ok(Pursuit { spec: self.clone(), walls, open, info })
    }
}

impl Pursuit {
    /// The state right after a reset with everybody in these places.
    pub fn place(&self, pursuers: &[Place], evaders: &[Place]) -> Result<EnvState, PursuitError> {
        let mut state = EnvState::new(&self.info);
        let kinds = [
            ("n_pursuers", pursuers, self.spec.n_pursuers, self.pursuers_at()),
            ("n_evaders", evaders, self.spec.n_evaders, self.evaders_at()),
        ];
        for (name, places, needed, slots) in kinds {
            if places.len() != needed as usize {
                return Err(PursuitError::Count { name, given: places.len(), needed });
            }
            for (slot, &[x, y]) in state.ints[slots].iter_mut().zip(places) {
                let inside =
                    (0..i64::from(self.spec.x_size)).contains(&x) && (0..i64::from(self.spec.y_size)).contains(&y);
                let cell = inside.then(|| self.cell(x as i32, y as i32)).filter(|&cell| !self.walls[cell as usize]);
                *slot = cell.ok_or(PursuitError::Place { x, y })?;
            }
        }
        Ok(state)
    }

    /// `[y_size · x_size]`, row-major: whether a cell is a building.
    pub fn walls(&self) -> &[bool] {
        &self.walls
    }

    /// Where the pursuers are, as (x, y).
    pub fn pursuers(&self, state: StateRef<'_>) -> impl Iterator<Item = (i32, i32)> {
        state.ints[self.pursuers_at()].iter().map(|&cell| self.place_of(cell))
    }

    /// Where the evaders are, in their first order, `None` for one that is gone.
    pub fn evaders(&self, state: StateRef<'_>) -> impl Iterator<Item = Option<(i32, i32)>> {
        state.ints[self.evaders_at()].iter().map(|&cell| (cell != NOWHERE).then(|| self.place_of(cell)))
    }

    /// The turn of `agent`. `flee` says what evader number k does, asked in order for those that are left on the last
    /// turn, unless evaders stand still. `parts` `[n, parts]` is what the turn pays.
    pub fn turn_with(
        &self,
        state: StateMut<'_>,
        agent: u32,
        action: u32,
        flee: impl FnMut(u32) -> u32,
        parts: &mut [f64],
    ) -> Ended {
        let ints = state.ints;
        let at = FIRST + agent as usize;
        ints[at] = self.moved(ints[at], action);
        let n = self.spec.n_pursuers;
        for (pursuer, parts) in parts.chunks_exact_mut(PARTS).enumerate() {
            let tagged = f64::from(self.evaders_beside(ints, ints[FIRST + pursuer]));
            parts.copy_from_slice(&[self.spec.tag_reward * tagged / f64::from(n), 0.0, 0.0]);
        }
        if agent + 1 == n {
            self.end_of_step(ints, flee, parts);
        }
        if self.spec.shared_reward {
            for part in TAG..PARTS {
                let sum = (0..n as usize).fold(0.0, |sum, pursuer| sum + parts[pursuer * PARTS + part]);
                (0..n as usize).for_each(|pursuer| parts[pursuer * PARTS + part] = sum / f64::from(n));
            }
        }
        let truncated = ints[TIME] as u32 >= self.spec.max_cycles;
        Ended { terminated: !truncated && ints[self.evaders_at()].iter().all(|&cell| cell == NOWHERE), truncated }
    }

    /// Evaders are caught and flee.
    fn end_of_step(&self, ints: &mut [i32], mut flee: impl FnMut(u32) -> u32, parts: &mut [f64]) {
        ints[CAUGHT] = 0;
        // Everybody that is caught is caught before anybody moves or leaves: pursuers block nobody.
        for slot in self.evaders_at() {
            let catchers = if ints[slot] == NOWHERE { None } else { self.catchers(ints, ints[slot]) };
            if let Some(catchers) = catchers {
                ints[CAUGHT] |= catchers as i32;
                ints[slot] = NOWHERE;
            }
        }
        if !self.spec.freeze_evaders {
            for (evader, slot) in (0..).zip(self.evaders_at()) {
                if ints[slot] != NOWHERE {
                    ints[slot] = self.moved(ints[slot], flee(evader));
                }
            }
        }
        for (pursuer, parts) in parts.chunks_exact_mut(PARTS).enumerate() {
            let has_caught = ints[CAUGHT] >> pursuer & 1 == 1;
            parts[CATCH] = if has_caught { self.spec.catch_reward } else { 0.0 };
            parts[URGENCY] = self.spec.urgency_reward;
        }
        ints[TIME] += 1;
    }

    /// Bits of the pursuers that catch an evader at `cell`; `None` where it is not caught. Where nobody could stand
    /// beside it nobody need.
    fn catchers(&self, ints: &[i32], cell: i32) -> Option<u32> {
        let standing_on = |cell: i32| {
            let pursuers = (0..).zip(&ints[self.pursuers_at()]);
            pursuers.filter(|&(_, &at)| at == cell).fold(0_u32, |bits, (pursuer, _)| bits | 1_u32 << pursuer)
        };
        if !self.spec.surround {
            return Some(standing_on(cell)).filter(|bits| bits.count_ones() >= self.spec.n_catch);
        }
        let (x, y) = self.place_of(cell);
        let (x_size, y_size) = (self.spec.x_size as i32, self.spec.y_size as i32);
        let (mut needed, mut occupied, mut bits) = (4, 0, 0);
        needed -= i32::from(x == 0 || x == x_size - 1) + i32::from(y == 0 || y == y_size - 1);
        for (dx, dy) in &MOVES[..STAY as usize] {
            let (x, y) = (x + dx, y + dy);
            if !(0..x_size).contains(&x) || !(0..y_size).contains(&y) {
                continue;
            }
            let beside = self.cell(x, y);
            needed -= i32::from(x > 0 && y > 0 && self.walls[beside as usize]);
            let standing = standing_on(beside);
            occupied += i32::from(standing != 0);
            bits |= standing;
        }
        Some(bits).filter(|_| occupied == needed)
    }

    /// Evaders on the four neighbour cells of `cell`, each clipped into the map.
    fn evaders_beside(&self, ints: &[i32], cell: i32) -> u32 {
        let (x, y) = self.place_of(cell);
        let clipped = |(dx, dy): &(i32, i32)| {
            let x = (x + dx).clamp(0, self.spec.x_size as i32 - 1);
            self.cell(x, (y + dy).clamp(0, self.spec.y_size as i32 - 1))
        };
        let evaders = &ints[self.evaders_at()];
        let on = |cell: i32| evaders.iter().filter(|&&at| at == cell).count() as u32;
        MOVES[..STAY as usize].iter().map(clipped).map(on).sum()
    }

    /// Word range of the pursuers' cells.
    fn pursuers_at(&self) -> Range<usize> {
        FIRST..FIRST + self.spec.n_pursuers as usize
    }

    /// Word range of the evaders' cells.
    fn evaders_at(&self) -> Range<usize> {
        let first = self.pursuers_at().end;
        first..first + self.spec.n_evaders as usize
    }

    fn cell(&self, x: i32, y: i32) -> i32 {
        y * self.spec.x_size as i32 + x
    }

    fn place_of(&self, cell: i32) -> (i32, i32) {
        let columns = self.spec.x_size as i32;
        (cell % columns, cell / columns)
    }

    /// Steps from one cell to another, buildings aside.
    fn steps_between(&self, a: i32, b: i32) -> i32 {
        let ((x, y), (other_x, other_y)) = (self.place_of(a), self.place_of(b));
        (x - other_x).abs() + (y - other_y).abs()
    }

    /// Where `action` leads; an action beyond the five stays.
    fn moved(&self, cell: i32, action: u32) -> i32 {
        let (x, y) = self.place_of(cell);
        let (dx, dy) = MOVES.get(action as usize).copied().unwrap_or_default();
        let (x, y) = (x + dx, y + dy);
        let is_inside = (0..self.spec.x_size as i32).contains(&x) && (0..self.spec.y_size as i32).contains(&y);
        if is_inside && !self.walls[self.cell(x, y) as usize] { self.cell(x, y) } else { cell }
    }
}

/// What an evader does: uniform over the five actions.
fn flight(draws: &Draws, evader: u32) -> u32 {
    draws.below(Draws::WORLD, evader, ACTIONS.len() as u32)
}

impl Env for Pursuit {
    fn info(&self) -> &EnvInfo {
        &self.info
    }

    fn reset(&self, state: StateMut<'_>, draws: &Draws) {
        map::scatter(self, state.ints, draws);
    }

    fn reset_to(&self, _state: StateMut<'_>, _start: u32) -> bool {
        unreachable!("starts are drawn, none is enumerated")
    }

    /// A turn of every pursuer in order.
    fn step(&self, state: StateMut<'_>, actions: &[u32], draws: &Draws, out: &mut StepOut<'_>) -> Ended {
        let mut paid = [0.0; PARTS * *PURSUERS.end() as usize];
        let paid = &mut paid[..out.parts.len()];
        let mut ended = Ended::default();
        out.parts.fill(0.0);
        for (agent, &action) in (0..).zip(actions) {
            let state = StateMut { ints: &mut *state.ints, reals: &mut *state.reals };
            ended = self.turn_with(state, agent, action, |evader| flight(draws, evader), paid);
            out.parts.iter_mut().zip(&*paid).for_each(|(sum, part)| *sum += part);
        }
        for (reward, parts) in out.rewards.iter_mut().zip(out.parts.chunks_exact(PARTS)) {
            *reward = weighted(&self.info.part_weights, parts);
        }
        ended
    }

    fn observe(&self, state: StateRef<'_>, agent: u32, obs: &mut [f32]) {
        view::observe(self, state, agent, obs);
    }

    fn state(&self, state: StateRef<'_>, out: &mut [f32]) {
        view::state(self, state, out);
    }

    /// A move into a wall is legal and stays.
    fn legal(&self, _state: StateRef<'_>, _agent: u32, mask: &mut [u32]) {
        mask.fill(1);
    }

    fn step_count(&self, state: StateRef<'_>) -> u32 {
        state.ints[TIME] as u32
    }

    fn frame(&self, state: StateRef<'_>) -> Frame {
        let evaders = (0..).zip(&state.ints[self.evaders_at()]).filter(|&(_, &cell)| cell != NOWHERE);
        Frame::Grid {
            width: self.spec.x_size,
            height: self.spec.y_size,
            walls: self.walls.clone(),
            agents: state.ints[self.pursuers_at()].iter().map(|&cell| cell as u32).collect(),
            levels: Vec::new(),
            things: evaders
                .map(|(id, &cell)| Thing { kind: ThingKind::Evader, id, cell: cell as u32, level: 0 })
                .collect(),
            sight: Some((self.spec.obs_range - 1) / 2),
            arrived: (0..self.spec.n_pursuers).map(|pursuer| state.ints[CAUGHT] >> pursuer & 1 == 1).collect(),
        }
    }

    fn standing_at(&self, state: StateRef<'_>, agent: u32, cell: u32) -> Option<EnvState> {
        let is_open = self.walls.get(cell as usize).is_some_and(|wall| !wall);
        let is_over = state.ints[self.evaders_at()].iter().all(|&cell| cell == NOWHERE);
        (is_open && !is_over).then(|| {
            let mut moved = EnvState { ints: state.ints.to_vec(), reals: Vec::new() };
            moved.ints[FIRST + agent as usize] = cell as i32;
            moved
        })
    }

    fn sequential(&self) -> Option<&dyn Sequential> {
        Some(self)
    }

    fn scripts(&self) -> &'static [Script] {
        &[Script::Uniform, Script::Idle, Script::Expert]
    }

    fn program(&self, script: Script) -> Option<Box<dyn Program>> {
        Some(match script {
            Script::Uniform => Box::new(Uniform),
            Script::Idle => Box::new(Idle { action: STAY }),
            Script::Expert => Box::new(script::Chaser::new(&self.spec)),
            _ => return None,
        })
    }
}

impl Sequential for Pursuit {
    fn turn(&self, state: StateMut<'_>, agent: u32, action: u32, draws: &Draws, rewards: &mut [f64]) -> Ended {
        let mut paid = [0.0; PARTS * *PURSUERS.end() as usize];
        let paid = &mut paid[..rewards.len() * PARTS];
        let ended = self.turn_with(state, agent, action, |evader| flight(draws, evader), paid);
        for (reward, parts) in rewards.iter_mut().zip(paid.chunks_exact(PARTS)) {
            *reward = weighted(&self.info.part_weights, parts);
        }
        ended
    }
}
