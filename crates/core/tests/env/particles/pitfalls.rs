//! What others got wrong about particle worlds: rewards that differ, collisions with oneself, conventions, the
//! integrator, walls that are not there, ends.

use tandem_core::env::api::{Env, EnvState, Frame, StepOut};
use tandem_core::env::particles::{Convention, ParticleError, ParticleSpec, Particles, Placement, Scenario};

use crate::support::{Player, World};

const COAST: u32 = 0;
const RIGHT: u32 = 2;

fn build(spec: &ParticleSpec) -> Particles {
    spec.validate().expect("a world")
}

/// Agents at rest there, landmarks in a row above them.
fn at_rest(positions: &[[f64; 2]]) -> Placement {
    Placement {
        positions: positions.to_vec(),
        velocities: vec![[0.0; 2]; positions.len()],
        landmarks: (0..positions.len()).map(|k| [k as f64, 1.0]).collect(),
        ..Placement::default()
    }
}

fn placed<'a>(env: &'a Particles, placement: &Placement) -> World<'a> {
    let mut world = World::new(env, 0);
    env.place(world.state.view_mut(), placement);
    world
}

/// Rewards and parts of a state.
fn paid(env: &Particles, state: &EnvState) -> (Vec<f64>, Vec<f64>) {
    let info = env.info();
    let n = info.num_agents as usize;
    let (mut rewards, mut parts) = (vec![0.0; n], vec![0.0; n * info.part_names.len()]);
    env.pay(state.view(), &mut StepOut { rewards: &mut rewards, parts: &mut parts });
    (rewards, parts)
}

#[test]
fn p52_agents_that_touch_are_paid_less_and_the_parts_say_why() {
    let env = build(&ParticleSpec { local_ratio: 0.25, ..ParticleSpec::default() });
    let mut world = placed(&env, &at_rest(&[[0.0, 0.0], [0.2, 0.0], [-0.9, 0.0]]));
    world.step(&[COAST; 3]);
    let (global, local) = (world.parts[0], [world.parts[1], world.parts[3], world.parts[5]]);
    assert_eq!(local, [-1.0, -1.0, 0.0]);
    assert_eq!(world.rewards, [global * 0.75 - 0.25, global * 0.75 - 0.25, global * 0.75]);
    assert!(!env.info().common_reward && !env.info().team_reward);
    // One reward for all where the rules make it one.
    for spec in [
        ParticleSpec { local_ratio: 0.0, ..ParticleSpec::default() },
        ParticleSpec { agents: 1, ..ParticleSpec::default() },
        ParticleSpec { convention: Convention::OpenAi, ..ParticleSpec::default() },
        ParticleSpec { curriculum: Some(0), ..ParticleSpec::default() },
    ] {
        assert!(build(&spec).info().common_reward, "{spec:?}");
    }
}

#[test]
fn p53_nobody_collides_with_itself() {
    let apart = [[0.0, 0.0], [0.5, 0.0], [-0.5, 0.0]];
    let env = build(&ParticleSpec::default());
    let mut world = placed(&env, &at_rest(&apart));
    world.step(&[COAST; 3]);
    assert_eq!([world.parts[1], world.parts[3], world.parts[5]], [0.0; 3]);
    // The original does count it, and says so in a part of its own.
    let original = build(&ParticleSpec { convention: Convention::OpenAi, ..ParticleSpec::default() });
    assert_eq!(original.info().part_names[2], "part.self_collision");
    let mut world = placed(&original, &at_rest(&apart));
    world.step(&[COAST; 3]);
    assert_eq!(world.parts[..3], [world.parts[0], 0.0, -3.0]);
}

