//! Scales: normalised values, clipped values, normalised advantages.

use tandem_core::env::api::{Ended, EnvState};
use tandem_core::marl::learner::Learner;
use tandem_core::marl::parts::clock::LOSS;
use tandem_core::marl::probe::Probe;
use tandem_core::marl::settings::{AlgoChoice, LearnerSettings, NormAdvChoice};
use tandem_core::nn::graph::Buffers;

use crate::support::{POLICIES, Tiny, learner, named, policy_settings, run_calls, update, words_named, write_named};

/// Rewards of about `size`, different for each agent if the game has no team reward.
fn paying(size: f32, team: bool) -> Tiny {
    let mut env = Tiny::new(2, 3, 5, 5);
    env.info.team_reward = team;
    env.info.common_reward = team;
    env.rules = Box::new(move |t, actions, rewards| {
        let paid = |i: usize| size * (1.0 + t as f32 - 2.0 * actions[i] as f32);
        for i in 0..2 {
            rewards[i] = if team { paid(0) + paid(1) } else { (1.0 + 9.0 * i as f32) * paid(i) };
        }
        Ended { terminated: false, truncated: t == 4 }
    });
    env
}

fn normalising() -> LearnerSettings {
    LearnerSettings {
        value_norm: true,
        agent_id: true,
        envs: 6,
        rollout: 10,
        lr: 1e-2,
        entropy: 0.01,
        ..policy_settings()
    }
}

/// An update from here, the rewards and the moments of returns being `scale` times as large.
fn scaled(learner: &Learner, from: &Buffers<f64>, scale: f64) -> Buffers<f64> {
    let buffers = from.clone();
    let rollout = learner.on_policy().expect("a policy gradient").rollout;
    buffers.write(rollout.reward).iter_mut().for_each(|r| *r *= scale);
    let moments = learner.central.critic().and_then(|critic| critic.moments).expect("normalised values");
    for row in buffers.write(moments.numbers).chunks_exact_mut(3) {
        (row[1], row[2]) = (row[1] * scale, row[2] * scale * scale);
    }
    learner.gradient_steps.run(&buffers);
    buffers
}

#[test]
fn p26_rewards_a_hundred_times_as_large_move_the_policy_the_same_way() {
    for algo in POLICIES {
        for (shared, team, norm_adv) in [
            (true, true, NormAdvChoice::Batch),
            (false, true, NormAdvChoice::Agent),
            (true, false, NormAdvChoice::Agent),
        ] {
            let settings = LearnerSettings { shared, norm_adv, epochs: 3, minibatches: 2, ..normalising() };
            let learner = learner(paying(1.0, team), algo, &settings);
            let buffers = learner.start::<f64>();
            (0..3).for_each(|_| update(&learner, &buffers));
            learner.rollout.run(&buffers);
            let (plain, large) = (scaled(&learner, &buffers, 1.0), scaled(&learner, &buffers, 128.0));
            let weights = learner.agents.block.weights;
            let before = buffers.read(weights);
            assert_ne!(*plain.read(weights), *before);
            for (a, b) in plain.read(weights).iter().zip(large.read(weights).iter()) {
                assert!((a - b).abs() < 1e-7, "{algo:?}, shared {shared}, team {team}: {a} and {b}");
            }
        }
    }
}

#[test]
fn values_are_learned_in_the_rewards_unit() {
    for (algo, value_norm) in [(AlgoChoice::Ippo, true), (AlgoChoice::Mappo, true), (AlgoChoice::Mappo, false)] {
        // 2 agents, each paid 500 in each of 5 env steps, γ = 1/2: worth 500 in the last, 750 in the one before.
        let mut env = Tiny::new(2, 1, 5, 5);
        env.rules = Box::new(|t, _, rewards| {
            rewards.fill(500.0);
            Ended { terminated: t == 4, truncated: false }
        });
        let settings = LearnerSettings {
            value_norm,
            critic_lr: if value_norm { 1e-2 } else { 0.3 },
            lr: 1e-2,
            envs: 4,
            rollout: 5,
            epochs: 10,
            ..policy_settings()
        };
        let learner = learner(env, algo, &settings);
        let buffers = learner.start::<f32>();
        (0..300).for_each(|_| update(&learner, &buffers));
        let probe = Probe { learner: &learner, buffers: &buffers };
        for t in 0..5 {
            let values = probe.values(EnvState { ints: vec![t], reals: Vec::new() }.view());
            assert_eq!(values.len(), if algo == AlgoChoice::Ippo { 2 } else { 1 });
            let expected = (t..5).fold(0.0, |later, _| 500.0 + 0.5 * later);
            assert!(
                values.iter().all(|v| (v - expected).abs() < 20.0),
                "{algo:?}, normalised {value_norm}, t {t}: {values:?}, not {expected}"
            );
        }
    }
}

