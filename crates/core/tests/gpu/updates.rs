//! Whole updates on a device: what shares a dispatch, what comes out, and that it always is the same.

use std::sync::Arc;

use tandem_core::experiment::run::Run;
use tandem_core::marl::learner::Learner;
use tandem_core::nn::gpu::{Arrays, Compiled, Gpu};
use tandem_core::nn::graph::{Buffers, Ints, Reals, Words};
use tandem_core::nn::memory::Memory;
use tandem_core::nn::program::{Program, Step};

use crate::support::{gpu, learner, spec};

/// W1 of the benchmarks as an experiment: QMIX on whole episodes of three agents.
pub(crate) const W1: &str = "env=spread&algo=qmix&team=mean&batch=32&hidden=64&embed=32&hyper=1&grads=1";
/// W4: MAPPO on 128 environments.
pub(crate) const W4: &str = "env=spread&algo=mappo&envs=128&rollout=25&epochs=4&minibatches=4&hidden=64&value_norm=off";

/// A learner on a device: its arrays, a rollout, the gradient steps of an update.
struct OnDevice {
    arrays: Arrays,
    compiled: [Compiled; 2],
}

fn programs(learner: &Learner) -> ([Program; 2], Memory) {
    let mut memory = Memory::new(&learner.plan);
    let lists = [&learner.rollout, &learner.gradient_steps];
    let program = |list| Program::new(&learner.plan, &[list], &mut memory).expect("it fits");
    (lists.map(program), memory)
}

fn on_device(gpu: &Gpu, learner: &Learner, buffers: &Buffers<f32>) -> OnDevice {
    let (programs, memory) = programs(learner);
    let arrays = Arrays::new(gpu, memory).expect("it is small");
    arrays.upload(gpu, &learner.plan, buffers);
    OnDevice { arrays, compiled: programs.each_ref().map(|program| gpu.compile(program)) }
}

/// The largest difference of two buffers of that name, as a share of the largest number.
fn apart(learner: &Learner, name: &str, exact: &Buffers<f32>, device: &Buffers<f32>) -> f32 {
    let id = learner.plan.named::<Reals>(name).expect("it is there");
    let (a, b) = (exact.read(id), device.read(id));
    let largest = a.iter().fold(f32::MIN_POSITIVE, |largest, x| largest.max(x.abs()));
    a.iter().zip(b.iter()).fold(0.0_f32, |apart, (a, b)| apart.max((a - b).abs())) / largest
}

/// One update of `text` here and there, from the same numbers.
fn check_update(text: &str) {
    let (gpu, learner) = (gpu(), learner(text));
    let exact = learner.start::<f32>();
    // A replay must hold something first.
    for _ in 0..3 {
        learner.rollout.run(&exact);
    }
    let device = exact.clone();
    let on = on_device(&gpu, &learner, &exact);
    for program in &on.compiled {
        gpu.run(&on.arrays, program, 1);
    }
    on.arrays.download(&gpu, &learner.plan, &device);
    learner.rollout.run(&exact);
    learner.gradient_steps.run(&exact);
    for name in ["clock", "train.action", "train.time", "train.ended", "tally.episode_steps"] {
        let id = learner.plan.named::<Words>(name).expect("it is there");
        assert_eq!(*exact.read(id), *device.read(id), "{text}: {name}");
    }
    let id = learner.plan.named::<Ints>("train.ints").expect("it is there");
    assert_eq!(*exact.read(id), *device.read(id), "{text}");
    // Loss and norm are among the scalars; parts of the gradient are looked at tensor by tensor.
    let tensors = ["scalars", "agents.gradient", "agents.weights", "agents.adam_m"];
    let told = ["tally.recent_returns", "tally.action_frequency", "tally.running_return", "tally.episode_parts"];
    for name in tensors.into_iter().chain(told) {
        let apart = apart(&learner, name, &exact, &device);
        assert!(apart <= 1e-4, "{text}: {name} is off by {apart}");
    }
    for (layout, block) in learner.blocks() {
        let (a, b) = (exact.read(block.grad), device.read(block.grad));
        for tensor in &layout.tensors {
            let (a, b) = (&a[tensor.range()], &b[tensor.range()]);
            let largest = a.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
            let apart = a.iter().zip(b).fold(0.0_f32, |apart, (a, b)| apart.max((a - b).abs()));
            assert!(apart <= 1e-4 * largest, "{text}: the gradient of {} is off by {apart} of {largest}", tensor.name);
        }
    }
}

#[test]
fn whole_updates_have_the_loss_and_gradients_of_the_exact_engine() {
    check_update("env=spread&algo=qmix&batch=9&envs=8&team=mean&grads=1");
    check_update("env=pellet&algo=vdn&rollout=4&grads=1");
    check_update("env=spread&algo=mappo&envs=33&rollout=25&epochs=1&minibatches=1&hidden=64");
    check_update("env=pellet&algo=ippo&shared=off&epochs=1&minibatches=1");
}

