//! The optimum beside a pellet curve: numbers known from elsewhere, and the search against the rules themselves.

use std::collections::BTreeSet;

use tandem_core::base::rng::Stream;
use tandem_core::env::api::{Env, EnvState, Optimum, StepOut};
use tandem_core::env::pellet::{Cell, Pellet, PelletMap, PelletSpec, StartLayout};

use crate::support::{Player, World};

fn build(spec: &PelletSpec) -> Pellet {
    spec.validate().expect("a valid world")
}

fn optimum(spec: &PelletSpec) -> Optimum {
    build(spec).optimum().expect("every pellet world has one")
}

fn open(side: u32, starts: StartLayout) -> PelletSpec {
    PelletSpec { map: PelletMap::open(side, side), starts, ..PelletSpec::default() }
}

#[test]
fn p48_optimum_is_searched() {
    let check = |spec: &PelletSpec, value: f64, starts: u32| {
        let expected = Optimum { value, starts, exact: true, full_information: false };
        assert_eq!(optimum(spec), expected, "{spec:?}");
    };
    check(&open(4, StartLayout::OneCorner), 3.0, 16);
    check(&open(6, StartLayout::OneCorner), 5.0, 36);
    check(&open(4, StartLayout::OppositeCorners), 1.75, 16);
    // Paid as one likes, the walk is the same.
    check(&PelletSpec { alpha: 0.0, ..open(4, StartLayout::OneCorner) }, 3.0, 16);
    // A wall turns two steps into more: the search sees the map, not the size.
    let mut walled = open(4, StartLayout::OneCorner);
    walled.map.cells[1] = Cell::Wall;
    walled.map.cells[5] = Cell::Wall;
    assert!(optimum(&walled).value > 3.0);
}

#[test]
fn p48_an_optimum_says_what_was_searched() {
    let says = |spec: &PelletSpec, full_information: bool, exact: bool| {
        let optimum = optimum(spec);
        assert_eq!((optimum.full_information, optimum.exact), (full_information, exact), "{spec:?}");
    };
    let four_at_random = PelletSpec { num_pellets: 4, ..open(6, StartLayout::Random) };
    says(&open(4, StartLayout::OneCorner), false, true);
    says(&PelletSpec { sight: Some(1), ..open(4, StartLayout::OneCorner) }, true, true);
    says(&four_at_random, false, false);
    says(&PelletSpec { sight: Some(2), ..four_at_random }, true, false);
}

/// Fewest env steps from a state to the last pellet by breadth-first search over joint actions, stepping the rules.
fn fewest_steps(env: &Pellet, start: &EnvState) -> u32 {
    let info = env.info();
    let agents = info.num_agents as usize;
    let (mut rewards, mut parts) = (vec![0.0; agents], vec![0.0; agents * info.part_names.len()]);
    let draws = Stream::new(0, "unused").env(0, 0, 0);
    let mut seen = BTreeSet::new();
    let mut front = vec![start.clone()];
    for steps in 1..=info.max_steps {
        let mut next = Vec::new();
        for state in &front {
            for joint in 0..info.num_actions.pow(info.num_agents) {
                let actions: Vec<u32> =
                    (0..info.num_agents).map(|agent| joint / info.num_actions.pow(agent) % info.num_actions).collect();
                let mut after = state.clone();
                let mut out = StepOut { rewards: &mut rewards, parts: &mut parts };
                if env.step(after.view_mut(), &actions, &draws, &mut out).terminated {
                    return steps;
                }
                let mut vector = vec![0.0; info.state_len as usize];
                env.state(after.view(), &mut vector);
                if seen.insert(vector.iter().map(|x: &f32| x.to_bits()).collect::<Vec<u32>>()) {
                    next.push(after);
                }
            }
        }
        front = next;
    }
    info.max_steps
}

/// Mean of [`fewest_steps`] over start states drawn by the world's own reset.
fn mean_over_draws(env: &Pellet, draws: u32, salt: u64) -> f64 {
    let stream = Stream::new(salt, "env");
    let mut state = EnvState::new(env.info());
    let total: u32 = (0..draws)
        .map(|episode| {
            env.reset(state.view_mut(), &stream.env(0, episode, 0));
            fewest_steps(env, &state)
        })
        .sum();
    f64::from(total) / f64::from(draws)
}

#[test]
fn p48_the_search_agrees_with_the_rules_on_every_start() {
    let mut walled = PelletSpec { map: PelletMap::open(4, 3), ..PelletSpec::default() };
    walled.map.cells[1] = Cell::Wall;
    walled.map.cells[6] = Cell::Wall;
    walled.starts = StartLayout::OppositeCorners;
    let env = build(&walled);
    let mut state = EnvState::new(env.info());
    let steps = |start| if env.reset_to(state.view_mut(), start) { 0 } else { fewest_steps(&env, &state) };
    let total: u32 = (0..env.info().enumerated_starts).map(steps).sum();
    let optimum = env.optimum().expect("searched");
    assert_eq!(optimum.starts, env.info().enumerated_starts);
    assert!((optimum.value - f64::from(total) / f64::from(optimum.starts)).abs() < 1e-12);
}

