//! People in seats: the stage waits for whoever is to move, takes legal actions only, and where the world flows it goes on
//! with what a person holds.

use tandem_core::env::script::Script;
use tandem_core::experiment::command::{Command, LiveChange};
use tandem_core::experiment::link::parse;
use tandem_core::experiment::snapshot::Stage;
use tandem_core::experiment::spec::Controller;

use crate::{Bench, small};

/// A stage episode waits for its person, takes a legal action for the very state it shows, and nothing else.
#[test]
fn the_stage_waits_for_a_person() {
    let mut spec = small();
    spec.learner.seats = parse("seats=learner,human").spec.learner.seats;
    let mut bench = Bench::load(spec, 0);
    let stage = bench.settle().stage.clone();
    assert_eq!((stage.waiting.as_slice(), stage.step), ([1].as_slice(), 0));
    for (agent, action, at) in [(0, 1, (1, 0)), (1, 9, (1, 0)), (1, 4, (1, 7)), (7, 0, (1, 0))] {
        bench.session.apply(Command::Act { agent, action, at });
    }
    let stage = bench.settle().stage.clone();
    assert_eq!((stage.waiting.as_slice(), stage.step), ([1].as_slice(), 0), "nobody else's, none that is not there");
    assert!(bench.session.log().is_empty());
    bench.session.apply(Command::Act { agent: 1, action: 4, at: (1, 0) });
    let stage = bench.settle().stage.clone();
    assert_eq!((stage.step, stage.actions[1]), (1, 4), "one env step, as chosen");
    assert_eq!(bench.session.log(), [(0, Command::Act { agent: 1, action: 4, at: (1, 0) })]);
    // Training goes on without the person, its seat played by the stand-in, and the run is the link's run.
    bench.session.apply(Command::StepUpdate);
    let trained = bench.settle();
    assert_eq!((trained.update, trained.changed_at), (1, None));
}

fn open(link: &str) -> Bench {
    let parsed = parse(link);
    assert_eq!(parsed.notices, [], "{link}");
    Bench::load(parsed.spec, 0)
}

/// Ticks until `holds`.
fn until(bench: &mut Bench, holds: impl Fn(&Stage) -> bool) -> Stage {
    for _ in 0..2_000 {
        bench.tick();
        if let Some(snapshot) = bench.snapshots.last().filter(|snapshot| holds(&snapshot.stage)) {
            return snapshot.stage.clone();
        }
    }
    panic!("the stage never comes to that: {:?}", bench.snapshots.last().map(|snapshot| &snapshot.stage));
}

fn act(bench: &mut Bench, stage: &Stage, agent: u32, action: u32) {
    bench.session.apply(Command::Act { agent, action, at: (stage.episode, stage.step) });
}

/// A game against a script, from the first move to the last: a person moves only in its turn and only where the mask
/// allows, the end stays until another game is asked for.
#[test]
fn p13_a_person_at_a_board_moves_in_its_turn_and_by_the_mask() {
    let mut bench = open("env=connect_four&algo=ippo&hidden=8&layers=1&seats=human,negamax2&seed=3");
    let mut stage = until(&mut bench, |stage| stage.waiting == [0]);
    act(&mut bench, &stage, 1, 3);
    let same = bench.settle().stage.step;
    assert_eq!(same, 0, "the other one's move is not a person's to make");
    let mut refused = 0;
    while !stage.ended {
        // The first column, as long as there is room, and once when there is none.
        if !stage.legal[0][0] {
            act(&mut bench, &stage, 0, 0);
            assert_eq!(bench.settle().stage.step, stage.step, "a full column takes nothing");
            refused += 1;
        }
        let first = stage.legal[0].iter().position(|&legal| legal).expect("somewhere there is room") as u32;
        act(&mut bench, &stage, 0, first);
        let step = stage.step;
        stage = until(&mut bench, |stage| stage.step > step && (stage.ended || stage.waiting == [0]));
    }
    assert!(refused > 0 || stage.step < 13, "either a column was full or somebody won before");
    assert_eq!(stage.to_move, None);
    let episode = stage.episode;
    (0..200).for_each(|_| {
        bench.tick();
    });
    let still = bench.settle().stage.clone();
    assert_eq!((still.episode, still.ended), (episode, true), "the end of a game is looked at");
    bench.session.apply(Command::RestartEpisode);
    let next = until(&mut bench, |stage| stage.episode == episode + 1);
    assert!(!next.ended);
}

/// What an opponent that looks ahead saw stays to be read while the person thinks; a person's own moves are not judged.
#[test]
fn an_opponents_thought_outlives_its_move() {
    let mut bench = open("env=connect_four&algo=ippo&hidden=8&layers=1&seats=human,negamax4&seed=3");
    let stage = until(&mut bench, |stage| stage.waiting == [0]);
    assert_eq!(stage.thought, None, "nobody has thought yet");
    act(&mut bench, &stage, 0, 3);
    let stage = until(&mut bench, |stage| stage.step == 2);
    let thought = stage.thought.expect("the opponent has thought");
    assert_eq!((thought.agent, thought.is_past, thought.foreseen.len()), (1, true, 7));
}