fn dispatches(steps: &[Step]) -> u32 {
    let of = |step: &Step| match step {
        Step::Dispatch(_) => 1,
        // A pass, or what is done in it: once.
        Step::Repeat { steps, .. } => dispatches(steps),
    };
    steps.iter().map(of).sum()
}

/// The steps of the innermost repeat: a gradient step.
fn innermost(steps: &[Step]) -> &[Step] {
    let inner = steps.iter().find_map(|step| match step {
        Step::Repeat { steps, .. } => Some(steps),
        Step::Dispatch(_) => None,
    });
    inner.map_or(steps, |steps| innermost(steps))
}

#[test]
fn an_update_is_few_dispatches() {
    let ([rollout, gradient_step], _) = programs(&learner(W1));
    assert!(dispatches(&gradient_step.steps) <= 12, "{}", dispatches(&gradient_step.steps));
    // Before the env steps, all of them, behind them; the last shares a dispatch with what follows.
    assert_eq!(dispatches(&rollout.steps), 3);
    let ([rollout, gradient_steps], _) = programs(&learner(W4));
    let step = innermost(&gradient_steps.steps);
    assert!(dispatches(step) <= 10, "{}", dispatches(step));
    assert_eq!(dispatches(&rollout.steps), 3);
    let lists = learner(W4);
    let mut memory = Memory::new(&lists.plan);
    let whole = Program::new(&lists.plan, &[&lists.rollout, &lists.gradient_steps], &mut memory).expect("it fits");
    let before = whole.steps.iter().position(|step| matches!(step, Step::Repeat { .. })).expect("there are passes");
    assert_eq!(before, 7, "rollout 2, its end, values, next values, advantages, their fit");
}

/// The same link gives the same bits, and so it does with another number of updates in a submission.
#[test]
fn p74_a_device_repeats_its_bits_whatever_shares_a_submission() {
    let gpu = gpu();
    for text in ["env=pellet&algo=qmix&envs=5&buffer=64", "env=spread&algo=mappo&envs=6&rollout=25"] {
        let learner = learner(text);
        let weights = |submissions: &[u32]| {
            let buffers = learner.start::<f32>();
            for _ in 0..8 {
                learner.rollout.run(&buffers);
            }
            let on = on_device(&gpu, &learner, &buffers);
            for &updates in submissions {
                gpu.run(&on.arrays, &on.compiled[1], updates);
            }
            on.arrays.download(&gpu, &learner.plan, &buffers);
            let bits = |(_, block): (_, tandem_core::marl::parts::optimise::Block<_>)| -> Vec<u32> {
                buffers.read(block.weights).iter().map(|x| x.to_bits()).collect()
            };
            learner.blocks().flat_map(bits).collect::<Vec<u32>>()
        };
        let once = weights(&[1, 1, 1, 1]);
        assert_eq!(once, weights(&[1, 1, 1, 1]), "{text}");
        assert_eq!(once, weights(&[3, 1]), "{text}");
    }
}

/// The headline of the last evaluations of `text`, trained on a device.
fn trained(text: &str) -> Vec<f32> {
    let mut run = Run::new(spec(text), 1).expect("it can be built");
    run.move_to(Arc::new(gpu())).expect("a device runs it");
    while run.end().is_none() {
        run.update();
    }
    run.evals.iter().map(|point| point.mean).rev().take(3).collect()
}

#[test]
fn pellets_are_found_by_what_was_learned_on_a_device() {
    for algo in ["qmix", "mappo"] {
        let last = trained(&format!("env=pellet&algo={algo}&budget=12000&eval_every=1000&seed=0"));
        assert!(last.contains(&3.0), "{algo} ends with {last:?} steps, where 3 are the least");
    }
}

#[test]
fn the_two_step_game_is_learned_on_a_device() {
    let preset = tandem_core::experiment::presets::preset("two_step_qmix").expect("the menu has it");
    let budget = 256_000.min(preset.read().spec.budget);
    let last = trained(&preset.link.replace("seed=7", &format!("seed=0&budget={budget}")));
    assert_eq!(last, [8.0; 3], "the risky branch pays 8");
}

#[test]
fn what_no_device_runs_is_refused_with_the_reason() {
    for (text, id) in [
        ("env=connect_four&algo=ippo", "refuse.device.kernel"),
        ("env=foraging&algo=iql", "refuse.device.kernel"),
        ("env=pellet&algo=qmix&hyper=2&hyper_hidden=128", "refuse.device.kernel"),
    ] {
        let mut run = Run::new(spec(text), 1).expect("it can be built");
        let refused = run.move_to(Arc::new(gpu())).expect_err(text);
        assert_eq!(refused.id, id, "{text}");
        run.update();
        assert_eq!(run.updates(), 1, "and the processor trains it all the same");
    }
}
