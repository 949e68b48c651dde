//! Policies as they act and as they learn: legal actions, ratios, inactive agents, the order of agents and
//! environments, whose networks there are.

use tandem_core::base::rng::{Stream, below, uniform};
use tandem_core::env::api::Ended;
use tandem_core::marl::parts::advantage::Advantages;
use tandem_core::marl::parts::critic::CriticView;
use tandem_core::marl::parts::explore::softmax;
use tandem_core::marl::parts::policy_loss::{ACTIONS, CLIPPED, KL};
use tandem_core::marl::parts::popart::Scale;
use tandem_core::marl::settings::{AlgoChoice, InactiveChoice, LearnerSettings};
use tandem_core::nn::cpu::mlp_forward;
use tandem_core::nn::graph::{Compute as _, Precision as _};

use crate::support::{POLICIES, Tiny, learner, named, policy_settings, update};

#[test]
fn p10_sampling_never_draws_an_illegal_action() {
    let (random, stream) = (Stream::new(1, "cases"), Stream::new(1, "draws"));
    let mut drawn = 0_u32;
    for case in 0..100_000_u32 {
        let words = random.words([case, 0, 0, 0]);
        let mask: [u32; 6] = std::array::from_fn(|a| words[0] >> a & 1);
        // Logits of every size, so that most probabilities underflow in many cases; the illegal ones the most tempting.
        let size = [1e-30, 1.0, 30.0, 200.0, 1e30, f32::MAX][below(words[1], 6) as usize];
        let value = |a: usize| size * (uniform(words[2].rotate_left(5 * a as u32)) - 0.5);
        let logits: [f32; 6] = std::array::from_fn(|a| if mask[a] == 1 { value(a) } else { f32::MAX });
        for draw in 0..100 {
            let mut words = stream.words([case, draw, 0, 0]);
            if draw < 2 {
                words[0] = if draw == 0 { 0 } else { u32::MAX };
            }
            let (action, explored, log_prob) = softmax(&logits, &mask, 0.0, words);
            drawn += 1;
            if mask == [0; 6] {
                assert_eq!((action, explored, log_prob), (0, false, 0.0), "nothing to draw from");
                continue;
            }
            assert_eq!(mask[action as usize], 1, "case {case}: {action} of {mask:?}");
            assert!(log_prob <= 0.0 && log_prob > -104.0, "drawn although its probability is 0: {log_prob}");
        }
    }
    assert_eq!(drawn, 10_000_000);
}

#[test]
fn draws_are_as_frequent_as_the_policy_says() {
    let ln = |x: f64| tandem_core::base::float::ln(x) as f32;
    let (logits, mask) = ([ln(0.1), 5.0, ln(0.3), ln(0.6)], [1, 0, 1, 1]);
    let stream = Stream::new(2, "draws");
    let mut counts = [0_u32; 4];
    (0..100_000).for_each(|k| counts[softmax(&logits, &mask, 0.0, stream.words([k, 0, 0, 0])).0 as usize] += 1);
    for (count, p) in counts.into_iter().zip([0.1, 0.0, 0.3, 0.6]) {
        assert!((f64::from(count) / 1e5 - p).abs() < 0.006, "{counts:?}");
    }
}

/// In turns some actions are illegal, sometimes all of them. The second agent's last action decides whether the world
/// ends or is cut off.
fn masked(agents: u32) -> Tiny {
    let mut env = Tiny::new(agents, 4, 6, 6);
    env.legal = Box::new(|t, agent, action| (t + agent) % 3 != 2 && !(t + 2 * agent + action).is_multiple_of(3));
    env.rules = Box::new(|t, actions, rewards| {
        rewards.iter_mut().zip(actions).for_each(|(r, &a)| *r = a as f32);
        Ended { terminated: t == 5 && actions[1] == 0, truncated: t == 5 && actions[1] != 0 }
    });
    env
}

#[test]
fn p11_the_ratio_of_an_unchanged_policy_is_exactly_one() {
    for algo in POLICIES {
        for shared in [true, false] {
            let settings = LearnerSettings {
                shared,
                agent_id: true,
                envs: 5,
                rollout: 7,
                orthogonal: false,
                lr: 1e-2,
                ..policy_settings()
            };
            let learner = learner(masked(3), algo, &settings);
            let buffers = learner.start::<f32>();
            // Policies far from uniform, then the first gradient step of an update.
            (0..20).for_each(|_| update(&learner, &buffers));
            let statistics = learner.on_policy().expect("a policy gradient").statistics;
            let sums = buffers.read(statistics.sums);
            assert!(sums[ACTIONS] > 30.0);
            assert_eq!((sums[KL], sums[CLIPPED]), (0.0, 0.0), "{algo:?}, shared {shared}");
        }
    }
}

