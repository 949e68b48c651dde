//! What is bootstrapped where an episode ends, and that rewards, terminals and next values belong to one env step.

use tandem_core::env::api::Ended;
use tandem_core::experiment::knobs::remarks;
use tandem_core::experiment::spec::ExperimentSpec;
use tandem_core::marl::parts::clock::LOSS;
use tandem_core::marl::settings::{AlgoChoice, LearnerSettings, TargetChoice};
use tandem_core::nn::graph::Buffers;

use crate::support::{ALL, Tiny, Transition, learner, named, near, set_tables, settings, update, write_replay};

const LIMIT: u32 = 25;

/// Q at each distinct observation after learning from one whole episode, again and again, until nothing moves: reward 1
/// per env step, cut off after 25, γ = 0.9.
fn learned_values(algo: AlgoChoice, timeout_terminal: bool, sees_time: bool) -> Vec<f32> {
    let mut env = Tiny::new(1, 1, if sees_time { LIMIT } else { 1 }, LIMIT);
    env.rules = Box::new(|t, _, rewards| {
        rewards.fill(1.0);
        Ended { terminated: false, truncated: t + 1 == LIMIT }
    });
    if !sees_time {
        env.observe = Box::new(|_, _, obs| obs.fill(1.0));
    }
    let updates = 4_000;
    let settings = LearnerSettings {
        gamma: 0.9,
        lr: 1e-2,
        lr_end: 0.0,
        lr_over: LIMIT * updates,
        rollout: LIMIT,
        batch: LIMIT,
        buffer: LIMIT,
        target: TargetChoice::Soft,
        tau: 0.05,
        hidden: 32,
        timeout_terminal,
        ..settings()
    };
    let learner = learner(env, algo, &settings);
    let buffers = learner.start::<f32>();
    (0..updates).for_each(|_| update(&learner, &buffers));
    let q = named(&learner, &buffers, "online.outputs");
    // One of T+1 = 2 observations a segment, one agent, actions padded to 8.
    q.chunks_exact(16).map(|rows| rows[0]).collect()
}

fn assert_all_near(values: &[f32], expected: impl Fn(u32) -> f64, what: &str) {
    for (t, &q) in (0..).zip(values) {
        let expected = expected(t);
        assert!((f64::from(q) / expected - 1.0).abs() < 0.02, "{what}, env step {t}: {q}, not {expected}");
    }
}

#[test]
fn p01_a_time_limit_is_bootstrapped_through_and_the_switch_is_told() {
    for algo in [AlgoChoice::Iql, AlgoChoice::Vdn] {
        assert_all_near(&learned_values(algo, false, false), |_| 10.0, "bootstrapped");
        let wrong = 1.0 / (1.0 - 0.9 * 24.0 / 25.0);
        assert_all_near(&learned_values(algo, true, false), |_| wrong, "a timeout as terminal");
    }
    let values = learned_values(AlgoChoice::Iql, true, true);
    // 9.28 with 25 env steps to go, 1 with one.
    let to_go = |t: u32| (t..LIMIT).fold(0.0, |later, _| 1.0 + 0.9 * later);
    assert_all_near(&values, to_go, "a timeout as terminal, with a clock to see");
    assert!((to_go(0) - 9.28).abs() < 0.01);

    let mut spec = ExperimentSpec::default();
    let told = |spec: &ExperimentSpec| remarks(spec).iter().any(|remark| remark.id == "remark.timeout_terminal");
    assert!(!told(&spec), "bootstrapping is what happens unless the page says otherwise");
    spec.learner.timeout_terminal = true;
    assert!(told(&spec));
}

