//! Advantages and returns against trajectories computed by hand: terminals, time limits, padding, episodes end to end.

use tandem_core::env::api::Ended;
use tandem_core::marl::learner::Learner;
use tandem_core::marl::settings::{AdvantageChoice, AlgoChoice, DeviationChoice, LearnerSettings, NormAdvChoice};
use tandem_core::nn::graph::Buffers;

use crate::support::{POLICIES, Tiny, learner, named, near, policy_settings, run_calls, words_named, write_named};

/// An env step as the kernels see it.
#[derive(Clone, Copy, Debug)]
struct Moment {
    reward: f64,
    value: f64,
    next: f64,
    terminal: bool,
    ended: bool,
    happened: bool,
}

const STEP: Moment = Moment { reward: 0.0, value: 0.0, next: 0.0, terminal: false, ended: false, happened: true };

/// Advantages and targets of one environment with one agent, by the run's own call.
fn judged(moments: &[Moment], settings: &LearnerSettings) -> (Vec<f64>, Vec<f64>) {
    let settings = LearnerSettings { rollout: moments.len() as u32, ..settings.clone() };
    let learner = learner(Tiny::new(1, 2, 2, 9), AlgoChoice::Ippo, &settings);
    let buffers = learner.start::<f64>();
    let rollout = learner.on_policy().expect("IPPO").rollout;
    let flag = |holds: bool| if holds { 1.0 } else { 0.0 };
    for (t, moment) in moments.iter().enumerate() {
        buffers.write(rollout.reward)[2 * t] = moment.reward;
        buffers.write(rollout.terminal)[t] = flag(moment.terminal);
        buffers.write(rollout.ended)[t] = flag(moment.ended);
        buffers.write(rollout.weight)[t] = flag(moment.happened);
        write_named(&learner, &buffers, "rollout.value")[t] = moment.value;
        write_named(&learner, &buffers, "rollout.next_value")[t] = moment.next;
    }
    run_calls(&learner.gradient_steps, "advantages", &buffers);
    let read = |name: &str| named(&learner, &buffers, name).clone();
    (read("rollout.advantage"), read("rollout.target"))
}

fn assert_all_near(got: &[f64], expected: &[f64], what: &str) {
    assert!(got.len() == expected.len() && got.iter().zip(expected).all(|(g, e)| near(*g, *e)), "{what}: {got:?}");
}

/// γ = λ = 1/2.
fn halves(advantage: AdvantageChoice) -> LearnerSettings {
    LearnerSettings { gamma: 0.5, gae_lambda: 0.5, n_step: 2, advantage, ..policy_settings() }
}

/// Three env steps, the second cut by the time limit; the third begins another episode, in the middle of which the
/// rollout ends.
fn cut() -> [Moment; 3] {
    [
        Moment { reward: 1.0, value: 2.0, next: 4.0, ..STEP },
        Moment { reward: 3.0, value: 4.0, next: 6.0, ended: true, ..STEP },
        Moment { reward: 5.0, value: 8.0, next: 10.0, ..STEP },
    ]
}

#[test]
fn gae_is_what_a_hand_computes() {
    // δ = 1 + 4/2 − 2, 3 + 6/2 − 4, 5 + 10/2 − 8; A_0 = δ_0 + δ_1/4.
    let (advantage, target) = judged(&cut(), &halves(AdvantageChoice::Gae));
    assert_all_near(&advantage, &[1.5, 2.0, 2.0], "A");
    assert_all_near(&target, &[3.5, 6.0, 10.0], "R");
}

#[test]
fn p06_the_value_behind_a_real_end_is_dropped_and_that_behind_a_time_limit_is_not() {
    for (last, rewarded) in [(0, [1.0, 3.0, 5.0]), (1, [1.0, 3.0, 5.0])] {
        // The end at the rollout's last env step, and before it.
        let mut moments = cut();
        let at = if last == 0 { 2 } else { 1 };
        for advantage in [AdvantageChoice::Gae, AdvantageChoice::NStep] {
            let through = judged(&moments, &halves(advantage)).1[at];
            assert!(near(through, rewarded[at] + 0.5 * moments[at].next), "{advantage:?}: {through}");
            (moments[at].terminal, moments[at].ended) = (true, true);
            let ended = judged(&moments, &halves(advantage)).1[at];
            assert!(near(ended, rewarded[at]), "{advantage:?}: {ended}");
            moments = cut();
        }
    }
}

#[test]
fn n_step_returns_are_what_a_hand_computes() {
    let mut moments = cut();
    // Two rewards and a value; one, where the time limit cuts; one, where the rollout ends.
    let (advantage, target) = judged(&moments, &halves(AdvantageChoice::NStep));
    assert_all_near(&target, &[1.0 + 0.5 * 3.0 + 0.25 * 6.0, 3.0 + 0.5 * 6.0, 5.0 + 0.5 * 10.0], "R");
    assert_all_near(&advantage, &[target[0] - 2.0, target[1] - 4.0, target[2] - 8.0], "A");
    moments[1].terminal = true;
    let (_, target) = judged(&moments, &halves(AdvantageChoice::NStep));
    assert_all_near(&target, &[1.0 + 0.5 * 3.0, 3.0, 5.0 + 0.5 * 10.0], "R with an end");
    let one = LearnerSettings { n_step: 1, ..halves(AdvantageChoice::NStep) };
    assert_all_near(&judged(&cut(), &one).1, &[1.0 + 0.5 * 4.0, 3.0 + 0.5 * 6.0, 5.0 + 0.5 * 10.0], "one step");
}

