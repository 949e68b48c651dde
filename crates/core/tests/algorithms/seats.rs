//! Who plays: frozen agents keep every bit, scripts act on what they see, groups share, and a run goes on when who
//! learns changes.

use std::sync::Arc;

use tandem_core::base::rng::Stream;
use tandem_core::env::script::{Script, Turn};
use tandem_core::experiment::command::LiveChange;
use tandem_core::experiment::link::parse;
use tandem_core::experiment::run::Run;
use tandem_core::experiment::snapshot::EvalPoint;
use tandem_core::marl::learner::Central;
use tandem_core::marl::parts::clock::{GRADIENT_STEP, RING_FILL};
use tandem_core::marl::probe::Probe;
use tandem_core::marl::seats::{Controller, Members, Seats};
use tandem_core::marl::settings::{AlgoChoice, LearnerSettings};
use tandem_core::nn::graph::{Doubles, List};

use crate::support::{Tiny, Transition, learner, named, near, settings, write_replay};

use Controller::{Frozen, Learner as Learns, Scripted};

/// A run with small networks that learns from its first updates on; of pellets, unless the link names a board.
pub(crate) fn run(link: &str) -> Run {
    let world = if link.contains("env=") { "envs=8&match_games=2" } else { "env=pellet&limit=20" };
    let family = if link.contains("=ippo") || link.contains("=mappo") {
        "rollout=20&epochs=2&minibatches=2"
    } else if link.contains("warmup=") {
        "batch=32"
    } else {
        "warmup=0&batch=32"
    };
    let link = parse(&format!("{world}&hidden=16&layers=1&{family}&{link}"));
    assert_eq!(link.notices, [], "every key has an effect");
    Run::new(link.spec, 1).expect("a valid experiment")
}

pub(crate) fn updates(run: &mut Run, count: u32) {
    (0..count).for_each(|_| run.update());
}

pub(crate) fn seats(list: &[Controller]) -> LiveChange {
    LiveChange::Seats(Seats { list: list.to_vec() })
}

/// Weights and moments of the network that moves an agent, as bits.
pub(crate) fn kept(run: &Run, agent: u32) -> Vec<u32> {
    let agents = &run.learner.agents;
    let (net, weights) = agents.net(agent).expect("it has a network");
    let is_frozen = agents.frozen.players.contains(&agent);
    let [m, v] = if is_frozen { [agents.frozen.m, agents.frozen.v] } else { [agents.block.m, agents.block.v] };
    [weights.seen_by_training(), m, v]
        .into_iter()
        .flat_map(|id| run.buffers.read(id)[net.range()].iter().map(|x| x.to_bits()).collect::<Vec<_>>())
        .collect()
}

/// Whether weights (the first third) and moments (the rest) of two agents' networks are the same.
fn same(a: &[u32], b: &[u32]) -> (bool, bool) {
    let third = a.len() / 3;
    (a[..third] == b[..third], a[third..] == b[third..])
}

pub(crate) const ALGORITHMS: [&str; 5] = ["algo=iql&beta=0.5", "algo=vdn", "algo=qmix", "algo=ippo", "algo=mappo"];

#[test]
fn a_frozen_network_keeps_weights_and_moments_and_learns_on_from_them() {
    for algo in ALGORITHMS {
        let mut run = run(&format!("{algo}&shared=off"));
        updates(&mut run, 10);
        let before = [kept(&run, 0), kept(&run, 1)];
        assert_eq!(run.change(seats(&[Learns(0), Frozen])), Some(10));
        assert_eq!([kept(&run, 0), kept(&run, 1)], before, "{algo}: freezing moves bits and changes none");
        updates(&mut run, 10);
        assert_eq!(kept(&run, 1), before[1], "{algo}: frozen");
        assert_eq!(same(&kept(&run, 0), &before[0]), (false, false), "{algo}: the other learns");
        let other = kept(&run, 0);
        run.change(seats(&[Learns(0), Learns(0)]));
        assert_eq!([kept(&run, 0), kept(&run, 1)], [other.clone(), before[1].clone()], "{algo}: thawing changes none");
        run.change(seats(&[Frozen, Learns(0)]));
        updates(&mut run, 5);
        assert_eq!(kept(&run, 0), other, "{algo}: now the first is frozen");
        assert_eq!(same(&kept(&run, 1), &before[1]), (false, false), "{algo}: and the second learns");
    }
}

