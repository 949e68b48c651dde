//! P05: env steps of weight 0 change nothing, to the bit: neither as whole segments nor at the end of segments.

use tandem_core::env::api::Ended;
use tandem_core::marl::learner::Learner;
use tandem_core::marl::parts::clock::{GRAD_NORM, LOSS};
use tandem_core::marl::settings::{AlgoChoice, LearnerSettings};
use tandem_core::nn::graph::{Buffers, Content, Id, Training};

use crate::support::{ALL, Tiny, fill_count, learner, reward_moments, settings};

const SEGMENTS: u32 = 5;

fn build(algo: AlgoChoice, segments: u32, steps: u32) -> (Learner, Buffers<f32>) {
    let mut env = Tiny::new(2, 3, 6, steps);
    env.info.fixed_length = true;
    // Something to learn: rewards and sights of all sizes.
    env.rules = Box::new(move |t, actions, rewards| {
        rewards.fill(actions[0] as f32 - 0.3 * actions[1] as f32 + t as f32);
        Ended { terminated: t + 1 == steps, truncated: false }
    });
    env.observe = Box::new(|t, agent, obs| {
        for (k, x) in (1_u32..).zip(obs) {
            *x = ((k * 37 + t * 11 + agent * 5) % 17) as f32 / 17.0;
        }
    });
    let settings = LearnerSettings {
        envs: segments,
        rollout: steps,
        batch: segments,
        buffer: segments,
        hyper_layers: 2,
        double_q: true,
        standardise: true,
        ..settings()
    };
    let learner = learner(env, algo, &settings);
    let buffers = learner.start();
    fill_count(&learner, &buffers);
    (learner, buffers)
}

/// Copies what was recorded of `from`, segment by segment, into the beginning of the segments of `to`, whose rest
/// becomes padding: weight 0 around numbers that would be seen if anything looked.
fn pad(from: &(Learner, Buffers<f32>), to: &(Learner, Buffers<f32>)) {
    let (a, b) = (&from.0.replay().expect("value-based").ring, &to.0.replay().expect("value-based").ring);
    let (short, long) = (a.steps as usize, b.steps as usize);
    copy(from, to, a.obs, b.obs, [short + 1, long + 1], 0.7);
    copy(from, to, a.state, b.state, [short + 1, long + 1], -0.4);
    copy(from, to, a.mask, b.mask, [short + 1, long + 1], 0);
    copy(from, to, a.action, b.action, [short, long], 2);
    copy(from, to, a.reward, b.reward, [short, long], 1e4);
    copy(from, to, a.terminal, b.terminal, [short, long], 0.0);
    copy(from, to, a.weight, b.weight, [short, long], 0.0);
}

fn copy<T: Content>(
    from: &(Learner, Buffers<f32>),
    to: &(Learner, Buffers<f32>),
    a: Id<T, Training>,
    b: Id<T, Training>,
    [short, long]: [usize; 2],
    filler: T::Item<f32>,
) {
    let source = from.1.read(a);
    let mut sink = to.1.write(b);
    sink.fill(filler);
    let width = source.len() / (from.0.replay().expect("value-based").ring.count as usize * short);
    for (kept, padded) in source.chunks_exact(short * width).zip(sink.chunks_exact_mut(long * width)) {
        padded[..kept.len()].copy_from_slice(kept);
    }
}

/// Bits of everything a gradient step leaves.
fn outcome((learner, buffers): &(Learner, Buffers<f32>)) -> Vec<(&'static str, Vec<u32>)> {
    let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let scalars = buffers.read(learner.clock.scalars);
    let moments = reward_moments(learner, buffers);
    assert!(moments[0] > 0.0 && moments[1] < 100.0, "count and mean {moments:?}");
    assert!(scalars[LOSS] > 0.0 && scalars[LOSS].is_finite());
    let mut all = vec![
        ("loss and norm", bits(&[scalars[LOSS], scalars[GRAD_NORM]])),
        ("moments", moments.iter().flat_map(|x| [x.to_bits() as u32, (x.to_bits() >> 32) as u32]).collect()),
    ];
    for (_, block) in learner.blocks() {
        all.push(("gradient", bits(&buffers.read(block.grad))));
        all.push(("weights", bits(&buffers.read(block.weights))));
    }
    all
}

#[test]
fn p05_padding_changes_no_bit_of_a_gradient_step() {
    for algo in ALL {
        let plain = build(algo, SEGMENTS, 2);
        plain.0.rollout.run(&plain.1);
        // Three segments more; three env steps more in every segment; both.
        let padded = [(SEGMENTS + 3, 2), (SEGMENTS, 5), (SEGMENTS + 3, 5)].map(|(segments, steps)| {
            let padded = build(algo, segments, steps);
            pad(&plain, &padded);
            padded
        });
        for step in 0..3 {
            plain.0.gradient_steps.run(&plain.1);
            let expected = outcome(&plain);
            for (k, padded) in padded.iter().enumerate() {
                padded.0.gradient_steps.run(&padded.1);
                assert_eq!(outcome(padded), expected, "{algo:?}, padding {k}, gradient step {step}");
            }
        }
    }
}
