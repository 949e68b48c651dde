//! The pellet gridworld's rules, one by one.

use tandem_core::base::rng::Stream;
use tandem_core::env::api::{Ended, Env, EnvState, Frame, StateRef};
use tandem_core::env::pellet::{Cell, Pellet, PelletError, PelletMap, PelletSpec, StartLayout, TieRule};

use crate::support::{Player, World};

pub(crate) const STAY: u32 = 0;
const UP: u32 = 1;
const DOWN: u32 = 2;
pub(crate) const LEFT: u32 = 3;
pub(crate) const RIGHT: u32 = 4;

/// Index of a part.
const TEAM: usize = 0;
const OWN: usize = 1;
const COST: usize = 2;

pub(crate) fn build(spec: &PelletSpec) -> Pellet {
    spec.validate().expect("a valid world")
}

/// A world drawn as text, one row per line: `#` wall, `o` the only cells pellets may lie on, `.` free of pellets, digits
/// the starts of agents (whose cells are free of pellets too).
pub(crate) fn drawn(rows: &[&str]) -> PelletSpec {
    let text: Vec<char> = rows.iter().flat_map(|row| row.chars()).collect();
    let kind = |&c: &char| match c {
        '#' => Cell::Wall,
        'o' => Cell::Free,
        _ => Cell::NoPellet,
    };
    let start_of = |agent: u32| {
        let place = text.iter().position(|&c| c.to_digit(10) == Some(agent));
        place.map(|cell| cell as u32)
    };
    let starts: Vec<Option<u32>> = (1..=9).map(start_of).take_while(Option::is_some).collect();
    PelletSpec {
        num_agents: starts.len() as u32,
        num_pellets: text.iter().filter(|&&c| c == 'o').count() as u32,
        map: PelletMap {
            width: rows[0].chars().count() as u32,
            height: rows.len() as u32,
            cells: text.iter().map(kind).collect(),
            starts,
        },
        starts: StartLayout::Placed,
        ..PelletSpec::default()
    }
}

fn grid(env: &dyn Env, state: StateRef<'_>) -> (Vec<u32>, Vec<u32>, Vec<bool>) {
    match env.frame(state) {
        Frame::Grid { agents, things, arrived, .. } => {
            (agents, things.iter().map(|thing| thing.cell).collect(), arrived)
        }
        _ => unreachable!("the pellet world is a grid"),
    }
}

fn agents(world: &World<'_>) -> Vec<u32> {
    grid(world.env, world.state.view()).0
}

fn pellets(world: &World<'_>) -> Vec<u32> {
    grid(world.env, world.state.view()).1
}

/// The rewards of one joint action.
fn paid(spec: &PelletSpec, actions: &[u32]) -> (Vec<f64>, Ended) {
    let env = build(spec);
    let mut world = World::new(&env, 0);
    let ended = world.step(actions);
    (world.rewards.clone(), ended)
}

#[test]
fn walls_and_edges_hold_an_agent_and_cells_are_shared() {
    let env = build(&drawn(&["12#", "..o"]));
    let mut world = World::new(&env, 0);
    world.step(&[UP, RIGHT]);
    assert_eq!(agents(&world), [0, 1], "an edge and a wall hold");
    world.step(&[RIGHT, STAY]);
    assert_eq!(agents(&world), [1, 1], "two agents on a cell");
    world.step(&[DOWN, LEFT]);
    assert_eq!(agents(&world), [4, 0]);
    assert!(world.step(&[RIGHT, STAY]).terminated);
}

#[test]
fn a_cooperative_pellet_pays_everyone_whoever_takes_it() {
    let spec = PelletSpec { num_agents: 2, ..drawn(&["1o", "2."]) };
    let all_paid = Ended { terminated: true, truncated: false };
    assert_eq!(paid(&spec, &[RIGHT, STAY]), (vec![1.0, 1.0], all_paid));
    assert_eq!(paid(&spec, &[STAY, STAY]), (vec![0.0, 0.0], Ended::default()));
    let env = build(&spec);
    assert!(env.info().common_reward);
}

#[test]
fn a_competitive_pellet_pays_who_arrives() {
    let spec = PelletSpec { alpha: 0.0, ..drawn(&["1o", "2."]) };
    assert_eq!(paid(&spec, &[RIGHT, STAY]).0, [1.0, 0.0]);
    assert!(!build(&spec).info().team_reward);
}