#[test]
fn a_frozen_member_of_a_group_acts_with_a_copy_of_that_moment() {
    for algo in ALGORITHMS {
        let mut run = run(algo);
        updates(&mut run, 10);
        let shared = kept(&run, 1);
        run.change(seats(&[Learns(0), Frozen]));
        assert!(same(&kept(&run, 1), &shared).0 && kept(&run, 0) == shared, "{algo}: a copy, and the original");
        let q = |run: &Run, agent| {
            let mut state = tandem_core::env::api::EnvState::new(run.learner.env.info());
            run.learner.env.reset_to(state.view_mut(), 7);
            Probe { learner: &run.learner, buffers: &run.buffers }.per_action(state.view(), agent)
        };
        let before = [q(&run, 0), q(&run, 1)];
        updates(&mut run, 10);
        assert_eq!(q(&run, 1), before[1], "{algo}: the copy acts as it did");
        assert_ne!(q(&run, 0), before[0], "{algo}: the group has moved on");
        let group = kept(&run, 0);
        run.change(seats(&[Learns(0), Learns(0)]));
        assert_eq!(kept(&run, 1), group, "{algo}: back in the group it has the group's network");
    }
}

#[test]
fn a_run_goes_on_over_new_lists_as_if_nothing_had_happened() {
    for link in [
        "algo=qmix",
        "algo=iql&shared=off",
        "algo=vdn&agents=3&seats=learner,idle,learner.b",
        "algo=qmix&standardise=on&target=hard",
        "algo=ippo&shared=off",
        "algo=mappo&agents=3&seats=learner,idle,frozen",
        "env=tictactoe&algo=iql&standardise=on",
        "env=tictactoe&algo=ippo&opening=2&pool=2&pool_every=3&pool_share=0.5",
        "env=connect_four&algo=mappo&seats=frozen,learner",
        "env=connect_four&algo=iql&seats=learner,uniform",
        "env=tictactoe&algo=mappo&seats=learner,learner.b",
        "env=tictactoe&algo=ippo&shared=off",
    ] {
        let (mut plain, mut rebuilt) = (run(link), run(link));
        updates(&mut plain, 20);
        updates(&mut rebuilt, 10);
        let same = rebuilt.learner.settings.seats.clone();
        rebuilt.change(LiveChange::Seats(same));
        updates(&mut rebuilt, 10);
        assert_eq!((plain.trace, plain.weights_hash()), (rebuilt.trace, rebuilt.weights_hash()), "{link}");
    }
}

/// Who stops learning and goes on again, the last of its group or of all, has lost nothing: policy and moments, critic and
/// its scale, replay, earlier selves. A slow copy begins as its network, so here it is its network.
#[test]
fn frozen_and_thawed_is_as_if_nothing_had_happened() {
    const IQL: &str = "algo=iql&standardise=on&target=hard&target_every=1";
    let uniform = Scripted(Script::Uniform);
    let idle = Scripted(Script::Idle);
    for (link, stopped) in [
        ("env=tictactoe&algo=ippo&opening=2&pool=2&pool_every=3&pool_share=0.5", [Frozen, Frozen]),
        ("env=tictactoe&algo=ippo&opening=2&pool=2&pool_every=3&pool_share=0.5", [Frozen, Learns(0)]),
        ("env=connect_four&algo=mappo", [Frozen, Frozen]),
        ("env=tictactoe&algo=mappo&seats=learner,uniform", [Frozen, uniform]),
        ("env=connect_four&algo=ippo&seats=frozen,learner", [Frozen, Frozen]),
        ("env=tictactoe&algo=ippo&seats=learner,learner.b", [Learns(0), Frozen]),
        ("env=tictactoe&algo=mappo&seats=learner,learner.b", [Frozen, Frozen]),
        ("env=tictactoe&algo=ippo&shared=off", [Frozen, Frozen]),
        (&format!("env=tictactoe&{IQL}"), [Frozen, Frozen]),
        (&format!("env=connect_four&{IQL}&seats=uniform,learner"), [uniform, Frozen]),
        (&format!("env=tictactoe&{IQL}&seats=learner,learner.b"), [Frozen, Learns(1)]),
        (&format!("{IQL}&seats=learner,idle"), [Frozen, idle]),
        ("algo=qmix&target=hard&target_every=1", [Frozen, Frozen]),
        ("algo=ippo", [Frozen, Frozen]),
        ("algo=mappo&seats=idle,learner", [idle, Frozen]),
    ] {
        let (mut plain, mut thawed) = (run(link), run(link));
        updates(&mut plain, 20);
        updates(&mut thawed, 10);
        let learning = thawed.learner.settings.seats.clone();
        assert_eq!(thawed.change(seats(&stopped)), Some(10), "{link}");
        assert_eq!(thawed.change(LiveChange::Seats(learning)), Some(10), "{link}");
        updates(&mut thawed, 10);
        assert_eq!((plain.trace, plain.weights_hash()), (thawed.trace, thawed.weights_hash()), "{link}, {stopped:?}");
    }
}