#[test]
fn padding_has_no_advantage_and_reaches_nothing() {
    let padding = Moment { reward: 1e9, value: 1e9, next: 1e9, ended: true, happened: false, ..STEP };
    let end = Moment { terminal: true, ended: true, ..cut()[1] };
    for advantage in [AdvantageChoice::Gae, AdvantageChoice::NStep] {
        let (short, _) = judged(&[cut()[0], end], &halves(advantage));
        let (long, _) = judged(&[cut()[0], end, padding, padding], &halves(advantage));
        assert_eq!(long, [&short[..], &[0.0, 0.0]].concat(), "{advantage:?}");
    }
}

#[test]
fn p03_episodes_end_to_end_have_the_advantages_of_each_alone() {
    let first = [cut()[0], cut()[1]];
    let wild = Moment { reward: -7e3, value: 9e3, next: -4e3, ..STEP };
    let second = [wild, Moment { reward: 2.5e3, value: 1e3, next: 3e3, ..STEP }, wild];
    for terminal in [true, false] {
        for advantage in [AdvantageChoice::Gae, AdvantageChoice::NStep] {
            let settings = halves(advantage);
            let first = [first[0], Moment { terminal, ..first[1] }];
            let (both, targets) = judged(&[&first[..], &second[..]].concat(), &settings);
            let (one, two) = (judged(&first, &settings), judged(&second, &settings));
            assert_eq!(both, [one.0, two.0].concat(), "{advantage:?}, terminal {terminal}");
            assert_eq!(targets, [one.1, two.1].concat(), "{advantage:?}, terminal {terminal}");
        }
    }
}

/// Group-relative advantages of episodes of one start with these returns.
fn relative(returns: &[f64], deviation: DeviationChoice) -> Vec<f64> {
    let count = returns.len() as u32;
    let settings = LearnerSettings {
        advantage: AdvantageChoice::Group,
        envs: count,
        group: count,
        rollout: 2,
        deviation,
        gamma: 0.5,
        ..policy_settings()
    };
    let learner = learner(Tiny::new(1, 2, 2, 2), AlgoChoice::Ippo, &settings);
    let buffers = learner.start::<f64>();
    let rollout = learner.on_policy().expect("IPPO").rollout;
    buffers.write(rollout.weight).fill(1.0);
    for (e, &r) in returns.iter().enumerate() {
        // R = r/2 + (r)/2: half now, all of it a step later at γ = 1/2.
        buffers.write(rollout.reward)[2 * e] = r / 2.0;
        buffers.write(rollout.reward)[2 * (returns.len() + e)] = r;
    }
    run_calls(&learner.gradient_steps, "group_relative", &buffers);
    let advantage = named(&learner, &buffers, "rollout.advantage");
    let (now, later) = advantage.split_at(returns.len());
    assert_eq!(now, later, "an episode's env steps share its advantage");
    now.to_vec()
}

#[test]
fn group_relative_advantages_are_those_of_the_formula() {
    use DeviationChoice::{Population, Sample};
    let check = |returns: &[f64], deviation, expected: &[f64], within: f64| {
        let got = relative(returns, deviation);
        assert!(got.iter().zip(expected).all(|(g, e)| (g - e).abs() < within), "{returns:?}, {deviation:?}: {got:?}");
    };
    check(&[0.0, 0.0, 1.0, 1.0], Population, &[-1.0, -1.0, 1.0, 1.0], 1e-12);
    let sample = 0.75_f64.sqrt();
    check(&[0.0, 0.0, 1.0, 1.0], Sample, &[-sample, -sample, sample, sample], 1e-12);
    check(&[0.85, 0.60, 0.90], Population, &[0.508, -1.397, 0.889], 5e-4);
    for deviation in [Population, Sample] {
        check(&[0.3; 4], deviation, &[0.0; 4], 1e-300);
    }
}

/// Each agent is compared with itself in its own group, and with nobody else.
#[test]
fn groups_and_agents_do_not_mix() {
    let (agents, group) = (2, 3);
    let settings = LearnerSettings {
        advantage: AdvantageChoice::Group,
        envs: 6,
        group: group as u32,
        rollout: 1,
        deviation: DeviationChoice::Population,
        ..policy_settings()
    };
    let learner = learner(Tiny::new(agents as u32, 2, 1, 1), AlgoChoice::Ippo, &settings);
    let buffers = learner.start::<f64>();
    let rollout = learner.on_policy().expect("IPPO").rollout;
    buffers.write(rollout.weight).fill(1.0);
    // Of the second agent in the second group, all returns are equal.
    let returns = [[0.0, 9.0], [1.0, 5.0], [2.0, 1.0], [100.0, 7.0], [0.0, 7.0], [-100.0, 7.0]];
    for (e, returns) in returns.iter().enumerate() {
        buffers.write(rollout.reward)[e * (agents + 1)..][..agents].copy_from_slice(returns);
    }
    run_calls(&learner.gradient_steps, "group_relative", &buffers);
    let s = 1.5_f64.sqrt();
    let expected = [[-s, s], [0.0, 0.0], [s, -s], [s, 0.0], [0.0, 0.0], [-s, 0.0]].concat();
    assert_all_near(&named(&learner, &buffers, "rollout.advantage"), &expected, "group-relative");
}

