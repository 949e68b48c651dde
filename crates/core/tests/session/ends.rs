//! What ends a run or pauses it: its budget, an evaluation as good as the goal, nobody at the page.

use tandem_core::experiment::command::{Command, LiveChange, TrainSpeed, Watch};
use tandem_core::experiment::link::parse;
use tandem_core::experiment::run::Run;
use tandem_core::experiment::session::Session;
use tandem_core::experiment::snapshot::{Report, RunState};
use tandem_core::experiment::spec::{Controller, ExperimentSpec, Seats};

use crate::{Bench, small};

#[test]
fn p46_a_goal_that_is_reached_ends_the_run_and_continuing_goes_past_it() {
    let spec = ExperimentSpec { budget: 20_000, ..small() };
    let mut plain = Run::new(spec.clone(), 1).expect("a valid experiment");
    while plain.end().is_none() {
        plain.update();
    }
    let trained = &plain.evals[1..plain.evals.len() - 1];
    let goal = trained.iter().map(|point| point.mean).fold(f32::INFINITY, f32::min);
    let at = trained.iter().find(|point| point.mean == goal).expect("it is in the curve").update;
    let spec = ExperimentSpec { stop: true, stop_at: goal, ..spec };
    let mut bench = Bench::load(spec.clone(), 0);
    bench.session.apply(Command::Run);
    let reached = bench.settle().clone();
    assert_eq!((&reached.state, reached.update), (&RunState::Reached, at), "steps: lower is better");
    bench.session.apply(Command::Continue);
    let end = bench.settle().clone();
    assert_eq!((end.state, end.trace_hash), (RunState::Finished, plain.trace), "the same run, to its budget");

    // A link written after that opens where it was written.
    let later = Bench::load(spec, end.update).settle().clone();
    assert_eq!((later.update, later.weights_hash), (end.update, end.weights_hash));
}

/// The smallest mean of the evaluations from env step `from` on: fewer steps are better.
fn least(run: &Run, from: u32) -> f32 {
    let means = run.evals.iter().filter(|point| point.env_steps >= from).map(|point| point.mean);
    means.fold(f32::INFINITY, f32::min)
}

/// The experiment of these tests, to 20,000 env steps.
fn long() -> Run {
    let mut run = Run::new(ExperimentSpec { budget: 20_000, ..small() }, 1).expect("a valid experiment");
    while run.end().is_none() {
        run.update();
    }
    run
}

#[test]
fn p46_a_goal_is_heeded_in_another_budget() {
    let plain = long();
    let goal = least(&plain, 1);
    let at = plain.evals[1..].iter().find(|point| point.mean == goal).expect("it is in the curve").update;
    let mut bench = Bench::load(ExperimentSpec { budget: 1_000, stop: true, stop_at: goal, ..small() }, 0);
    bench.session.apply(Command::Run);
    let mut budgets = 0;
    while budgets < 20 && bench.settle().state == RunState::Finished {
        budgets += 1;
        bench.session.apply(Command::Continue);
    }
    let reached = bench.settle();
    assert_eq!((&reached.state, reached.update), (&RunState::Reached, at));
    assert!(budgets > 1, "the goal was not reached within the first budget");
}

#[test]
fn p46_other_learners_have_not_reached_the_goal() {
    let goal = least(&long(), 1);
    let mut bench = Bench::load(ExperimentSpec { budget: 20_000, stop: true, stop_at: goal, ..small() }, 0);
    bench.session.apply(Command::Run);
    let at = bench.settle().update;
    assert_eq!(bench.settle().state, RunState::Reached);
    let seats = Seats { list: vec![Controller::Learner(0), Controller::Frozen] };
    bench.session.apply(Command::Live(LiveChange::Seats(seats)));
    assert_eq!(bench.settle().state, RunState::Paused, "who learns now has not been evaluated");
    bench.session.apply(Command::Run);
    let next = bench.settle();
    assert!(next.update > at && next.state != RunState::Paused, "{:?} at {}", next.state, next.update);
}

