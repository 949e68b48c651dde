//! What the reader is told about a link.

use tandem_core::experiment::knobs::{ALSO, KNOBS, Kind, knob};
use tandem_core::experiment::link::{Link, MAX_STEP, parse, write};
use tandem_core::experiment::pack::pack;
use tandem_core::experiment::snapshot::Sentence;
use tandem_core::experiment::spec::{AlgoChoice, CellKind, ExperimentSpec, GridMap};

use crate::texts::english;

/// The only sentence about a link.
fn only_notice(text: &str) -> Sentence {
    let notices = parse(text).notices;
    assert_eq!(notices.len(), 1, "{text}: {notices:?}");
    notices[0].clone()
}

/// A link in which `key` has an effect.
fn context(key: &str) -> &'static str {
    match key {
        "game" | "repeat" => "env=matrix&algo=iql",
        "penalty" => "env=matrix&game=penalty&algo=iql",
        "tie" | "alpha" => "reward=first&algo=iql",
        "beta" => "algo=iql",
        "hyper_hidden" => "hyper=2",
        "lr_end" => "lr_over=1000",
        "eps_end" => "eps_over=1000",
        "target_every" => "target=hard",
        "tau" => "target=soft",
        _ => "algo=qmix",
    }
}

#[test]
fn p89_out_of_range_values_are_clamped_with_a_notice() {
    for knob in &KNOBS {
        let (below, above) = match knob.kind {
            Kind::Int { .. } | Kind::Float { .. } | Kind::Seed { .. } => ("-1e30", "1e30"),
            Kind::Size { .. } => ("-1x-1", "999x999"),
            Kind::OptionalInt { .. } => ("-7", "1000000"),
            Kind::Choice { .. } | Kind::Bool { .. } | Kind::Seats { .. } => continue,
        };
        for given in [below, above] {
            let text = format!("{}&{}={given}", context(knob.key), knob.key);
            let Link { spec, notices, .. } = parse(&text);
            let notice = notices.iter().find(|notice| notice.args[0] == knob.key).expect("something is said");
            let allowed = knob.allowed_in(&spec);
            assert_eq!(notice.id, "notice.clamped", "{text}");
            assert_eq!(notice.args[1..3], [given.to_owned(), allowed.clone()], "{text}");
            let told = english(notice);
            for part in [knob.key, given, &allowed] {
                assert!(told.contains(part), "{part} is not in: {told}");
            }
        }
    }
}

#[test]
fn p89_unreadable_values_become_the_default_with_a_notice() {
    for knob in &KNOBS {
        for given in ["NaN", "-inf", "gpu", ""] {
            if knob.key == "sight" && given == "-inf" {
                continue;
            }
            let text = format!("{}&{}={given}", context(knob.key).replace(&format!("{}=", knob.key), "x="), knob.key);
            let link = parse(&text);
            let notice = link.notices.iter().find(|notice| notice.args[0] == knob.key).expect("something is said");
            assert_eq!(notice.id, "notice.unreadable", "{text}");
            let defaults = ExperimentSpec::defaults(link.spec.env, link.spec.algo);
            assert_eq!(knob.text(&link.spec), knob.text(&defaults), "{text}");
            let told = english(notice);
            assert!(told.contains(knob.key) && told.contains(&knob.allowed_in(&link.spec)), "{told}");
        }
    }
}

