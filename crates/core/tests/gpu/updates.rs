//! Whole updates on a device: what shares a dispatch, and what comes out.

use tandem_core::marl::learner::Learner;
use tandem_core::nn::gpu::{Arrays, Compiled, Gpu};
use tandem_core::nn::graph::{Buffers, Ints, Reals, Words};
use tandem_core::nn::program::{Memory, Program, Step};

use super::parity::{gpu, learner};

/// A learner on a device: its arrays, a rollout, the gradient steps of an update.
struct OnDevice {
    arrays: Arrays,
    rollout: Program,
    gradient_steps: Program,
    compiled: [Compiled; 2],
}

fn on_device(gpu: &Gpu, learner: &Learner, buffers: &Buffers<f32>) -> OnDevice {
    let mut memory = Memory::new(&learner.plan);
    let rollout = Program::new(&learner.plan, &[&learner.rollout], &mut memory).expect("it fits");
    let gradient_steps = Program::new(&learner.plan, &[&learner.gradient_steps], &mut memory).expect("it fits");
    let arrays = Arrays::new(gpu, memory).expect("it is small");
    arrays.upload(gpu, &learner.plan, buffers);
    let compiled = [&rollout, &gradient_steps].map(|program| gpu.compile(program));
    OnDevice { arrays, rollout, gradient_steps, compiled }
}

fn show(steps: &[Step], depth: usize) {
    for step in steps {
        match step {
            Step::Dispatch(d) => println!("{:depth$}{} × {:?}", "", d.groups, d.kernels, depth = depth),
            Step::Repeat { count, steps } => {
                println!("{:depth$}repeat {count}", "", depth = depth);
                show(steps, depth + 4);
            }
        }
    }
}

fn whole_update(text: &str) {
    let (gpu, learner) = (gpu(), learner(text));
    let exact = learner.start::<f32>();
    // A replay must hold something first.
    for _ in 0..3 {
        learner.rollout.run(&exact);
    }
    let device = exact.clone();
    let on = on_device(&gpu, &learner, &exact);
    show(&on.rollout.steps, 0);
    show(&on.gradient_steps.steps, 0);
    gpu.run(&on.arrays, &on.compiled[0], 1);
    gpu.run(&on.arrays, &on.compiled[1], 1);
    on.arrays.download(&gpu, &learner.plan, &device);
    learner.rollout.run(&exact);
    learner.gradient_steps.run(&exact);
    for name in ["clock", "train.action", "train.time", "train.ended", "tally.episode_steps"] {
        let id = learner.plan.named::<Words>(name).expect("it is there");
        assert_eq!(*exact.read(id), *device.read(id), "{text}: {name}");
    }
    let id = learner.plan.named::<Ints>("train.ints").expect("it is there");
    assert_eq!(*exact.read(id), *device.read(id), "{text}");
    for name in ["scalars", "agents.gradient", "agents.weights", "tally.recent_returns", "tally.action_frequency", "tally.running_return", "tally.episode_parts"] {
        let id = learner.plan.named::<Reals>(name).expect("it is there");
        let (a, b) = (exact.read(id), device.read(id));
        let largest = a.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        let apart = a.iter().zip(b.iter()).fold(0.0_f32, |apart, (a, b)| apart.max((a - b).abs()));
        println!("{name} {apart} of {largest}");
        assert!(apart <= 1e-4 * largest, "{text}: {name} {apart} {largest}");
    }
}

#[test]
fn whole_updates_give_the_losses_and_gradients_of_the_exact_engine() {
    whole_update("env=spread&algo=qmix&batch=32&envs=8&team=mean");
    whole_update("env=pellet&algo=vdn&rollout=4");
    whole_update("env=spread&algo=mappo&envs=128&rollout=25&epochs=1&minibatches=1&hidden=64");
    whole_update("env=pellet&algo=ippo&shared=off&epochs=1&minibatches=1");
}