#[test]
fn the_mix_weighs_team_and_own() {
    let spec = PelletSpec { alpha: 0.25, ..drawn(&["1o", "2."]) };
    assert_eq!(paid(&spec, &[RIGHT, STAY]).0, [1.0, 0.25]);
    let env = build(&spec);
    let mut world = World::new(&env, 0);
    world.step(&[RIGHT, STAY]);
    assert_eq!(world.parts, [1.0, 1.0, 0.0, 1.0, 0.0, 0.0], "parts are raw: another α needs no other run");
    assert!(!env.info().team_reward, "a mix is no team reward");
    let all_team = build(&PelletSpec { alpha: 1.0, ..spec });
    assert!(all_team.info().common_reward);
}

#[test]
fn ties_are_split_or_nobodys() {
    let tie = |tie, alpha| PelletSpec { tie, alpha, ..drawn(&["1o2", ".3."]) };
    let all_in = [RIGHT, LEFT, UP];
    let third = 1.0_f64 / 3.0;
    let check = |rule, alpha, actions: &[u32], expected: &[f64]| {
        let (rewards, ended) = paid(&tie(rule, alpha), actions);
        assert_eq!(rewards, expected, "{rule:?} α {alpha} {actions:?}");
        assert!(ended.terminated, "the pellet is gone either way");
    };
    check(TieRule::Split, 0.0, &all_in, &[third; 3]);
    check(TieRule::Split, 0.0, &[RIGHT, STAY, UP], &[0.5, 0.0, 0.5]);
    check(TieRule::Nobody, 0.0, &all_in, &[0.0; 3]);
    check(TieRule::Nobody, 0.0, &[STAY, LEFT, STAY], &[0.0, 1.0, 0.0]);
    check(TieRule::Nobody, 0.5, &all_in, &[0.5; 3]);
    check(TieRule::Split, 1.0, &all_in, &[1.0; 3]);
}

#[test]
fn several_pellets_pay_one_each_and_the_last_ends() {
    let env = build(&PelletSpec { alpha: 0.5, ..drawn(&["1oo2", "...."]) });
    let mut world = World::new(&env, 0);
    assert!(world.step(&[RIGHT, LEFT]).terminated, "both taken at once");
    assert_eq!(world.rewards, [1.5, 1.5], "half of the team's 2, half of the own 1");

    let mut world = World::new(&env, 0);
    assert_eq!(world.step(&[RIGHT, STAY]), Ended::default());
    assert_eq!((world.rewards.as_slice(), pellets(&world)), (&[1.0, 0.5][..], vec![2]));
    assert_eq!(grid(&env, world.state.view()).2, [true, false]);
    assert_eq!(world.step(&[LEFT, UP]), Ended::default());
    assert_eq!((world.rewards.as_slice(), grid(&env, world.state.view()).2), (&[0.0, 0.0][..], vec![false, false]));
    assert!(world.step(&[STAY, LEFT]).terminated);
    assert!(pellets(&world).is_empty());
}

#[test]
fn move_costs_are_the_movers_own_outside_the_mix() {
    let spec = PelletSpec { move_cost: 0.25, ..drawn(&["1.o", "2.."]) };
    for alpha in [1.0, 0.0, 0.5] {
        let spec = PelletSpec { alpha, ..spec.clone() };
        assert_eq!(paid(&spec, &[RIGHT, STAY]).0, [-0.25, 0.0], "α {alpha}");
        assert_eq!(paid(&spec, &[UP, LEFT]).0, [0.0, 0.0], "nobody leaves its cell: α {alpha}");
    }
}

#[test]
fn the_team_pays_the_sum_of_move_costs() {
    let spec = PelletSpec { move_cost: 0.25, ..drawn(&["1o", "2."]) };
    let env = build(&spec);
    assert!(env.info().team_reward && !env.info().common_reward);
    let mut world = World::new(&env, 0);
    world.step(&[STAY, RIGHT]);
    assert_eq!((world.rewards.clone(), world.team_reward()), (vec![0.0, -0.25], Some(-0.25)));
    world.step(&[RIGHT, LEFT]);
    assert_eq!((world.rewards.clone(), world.team_reward()), (vec![0.75, 0.75], Some(0.5)));
    assert_eq!([TEAM, OWN, COST].map(|part| world.parts[part]), [1.0, 1.0, -0.25], "its own pays nothing");
}