/// The first state of an episode has a wildly different value; it must not leak into the end of the one before.
#[test]
fn p02_targets_bootstrap_from_the_final_observation_of_the_old_episode() {
    for algo in ALL {
        let mut env = Tiny::new(2, 1, 4, 3);
        env.rules = Box::new(|t, _, rewards| {
            rewards.fill(1.0);
            Ended { terminated: false, truncated: t == 2 }
        });
        let settings = LearnerSettings { rollout: 6, batch: 6, buffer: 6, ..settings() };
        let learner = learner(env, algo, &settings);
        let buffers = learner.start::<f32>();
        let table: [&[f32]; 4] = [&[1e6], &[1.0], &[2.0], &[3.0]];
        set_tables(&learner, &buffers, &table, &table);
        update(&learner, &buffers);
        // Two episodes of states 0, 1, 2, 3: what follows an env step is worth 1, 2, 3.
        let next = named(&learner, &buffers, "next");
        let expected: Vec<f32> = [1.0, 2.0, 3.0, 1.0, 2.0, 3.0].iter().flat_map(|&q| [q, q]).collect();
        assert_eq!(*next, expected, "{algo:?}");
        if algo != AlgoChoice::Qmix {
            let per_agent = if algo == AlgoChoice::Vdn { 2.0 } else { 1.0 };
            let y = named(&learner, &buffers, "td_target");
            let targets: Vec<f32> = y.chunks_exact(y.len() / 6).map(|y| y[0]).collect();
            assert_eq!(targets, [1.0, 2.0, 3.0, 1.0, 2.0, 3.0].map(|q| 1.0 + 0.5 * per_agent * q), "{algo:?}");
        }
    }
}

/// Three env steps with a terminal in the middle: 0 → 1 (reward 1), 1 → 2 (reward 10, the world ends), 0 → 1
/// (reward 100). The second agent is paid ten times as much, the team the sum. γ = 1/2.
fn trajectory() -> [Transition; 3] {
    let transition = |states, actions: [u32; 2], reward: f32, terminal| {
        let rewards = vec![reward, 10.0 * reward, 11.0 * reward];
        Transition { states, actions: actions.to_vec(), rewards, terminal }
    };
    [
        transition([0, 1], [0, 1], 1.0, false),
        transition([1, 2], [1, 0], 10.0, true),
        transition([0, 1], [1, 1], 100.0, false),
    ]
}

#[test]
fn p04_reward_terminal_and_next_value_belong_to_one_env_step() {
    let online: [&[f32]; 3] = [&[3.0, 5.0], &[7.0, 11.0], &[13.0, 17.0]];
    let target: [&[f32]; 3] = [&[20.0, 40.0], &[60.0, 80.0], &[1000.0, 2000.0]];
    // Values taken, and y = r + γ·(1 − terminal)·max Q⁻(s', ·): the best of state 1 is 80, state 2 never counts.
    let taken = [[3.0, 5.0], [11.0, 7.0], [5.0, 5.0]];
    let own = [[1.0 + 40.0, 10.0 + 40.0], [10.0, 100.0], [100.0 + 40.0, 1000.0 + 40.0]];
    let team = [11.0 + 80.0, 110.0, 1100.0 + 80.0];
    let sums = [8.0, 18.0, 10.0];
    let mean_square = |errors: &[f64]| errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64;
    // The same three env steps as three segments of one, and as one segment of three.
    for segment in [1, 3] {
        let build = |algo| {
            let mut env = Tiny::new(2, 2, 3, 3);
            env.info.fixed_length = segment == 3;
            let count = 3 / segment;
            let learner = learner(env, algo, &LearnerSettings { batch: count, buffer: count, ..settings() });
            let buffers = learner.start::<f64>();
            set_tables(&learner, &buffers, &online, &target);
            write_replay(&learner, &buffers, &trajectory());
            if segment == 3 {
                // Within a segment the observation after the terminal is what its next env step begins with.
                let ring = &learner.replay().expect("value-based").ring;
                let width = buffers.read(ring.obs).len() / 8;
                assert_eq!(buffers.read(ring.obs)[4 * width], 1.0, "state 0 at t = 2");
            }
            learner.gradient_steps.run(&buffers);
            (learner, buffers)
        };
        let (iql, buffers) = build(AlgoChoice::Iql);
        assert_eq!(*named(&iql, &buffers, "taken"), taken.concat(), "T = {segment}");
        assert_eq!(*named(&iql, &buffers, "td_target"), own.concat(), "T = {segment}");
        let errors: Vec<f64> = own.concat().iter().zip(taken.concat()).map(|(y, q)| y - q).collect();
        assert_loss(buffers.read(iql.clock.scalars)[LOSS], mean_square(&errors));

        let (vdn, buffers) = build(AlgoChoice::Vdn);
        assert_eq!(*named(&vdn, &buffers, "q_tot"), sums, "T = {segment}");
        assert_eq!(*named(&vdn, &buffers, "td_target"), team, "T = {segment}");
        let errors: Vec<f64> = team.iter().zip(sums).map(|(y, q)| y - q).collect();
        assert_loss(buffers.read(vdn.clock.scalars)[LOSS], mean_square(&errors));

        let (qmix, buffers) = build(AlgoChoice::Qmix);
        let (y, next) = (named(&qmix, &buffers, "td_target"), named(&qmix, &buffers, "q_tot.next"));
        let by_hand = [11.0 + 0.5 * next[0], 110.0, 1100.0 + 0.5 * next[2]];
        assert_eq!(*y, by_hand, "T = {segment}");
    }
}