/// Games of those who have stopped learning are played all the same, in training and in matches.
#[test]
fn a_board_where_nobody_learns_is_played() {
    for algo in ["algo=iql", "algo=ippo&opening=2", "algo=mappo"] {
        let mut run = run(&format!("env=tictactoe&{algo}&seats=frozen,frozen&eval_every=4000&budget=8000"));
        let before = kept(&run, 0);
        while run.end().is_none() {
            run.update();
        }
        assert_eq!((kept(&run, 0), run.count(GRADIENT_STEP)), (before, 0), "{algo}");
        let played = |point: &EvalPoint| point.matches.iter().map(|m| m.won + m.drawn + m.lost).collect::<Vec<_>>();
        assert!(run.evals.len() == 3 && run.evals.iter().all(|point| played(point) == [2; 6]), "{algo}");
    }
}

/// Two networks in the place of one learn from env steps, not from decisions, so replay begins anew: gradient steps wait
/// until it holds what the first ones waited for, and rewards are measured anew.
#[test]
fn what_begins_anew_waits_for_its_replay() {
    let mut run = run("env=tictactoe&algo=iql&standardise=on&warmup=100&seats=learner,frozen");
    updates(&mut run, 10);
    let moments = |run: &Run| {
        let id = run.learner.plan.named::<Doubles>("reward.moments").expect("a value-based learner has them");
        run.buffers.read(id).clone()
    };
    let steps = run.count(GRADIENT_STEP);
    assert!(steps > 0 && moments(&run)[0] > 0.0, "{:?}", moments(&run));
    assert_eq!(run.change(seats(&[Learns(0), Learns(1)])), Some(10));
    assert_eq!((run.count(RING_FILL), moments(&run)), (0, vec![0.0; 3]));
    let mut filled = Vec::new();
    while run.count(GRADIENT_STEP) == steps {
        filled.push(run.count(RING_FILL));
        updates(&mut run, 1);
    }
    assert_eq!(filled, [0, 32, 64, 96], "{}", run.count(RING_FILL));
}

#[test]
fn frozen_at_update_0_is_frozen_by_the_link() {
    for (link, list) in [
        ("algo=qmix", vec![Learns(0), Frozen]),
        ("algo=iql&shared=off", vec![Frozen, Learns(0)]),
        ("algo=vdn&agents=3", vec![Frozen, Learns(0), Frozen]),
        ("algo=ippo&shared=off", vec![Frozen, Learns(0)]),
        ("algo=mappo", vec![Learns(0), Frozen]),
    ] {
        let mut free = run(link);
        free.prepare();
        assert_eq!(free.change(LiveChange::Seats(Seats { list: list.clone() })), Some(0));
        let words: Vec<&str> = list.iter().map(|seat| if seat.learns() { "learner" } else { "frozen" }).collect();
        let mut linked = run(&format!("{link}&seats={}", words.join(",")));
        updates(&mut free, 15);
        updates(&mut linked, 15);
        assert_eq!((free.trace, free.weights_hash()), (linked.trace, linked.weights_hash()), "{link}");
    }
}

#[test]
fn a_run_refuses_seats_it_cannot_go_on_with() {
    let mut run = run("algo=qmix&seats=learner,idle");
    run.prepare();
    for list in [vec![Learns(0), Learns(0)], vec![], vec![Learns(1), Scripted(Script::Idle)]] {
        assert_eq!(run.change(seats(&list)), None, "{list:?}");
    }
    assert_eq!(run.changed_at, None);
}

