//! COMA by hand: TD(λ) along a chain, the counterfactual advantage and its identities, what the critic reads, the bounded
//! policy, the team's reward.

use tandem_core::base::float::{Real, ln};
use tandem_core::env::api::Ended;
use tandem_core::marl::parts::counterfactual::{Counterfactual, bound};
use tandem_core::marl::parts::explore::softmax;
use tandem_core::marl::registry::{Refusal, accepts};
use tandem_core::marl::settings::{AlgoChoice, LearnerSettings, TeamRewardChoice};
use tandem_core::nn::graph::Buffers;

use crate::support::{Tiny, learner, named, near, policy_settings, run_calls, update, words_named, write_named};

fn settings() -> LearnerSettings {
    LearnerSettings { eps: 0.0, eps_end: 0.0, gae_lambda: 0.5, ..policy_settings() }
}

/// An env step: team reward, Q⁻ of what was done, terminal, ended.
type Moment = (f64, f64, bool, bool);

/// Targets and weights of one environment, by the run's own call.
fn targets(moments: &[Moment]) -> (Vec<f64>, Vec<f64>) {
    let settings = LearnerSettings { rollout: moments.len() as u32, ..settings() };
    let learner = learner(Tiny::new(1, 2, 2, 9), AlgoChoice::Coma, &settings);
    let buffers = learner.start::<f64>();
    let rollout = learner.on_policy().expect("COMA").rollout;
    let flag = |holds: bool| if holds { 1.0 } else { 0.0 };
    for (t, &(reward, q, terminal, ended)) in moments.iter().enumerate() {
        buffers.write(rollout.reward)[2 * t + 1] = reward;
        buffers.write(rollout.action)[t] = 1;
        buffers.write(rollout.terminal)[t] = flag(terminal);
        buffers.write(rollout.ended)[t] = flag(ended);
        buffers.write(rollout.weight)[t] = 1.0;
        write_named(&learner, &buffers, "rollout.critic.outputs")[8 * t + 1] = q;
    }
    run_calls(&learner.gradient_steps, "td_lambda", &buffers);
    let read = |name: &str| named(&learner, &buffers, name).clone();
    (read("rollout.target"), read("rollout.learned"))
}

#[test]
fn p06_td_lambda_is_what_a_hand_computes() {
    // y_2 = Q_2: the rollout's end. y_1 = 3 + ½·(½·8 + ½·8); y_0 = 1 + ½·(½·4 + ½·7).
    let (y, weight) = targets(&[(1.0, 2.0, false, false), (3.0, 4.0, false, false), (5.0, 8.0, false, false)]);
    assert_eq!((y, weight), (vec![3.75, 7.0, 8.0], vec![1.0, 1.0, 0.0]));
    // The world ends at the last env step: it is learned from, and nothing is behind it.
    let (y, weight) = targets(&[(1.0, 2.0, false, false), (3.0, 4.0, false, false), (5.0, 8.0, true, true)]);
    assert_eq!((y, weight), (vec![1.0 + 0.5 * (2.0 + 0.5 * 6.25), 3.0 + 0.5 * (4.0 + 2.5), 5.0], vec![1.0; 3]));
    // A time limit in the middle: only bootstrapped from, and nothing of the next episode enters.
    let (y, weight) = targets(&[(1.0, 2.0, false, false), (3.0, 4.0, false, true), (5.0, 8.0, true, true)]);
    assert_eq!((y, weight), (vec![3.0, 4.0, 5.0], vec![1.0, 0.0, 1.0]));
}

/// Policy and values of the course's figure.
#[test]
fn p32_the_courses_figure_has_its_baseline_and_advantages() {
    let policy = [0.1, 0.2, 0.3, 0.4];
    let Counterfactual { baseline, advantage } = Counterfactual::of(&[1.0, 2.0, 0.5, 3.0], &policy);
    assert!(near(baseline, 1.85), "{baseline}");
    for (a, expected) in advantage.iter().zip([-0.85, 0.15, -1.35, 1.15]) {
        assert!(near(*a, expected), "{advantage:?}");
    }
    let sum: f64 = policy.iter().zip(&advantage).map(|(p, a)| p * a).sum();
    assert!(sum.abs() < 1e-15, "{sum}");
}

