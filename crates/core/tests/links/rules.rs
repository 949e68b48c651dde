//! Fields that bound one another, refusals, remarks, derived figures.

use proptest::prelude::*;
use tandem_core::experiment::command::LiveChange;
use tandem_core::experiment::knobs::{
    KNOBS, differences, forget_unused, gradient_steps_per_env_step, knob, normalise, remarks, scale_lr, segment_steps,
    switch_algo, switch_env, why_not,
};
use tandem_core::experiment::link::{Link, parse, write};
use tandem_core::experiment::run::evaluations;
use tandem_core::experiment::spec::{AlgoChoice, EnvChoice, ExperimentSpec, TeamRewardChoice};
use tandem_core::experiment::world;
use tandem_core::marl::learner::Learner;

use crate::arbitrary::{Dice, canonical, canonical_spec, random_spec};
use crate::texts::english;

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_normal_experiment_stays_as_it_is(spec in canonical_spec()) {
        let mut again = spec.clone();
        prop_assert_eq!(normalise(&mut again), []);
        forget_unused(&mut again);
        prop_assert_eq!(&again, &spec);
    }

    #[test]
    fn p18_value_factorisation_refuses_individual_rewards(spec in canonical_spec()) {
        let env = world::build(&spec).expect("canonical experiments can be built");
        prop_assert_eq!(why_not(&spec, AlgoChoice::Iql), None);
        for algo in [AlgoChoice::Vdn, AlgoChoice::Qmix] {
            let can_add_up = spec.learner.team_reward != TeamRewardChoice::Given && !env.info().in_turns;
            let is_paid = env.info().team_reward || can_add_up;
            prop_assert_eq!(why_not(&spec, algo).is_none(), is_paid);
        }
    }

    #[test]
    fn replay_holds_whole_episodes(spec in canonical_spec()) {
        let env = world::build(&spec).expect("canonical experiments can be built");
        let info = env.info();
        prop_assert_eq!(segment_steps(&spec), info.segment_steps());
        prop_assert_eq!(spec.learner.rollout % segment_steps(&spec), 0);
        prop_assert!(spec.learner.buffer >= spec.learner.batch && spec.learner.buffer >= spec.learner.envs);
    }
}

#[test]
fn any_numbers_at_all_become_an_experiment() {
    let mut dice = Dice::new(3);
    for _ in 0..2_000 {
        let mut spec = random_spec(&mut dice);
        spec.learner.lr = f32::NAN;
        spec.learner.tau = f32::INFINITY;
        spec.learner.embed = dice.word();
        spec.learner.rollout = dice.word();
        spec.pellet.width = dice.word();
        spec.pellet.agents = dice.word();
        spec.matrix.repeat = dice.word();
        spec.two_step.a[2] = f32::NAN;
        spec.budget = dice.word();
        for sentence in normalise(&mut spec) {
            let _ = english(&sentence);
        }
        let spec = canonical(spec);
        assert!(world::build(&spec).is_ok());
        assert_eq!(parse(&write(&Link::of(spec.clone()))).spec, spec);
    }
}

#[test]
fn bounds_between_fields_are_told() {
    let told = |text: &str| -> Vec<String> { parse(text).notices.iter().map(english).collect() };
    assert_eq!(
        told("batch=1024&buffer=10"),
        ["buffer: the replay must hold a batch and something of every environment; 10 became 1024."]
    );
    assert_eq!(
        told("env=matrix&repeat=25&rollout=10"),
        ["rollout: this game's episodes are played whole; 10 became 25."]
    );
    assert_eq!(told("size=2x2&pellets=8"), ["pellets: this world has room for 1 … 3 pellets; 8 became 3."]);
    assert_eq!(
        told("size=2x2&agents=8&start=random"),
        ["agents: one cell must be left for a pellet, so this world holds 1 … 3 agents; 8 became 3."]
    );
    assert_eq!(
        told("budget=10000000&eval_every=100"),
        ["eval_every: a budget has at most 5,000 evaluations; 100 became 2000."]
    );
    assert_eq!(
        told("algo=ippo&envs=64&rollout=2048"),
        ["rollout: an update collects at most 65,536 env steps of all environments together; 2048 became 1024."]
    );
    assert_eq!(told("env=spread&algo=ippo&envs=8&rollout=2048&minibatches=768"), [""; 0]);
    assert_eq!(told("env=matrix&repeat=100&envs=8&rollout=2000"), [""; 0]);
    let large = parse("env=matrix&repeat=100&rollout=100&envs=1&buffer=200000");
    assert_eq!(large.notices[0].id, "notice.too_much_memory");
    assert!(large.spec.learner.buffer < 200_000);
}