fn assert_loss(loss: f64, expected: f64) {
    assert!(near(loss, expected), "loss {loss}, by hand {expected}");
}

/// What a rollout stores: observation, reward, end and what follows, each of the same env step.
#[test]
fn p04_a_stored_transition_is_one_env_step() {
    let mut env = Tiny::new(1, 1, 8, 9);
    env.rules = Box::new(|t, _, rewards| {
        rewards[0] = [1.0, 10.0][t as usize];
        Ended { terminated: t == 1, truncated: false }
    });
    let learner = learner(env, AlgoChoice::Iql, &LearnerSettings { rollout: 3, batch: 3, buffer: 3, ..settings() });
    let buffers = learner.start::<f32>();
    learner.rollout.run(&buffers);
    let ring = &learner.replay().expect("value-based").ring;
    let state = buffers.read(ring.state);
    let seen: Vec<usize> = state.chunks_exact(8).filter_map(|row| row.iter().position(|&x| x == 1.0)).collect();
    assert_eq!(seen, [0, 1, 1, 2, 0, 1]);
    assert_eq!(*buffers.read(ring.obs), *state);
    let own: Vec<f32> = buffers.read(ring.reward).iter().step_by(2).copied().collect();
    assert_eq!(own, [1.0, 10.0, 1.0]);
    assert_eq!(*buffers.read(ring.terminal), [0.0, 1.0, 0.0]);
    assert_eq!(*buffers.read(ring.weight), [1.0; 3]);
}

/// Whole episodes and single env steps are two ways to keep the same transitions.
#[test]
fn segments_of_episodes_and_of_env_steps_give_the_same_gradient() {
    for algo in ALL {
        let gradient = |whole: bool| {
            let mut env = Tiny::new(2, 3, 3, 2);
            env.info.fixed_length = whole;
            env.rules = Box::new(|t, actions, rewards| {
                rewards.fill(t as f32 + actions[0] as f32 - 0.5 * actions[1] as f32);
                Ended { terminated: t == 1, truncated: false }
            });
            let count = if whole { 5 } else { 10 };
            let settings = LearnerSettings { envs: 5, rollout: 2, batch: count, buffer: count, ..settings() };
            let learner = learner(env, algo, &settings);
            assert_eq!(learner.replay().expect("value-based").batch.steps, if whole { 2 } else { 1 });
            let buffers: Buffers<f64> = learner.start();
            update(&learner, &buffers);
            let grad = buffers.read(learner.agents.block.grad).clone();
            (buffers.read(learner.clock.scalars)[LOSS], grad)
        };
        let ((whole_loss, whole), (single_loss, single)) = (gradient(true), gradient(false));
        assert!(near(whole_loss, single_loss) && whole_loss > 0.1, "{algo:?}: {whole_loss} and {single_loss}");
        assert!(whole.iter().zip(&single).all(|(a, b)| near(*a, *b)), "{algo:?}");
        assert!(whole.iter().any(|g| g.abs() > 1e-2), "{algo:?}");
    }
}
