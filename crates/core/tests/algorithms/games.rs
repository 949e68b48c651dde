//! Games with known answers, learned: what each algorithm must find, and what it cannot represent.

use std::sync::Arc;

use tandem_core::base::rng::{Stream, below};
use tandem_core::env::api::{Env, EnvState, StepOut};
use tandem_core::experiment::presets::presets;
use tandem_core::experiment::run::Run;
use tandem_core::experiment::spec::{AlgoChoice, EnvChoice, ExperimentSpec, ExploreChoice, GameChoice};
use tandem_core::experiment::world;
use tandem_core::marl::probe::Probe;

use crate::support::ALL;

fn trained(spec: ExperimentSpec, updates: u32) -> Run {
    let mut run = Run::new(spec, 1).expect("a valid experiment");
    (0..updates).for_each(|_| run.update());
    run
}

/// Mean returns of the last evaluations: where the greedy policy has settled.
fn settled(run: &Run) -> Vec<f32> {
    run.evals.iter().rev().take(10).map(|point| point.mean).collect()
}

#[test]
fn p19_the_smallest_cooperative_game_is_learned() {
    for algo in ALL {
        for seed in 1..=3 {
            let mut spec = ExperimentSpec { seed, ..ExperimentSpec::defaults(EnvChoice::Matrix, algo) };
            (spec.matrix.game, spec.learner.lr) = (GameChoice::Sanity, 2e-3);
            let run = trained(spec, 1_500);
            assert_eq!(settled(&run), [1.0; 10], "{algo:?}, seed {seed}: both play action 1, each pays 0.5");
            let probe = Probe { learner: &run.learner, buffers: &run.buffers };
            let mut state = EnvState::new(run.learner.env.info());
            run.learner.env.reset_to(state.view_mut(), 0);
            let q = probe.outputs(state.view());
            let joint = |a: usize, b: usize| match probe.team_value(state.view(), false) {
                Some(value) => value.q_tot(&[q[0][a], q[1][b]], 2)[0],
                // An independent learner's value is the mean over what the other one did.
                None => q[0][a] - 1.0 / 6.0 + 0.5 * f32::from(u8::from(b == 0)),
            };
            for (a, b, payoff) in [(0, 0, 1.0), (0, 1, 0.5), (2, 0, 0.5), (1, 2, 0.0)] {
                let value = joint(a, b);
                assert!((value - payoff).abs() < 0.1, "{algo:?}, seed {seed}: ({a}, {b}) is worth {value}");
            }
        }
    }
}

fn two_step(algo: AlgoChoice, seed: u64, explore: ExploreChoice) -> ExperimentSpec {
    let mut spec = ExperimentSpec { seed, ..ExperimentSpec::defaults(EnvChoice::TwoStep, algo) };
    spec.learner.explore = explore;
    (spec.learner.eps, spec.learner.eps_end, spec.learner.eps_over) = (1.0, 0.05, 20_000);
    spec
}

fn assert_returns(algo: AlgoChoice, explore: ExploreChoice, expected: f32) {
    for seed in 1..=3 {
        let run = trained(two_step(algo, seed, explore), 2_000);
        assert_eq!(settled(&run), [expected; 10], "{algo:?}, {explore:?}, seed {seed}");
    }
}

#[test]
fn p20_uniform_data_qmix_reaches_8() {
    assert_returns(AlgoChoice::Qmix, ExploreChoice::Uniform, 8.0);
}

#[test]
fn p20_uniform_data_vdn_and_iql_settle_for_7() {
    assert_returns(AlgoChoice::Vdn, ExploreChoice::Uniform, 7.0);
    assert_returns(AlgoChoice::Iql, ExploreChoice::Uniform, 7.0);
}

/// Data from where the agents play: the sum need not fit what they avoid.
#[test]
fn p20_epsilon_greedy_data_vdn_reaches_8() {
    assert_returns(AlgoChoice::Vdn, ExploreChoice::EpsilonGreedy, 8.0);
}

/// Tabular Q-learning on joint actions: what a learner without a factorisation finds in the same uniform data.
#[test]
fn p20_uniform_data_a_joint_learner_reaches_8() {
    let spec = two_step(AlgoChoice::Qmix, 1, ExploreChoice::Uniform);
    let env: Arc<dyn Env> = world::build(&spec).expect("a valid world").into();
    for seed in 1..=3 {
        let (stream, explore) = (Stream::new(seed, "environment"), Stream::new(seed, "explore"));
        // State 1, 2A, 2B; joint action 2·a + b.
        let mut q = [[0.0_f32; 4]; 3];
        let best = |row: &[f32; 4]| (1..4).fold(0, |best, k| if row[k] > row[best] { k } else { best });
        let play = |q: &mut [[f32; 4]; 3], episode: u32, choose: &dyn Fn(&[f32; 4], u32) -> usize, rate: f32| {
            let mut state = EnvState::new(env.info());
            env.reset(state.view_mut(), &stream.env(0, episode, 0));
            let (mut rewards, mut parts, mut sum) = ([0.0; 2], [0.0; 2], 0.0);
            for step in 0..2 {
                let at = state.ints[0] as usize;
                let joint = choose(&q[at], step);
                let mut out = StepOut { rewards: &mut rewards, parts: &mut parts };
                let actions = [joint as u32 / 2, joint as u32 % 2];
                let ended = env.step(state.view_mut(), &actions, &stream.env(0, episode, step + 1), &mut out);
                let next = &q[state.ints[0] as usize];
                let later = if ended.terminated { 0.0 } else { spec.learner.gamma * next[best(next)] };
                q[at][joint] += rate * (rewards[0] as f32 + later - q[at][joint]);
                sum += rewards[0];
            }
            sum
        };
        for episode in 0..2_000 {
            let uniform = |_: &[f32; 4], step: u32| below(explore.words([episode, step, 0, 0])[0], 4) as usize;
            play(&mut q, episode, &uniform, 0.1);
        }
        assert_eq!(play(&mut q, 2_000, &|row, _| best(row), 0.0), 8.0, "seed {seed}: {q:?}");
        let expected = [[6.93, 6.93, 7.92, 7.92], [7.0; 4], [0.0, 1.0, 1.0, 8.0]];
        for (row, expected) in q.iter().zip(&expected) {
            assert!(row.iter().zip(expected).all(|(q, e)| (q - e).abs() < 0.01), "seed {seed}: {q:?}");
        }
    }
}

/// Which of the two is shown is part of the experiment and is said beside it.
#[test]
fn p20_the_presets_name_their_data() {
    let texts = include_str!("../../../../assets/text/experiments.ron");
    let games: Vec<_> = presets().iter().filter(|preset| preset.read().spec.env == EnvChoice::TwoStep).collect();
    assert!(games.len() >= 2, "QMIX and VDN");
    for preset in games {
        let spec = &preset.read().spec;
        let is_uniform = spec.learner.explore == ExploreChoice::Uniform;
        assert_eq!(is_uniform, !spec.algo.is_policy_gradient(), "{}: policies gather their own data", preset.id);
        let answer = texts.split(&format!("{:?}", preset.answer_id())).nth(1).expect("it has an answer");
        let english = answer.lines().nth(1).expect("the English text follows");
        let data = if is_uniform { "uniform" } else { "ε" };
        assert!(english.contains(data) && english.contains("explor"), "{}: {english}", preset.id);
    }
}
