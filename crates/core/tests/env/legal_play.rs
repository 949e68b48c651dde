//! Exploration and sampling in every environment: what a mask forbids is never played.

use tandem_core::base::rng::{Stream, below, uniform};
use tandem_core::env::api::Env;
use tandem_core::marl::parts::explore::{Behaviour, epsilon_greedy, softmax};
use tandem_core::marl::parts::shown::show_legal;

use crate::contract::environments;
use crate::support::World;

const DRAWS: u32 = 10_000_000;
/// ε, so small that it underflows and so large that it is beyond 1.
const EPSILONS: [f32; 6] = [0.0, f32::MIN_POSITIVE / 2.0, 0.05, 0.5, 1.0, 2.0];
/// Sizes of outputs: with the larger ones nearly all probabilities underflow.
const SIZES: [f32; 5] = [1e-30, 1.0, 200.0, 1e30, f32::MAX];

/// Draws actions for every agent of random play, the illegal ones the most tempting.
fn play(env: &dyn Env, seed: u64, draws: u32) {
    let info = env.info();
    let (n, a) = (info.num_agents, info.num_actions as usize);
    let (cases, choices) = (Stream::new(seed, "cases"), Stream::new(seed, "explore"));
    let mut world = World::new(env, seed);
    let (mut mask, mut outputs) = (vec![0; a], vec![0.0_f32; a]);
    let mut actions = vec![0; n as usize];
    let mut drawn = 0;
    while drawn < draws {
        for agent in 0..n {
            let words = cases.words([drawn, agent, 0, 0]);
            show_legal(env, world.state.view(), agent, &mut mask);
            let size = SIZES[below(words[0], SIZES.len() as u32) as usize];
            for (k, (output, &legal)) in outputs.iter_mut().zip(&mask).enumerate() {
                let value = size * (uniform(words[1].rotate_left(5 * k as u32)) - 0.5);
                *output = if legal == 1 { value } else { f32::MAX };
            }
            let mut random = choices.words([drawn, agent, 0, 0]);
            // The ends of the unit interval, too.
            if words[3] < 1 << 28 {
                random[0] = if words[3] & 1 == 0 { 0 } else { u32::MAX };
            }
            let behaviour = if drawn % 2 == 0 { Behaviour::EpsilonGreedy } else { Behaviour::Softmax };
            let epsilon = EPSILONS[below(words[2], EPSILONS.len() as u32) as usize];
            let (action, _) = match behaviour {
                Behaviour::EpsilonGreedy => epsilon_greedy(&outputs, &mask, epsilon, random),
                Behaviour::Softmax => {
                    let bounded = if epsilon > 1.0 { 1.0 } else { epsilon };
                    let (action, explored, log_prob) = softmax(&outputs, &mask, bounded, random);
                    assert!(log_prob <= 0.0 && log_prob > -110.0, "drawn although it has no weight: {log_prob}");
                    (action, explored)
                }
            };
            assert_eq!(mask[action as usize], 1, "{action} of {mask:?} for {outputs:?}");
            actions[agent as usize] = action;
            drawn += 1;
        }
        if world.step(&actions).any() {
            world.episode += 1;
            world.reset();
        }
    }
}

#[test]
fn p10_ten_million_draws_over_all_environments_are_legal() {
    let worlds = environments();
    let share = DRAWS.div_ceil(worlds.len() as u32);
    for (spec, env) in worlds {
        println!("{spec:?}");
        play(&*env, 37, share);
    }
}

/// Who waits for its turn has exactly one choice, action 0, and whatever it answered would change nothing.
#[test]
fn who_waits_has_one_choice_which_the_rules_ignore() {
    for (spec, env) in environments().into_iter().filter(|(_, env)| env.info().in_turns) {
        let mut world = World::new(&*env, 41);
        let mut player = crate::support::Player::new(41);
        for _ in 0..500 {
            let mover = env.to_move(world.state.view()).expect("the game goes on");
            let mut actions = player.joint(&world);
            let mut mask = vec![0; env.info().num_actions as usize];
            for agent in 0..env.info().num_agents {
                show_legal(&*env, world.state.view(), agent, &mut mask);
                if agent == mover {
                    assert_eq!(mask, world.mask(agent), "{spec:?}");
                } else {
                    assert_eq!((mask[0], mask[1..].iter().sum::<u32>()), (1, 0), "{spec:?}");
                }
            }
            let mut other = world.clone();
            let ended = world.step(&actions);
            for agent in (0..env.info().num_agents).filter(|&agent| agent != mover) {
                actions[agent as usize] = player.below(env.info().num_actions);
            }
            assert_eq!((other.step(&actions), other.state), (ended, world.state.clone()), "{spec:?}");
            if ended.any() {
                world.episode += 1;
                world.reset();
            }
        }
    }
}