#[test]
fn p32_whoever_does_one_thing_for_certain_has_no_advantage_whatever_it_gives() {
    for (action, q) in [(0, [0.1_f32, 7.3, -2.0]), (1, [1e7, 0.3, -1e-7]), (2, [0.7, 0.1, 0.3])] {
        let mut policy = [0.0; 3];
        policy[action] = 1.0;
        assert_eq!(Counterfactual::of(&q, &policy).advantage[action], 0.0);
    }
}

/// A rollout and the advantages of what was taken, by the run's own lists, beside those recomputed from its buffers.
#[test]
fn p32_advantages_of_a_run_sum_to_zero_under_the_policy_that_acted() {
    for epsilon in [0.0, 0.4] {
        let settings = LearnerSettings { eps: epsilon, eps_end: epsilon, rollout: 6, envs: 4, ..settings() };
        let mut env = Tiny::new(3, 4, 2, 9);
        // Agent 3 may do one thing alone.
        env.legal = Box::new(|_, agent, action| agent != 2 || action == 1);
        env.rules = Box::new(|t, actions, rewards| {
            rewards.fill(actions.iter().sum::<u32>() as f32);
            Ended { terminated: t == 2, truncated: false }
        });
        let learner = learner(env, AlgoChoice::Coma, &settings);
        let buffers = learner.start::<f64>();
        for _ in 0..5 {
            update(&learner, &buffers);
        }
        learner.rollout.run(&buffers);
        // Everything but the step that moves the policies.
        learner.gradient_steps.run(&buffers);
        let rollout = learner.on_policy().expect("COMA").rollout;
        let (q, advantage) =
            (named(&learner, &buffers, "rollout.critic.outputs"), named(&learner, &buffers, "rollout.advantage"));
        let logits = named(&learner, &buffers, "rollout.policy.outputs");
        let (action, mask, weight) =
            (buffers.read(rollout.action), buffers.read(rollout.mask), named(&learner, &buffers, "rollout.learned"));
        let mut judged = 0;
        for row in 0..action.len() {
            let (z, legal) = (&logits[row * 8..row * 8 + 4], &mask[row * 4..row * 4 + 4]);
            let exps: Vec<f64> = z.iter().zip(legal).map(|(z, &l)| if l == 0 { 0.0 } else { Real::exp(*z) }).collect();
            let mut policy: Vec<f64> = exps.iter().map(|e| e / exps.iter().sum::<f64>()).collect();
            bound(&mut policy, legal, epsilon.into());
            let own = Counterfactual::of(&q[row * 8..row * 8 + 4], &policy);
            let sum: f64 = policy.iter().zip(&own.advantage).map(|(p, a)| p * a).sum();
            assert!(sum.abs() < 1e-12, "Σ π·A = {sum}");
            if row % 3 == 2 {
                assert_eq!((advantage[row], own.advantage[1]), (0.0, 0.0), "one choice, no advantage");
            } else if weight[row / 3] > 0.0 {
                assert!(near(advantage[row], own.advantage[action[row] as usize]), "row {row}");
                judged += u32::from(advantage[row].abs() > 1e-6);
            }
        }
        assert!(judged > 10, "nothing was judged");
    }
}

/// What the critic reads for `agent` at the first item, after the joint action is put there by hand.
fn reads(joint: [u32; 3], agent: usize) -> Vec<f64> {
    let learner = learner(Tiny::new(3, 4, 2, 9), AlgoChoice::Coma, &LearnerSettings { rollout: 2, ..settings() });
    let buffers: Buffers<f64> = learner.start();
    learner.rollout.run(&buffers);
    words_named(&learner, &buffers, "rollout.action")[..3].copy_from_slice(&joint);
    run_calls(&learner.gradient_steps, "read_joint", &buffers);
    let width = learner.central.counterfactual().expect("COMA").input.width() as usize;
    assert_eq!(width, 2 + 2 * 4 + 3, "s, the others' actions, the agent's id");
    let row = width.next_multiple_of(8);
    named(&learner, &buffers, "rollout.joint")[agent * row..agent * row + width].to_vec()
}