#[test]
fn p14_an_agent_without_a_legal_action_contributes_no_policy_gradient() {
    for algo in POLICIES {
        for inactive in [InactiveChoice::Mask, InactiveChoice::Zero] {
            let mut env = Tiny::new(2, 3, 4, 4);
            env.legal = Box::new(|_, agent, _| agent == 0);
            env.rules = Box::new(|t, actions, rewards| {
                rewards.fill(actions[0] as f32);
                Ended { terminated: t == 3, truncated: false }
            });
            let settings = LearnerSettings {
                shared: false,
                agent_id: true,
                envs: 3,
                rollout: 4,
                entropy: 0.1,
                inactive,
                ..policy_settings()
            };
            let learner = learner(env, algo, &settings);
            let buffers = learner.start::<f32>();
            update(&learner, &buffers);
            let grad = buffers.read(learner.agents.block.grad);
            let moves = |range: std::ops::Range<usize>| grad[range].iter().any(|g| *g != 0.0);
            assert!(moves(learner.agents.nets[0].range()), "{algo:?}: the first agent learns nothing");
            assert!(!moves(learner.agents.nets[1].range()), "{algo:?}: the second agent's policy has a gradient");
            // The critic of an agent that cannot act learns nothing, or from zeros and its id, as is asked.
            if algo == AlgoChoice::Ippo {
                let critic = learner.central.critic().expect("IPPO");
                let grad = buffers.read(critic.block.grad);
                let second = grad[critic.nets[1].range()].iter().any(|g| *g != 0.0);
                assert_eq!(second, inactive == InactiveChoice::Zero, "{inactive:?}");
                let obs = buffers.read(learner.on_policy().expect("IPPO").rollout.obs);
                for rows in obs.chunks_exact(16) {
                    let sees = |row: &[f32]| row[..4].iter().any(|x| *x != 0.0);
                    assert!(sees(&rows[..8]) && sees(&rows[8..]) == (inactive == InactiveChoice::Mask));
                    assert_eq!((&rows[4..6], &rows[12..14]), (&[1.0, 0.0][..], &[0.0, 1.0][..]), "ids");
                }
            }
        }
    }
}

/// The critic is asked about what followed only where an episode ended, some rows at a time; what it would have said
/// elsewhere is the same.
#[test]
fn the_value_of_what_followed_is_what_the_critic_says_of_it() {
    for (algo, shared, value_norm) in POLICIES
        .into_iter()
        .flat_map(|algo| [(algo, true, false), (algo, false, false), (algo, true, true), (algo, false, true)])
    {
        let settings =
            LearnerSettings { shared, value_norm, envs: 40, rollout: 8, orthogonal: false, ..policy_settings() };
        let learner = learner(masked(3), algo, &settings);
        let buffers = learner.start::<f32>();
        (0..3).for_each(|_| update(&learner, &buffers));
        learner.rollout.run(&buffers);
        for (_, call) in learner.gradient_steps.calls().take_while(|(_, call)| call.name() != Advantages::NAME) {
            f32::run(call, &buffers);
        }
        let rollout = learner.on_policy().expect("a policy gradient").rollout;
        let critic = learner.central.critic().expect("has a critic");
        let x = buffers.read(if critic.sees == CriticView::Local { rollout.next_obs } else { rollout.next_state });
        let (rows, width) = (rollout.count() * critic.heads.rows, critic.heads.width as usize);
        let mut hidden = vec![0.0; (rows * critic.hidden_width()) as usize];
        let mut y = vec![0.0; rows as usize * width];
        for (k, net) in critic.nets.iter().enumerate() {
            let of_net = |row: &u32| critic.nets.len() == 1 || row % critic.heads.rows == k as u32;
            let rows: Vec<u32> = (0..rows).filter(of_net).collect();
            mlp_forward(net, &buffers.read(critic.block.weights), &rows, &x, &mut hidden, &mut y);
        }
        let moments = critic.moments.map(|moments| buffers.read(moments.numbers));
        assert_eq!(moments.is_some(), value_norm);
        let scale = |m: usize| {
            let output = critic.heads.statistics(m);
            moments.as_ref().map_or(Scale { mean: 0.0, deviation: 1.0 }, |numbers| Scale::of_row(numbers, output))
        };
        assert_eq!(scale(0) != Scale { mean: 0.0, deviation: 1.0 }, value_norm, "nothing to restore");
        let (ended, terminal) = (buffers.read(rollout.ended), buffers.read(rollout.terminal));
        let count = |flags: &[f32]| flags.iter().filter(|flag| **flag != 0.0).count();
        assert!(0 < count(&terminal) && count(&terminal) < count(&ended), "both kinds of end");
        // More than a network is asked about in one go, and fewer than there are.
        let cut = count(&ended[..280]) + 40;
        assert!(64 < cut && cut < rollout.count() as usize, "{cut} items are cut off");
        let next = named(&learner, &buffers, "rollout.next_value");
        let columns = critic.heads.columns as usize;
        for (at, value) in next.iter().enumerate() {
            let (item, m) = (at / columns, at % columns);
            let said: f32 = scale(m).restore(y[critic.heads.output(item, m)]);
            assert_eq!(value.to_bits(), said.to_bits(), "{algo:?}, shared {shared}, norm {value_norm}: item {item}");
        }
    }
}

