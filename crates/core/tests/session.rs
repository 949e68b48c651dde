//! Sessions as a page drives them, with an injected clock.

use tandem_core::experiment::command::{Command, LiveChange, TrainSpeed, Watch};
use tandem_core::experiment::link::{Link, parse, write};
use tandem_core::experiment::session::{SLICE_SECS, SNAPSHOT_SECS, Session};
use tandem_core::experiment::snapshot::{Report, RunState, Snapshot};
use tandem_core::experiment::spec::ExperimentSpec;

/// A session under a clock that moves a little per reading.
struct Bench {
    session: Session,
    now: f64,
    lag: f64,
    snapshots: Vec<Snapshot>,
}

impl Bench {
    fn load(spec: ExperimentSpec, run_to: u32) -> Self {
        let mut session = Session::new();
        session.apply(Command::Load { spec: Box::new(spec), run_to, run: false });
        Self { session, now: 0.0, lag: 0.001, snapshots: Vec::new() }
    }

    fn tick(&mut self) -> bool {
        let (now, lag) = (&mut self.now, self.lag);
        let tick = self.session.tick(&mut || {
            *now += lag;
            *now
        });
        for report in self.session.take_reports() {
            if let Report::Snapshot(snapshot) = report {
                self.snapshots.push(*snapshot);
            }
        }
        if !tick.busy {
            self.now += tick.wake_in.unwrap_or(0.0);
        }
        tick.busy
    }

    fn settle(&mut self) -> &Snapshot {
        while self.tick() {}
        self.now += SNAPSHOT_SECS;
        self.session.apply(Command::Watch(Watch::default()));
        self.tick();
        self.snapshots.last().expect("a snapshot follows every command")
    }
}

fn small() -> ExperimentSpec {
    let mut spec = ExperimentSpec::default();
    spec.learner.hidden = 16;
    spec.learner.hyper_hidden = 16;
    spec.learner.warmup = 200;
    spec.learner.batch = 16;
    spec.budget = 4_000;
    spec
}

#[test]
fn p39_the_same_link_gives_the_same_run() {
    let hashes = |seed: u64| {
        let mut spec = small();
        spec.seed = seed;
        let mut bench = Bench::load(spec, 40);
        let s = bench.settle();
        assert_eq!((s.update, &s.state), (40, &RunState::Paused));
        (s.trace_hash, s.weights_hash.expect("a paused run tells its weights' hash"))
    };
    assert_eq!(hashes(1), hashes(1));
    assert_ne!(hashes(1), hashes(2));
}

/// Fields that are out of sight in an experiment must not act in it, or its link would be another run.
#[test]
fn p90_a_run_is_what_its_link_says() {
    let mut spec = small();
    let l = &mut spec.learner;
    (l.hysteresis, l.shared, l.agent_id) = (0.02, false, false);
    spec.matrix.repeat = 9;
    let bench = Bench::load(spec.clone(), 0);
    let run = &bench.session.run().expect("loaded").spec;
    assert_ne!(*run, spec, "β is IQL's, an id is a shared network's");
    assert_eq!(parse(&write(&Link::of(spec))).spec, *run);
}

#[test]
fn stepping_pausing_and_running_are_the_same_run() {
    let mut straight = Bench::load(small(), 30);
    let straight = straight.settle();
    let mut stepped = Bench::load(small(), 0);
    for _ in 0..10 {
        stepped.session.apply(Command::StepEnv);
        stepped.tick();
    }
    assert_eq!(stepped.session.run().expect("loaded").updates(), 2, "four env steps of each environment are an update");
    stepped.session.apply(Command::StepUpdate);
    stepped.session.apply(Command::Speed(TrainSpeed::Ten));
    stepped.session.apply(Command::Run);
    while stepped.session.run().expect("loaded").updates() < 20 {
        stepped.tick();
    }
    stepped.session.apply(Command::Pause);
    while stepped.session.run().expect("loaded").updates() < 30 {
        stepped.session.apply(Command::StepUpdate);
        stepped.tick();
    }
    let stepped = stepped.settle();
    assert_eq!(stepped.trace_hash, straight.trace_hash);
    assert_eq!(stepped.weights_hash, straight.weights_hash);
}