/// In f32 the mean of equal numbers is not exactly each of them: what is left must not be divided by next to nothing.
#[test]
fn advantages_that_are_all_equal_are_normalised_to_nothing() {
    for (norm_adv, count) in [(NormAdvChoice::Batch, 128), (NormAdvChoice::Batch, 1), (NormAdvChoice::Agent, 256)] {
        for advantage in [0.3, 0.7, 1.3] {
            let settings = LearnerSettings { envs: count, norm_adv, ..policy_settings() };
            let learner = learner(Tiny::new(2, 2, 1, 1), AlgoChoice::Ippo, &settings);
            let buffers = learner.start::<f32>();
            words_named(&learner, &buffers, "minibatch.mask").fill(1);
            write_named(&learner, &buffers, "minibatch.weight").fill(1.0);
            write_named(&learner, &buffers, "minibatch.advantage").fill(advantage);
            run_calls(&learner.gradient_steps, "policy_loss", &buffers);
            let scaled = named(&learner, &buffers, "minibatch.scaled_advantage");
            assert!(scaled.iter().all(|&a| a == 0.0), "{count} of {advantage}: {}", scaled[0]);
        }
    }
}

/// Three groups of four pellet worlds, cut off after 12 env steps.
fn grouped() -> (Learner, Buffers<f32>) {
    use tandem_core::experiment::spec::{EnvChoice, ExperimentSpec};
    use tandem_core::marl::learner::Evaluations;
    let mut spec = ExperimentSpec::defaults(EnvChoice::Pellet, AlgoChoice::Ippo);
    (spec.pellet.limit, spec.learner.rollout) = (12, 12);
    (spec.learner.advantage, spec.learner.group, spec.learner.envs) = (AdvantageChoice::Group, 4, 12);
    let env = tandem_core::experiment::world::build(&spec).expect("a valid world");
    let evaluations = Evaluations { episodes: 1, explores: false };
    let learner = Learner::new(env.into(), AlgoChoice::Ippo, &spec.learner, 3, evaluations);
    let buffers = learner.start::<f32>();
    (learner, buffers)
}

#[test]
fn episodes_of_a_group_share_their_start_and_are_whole() {
    let (learner, buffers) = grouped();
    let rollout = learner.on_policy().expect("IPPO").rollout;
    let mut starts = Vec::new();
    for update in 0..3 {
        learner.rollout.run(&buffers);
        let state = buffers.read(rollout.state);
        let width = state.len() / (12 * 12);
        let start = |e: usize| state[e * width..(e + 1) * width].to_vec();
        for e in 0..12 {
            assert_eq!(start(e), start(e / 4 * 4), "update {update}, environment {e}");
        }
        starts.push((0..3).map(|g| start(g * 4)).collect::<Vec<_>>());
        let (weight, ended) = (buffers.read(rollout.weight), buffers.read(rollout.ended));
        for e in 0..12 {
            let happened: Vec<f32> = (0..12).map(|t| weight[t * 12 + e]).collect();
            let length = happened.iter().filter(|w| **w == 1.0).count();
            assert!(happened[..length].iter().all(|w| *w == 1.0), "padding lies behind the episode: {happened:?}");
            let ends: Vec<f32> = (0..length).map(|t| ended[t * 12 + e]).collect();
            assert!(ends[..length - 1].iter().all(|e| *e == 0.0) && ends[length - 1] == 1.0, "{ends:?}");
        }
    }
    assert!(starts[0] != starts[1] && starts[1] != starts[2], "each update draws new starts");
    assert!(starts.iter().any(|s| s[0] != s[1] || s[1] != s[2]), "groups draw their own starts");
}

#[test]
fn an_update_of_either_algorithm_learns_from_what_a_world_pays() {
    for algo in POLICIES {
        let mut env = Tiny::new(2, 2, 4, 4);
        env.rules = Box::new(|t, actions, rewards| {
            rewards.fill(if actions[0] == 1 { 1.0 } else { 0.0 });
            Ended { terminated: false, truncated: t == 3 }
        });
        let settings = LearnerSettings { rollout: 8, envs: 4, ..policy_settings() };
        let learner = learner(env, algo, &settings);
        let buffers = learner.start::<f32>();
        let before = buffers.read(learner.agents.block.weights).clone();
        crate::support::update(&learner, &buffers);
        assert_ne!(*buffers.read(learner.agents.block.weights), before, "{algo:?}");
    }
}
