//! What every environment promises, checked for every registered one and for random set-ups of those that have many.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tandem_core::base::rng::{Draws, Stream};
use tandem_core::env::api::{Ended, Env, EnvInfo, EnvState, Frame, Headline, StateMut, StateRef, StepOut};
use tandem_core::env::batch::{Batch, Views, look, reset_world, step_world};
use tandem_core::env::matrix_game::{GAMES, MatrixSpec};
use tandem_core::env::pellet::{Cell, PelletMap, PelletSpec, RewardMode, StartLayout, TieRule};
use tandem_core::env::registry::{EnvKind, EnvSpec};

use crate::support::{Player, World};

/// Every registered environment as it comes, and set-ups that use every rule.
fn specs() -> Vec<EnvSpec> {
    let mut specs: Vec<EnvSpec> = EnvKind::ALL.map(EnvKind::default_spec).to_vec();
    specs.extend(GAMES.iter().map(|game| EnvSpec::Matrix(MatrixSpec { repeat: 3, ..game.spec() })));
    let oblong = [(1.0, 0.0), (2.0, 1.0), (3.0, -1.0), (0.0, 0.5), (0.0, 0.25), (-4.0, 0.0)];
    specs.push(EnvSpec::Matrix(MatrixSpec { rows: 2, columns: 3, payoffs: oblong.to_vec(), repeat: 25 }));
    let crowd = PelletSpec { num_agents: 4, num_pellets: 3, starts: StartLayout::Random, ..PelletSpec::default() };
    specs.push(EnvSpec::Pellet(PelletSpec { sight: Some(1), time_limit: 9, ..crowd.clone() }));
    specs.push(EnvSpec::Pellet(PelletSpec { reward: RewardMode::Competitive, tie: TieRule::Nobody, ..crowd.clone() }));
    specs.push(EnvSpec::Pellet(PelletSpec { reward: RewardMode::Mixed, alpha: 0.3, move_cost: 0.1, ..crowd }));
    specs.push(EnvSpec::Pellet(PelletSpec { move_cost: 0.05, starts: StartLayout::Spread, ..PelletSpec::default() }));
    specs
}

