//! The gradients a run computes: every algorithm's own list of kernels, on transitions of its own replay, against
//! central differences of the loss that the same list writes.

use std::sync::Arc;

use tandem_core::base::rng::{Stream, uniform};
use tandem_core::env::api::Env;
use tandem_core::experiment::spec::{
    ActivationChoice, AlgoChoice, EnvChoice, ExperimentSpec, GameChoice, PositivityChoice, RewardChoice,
};
use tandem_core::experiment::world;
use tandem_core::marl::learner::{Evaluations, Learner};
use tandem_core::marl::parts::clock::LOSS;
use tandem_core::marl::parts::optimise::Block;
use tandem_core::marl::settings::LearnerSettings;
use tandem_core::nn::graph::{Buffers, Training};
use tandem_core::nn::layers::Tensor;

/// A kink (of ReLU, |w|, the hysteretic weight) inside a step spoils a difference; it will not lie inside a step ten
/// times smaller too.
const STEPS: [f64; 2] = [1e-6, 1e-7];
const TOLERANCE: f64 = 1e-5;
/// Smaller gradients are compared with this.
const FLOOR: f64 = 1e-2;

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

/// The loss of a gradient step from `buffers` with weight `at` of `block` moved by `by`.
fn loss(learner: &Learner, buffers: &Buffers<f64>, block: Block<Training>, at: usize, by: f64) -> f64 {
    let moved = buffers.clone();
    moved.write(block.weights)[at] += by;
    learner.gradient_steps.run(&moved);
    let loss = moved.read(learner.clock.scalars)[LOSS];
    assert!(loss.is_finite());
    loss
}

fn check(what: &str, learner: &Learner) {
    let buffers = ready(learner);
    let after = buffers.clone();
    learner.gradient_steps.run(&after);
    for (layout, block) in learner.blocks() {
        let grad = after.read(block.grad);
        let mut largest = 0.0_f64;
        for tensor in &layout.tensors {
            let stride = tensor.stride() as usize;
            for (j, at) in tensor.range().enumerate() {
                if (j % stride) as u32 >= tensor.cols {
                    assert_eq!(grad[at], 0.0, "{what}: padding of {} has a gradient", tensor.name);
                    continue;
                }
                check_one(what, learner, &buffers, block, tensor, at, grad[at]);
                largest = largest.max(grad[at].abs());
            }
        }
        assert!(largest > 1e-3, "{what}: gradients are all about 0, nothing was checked");
    }
}

fn check_one(
    what: &str,
    learner: &Learner,
    buffers: &Buffers<f64>,
    block: Block<Training>,
    tensor: &Tensor,
    at: usize,
    grad: f64,
) {
    let by_differences = |step: &f64| {
        let moved = |sign: f64| loss(learner, buffers, block, at, sign * step);
        (moved(1.0) - moved(-1.0)) / (2.0 * step)
    };
    let agrees = |expected: f64| (grad - expected).abs() <= TOLERANCE * expected.abs().max(FLOOR);
    assert!(
        STEPS.iter().map(by_differences).any(agrees),
        "{what}, {} at {at}: {grad} by the list, {:?} by differences",
        tensor.name,
        STEPS.each_ref().map(by_differences)
    );
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
