//! A run that diverges stops, says where, and gives its weights back.

use tandem_core::base::hash::hex;
use tandem_core::experiment::command::{Command, LiveChange, Weights};
use tandem_core::experiment::divergence::{LARGEST_GRADIENT, LARGEST_WEIGHTS};
use tandem_core::experiment::run::Run;
use tandem_core::experiment::session::Session;
use tandem_core::experiment::snapshot::Report;
use tandem_core::experiment::snapshot::{Cause, RunState, Snapshot};
use tandem_core::experiment::spec::{AlgoChoice, EnvChoice, ExperimentSpec};
use tandem_core::nn::graph::Id;

fn small(algo: AlgoChoice) -> ExperimentSpec {
    let mut spec = ExperimentSpec::defaults(EnvChoice::Pellet, algo);
    spec.learner.hidden = 16;
    spec.learner.hyper_hidden = 16;
    spec.learner.warmup = 200;
    spec.learner.batch = 16;
    spec.eval_every = 320;
    spec
}

/// A learning rate with which networks of this size explode.
fn wild() -> ExperimentSpec {
    let mut spec = ExperimentSpec::default();
    let l = &mut spec.learner;
    (l.lr, l.lr_end, l.lr_over, l.warmup, l.batch) = (1.0, 1.0, 0, 200, 16);
    spec
}

fn run(spec: ExperimentSpec, updates: u32) -> Run {
    let mut run = Run::new(spec, 1).expect("it can be built");
    while run.updates() < updates {
        run.update();
    }
    run
}

/// What the numbers of everything trained are, as bits.
fn trained(run: &Run) -> Vec<Vec<u32>> {
    let bits = |id: Id<_, _>| run.buffers.read(id).iter().map(|x: &f32| x.to_bits()).collect();
    run.learner.trained().into_iter().map(bits).collect()
}

fn until_diverged(run: &mut Run) -> (String, Cause, u32) {
    for _ in 0..200 {
        if let Some(RunState::Diverged { tensor, cause, update }) = run.end() {
            return (tensor, cause, update);
        }
        run.update();
    }
    panic!("it did not diverge");
}

#[test]
fn p43_a_number_that_is_none_stops_training_and_is_named() {
    let mut run = run(small(AlgoChoice::Qmix), 50);
    let good = trained(&run);
    let weights = run.learner.agents.block.weights;
    run.buffers.write(weights)[0] = f32::NAN;
    let (tensor, cause, update) = until_diverged(&mut run);
    assert!(tensor.starts_with("agents."), "{tensor}");
    assert_eq!((cause, update), (Cause::NotFinite, 51));
    assert_eq!(trained(&run), good, "what can be looked at is the last that was good");
    assert_eq!(run.weights_update(), 50);
}

#[test]
fn p43_weights_and_gradients_that_explode_stop_training_and_are_named() {
    let mut exploded = run(small(AlgoChoice::Qmix), 50);
    let block = exploded.learner.agents.block;
    let last = exploded.learner.agents.layout.tensors.last().expect("there are tensors").clone();
    let weights = block.weights;
    exploded.buffers.write(weights)[last.range().start] = 2.0 * LARGEST_WEIGHTS;
    let (tensor, cause, _) = until_diverged(&mut exploded);
    assert_eq!(cause, if tensor == last.name { Cause::Weights } else { Cause::Gradient });

    let mut wild = Run::new(wild(), 1).expect("it can be built");
    let (tensor, cause, update) = until_diverged(&mut wild);
    let names: Vec<String> =
        wild.learner.blocks().iter().flat_map(|(layout, _)| layout.tensors.iter().map(|t| t.name.clone())).collect();
    assert!(names.contains(&tensor), "{tensor}");
    assert_eq!(cause, Cause::Gradient, "an explosion is seen before it is no number; the limit is {LARGEST_GRADIENT}");
    assert_eq!(wild.kept().1, update - 1);
}

