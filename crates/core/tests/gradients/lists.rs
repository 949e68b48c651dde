//! The gradients a run computes: every algorithm's own list of kernels, on transitions of its own replay, against
//! central differences of the loss that the same list writes.

use std::sync::Arc;

use tandem_core::base::rng::{Stream, uniform};
use tandem_core::env::api::Env;
use tandem_core::env::board::BoardSpec;
use tandem_core::experiment::spec::{
    ActivationChoice, AlgoChoice, EnvChoice, ExperimentSpec, GameChoice, PositivityChoice, RewardChoice,
};
use tandem_core::experiment::world;
use tandem_core::marl::learner::{Evaluations, Learner};
use tandem_core::marl::settings::LearnerSettings;
use tandem_core::nn::graph::Buffers;

use crate::step::check_gradients;

/// Small networks on small minibatches.
fn settings() -> LearnerSettings {
    let mut settings = ExperimentSpec::default().learner;
    (settings.envs, settings.rollout, settings.grad_steps) = (3, 4, 1);
    (settings.batch, settings.buffer) = (7, 30);
    (settings.hidden, settings.layers) = (8, 1);
    (settings.embed, settings.hyper_hidden) = (8, 8);
    settings
}

/// Worlds with one env step a segment, and with an episode of two.
fn worlds(algo: AlgoChoice) -> [(u32, Arc<dyn Env>); 2] {
    let mut pellet = ExperimentSpec::defaults(EnvChoice::Pellet, algo);
    (pellet.pellet.width, pellet.pellet.height) = (3, 2);
    let mut game = ExperimentSpec::defaults(EnvChoice::TwoStep, algo);
    if algo == AlgoChoice::Iql {
        // Rewards that differ from agent to agent.
        pellet.pellet.reward = RewardChoice::First;
        game = ExperimentSpec::defaults(EnvChoice::Matrix, algo);
        (game.matrix.game, game.matrix.repeat) = (GameChoice::Prisoners, 2);
    }
    [(1, &pellet), (2, &game)].map(|(steps, spec)| (steps, world::build(spec).expect("a valid world").into()))
}

/// A learner that is about to take its first gradient step: replay filled, targets unlike the networks.
fn ready(learner: &Learner) -> Buffers<f64> {
    let buffers = learner.start::<f64>();
    (0..5).for_each(|_| learner.rollout.run(&buffers));
    let noise = Stream::new(learner.seed, "targets");
    for target in &learner.targets {
        let mut target = buffers.write(target.target);
        for (i, w) in (0..).zip(target.iter_mut()) {
            *w *= 1.0 + f64::from(uniform(noise.words([i, 0, 0, 0])[0]));
        }
    }
    buffers
}

fn check(what: &str, learner: &Learner) {
    let buffers = ready(learner);
    check_gradients(what, learner, &buffers, |buffers| learner.gradient_steps.run(buffers));
}

/// Every combination of what the three algorithms share.
fn check_all(algo: AlgoChoice, base: &LearnerSettings, name: &str) {
    for (steps, env) in worlds(algo) {
        for shared in [true, false] {
            for double_q in [true, false] {
                for hysteresis in [1.0, 0.3] {
                    let settings = LearnerSettings { shared, double_q, hysteresis, ..base.clone() };
                    let what = format!("{name}, T {steps}, shared {shared}, double {double_q}, β {hysteresis}");
                    let learner = Learner::new(
                        Arc::clone(&env),
                        algo,
                        &settings,
                        5,
                        Evaluations { episodes: 1, explores: false },
                    );
                    assert_eq!(learner.replay().expect("value-based").batch.steps, steps);
                    check(&what, &learner);
                }
            }
        }
    }
}

#[test]
fn iql_list_gradients_equal_differences() {
    check_all(AlgoChoice::Iql, &settings(), "IQL");
}

#[test]
fn vdn_list_gradients_equal_differences() {
    check_all(AlgoChoice::Vdn, &settings(), "VDN");
    let deep = LearnerSettings {
        layers: 3,
        activation: ActivationChoice::Tanh,
        agent_id: false,
        standardise: true,
        ..settings()
    };
    check_all(AlgoChoice::Vdn, &deep, "deep VDN");
}

#[test]
fn qmix_list_gradients_equal_differences() {
    for hyper_layers in [1, 2] {
        for (monotone, positivity) in
            [(true, PositivityChoice::Abs), (true, PositivityChoice::Softplus), (false, PositivityChoice::Abs)]
        {
            let settings = LearnerSettings { hyper_layers, monotone, positivity, ..settings() };
            let name = format!("QMIX, {hyper_layers} hypernetwork layers, monotone {monotone}, {positivity:?}");
            check_all(AlgoChoice::Qmix, &settings, &name);
        }
    }
}

/// Frozen agents count in the team's value and not among what is trained; scripted ones in neither.
#[test]
fn gradients_with_other_seats_equal_differences() {
    use tandem_core::env::script::Script;
    use tandem_core::marl::seats::Controller::{Frozen, Learner as Learns, Scripted};
    for algo in [AlgoChoice::Iql, AlgoChoice::Vdn, AlgoChoice::Qmix] {
        for shared in [true, false] {
            let mut spec = ExperimentSpec::defaults(EnvChoice::Pellet, algo);
            (spec.pellet.width, spec.pellet.height, spec.pellet.agents) = (3, 2, 4);
            let mut settings = LearnerSettings { shared, ..settings() };
            settings.seats.list = vec![Scripted(Script::QmixStyle), Learns(0), Frozen, Learns(1)];
            let env = world::build(&spec).expect("a valid world").into();
            let evaluations = Evaluations { episodes: 1, explores: false };
            check(&format!("{algo:?}, shared {shared}"), &Learner::new(env, algo, &settings, 5, evaluations));
        }
    }
}

/// In turns a segment is a decision of whoever moves; open ones and those of an opening have no part in the loss.
#[test]
fn iql_gradients_of_self_play_equal_differences() {
    for (opening, double_q, standardise) in [(0, true, false), (3, false, true)] {
        let common = LearnerSettings { opening, double_q, standardise, agent_id: false, ..settings() };
        let env: Arc<dyn Env> = Arc::new(BoardSpec::TicTacToe.build());
        let evaluations = Evaluations { episodes: 1, explores: false };
        let learner = Learner::new(env, AlgoChoice::Iql, &common, 5, evaluations);
        assert!(learner.turns.is_some());
        check(&format!("IQL, self-play, opening {opening}"), &learner);
    }
}