#[test]
fn p48_several_pellets_are_routed_as_well_as_joint_search_does() {
    // One start state each, so that both numbers are exact: every allowed cell holds a pellet.
    let allowed = |side: u32, cells: &[u32], agents: u32, starts: StartLayout| {
        let mut map = PelletMap::open(side, side);
        for cell in 0..side * side {
            map.cells[cell as usize] = if cells.contains(&cell) { Cell::Free } else { Cell::NoPellet };
        }
        PelletSpec { map, num_agents: agents, num_pellets: cells.len() as u32, starts, ..PelletSpec::default() }
    };
    let check = |spec: &PelletSpec| {
        let env = build(spec);
        let mut world = World::new(&env, 0);
        world.reset();
        let optimum = env.optimum().expect("searched");
        assert_eq!((optimum.starts, optimum.exact), (1, true));
        assert_eq!(optimum.value, f64::from(fewest_steps(&env, &world.state)), "{spec:?}");
    };
    check(&allowed(4, &[3, 12, 15], 2, StartLayout::OneCorner));
    check(&allowed(4, &[3, 12, 15, 10], 2, StartLayout::OneCorner));
    check(&allowed(4, &[1, 3, 6, 12], 2, StartLayout::OppositeCorners));
    check(&allowed(3, &[2, 4, 6, 8], 1, StartLayout::OneCorner));
    check(&allowed(3, &[1, 5, 6, 8], 3, StartLayout::OneCorner));
    check(&PelletSpec { time_limit: 3, ..allowed(4, &[15], 1, StartLayout::OneCorner) });
}

#[test]
fn p48_random_starts_are_averaged_as_they_are_drawn() {
    // Two agents on 2 × 2 cells: together (4 of 16 placements) they need 1, 1 or 2 steps, apart always 1.
    let small = optimum(&PelletSpec { map: PelletMap::open(2, 2), ..open(4, StartLayout::Random) });
    assert!((small.value - 13.0 / 12.0).abs() < 1e-12, "{small:?}");
    // All 81 placements times all pairs of cells without agents, of which there are 21 or 28.
    let spec = PelletSpec { num_pellets: 2, ..open(3, StartLayout::Random) };
    let exact = optimum(&spec);
    assert_eq!((exact.starts, exact.exact), (72 * 21 + 9 * 28, true));
    let drawn = mean_over_draws(&build(&spec), 3000, 1);
    // Episodes last 1 to 4 env steps, so a standard error is below 0.02.
    assert!((drawn - exact.value).abs() < 0.06, "{drawn} drawn, {} searched", exact.value);
}

#[test]
fn p48_a_sample_says_so_and_is_near_the_truth() {
    let spec = PelletSpec { num_pellets: 4, ..open(6, StartLayout::Random) };
    let sampled = optimum(&spec);
    assert!(!sampled.exact && sampled.starts >= 1000);
    assert_eq!(optimum(&spec), sampled, "the sample is fixed");
    // One agent alone needs longer, four agents less.
    let of = |num_agents| optimum(&PelletSpec { num_agents, ..spec.clone() }).value;
    assert!(of(1) > sampled.value && sampled.value > of(4), "{} {} {}", of(1), sampled.value, of(4));
}

/// Mean steps of two uniform walkers until one stands on the pellet, over all pellet cells, by solving the linear
/// equations of the joint walk (Gauss-Seidel).
fn exact_walkers(map: &PelletMap) -> f64 {
    let cells = map.cells.len() as u32;
    let mut total = 0.0;
    for pellet in 0..cells {
        let mut expected = vec![0.0_f64; (cells * cells) as usize];
        for _ in 0..4000 {
            let mut change = 0.0_f64;
            for a in (0..cells).filter(|&a| a != pellet) {
                for b in (0..cells).filter(|&b| b != pellet) {
                    let after = |i: u32, j: u32| expected[(map.moved(a, i) * cells + map.moved(b, j)) as usize];
                    let mean: f64 = (0..25).map(|joint| after(joint / 5, joint % 5)).sum::<f64>() / 25.0;
                    let at = (a * cells + b) as usize;
                    change = change.max((1.0 + mean - expected[at]).abs());
                    expected[at] = 1.0 + mean;
                }
            }
            if change < 1e-9 {
                break;
            }
        }
        total += expected[0];
    }
    total / f64::from(cells)
}

/// Episodes from each start.
const ROUNDS: u32 = 500;

#[test]
fn p48_random_walkers_take_twenty_one_steps() {
    let spec = PelletSpec { time_limit: 1_000, ..open(4, StartLayout::OneCorner) };
    let exact = exact_walkers(&spec.map);
    assert!((exact - 20.9).abs() < 0.05, "{exact} steps by the equations");

    let env = build(&spec);
    let mut world = World::new(&env, 0);
    let mut player = Player::new(12);
    let (mut sum, mut squares) = (0.0, 0.0);
    for round in 0..ROUNDS {
        for start in 0..16 {
            world.episode = round;
            let mut is_over = env.reset_to(world.state.view_mut(), start);
            while !is_over {
                let actions = player.joint(&world);
                is_over = world.step(&actions).any();
            }
            let steps = f64::from(env.step_count(world.state.view()));
            sum += steps;
            squares += steps * steps;
        }
    }
    let episodes = f64::from(ROUNDS * 16);
    let mean = sum / episodes;
    let error = ((squares / episodes - mean * mean) / episodes).sqrt();
    assert!((mean - exact).abs() < 4.0 * error, "{mean} steps played, {exact} expected, standard error {error}");
    assert!(error < 0.4);
}