/// Whoever has learned in this run can be played against: a person takes the other's seat, the network stays what it
/// was, and the person may leave again.
#[test]
fn a_person_takes_a_learners_seat_and_plays_what_was_learned() {
    for algo in ["algo=iql", "algo=ippo", "algo=mappo"] {
        let mut run = run(&format!("{algo}&reward=first"));
        updates(&mut run, 3);
        let learned = kept(&run, 1);
        let person = [Controller::Human(Script::Uniform), Learns(0)];
        assert_eq!(run.change(seats(&person)), Some(3), "{algo}");
        run.prepare();
        assert_eq!(kept(&run, 1), learned, "{algo}: weights and moments are those of the moment");
        assert!(run.learner.agents.net(0).is_none(), "{algo}: the person's seat has no network");
        updates(&mut run, 2);
        assert_ne!(kept(&run, 1), learned, "{algo}: it learns on");
        let learned = kept(&run, 1);
        assert_eq!(run.change(seats(&[])), Some(5), "{algo}: the person leaves");
        run.prepare();
        assert_eq!((kept(&run, 0), kept(&run, 1)), (learned.clone(), learned), "{algo}: both are the group's again");
        assert_eq!(run.change(seats(&[Frozen, Frozen])), Some(5), "{algo}: nobody need learn");
        run.prepare();
        let still = kept(&run, 0);
        updates(&mut run, 2);
        assert_eq!(kept(&run, 0), still, "{algo}: episodes are played, nothing is learned");
    }
}

/// In training and in evaluation a scripted seat does what its program says of its own observation, and the others'
/// draws are those they would have without it.
#[test]
fn scripts_act_on_their_own_observation_and_move_no_other_draw() {
    let mut scripted = run("algo=iql&agents=3&sight=1&eps_over=0&seats=learner,mappo_style,uniform");
    scripted.prepare();
    let world = scripted.learner.world.clone();
    let env = Arc::clone(&world.env);
    let info = env.info();
    let stream = Stream::new(scripted.spec.seed, "explore");
    let mut seen = [0; 5];
    for _ in 0..30 {
        let states = |run: &Run| (run.buffers.read(world.ints).clone(), run.buffers.read(world.time).clone());
        let (ints, time) = states(&scripted);
        scripted.work();
        let actions = scripted.buffers.read(world.action).clone();
        for e in 0..world.envs {
            let at = |agent: u32| {
                let state = tandem_core::env::api::StateRef {
                    ints: &ints[(e * info.ints) as usize..][..info.ints as usize],
                    reals: &[],
                };
                let mut obs = vec![0.0; info.obs_len as usize];
                env.observe(state, agent, &mut obs);
                obs
            };
            for (agent, script) in [(1, Script::MappoStyle), (2, Script::Uniform)] {
                let program = env.program(script).expect("it suits the world");
                let turn = Turn { stream, at: [e, time[e as usize * 2], time[e as usize * 2 + 1]], agent };
                let expected = program.act(&at(agent), &[1; 5], &turn);
                assert_eq!(actions[(e * 3 + agent) as usize], expected, "agent {agent} of world {e}");
                seen[expected as usize] += 1;
            }
        }
        while scripted.is_inside_update() && !scripted.is_rolling_out() {
            scripted.work();
        }
    }
    assert!(seen.iter().all(|&count| count > 0), "every action was taken: {seen:?}");

    // ε = 1 and everyone learning: agent 1 draws the same in a world where everyone starts alike.
    let first = |link: &str| {
        let mut run = run(link);
        run.prepare();
        run.work();
        run.buffers.read(run.learner.world.action).iter().step_by(2).copied().collect::<Vec<_>>()
    };
    assert_eq!(first("algo=iql"), first("algo=iql&seats=learner,uniform"));
}

#[test]
fn a_frozen_agent_does_not_explore() {
    let mut run = run("algo=iql&eps_over=0&shared=off&seats=learner,frozen");
    run.prepare();
    run.work();
    let explored = run.buffers.read(run.learner.world.explored);
    assert!(explored.iter().step_by(2).all(|&e| e == 1), "ε is 1");
    assert!(explored.iter().skip(1).step_by(2).all(|&e| e == 0), "frozen is greedy");
}

#[test]
fn the_team_value_joins_learners_and_frozen_agents() {
    for (seats, members) in [("learner,learner,idle", 2), ("learner,frozen,learner", 3), ("idle,learner,uniform", 1)] {
        let run = run(&format!("algo=qmix&agents=3&seats={seats}"));
        let Central::Mixer(mixer) = &run.learner.central else { panic!("QMIX mixes") };
        assert_eq!(mixer.net.agents, members, "{seats}");
    }
}