#[test]
fn p24_epsilon_schedule_is_in_env_steps_and_in_the_link() {
    let link = parse("eps=0.9&eps_end=0.02&eps_over=50000");
    assert_eq!(link.notices, []);
    let l = &link.spec.learner;
    assert_eq!((l.eps, l.eps_end, l.eps_over), (0.9, 0.02, 50_000));
    let written = write(&link);
    for part in ["eps=0.9", "eps_end=0.02", "eps_over=50000"] {
        assert!(written.contains(part), "{part} in {written}");
    }
    let over = knob("eps_over").expect("it is in the table");
    assert_eq!(over.unit_id(&link.spec), Some("unit.env_steps"));
    assert!(over.beginner, "it is on show, not folded");
}

#[test]
fn p23_training_ratio_is_explicit() {
    let keys = ["envs", "rollout", "grads", "batch"];
    assert!(keys.iter().all(|key| knob(key).is_some_and(|knob| (knob.applies)(&ExperimentSpec::default()))));
    let pellet = parse("envs=8&rollout=4&grads=2&batch=64").spec;
    assert_eq!(gradient_steps_per_env_step(&pellet), 0.0625);
    let batch = knob("batch").expect("it is in the table");
    assert_eq!(batch.unit_id(&pellet), Some("unit.env_steps"));
    let two_step = parse("env=two_step&envs=32&rollout=2&grads=1&batch=32").spec;
    assert_eq!(batch.unit_id(&two_step), Some("unit.episodes"));
}

#[test]
fn p37_a_shared_network_without_agent_id_is_remarked() {
    let ids = |text: &str| -> Vec<String> { remarks(&parse(text).spec).into_iter().map(|remark| remark.id).collect() };
    assert_eq!(ids("agent_id=off"), ["remark.no_agent_id"]);
    assert_eq!(ids("agent_id=off&agents=1"), [""; 0]);
    assert_eq!(ids("shared=off"), [""; 0]);
    assert_eq!(ids("monotone=off"), ["remark.not_qmix"]);
    assert_eq!(ids("timeout_terminal=on"), ["remark.timeout_terminal"]);
    assert_eq!(ids("cost=0.1"), ["remark.costs_summed"]);
    assert_eq!(ids("cost=0.1&algo=iql"), [""; 0]);
    for remark in remarks(&parse("agent_id=off&monotone=off&timeout_terminal=on&cost=0.1").spec) {
        let _ = english(&remark);
    }
}

#[test]
fn switching_the_algorithm_keeps_what_was_changed() {
    let mut spec = parse("lr=0.25&size=6x6&embed=64&seed=5").spec;
    switch_algo(&mut spec, AlgoChoice::Vdn);
    assert_eq!((spec.algo, spec.learner.lr, spec.seed, spec.pellet.width), (AlgoChoice::Vdn, 0.25, 5, 6));
    assert_eq!(write(&Link::of(spec)), "#v=1&env=pellet&size=6x6&algo=vdn&lr=0.25&seed=5");
}

#[test]
fn switching_the_environment_keeps_seed_and_worlds() {
    let mut spec = parse("lr=0.25&size=6x6&seed=5").spec;
    switch_env(&mut spec, EnvChoice::TwoStep);
    assert_eq!(write(&Link::of(spec.clone())), "#v=1&env=two_step&algo=qmix&seed=5");
    switch_env(&mut spec, EnvChoice::Pellet);
    assert_eq!((spec.pellet.width, spec.seed), (6, 5));
}

#[test]
fn differences_name_what_a_reader_would_compare() {
    let (from, to) = (parse("lr=0.25&gamma=0.5").spec, parse("gamma=0.75&algo=vdn&lr=0.25").spec);
    let named: Vec<(&str, String)> = differences(&from, &to).into_iter().map(|(knob, text)| (knob.key, text)).collect();
    assert_eq!(named, [("algo", "vdn".to_owned()), ("gamma", "0.75".to_owned())]);
}

