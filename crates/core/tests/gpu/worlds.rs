//! Worlds on a device, whole episodes long.

use tandem_core::env::particles::physics::{Body, Integrator, Physics};
use tandem_core::marl::learner::Learner;
use tandem_core::marl::parts::clock::EPISODES;
use tandem_core::nn::gpu::Arrays;
use tandem_core::nn::graph::{Buffers, Doubles, Ints, Reals, Words};
use tandem_core::nn::memory::Memory;
use tandem_core::nn::program::Program;

use crate::support::{gpu, learner};

/// Rollouts of `text` here and there; what counts is compared after each.
fn follow(text: &str, rollouts: u32, mut compare: impl FnMut(&Learner, &Buffers<f32>, &Buffers<f32>)) {
    let (gpu, learner) = (gpu(), learner(text));
    let mut memory = Memory::new(&learner.plan);
    let program = Program::new(&learner.plan, &[&learner.rollout], &mut memory).expect("it fits");
    let (exact, device) = (learner.start::<f32>(), learner.start::<f32>());
    let (compiled, arrays) = (gpu.compile(&program), Arrays::new(&gpu, memory).expect("it is small"));
    arrays.upload(&gpu, &learner.plan, &device);
    for _ in 0..rollouts {
        gpu.run(&arrays, &compiled, 1);
        arrays.download(&gpu, &learner.plan, &device);
        learner.rollout.run(&exact);
        compare(&learner, &exact, &device);
    }
}

#[test]
fn grids_and_games_are_followed_exactly_for_whole_episodes() {
    for text in [
        "env=pellet&size=7x5&agents=3&start=random&pellets=4&sight=2&algo=iql&explore=uniform&envs=33&rollout=64&limit=20",
        "env=pellet&reward=first&tie=nobody&cost=0.25&algo=iql&explore=uniform&envs=9&rollout=64",
        "env=matrix&repeat=7&algo=iql&explore=uniform&envs=5&rollout=70",
        "env=two_step&algo=iql&explore=uniform&envs=5&rollout=40",
    ] {
        let mut episodes = 0;
        follow(text, 3, |learner, exact, device| {
            let plan = &learner.plan;
            for name in ["train.time", "train.ended", "train.action", "train.live", "clock"] {
                let id = plan.named::<Words>(name).expect("it is there");
                assert_eq!(*exact.read(id), *device.read(id), "{text}: {name}");
            }
            let ints = plan.named::<Ints>("train.ints").expect("it is there");
            assert_eq!(*exact.read(ints), *device.read(ints), "{text}");
            for name in
                ["train.reward", "train.reward_parts", "train.next_observation", "replay.reward", "replay.observation"]
            {
                let id = plan.named::<Reals>(name).expect("it is there");
                assert_eq!(*exact.read(id), *device.read(id), "{text}: {name}");
            }
            episodes = exact.read(learner.clock.counters)[EPISODES];
        });
        assert!(episodes > 30, "{text}: {episodes}");
    }
}

/// Particles after one env step from equal states.
#[test]
fn particles_move_as_here_in_single_precision() {
    follow("env=spread&algo=ippo&envs=50&rollout=1", 1, |learner, exact, device| {
        let id = learner.plan.named::<Doubles>("train.reals").expect("it is there");
        for (a, b) in exact.read(id).iter().zip(device.read(id).iter()) {
            assert!((a - b).abs() <= 1e-5, "{a} is {b} on the device");
        }
    });
}

/// A thousand episodes of nearly random play against the laws of motion in f32, run here.
#[test]
fn particles_stay_with_their_twin_for_whole_episodes() {
    for seed in [1, 2] {
        let furthest =
            furthest_from_twin(&format!("env=spread&algo=ippo&envs=512&rollout=1&minibatches=1&seed={seed}"));
        assert!(furthest <= 1e-3, "off by {furthest}");
    }
}

/// Agents, landmarks, velocities.
type Pairs = [[f32; 2]; 9];

/// An episode of every world of `text`: the largest distance of a number from what the twin makes of the same actions.
fn furthest_from_twin(text: &str) -> f32 {
    let agent = Body { collides: true, ..Body::agent(0.15) };
    let bodies = [vec![agent; 3], vec![Body::landmark(0.05); 3]].concat();
    let physics = Physics::new(&bodies, 3, Integrator::PositionFirst);
    let mut twin: Vec<Pairs> = Vec::new();
    let mut furthest = 0.0_f32;
    // The 25th env step would reset the worlds.
    follow(text, 24, |learner, _, device| {
        let reals = device.read(learner.plan.named::<Doubles>("train.reals").expect("it is there"));
        let action = device.read(learner.plan.named::<Words>("train.action").expect("it is there"));
        let pairs = |world: &[f64]| std::array::from_fn(|k| [world[2 * k] as f32, world[2 * k + 1] as f32]);
        let worlds: Vec<Pairs> = reals.chunks_exact(18).map(pairs).collect();
        if twin.is_empty() {
            // After the first env step: what the twin goes on from.
            twin.clone_from(&worlds);
            return;
        }
        for ((pairs, world), actions) in twin.iter_mut().zip(&worlds).zip(action.chunks_exact(3)) {
            let (p, v) = pairs.split_at_mut(6);
            let mut force: Vec<[f32; 2]> = actions.iter().map(|&action| push(action)).collect();
            physics.step(p, v, &mut force);
            let apart = pairs.as_flattened().iter().zip(world.as_flattened()).map(|(a, b)| (a - b).abs());
            furthest = apart.fold(furthest, f32::max);
        }
    });
    furthest
}

/// The force of an action.
fn push(action: u32) -> [f32; 2] {
    match action {
        1 => [-5.0, 0.0],
        2 => [5.0, 0.0],
        3 => [0.0, -5.0],
        4 => [0.0, 5.0],
        _ => [0.0; 2],
    }
}
