//! The smallest experiments there are, and those that ask for more than there is: each either runs with finite numbers
//! or is brought into range with the sentence that says so.

use tandem_core::experiment::knobs::{Kind, knob, why_not};
use tandem_core::experiment::link::parse;
use tandem_core::experiment::run::Run;
use tandem_core::marl::parts::clock::GRADIENT_STEP;
use tandem_core::marl::registry::ALGORITHMS;

const VALUE_BASED: [&str; 3] = ["algo=iql", "algo=vdn", "algo=qmix"];
const POLICIES: [&str; 3] = ["algo=ippo", "algo=ippo&shared=off", "algo=mappo"];

/// Builds a link that is told of exactly by `notices`, and takes some updates.
fn runs(link: &str, notices: &[&str]) {
    let link = format!("{link}&hidden=8&layers=1");
    let parsed = parse(&link);
    let told: Vec<&str> = parsed.notices.iter().map(|notice| notice.id.as_str()).collect();
    assert_eq!(told, notices, "{link}");
    let mut run = Run::new(parsed.spec, 1).expect("what is in range can be built");
    (0..6).for_each(|_| run.update());
    assert_eq!(run.diverged, None, "{link}");
    let learns = run.learner.agents.learners().count() > 0;
    assert_eq!(run.count(GRADIENT_STEP) > 0, learns, "{link}: it learns where somebody does");
    for id in run.learner.trained() {
        assert!(run.buffers.read(id).iter().all(|x| x.is_finite()), "{link}: something trained is no number");
    }
    if let Some(moments) = run.learner.value_moments() {
        assert!(run.buffers.read(moments).iter().all(|x| x.is_finite()), "{link}: moments of values");
    }
    for agent in 0..run.learner.agents.count {
        if let Some((net, weights)) = run.learner.agents.net(agent) {
            let weights = run.buffers.read(weights.seen_by_training());
            assert!(weights[net.range()].iter().all(|x| x.is_finite()), "{link}: the network of agent {}", agent + 1);
        }
    }
}

/// The menu of worlds times the menu of algorithms: each pair learns, or the world says why it cannot be learned so.
#[test]
fn every_algorithm_runs_in_every_world_that_suits_it() {
    let Some(Kind::Choice { ids: worlds, .. }) = knob("env").map(|knob| knob.kind) else {
        panic!("worlds are a choice")
    };
    let mut refused = Vec::new();
    for world in worlds {
        for algo in &ALGORITHMS {
            let family = if algo.choice.is_policy_gradient() { "epochs=1&minibatches=1" } else { "warmup=0&batch=2" };
            let link = format!("env={world}&algo={}&envs=2&eval_episodes=1&{family}", algo.id);
            let spec = parse(&format!("env={world}")).spec;
            match why_not(&spec, algo.choice) {
                None => runs(&link, &[]),
                Some(reason) => {
                    let is_of_rewards =
                        reason.id.starts_with("refuse.individual_rewards") || reason.id == "refuse.zero_sum";
                    assert_eq!((algo.team_value, is_of_rewards), (true, true), "{link}: {reason:?}");
                    // Where nobody cooperates there is nothing to be paid together.
                    let can_pay = reason.id.ends_with(".remedy");
                    assert_eq!(can_pay, matches!(*world, "spread" | "reference"), "{link}: {reason:?}");
                    assert_eq!(parse(&link).notices[0].id, reason.id, "{link}: it is told");
                    refused.push(format!("{world} {}", algo.id));
                }
            }
        }
    }
    let own = ["spread", "adversary", "tag", "reference", "push", "connect_four", "tictactoe"];
    let mut expected: Vec<String> =
        own.iter().flat_map(|world| ["vdn", "qmix", "coma"].map(|a| format!("{world} {a}"))).collect();
    refused.sort();
    expected.sort();
    assert_eq!(refused, expected, "worlds whose agents are paid one by one have no team's value");
}

#[test]
fn one_agent_alone() {
    for algo in VALUE_BASED {
        runs(&format!("env=pellet&agents=1&warmup=0&batch=8&{algo}"), &[]);
    }
    for algo in POLICIES {
        for reward in ["", "&reward=first", "&norm_adv=agent", "&value_norm=off"] {
            runs(&format!("env=pellet&agents=1&rollout=8&{algo}{reward}"), &[]);
        }
    }
}

#[test]
fn one_env_step_of_one_environment() {
    for algo in VALUE_BASED {
        for switch in ["", "&standardise=on", "&limit=1"] {
            let least = "warmup=0&envs=1&rollout=1&batch=1&buffer=1";
            runs(&format!("env=pellet&{least}&{algo}{switch}"), &[]);
        }
    }
    for algo in POLICIES {
        for switch in ["", "&adv=nstep", "&norm_adv=agent", "&value_norm=off", "&limit=1", "&reward=first"] {
            runs(&format!("env=pellet&envs=1&rollout=1&minibatches=1&{algo}{switch}"), &[]);
        }
        runs(&format!("env=matrix&repeat=1&envs=1&rollout=1&minibatches=1&{algo}"), &[]);
    }
}

#[test]
fn more_minibatches_than_env_steps() {
    for algo in POLICIES {
        runs(
            &format!("env=pellet&envs=2&rollout=3&minibatches=7&norm_adv=off&{algo}"),
            &["notice.too_many_minibatches"],
        );
        // One advantage alone, less its mean, is 0.
        runs(&format!("env=pellet&envs=2&rollout=3&minibatches=4&{algo}"), &["notice.too_many_minibatches"]);
        // A minibatch of one item each; and one item of seven that waits for the next pass.
        runs(&format!("env=pellet&envs=2&rollout=3&minibatches=6&norm_adv=off&{algo}"), &[]);
        runs(&format!("env=pellet&envs=2&rollout=3&minibatches=3&{algo}"), &[]);
        runs(&format!("env=pellet&envs=1&rollout=7&minibatches=2&{algo}"), &[]);
    }
}

#[test]
fn a_group_larger_than_its_environments() {
    for algo in ["algo=ippo", "algo=ippo&shared=off"] {
        let link = format!("env=pellet&limit=5&rollout=5&adv=group&{algo}");
        runs(&format!("{link}&group=8&envs=4"), &["notice.whole_groups"]);
        runs(&format!("{link}&group=2&envs=2"), &[]);
    }
    runs("env=pellet&limit=1&rollout=1&adv=group&group=2&envs=2&minibatches=1&algo=ippo", &[]);
}

#[test]
fn everyone_frozen_but_one_or_nobody_learns() {
    let common = "env=pellet&agents=3";
    for seats in ["learner,frozen,frozen", "frozen,frozen,learner"] {
        for algo in VALUE_BASED {
            for switch in ["", "&shared=off"] {
                runs(&format!("{common}&warmup=0&batch=8&{algo}&seats={seats}{switch}"), &[]);
            }
        }
        for algo in POLICIES {
            for switch in ["", "&reward=first", "&norm_adv=agent"] {
                runs(&format!("{common}&rollout=8&{algo}&seats={seats}{switch}"), &[]);
            }
        }
    }
    for algo in
        VALUE_BASED.map(|algo| format!("{algo}&warmup=0&batch=8")).into_iter().chain(POLICIES.map(str::to_owned))
    {
        for nobody in ["frozen,frozen,frozen", "idle,uniform,human", "frozen,idle,frozen"] {
            for switch in ["", "&reward=first&alpha=1"] {
                runs(&format!("{common}&{algo}&seats={nobody}{switch}"), &[]);
            }
        }
    }
}
