//! The fewest env steps until the last pellet, by search.
//!
//! Agents walk independently (they may share cells) and a pellet taken on the way only helps, so the best joint plan of
//! a start state gives every pellet to one agent: the smallest over assignments of the largest over agents of its
//! shortest walk through its pellets. Both are dynamic programs over sets of pellets; the walks are breadth-first
//! distances. The mean is over all start states where they can be listed, else over a fixed sample that the world's own
//! reset draws.

use crate::base::rng::Stream;
use crate::env::api::{Env as _, EnvState, Optimum};
use crate::env::pellet::{AGENTS, PELLETS, Pellet, UNREACHABLE};

/// Work spent on a search, in set splits looked at: some milliseconds.
const BUDGET: u64 = 3_000_000;
/// Fewest and most sampled start states.
const SAMPLES: (u64, u64) = (256, 4096);
/// Sets of pellets.
const SETS: usize = 1 << *PELLETS.end();

pub(super) fn search(world: &Pellet) -> Optimum {
    let router = Router::new(world);
    let spec = &world.spec;
    let cost_of_start = 3_u64.pow(spec.num_pellets) * u64::from(spec.num_agents);
    let full_information = !spec.sees_everything();
    let of = |mean: Mean, exact| Optimum { value: mean.value(), starts: mean.count, exact, full_information };
    if world.info.enumerated_starts > 0 {
        return of(over_pellet_cells(world, &router), true);
    }
    if start_states(world).is_some_and(|states| states.saturating_mul(cost_of_start) <= BUDGET) {
        return of(over_all_starts(world, &router), true);
    }
    let samples = (BUDGET / cost_of_start).clamp(SAMPLES.0, SAMPLES.1);
    of(over_sampled_starts(world, &router, samples as u32), false)
}

/// Upper bound on the number of start states: agents' cells times sets of pellets. `None` when it overflows.
fn start_states(world: &Pellet) -> Option<u64> {
    let spec = &world.spec;
    let placements = match world.starts {
        Some(_) => 1,
        None => (world.open.len() as u64).checked_pow(spec.num_agents)?,
    };
    let cells = world.allowed.len() as u64;
    let sets = (0..u64::from(spec.num_pellets)).try_fold(1_u64, |sets, k| {
        // Exact at every step: a product of k + 1 consecutive numbers is divisible by (k + 1)!.
        Some(sets.checked_mul(cells.saturating_sub(k))? / (k + 1))
    })?;
    placements.checked_mul(sets)
}

/// A weighted mean, summed in the order of the start states.
#[derive(Default)]
struct Mean {
    sum: f64,
    weight: f64,
    count: u32,
}

impl Mean {
    fn add(&mut self, value: u32, weight: f64) {
        self.sum += f64::from(value) * weight;
        self.weight += weight;
        self.count += 1;
    }

    fn value(&self) -> f64 {
        self.sum / self.weight
    }
}

/// One pellet, fixed starts: every cell it may lie on counts once, a start cell with 0 steps.
fn over_pellet_cells(world: &Pellet, router: &Router) -> Mean {
    let starts = world.starts.as_deref().unwrap_or_default();
    let mut mean = Mean::default();
    for &cell in &world.allowed {
        mean.add(router.steps(starts, &[cell]), 1.0);
    }
    mean
}

/// All placements of the agents, each with all sets of pellets off the agents' cells.
fn over_all_starts(world: &Pellet, router: &Router) -> Mean {
    let mut mean = Mean::default();
    // Random starts count through all placements like an odometer; fixed ones have none to count through.
    let (digits, places) = match &world.starts {
        Some(_) => (0, 0),
        None => (world.spec.num_agents as usize, world.open.len()),
    };
    let mut placement = vec![0_usize; digits];
    loop {
        let agents: Vec<u32> = match &world.starts {
            Some(starts) => starts.clone(),
            None => placement.iter().map(|&i| world.open[i]).collect(),
        };
        let free: Vec<u32> = world.allowed.iter().copied().filter(|cell| !agents.contains(cell)).collect();
        let sets = combinations(free.len(), world.spec.num_pellets as usize);
        let weight = 1.0 / sets.len() as f64;
        for set in sets {
            let pellets: Vec<u32> = set.iter().map(|&i| free[i]).collect();
            mean.add(router.steps(&agents, &pellets), weight);
        }
        let Some(digit) = placement.iter().position(|&i| i + 1 < places) else { break };
        placement[digit] += 1;
        placement[..digit].fill(0);
    }
    mean
}