fn environments() -> Vec<(EnvSpec, Box<dyn Env>)> {
    specs().into_iter().map(|spec| (spec.clone(), spec.build().expect("a valid set-up"))).collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Plays `steps` env steps at random and checks all that must hold at each of them.
fn check_random_play(env: &dyn Env, seed: u64, steps: u32) {
    let info = env.info();
    let mut world = World::new(env, seed);
    let mut player = Player::new(seed);
    let mut length = 0;
    for _ in 0..steps {
        assert_eq!(env.step_count(world.state.view()), length);
        check_view(&world);
        let actions = player.joint(&world);
        let ended = world.step(&actions);
        length += 1;
        check_rewards(&mut world);
        check_view(&world);
        assert_eq!(env.step_count(world.state.view()), length);
        assert!(!(ended.terminated && ended.truncated), "an end has one reason");
        assert!(length <= info.max_steps, "an episode of {length} env steps, {} are the limit", info.max_steps);
        assert!(length < info.max_steps || ended.any(), "no end at the limit");
        if info.fixed_length {
            assert_eq!(ended.any(), length == info.max_steps);
        }
        if ended.any() {
            world.episode += 1;
            world.reset();
            length = 0;
        }
    }
}

fn check_view(world: &World<'_>) {
    let info = world.env.info();
    for agent in 0..info.num_agents {
        let obs = world.obs(agent);
        assert!(obs.iter().all(|x| (-1.0..=1.0).contains(x)), "observation {obs:?} leaves [-1, 1]");
        let mask = world.mask(agent);
        assert!(mask.iter().all(|&legal| legal <= 1) && mask.contains(&1), "mask {mask:?}");
    }
    let state = world.state_vector();
    assert!(state.iter().all(|x| (-1.0..=1.0).contains(x)), "state {state:?} leaves [-1, 1]");
    match world.env.frame(world.state.view()) {
        Frame::Grid { width, height, walls, agents, pellets, arrived, .. } => {
            assert_eq!(walls.len() as u32, width * height);
            assert_eq!((agents.len() as u32, arrived.len() as u32), (info.num_agents, info.num_agents));
            assert!(agents.iter().chain(&pellets).all(|&cell| !walls[cell as usize]), "something is in a wall");
        }
        Frame::Matrix { payoffs, rows, columns, played, stage, stages, repetition } => {
            assert_eq!(payoffs.len() as u32, rows * columns);
            assert!(played.is_none_or(|(row, column)| row < rows && column < columns));
            assert!((stage as usize) < stages.len());
            assert!((1..=repetition.0).contains(&repetition.1));
        }
    }
}

fn check_rewards(world: &mut World<'_>) {
    let info = world.env.info();
    for (reward, parts) in world.rewards.iter().zip(world.parts.chunks_exact(info.part_names.len())) {
        assert!(reward.is_finite());
        assert_eq!(*reward, parts.iter().sum::<f32>(), "parts {parts:?} sum to the reward");
    }
    let is_common = world.rewards.iter().all(|&reward| reward == world.rewards[0]);
    assert!(is_common || !info.common_reward, "rewards {:?} of a common reward", world.rewards);
    let (common, first) = (info.common_reward, world.rewards[0]);
    let team = world.team_reward();
    assert_eq!(team.is_some(), info.team_reward);
    assert!(!common || team == Some(first), "a common reward is the team's");
}

#[test]
fn random_play_keeps_the_contract() {
    for (spec, env) in environments() {
        println!("{spec:?}");
        check_random_play(env.as_ref(), 11, 400);
    }
}

#[test]
fn facts_fit_each_other() {
    for (spec, env) in environments() {
        let info = env.info();
        assert_eq!(info.action_names.len() as u32, info.num_actions, "{spec:?}");
        assert!(info.team_reward || !info.common_reward, "a common reward is a team reward: {spec:?}");
        let optimum = env.optimum();
        assert!(optimum.is_some() || !info.team_reward, "{spec:?} has no optimum");
        if let Some(optimum) = optimum.filter(|_| info.headline == Headline::Steps) {
            assert!(optimum.value <= f64::from(info.max_steps), "{spec:?}");
        }
        let mut state = EnvState::new(info);
        for start in 0..info.enumerated_starts {
            state.ints.fill(77);
            env.reset_to(state.view_mut(), start);
            assert_eq!(env.step_count(state.view()), 0, "{spec:?}");
        }
    }
}

#[test]
fn ids_are_unique_and_found_again() {
    for kind in EnvKind::ALL {
        assert_eq!(EnvKind::from_id(kind.id()), Some(kind));
        assert_eq!(kind.default_spec().kind(), kind);
    }
    assert_eq!(EnvKind::from_id("chess"), None);
    for game in &GAMES {
        assert_eq!(game.spec().name(), Some(game));
    }
}

#[test]
fn a_reset_forgets_the_world_before() {
    for (spec, env) in environments() {
        let mut clean = World::new(env.as_ref(), 3);
        clean.episode = 5;
        clean.reset();
        let mut dirty = clean.clone();
        dirty.state.ints.fill(1234);
        dirty.state.reals.fill(f64::NAN);
        dirty.reset();
        assert_eq!(clean.state, dirty.state, "{spec:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_play_and_another_seed_another() {
    let play = |env: &dyn Env, seed: u64| {
        let mut batch = Batch::new(env, Stream::new(seed, "env"), 5);
        let mut player = Player::new(1);
        let mut trace = Vec::new();
        for _ in 0..60 {
            let agents = env.info().num_agents as usize;
            let actions: Vec<u32> =
                batch.now.mask.chunks_exact(env.info().num_actions as usize).map(|mask| player.legal(mask)).collect();
            assert_eq!(actions.len(), 5 * agents);
            batch.step(env, &actions);
            trace.push((batch.ints.clone(), bits(&batch.rewards), bits(&batch.now.obs), batch.ended.clone()));
        }
        trace
    };
    for (spec, env) in environments() {
        assert_eq!(play(env.as_ref(), 7), play(env.as_ref(), 7), "{spec:?}");
        if spec.kind() == EnvKind::Pellet {
            assert_ne!(play(env.as_ref(), 7), play(env.as_ref(), 8), "{spec:?} ignores its seed");
        }
    }
}

/// Worlds stepped in any order, or alone, give what they give in the batch.
#[test]
fn the_order_of_a_batch_changes_nothing() {
    const WORLDS: u32 = 6;
    for (spec, env) in environments() {
        let env = env.as_ref();
        let info = env.info();
        let agents = info.num_agents as usize;
        let stream = Stream::new(21, "env");
        let mut batch = Batch::new(env, stream, WORLDS);
        let mut alone: Vec<EnvState> = (0..WORLDS).map(|_| EnvState::new(info)).collect();
        let mut episodes = [0_u32; WORLDS as usize];
        for index in (0..WORLDS).rev() {
            reset_world(env, &stream, index, 0, alone[index as usize].view_mut());
        }
        let mut player = Player::new(2);
        let (mut next, mut now) = (Views::new(info, 1), Views::new(info, 1));
        let mut rewards = vec![0.0; agents];
        let mut parts = vec![0.0; agents * info.part_names.len()];
        for step in 0..80 {
            let actions: Vec<u32> =
                batch.now.mask.chunks_exact(info.num_actions as usize).map(|mask| player.legal(mask)).collect();
            batch.step(env, &actions);
            // A different order at every step.
            for k in 0..WORLDS {
                let index = (k * 5 + step) % WORLDS;
                let at = index as usize;
                let mut out = StepOut { rewards: &mut rewards, parts: &mut parts };
                let ended = step_world(
                    env,
                    &stream,
                    index,
                    &mut episodes[at],
                    alone[at].view_mut(),
                    &actions[at * agents..][..agents],
                    &mut out,
                    &mut next.world_mut(info, 0),
                    &mut now.world_mut(info, 0),
                );
                assert_eq!(ended, batch.ended[at], "{spec:?}");
                assert_eq!(alone[at], batch.world(index), "{spec:?}");
                assert_eq!(bits(&rewards), bits(&batch.rewards[at * agents..][..agents]), "{spec:?}");
                let obs_len = next.obs.len();
                assert_eq!(bits(&next.obs), bits(&batch.next.obs[at * obs_len..][..obs_len]), "{spec:?}");
                assert_eq!(bits(&now.obs), bits(&batch.now.obs[at * obs_len..][..obs_len]), "{spec:?}");
            }
        }
        assert_eq!(episodes.as_slice(), batch.episodes, "{spec:?}");
    }
}

/// A world whose first observation is wildly unlike all others.
#[derive(Debug)]
struct Leap(EnvInfo);

impl Leap {
    fn new() -> Self {
        let name = |name: &str| vec![name.to_owned()];
        Self(EnvInfo {
            num_agents: 1,
            num_actions: 1,
            action_names: name("action.stay"),
            obs_names: name("height"),
            state_names: name("height"),
            part_names: name("payoff"),
            max_steps: 3,
            fixed_length: true,
            common_reward: true,
            team_reward: true,
            obs_determines_state: true,
            headline: Headline::Return,
            enumerated_starts: 1,
            ints: 1,
            reals: 0,
            revision: 1,
        })
    }

    fn height(state: StateRef<'_>) -> f32 {
        if state.ints[0] == 0 { 1e6 } else { state.ints[0] as f32 }
    }
}

impl Env for Leap {
    fn info(&self) -> &EnvInfo {
        &self.0
    }
    fn reset(&self, state: StateMut<'_>, _draws: &Draws) {
        state.ints[0] = 0;
    }
    fn reset_to(&self, state: StateMut<'_>, _start: u32) -> bool {
        state.ints[0] = 0;
        false
    }
    fn step(&self, state: StateMut<'_>, _actions: &[u32], _draws: &Draws, out: &mut StepOut<'_>) -> Ended {
        state.ints[0] += 1;
        out.rewards.fill(1.0);
        out.parts.fill(1.0);
        Ended { terminated: false, truncated: state.ints[0] == 3 }
    }
    fn observe(&self, state: StateRef<'_>, _agent: u32, obs: &mut [f32]) {
        obs[0] = Self::height(state);
    }
    fn state(&self, state: StateRef<'_>, out: &mut [f32]) {
        out[0] = Self::height(state);
    }
    fn legal(&self, _state: StateRef<'_>, _agent: u32, mask: &mut [u32]) {
        mask[0] = 1;
    }
    fn step_count(&self, state: StateRef<'_>) -> u32 {
        state.ints[0] as u32
    }
    fn frame(&self, _state: StateRef<'_>) -> Frame {
        unreachable!("nobody draws this world")
    }
    fn standing_at(&self, _state: StateRef<'_>, _agent: u32, _cell: u32) -> Option<EnvState> {
        None
    }
}

#[test]
fn p02_the_final_observation_is_that_of_the_old_episode() {
    let env = Leap::new();
    let mut batch = Batch::new(&env, Stream::new(1, "env"), 2);
    assert_eq!(batch.now.obs, [1e6; 2]);
    let mut seen = Vec::new();
    for _ in 0..4 {
        batch.step(&env, &[0, 0]);
        seen.push((batch.next.obs[0], batch.now.obs[0], batch.next.state[0], batch.now.state[0]));
        assert_eq!(batch.next.obs[0], batch.next.obs[1]);
    }
    assert_eq!(seen, [(1.0, 1.0, 1.0, 1.0), (2.0, 2.0, 2.0, 2.0), (3.0, 1e6, 3.0, 1e6), (1.0, 1.0, 1.0, 1.0)]);
    assert_eq!(batch.episodes, [1, 1]);
}

#[test]
fn p01_only_the_time_limit_of_a_world_truncates() {
    for (spec, env) in environments() {
        let mut world = World::new(env.as_ref(), 5);
        let mut player = Player::new(5);
        let mut seen = Ended::default();
        for _ in 0..600 {
            let actions = player.joint(&world);
            let ended = world.step(&actions);
            seen.terminated |= ended.terminated;
            seen.truncated |= ended.truncated;
            if ended.any() {
                world.episode += 1;
                world.reset();
            }
        }
        let has_time_limit = spec.kind() == EnvKind::Pellet;
        assert!(seen.terminated, "{spec:?} never terminates");
        assert!(has_time_limit || !seen.truncated, "the end of a repeated game is no time limit: {spec:?}");
    }
}

/// Whether no observation of an agent was seen with two states in some random play.
fn every_observation_has_one_state(env: &dyn Env) -> bool {
    let mut states = BTreeMap::new();
    let mut world = World::new(env, 9);
    let mut player = Player::new(9);
    for _ in 0..3000 {
        for agent in 0..env.info().num_agents {
            let state = bits(&world.state_vector());
            let known = states.entry((agent, bits(&world.obs(agent)))).or_insert_with(|| state.clone());
            if *known != state {
                return false;
            }
        }
        let actions = player.joint(&world);
        if world.step(&actions).any() {
            world.episode += 1;
            world.reset();
        }
    }
    true
}

#[test]
fn an_observation_determines_the_state_exactly_where_it_is_said_to() {
    let mut worlds = environments();
    let nearly_blind = EnvSpec::Pellet(PelletSpec { sight: Some(1), ..PelletSpec::default() });
    let far_sighted = EnvSpec::Pellet(PelletSpec { sight: Some(3), num_pellets: 3, ..PelletSpec::default() });
    for spec in [nearly_blind, far_sighted] {
        worlds.push((spec.clone(), spec.build().expect("a valid set-up")));
    }
    for (spec, env) in worlds {
        assert_eq!(every_observation_has_one_state(env.as_ref()), env.info().obs_determines_state, "{spec:?}");
    }
}

#[test]
fn a_view_overwrites_what_was_there() {
    for (spec, env) in environments() {
        let info = env.info();
        let world = World::new(env.as_ref(), 4);
        let mut views = Views::new(info, 1);
        views.obs.fill(f32::NAN);
        views.state.fill(f32::NAN);
        views.mask.fill(9);
        look(env.as_ref(), world.state.view(), &mut views.world_mut(info, 0));
        assert!(views.obs.iter().chain(&views.state).all(|x| !x.is_nan()), "{spec:?}");
        assert!(views.mask.iter().all(|&legal| legal <= 1), "{spec:?}");
    }
}

fn any_pellet() -> impl Strategy<Value = PelletSpec> {
    let cell = prop_oneof![6 => Just(Cell::Free), 1 => Just(Cell::NoPellet), 2 => Just(Cell::Wall)];
    let size = (1_u32..=9, 1_u32..=9);
    let map = size.prop_flat_map(move |(width, height)| {
        let cells = proptest::collection::vec(cell.clone(), (width * height) as usize);
        let starts = proptest::collection::vec(proptest::option::of(0..width * height), 0..4);
        (cells, starts).prop_map(move |(cells, starts)| PelletMap { width, height, cells, starts })
    });
    let reward = proptest::sample::select(vec![RewardMode::Cooperative, RewardMode::Competitive, RewardMode::Mixed]);
    let tie = proptest::sample::select(vec![TieRule::Split, TieRule::Nobody]);
    let layout = proptest::sample::select(StartLayout::ALL.to_vec());
    let counts = (0_u32..=9, 0_u32..=5, proptest::option::of(0_u32..=17), 1_u32..=40);
    (map, counts, layout, reward, tie, -0.1_f32..1.1, 0.0_f32..1.0).prop_map(
        |(map, (num_agents, num_pellets, sight, time_limit), starts, reward, tie, alpha, move_cost)| PelletSpec {
            map,
            num_agents,
            starts,
            num_pellets,
            sight,
            move_cost,
            time_limit,
            reward,
            tie,
            alpha,
        },
    )
}

fn any_matrix() -> impl Strategy<Value = MatrixSpec> {
    (1_u32..=7, 1_u32..=7, 0_u32..=101).prop_flat_map(|(rows, columns, repeat)| {
        let payoff = prop_oneof![20 => -1000.0_f32..1000.0, 1 => Just(f32::NAN), 1 => Just(1e9)];
        proptest::collection::vec((payoff.clone(), payoff), (rows * columns) as usize)
            .prop_map(move |payoffs| MatrixSpec { rows, columns, payoffs, repeat })
    })
}

/// Plays what is valid; what is not says why in a sentence.
fn check_any(spec: &EnvSpec, seed: u64) {
    match spec.build() {
        Ok(env) => check_random_play(env.as_ref(), seed, 120),
        Err(error) => {
            let sentence = error.to_string();
            assert!(sentence.ends_with('.') && sentence.starts_with(|c: char| c.is_uppercase() || c.is_numeric()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn any_pellet_world_keeps_the_contract(spec in any_pellet(), seed in 0_u64..1000) {
        check_any(&EnvSpec::Pellet(spec), seed);
    }

    #[test]
    fn any_matrix_game_keeps_the_contract(spec in any_matrix(), seed in 0_u64..1000) {
        check_any(&EnvSpec::Matrix(spec), seed);
    }
}
