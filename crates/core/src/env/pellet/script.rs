//! Scripts of the pellet world: *idle* and the course's four teams, tiny programs without networks or gradients.
//!
//! The gap between the independent pair and the others is written into these programs: they show what the words mean,
//! they are no evidence for any algorithm. An agent acts on its own observation; that it knows the map (walls, walking
//! distances) is knowledge of the rules, not of the state. d(c, p) is the walking distance from cell c to pellet p, and
//! *worth* is γ^d with γ = 0.9: a pellet d moves away, discounted. Who sees no pellet searches: it walks to a cell drawn
//! at random and draws a new one every few env steps.

use crate::base::float::Real;
use crate::env::pellet::{PELLETS, Pellet, PelletMap, SIZE, UNREACHABLE};
use crate::env::script::{Program, Script, Turn};

/// Discount of a move.
const GAMMA: f32 = 0.9;
/// Share of an independent agent's env steps that are drawn from all actions: it is half-competent.
const INDEPENDENT_CHANCE: f32 = 2.0 / 3.0;
/// The same of the MADDPG-style and of the QMIX-style team.
const TEAM_CHANCE: f32 = 0.25;
/// Temperature of the MAPPO-style team's softmax, in worth.
const TEMPERATURE: f32 = 0.05;
/// Most cells of a map.
const CELLS: usize = (*SIZE.end() * *SIZE.end()) as usize;
/// Actions: stay and four moves.
const ACTIONS: usize = 5;
/// Numbers of one thing in an observation: flag, Δx, Δy.
const SLOT: usize = 3;

/// The scripts that suit a pellet world.
pub(super) const SCRIPTS: [Script; 6] =
    [Script::Uniform, Script::Idle, Script::Independent, Script::MaddpgStyle, Script::QmixStyle, Script::MappoStyle];

/// Draws of a turn.
const CHANCE: u32 = 0;
const CHOICE: u32 = 1;
const GOAL: u32 = 2;

/// A script on one map.
#[derive(Clone, Debug)]
pub(super) struct PelletProgram {
    script: Script,
    map: PelletMap,
    open: Vec<u32>,
    num_pellets: u32,
    /// `[cell, cell]`: γ to the walking distance, 0 where there is no way.
    worth: Vec<f32>,
    /// Env steps a search keeps its goal: enough to cross the map once.
    search: u32,
}

/// What an agent makes of its observation: cells.
struct Seen {
    here: u32,
    /// The pellets in sight, nearest first; the rest of the array is unused.
    pellets: [u32; *PELLETS.end() as usize],
    num_pellets: usize,
    others: [u32; 8],
    num_others: usize,
}

impl Seen {
    fn pellets(&self) -> &[u32] {
        &self.pellets[..self.num_pellets]
    }

    fn others(&self) -> &[u32] {
        &self.others[..self.num_others]
    }
}

impl PelletProgram {
    pub(super) fn new(world: &Pellet, script: Script) -> Self {
        let map = world.spec.map.clone();
        let mut powers = [1.0_f32; CELLS];
        for d in 1..CELLS {
            powers[d] = powers[d - 1] * GAMMA;
        }
        let worth_of = |distance: u32| if distance == UNREACHABLE { 0.0 } else { powers[distance as usize] };
        let worth = (0..map.cells.len() as u32).flat_map(|cell| map.distances(cell)).map(worth_of).collect();
        let search = map.width + map.height;
        Self { script, open: world.open.clone(), num_pellets: world.spec.num_pellets, worth, search, map }
    }

    /// Positions and offsets are exact shares of the map's sides, so rounding gives cells back exactly.
    fn read(&self, obs: &[f32]) -> Seen {
        let (across, down) = ((self.map.width - 1) as f32, (self.map.height - 1) as f32);
        let place = |x: f32, side: f32| ((x + 1.0) * 0.5 * side + 0.5).floor();
        let (column, row) = (place(obs[0], across), place(obs[1], down));
        let cell = |slot: &[f32]| {
            let (x, y) = ((column + slot[1] * across + 0.5).floor(), (row + slot[2] * down + 0.5).floor());
            y as u32 * self.map.width + x as u32
        };
        let mut seen = Seen {
            here: row as u32 * self.map.width + column as u32,
            pellets: [0; 8],
            num_pellets: 0,
            others: [0; 8],
            num_others: 0,
        };
        for (index, slot) in obs[2..].chunks_exact(SLOT).enumerate().filter(|(_, slot)| slot[0] > 0.0) {
            let (cells, count) = if index < self.num_pellets as usize {
                (&mut seen.pellets, &mut seen.num_pellets)
            } else {
                (&mut seen.others, &mut seen.num_others)
            };
            cells[*count] = cell(slot);
            *count += 1;
        }
        seen
    }

