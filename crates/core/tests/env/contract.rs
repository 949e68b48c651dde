//! What every environment promises, checked for every registered one and for random set-ups of those that have many.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use tandem_core::base::lanes::padded;
use tandem_core::env::api::{Ended, Env, EnvInfo, EnvState, Frame, Headline, MAX_AGENTS, MAX_PARTS, remixed, weighted};
use tandem_core::env::matrix_game::GAMES;
use tandem_core::env::pellet::{PelletMap, PelletSpec, StartLayout};
use tandem_core::env::registry::EnvSpec;
use tandem_core::marl::parts::shown::show_legal;
use tandem_core::marl::parts::world::{TERMINATED, TRUNCATED};

use crate::support::{Lockstep, Player, World};
use crate::worlds::{any_foraging, any_matrix, any_particles, any_pellet, any_pursuit, specs};

pub(crate) fn environments() -> Vec<(EnvSpec, Arc<dyn Env>)> {
    specs().into_iter().map(|spec| (spec.clone(), build(&spec))).collect()
}

fn build(spec: &EnvSpec) -> Arc<dyn Env> {
    spec.build().expect("a valid set-up").into()
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
    let frame = world.env.frame(world.state.view());
    for agent in 0..info.num_agents {
        let obs = world.obs(agent);
        assert!(obs.iter().all(|x| may_be_seen(info, &frame, *x)), "observation {obs:?}");
        let beyond = &obs[info.role(agent).obs.len()..];
        assert!(beyond.iter().all(|x| x.to_bits() == 0), "behind a shorter observation are zeros: {obs:?}");
        let mask = world.mask(agent);
        assert!(mask[info.role(agent).actions.len()..].iter().all(|&legal| legal == 0), "surplus actions are masked");
        assert!(mask.iter().all(|&legal| legal <= 1), "mask {mask:?}");
        let mover = world.env.to_move(world.state.view());
        // Where agents move in turns, only the mover has a choice; once the game is over nobody needs one.
        if !info.in_turns || mover == Some(agent) {
            assert!(mask.contains(&1), "no legal action for agent {agent}");
        } else if mover.is_some() {
            assert!(!mask.contains(&1), "agent {agent} waits, its mask is {mask:?}");
        }
    }
    let state = world.state_vector();
    assert!(state.iter().all(|x| may_be_seen(info, &frame, *x)), "state {state:?}");
    match frame {
        Frame::Grid { width, height, walls, agents, levels, things, arrived, .. } => {
            assert_eq!(walls.len() as u32, width * height);
            assert_eq!((agents.len() as u32, arrived.len() as u32), (info.num_agents, info.num_agents));
            assert!(levels.is_empty() || levels.len() == agents.len());
            let cells = agents.iter().copied().chain(things.iter().map(|thing| thing.cell));
            assert!(cells.into_iter().all(|cell| !walls[cell as usize]), "something is in a wall");
        }
        Frame::Matrix { payoffs, rows, columns, played, stage, stages, repetition } => {
            assert_eq!(payoffs.len() as u32, rows * columns);
            assert!(played.is_none_or(|(row, column)| row < rows && column < columns));
            assert!((stage as usize) < stages.len());
            assert!((1..=repetition.0).contains(&repetition.1));
        }
        Frame::Particles { agents, landmarks, pairs, touching, words } => {
            assert_eq!(agents.len() as u32, info.num_agents);
            let (n, count) = (info.num_agents, landmarks.len() as u32);
            assert!(pairs.iter().all(|&(agent, landmark)| agent < n && landmark < count), "{pairs:?}");
            assert!(touching.iter().all(|&(a, b)| a < b && b < n), "{touching:?}");
            assert!(words.is_empty() || words.len() == agents.len());
        }
        Frame::Board { rows, columns, cells, to_move, last, lines, outcome, .. } => {
            assert_eq!(cells.len() as u32, rows * columns);
            assert_eq!(to_move.is_some(), outcome.is_none());
            assert!(last.is_none_or(|cell| cells[cell as usize] != 0), "the last piece lies on the board");
            for line in &lines {
                let pieces: Vec<u8> = line.iter().map(|&cell| cells[cell as usize]).collect();
                assert!(pieces[0] != 0 && pieces.iter().all(|&piece| piece == pieces[0]), "a line of one player");
            }
        }
    }
}