/// Where the world flows nobody is waited for: what a person holds goes on, and letting go is a choice.
#[test]
fn a_flowing_world_goes_on_with_what_is_held() {
    let mut bench = open("env=spread&limit=100&algo=ippo&hidden=8&layers=1&seats=human,idle,idle&seed=3");
    let stage = until(&mut bench, |stage| stage.step == 2);
    assert_eq!((stage.waiting.as_slice(), stage.actions[0]), ([].as_slice(), 0), "nothing is held");
    act(&mut bench, &stage, 0, 2);
    act(&mut bench, &stage, 0, 2);
    assert_eq!(bench.session.log().len(), 1, "held twice is held");
    let stage = until(&mut bench, |stage| stage.step >= 7);
    assert_eq!((stage.actions[0], stage.chosen[0]), (2, Some(2)), "it is still held");
    assert!(stage.observations[0][0] > 0.5, "and it moves to the right: {:?}", stage.observations[0]);
    act(&mut bench, &stage, 0, 0);
    let stopped = stage.step + 10;
    let stage = until(&mut bench, |stage| stage.step >= stopped);
    assert_eq!(stage.actions[0], 0);
    assert!(stage.observations[0][0] < 0.1, "it comes to rest");
    assert_eq!(stage.actions[1..], [0, 0], "the others are idle");
}

/// A release counts whenever it comes: also when the episode has just ended, so that nothing is held in the next one.
#[test]
fn what_is_let_go_at_an_episodes_end_is_let_go() {
    let mut bench = open("env=spread&limit=5&algo=ippo&hidden=8&layers=1&seats=human,idle,idle&seed=3");
    let stage = until(&mut bench, |stage| stage.step == 1);
    act(&mut bench, &stage, 0, 2);
    let ended = until(&mut bench, |stage| stage.ended);
    assert_eq!(ended.actions[0], 2);
    act(&mut bench, &ended, 0, 0);
    let next = until(&mut bench, |stage| stage.episode == ended.episode + 1 && stage.step == 2);
    assert_eq!((next.actions[0], next.chosen[0]), (0, Some(0)), "nothing is held");
}

/// Where roles differ, whoever has a seat and has not chosen rests: no stand-in plays a person's agent on the stage.
#[test]
fn a_listener_rests_until_its_person_steers() {
    let mut bench = open("env=speaker_listener&algo=ippo&hidden=8&layers=1&seats=expert,human&seed=3");
    let stage = until(&mut bench, |stage| stage.step == 3);
    assert_eq!((stage.actions[1], stage.chosen[1]), (0, None));
    assert_eq!(stage.observations[1][..2], [0.0, 0.0], "it stands still");
    act(&mut bench, &stage, 1, 4);
    let stage = until(&mut bench, |stage| stage.step == 6);
    assert!(stage.observations[1][1] > 0.3, "up it goes: {:?}", stage.observations[1]);
    act(&mut bench, &stage, 1, 0);
    assert_eq!(until(&mut bench, |stage| stage.step == 8).actions[1], 0, "and rests again");
}

/// Two people at one keyboard each hold their own, and who leaves a seat is not listened to any more.
#[test]
fn everyone_is_asked_for_itself_and_only_in_its_seat() {
    let mut bench = open("env=spread&limit=100&algo=ippo&hidden=8&layers=1&seats=human,human,idle&seed=3");
    let stage = until(&mut bench, |stage| stage.step == 1);
    act(&mut bench, &stage, 0, 1);
    act(&mut bench, &stage, 1, 2);
    act(&mut bench, &stage, 2, 2);
    let stage = until(&mut bench, |stage| stage.step == 3);
    assert_eq!((stage.actions.as_slice(), stage.chosen[2]), ([1, 2, 0].as_slice(), None));
    let mut seats = parse("env=spread&seats=human,human,idle").spec.learner.seats;
    seats.list[0] = Controller::Scripted(Script::Idle);
    bench.session.apply(Command::Live(LiveChange::Seats(seats)));
    let stage = until(&mut bench, |stage| stage.step == 6);
    assert_eq!((stage.actions[..2].to_vec(), stage.chosen[0]), (vec![0, 2], None), "the script has the seat now");
}

/// Nobody inherits a game: whoever sits down begins another one, also after the end, and no result is told of somebody who
/// had no move in it.
#[test]
fn whoever_sits_down_begins_a_new_episode() {
    let link = "env=connect_four&algo=iql&hidden=8&layers=1&seed=3";
    let seats = |text: &str| LiveChange::Seats(parse(&format!("{link}&seats={text}")).spec.learner.seats);
    let mut bench = open(link);
    let before = until(&mut bench, |stage| stage.step == 5);
    bench.session.apply(Command::Live(seats("human,learner")));
    let stage = until(&mut bench, |stage| stage.waiting == [0]);
    assert_eq!((stage.episode, stage.step, stage.actions.as_slice()), (before.episode + 1, 0, [].as_slice()));
    act(&mut bench, &stage, 0, 3);
    let stage = until(&mut bench, |stage| stage.waiting == [0] && stage.step == 2);
    // Who stands up leaves the game to the others; who comes back begins anew.
    bench.session.apply(Command::Live(seats("learner,learner")));
    let ended = until(&mut bench, |stage| stage.ended);
    assert_eq!(ended.episode, stage.episode, "it was played to its end");
    bench.session.apply(Command::Live(seats("learner,human")));
    let stage = until(&mut bench, |stage| stage.waiting == [1]);
    assert_eq!((stage.ended, stage.step), (false, 1), "the other one has moved");
    assert!(stage.episode > ended.episode);
}