    fn worth(&self, from: u32, to: u32) -> f32 {
        self.worth[from as usize * self.map.cells.len() + to as usize]
    }

    /// Worth of the best pellet to one agent at `cell`: the *utility*.
    fn own_value(&self, cell: u32, pellets: &[u32]) -> f32 {
        pellets.iter().fold(0.0, |best: f32, &pellet| Real::max(best, self.worth(cell, pellet)))
    }

    /// Worth of every pellet to whoever is nearest to it, this agent at `cell` and the others where they are: the
    /// *joint value*.
    fn joint_value(&self, cell: u32, seen: &Seen) -> f32 {
        let nearest = |pellet: u32| {
            let from_others = seen.others().iter().map(|&other| self.worth(other, pellet));
            from_others.fold(self.worth(cell, pellet), Real::max)
        };
        seen.pellets().iter().fold(0.0, |sum, &pellet| sum + nearest(pellet))
    }

    /// `value` of the cell each action leads to.
    fn after(&self, here: u32, value: impl Fn(u32) -> f32) -> [f32; ACTIONS] {
        std::array::from_fn(|action| value(self.map.moved(here, action as u32)))
    }
}

impl Program for PelletProgram {
    /// With *chance* c an agent draws from all five actions, otherwise it takes the best one, ties drawn at random:
    /// - *independent*: best by its own utility, c = 2/3. It looks at nobody and is often distracted.
    /// - *MADDPG-style*: a central critic knows the joint value of all agents' places; each policy is improved by script
    ///   towards the action that raises it most, the others standing still, c = 1/4. Who is not nearest to any pellet
    ///   raises nothing and wanders.
    /// - *QMIX-style*: Q_tot is the sum of the utilities, which is monotone, so each takes its own argmax, c = 1/4.
    /// - *MAPPO-style*: A(a) = V(after a) − V(now) with the joint value as V, a baseline that all share; a is drawn from
    ///   softmax(A / 0.05). The baseline moves all advantages alike and changes no probability.
    ///
    /// *Idle* stays.
    fn act(&self, obs: &[f32], _legal: &[u32], turn: &Turn) -> u32 {
        if self.script == Script::Idle {
            return 0;
        }
        let seen = self.read(obs);
        let chance = match self.script {
            Script::Independent => INDEPENDENT_CHANCE,
            Script::MappoStyle => 0.0, // its softmax is its chance
            _ => TEAM_CHANCE,
        };
        if turn.uniform(CHANCE) < chance {
            return turn.below(CHOICE, ACTIONS as u32);
        }
        if seen.num_pellets == 0 {
            let goal = self.open[turn.lasting(GOAL, self.open.len() as u32, self.search) as usize];
            return best(&self.after(seen.here, |cell| self.worth(cell, goal)), turn);
        }
        match self.script {
            Script::MaddpgStyle => best(&self.after(seen.here, |cell| self.joint_value(cell, &seen)), turn),
            Script::MappoStyle => {
                let baseline = self.joint_value(seen.here, &seen);
                softmax(&self.after(seen.here, |cell| self.joint_value(cell, &seen) - baseline), turn)
            }
            _ => best(&self.after(seen.here, |cell| self.own_value(cell, seen.pellets())), turn),
        }
    }

    fn draws(&self) -> bool {
        self.script != Script::Idle
    }
}

/// An action of the largest value, ties drawn at random.
fn best(values: &[f32; ACTIONS], turn: &Turn) -> u32 {
    let largest = values.iter().fold(f32::NEG_INFINITY, |largest, &value| Real::max(largest, value));
    let ties = || (0..ACTIONS as u32).filter(|&action| values[action as usize] == largest);
    ties().nth(turn.below(CHOICE, ties().count() as u32) as usize).expect("the draw is below the number of ties")
}

/// An action drawn from softmax(advantages / temperature).
fn softmax(advantages: &[f32; ACTIONS], turn: &Turn) -> u32 {
    let largest = advantages.iter().fold(f32::NEG_INFINITY, |largest, &a| Real::max(largest, a));
    let weights = advantages.map(|a| Real::exp((a - largest) / TEMPERATURE));
    let mut left = turn.uniform(CHOICE) * weights.iter().fold(0.0, |sum, &w| sum + w);
    for (action, &weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return action as u32;
        }
    }
    // Rounding may leave a crumb beyond the last action.
    ACTIONS as u32 - 1
}