/// The critic's first look in a minibatch gives what it gave in the rollout, on the same scale, however far the moments
/// have moved in between.
#[test]
fn p27_value_clipping_compares_numbers_on_one_scale() {
    for algo in POLICIES {
        for (shared, team) in [(true, true), (false, true), (true, false)] {
            let settings = LearnerSettings { shared, value_clip: 0.2, ..normalising() };
            let learner = learner(paying(100.0, team), algo, &settings);
            let buffers = learner.start::<f64>();
            let heads = learner.central.critic().expect("a critic").heads;
            for number in 0..3 {
                learner.rollout.run(&buffers);
                learner.gradient_steps.run(&buffers);
                let (now, then) = (
                    named(&learner, &buffers, "minibatch.critic.outputs"),
                    named(&learner, &buffers, "minibatch.value"),
                );
                for (k, &then) in then.iter().enumerate() {
                    let (item, m) = (k / heads.columns as usize, k % heads.columns as usize);
                    let now = now[heads.output(item, m)];
                    assert!(
                        (now - then).abs() < 1e-9 * then.abs().max(1.0),
                        "{algo:?}, update {number}: {now}, not {then}"
                    );
                }
            }
        }
    }
}

/// A clipped error no longer pulls, unless the clipped one is the smaller.
#[test]
fn p27_a_value_beyond_the_clip_range_pulls_no_further() {
    let settings =
        LearnerSettings { value_clip: 0.5, value_coef: 1.0, norm_adv: NormAdvChoice::Off, ..policy_settings() };
    let learner = learner(Tiny::new(1, 2, 2, 9), AlgoChoice::Mappo, &settings);
    let buffers = learner.start::<f64>();
    let set = |name: &str, value: f64| write_named(&learner, &buffers, name)[0] = value;
    words_named(&learner, &buffers, "minibatch.mask").fill(1);
    set("minibatch.weight", 1.0);
    // Was 0, is 2: towards a target of 3 it has come far enough, away from one of −1 it must come back.
    for (target, loss, slope) in [(3.0, 2.5 * 2.5, 0.0), (-1.0, 9.0, 6.0), (0.4, 2.56, 3.2)] {
        set("minibatch.target", target);
        set("minibatch.value", 0.0);
        set("minibatch.critic.outputs", 2.0);
        buffers.write(learner.clock.scalars)[LOSS] = 0.0;
        run_calls(&learner.gradient_steps, "value_loss", &buffers);
        let got =
            (buffers.read(learner.clock.scalars)[LOSS], named(&learner, &buffers, "minibatch.critic.gradient")[0]);
        assert!((got.0 - loss).abs() < 1e-12 && (got.1 - slope).abs() < 1e-12, "target {target}: {got:?}");
    }
}

#[test]
fn p29_advantages_are_normalised_over_agents_that_act() {
    for norm_adv in [NormAdvChoice::Batch, NormAdvChoice::Agent] {
        let mut env = paying(1.0, false);
        // The second agent sits out every other env step, when its advantage is the wildest.
        env.legal = Box::new(|t, agent, _| agent == 0 || t.is_multiple_of(2));
        let learner = learner(env, AlgoChoice::Ippo, &LearnerSettings { norm_adv, ..normalising() });
        let buffers = learner.start::<f64>();
        learner.rollout.run(&buffers);
        learner.gradient_steps.run(&buffers);
        let (scaled, raw) =
            (named(&learner, &buffers, "minibatch.scaled_advantage"), named(&learner, &buffers, "minibatch.advantage"));
        let obs = named(&learner, &buffers, "minibatch.observation");
        let width = obs.len() / scaled.len();
        let acts = |row: usize| row.is_multiple_of(2) || (0..5).any(|t| t % 2 == 0 && obs[row * width + t] == 1.0);
        let groups: &[&[usize]] = if norm_adv == NormAdvChoice::Batch { &[&[0, 1]] } else { &[&[0], &[1]] };
        for agents in groups {
            let rows = || (0..scaled.len()).filter(|row| agents.contains(&(row % 2)) && acts(*row));
            let count = rows().count() as f64;
            assert!(count > 20.0 && rows().count() < agents.len() * scaled.len() / 2 + usize::from(agents == &[0]));
            let mean = rows().map(|row| scaled[row]).sum::<f64>() / count;
            let square = rows().map(|row| scaled[row] * scaled[row]).sum::<f64>() / count;
            let raw_mean = rows().map(|row| raw[row]).sum::<f64>() / count;
            let squared = |x: f64| x * x;
            let deviation = (rows().map(|row| squared(raw[row] - raw_mean)).sum::<f64>() / count).sqrt();
            let expected = squared(deviation / (deviation + 1e-5));
            assert!(
                mean.abs() < 1e-12 && (square - expected).abs() < 1e-9,
                "{norm_adv:?}, {agents:?}: {mean}, {square}"
            );
            let order = |a: usize, b: usize| (raw[a] < raw[b]) == (scaled[a] < scaled[b]);
            assert!(rows().zip(rows().skip(1)).all(|(a, b)| order(a, b)));
        }
    }
}
