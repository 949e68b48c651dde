//! A run that diverges stops, says where, and gives its weights back.

use tandem_core::base::hash::hex;
use tandem_core::experiment::command::{Command, LiveChange, Weights};
use tandem_core::experiment::divergence::{LARGEST_GRADIENT, LARGEST_WEIGHTS};
use tandem_core::experiment::run::Run;
use tandem_core::experiment::session::Session;
use tandem_core::experiment::snapshot::Report;
use tandem_core::experiment::snapshot::{Cause, RunState, Snapshot};
use tandem_core::experiment::spec::{AlgoChoice, Controller, EnvChoice, ExperimentSpec, Seats};
use tandem_core::marl::registry::ALGORITHMS;
use tandem_core::nn::graph::Id;

fn small(algo: AlgoChoice) -> ExperimentSpec {
    let mut spec = ExperimentSpec::defaults(EnvChoice::Pellet, algo);
    spec.learner.hidden = 16;
    spec.learner.hyper_hidden = 16;
    spec.learner.warmup = 200;
    spec.learner.batch = 16;
    spec.eval_every = 320;
    spec.budget = 1_000_000;
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

/// What the numbers of everything trained are, as bits: those a critic's values are scaled by last.
fn trained(run: &Run) -> Vec<Vec<u64>> {
    let bits = |id: Id<_, _>| run.buffers.read(id).iter().map(|x: &f32| u64::from(x.to_bits())).collect();
    let moments = run.learner.value_moments();
    let scale = moments.map(|id| run.buffers.read(id).iter().map(|x: &f64| x.to_bits()).collect());
    run.learner.trained().into_iter().map(bits).chain(scale).collect()
}

/// The tensor whose gradient has the largest norm.
fn steepest(run: &Run) -> String {
    let mut all = Vec::new();
    for (layout, block) in run.learner.blocks() {
        let gradient = run.buffers.read(block.grad);
        let square = |x: &f32| f64::from(*x) * f64::from(*x);
        all.extend(
            layout.tensors.iter().map(|t| (gradient[t.range()].iter().map(square).sum::<f64>(), t.name.clone())),
        );
    }
    all.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).expect("there are tensors").1
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
    let first = run.learner.agents.layout.tensors[0].name.clone();
    assert_eq!(until_diverged(&mut run), (first, Cause::NotFinite, 51));
    assert!(trained(&run) == good, "what can be looked at is the last that was good");
    assert_eq!(run.weights_update(), 50);
}

#[test]
fn p43_weights_that_explode_stop_training_and_are_named() {
    let mut run = run(small(AlgoChoice::Iql), 50);
    let last = run.learner.agents.layout.tensors.last().expect("there are tensors").clone();
    let weights = run.learner.agents.block.weights;
    run.buffers.write(weights)[last.range().start] = 2.0 * LARGEST_WEIGHTS;
    assert_eq!(until_diverged(&mut run), (last.name, Cause::Weights, 51));
}

#[test]
fn p43_gradients_that_explode_stop_training_and_are_named() {
    // A bias of the slow copy: errors are as large as it is, parameters are what they were.
    let mut poked = run(small(AlgoChoice::Iql), 50);
    let last = poked.learner.agents.layout.tensors.last().expect("there are tensors").clone();
    let slow = poked.learner.targets[0].target;
    poked.buffers.write(slow)[last.range()].fill(1e3 * LARGEST_GRADIENT);
    assert_eq!(until_diverged(&mut poked), (steepest(&poked), Cause::Gradient, 51));

    let mut wild = Run::new(wild(), 1).expect("it can be built");
    let (tensor, cause, update) = until_diverged(&mut wild);
    assert_eq!((tensor, cause), (steepest(&wild), Cause::Gradient), "an explosion is seen before it is no number");
    assert_eq!(wild.kept().1, update - 1);
}

/// A weight that overflows makes every gradient of the next gradient step, and by them every weight, no number.
#[test]
fn p43_the_first_bad_tensor_is_named_and_not_what_it_spoilt() {
    for algo in ALGORITHMS.map(|algo| algo.choice) {
        let mut spec = small(algo);
        spec.learner.grad_steps = 4;
        let mut run = run(spec, 50);
        let blocks: Vec<_> = run.learner.blocks().map(|(layout, block)| (layout.clone(), block)).collect();
        for (layout, block) in blocks {
            let tensor = &layout.tensors[layout.tensors.len() / 2];
            run.buffers.write(block.m)[tensor.range().start] = f32::INFINITY;
            let (named, cause, _) = until_diverged(&mut run);
            assert_eq!((&named, cause), (&tensor.name, Cause::NotFinite), "{algo:?}");
            assert!(run.take_weights(Weights::Last).is_some());
        }
    }
}

