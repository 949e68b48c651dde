//! What is an agent's own keeps every bit while it does not learn, from the start or from the update at which it was
//! frozen: policy, the critic or the value head that only it is valued by, moments of the optimiser and of its returns.
//!
//! What agents share goes on being trained by those who learn: hidden layers under the heads of a central critic, a
//! critic or a group's network shared by all, the mixer.

use tandem_core::experiment::run::Run;
use tandem_core::marl::parts::critic::Critic;
use tandem_core::marl::seats::Controller;

use Controller::{Frozen, Learner as Learns, Scripted};

use crate::seats::{ALGORITHMS, kept, run, seats, updates};

/// Where the parameters lie that value an agent and nobody else.
fn own_values(critic: &Critic, agent: u32) -> Vec<usize> {
    let heads = critic.heads;
    if critic.nets.len() > 1 {
        return critic.nets[agent as usize].range().collect();
    }
    if heads.is_shared || heads.columns == 1 {
        return Vec::new();
    }
    let last = critic.nets[0].layers.last().expect("a network has a layer");
    let in_column = |at: &usize| (at % last.weight.stride() as usize) as u32 == agent;
    let [weight, bias] = [&last.weight, &last.bias]
        .map(|tensor| tensor.range().enumerate().filter(move |(k, _)| in_column(k)).map(|(_, at)| at));
    weight.chain(bias).collect()
}

/// Numbers that value an agent and nobody else, as bits.
fn valued_by(run: &Run, agent: u32) -> Vec<u64> {
    let Some(critic) = run.learner.central.critic() else { return Vec::new() };
    let places = own_values(critic, agent);
    let parameters = [critic.block.weights, critic.block.m, critic.block.v].into_iter().flat_map(|id| {
        let numbers = run.buffers.read(id);
        places.iter().map(|&at| u64::from(numbers[at].to_bits())).collect::<Vec<_>>()
    });
    let mut bits: Vec<u64> = parameters.collect();
    if let (Some(moments), false) = (critic.moments, places.is_empty()) {
        let numbers = run.buffers.read(moments.numbers);
        bits.extend(numbers[agent as usize * 3..][..3].iter().map(|x| x.to_bits()));
    }
    bits
}

/// Policy and values.
fn own(run: &Run, agent: u32) -> (Option<Vec<u32>>, Vec<u64>) {
    let has_network = run.learner.agents.net(agent).is_some();
    (has_network.then(|| kept(run, agent)), valued_by(run, agent))
}

/// Seats that a run of three begins with, and those it goes on with after some updates.
fn table(shared: bool) -> Vec<(&'static str, [Controller; 3])> {
    let idle = Scripted(tandem_core::env::script::Script::Idle);
    let mut all = vec![
        ("learner", [Learns(0), Frozen, Learns(0)]),
        ("learner", [Frozen, Learns(0), Frozen]),
        ("learner,learner,idle", [Learns(0), Frozen, idle]),
        ("frozen,learner,learner", [Frozen, Frozen, Learns(0)]),
        ("frozen,idle,learner", [Frozen, idle, Learns(0)]),
        ("idle,learner,idle", [idle, Learns(0), idle]),
    ];
    if shared {
        all.push(("learner,learner.b,learner.b", [Learns(0), Frozen, Learns(1)]));
        all.push(("learner,learner.b,learner", [Learns(0), Frozen, Frozen]));
    }
    all
}

/// Every algorithm with every way its critic can be made.
fn variants() -> Vec<String> {
    let mut all: Vec<String> = ALGORITHMS.map(str::to_owned).to_vec();
    for algo in ["algo=ippo", "algo=mappo"] {
        all.push(format!("{algo}&reward=first"));
        all.push(format!("{algo}&reward=first&value_norm=off"));
    }
    all.push("algo=ippo&adv=group&group=2&envs=4".to_owned());
    all
}

#[test]
fn who_does_not_learn_keeps_every_bit_that_is_its_own() {
    let mut heads = 0;
    for algo in variants() {
        for shared in [true, false] {
            for (first, later) in table(shared) {
                let what = format!("{algo}, shared {shared}, {first} then {later:?}");
                let switch = if shared { "" } else { "&shared=off" };
                let mut run = run(&format!("{algo}&agents=3&seats={first}{switch}"));
                // From the start.
                run.prepare();
                let check = |run: &mut Run, count: u32| {
                    let before = [0, 1, 2].map(|i| own(run, i));
                    updates(run, count);
                    for i in 0..3 {
                        let (policy, values) = own(run, i);
                        let (had, was) = &before[i as usize];
                        if run.learner.agents.learners().contains(i) {
                            assert!(&policy != had, "{what}: agent {} learns", i + 1);
                            assert!(was.is_empty() || &values != was, "{what}: agent {} is valued", i + 1);
                        } else {
                            assert!(&policy == had, "{what}: the policy of agent {}", i + 1);
                            assert!(&values == was, "{what}: the values of agent {}", i + 1);
                        }
                    }
                };
                check(&mut run, 3);
                // And from now on. What a group shares is copied, its moments are not.
                let values = [0, 1, 2].map(|i| valued_by(&run, i));
                run.change(seats(&later));
                assert!([0, 1, 2].map(|i| valued_by(&run, i)) == values, "{what}: a change moves no value");
                check(&mut run, 3);
                heads += usize::from(values.iter().any(|values| !values.is_empty()));
            }
        }
    }
    assert!(heads > 30, "{heads} runs had values of one agent");
}
