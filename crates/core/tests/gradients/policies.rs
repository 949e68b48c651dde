//! The gradients a policy-gradient run computes: the very calls of its lists, from gathered minibatches to parameters,
//! against central differences of the loss the same calls write.

use std::sync::Arc;

use tandem_core::base::rng::{Stream, uniform};
use tandem_core::env::api::Env;
use tandem_core::env::board::BoardSpec;
use tandem_core::env::script::Script;
use tandem_core::experiment::spec::{EnvChoice, ExperimentSpec, RewardChoice};
use tandem_core::experiment::world;
use tandem_core::marl::learner::{Evaluations, Learner};
use tandem_core::marl::parts::policy_loss::{ACTIONS, CLIPPED};
use tandem_core::marl::seats::Controller::{Frozen, Learner as Learns, Scripted};
use tandem_core::marl::settings::{ActivationChoice, AdvantageChoice, AlgoChoice, LearnerSettings, NormAdvChoice};
use tandem_core::nn::graph::{Buffers, Call, Precision};

use crate::step::{check_blocks, check_gradients};

fn settings(algo: AlgoChoice) -> LearnerSettings {
    let mut l = ExperimentSpec::defaults(EnvChoice::Pellet, algo).learner;
    (l.envs, l.rollout, l.epochs, l.minibatches) = (4, 6, 1, 2);
    (l.hidden, l.layers, l.group, l.orthogonal) = (8, 1, 2, false);
    // The clip ranges lie inside what the perturbed policies and critics do.
    (l.clip_ratio, l.value_clip, l.entropy) = (0.1, 0.0, 0.05);
    l
}

fn pellet(algo: AlgoChoice, team: bool, agents: u32) -> Arc<dyn Env> {
    let mut spec = ExperimentSpec::defaults(EnvChoice::Pellet, algo);
    (spec.pellet.width, spec.pellet.height, spec.pellet.limit) = (3, 2, 6);
    spec.pellet.agents = agents;
    if !team {
        spec.pellet.reward = RewardChoice::First;
    }
    world::build(&spec).expect("a valid world").into()
}

/// Everything that a learner does before its first minibatch, and from there on.
fn calls(learner: &Learner) -> (Vec<&dyn Call>, Vec<&dyn Call>) {
    let mut before: Vec<&dyn Call> = learner.gradient_steps.calls().map(|(_, call)| call).collect();
    let begin = before.iter().position(|call| call.name() == "begin_gradient_step").expect("a minibatch");
    let minibatch = before.split_off(begin);
    (before, minibatch)
}

fn run(calls: &[&dyn Call], buffers: &Buffers<f64>) {
    for call in calls {
        f64::run(*call, buffers);
    }
}

/// A learner about to take a gradient step with policies and critics unlike those that acted.
fn ready(learner: &Learner) -> Buffers<f64> {
    let buffers = learner.start::<f64>();
    for _ in 0..2 {
        learner.rollout.run(&buffers);
        learner.gradient_steps.run(&buffers);
    }
    learner.rollout.run(&buffers);
    run(&calls(learner).0, &buffers);
    let noise = Stream::new(learner.seed, "noise");
    for (k, (_, block)) in (0..).zip(learner.blocks()) {
        for (i, w) in (0..).zip(buffers.write(block.weights).iter_mut()) {
            *w *= 1.0 + 1.5 * (f64::from(uniform(noise.words([i, k, 0, 0])[0])) - 0.5);
        }
    }
    buffers
}

fn check(what: &str, learner: &Learner) {
    let ((_, minibatch), buffers) = (calls(learner), ready(learner));
    let after = check_gradients(what, learner, &buffers, |buffers| run(&minibatch, buffers));
    let statistics = after.read(learner.on_policy().expect("a policy gradient").statistics.sums);
    let share = statistics[CLIPPED] / statistics[ACTIONS];
    assert!(share > 0.02 && share < 0.98, "{what}: {share} of the ratios are clipped, one side is not checked");
}

fn check_all(algo: AlgoChoice) {
    for shared in [true, false] {
        for (team, value_clip, entropy, norm_adv, value_norm, activation) in [
            (true, 0.0, 0.05, NormAdvChoice::Batch, true, ActivationChoice::Tanh),
            (true, 0.1, 0.0, NormAdvChoice::Off, false, ActivationChoice::Relu),
            (false, 0.1, 0.3, NormAdvChoice::Agent, true, ActivationChoice::Tanh),
            (false, 0.0, 0.05, NormAdvChoice::Batch, false, ActivationChoice::Relu),
        ] {
            for advantage in [AdvantageChoice::Gae, AdvantageChoice::NStep] {
                let settings = LearnerSettings {
                    shared,
                    value_clip,
                    entropy,
                    norm_adv,
                    value_norm,
                    activation,
                    advantage,
                    ..settings(algo)
                };
                let evaluations = Evaluations { episodes: 1, explores: false };
                let learner = Learner::new(pellet(algo, team, 2), algo, &settings, 5, evaluations);
                let what = format!(
                    "{algo:?}, shared {shared}, team {team}, value clip {value_clip}, entropy {entropy}, {norm_adv:?}, \
                     value norm {value_norm}, {activation:?}, {advantage:?}"
                );
                check(&what, &learner);
            }
        }
    }
}