/// Start states drawn by the world's own reset from a stream of their own.
fn over_sampled_starts(world: &Pellet, router: &Router, samples: u32) -> Mean {
    let stream = Stream::new(0, "pellet optimum");
    let mut mean = Mean::default();
    let mut state = EnvState::new(&world.info);
    for episode in 0..samples {
        world.reset(state.view_mut(), &stream.env(0, episode, 0));
        let cells_of = |words: &[i32]| words.iter().map(|&cell| cell as u32).collect::<Vec<_>>();
        let (agents, pellets) = (cells_of(world.agents(state.view())), cells_of(world.pellets_left(state.view())));
        mean.add(router.steps(&agents, &pellets), 1.0);
    }
    mean
}

/// All increasing lists of `k` numbers below `n`.
fn combinations(n: usize, k: usize) -> Vec<Vec<usize>> {
    debug_assert!(k <= n, "no {k} numbers below {n}");
    let mut found = Vec::new();
    let mut current: Vec<usize> = (0..k).collect();
    loop {
        found.push(current.clone());
        let Some(i) = (0..k).rev().find(|&i| current[i] + k < n + i) else { return found };
        current[i] += 1;
        for j in i + 1..k {
            current[j] = current[j - 1] + 1;
        }
    }
}

/// Walking distances between all cells, and the best plan for a start state.
struct Router {
    /// `[cell, cell]`.
    distances: Vec<u32>,
    cells: usize,
    time_limit: u32,
}

impl Router {
    fn new(world: &Pellet) -> Self {
        let cells = world.spec.map.cells.len();
        let distances = (0..cells as u32).flat_map(|cell| world.spec.map.distances(cell)).collect();
        Self { distances, cells, time_limit: world.spec.time_limit }
    }

    fn distance(&self, from: u32, to: u32) -> u32 {
        self.distances[from as usize * self.cells + to as usize]
    }

    /// Fewest env steps until the last pellet; an episode that cannot be finished counts the time limit.
    fn steps(&self, agents: &[u32], pellets: &[u32]) -> u32 {
        debug_assert!(agents.len() <= *AGENTS.end() as usize && pellets.len() <= *PELLETS.end() as usize);
        let sets = 1_usize << pellets.len();
        let ends = self.walks(pellets);
        // best[S]: the pellets of S are shared out among the agents so far.
        let mut best = [UNREACHABLE; SETS];
        best[0] = 0;
        for &agent in agents {
            let mut walk = [0_u32; SETS];
            for (set, walk) in walk.iter_mut().enumerate().take(sets).skip(1) {
                let from_here = |&first: &usize| self.distance(agent, pellets[first]).saturating_add(ends[set][first]);
                let firsts = (0..pellets.len()).filter(|&first| set >> first & 1 == 1);
                *walk = firsts.map(|first| from_here(&first)).min().unwrap_or(UNREACHABLE);
            }
            // Larger sets first: `best` of a smaller one is still without this agent.
            for set in (0..sets).rev() {
                let mut own = set;
                while own > 0 {
                    best[set] = best[set].min(best[set & !own].max(walk[own]));
                    own = (own - 1) & set;
                }
            }
        }
        best[sets - 1].min(self.time_limit)
    }

    /// `[set][first]`: the shortest walk through a set of pellets that begins at its member `first`.
    fn walks(&self, pellets: &[u32]) -> Vec<[u32; *PELLETS.end() as usize]> {
        let mut walks = vec![[UNREACHABLE; *PELLETS.end() as usize]; 1 << pellets.len()];
        for set in 1..walks.len() {
            for first in (0..pellets.len()).filter(|&first| set >> first & 1 == 1) {
                let rest = set & !(1 << first);
                let next = (0..pellets.len())
                    .filter(|&second| rest >> second & 1 == 1)
                    .map(|second| self.distance(pellets[first], pellets[second]).saturating_add(walks[rest][second]))
                    .min();
                walks[set][first] = if rest == 0 { 0 } else { next.unwrap_or(UNREACHABLE) };
            }
        }
        walks
    }
}