#[test]
fn groups_share_and_others_do_not() {
    let run = run("algo=vdn&agents=4&seats=learner,learner.b,learner,learner.b");
    let agents = &run.learner.agents;
    let of = |list: &[u32]| Members::of(4, |i| list.contains(&i));
    assert_eq!(agents.players, [of(&[0, 2]), of(&[1, 3])]);
    assert_eq!(kept(&run, 0), kept(&run, 2));
    assert_ne!(kept(&run, 0), kept(&run, 1), "another group begins with other weights");
}

/// Frozen and scripted agents have no part in the optimiser: no call writes what is frozen.
#[test]
fn no_call_writes_what_is_frozen() {
    for algo in ALGORITHMS {
        let run = run(&format!("{algo}&agents=3&seats=frozen,learner,idle"));
        let frozen = &run.learner.agents.frozen;
        let places =
            [frozen.weights.index(), frozen.m.index(), frozen.v.index(), frozen.powers.index()].map(|index| (0, index));
        let lists: [&List; 3] = [&run.learner.rollout, &run.learner.gradient_steps, &run.learner.evaluation.list];
        let mut readers = 0;
        for (_, call) in lists.iter().flat_map(|list| list.calls()) {
            let wires = call.wires();
            assert!(places.iter().all(|place| !wires.writes.contains(place)), "{algo}: {} writes", call.name());
            readers += u32::from(wires.reads.contains(&places[0]));
        }
        assert!(readers >= 2, "{algo}: it acts, in training and in evaluation");
    }
}

/// With one transition in replay, the loss of one learner is its own squared error; that of two is the mean of both.
#[test]
fn only_learners_are_in_the_loss() {
    let gradient = |list: &[Controller]| {
        let mut settings = LearnerSettings { shared: false, ..settings() };
        settings.seats.list = list.to_vec();
        let learner = learner(Tiny::new(2, 2, 2, 2), AlgoChoice::Iql, &settings);
        let buffers = learner.start::<f64>();
        let (actions, rewards) = (vec![1, 0], vec![1.0, 3.0, 4.0]);
        write_replay(&learner, &buffers, &[Transition { states: [0, 1], actions, rewards, terminal: false }]);
        learner.gradient_steps.run(&buffers);
        let net = &learner.agents.nets[0];
        buffers.read(learner.agents.block.grad)[net.range()].to_vec()
    };
    let both = gradient(&[Learns(0), Learns(0)]);
    let alone = gradient(&[Learns(0), Frozen]);
    assert!(both.iter().any(|g| g.abs() > 1e-3));
    for (both, alone) in both.iter().zip(&alone) {
        assert!(near(2.0 * both, *alone), "{both} of two, {alone} of one");
    }
    assert_eq!(alone, gradient(&[Learns(0), Scripted(Script::Uniform)]), "frozen or scripted, it is not trained");
}

/// PPO's gradients where not everyone learns: none from whoever does not, neither of policy, entropy nor value, and a
/// separate critic of a frozen agent keeps its bits, too.
#[test]
fn only_learners_are_in_a_policy_gradient() {
    for algo in ["ippo", "mappo"] {
        let mut run = run(&format!("algo={algo}&agents=3&shared=off&reward=first&seats=learner,frozen,uniform"));
        let critic = |run: &Run, m: usize| {
            let critic = run.learner.central.critic().expect("it has one");
            let nets = &critic.nets;
            let range = nets[if nets.len() == 1 { 0 } else { m }].range();
            run.buffers.read(critic.block.weights)[range].to_vec()
        };
        let of_frozen = critic(&run, 1);
        updates(&mut run, 3);
        if algo == "ippo" {
            assert_eq!(critic(&run, 1), of_frozen, "the critic of a frozen agent is not trained");
            assert_ne!(critic(&run, 0), of_frozen);
        }
        let dlogits = named(&run.learner, &run.buffers, "minibatch.policy.gradient");
        let dy = named(&run.learner, &run.buffers, "minibatch.critic.gradient");
        let heads = run.learner.central.critic().expect("it has one").heads;
        let rows = |agent: usize| dlogits.chunks_exact(8).skip(agent).step_by(3).flatten();
        let values = |m: usize| (0..dy.len() / (heads.rows * heads.width) as usize).map(move |i| heads.output(i, m));
        assert!(rows(0).any(|&d| d != 0.0) && values(0).any(|at| dy[at] != 0.0), "{algo}: the learner learns");
        for agent in [1, 2] {
            assert!(rows(agent).all(|&d| d == 0.0), "{algo}: agent {agent} has no policy gradient");
            assert!(values(agent).all(|at| dy[at] == 0.0), "{algo}: agent {agent} has no value gradient");
        }
    }
}