#[test]
fn ippo_list_gradients_equal_differences() {
    check_all(AlgoChoice::Ippo);
    for shared in [true, false] {
        let advantage = AdvantageChoice::Group;
        let settings = LearnerSettings { advantage, shared, envs: 8, ..settings(AlgoChoice::Ippo) };
        let evaluations = Evaluations { episodes: 1, explores: false };
        let learner = Learner::new(pellet(AlgoChoice::Ippo, true, 2), AlgoChoice::Ippo, &settings, 5, evaluations);
        check(&format!("IPPO, group-relative, shared {shared}"), &learner);
    }
}

#[test]
fn mappo_list_gradients_equal_differences() {
    check_all(AlgoChoice::Mappo);
}

/// Who does not learn has no part in the losses, and what only it is valued by no gradient; a critic that agents share
/// is trained by those who learn.
#[test]
fn policy_gradients_with_other_seats_equal_differences() {
    for algo in [AlgoChoice::Ippo, AlgoChoice::Mappo] {
        for seats in [
            vec![Learns(0), Frozen],
            vec![Learns(0), Scripted(Script::Idle)],
            vec![Learns(0), Learns(1)],
            vec![Frozen, Learns(0), Scripted(Script::QmixStyle), Learns(1)],
        ] {
            for (shared, team, norm_adv) in [
                (true, true, NormAdvChoice::Batch),
                (true, false, NormAdvChoice::Agent),
                (false, true, NormAdvChoice::Agent),
                (false, false, NormAdvChoice::Batch),
            ] {
                let env = pellet(algo, team, seats.len() as u32);
                let mut settings = LearnerSettings { shared, norm_adv, ..settings(algo) };
                settings.seats.list.clone_from(&seats);
                let evaluations = Evaluations { episodes: 1, explores: false };
                let what = format!("{algo:?}, shared {shared}, team {team}, {seats:?}");
                check(&what, &Learner::new(env, algo, &settings, 5, evaluations));
            }
        }
    }
}

/// In turns, whoever moves being one agent: with moves that are left out, by their own networks and against a script.
#[test]
fn policy_gradients_of_self_play_equal_differences() {
    for algo in [AlgoChoice::Ippo, AlgoChoice::Mappo] {
        for (seats, opening, advantage) in [
            (vec![], 0, AdvantageChoice::Gae),
            (vec![], 3, AdvantageChoice::NStep),
            (vec![Learns(0), Scripted(Script::Uniform)], 2, AdvantageChoice::Gae),
        ] {
            let env: Arc<dyn Env> = Arc::new(BoardSpec::TicTacToe.build());
            let mut settings = LearnerSettings {
                opening,
                opening_share: 0.7,
                rollout: 9,
                agent_id: false,
                advantage,
                ..settings(algo)
            };
            settings.seats.list.clone_from(&seats);
            let evaluations = Evaluations { episodes: 1, explores: false };
            let learner = Learner::new(env, algo, &settings, 5, evaluations);
            assert!(learner.turns.is_some());
            check(&format!("{algo:?}, self-play, {seats:?}, opening {opening}"), &learner);
        }
    }
}

/// COMA's two losses, each on the very calls that train: the critic's on a minibatch, the policies' on the whole rollout.
#[test]
fn coma_list_gradients_equal_differences() {
    let algo = AlgoChoice::Coma;
    for (seats, shared, epsilon, entropy, activation) in [
        (vec![], true, 0.0, 0.0, ActivationChoice::Tanh),
        (vec![], false, 0.3, 0.05, ActivationChoice::Relu),
        (vec![Learns(0), Frozen, Scripted(Script::QmixStyle)], true, 0.3, 0.05, ActivationChoice::Tanh),
        (vec![Learns(0), Learns(1), Scripted(Script::Idle)], false, 0.1, 0.0, ActivationChoice::Relu),
    ] {
        let mut settings =
            LearnerSettings { shared, eps: epsilon, eps_end: epsilon, entropy, activation, ..settings(algo) };
        settings.seats.list.clone_from(&seats);
        let agents = seats.len().max(2) as u32;
        let evaluations = Evaluations { episodes: 1, explores: false };
        let learner = Learner::new(pellet(algo, true, agents), algo, &settings, 5, evaluations);
        let what = format!("COMA, {seats:?}, shared {shared}, ε {epsilon}, entropy {entropy}, {activation:?}");
        let ((_, steps), buffers) = (calls(&learner), ready(&learner));
        let second =
            1 + steps[1..].iter().position(|call| call.name() == "begin_gradient_step").expect("the policies'");
        let (of_critic, of_policies) = steps.split_at(second);
        let (policies, critic) = (|block| block == 0, |block| block == 1);
        check_blocks(&format!("{what}: critic"), &learner, critic, &buffers, |buffers| run(of_critic, buffers));
        // The advantage is a number: it stays what it was while the policy is moved.
        let judged =
            1 + of_policies.iter().position(|call| call.name() == "counterfactual_advantage").expect("it is judged");
        run(&of_policies[..judged], &buffers);
        let moved: Vec<&dyn Call> =
            of_policies.iter().copied().filter(|call| call.name() != "counterfactual_advantage").collect();
        check_blocks(&format!("{what}: policies"), &learner, policies, &buffers, |buffers| run(&moved, buffers));
    }
}
