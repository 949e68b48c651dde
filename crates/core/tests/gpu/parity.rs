//! Every kernel against its CPU twin, on the very calls of runs: the same numbers before, nearly the same after.

use tandem_core::marl::learner::Learner;
use tandem_core::nn::gpu::{Arrays, Gpu};
use tandem_core::nn::graph::{Buffers, Call, Content, Doubles, Ints, List, Plan, Reals, Words};
use tandem_core::nn::memory::Memory;
use tandem_core::nn::program::Program;

use crate::support::{gpu, learner};

/// How far a kernel may be from its twin, as a share of the largest number of a buffer. Most add and multiply in another
/// order than lanes do; ones with exponentials have those of the device.
fn tolerance(kernel: &str) -> f32 {
    match kernel {
        "adam" | "popart" => 2e-5,
        _ => 1e-5,
    }
}

/// What a call writes that means nothing afterwards, or that only the exact engine has.
fn is_ignored(kernel: &str, buffer: &str) -> bool {
    let is_scratch = buffer == "scratch" || buffer.rsplit('.').next() == Some("shown");
    // Buffers change places on the processor; on a device they are copied.
    let is_swapped = kernel == "env_observe" && buffer.contains(".next_");
    // The critic is asked about more on a device.
    let is_kept = kernel == "next_values" && buffer.starts_with("rollout.critic");
    is_scratch || is_swapped || is_kept || buffer == "trace"
}

fn compare(what: &str, call: &dyn Call, plan: &Plan, exact: &Buffers<f32>, device: &Buffers<f32>) {
    let wires = call.wires();
    for &(kind, index) in &wires.writes {
        if kind == Reals::KIND || kind == Doubles::KIND {
            let infos = if kind == Reals::KIND { Reals::infos(plan) } else { Doubles::infos(plan) };
            let info = &infos[index as usize];
            if is_ignored(call.name(), &info.name) {
                continue;
            }
            let read = |buffers: &Buffers<f32>| -> Vec<f64> {
                if kind == Reals::KIND {
                    let id = plan.named::<Reals>(&info.name).expect("it is named");
                    buffers.read(id)[..info.len()].iter().map(|&x| f64::from(x)).collect()
                } else {
                    let id = plan.named::<Doubles>(&info.name).expect("it is named");
                    buffers.read(id)[..info.len()].to_vec()
                }
            };
            let (exact, device) = (read(exact), read(device));
            let largest = exact.iter().fold(1e-3, |largest: f64, x| largest.max(x.abs()));
            for (k, (a, b)) in exact.iter().zip(&device).enumerate() {
                let limit = f64::from(tolerance(call.name())) * largest;
                assert!((a - b).abs() <= limit, "{what}: {} writes {}[{k}] = {b}, not {a}", call.name(), info.name);
            }
        } else if kind == Words::KIND {
            let info = &Words::infos(plan)[index as usize];
            if is_ignored(call.name(), &info.name) {
                continue;
            }
            let id = plan.named::<Words>(&info.name).expect("it is named");
            let read = |buffers: &Buffers<f32>| {
                let mut words = buffers.read(id).clone();
                if info.name == "statistics.ratio" {
                    // A ratio of 1 is an edge between two bins: which of them rounding decides.
                    let edge = words.len() / 2;
                    words[edge] += std::mem::take(&mut words[edge - 1]);
                }
                words
            };
            assert_eq!(read(exact), read(device), "{what}: {} writes {}", call.name(), info.name);
        } else if kind == Ints::KIND {
            let info = &Ints::infos(plan)[index as usize];
            let id = plan.named::<Ints>(&info.name).expect("it is named");
            assert_eq!(*exact.read(id), *device.read(id), "{what}: {} writes {}", call.name(), info.name);
        }
    }
}

/// Each call of `list` once, from what the calls before it left.
fn check(what: &str, gpu: &Gpu, learner: &Learner, list: &List, buffers: &Buffers<f32>) {
    for (_, call) in list.calls() {
        let mut memory = Memory::new(&learner.plan);
        let program =
            Program::of_call(&learner.plan, call, &mut memory).unwrap_or_else(|unfit| panic!("{what}: {unfit}"));
        let device = buffers.clone();
        if !program.steps.is_empty() {
            let compiled = gpu.compile(&program);
            let arrays = Arrays::new(gpu, memory).expect("it is small");
            arrays.upload(gpu, &learner.plan, &device);
            gpu.run(&arrays, &compiled, 1);
            arrays.download(gpu, &learner.plan, &device);
        }
        call.run_f32(buffers);
        compare(what, call, &learner.plan, buffers, &device);
    }
}

fn check_run(text: &str) {
    let (gpu, learner) = (gpu(), learner(text));
    let buffers = learner.start::<f32>();
    // Somewhere in training, where nothing is zero any more.
    for _ in 0..3 {
        learner.rollout.run(&buffers);
        learner.gradient_steps.run(&buffers);
    }
    check(text, &gpu, &learner, &learner.rollout, &buffers);
    check(text, &gpu, &learner, &learner.gradient_steps, &buffers);
}

/// Rows that fill no matrix product, layers of no round width, items of every kind.
#[test]
fn kernels_of_value_based_learners_are_their_twins() {
    check_run("env=two_step&algo=qmix&envs=3&batch=5&hidden=24");
    check_run("env=pellet&algo=vdn&agents=3&pellets=2&sight=1&standardise=on&envs=31&batch=33");
    check_run("env=pellet&algo=iql&pellets=3&shared=off&double=off&cost=0.1&beta=0.5&envs=1&batch=1&hidden=8&layers=1");
    check_run("env=matrix&algo=qmix&hyper=2&pos=softplus&target=soft&hidden=128");
    check_run("env=spread&algo=qmix&batch=7&hyper=1&team=mean&monotone=off");
    check_run("env=matrix&game=prisoners_dilemma&algo=vdn&team=sum&repeat=25&rollout=25");
}

#[test]
fn kernels_of_policy_gradients_are_their_twins() {
    check_run("env=spread&algo=mappo&envs=5&rollout=25");
    check_run("env=spread&algo=ippo&shared=off&envs=3&rollout=7&value_norm=on&act=tanh");
    check_run("env=pellet&algo=mappo&envs=9&norm_adv=agent&adv=nstep&n_step=3&value_clip=0.2");
    // 257 items in a minibatch.
    check_run("env=pellet&algo=mappo&envs=257&rollout=4&epochs=1&minibatches=4&tie=nobody&reward=first");
}
