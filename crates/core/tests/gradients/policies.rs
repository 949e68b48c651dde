//! The gradients a policy-gradient run computes: the very calls of its lists, from gathered minibatches to parameters,
//! against central differences of the loss the same calls write.

use std::sync::Arc;

use tandem_core::base::rng::{Stream, uniform};
use tandem_core::env::api::Env;
use tandem_core::experiment::spec::{EnvChoice, ExperimentSpec, RewardChoice};
use tandem_core::experiment::world;
use tandem_core::marl::learner::{Evaluations, Learner};
use tandem_core::marl::parts::clock::LOSS;
use tandem_core::marl::parts::optimise::Block;
use tandem_core::marl::parts::policy_loss::{ACTIONS, CLIPPED};
use tandem_core::marl::settings::{ActivationChoice, AdvantageChoice, AlgoChoice, LearnerSettings, NormAdvChoice};
use tandem_core::nn::graph::{Buffers, Call, Precision, Training};

const STEPS: [f64; 2] = [1e-6, 1e-7];
const TOLERANCE: f64 = 1e-5;
const FLOOR: f64 = 1e-2;

fn settings(algo: AlgoChoice) -> LearnerSettings {
    let mut l = ExperimentSpec::defaults(EnvChoice::Pellet, algo).learner;
    (l.envs, l.rollout, l.epochs, l.minibatches) = (4, 6, 1, 2);
    (l.hidden, l.layers, l.group, l.orthogonal) = (8, 1, 2, false);
    // The clip ranges lie inside what the perturbed policies and critics do.
    (l.clip_ratio, l.value_clip, l.entropy) = (0.1, 0.0, 0.05);
    l
}

fn pellet(algo: AlgoChoice, team: bool) -> Arc<dyn Env> {
    let mut spec = ExperimentSpec::defaults(EnvChoice::Pellet, algo);
    (spec.pellet.width, spec.pellet.height, spec.pellet.limit) = (3, 2, 6);
    if !team {
        spec.pellet.reward = RewardChoice::First;
    }
    world::build(&spec).expect("a valid world").into()
}

/// A minibatch's calls, without what precedes the first of them.
struct Minibatch<'a> {
    learner: &'a Learner,
    calls: Vec<&'a dyn Call>,
}

impl<'a> Minibatch<'a> {
    fn of(learner: &'a Learner) -> Self {
        let calls: Vec<&dyn Call> = learner.gradient_steps.calls().map(|(_, call)| call).collect();
        let begin = calls.iter().position(|call| call.name() == "begin_gradient_step").expect("a minibatch");
        Self { learner, calls: calls[begin..].to_vec() }
    }

    fn run(&self, buffers: &Buffers<f64>) {
        self.calls.iter().for_each(|call| f64::run(*call, buffers));
    }

    fn loss(&self, buffers: &Buffers<f64>, block: Block<Training>, at: usize, by: f64) -> f64 {
        let moved = buffers.clone();
        moved.write(block.weights)[at] += by;
        self.run(&moved);
        moved.read(self.learner.clock.scalars)[LOSS]
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
    for (_, call) in learner.gradient_steps.calls() {
        if call.name() == "begin_gradient_step" {
            break;
        }
        f64::run(call, &buffers);
    }
    let noise = Stream::new(learner.seed, "noise");
    for (k, (_, block)) in (0..).zip(learner.blocks()) {
        for (i, w) in (0..).zip(buffers.write(block.weights).iter_mut()) {
            *w *= 1.0 + 1.5 * (f64::from(uniform(noise.words([i, k, 0, 0])[0])) - 0.5);
        }
    }
    buffers
}

fn check(what: &str, learner: &Learner) {
    let (minibatch, buffers) = (Minibatch::of(learner), ready(learner));
    let after = buffers.clone();
    minibatch.run(&after);
    let statistics = after.read(learner.on_policy().expect("a policy gradient").statistics.sums).clone();
    let share = statistics[CLIPPED] / statistics[ACTIONS];
    assert!(share > 0.02 && share < 0.98, "{what}: {share} of the ratios are clipped, one side is not checked");
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
                let differences = STEPS.map(|step| {
                    let moved = |sign: f64| minibatch.loss(&buffers, block, at, sign * step);
                    (moved(1.0) - moved(-1.0)) / (2.0 * step)
                });
                let agrees = |d: &f64| (grad[at] - d).abs() <= TOLERANCE * d.abs().max(FLOOR);
                assert!(
                    differences.iter().any(agrees),
                    "{what}, {} at {at}: {} by the list, {differences:?} by differences",
                    tensor.name,
                    grad[at]
                );
                largest = largest.max(grad[at].abs());
            }
        }
        assert!(largest > 1e-3, "{what}: gradients are all about 0, nothing was checked");
    }
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
                let learner = Learner::new(pellet(algo, team), algo, &settings, 5, evaluations);
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
        let learner = Learner::new(pellet(AlgoChoice::Ippo, true), AlgoChoice::Ippo, &settings, 5, evaluations);
        check(&format!("IPPO, group-relative, shared {shared}"), &learner);
    }
}

#[test]
fn mappo_list_gradients_equal_differences() {
    check_all(AlgoChoice::Mappo);
}