#[test]
fn p01_the_time_limit_truncates_and_the_last_pellet_terminates() {
    let spec = PelletSpec { time_limit: 2, ..drawn(&["1.o", "..."]) };
    let env = build(&spec);
    let mut world = World::new(&env, 0);
    assert_eq!(world.step(&[STAY]), Ended::default());
    assert_eq!(world.step(&[STAY]), Ended { terminated: false, truncated: true });
    world.reset();
    assert_eq!(world.step(&[RIGHT]), Ended::default());
    assert_eq!(world.step(&[RIGHT]), Ended { terminated: true, truncated: false }, "the limit cuts nothing here");
}

/// Every way to give three agents other indices.
const SWAPS: [[usize; 3]; 5] = [[1, 0, 2], [0, 2, 1], [2, 1, 0], [1, 2, 0], [2, 0, 1]];

/// Swapping the agents' indices swaps everything that belongs to them and changes nothing else.
#[test]
fn p59_arrivals_have_no_index_bias() {
    let base = PelletSpec {
        map: PelletMap::open(3, 3),
        num_agents: 3,
        num_pellets: 3,
        starts: StartLayout::Random,
        move_cost: 0.125,
        ..PelletSpec::default()
    };
    let mut arrivals_at_once = 0;
    for alpha in [1.0, 0.0, 0.75] {
        for tie in [TieRule::Split, TieRule::Nobody] {
            let env = build(&PelletSpec { alpha, tie, ..base.clone() });
            let mut player = Player::new(8);
            let mut world = World::new(&env, 8);
            for episode in 0..400 {
                world.episode = episode;
                world.reset();
                let swap = SWAPS[player.below(5) as usize];
                let mut mirror = world.clone();
                for (agent, &cell) in agents(&world).iter().enumerate() {
                    mirror.place(swap[agent] as u32, cell);
                }
                loop {
                    let actions = player.joint(&world);
                    let mut mirrored_actions = [0; 3];
                    for agent in 0..3 {
                        mirrored_actions[swap[agent]] = actions[agent];
                    }
                    let ended = world.step(&actions);
                    assert_eq!(mirror.step(&mirrored_actions), ended);
                    assert_eq!(pellets(&mirror), pellets(&world));
                    let (mirrored, plain) = (grid(&env, mirror.state.view()), grid(&env, world.state.view()));
                    arrivals_at_once += u32::from(plain.2.iter().filter(|&&arrived| arrived).count() > 1);
                    for agent in 0..3 {
                        assert_eq!(mirror.rewards[swap[agent]].to_bits(), world.rewards[agent].to_bits());
                        assert_eq!(mirror.parts[swap[agent] * 3..][..3], world.parts[agent * 3..][..3]);
                        assert_eq!(
                            (mirrored.0[swap[agent]], mirrored.2[swap[agent]]),
                            (plain.0[agent], plain.2[agent])
                        );
                        let pellets_seen = 2..11;
                        assert_eq!(
                            mirror.obs(swap[agent] as u32)[pellets_seen.clone()],
                            world.obs(agent as u32)[pellets_seen]
                        );
                    }
                    if ended.any() {
                        break;
                    }
                }
            }
        }
    }
    assert!(arrivals_at_once > 100, "only {arrivals_at_once} arrivals at once were seen");
}

#[test]
fn p59_two_agents_see_the_mirrored_world() {
    let env = build(&PelletSpec { starts: StartLayout::Random, num_pellets: 2, ..PelletSpec::default() });
    let mut world = World::new(&env, 3);
    for episode in 0..50 {
        world.episode = episode;
        world.reset();
        let cells = agents(&world);
        let mut mirror = world.clone();
        mirror.place(0, cells[1]);
        mirror.place(1, cells[0]);
        assert_eq!((world.obs(0), world.obs(1)), (mirror.obs(1), mirror.obs(0)));
    }
}