/// Numbers that a network is fed: within [−1, 1], but for the plane, which has no walls, and for worlds that show cells,
/// levels and heads as their reference does.
fn may_be_seen(info: &EnvInfo, frame: &Frame, x: f32) -> bool {
    match (info.roles[0].id.as_str(), frame) {
        (_, Frame::Particles { .. }) => x.is_finite(),
        ("role.forager", _) => x.fract() == 0.0 && (-1.0..=1000.0).contains(&x),
        ("role.pursuer", _) => x.fract() == 0.0 && (0.0..=64.0).contains(&x),
        _ => (-1.0..=1.0).contains(&x),
    }
}

fn check_rewards(world: &mut World<'_>) {
    let info = world.env.info();
    for (reward, parts) in world.rewards.iter().zip(world.parts.chunks_exact(info.part_names.len())) {
        assert!(reward.is_finite());
        assert_eq!(*reward, weighted(&info.part_weights, parts), "weighted parts {parts:?} sum to the reward");
        if let Some(mix) = info.mix {
            let at_own_alpha = remixed(&info.part_weights, mix, info.part_weights[mix.team as usize]);
            assert_eq!(*reward, weighted(&at_own_alpha, parts), "at the world's own α nothing changes");
        }
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
        assert!(info.num_agents as usize <= MAX_AGENTS && info.part_names.len() <= MAX_PARTS, "{spec:?}");
        assert_eq!(info.role_of.len() as u32, info.num_agents, "{spec:?}");
        assert_eq!(info.roles.iter().map(|role| role.actions.len() as u32).max(), Some(info.num_actions), "{spec:?}");
        assert_eq!(info.roles.iter().map(|role| role.obs.len() as u32).max(), Some(info.obs_len), "{spec:?}");
        assert_eq!(info.part_names.len(), info.part_weights.len(), "{spec:?}");
        assert!(info.idle_action.is_none_or(|action| action < info.num_actions), "{spec:?}");
        assert!(info.team_reward || !info.common_reward, "a common reward is a team reward: {spec:?}");
        let optimum = env.optimum();
        // Nobody knows what can be earned at best in the plane, by foraging or by pursuit.
        let is_small = matches!(spec, EnvSpec::Pellet(_) | EnvSpec::Matrix(_) | EnvSpec::TwoStep(_));
        let is_searched = info.team_reward && is_small;
        assert!(optimum.is_some() || !is_searched, "{spec:?} has no optimum");
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
fn games_are_found_again() {
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
    let play = |env: &Arc<dyn Env>, seed: u64| {
        let batch = Lockstep::new(Arc::clone(env), seed, 5);
        let mut player = Player::new(1);
        let mut trace = Vec::new();
        for _ in 0..60 {
            batch.step(&batch.legal_actions(&mut player));
            let (w, buffers) = (&batch.world, &batch.buffers);
            let (ints, ended) = (buffers.read(w.ints).clone(), buffers.read(w.ended).clone());
            trace.push((ints, bits(&buffers.read(w.reward)), bits(&buffers.read(w.obs)), ended));
        }
        trace
    };
    for (spec, env) in environments() {
        assert_eq!(play(&env, 7), play(&env, 7), "{spec:?}");
        if !matches!(spec, EnvSpec::Matrix(_) | EnvSpec::TwoStep(_) | EnvSpec::Board(_)) {
            assert!(play(&env, 7) != play(&env, 8), "{spec:?} ignores its seed");
        }
    }
}

/// Worlds moved one by one, in any order, go through what they go through in lockstep; and neither the size of the
/// batch nor a world's neighbours matter.
fn check_batch(spec: &EnvSpec, env: &Arc<dyn Env>, seed: u64) {
    // Two tiles and a half, of which the smaller batch has one and a quarter.
    const WORLDS: u32 = 20;
    let info = env.info();
    let (n, obs_len) = (info.num_agents as usize, info.obs_len as usize);
    let batch = Lockstep::new(Arc::clone(env), seed, WORLDS);
    let smaller = Lockstep::new(Arc::clone(env), seed, WORLDS / 2);
    let mut alone: Vec<World<'_>> = (0..WORLDS)
        .map(|index| {
            let mut world = World { index, ..World::new(&**env, seed) };
            world.reset();
            world
        })
        .collect();
    let mut player = Player::new(2);
    for step in 0..80 {
        let actions = batch.legal_actions(&mut player);
        let followed = batch.step(&actions);
        smaller.step(&actions[..n * WORLDS as usize / 2]);
        let (w, buffers) = (&batch.world, &batch.buffers);
        let (reward, ended) = (buffers.read(w.reward), buffers.read(w.ended));
        let (obs, states, masks) = (buffers.read(w.obs), buffers.read(w.state), buffers.read(w.mask));
        let parts = buffers.read(w.parts);
        // A different order at every step.
        for index in (0..WORLDS).map(|k| (k * 3 + step) % WORLDS) {
            let world = &mut alone[index as usize];
            let end = world.step(&actions[index as usize * n..][..n]);
            let expected = u32::from(end.terminated) * TERMINATED + u32::from(end.truncated) * TRUNCATED;
            assert_eq!(batch.row(&ended, index), [expected], "{spec:?}");
            let team = world.team_reward().unwrap_or(0.0);
            let rewards: Vec<f32> = world.rewards.iter().chain(&[team]).map(|&r| r as f32).collect();
            assert_eq!(bits(batch.row(&reward, index)), bits(&rewards), "{spec:?}");
            assert_seen(&batch, &followed.obs, world, obs_len);
            let vector = world.state_vector();
            assert_eq!(bits(&batch.row(&followed.states, index)[..vector.len()]), bits(&vector), "{spec:?}");
            assert_eq!(batch.row(&followed.masks, index), shown_masks(world), "{spec:?}");
            let told: Vec<f32> = world.parts.iter().map(|&part| part as f32).collect();
            assert_eq!(bits(batch.row(&parts, index)), bits(&told), "{spec:?}");
            if end.any() {
                world.episode += 1;
                world.reset();
            }
            assert_seen(&batch, &obs, world, obs_len);
            assert_eq!(batch.row(&masks, index), shown_masks(world), "{spec:?}");
            let vector = world.state_vector();
            assert_eq!(bits(&batch.row(&states, index)[..vector.len()]), bits(&vector), "{spec:?}");
            assert_eq!(batch.state(index), world.state, "{spec:?}");
        }
        for index in 0..WORLDS / 2 {
            assert_eq!(batch.state(index), smaller.state(index), "{spec:?}");
        }
    }
    let time = batch.buffers.read(batch.world.time);
    let episodes: Vec<u32> = time.chunks_exact(2).map(|time| time[0]).collect();
    assert_eq!(episodes, alone.iter().map(|world| world.episode).collect::<Vec<_>>(), "{spec:?}");
    assert!(episodes.iter().any(|&episode| episode > 0), "{spec:?} was never reset");
}

#[test]
fn the_order_of_a_batch_changes_nothing() {
    // Every table of cells and offsets to its end, as many things as there can be.
    let largest = PelletSpec {
        map: PelletMap::open(16, 16),
        num_agents: 8,
        num_pellets: 8,
        starts: StartLayout::Random,
        sight: Some(3),
        time_limit: 11,
        ..PelletSpec::default()
    };
    let largest = EnvSpec::Pellet(largest);
    let mut worlds = environments();
    worlds.push((largest.clone(), build(&largest)));
    for (spec, env) in worlds {
        check_batch(&spec, &env, 21);
    }
}

/// What each agent may do, as lists see it `[n, |A|]`.
fn shown_masks(world: &World<'_>) -> Vec<u32> {
    let info = world.env.info();
    let mut masks = vec![0; (info.num_agents * info.num_actions) as usize];
    for (agent, mask) in (0..).zip(masks.chunks_exact_mut(info.num_actions as usize)) {
        show_legal(world.env, world.state.view(), agent, mask);
    }
    masks
}

/// The rows of `obs` `[E, n, padded(O)]` that belong to `world` are its observations, zeros behind.
fn assert_seen(batch: &Lockstep, obs: &[f32], world: &World<'_>, obs_len: usize) {
    let rows = batch.row(obs, world.index).chunks_exact(padded(obs_len as u32) as usize);
    for (agent, row) in (0..).zip(rows) {
        assert_eq!(bits(&row[..obs_len]), bits(&world.obs(agent)));
        assert!(row[obs_len..].iter().all(|x| x.to_bits() == 0));
    }
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
        let has_time_limit = !matches!(spec, EnvSpec::Matrix(_) | EnvSpec::TwoStep(_));
        // The plane knows no end of its own unless success is one, and nobody surrounds all evaders by chance.
        let ends_by_itself = match &spec {
            EnvSpec::Particles(_) => !env.info().fixed_length,
            EnvSpec::Pursuit(spec) => !spec.surround,
            _ => true,
        };
        assert_eq!(seen.terminated, ends_by_itself, "{spec:?}");
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
        worlds.push((spec.clone(), build(&spec)));
    }
    for (spec, env) in worlds {
        let (is_seen, is_said) = (every_observation_has_one_state(env.as_ref()), env.info().obs_determines_state);
        // In a continuous world no observation comes twice, so nothing can be seen to contradict.
        assert!(is_seen == is_said || (is_seen && env.info().reals > 0), "{spec:?}");
    }
}

#[test]
fn a_view_overwrites_what_was_there() {
    for (spec, env) in environments() {
        let batch = Lockstep::new(env, 4, 2);
        let (w, buffers) = (&batch.world, &batch.buffers);
        let clean = (buffers.read(w.obs).clone(), buffers.read(w.state).clone(), buffers.read(w.mask).clone());
        // A view shows in what are the `next_…` before it. Behind a state and in masks that never change nobody writes.
        let info = w.env.info();
        buffers.write(w.next_obs).fill(f32::NAN);
        for state in buffers.write(w.next_state).chunks_exact_mut(padded(info.state_len) as usize) {
            state[..info.state_len as usize].fill(f32::NAN);
        }
        if !info.fixed_mask {
            buffers.write(w.next_mask).fill(9);
        }
        buffers.write(w.shown).fill(f32::NAN);
        batch.look();
        let again = (buffers.read(w.obs).clone(), buffers.read(w.state).clone(), buffers.read(w.mask).clone());
        assert_eq!(clean, again, "{spec:?}");
    }
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

/// The same of what is valid in lockstep.
fn check_any_batch(spec: &EnvSpec, seed: u64) {
    if let Ok(env) = spec.build() {
        check_batch(spec, &Arc::from(env), seed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn any_pellet_world_keeps_the_contract(spec in any_pellet(), seed in 0_u64..1000) {
        check_any(&EnvSpec::Pellet(spec), seed);
    }

    #[test]
    fn any_particle_world_keeps_the_contract(spec in any_particles(), seed in 0_u64..1000) {
        check_any(&EnvSpec::Particles(spec), seed);
    }

    #[test]
    fn any_foraging_world_keeps_the_contract(spec in any_foraging(), seed in 0_u64..1000) {
        check_any(&EnvSpec::Foraging(spec), seed);
    }

    #[test]
    fn any_pursuit_world_keeps_the_contract(spec in any_pursuit(), seed in 0_u64..1000) {
        check_any(&EnvSpec::Pursuit(spec), seed);
    }

    #[test]
    fn any_matrix_game_keeps_the_contract(spec in any_matrix(), seed in 0_u64..1000) {
        check_any(&EnvSpec::Matrix(spec), seed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(120) })]

    #[test]
    fn the_order_of_any_pellet_worlds_changes_nothing(spec in any_pellet(), seed in 0_u64..1000) {
        check_any_batch(&EnvSpec::Pellet(spec), seed);
    }

    #[test]
    fn the_order_of_any_particle_worlds_changes_nothing(spec in any_particles(), seed in 0_u64..1000) {
        check_any_batch(&EnvSpec::Particles(spec), seed);
    }
}
