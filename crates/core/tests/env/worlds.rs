//! Set-ups of every registered environment: as it comes, such that every rule is used, and any at all.

use proptest::prelude::*;
use tandem_core::env::board::BoardSpec;
use tandem_core::env::foraging::ForagingSpec;
use tandem_core::env::matrix_game::{GAMES, MatrixSpec};
use tandem_core::env::particles::{Convention, ParticleSpec, Scenario};
use tandem_core::env::pellet::{Cell, PelletMap, PelletSpec, StartLayout, TieRule};
use tandem_core::env::pursuit::PursuitSpec;
use tandem_core::env::registry::EnvSpec;
use tandem_core::env::two_step::TwoStepSpec;

/// Every registered environment as it comes, and set-ups that use every rule.
pub(crate) fn specs() -> Vec<EnvSpec> {
    let mut specs: Vec<EnvSpec> = vec![
        EnvSpec::Pellet(PelletSpec::default()),
        EnvSpec::Matrix(MatrixSpec::default()),
        EnvSpec::TwoStep(TwoStepSpec::default()),
        EnvSpec::Board(BoardSpec::ConnectFour),
        EnvSpec::Board(BoardSpec::TicTacToe),
    ];
    specs.extend(GAMES.iter().map(|game| EnvSpec::Matrix(MatrixSpec { repeat: 3, ..game.spec() })));
    let oblong = [(1.0, 0.0), (2.0, 1.0), (3.0, -1.0), (0.0, 0.5), (0.0, 0.25), (-4.0, 0.0)];
    specs.push(EnvSpec::Matrix(MatrixSpec { rows: 2, columns: 3, payoffs: oblong.to_vec(), repeat: 25 }));
    let crowd = PelletSpec { num_agents: 4, num_pellets: 3, starts: StartLayout::Random, ..PelletSpec::default() };
    specs.push(EnvSpec::Pellet(PelletSpec { sight: Some(1), time_limit: 9, ..crowd.clone() }));
    specs.push(EnvSpec::Pellet(PelletSpec { alpha: 0.0, tie: TieRule::Nobody, ..crowd.clone() }));
    specs.push(EnvSpec::Pellet(PelletSpec { alpha: 0.3, move_cost: 0.1, ..crowd }));
    specs.push(EnvSpec::Pellet(PelletSpec { move_cost: 0.05, starts: StartLayout::Spread, ..PelletSpec::default() }));
    specs.extend(particles().into_iter().map(EnvSpec::Particles));
    specs.extend(foraging().into_iter().map(EnvSpec::Foraging));
    specs.extend(pursuit().into_iter().map(EnvSpec::Pursuit));
    specs
}

/// The reference's smallest task, many players that see little and pay for failures, and players that see layers.
fn foraging() -> Vec<ForagingSpec> {
    let small = ForagingSpec { rows: 6, columns: 5, food: 2, penalty: 0.1, ..ForagingSpec::default() };
    let crowd = ForagingSpec { players: 4, sight: Some(1), observe_agent_levels: false, ..small.clone() };
    let layers = ForagingSpec { sight: Some(2), grid_observation: true, normalize_reward: false, ..small };
    vec![ForagingSpec::default(), crowd, layers]
}

/// The reference's defaults but for the time limit, a small map, and catching without company.
fn pursuit() -> Vec<PursuitSpec> {
    let usual = PursuitSpec { max_cycles: 60, ..PursuitSpec::default() };
    let small =
        PursuitSpec { x_size: 6, y_size: 5, n_pursuers: 3, n_evaders: 8, max_cycles: 40, ..PursuitSpec::default() };
    let alone = PursuitSpec {
        n_evaders: 2,
        surround: false,
        n_catch: 1,
        shared_reward: false,
        obs_range: 4,
        constraint_window: 0.5,
        ..small.clone()
    };
    vec![usual, small, alone]
}

/// Every particle world as it comes, and parameters that change vectors, rewards or ends.
fn particles() -> Vec<ParticleSpec> {
    let mut specs: Vec<ParticleSpec> = Scenario::ALL.into_iter().map(ParticleSpec::new).collect();
    let spread = ParticleSpec { agents: 5, ..ParticleSpec::default() };
    let tag = ParticleSpec { good: 2, obstacles: 3, curriculum: Some(1), ..ParticleSpec::new(Scenario::Tag) };
    specs.push(ParticleSpec { agents: 1, max_cycles: 7, terminate_on_success: true, ..spread.clone() });
    specs.push(ParticleSpec { local_ratio: 0.3, ..spread.clone() });
    specs.push(ParticleSpec { local_ratio: 0.0, curriculum: Some(1), ..spread.clone() });
    specs.push(ParticleSpec { convention: Convention::OpenAi, ..spread.clone() });
    specs.push(ParticleSpec { agents: 4, ..spread.clone() });
    specs.push(ParticleSpec { agents: 16, max_cycles: 9, ..spread.clone() });
    specs.push(ParticleSpec { near_agents: Some(2), near_landmarks: Some(7), ..spread });
    specs.push(ParticleSpec { near_agents: Some(1), ..ParticleSpec::new(Scenario::Adversary) });
    specs.push(ParticleSpec { good: 1, terminate_on_success: true, ..tag.clone() });
    specs.push(ParticleSpec { near_agents: Some(3), near_landmarks: Some(1), ..tag });
    specs
}

