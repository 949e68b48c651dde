//! Who plays, in links: words, what is told about them, and what they come to.

use tandem_core::env::script::{SCRIPTS, Script};
use tandem_core::experiment::knobs::{knob, normalise, remarks, seat_word};
use tandem_core::experiment::link::{Link, parse, write};
use tandem_core::experiment::spec::{AlgoChoice, Controller, EnvChoice, ExperimentSpec, Seats};
use tandem_core::experiment::world;

use crate::texts::english;

use Controller::{Frozen, Human, Learner, Scripted};

fn seats(text: &str) -> Vec<Controller> {
    parse(text).spec.learner.seats.list
}

/// The sentences about a link.
fn told(text: &str) -> Vec<String> {
    parse(text).notices.iter().map(english).collect()
}

#[test]
fn every_controller_has_a_word_that_reads_back() {
    let scripts = SCRIPTS.iter().map(|info| info.script);
    let all = (0..8).map(Learner).chain([Frozen]).chain(scripts.clone().map(Scripted)).chain(scripts.map(Human));
    for controller in all {
        let mut spec = ExperimentSpec::default();
        let text = format!("{},learner.h", seat_word(controller));
        assert_eq!(knob("seats").expect("it is in the table").read(&mut spec, &text), None, "{text}");
        assert_eq!(spec.learner.seats.list, [controller, Learner(7)]);
    }
}

#[test]
fn seats_are_written_only_where_they_differ() {
    for same in [
        "",
        "seats=learner",
        "seats=learner,learner",
        "seats=learner.b,learner.b",
        "shared=off&seats=learner,learner.b",
    ] {
        assert_eq!(seats(same), [], "{same}");
        assert!(!write(&parse(same)).contains("seats"), "{same}");
    }
    let link = "#v=1&env=pellet&agents=4&seats=human,learner.b,frozen,human.idle&algo=qmix&seed=7";
    let canonical = "#v=1&env=pellet&agents=4&seats=human,learner,frozen,human.idle&algo=qmix&seed=7";
    assert_eq!(write(&parse(link)), canonical, "groups are named in the order of the agents");
    assert_eq!(parse(canonical).notices, []);
    assert_eq!(seats(canonical), [Human(Script::Uniform), Learner(0), Frozen, Human(Script::Idle)]);
}

#[test]
fn a_word_that_is_nobody_is_named() {
    let text = "seats=learner,wizard";
    assert_eq!(seats(text), []);
    let sentence = &told(text)[0];
    assert!(sentence.starts_with("seats: “wizard” cannot be read; learner is used. Allowed: learner | "), "{sentence}");
    for env in EnvChoice::ALL {
        let spec = ExperimentSpec::defaults(env, AlgoChoice::Iql);
        let suiting = world::build(&spec).expect("defaults can be built");
        let allowed = knob("seats").expect("it is in the table").allowed_in(&spec);
        let words: Vec<&str> = allowed.split(" | ").collect();
        for info in &SCRIPTS {
            assert_eq!(words.contains(&info.id), suiting.scripts().contains(&info.script), "{} in {allowed}", info.id);
        }
    }
    for bad in
        ["seats=learner.i", "seats=learner.", "seats=human.wizard", "seats=frozen.a", "seats=,", "seats=learner;idle"]
    {
        assert_eq!((seats(bad), told(bad).len()), (Vec::new(), 1), "{bad}");
    }
}

#[test]
fn too_many_and_too_few_are_told() {
    let text = "seats=learner,idle,idle";
    assert_eq!(seats(text), [Learner(0), Scripted(Script::Idle)]);
    assert!(told(text)[0].starts_with("seats: 3 seats are named for 2 agents;"), "{:?}", told(text));
    let text = "agents=3&seats=idle";
    assert_eq!(seats(text), [Scripted(Script::Idle), Learner(0), Learner(0)]);
    assert!(told(text)[0].starts_with("seats: 1 seats are named for 3 agents;"), "{:?}", told(text));
    // However many words there are.
    let text = format!("seats=learner,idle{}", ",idle".repeat(40));
    assert_eq!(seats(&text).len(), 2);
}

#[test]
fn a_script_that_does_not_suit_the_world_plays_at_random() {
    let text = "env=matrix&algo=iql&seats=learner,qmix_style";
    assert_eq!(seats(text), [Learner(0), Scripted(Script::Uniform)]);
    assert_eq!(told(text), ["seats: the script qmix_style does not suit this world; agent 2 plays at random instead."]);
    assert_eq!(seats("env=two_step&algo=iql&seats=human.idle,learner"), [Human(Script::Uniform), Learner(0)]);
}

#[test]
fn nobody_need_learn_and_it_is_said() {
    for nobody in ["frozen,frozen", "idle,human", "uniform,frozen"] {
        let link = parse(&format!("seats={nobody}"));
        assert_eq!((link.spec.learner.seats.list.len(), link.notices.len()), (2, 0), "{nobody}");
        assert_eq!(remarks(&link.spec)[0].id, "remark.nobody_learns", "{nobody}");
    }
}

/// Whatever a session is handed, a link could have said.
#[test]
fn any_seats_at_all_become_an_experiment() {
    let mut spec = ExperimentSpec::default();
    spec.learner.seats.list = vec![Scripted(Script::MappoStyle); 1_000];
    let told = normalise(&mut spec);
    assert_eq!((told.len(), spec.learner.seats.list), (1, vec![Scripted(Script::MappoStyle); 2]), "{told:?}");
    let mut link = Link::default();
    link.spec.learner.seats.list = vec![Learner(200), Learner(3), Frozen];
    assert_eq!(seats(&write(&link)), [Learner(0), Learner(1)]);
}

#[test]
fn one_learner_is_one_step_away() {
    let seats = Seats { list: vec![Learner(0), Learner(1), Scripted(Script::Idle)] };
    assert_eq!(seats.only(3, 1).list, [Frozen, Learner(1), Scripted(Script::Idle)]);
    assert_eq!(Seats::default().only(2, 0).list, [Learner(0), Frozen]);
    assert!(seats.can_become(&seats.only(3, 1), 3, true), "without starting again");
    assert!(!seats.can_become(&seats.only(3, 2), 3, false), "a script has no network to go on with");
    assert!(!seats.can_become(&seats.with(3, 2, Frozen), 3, true), "nor one to be frozen");
    assert!(seats.can_become(&seats.with(3, 2, Learner(1)), 3, true), "but it may join a group that has one");
    assert!(seats.can_become(&seats.with(3, 1, Learner(0)), 3, true), "as may whoever leaves another group");
    assert!(!seats.can_become(&seats.with(3, 1, Learner(0)), 3, false), "where each has its own, there is no group");
    let person = Seats { list: vec![Human(Script::Uniform), Learner(0)] };
    assert!(Seats::default().can_become(&person, 2, true), "a person takes a seat and plays who has learned");
    assert!(person.can_become(&Seats::default(), 2, true), "and leaves it again");
    assert!(!person.can_become(&Seats::default(), 2, false), "unless its own network went with it");
    assert!(Seats::default().can_become(&Seats { list: vec![Frozen, Frozen] }, 2, true), "nobody need learn");
}
