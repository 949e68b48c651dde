//! QMIX's two-step game: rules, exact values, and what VDN can represent of them.

use tandem_core::env::api::{Env, Frame};
use tandem_core::env::two_step::{JointTables, TwoStep, TwoStepError, TwoStepSpec};

use crate::support::World;

fn rules() -> TwoStep {
    TwoStepSpec::default().validate().expect("the paper's game")
}

fn assert_tables(found: JointTables, expected: JointTables) {
    for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    }
}

#[test]
fn p20_exact_values_and_the_fixed_point_of_vdn() {
    let game = rules();
    assert_tables(game.exact_tables(0.99), [[6.93, 6.93, 7.92, 7.92], [7.0; 4], [0.0, 1.0, 1.0, 8.0]]);
    assert_tables(game.vdn_tables(0.99), [[6.93, 6.93, 6.435, 6.435], [7.0; 4], [-1.5, 2.5, 2.5, 6.5]]);
    assert_eq!(game.optimum().map(|optimum| optimum.value), Some(8.0));
}

/// VDN's tables are a fixed point: an additive least-squares problem solved by gradient descent from elsewhere ends
/// there.
#[test]
fn p20_gradient_descent_finds_the_fixed_point_of_vdn() {
    let spec = TwoStepSpec { payoffs_2a: [1.0, -2.0, 0.5, 3.0], payoffs_2b: [4.0, -1.0, -6.0, 5.0] };
    let game = spec.validate().expect("valid");
    let gamma = 0.9;
    // Per state, the utilities of both agents: [agent, action].
    let mut utilities = [[0.3, -0.2, 0.1, 0.4]; 3];
    let joint = |q: &[f64; 4]| [q[0] + q[2], q[0] + q[3], q[1] + q[2], q[1] + q[3]];
    let greedy = |q: &[f64; 4]| q[0].max(q[1]) + q[2].max(q[3]);
    for _ in 0..4000 {
        let next = [greedy(&utilities[1]), greedy(&utilities[2])];
        let targets = [
            [gamma * next[0], gamma * next[0], gamma * next[1], gamma * next[1]],
            spec.payoffs_2a.map(f64::from),
            spec.payoffs_2b.map(f64::from),
        ];
        for (q, targets) in utilities.iter_mut().zip(targets) {
            let values = joint(q);
            for (cell, (value, target)) in values.iter().zip(targets).enumerate() {
                q[cell / 2] += 0.05 * (target - value);
                q[2 + cell % 2] += 0.05 * (target - value);
            }
        }
    }
    for (state, expected) in game.vdn_tables(gamma).iter().enumerate() {
        for (found, expected) in joint(&utilities[state]).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "state {state}: {found} is not {expected}");
        }
    }
}

#[test]
fn the_first_action_of_agent_one_alone_chooses_the_table() {
    let game = rules();
    for (first, second) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let mut world = World::new(&game, 0);
        assert_eq!(world.obs(0), [1.0, 0.0, 0.0]);
        assert!(!world.step(&[first, second]).any());
        assert_eq!(world.rewards, [0.0, 0.0]);
        let expected = if first == 0 { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] };
        assert_eq!((world.obs(0), world.obs(1)), (expected.to_vec(), expected.to_vec()));
        assert_eq!(world.state_vector(), expected);
        let ended = world.step(&[1, 1]);
        assert!(ended.terminated && !ended.truncated);
        assert_eq!(world.rewards, if first == 0 { [7.0, 7.0] } else { [8.0, 8.0] });
    }
}

#[test]
fn edited_payoffs_are_paid_and_known() {
    let spec = TwoStepSpec { payoffs_2a: [1.0, 2.0, 3.0, 4.0], payoffs_2b: [5.0, 6.0, 7.0, -8.0] };
    let game = spec.validate().expect("valid");
    let mut world = World::new(&game, 0);
    assert_eq!(game.exact_q(world.state.view(), 0.5), Some(vec![2.0, 2.0, 3.5, 3.5]));
    world.step(&[1, 0]);
    assert_eq!(game.exact_q(world.state.view(), 0.5), Some(vec![5.0, 6.0, 7.0, -8.0]));
    world.step(&[1, 1]);
    assert_eq!(world.rewards, [-8.0, -8.0]);
}

#[test]
fn the_frame_shows_the_table_the_agents_are_in() {
    let game = rules();
    let mut world = World::new(&game, 0);
    let shown = |world: &World<'_>| match game.frame(world.state.view()) {
        Frame::Matrix { payoffs, played, stage, .. } => (payoffs[3].0, played, stage),
        _ => unreachable!("a matrix game is no grid"),
    };
    assert_eq!(shown(&world), (0.0, None, 0));
    world.step(&[1, 0]);
    assert_eq!(shown(&world), (8.0, None, 2), "nothing of 2B has been played yet");
    world.step(&[0, 1]);
    assert_eq!(shown(&world), (8.0, Some((0, 1)), 2));
}

#[test]
fn bad_payoffs_are_refused_with_a_reason() {
    let spec = TwoStepSpec { payoffs_2b: [0.0, f32::INFINITY, 1.0, 8.0], ..TwoStepSpec::default() };
    let error = spec.validate().expect_err("infinite");
    assert_eq!(error, TwoStepError::Payoff { state: "2B", given: f32::INFINITY });
    assert_eq!(error.to_string(), "A payoff in state 2B is inf: numbers from -1000 to 1000 are possible.");
}
