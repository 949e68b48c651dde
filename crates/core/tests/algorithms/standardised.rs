//! Standardised rewards: moments of known rewards, for more of them than single precision can count.

use std::sync::Arc;

use tandem_core::marl::parts::replay::Segments;
use tandem_core::marl::parts::td::{Columns, Dims, RewardMoments, TdTarget};
use tandem_core::marl::parts::world::World;
use tandem_core::marl::seats::Members;
use tandem_core::nn::graph::{Buffers, List, Phase, Plan};

use crate::support::Tiny;

/// Rewards of a minibatch.
const BATCH: u32 = 1 << 17;

#[test]
fn moments_of_2_to_the_25_rewards_are_those_of_the_rewards() {
    let plan = &mut Plan::default();
    let world = World::new(plan, "world", Arc::new(Tiny::new(2, 1, 1, 1)), 1, false);
    let batch = Segments::new(plan, "batch", &world, BATCH, 1, false);
    let dims = Dims { segments: BATCH, steps: 1, agents: 2, members: Members::all(2), actions: 1 };
    let moments = plan.buffer("moments", &[3]);
    let (next, y) = (plan.buffer("next", &[BATCH]), plan.buffer("y", &[BATCH]));
    let mut list = List::default();
    list.repeat(256, |list| list.train(Phase::Sample, RewardMoments { moments, batch, dims, columns: Columns::Team }));
    list.train(
        Phase::Target,
        TdTarget { dims, columns: Columns::Team, gamma: 0.5, moments: Some(moments), batch, next, y },
    );

    let buffers = Buffers::<f32>::new(plan);
    // The team is paid 1001, 1005, 1001, …: mean 1003, deviation 2. The agents' own rewards do not count, nor does
    // padding: the last two.
    for (k, reward) in buffers.write(batch.reward).chunks_exact_mut(3).enumerate() {
        reward.copy_from_slice(&[-7.0, 9.0, if k % 2 == 0 { 1001.0 } else { 1005.0 }]);
    }
    buffers.write(batch.weight).fill(1.0);
    buffers.write(batch.weight)[BATCH as usize - 2..].fill(0.0);
    buffers.write(next).fill(4.0);
    buffers.write(batch.terminal)[0] = 1.0;
    list.run(&buffers);

    let [count, mean, squares] = buffers.read(moments)[..] else { panic!("three moments") };
    assert_eq!(count, f64::from((BATCH - 2) * 256));
    assert!((mean - 1003.0).abs() < 1e-6, "mean {mean}");
    assert!(((squares / count).sqrt() - 2.0).abs() < 1e-6, "deviation {}", (squares / count).sqrt());
    // y = standardised r + γ·next; the first transition is terminal.
    for (y, expected) in buffers.read(y).iter().zip([-1.0, 1.0 + 0.5 * 4.0, -1.0 + 0.5 * 4.0]) {
        assert!((y - expected).abs() < 1e-5, "{y} instead of {expected}");
    }
}