/// What is said to be allowed is what this world has room for, and a fraction is told to be one.
#[test]
fn ranges_are_those_of_the_world() {
    for (text, told) in [
        ("env=foraging&size=1x1&algo=iql", "size: 1x1 is not allowed; 5x5 is used. Allowed: 5x5 … 16x16."),
        ("env=pursuit&agents=99&algo=iql", "agents: 99 is not allowed; 8 is used. Allowed: 1 … 8."),
        ("env=adversary&agents=0&algo=iql", "agents: 0 is not allowed; 2 is used. Allowed: 2 … 16."),
        ("env=spread&agents=99&algo=iql", "agents: 99 is not allowed; 16 is used. Allowed: 1 … 16."),
        ("agents=2.5", "agents: 2.5 is not a whole number; 3 is used. Allowed: 1 … 8, whole numbers."),
        ("limit=1.5", "limit: 1.5 is not a whole number; 2 is used. Allowed: 1 … 1000, whole numbers."),
        ("env=foraging&size=5x5&food=8&algo=iql", "food: this world has room for 1 … 4 foods; 8 became 4."),
        (
            "env=pursuit&surround=off&n_catch=8&agents=2&algo=iql",
            "n_catch: this world has 2 pursuers, so that 1 … 2 can be needed for a catch; 8 became 2.",
        ),
    ] {
        let all: Vec<String> = parse(text).notices.iter().map(english).collect();
        assert!(all.iter().any(|notice| notice == told), "{text}: {all:?}");
    }
}

/// A link that names no algorithm gets one that suits its world, with a word about it; one that names another is told why
/// not.
#[test]
fn a_link_without_an_algorithm_gets_one_that_suits_its_world() {
    for world in ["spread", "adversary", "tag", "reference", "push", "connect_four", "tictactoe"] {
        let link = parse(&format!("env={world}"));
        assert_eq!(link.spec.algo, AlgoChoice::Iql, "{world}");
        assert_eq!(link.notices, [Sentence::new("notice.algo_chosen", &["algo", "IQL", "QMIX"])], "{world}");
        let named = parse(&format!("env={world}&algo=qmix"));
        assert_eq!(named.notices.last().map(|notice| notice.id.as_str()), Some("notice.algo_instead"), "{world}");
    }
    for text in ["env=pellet", "env=speaker_listener", "env=spread&local_ratio=0", "env=pursuit&shared_reward=on"] {
        let link = parse(text);
        assert_eq!((link.spec.algo, link.notices), (AlgoChoice::Qmix, Vec::new()), "{text}");
    }
}

#[test]
fn step_is_bounded() {
    let link = parse("seed=1&step=1000000000");
    assert_eq!(link.step, MAX_STEP);
    assert_eq!(english(&link.notices[0]), "step: 1000000000 is not allowed; 1000000 is used. Allowed: 0 … 1000000.");
    assert_eq!(parse("step=nan").step, 0);
    assert_eq!(only_notice("step=nan").id, "notice.unreadable");
    assert_eq!(parse("step=250").step, 250);
}

#[test]
fn other_engines_are_refused_by_name() {
    assert_eq!(english(&only_notice("engine=gpu")), "engine: “gpu” cannot be read; cpu is used. Allowed: cpu.");
}

#[test]
fn long_values_are_shortened_in_sentences() {
    let notice = only_notice(&format!("lr={}", "z".repeat(10_000)));
    assert!(notice.args.iter().all(|arg| arg.chars().count() <= 40), "{notice:?}");
}

#[test]
fn a_key_given_twice_is_told_and_the_last_holds() {
    let link = parse("lr=0.1&lr=0.2");
    assert_eq!(link.spec.learner.lr, 0.2);
    assert_eq!(english(&link.notices[0]), "lr stands twice in the link, as 0.1 and as 0.2; the last one is used.");
}

#[test]
fn p89_unknown_keys_are_told_and_written_back() {
    let link = parse("seed=3&colour=bl%20ue&seed2=1");
    assert_eq!(link.spec.seed, 3);
    assert_eq!(link.notices.len(), 2);
    assert!(english(&link.notices[0]).starts_with("colour = bl ue: this release does not know that key."));
    assert!(write(&link).ends_with("&colour=bl%20ue&seed2=1"), "{}", write(&link));
}