#[test]
fn p32_the_critic_reads_what_the_others_did_and_not_what_the_agent_did() {
    let before = [1, 2, 3];
    for changed in 0..3 {
        for action in 0..4 {
            let mut joint = before;
            joint[changed] = action;
            for agent in 0..3 {
                let is_same = reads(joint, agent) == reads(before, agent);
                assert_eq!(is_same, agent == changed || joint == before, "agent {agent}, {joint:?}");
            }
        }
    }
    assert_eq!(reads(before, 1), [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
}

/// Every legal action keeps ε/|A|, no illegal one is drawn, and what is kept of a draw is ln π_ε.
#[test]
fn p10_a_bounded_policy_draws_as_it_says_and_only_what_is_legal() {
    use tandem_core::base::rng::Stream;
    let (logits, mask, epsilon) = ([40.0_f32, 90.0, -40.0, 0.0], [1, 0, 1, 1], 0.3_f32);
    let mut policy = [1.0, 0.0, 0.0, 0.0];
    bound(&mut policy, &mask, epsilon);
    assert_eq!(policy[1], 0.0);
    let (stream, draws) = (Stream::new(3, "test"), 40_000);
    let mut counts = [0_u32; 4];
    for k in 0..draws {
        let (action, _, log_prob) = softmax(&logits, &mask, epsilon, stream.words([k, 0, 0, 0]));
        counts[action as usize] += 1;
        assert!((f64::from(log_prob) - ln(f64::from(policy[action as usize]))).abs() < 1e-5, "{action}: {log_prob}");
    }
    assert_eq!(counts[1], 0);
    for (count, p) in counts.into_iter().zip(policy) {
        // Five standard deviations of a share.
        let bound = 5.0 * (f64::from(p) * (1.0 - f64::from(p)) / f64::from(draws)).sqrt();
        assert!((f64::from(count) / f64::from(draws) - f64::from(p)).abs() <= bound, "{counts:?}");
    }
    for k in 0..1_000 {
        let words = stream.words([k, 1, 0, 0]);
        let (free, zero) = (softmax(&logits, &[1; 4], 0.0, words), 90.0_f32);
        assert_eq!((free.0, logits[free.0 as usize], free.2), (1, zero, 0.0), "without ε it is the softmax");
    }
}

#[test]
fn p18_coma_needs_one_reward_of_the_team_or_joins_the_agents_own() {
    let mut env = Tiny::new(2, 2, 2, 9);
    (env.info.common_reward, env.info.team_reward) = (false, false);
    env.rules = Box::new(|_, _, rewards| {
        rewards.copy_from_slice(&[1.0, 4.0]);
        Ended { terminated: true, truncated: false }
    });
    let refused = Refusal::IndividualRewards { algorithm: "COMA", rewards: 2 };
    assert_eq!(accepts(AlgoChoice::Coma, TeamRewardChoice::Given, &env.info), Err(refused));
    let of_board = tandem_core::env::board::BoardSpec::TicTacToe.build();
    let board = tandem_core::env::api::Env::info(&of_board);
    assert_eq!(accepts(AlgoChoice::Coma, TeamRewardChoice::Sum, board), Err(Refusal::ZeroSum { algorithm: "COMA" }));
    for (team_reward, paid) in [(TeamRewardChoice::Sum, 5.0), (TeamRewardChoice::Mean, 2.5)] {
        let mut other = Tiny::new(2, 2, 2, 9);
        other.info = env.info.clone();
        other.rules = Box::new(|_, _, rewards| {
            rewards.copy_from_slice(&[1.0, 4.0]);
            Ended { terminated: true, truncated: false }
        });
        assert_eq!(accepts(AlgoChoice::Coma, team_reward, &other.info), Ok(()));
        let learner = learner(other, AlgoChoice::Coma, &LearnerSettings { team_reward, ..settings() });
        let buffers = learner.start::<f64>();
        update(&learner, &buffers);
        assert_eq!(*named(&learner, &buffers, "rollout.target"), [paid, paid], "{team_reward:?}");
    }
}
