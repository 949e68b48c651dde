//! What follows the gradient: when and how targets follow, and the learning rate that reaches Adam.

use tandem_core::env::api::Ended;
use tandem_core::marl::learner::Learner;
use tandem_core::marl::parts::clock::ENV_STEP;
use tandem_core::marl::parts::optimise::{Block, Target};
use tandem_core::marl::settings::{AlgoChoice, LearnerSettings, TargetChoice};
use tandem_core::nn::graph::{Buffers, Training};

use crate::support::{Tiny, learner, settings, update};

/// A QMIX run that is always paid 1, so that no gradient is 0.
fn paid(settings: &LearnerSettings) -> Learner {
    let mut env = Tiny::new(2, 2, 4, 4);
    env.rules = Box::new(|t, _, rewards| {
        rewards.fill(1.0);
        Ended { terminated: false, truncated: t == 3 }
    });
    learner(env, AlgoChoice::Qmix, settings)
}

fn blocks(learner: &Learner) -> Vec<Block<Training>> {
    learner.blocks().into_iter().map(|(_, block)| block).collect()
}

#[test]
fn hard_targets_are_copied_at_every_nth_gradient_step_and_at_no_other() {
    let learner = paid(&LearnerSettings { target: TargetChoice::Hard, target_every: 3, ..settings() });
    let buffers = learner.start::<f32>();
    for step in 1..=9 {
        let read = |t: &Target| (buffers.read(t.weights).clone(), buffers.read(t.target).clone());
        let before: Vec<_> = learner.targets.iter().map(read).collect();
        assert_eq!(before.len(), 2, "agents and mixer");
        update(&learner, &buffers);
        for (target, (weights, copy)) in learner.targets.iter().zip(before) {
            assert_ne!(*buffers.read(target.weights), weights, "step {step} learns nothing");
            let expected = if step % 3 == 0 { buffers.read(target.weights).clone() } else { copy };
            assert_eq!(*buffers.read(target.target), expected, "step {step}");
        }
    }
}

#[test]
fn soft_targets_move_by_tau_at_every_gradient_step() {
    let tau = 0.125;
    let learner = paid(&LearnerSettings { target: TargetChoice::Soft, tau, target_every: 2, ..settings() });
    let buffers = learner.start::<f64>();
    for _ in 0..4 {
        let before: Vec<_> = learner.targets.iter().map(|target| buffers.read(target.target).clone()).collect();
        update(&learner, &buffers);
        for (target, before) in learner.targets.iter().zip(before) {
            let (weights, target) = (buffers.read(target.weights), buffers.read(target.target));
            assert_ne!(*target, before);
            for ((target, before), weight) in target.iter().zip(before).zip(weights.iter()) {
                let expected = (1.0 - f64::from(tau)) * before + f64::from(tau) * weight;
                assert!((target - expected).abs() < 1e-14, "{target} instead of {expected}");
            }
        }
    }
}

#[test]
fn the_learning_rates_schedule_reaches_adam() {
    let learner = paid(&LearnerSettings { lr: 1e-3, lr_end: 2e-4, lr_over: 1_000, ..settings() });
    let buffers = learner.start::<f64>();
    learner.rollout.run(&buffers);
    // The same gradient step at other times: what Adam adds to the weights is proportional to the rate.
    let moved = |env_step: u32| -> Vec<f64> {
        let later: Buffers<f64> = buffers.clone();
        later.write(learner.clock.counters)[ENV_STEP] = env_step;
        learner.gradient_steps.run(&later);
        let differences = |block: Block<Training>| {
            let (before, after) = (buffers.read(block.weights), later.read(block.weights));
            before.iter().zip(after.iter()).map(|(before, after)| after - before).collect::<Vec<_>>()
        };
        blocks(&learner).into_iter().map(differences).collect::<Vec<_>>().concat()
    };
    let first = moved(0);
    assert!(first.iter().any(|d| d.abs() > 5e-4));
    for (env_step, share) in [(500, 0.6), (750, 0.4), (1_000, 0.2), (5_000, 0.2)] {
        for (now, first) in moved(env_step).into_iter().zip(&first) {
            assert!((now - share * first).abs() < 1e-9, "env step {env_step}: {now} against {first}");
        }
    }
}