#[test]
fn p43_the_best_and_the_last_good_weights_come_back_with_moments_and_targets() {
    for algo in [AlgoChoice::Iql, AlgoChoice::Vdn, AlgoChoice::Qmix] {
        let mut first = Run::new(small(algo), 1).expect("it can be built");
        let mut at = Vec::new();
        first.prepare();
        at.push(trained(&first));
        while first.updates() < 60 {
            first.update();
            at.push(trained(&first));
        }
        let best = first.evals.iter().rev().min_by(|a, b| a.mean.total_cmp(&b.mean)).expect("it was evaluated");
        // Of equal ones the earliest: later ones must be better.
        let best = first.evals.iter().find(|point| point.mean == best.mean).expect("there is one").update;
        assert_eq!(first.kept(), (best, 60), "{algo:?}");
        let weights = first.learner.agents.block.weights;
        first.buffers.write(weights)[3] = f32::INFINITY;
        until_diverged(&mut first);
        let mut run = first;
        assert_eq!(run.take_weights(Weights::Last), Some(61));
        assert_eq!(trained(&run), at[60], "{algo:?}");
        assert_eq!((run.weights_of, run.changed_at), (Some(60), Some(61)));
        assert_eq!(run.end(), None, "it may go on");
        assert_eq!(run.take_weights(Weights::Best), Some(61));
        assert_eq!(trained(&run), at[best as usize], "{algo:?}");
        while run.updates() < 161 {
            run.update();
        }
        assert_eq!(run.end(), None, "a hundred updates later every number is finite");
        assert_eq!(run.weights_of, None);
        for bits in trained(&run) {
            assert!(bits.iter().all(|&bits| f32::from_bits(bits).is_finite()));
        }
    }
}

/// A session that has diverged by its settings, as a person can bring about, and what it last told.
fn diverged() -> (Session, Snapshot, f64) {
    let spec = wild();
    let mut session = Session::new();
    session.apply(Command::Load { spec: Box::new(spec), run_to: 0 });
    session.apply(Command::Run);
    let mut now = 0.0;
    let told = settle(&mut session, &mut now);
    (session, told, now)
}

fn settle(session: &mut Session, now: &mut f64) -> Snapshot {
    let mut told = None;
    for _ in 0..100_000 {
        let tick = session.tick(&mut || {
            *now += 0.02;
            *now
        });
        for report in session.take_reports() {
            if let Report::Snapshot(snapshot) = report {
                told = Some(*snapshot);
            }
        }
        if !tick.busy && told.is_some() {
            break;
        }
    }
    told.expect("something was told")
}

#[test]
fn p43_a_command_puts_weights_back_pauses_and_is_in_the_log() {
    let (mut session, told, mut now) = diverged();
    let RunState::Diverged { update, .. } = told.state else { panic!("{:?}", told.state) };
    let (_, last) = told.kept.expect("a diverged run says what it kept");
    assert_eq!(last, update - 1);
    assert_eq!(told.stage.weights_update, last, "the stage plays by weights that are numbers");
    session.apply(Command::Run);
    assert_eq!(settle(&mut session, &mut now).update, update, "it does not go on by itself");
    session.apply(Command::Continue);
    let still = settle(&mut session, &mut now);
    assert_eq!((still.budget, session.log()), (told.budget, &[][..]), "more budget is no way on");

    session.apply(Command::TakeWeights(Weights::Last));
    let told = settle(&mut session, &mut now);
    assert_eq!(told.state, RunState::Paused);
    assert_eq!((told.update, told.weights_of, told.changed_at, told.kept), (update, Some(last), Some(update), None));
    assert!(told.weights_hash.is_some());
    assert_eq!(session.log(), [(update, Command::TakeWeights(Weights::Last))]);

    // Link and log together are the run.
    session.apply(Command::Live(LiveChange::Lr(1e-4)));
    for _ in 0..5 {
        session.apply(Command::StepUpdate);
    }
    let on = settle(&mut session, &mut now);
    assert_eq!((on.state.clone(), on.update, on.weights_of), (RunState::Paused, update + 5, None));
    assert!(on.loss.is_some_and(f32::is_finite));
    let (mut again, _, mut now) = diverged();
    for (_, command) in session.log().to_vec() {
        again.apply(command);
    }
    for _ in 0..5 {
        again.apply(Command::StepUpdate);
    }
    let again = settle(&mut again, &mut now);
    assert_eq!((hex(again.trace_hash), again.weights_hash.map(hex)), (hex(on.trace_hash), on.weights_hash.map(hex)),);
}