#[test]
fn pellets_fall_evenly_on_allowed_cells_without_agents() {
    const EPISODES: u32 = 12_000;
    let check = |spec: &PelletSpec, cells: &[u32]| {
        let env = build(spec);
        let mut counts = [0_u32; 16];
        let mut world = World::new(&env, 5);
        for episode in 0..EPISODES {
            world.episode = episode;
            world.reset();
            let (agents, pellets) = (agents(&world), pellets(&world));
            assert!(pellets.is_sorted_by(|a, b| a < b), "distinct and ascending: {pellets:?}");
            assert!(!pellets.iter().any(|cell| agents.contains(cell)), "a pellet on an agent");
            for cell in pellets {
                counts[cell as usize] += 1;
            }
        }
        let expected = f64::from(EPISODES * spec.num_pellets) / cells.len() as f64;
        for (cell, &count) in counts.iter().enumerate() {
            let is_allowed = cells.contains(&(cell as u32));
            // Five standard deviations of a count.
            let slack = if is_allowed { 5.0 * expected.sqrt() } else { 0.0 };
            let expected = if is_allowed { expected } else { 0.0 };
            assert!((f64::from(count) - expected).abs() <= slack, "cell {cell}: {count}, expected {expected}");
        }
    };
    let all_but_the_corner: Vec<u32> = (1..16).collect();
    check(&PelletSpec::default(), &all_but_the_corner);
    check(&PelletSpec { num_pellets: 4, ..PelletSpec::default() }, &all_but_the_corner);
    let mut map = PelletMap::open(4, 4);
    map.cells[5] = Cell::Wall;
    map.cells[10] = Cell::NoPellet;
    // The lower right corner is cut off.
    map.cells[11] = Cell::Wall;
    map.cells[14] = Cell::Wall;
    check(&PelletSpec { map, ..PelletSpec::default() }, &[1, 2, 3, 4, 6, 7, 8, 9, 12, 13]);
}

#[test]
fn random_starts_fall_evenly_on_open_cells() {
    const EPISODES: u32 = 9_000;
    let mut map = PelletMap::open(3, 3);
    map.cells[4] = Cell::Wall;
    map.cells[0] = Cell::NoPellet;
    let env = build(&PelletSpec { map, starts: StartLayout::Random, ..PelletSpec::default() });
    let mut pairs = vec![0_u32; 81];
    let mut world = World::new(&env, 6);
    for episode in 0..EPISODES {
        world.episode = episode;
        world.reset();
        let cells = agents(&world);
        pairs[(cells[0] * 9 + cells[1]) as usize] += 1;
    }
    let expected = f64::from(EPISODES) / 64.0;
    for (pair, &count) in pairs.iter().enumerate() {
        let is_open = pair / 9 != 4 && pair % 9 != 4;
        let expected = if is_open { expected } else { 0.0 };
        assert!((f64::from(count) - expected).abs() <= 5.0 * expected.sqrt(), "pair {pair}: {count}");
    }
}

#[test]
fn enumerated_starts_are_all_pellet_cells_and_a_covered_one_is_over() {
    let env = build(&PelletSpec { starts: StartLayout::OppositeCorners, ..PelletSpec::default() });
    assert_eq!(env.info().enumerated_starts, 16);
    let mut state = EnvState::new(env.info());
    for start in 0..16 {
        let is_over = env.reset_to(state.view_mut(), start);
        let (agents, pellets, _) = grid(&env, state.view());
        assert_eq!(agents, [0, 15]);
        assert_eq!(is_over, start == 0 || start == 15);
        assert_eq!(pellets, if is_over { vec![] } else { vec![start] });
    }
    let none = |spec: PelletSpec| assert_eq!(build(&spec).info().enumerated_starts, 0);
    none(PelletSpec { num_pellets: 2, ..PelletSpec::default() });
    none(PelletSpec { starts: StartLayout::Random, ..PelletSpec::default() });
}

#[test]
fn standing_elsewhere_keeps_everything_else() {
    let env = build(&drawn(&["1#o", "..2"]));
    let world = World::new(&env, 0);
    let at = |cell| env.standing_at(world.state.view(), 0, cell);
    let moved = at(4).expect("a free cell");
    assert_eq!(grid(&env, moved.view()), (vec![4, 5], vec![2], vec![false, false]));
    assert!(at(5).is_some(), "cells are shared");
    assert_eq!(at(1), None, "a wall");
    assert_eq!(at(2), None, "the pellet");
    assert_eq!(at(6), None, "outside");
    let mut done = world.clone();
    assert!(done.step(&[STAY, UP]).terminated);
    assert_eq!(env.standing_at(done.state.view(), 0, 3), None, "the episode is over");
}