/// The same play paid by every convention. With G the sum of global parts and C the ordered pairs in contact, over an
/// episode of 25 env steps with three agents: A = (G − C/3)/2, B = (3G − C)/2, C = G, D = 3G − C − 75, E = A − 12.5.
#[test]
fn p54_conventions_convert_by_the_table() {
    let specs = [
        ParticleSpec::default(),
        ParticleSpec { local_ratio: 0.0, ..ParticleSpec::default() },
        ParticleSpec { convention: Convention::OpenAi, ..ParticleSpec::default() },
    ];
    let [v3, global, original] = specs.map(|spec| build(&spec));
    let mut collided = 0.0;
    for seed in 0..200 {
        let mut world = World::new(&v3, seed);
        let mut player = Player::new(seed);
        // Crowded, so that there are collisions.
        let mut start = v3.placement(world.state.view());
        start.positions.iter_mut().for_each(|at| *at = at.map(|x| 0.3 * x));
        v3.place(world.state.view_mut(), &start);
        let (mut a, mut b, mut c, mut d, mut g, mut pairs) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
        for _ in 0..25 {
            let actions = player.joint(&world);
            world.step(&actions);
            let sum: f64 = world.rewards.iter().sum();
            a += sum / 3.0;
            b += sum;
            g += world.parts[0];
            pairs -= world.parts[1] + world.parts[3] + world.parts[5];
            c += paid(&global, &world.state).0[0];
            d += paid(&original, &world.state).0[0];
        }
        collided += pairs;
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}, expected {expected}");
        near(a, (g - pairs / 3.0) / 2.0);
        near(b, (3.0 * g - pairs) / 2.0);
        near(c, g);
        near(d, 3.0 * g - pairs - 75.0);
        near(a, (d + 75.0) / 6.0);
        near(2.0 * b, d + 75.0);
    }
    assert!(collided > 1_000.0, "{collided}");
}

/// A push from rest moves nobody in its own env step, but in the next: p += 0.1·v, then v = 0.75·v + 0.1·5. The original
/// accelerates first.
#[test]
fn p55_places_move_with_the_old_velocity() {
    let trace = |convention: Convention| -> Vec<(f64, f64)> {
        let env = build(&ParticleSpec { agents: 1, convention, ..ParticleSpec::default() });
        let mut world = placed(&env, &at_rest(&[[0.0, 0.0]]));
        let step = |action: u32| {
            world.step(&[action]);
            let now = env.placement(world.state.view());
            (now.positions[0][0], now.velocities[0][0])
        };
        [RIGHT, RIGHT, COAST].map(step).to_vec()
    };
    let check = |found: Vec<(f64, f64)>, expected: [(f64, f64); 3]| {
        for (found, expected) in found.iter().zip(expected) {
            let off = (found.0 - expected.0).abs().max((found.1 - expected.1).abs());
            assert!(off < 1e-15, "{found:?}, expected {expected:?}");
        }
    };
    check(trace(Convention::V3), [(0.0, 0.5), (0.05, 0.875), (0.1375, 0.65625)]);
    check(trace(Convention::OpenAi), [(0.05, 0.5), (0.1375, 0.875), (0.203_125, 0.65625)]);
}

#[test]
fn p56_agents_may_leave_the_square_and_are_seen_there() {
    let env = build(&ParticleSpec { agents: 1, ..ParticleSpec::default() });
    let mut world = placed(&env, &at_rest(&[[0.0, 0.0]]));
    for _ in 0..25 {
        world.step(&[RIGHT]);
    }
    let x = env.placement(world.state.view()).positions[0][0];
    assert!(x > 3.0, "{x}");
    assert_eq!(world.obs(0)[2], x as f32);
    let Frame::Particles { agents, .. } = env.frame(world.state.view()) else { unreachable!("a particle world") };
    assert_eq!(agents[0].at[0], x as f32);
}

#[test]
fn p58_episodes_end_for_all_at_once_by_the_time_limit() {
    for scenario in Scenario::ALL {
        let env = build(&ParticleSpec::new(scenario));
        assert!(env.info().fixed_length);
        let mut world = World::new(&env, 3);
        let mut player = Player::new(3);
        for step in 1..=25 {
            let actions = player.joint(&world);
            let ended = world.step(&actions);
            assert_eq!((ended.terminated, ended.truncated), (false, step == 25), "{scenario:?}");
        }
    }
    // Success ends an episode only where that is asked for, and never on the last env step.
    let covered = Placement { landmarks: vec![[0.0, 0.0], [0.5, 0.0]], ..at_rest(&[[0.0, 0.0], [0.5, 0.0]]) };
    for (terminate_on_success, max_cycles, expected) in
        [(false, 25, (false, false)), (true, 25, (true, false)), (true, 1, (false, true))]
    {
        let env = build(&ParticleSpec { agents: 2, terminate_on_success, max_cycles, ..ParticleSpec::default() });
        assert_eq!(env.info().fixed_length, !terminate_on_success);
        let ended = placed(&env, &covered).step(&[COAST; 2]);
        assert_eq!((ended.terminated, ended.truncated), expected);
    }
}