/// Every observation, state and reward says which env step, environment and agent it is of.
#[test]
fn p30_agents_and_environments_never_change_places() {
    let (n, envs, steps) = (2_usize, 3_usize, 4_usize);
    let mut env = Tiny::new(2, 3, 40, 40);
    env.observe = Box::new(|t, agent, obs| {
        obs.fill(0.0);
        (obs[0], obs[1]) = (t as f32, agent as f32);
    });
    env.rules = Box::new(|t, actions, rewards| {
        rewards.iter_mut().enumerate().for_each(|(i, r)| *r = (1_000 * t + 100 * i as u32 + actions[i]) as f32);
        Ended::default()
    });
    env.info.common_reward = false;
    env.info.team_reward = false;
    let settings = LearnerSettings { envs: 3, rollout: 4, minibatches: 2, ..policy_settings() };
    let learner = learner(env, AlgoChoice::Ippo, &settings);
    let buffers = learner.start::<f32>();
    // Environment e stands at t = 10·e.
    buffers.write(learner.world.ints).iter_mut().zip([0, 10, 20]).for_each(|(t, at)| *t = at);
    learner.rollout.run(&buffers);
    let rollout = learner.on_policy().expect("IPPO").rollout;
    let (obs, next) = (buffers.read(rollout.obs), buffers.read(rollout.next_obs));
    let (action, reward, state) =
        (buffers.read(rollout.action), buffers.read(rollout.reward), buffers.read(rollout.state));
    let width = obs.len() / (steps * envs * n);
    let mut seen = std::collections::BTreeSet::new();
    for t in 0..steps {
        for e in 0..envs {
            let (item, now) = (t * envs + e, 10 * e + t);
            assert_eq!(state[item * 40..(item + 1) * 40].iter().position(|x| *x == 1.0), Some(now));
            for i in 0..n {
                let row = (item * n + i) * width;
                assert_eq!((obs[row], obs[row + 1]), (now as f32, i as f32), "t {t}, e {e}, agent {i}");
                assert_eq!((next[row], next[row + 1]), ((now + 1) as f32, i as f32));
                let taken = action[item * n + i];
                assert_eq!(reward[item * (n + 1) + i], (1_000 * now + 100 * i) as f32 + taken as f32);
                seen.insert(taken);
            }
        }
    }
    assert!(seen.len() == 3, "all actions were drawn: {seen:?}");
    drop((obs, next, action, reward, state));

    // The last minibatch: a permutation of items, every row of one env step, environment and agent.
    learner.gradient_steps.run(&buffers);
    let (obs, action) =
        (named(&learner, &buffers, "minibatch.observation"), named(&learner, &buffers, "minibatch.target"));
    let all = named(&learner, &buffers, "rollout.target");
    for item in 0..steps * envs / 2 {
        let (now, rows) = (obs[item * n * width] as usize, &obs[item * n * width..]);
        let of = (now % 10) * envs + now / 10;
        assert_eq!([rows[1], rows[width], rows[width + 1]], [0.0, now as f32, 1.0]);
        assert_eq!(action[item * n..(item + 1) * n], all[of * n..(of + 1) * n], "targets go with their observations");
    }
}

#[test]
fn p36_networks_are_separate_or_shared_and_critics_local_or_central_as_named() {
    for (algo, sees) in [(AlgoChoice::Ippo, CriticView::Local), (AlgoChoice::Mappo, CriticView::Central)] {
        assert_eq!(algo.info().critic, Some(sees));
        for shared in [true, false] {
            for team in [true, false] {
                let mut env = Tiny::new(3, 2, 5, 5);
                env.info.obs_len = 4;
                (env.info.common_reward, env.info.team_reward) = (team, team);
                let learner = learner(env, algo, &LearnerSettings { shared, ..policy_settings() });
                let critic = learner.central.critic().expect("a critic");
                assert_eq!(learner.agents.nets.len(), if shared { 1 } else { 3 });
                let (nets, inputs, outputs) = match sees {
                    CriticView::Local => (learner.agents.nets.len(), 4, 1),
                    CriticView::Central => (1, 5, if team { 1 } else { 3 }),
                };
                assert_eq!(
                    (critic.nets.len(), critic.nets[0].inputs(), critic.nets[0].outputs()),
                    (nets, inputs, outputs)
                );
                assert_eq!(critic.heads.first_reward, if team && sees == CriticView::Central { 3 } else { 0 });
            }
        }
    }
}