#[test]
fn typed_values_go_through_the_same_reader() {
    let mut spec = ExperimentSpec::default();
    let lr = knob("lr").expect("it is in the table");
    assert_eq!(lr.read(&mut spec, " 5e-4 "), None);
    assert_eq!((spec.learner.lr, lr.text(&spec)), (5e-4, "5e-4".to_owned()));
    let sentence = lr.read(&mut spec, "7").expect("it is out of range");
    assert_eq!(english(&sentence), "lr: 7 is not allowed; 1 is used. Allowed: 1e-6 … 1.");
    assert!(lr.read(&mut spec, "fast").is_some());
    assert_eq!(spec.learner.lr, 1.0, "what cannot be read changes nothing");
}

#[test]
fn keys_are_short_lower_case_and_single() {
    let reserved = ["v", "world", "step", "view", "lang", "lock", "hide"];
    for (i, knob) in KNOBS.iter().enumerate() {
        assert!(knob.key.len() <= 16 && knob.key.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{}", knob.key);
        assert!(KNOBS[i + 1..].iter().all(|other| other.key != knob.key), "{} twice", knob.key);
        assert!(!reserved.contains(&knob.key));
    }
    for knob in &KNOBS {
        let change = LiveChange::of(knob.key, &ExperimentSpec::default());
        assert_eq!(knob.live, change.is_some(), "{}", knob.key);
    }
}

#[test]
fn defaults_are_normal() {
    for env in EnvChoice::ALL {
        for algo in [AlgoChoice::Iql, AlgoChoice::Vdn, AlgoChoice::Qmix] {
            let mut spec = ExperimentSpec::defaults(env, algo);
            assert_eq!(normalise(&mut spec), [], "{env:?} {algo:?}");
            assert_eq!(spec, ExperimentSpec::defaults(env, algo));
        }
    }
}

#[test]
fn no_link_takes_more_memory_than_a_browser_has() {
    let mut dice = Dice::new(4);
    let mut most = 0;
    for _ in 0..300 {
        let mut spec = random_spec(&mut dice);
        spec.learner.batch = 1_024;
        spec.learner.buffer = 200_000;
        spec.learner.hidden = 128;
        spec.pellet.agents = 8;
        let spec = canonical(spec);
        let env = world::build(&spec).expect("canonical experiments can be built").into();
        let plan = Learner::new(env, spec.algo, &spec.learner, spec.seed, evaluations(&spec)).plan;
        most = most.max(plan.bytes());
    }
    assert!(most <= 256 << 20, "{} MB", most >> 20);
    assert!(most > 250 << 20, "the bound is not idle, nor tighter than it must be: {} MB", most >> 20);
}

#[test]
fn too_much_memory_is_told_with_the_key() {
    let link = parse("env=matrix&game=penalty&repeat=100&rollout=100&batch=1024&buffer=200000&hidden=128&layers=3");
    let told: Vec<String> = link.notices.iter().map(english).collect();
    let buffer = link.spec.learner.buffer;
    assert!(buffer < 200_000);
    let expected = format!("buffer: a run may take 256 MB of memory; 200000 became {buffer}.");
    assert!(told.contains(&expected), "{told:?}");
}

/// Earlier selves without games are told.
#[test]
fn as_many_earlier_selves_are_kept_as_have_games() {
    let told = |link: &str| parse(link).notices.iter().map(english).collect::<Vec<_>>();
    assert_eq!(
        told("env=tictactoe&algo=ippo&envs=16&pool=16"),
        ["pool: there are games against earlier selves for 2 of them, each from either side; 16 became 2."]
    );
    assert_eq!(told("env=tictactoe&algo=ippo&envs=128&pool=16"), [""; 0]);
}

#[test]
fn a_tenth_of_the_learning_rate_is_a_tenth_of_whatever_learns() {
    for (link, tenth) in [
        ("#env=pellet&algo=mappo&lr=1&critic_lr=0.05", [0.1, 0.005]),
        ("#env=pellet&algo=qmix&lr=0.0005&lr_over=900&lr_end=0.0002", [5e-5, 2e-5]),
        ("#env=pellet&algo=ippo&lr=3e-6&critic_lr=0.0007", [1e-6, 7e-5]),
    ] {
        let mut spec = parse(link).spec;
        scale_lr(&mut spec, 0.1);
        let l = &spec.learner;
        let other = if spec.algo.is_policy_gradient() { l.critic_lr } else { l.lr_end };
        assert_eq!([l.lr, other], tenth, "{link}");
    }
}