/// Who has gone past a goal is not stopped by it again; a stricter one is another goal, and none ends nothing.
#[test]
fn p46_a_goal_may_be_changed_while_training_goes_on() {
    let plain = long();
    let means: Vec<f32> = plain.evals[1..].iter().map(|point| point.mean).collect();
    let strict = least(&plain, 1);
    let first = means.iter().position(|&mean| mean > strict && mean < means[0]).expect("it gets better in steps");
    let (loose, at) = (means[first], plain.evals[1 + first].update);
    let goal = |goal| Command::Live(LiveChange::Goal(goal));
    let mut bench = Bench::load(ExperimentSpec { budget: 20_000, idle: 0, ..small() }, 0);
    bench.settle();
    bench.session.apply(goal(Some(loose)));
    bench.session.apply(Command::Run);
    let reached = bench.settle();
    assert_eq!((&reached.state, reached.update), (&RunState::Reached, at), "set before it began");
    bench.session.apply(goal(Some(loose)));
    assert_eq!(bench.settle().state, RunState::Reached, "the same goal is no other one");
    bench.session.apply(goal(None));
    assert_eq!(bench.settle().state, RunState::Paused, "no goal, none reached");
    bench.session.apply(goal(Some(strict)));
    bench.session.apply(Command::Run);
    let reached = bench.settle().clone();
    let strictly = plain.evals[1..].iter().find(|point| point.mean == strict).expect("it is in the curve");
    assert_eq!((&reached.state, reached.update), (&RunState::Reached, strictly.update));
    bench.session.apply(Command::Continue);
    let end = bench.settle().clone();
    assert_eq!((end.state, end.trace_hash), (RunState::Finished, plain.trace), "the same run, whatever ended it");
    assert_eq!(end.changed_at, None, "so it is still the link's");
}

/// The curve of a board says nothing of strength, so no goal is set there.
#[test]
fn p46_a_board_takes_no_goal() {
    let mut run =
        Run::new(parse("#env=tictactoe&algo=iql&hidden=8&match_games=0").spec, 1).expect("a valid experiment");
    run.prepare();
    assert_eq!(run.change(LiveChange::Goal(Some(-1.0))), None);
    assert_eq!(run.change(LiveChange::Idle(5)), Some(0));
    assert_eq!((run.idle(), run.changed_at), (5, None));
}

#[test]
fn p46_a_link_is_told_that_a_board_takes_no_goal() {
    let told: Vec<String> =
        parse("#env=tictactoe&algo=iql&stop=on&stop_at=0.5").notices.into_iter().flat_map(|n| n.args).collect();
    assert_eq!(told, ["stop", "stop_at"]);
}

#[test]
fn p46_training_pauses_when_nobody_is_there() {
    let mut bench = Bench::load(ExperimentSpec { budget: 10_000_000, eval_every: 10_000_000, idle: 1, ..small() }, 0);
    bench.session.apply(Command::Speed(TrainSpeed::One));
    bench.session.apply(Command::Run);
    let mut now = 100.0;
    let mut wait = |session: &mut Session, seconds: u32| {
        for _ in 0..seconds {
            now += 1.0;
            session.tick(&mut || now);
        }
        let told = session.take_reports().into_iter().rev().find_map(|report| match report {
            Report::Snapshot(snapshot) => Some(snapshot),
            _ => None,
        });
        told.map(|snapshot| (snapshot.state, snapshot.is_idle)).expect("a run is told of")
    };
    assert_eq!(wait(&mut bench.session, 50), (RunState::Running, false));
    bench.session.apply(Command::Seen);
    assert_eq!(wait(&mut bench.session, 50), (RunState::Running, false), "somebody was there");
    assert_eq!(wait(&mut bench.session, 50), (RunState::Paused, true));
    bench.session.apply(Command::Seen);
    bench.session.apply(Command::Watch(Watch::default()));
    assert_eq!(wait(&mut bench.session, 5), (RunState::Paused, true), "who comes back reads why it has paused");
    bench.session.apply(Command::Run);
    assert_eq!(wait(&mut bench.session, 5), (RunState::Running, false), "nothing is lost");
    bench.session.apply(Command::Live(LiveChange::Idle(0)));
    assert_eq!(wait(&mut bench.session, 500), (RunState::Running, false), "never, from now on");
    bench.session.apply(Command::Live(LiveChange::Idle(2)));
    assert_eq!(wait(&mut bench.session, 110), (RunState::Running, false));
    assert_eq!(wait(&mut bench.session, 20), (RunState::Paused, true));
}