#[test]
fn what_is_said_is_heard_in_the_same_env_step_and_drawn() {
    let env = build(&ParticleSpec::new(Scenario::Reference));
    let mut world = World::new(&env, 1);
    world.step(&[5 * 7 + RIGHT, 5 * 2 + COAST]);
    assert_eq!((world.obs(1)[11 + 7], world.obs(0)[11 + 2]), (1.0, 1.0));
    let Frame::Particles { words, landmarks, pairs, .. } = env.frame(world.state.view()) else {
        unreachable!("a particle world")
    };
    assert_eq!(words, [Some(7), Some(2)]);
    let goals = env.placement(world.state.view()).goals;
    assert_eq!(pairs, [(1, goals[0]), (0, goals[1])], "each is paid for the other");
    for (index, landmark) in (0..).zip(&landmarks) {
        assert_eq!(landmark.is_goal, goals.contains(&index));
        assert_eq!(landmark.tint.map(|tint| tint[index as usize]), Some(0.75));
    }
}

#[test]
fn the_picture_shows_contacts_and_nearest_agents() {
    let env = build(&ParticleSpec::default());
    let placement = Placement {
        landmarks: vec![[1.0, 0.0], [-1.0, 0.0], [0.1, 0.0]],
        ..at_rest(&[[0.0, 0.0], [0.29, 0.0], [-0.9, 0.0]])
    };
    let world = placed(&env, &placement);
    let Frame::Particles { touching, pairs, words, .. } = env.frame(world.state.view()) else {
        unreachable!("a particle world")
    };
    assert_eq!((touching, pairs), (vec![(0, 1)], vec![(1, 0), (2, 1), (0, 2)]));
    assert!(words.is_empty());
}

#[test]
fn bad_worlds_are_refused_by_parameter_value_and_range() {
    let refused = |spec: ParticleSpec| spec.validate().expect_err("no world").to_string();
    let spread = ParticleSpec::default;
    let tag = || ParticleSpec::new(Scenario::Tag);
    assert_eq!(refused(ParticleSpec { agents: 0, ..spread() }), "The parameter N is 0: it must be from 1 to 16.");
    assert_eq!(refused(ParticleSpec { agents: 17, ..spread() }), "The parameter N is 17: it must be from 1 to 16.");
    assert_eq!(
        refused(ParticleSpec { agents: 16, ..ParticleSpec::new(Scenario::Adversary) }),
        "The parameter N is 16: it must be from 1 to 15."
    );
    for local_ratio in [-0.1, 1.5, f64::INFINITY] {
        assert_eq!(
            refused(ParticleSpec { local_ratio, ..spread() }),
            format!("The parameter local_ratio is {local_ratio}: it must be from 0 to 1.")
        );
    }
    assert!(matches!(
        ParticleSpec { local_ratio: f64::NAN, ..ParticleSpec::new(Scenario::Reference) }.validate(),
        Err(ParticleError::Range(_))
    ));
    assert_eq!(
        refused(ParticleSpec { max_cycles: 0, ..spread() }),
        "The parameter max_cycles is 0: it must be from 1 to 10000."
    );
    assert_eq!(refused(ParticleSpec { good: 0, ..tag() }), "The parameter num_good is 0: it must be from 1 to 15.");
    assert_eq!(
        refused(ParticleSpec { good: 8, adversaries: 9, ..tag() }),
        "Parameters num_adversaries 9 and num_good 8 make 17 agents: at most 16 are possible together."
    );
    assert_eq!(
        refused(ParticleSpec { near_agents: Some(0), ..spread() }),
        "The parameter num_agent_neighbors is 0: it must be from 1 to 16."
    );
}