#[test]
fn p43_the_best_and_the_last_good_weights_come_back_with_moments_and_targets() {
    for algo in ALGORITHMS.map(|algo| algo.choice) {
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
        assert_eq!(first.kept(), (Some(best), 60), "{algo:?}");
        let weights = first.learner.agents.block.weights;
        first.buffers.write(weights)[3] = f32::INFINITY;
        until_diverged(&mut first);
        let mut run = first;
        assert_eq!(run.take_weights(Weights::Last), Some(61));
        assert!(trained(&run) == at[60], "{algo:?}");
        assert_eq!((run.weights_of, run.changed_at), (Some(60), Some(61)));
        assert_eq!(run.end(), None, "it may go on");
        assert_eq!(run.take_weights(Weights::Best), Some(61));
        assert!(trained(&run) == at[best as usize], "{algo:?}");
        while run.updates() < 161 {
            run.update();
        }
        assert_eq!(run.end(), None, "a hundred updates later every number is finite");
        assert_eq!(run.weights_of, None);
        let finite = |id: Id<_, _>| run.buffers.read(id).iter().all(|x: &f32| x.is_finite());
        assert!(run.learner.trained().into_iter().all(finite));
    }
}

/// An end worse than the peak offers the peak's weights.
#[test]
fn p25_the_best_weights_are_offered_when_the_end_is_worse() {
    let mut worse = 0;
    for seed in 0..8 {
        let spec = ExperimentSpec { seed, budget: 8_000, eval_every: 500, ..small(AlgoChoice::Iql) };
        let mut run = Run::new(spec, 1).expect("it can be built");
        while run.end().is_none() {
            run.update();
        }
        let last = run.evals.last().expect("it was evaluated").mean;
        let best = run.evals.iter().map(|point| point.mean).fold(last, f32::min);
        match run.peak() {
            None => assert_eq!(best, last),
            Some(peak) => {
                worse += 1;
                assert!(peak.mean == best && best < last);
                assert_eq!(
                    run.evals.iter().find(|point| point.mean == best).map(|point| point.update),
                    Some(peak.update)
                );
                run.take_weights(Weights::Best).expect("they are kept");
                assert_eq!((run.weights_of, run.peak()), (Some(peak.update), None), "they act");
            }
        }
    }
    assert!(worse > 0, "some seed ended below its peak");
}

/// Earlier evaluations are of other learners: the best of them says nothing about these.
#[test]
fn the_best_weights_are_the_best_since_the_seats_changed() {
    let seats = |frozen: bool| {
        let second = if frozen { Controller::Frozen } else { Controller::Learner(0) };
        LiveChange::Seats(Seats { list: vec![Controller::Learner(0), second] })
    };
    let mut spec = small(AlgoChoice::Iql);
    spec.eval_every = 640;
    let mut run = run(spec, 60);
    let before = run.evals.len();
    let (best, _) = run.kept();
    assert!(best.is_some_and(|best| best > 0), "it has learned something");
    for frozen in [true, false] {
        run.change(seats(frozen));
        assert_eq!(run.kept(), (None, run.updates()), "nothing has been evaluated with these seats");
        assert_eq!(run.take_weights(Weights::Best), None);
    }
    while run.evals.len() < before + 3 {
        run.update();
    }
    let since = &run.evals[before..];
    let least = since.iter().map(|point| point.mean).reduce(f32::min);
    let best = since.iter().find(|point| Some(point.mean) == least).map(|point| point.update);
    assert_eq!(run.kept(), (best, run.updates()));
}

#[test]
fn weights_that_were_put_back_keep_their_number_when_seats_change() {
    let mut run = run(small(AlgoChoice::Iql), 65);
    let (best, _) = run.kept();
    let best = best.expect("it was evaluated");
    assert!(best < 65, "the best are not the last");
    run.take_weights(Weights::Best);
    run.change(LiveChange::Seats(Seats { list: vec![Controller::Learner(0), Controller::Frozen] }));
    assert_eq!((run.kept(), run.weights_update()), ((None, best), best));
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
