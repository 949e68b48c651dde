//! The next state's action: legal ones only, chosen and judged by the right network, and agents that may not act.

use std::sync::Arc;

use tandem_core::env::api::{Ended, EnvState};
use tandem_core::marl::learner::{Evaluations, Learner};
use tandem_core::marl::parts::clock::LOSS;
use tandem_core::marl::probe::Probe;
use tandem_core::marl::settings::{AlgoChoice, LearnerSettings};
use tandem_core::nn::graph::Buffers;

use crate::support::{ALL, Tiny, Transition, evaluate, learner, named, set_tables, settings, update, write_replay};

/// A learner whose replay is one transition 0 → 1 after which agent i may take the actions `masks[i]`.
fn one_transition(algo: AlgoChoice, double_q: bool, masks: [[u32; 3]; 2]) -> (Learner, Buffers<f64>) {
    let learner = learner(Tiny::new(2, 3, 2, 9), algo, &LearnerSettings { double_q, ..settings() });
    let buffers = learner.start();
    let rewards = vec![1.0, 1.0, 1.0];
    write_replay(&learner, &buffers, &[Transition { states: [0, 1], actions: vec![0, 1], rewards, terminal: false }]);
    // Rows: time, agent.
    buffers.write(learner.replay().expect("value-based").ring.mask)[6..].copy_from_slice(&masks.concat());
    (learner, buffers)
}

/// q_i' after a gradient step with these Q of state 1.
fn next_values((learner, buffers): &(Learner, Buffers<f64>), online: [f32; 3], target: [f32; 3]) -> [f64; 2] {
    set_tables(learner, buffers, &[&[0.0; 3], &online], &[&[0.0; 3], &target]);
    learner.gradient_steps.run(buffers);
    let next = named(learner, buffers, "next");
    [next[0], next[1]]
}

#[test]
fn p07_the_target_ignores_illegal_actions() {
    let masks = [[1, 1, 0], [1, 0, 0]];
    for algo in ALL {
        for double_q in [true, false] {
            // Action 3 is illegal for both agents and worth +1000 to whoever looks.
            let run = |online: [f32; 3], target: [f32; 3]| {
                let learner = one_transition(algo, double_q, masks);
                let next = next_values(&learner, online, target);
                let y = named(&learner.0, &learner.1, "td_target").clone();
                (next, y)
            };
            let tempted = run([2.0, 5.0, 1000.0], [3.0, 7.0, 1000.0]);
            let plain = run([2.0, 5.0, -1.0], [3.0, 7.0, -1.0]);
            assert_eq!(tempted, plain, "{algo:?}, double {double_q}");
            assert_eq!(tempted.0, [7.0, 3.0], "{algo:?}, double {double_q}: the second agent may only take action 1");
        }
    }
}

#[test]
fn p08_double_q_chooses_with_the_online_network_and_evaluates_with_the_target() {
    // Legal are actions 1 and 2; the online network prefers 1 of them, the target network 2.
    let masks = [[1, 1, 0], [0, 1, 1]];
    let (online, target) = ([9.0, 4.0, 50.0], [30.0, 60.0, 90.0]);
    for algo in ALL {
        let double = next_values(&one_transition(algo, true, masks), online, target);
        assert_eq!(double, [30.0, 90.0], "{algo:?}: target's value of the online network's choice");
        let single = next_values(&one_transition(algo, false, masks), [9.0, 4.0, 3.0], target);
        assert_eq!(single, [60.0, 90.0], "{algo:?}: the target network's own best");
        let elsewhere = next_values(&one_transition(algo, true, masks), [9.0, 4.0, 3.0], target);
        assert_eq!(elsewhere, [30.0, 60.0], "{algo:?}: the choice moves with the online network");
    }
}

#[test]
fn p09_an_agent_without_a_legal_action_is_worth_nothing_and_no_nan() {
    for algo in ALL {
        for double_q in [true, false] {
            let waiting = one_transition(algo, double_q, [[0, 0, 0], [1, 1, 1]]);
            assert_eq!(next_values(&waiting, [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]), [0.0, 6.0], "{algo:?}");
            let loss = waiting.1.read(waiting.0.clock.scalars)[LOSS];
            assert!(loss.is_finite());
            assert!(waiting.1.read(waiting.0.agents.block.weights).iter().all(|w| w.is_finite()));
        }
    }
}

/// A game of turns: whoever is not to move has no legal action, which the world would notice.
#[test]
fn p09_p13_a_game_of_turns_trains_and_is_evaluated() {
    for algo in ALL {
        let mut env = Tiny::new(2, 3, 6, 6);
        // To move at t is agent t mod 2; action 1 is never legal.
        env.legal = Box::new(|t, agent, action| t % 2 == agent && action != 0);
        env.rules = Box::new(|t, actions, rewards| {
            let (mover, other) = (actions[t as usize % 2], actions[1 - t as usize % 2]);
            assert!(mover != 0, "an illegal action was played");
            assert_eq!(other, 0, "whoever waits is given action 1");
            rewards.fill(if mover == 2 { 1.0 } else { -1.0 });
            Ended { terminated: t == 5, truncated: false }
        });
        let settings = LearnerSettings { envs: 4, rollout: 3, batch: 16, buffer: 64, lr: 1e-2, ..settings() };
        let learner = learner(env, algo, &settings);
        let buffers = learner.start::<f32>();
        (0..6).for_each(|_| learner.rollout.run(&buffers));
        for _ in 0..300 {
            update(&learner, &buffers);
            assert!(buffers.read(learner.clock.scalars)[LOSS].is_finite());
        }
        assert!(buffers.read(learner.agents.block.weights).iter().all(|w| w.is_finite()));
        let greedy = evaluate(&learner, &buffers);
        assert_eq!(greedy.mean, 6.0, "{algo:?} learned to play action 3");
        let exploring = Evaluations { episodes: 1, explores: true };
        let exploring = Learner::new(Arc::clone(&learner.env), algo, &settings, 1, exploring);
        assert!(evaluate(&exploring, &exploring.start::<f32>()).mean.is_finite());
        let probe = Probe { learner: &learner, buffers: &buffers };
        let start = EnvState { ints: vec![0], reals: vec![] };
        assert_eq!(probe.legal(start.view()), [[0, 1, 1], [0, 0, 0]]);
    }
}
