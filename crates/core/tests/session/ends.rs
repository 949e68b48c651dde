//! What ends a run or pauses it: its budget, an evaluation as good as the goal, nobody at the page.

use tandem_core::experiment::command::{Command, TrainSpeed};
use tandem_core::experiment::run::Run;
use tandem_core::experiment::session::Session;
use tandem_core::experiment::snapshot::{Report, RunState};
use tandem_core::experiment::spec::ExperimentSpec;

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
    bench.session.apply(Command::Run);
    assert_eq!(wait(&mut bench.session, 5), (RunState::Running, false), "nothing is lost");
}