#[test]
fn evaluation_stage_and_views_leave_the_run_alone() {
    let mut plain = small();
    plain.eval_every = plain.budget;
    let mut watched = Bench::load(small(), 0);
    watched.session.apply(Command::Watch(Watch { without_abs: true, ..Watch::default() }));
    watched.session.apply(Command::StageExplores(true));
    watched.session.apply(Command::Run);
    while watched.session.run().expect("loaded").updates() < 60 {
        watched.tick();
        watched.session.apply(Command::RestartEpisode);
    }
    watched.session.apply(Command::Pause);
    let update = watched.settle().update;
    let mut quiet = Bench::load(plain, update);
    assert_eq!(watched.snapshots.last().map(|s| s.trace_hash), Some(quiet.settle().trace_hash));
}

#[test]
fn p71_a_slice_ends_by_the_clock_and_a_sleeping_tab_does_not_catch_up() {
    let mut bench = Bench::load(small(), 0);
    bench.session.apply(Command::Run);
    let before = bench.now;
    bench.tick();
    assert!(bench.now - before < SLICE_SECS + 0.006, "a slice took {} s", bench.now - before);
    bench.session.apply(Command::Speed(TrainSpeed::Ten));
    bench.tick();
    let update = bench.session.run().expect("loaded").updates();
    bench.now += 3600.0;
    bench.tick();
    bench.tick();
    let done = bench.session.run().expect("loaded").updates() - update;
    assert!(done <= 3, "{done} updates after an hour's sleep");
}

#[test]
fn snapshots_come_at_most_twenty_times_a_second_and_curves_are_complete() {
    let mut bench = Bench::load(small(), 0);
    bench.session.apply(Command::Run);
    while bench.tick() {}
    let last = bench.settle().clone();
    assert_eq!(last.state, RunState::Finished);
    assert!(last.env_steps >= 4_000 && last.env_steps < 4_000 + 32);
    let mut curve = Vec::new();
    for s in &bench.snapshots {
        curve.truncate(s.evals_from as usize);
        curve.extend(s.evals.iter().map(|e| e.env_steps));
    }
    assert_eq!(curve, [0, 512, 1024, 1504, 2016, 2528, 3008, 3520, 4000], "every 500 env steps, at update boundaries");
    bench.session.apply(Command::Continue);
    bench.tick();
    assert_eq!(bench.settle().budget, 8_000);
}

#[test]
fn the_end_is_told_even_if_a_slice_ends_with_the_last_update() {
    for (run_to, end) in [(5, RunState::Paused), (u32::MAX, RunState::Finished)] {
        let mut spec = small();
        spec.budget = 320;
        let mut bench = Bench::load(spec, run_to);
        // So slow that every piece of work is a slice of its own and told at once.
        bench.lag = SLICE_SECS.max(SNAPSHOT_SECS);
        while bench.tick() {}
        bench.tick();
        assert_eq!(bench.snapshots.last().map(|snapshot| &snapshot.state), Some(&end));
    }
}

#[test]
fn a_live_change_is_dated_and_changes_the_run() {
    let mut plain = Bench::load(small(), 60);
    let plain = plain.settle().clone();
    let mut changed = Bench::load(small(), 30);
    changed.settle();
    changed.session.apply(Command::Live(LiveChange::Lr(0.01)));
    for _ in 0..30 {
        changed.session.apply(Command::StepUpdate);
    }
    let changed = changed.settle();
    assert_eq!(changed.changed_at, Some(30));
    assert_eq!(changed.lr, 0.01);
    assert_eq!(changed.update, plain.update);
    assert_ne!(changed.weights_hash, plain.weights_hash);
}

#[test]
fn divergence_stops_the_run_and_names_a_tensor() {
    let mut spec = small();
    spec.learner.clip = 1e30;
    let mut bench = Bench::load(spec, 0);
    bench.session.apply(Command::Live(LiveChange::Lr(f32::MAX)));
    bench.session.apply(Command::Run);
    while bench.tick() {}
    match &bench.settle().state {
        RunState::Diverged { tensor, .. } => assert!(tensor.ends_with("weights"), "{tensor}"),
        state => panic!("{state:?}"),
    }
}