#[test]
fn names_used_elsewhere_are_read_and_never_written() {
    for (name, key) in ALSO {
        assert!(KNOBS.iter().all(|knob| knob.key != name), "{name} is a key");
        assert_eq!(knob(name).map(|knob| knob.key), Some(key), "{name}");
    }
    let link = parse("env=spread&algo=ippo&N=5&max_cycles=50");
    assert_eq!(link.notices, []);
    assert_eq!(write(&link), "#v=1&env=spread&agents=5&limit=50&algo=ippo&seed=7");
    assert_eq!(parse("env=adversary&algo=ippo&N=2").spec, parse("env=adversary&algo=ippo").spec, "two good ones");
    assert_eq!(write(&parse("env=adversary&algo=ippo&N=1")), "#v=1&env=adversary&agents=2&algo=ippo&seed=7");
    let bad = only_notice("env=spread&algo=ippo&N=0");
    assert_eq!(
        (bad.id.as_str(), &bad.args[0], &bad.args[1]),
        ("notice.clamped", &"agents".to_owned(), &"0".to_owned())
    );
}

#[test]
fn an_algorithm_that_does_not_exist_is_one_sentence() {
    let said = only_notice("env=spread&algo=alphazero");
    assert_eq!((said.id.as_str(), said.args.last().map(String::as_str)), ("notice.unreadable", Some("iql")));
    assert_eq!(parse("env=spread&algo=alphazero").spec.algo, AlgoChoice::Iql);
    assert_eq!(only_notice("algo=alphazero").args.last().map(String::as_str), Some("qmix"));
}

#[test]
fn a_text_without_keys_opens_the_default() {
    let link = parse("#hello");
    assert_eq!(link.spec, ExperimentSpec::default());
    assert!(english(&link.notices[0]).contains("“hello” is not an experiment link"));
}

#[test]
fn a_newer_link_is_read_as_far_as_possible() {
    let link = parse("v=9&seed=4");
    assert_eq!(link.spec.seed, 4);
    assert_eq!(link.notices[0].id, "notice.newer_version");
    assert!(write(&link).starts_with("#v=1&"));
    assert_eq!(only_notice("v=zero").id, "notice.unreadable");
}

#[test]
fn a_key_without_effect_is_told() {
    assert_eq!(english(&only_notice("algo=vdn&embed=64")), "embed has no effect in this experiment and was left out.");
    assert_eq!(only_notice("env=matrix&size=5x5").args, ["size"]);
    assert_eq!(parse("explore=uniform&eps=0.1").notices[0].args, ["eps"]);
}

#[test]
fn a_refused_algorithm_is_replaced_with_the_reason() {
    let link = parse("env=matrix&game=matching_pennies&algo=qmix");
    let told: Vec<String> = link.notices.iter().map(english).collect();
    assert_eq!(
        told,
        [
            "QMIX needs one team reward; this game has 2, one for each agent. Let the team be paid their sum or mean (team=sum, team=mean), or take IQL, IPPO or MAPPO.",
            "algo: IQL is used instead."
        ]
    );
}

#[test]
fn an_impossible_or_broken_world_is_told_and_left_unedited() {
    let unedited = parse("seed=1");
    for (world, id) in [("AAAA", "broken"), ("AQAA", "broken"), ("%21", "broken"), ("AwAA", "newer"), ("", "broken")] {
        let link = parse(&format!("seed=1&world={world}"));
        assert_eq!(link.spec, unedited.spec);
        assert_eq!(link.notices[0].id, format!("notice.world_{id}"), "{world}");
        let _ = english(&link.notices[0]);
    }
    let mut spec = ExperimentSpec::default();
    spec.pellet.map = Some(GridMap { cells: vec![CellKind::Wall; 16], starts: vec![] });
    let link = parse(&write(&Link::of(spec.clone())));
    assert_eq!(link.spec, ExperimentSpec::default());
    assert_eq!(english(&link.notices[0]), "Every cell is a wall: remove a wall.");

    spec.pellet.map = Some(GridMap { cells: vec![CellKind::NoPellet; 15], starts: vec![] });
    let packed = pack(&spec).expect("it is edited");
    let notice = only_notice(&format!("seed=1&world={packed}"));
    assert_eq!(
        english(&notice),
        "world: the edited map has 15 cells and does not fit 4x4; the unedited world is used."
    );
}