#[test]
fn draws_do_not_depend_on_other_worlds() {
    let env = build(&PelletSpec { starts: StartLayout::Random, num_pellets: 2, ..PelletSpec::default() });
    let stream = Stream::new(4, "env");
    let mut states: Vec<EnvState> = (0..8).map(|_| EnvState::new(env.info())).collect();
    for (index, state) in states.iter_mut().enumerate() {
        env.reset(state.view_mut(), &stream.env(index as u32, 0, 0));
    }
    let mut again = EnvState::new(env.info());
    env.reset(again.view_mut(), &stream.env(5, 0, 0));
    assert_eq!(again, states[5]);
    assert!(states.iter().any(|state| *state != again));
}

#[test]
fn bad_worlds_are_refused_with_a_reason() {
    let check = |change: &dyn Fn(&mut PelletSpec), expected: PelletError| {
        let mut spec = PelletSpec::default();
        change(&mut spec);
        let error = spec.validate().expect_err("a bad world");
        assert_eq!(error, expected);
    };
    check(&|spec| spec.map = PelletMap::open(1, 4), PelletError::Size { width: 1, height: 4 });
    check(&|spec| spec.map = PelletMap::open(4, 17), PelletError::Size { width: 4, height: 17 });
    check(&|spec| spec.map.width = 5, PelletError::Cells { given: 16, needed: 20 });
    check(&|spec| spec.num_agents = 0, PelletError::Agents(0));
    check(&|spec| spec.num_agents = 9, PelletError::Agents(9));
    check(&|spec| spec.num_pellets = 0, PelletError::Pellets(0));
    check(&|spec| spec.sight = Some(17), PelletError::Sight(17));
    check(&|spec| spec.move_cost = -0.5, PelletError::MoveCost(-0.5));
    check(&|spec| spec.alpha = 1.5, PelletError::Alpha(1.5));
    check(&|spec| spec.time_limit = 1_001, PelletError::TimeLimit(1_001));
    check(&|spec| spec.map.cells.fill(Cell::Wall), PelletError::OnlyWalls);
    let placed = |start: u32| {
        move |spec: &mut PelletSpec| {
            spec.starts = StartLayout::Placed;
            spec.map.cells[3] = Cell::Wall;
            spec.map.starts = vec![None, Some(start)];
        }
    };
    check(&placed(3), PelletError::StartBlocked(2));
    check(&placed(16), PelletError::StartBlocked(2));
    let cut = |spec: &mut PelletSpec| spec.map.cells[4..8].fill(Cell::Wall);
    check(
        &|spec| {
            cut(spec);
            spec.starts = StartLayout::Random;
        },
        PelletError::Disconnected,
    );
    check(
        &|spec| {
            cut(spec);
            spec.num_pellets = 4;
        },
        PelletError::TooFewPelletCells { room: 3, pellets: 4 },
    );
    let mut not_a_number = PelletSpec { move_cost: f32::NAN, ..PelletSpec::default() };
    assert!(not_a_number.validate().is_err());
    not_a_number = PelletSpec { alpha: f32::NAN, ..PelletSpec::default() };
    assert!(not_a_number.validate().is_err());
}

#[test]
fn fixed_starts_may_leave_a_part_of_the_world_alone() {
    let mut spec = PelletSpec::default();
    spec.map.cells[4..8].fill(Cell::Wall);
    // The pellet's cell in every enumerated start; on a start cell it is taken at once.
    let cells = |env: &Pellet| -> Vec<u32> {
        let mut state = EnvState::new(env.info());
        let cell_of = |start| {
            env.reset_to(state.view_mut(), start);
            match env.frame(state.view()) {
                Frame::Grid { things, .. } => things.first().map(|thing| thing.cell),
                _ => unreachable!("pellets lie on a grid"),
            }
        };
        (0..env.info().enumerated_starts).filter_map(cell_of).collect()
    };
    let env = build(&spec);
    assert_eq!(env.info().enumerated_starts, 4);
    assert_eq!(cells(&env), [1, 2, 3], "pellets lie only where some agent can go");
    let both_sides = build(&PelletSpec { starts: StartLayout::OppositeCorners, ..spec });
    assert_eq!(both_sides.info().enumerated_starts, 12);
    assert_eq!(cells(&both_sides), [1, 2, 3, 8, 9, 10, 11, 12, 13, 14]);
}