pub(crate) fn any_pellet() -> impl Strategy<Value = PelletSpec> {
    let cell = prop_oneof![6 => Just(Cell::Free), 1 => Just(Cell::NoPellet), 2 => Just(Cell::Wall)];
    let size = prop_oneof![4 => (1_u32..=9, 1_u32..=9), 1 => (8_u32..=17, 2_u32..=17)];
    let map = size.prop_flat_map(move |(width, height)| {
        let cells = proptest::collection::vec(cell.clone(), (width * height) as usize);
        let starts = proptest::collection::vec(proptest::option::of(0..width * height), 0..4);
        (cells, starts).prop_map(move |(cells, starts)| PelletMap { width, height, cells, starts })
    });
    let alpha = prop_oneof![Just(0.0_f32), Just(1.0), -0.1_f32..1.1];
    let tie = proptest::sample::select(vec![TieRule::Split, TieRule::Nobody]);
    let layout = proptest::sample::select(vec![
        StartLayout::OneCorner,
        StartLayout::OppositeCorners,
        StartLayout::Spread,
        StartLayout::Random,
        StartLayout::Placed,
    ]);
    let counts = (0_u32..=9, 0_u32..=9, proptest::option::of(0_u32..=17), 1_u32..=40);
    (map, counts, layout, tie, alpha, 0.0_f32..1.0).prop_map(
        |(map, (num_agents, num_pellets, sight, time_limit), starts, tie, alpha, move_cost)| PelletSpec {
            map,
            num_agents,
            starts,
            num_pellets,
            sight,
            move_cost,
            time_limit,
            tie,
            alpha,
        },
    )
}

pub(crate) fn any_matrix() -> impl Strategy<Value = MatrixSpec> {
    (1_u32..=7, 1_u32..=7, 0_u32..=101).prop_flat_map(|(rows, columns, repeat)| {
        let payoff = prop_oneof![20 => -1000.0_f32..1000.0, 1 => Just(f32::NAN), 1 => Just(1e9)];
        proptest::collection::vec((payoff.clone(), payoff), (rows * columns) as usize)
            .prop_map(move |payoffs| MatrixSpec { rows, columns, payoffs, repeat })
    })
}

pub(crate) fn any_foraging() -> impl Strategy<Value = ForagingSpec> {
    let levels = || proptest::collection::vec(0_u32..=4, 0..4);
    let limits = (levels(), levels(), levels(), proptest::option::of(levels()));
    let field = (2_u32..=9, 2_u32..=9, 0_u32..=5, 0_u32..=5, proptest::option::of(0_u32..=9), 0_u32..=40);
    (field, limits, any::<[bool; 4]>(), -0.1..1.0_f64).prop_map(|(field, limits, switches, penalty)| {
        let (rows, columns, players, food, sight, time_limit) = field;
        let (min_player_level, max_player_level, min_food_level, max_food_level) = limits;
        let [force_coop, normalize_reward, observe_agent_levels, grid_observation] = switches;
        ForagingSpec {
            players,
            min_player_level,
            max_player_level,
            min_food_level,
            max_food_level,
            rows,
            columns,
            food,
            sight,
            time_limit,
            force_coop,
            penalty,
            normalize_reward,
            observe_agent_levels,
            grid_observation,
        }
    })
}

pub(crate) fn any_pursuit() -> impl Strategy<Value = PursuitSpec> {
    let counts = (1_u32..=10, 1_u32..=10, 0_u32..=9, 0_u32..=20, 0_u32..=9, 0_u32..=3);
    (counts, any::<[bool; 3]>(), 0_u32..=30, 0.0..1.1_f64, -5.0..5.0_f64).prop_map(
        |(counts, [shared_reward, freeze_evaders, surround], max_cycles, constraint_window, reward)| {
            let (x_size, y_size, n_pursuers, n_evaders, obs_range, n_catch) = counts;
            PursuitSpec {
                x_size,
                y_size,
                max_cycles,
                shared_reward,
                n_evaders,
                n_pursuers,
                obs_range,
                n_catch,
                freeze_evaders,
                surround,
                constraint_window,
                catch_reward: reward,
                ..PursuitSpec::default()
            }
        },
    )
}

pub(crate) fn any_particles() -> impl Strategy<Value = ParticleSpec> {
    let scenario = proptest::sample::select(Scenario::ALL.to_vec());
    let convention = prop_oneof![3 => Just(Convention::V3), 1 => Just(Convention::OpenAi)];
    let counts = (0_u32..=17, 0_u32..=9, 0_u32..=9, 0_u32..=4);
    let rewards = (-0.1..1.1_f64, convention, proptest::option::of(0_u32..4), any::<bool>());
    let nearest = || proptest::option::of(0_u32..=17);
    (scenario, counts, rewards, 0_u32..40, nearest(), nearest()).prop_map(
        |(scenario, counts, rewards, max_cycles, near_agents, near_landmarks)| {
            let ((agents, good, adversaries, obstacles), (local_ratio, convention, curriculum, success)) =
                (counts, rewards);
            ParticleSpec {
                agents,
                good,
                adversaries,
                obstacles,
                local_ratio,
                convention,
                max_cycles,
                curriculum,
                terminate_on_success: success,
                near_agents,
                near_landmarks,
                ..ParticleSpec::new(scenario)
            }
        },
    )
}
