//! Sessions as a page drives them, with an injected clock.

use tandem_core::env::script::Script;
use tandem_core::experiment::command::{Command, LiveChange, TrainSpeed, Watch};
use tandem_core::experiment::link::{Link, parse, write};
use tandem_core::experiment::session::{SLICE_SECS, SNAPSHOT_SECS, Session};
use tandem_core::experiment::snapshot::{Report, RunState, Snapshot, TeamName, TeamRow, TeamStands};
use tandem_core::experiment::spec::{AlgoChoice, EvalChoice, ExperimentSpec};
use tandem_core::experiment::trial::EPISODES;
use tandem_core::marl::parts::clock::{CRITIC_RATE, ENV_STEP};

mod session {
    mod ends;
    mod ladder;
    mod people;
}

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
        session.apply(Command::Load { spec: Box::new(spec), run_to });
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
    let quiet = quiet.settle();
    let watched = watched.snapshots.last().expect("it was watched");
    assert_eq!((watched.trace_hash, watched.weights_hash), (quiet.trace_hash, quiet.weights_hash));
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
    for (run_to, end) in [(5, RunState::Paused), (0, RunState::Finished)] {
        let mut spec = small();
        spec.budget = 1_000;
        let mut bench = Bench::load(spec, run_to);
        if run_to == 0 {
            bench.session.apply(Command::Run);
        }
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
fn a_live_change_is_brought_into_its_range() {
    let mut bench = Bench::load(small(), 5);
    bench.settle();
    for (given, used) in [(f32::MAX, 1.0), (-1.0, 1e-6), (f32::NAN, ExperimentSpec::default().learner.lr)] {
        bench.session.apply(Command::Live(LiveChange::Lr(given)));
        assert_eq!(bench.settle().lr, used);
    }
}

/// The page makes the same change in its own spec and writes it into its link.
#[test]
fn a_link_written_after_a_live_change_starts_the_rates_of_the_run() {
    for (given, critic) in [(0.01, 0.05), (1.0, 1.0)] {
        let mut spec = parse("#env=pellet&algo=ippo&lr=0.001&critic_lr=0.005&lr_over=9000&lr_end=0.0001").spec;
        let mut bench = Bench::load(spec.clone(), 2);
        bench.settle();
        let change = LiveChange::Lr(given);
        bench.session.apply(Command::Live(change.clone()));
        change.apply(&mut spec);
        let spec = parse(&write(&Link::of(spec))).spec;
        assert_eq!((spec.learner.lr, spec.learner.critic_lr), (given, critic));
        let opened = Bench::load(spec, 0);
        let rates = |bench: &Bench| {
            let run = bench.session.run().expect("loaded");
            let settings = run.buffers.read(run.learner.clock.settings);
            (run.lr(), settings[CRITIC_RATE])
        };
        assert_eq!(rates(&bench), rates(&opened));
    }
}

#[test]
fn a_hash_is_told_with_the_env_step_it_stands_at() {
    let mut bench = Bench::load(small(), 0);
    bench.lag = SNAPSHOT_SECS; // every piece of work is told
    bench.session.apply(Command::Run);
    for _ in 0..400 {
        bench.tick();
    }
    let mut told: Vec<(u32, u32, [u32; 2])> =
        bench.snapshots.iter().map(|s| (s.update, s.trace_at, s.trace_hash)).collect();
    told.dedup();
    assert!(told.len() > 20, "{} moments", told.len());
    for &(update, trace_at, trace_hash) in told.iter().step_by(7) {
        let mut there = Bench::load(small(), update);
        let there = there.settle();
        assert_eq!((there.env_steps, there.trace_at, there.trace_hash), (trace_at, trace_at, trace_hash));
    }
}

#[test]
fn link_and_log_together_are_the_run() {
    let mut first = Bench::load(small(), 0);
    first.session.apply(Command::Run);
    first.tick();
    for (k, change) in [LiveChange::Lr(0.003), LiveChange::Epsilon(0.5), LiveChange::Lr(0.0005)].into_iter().enumerate()
    {
        while first.session.run().expect("loaded").updates() < 20 * (k as u32 + 1) {
            first.tick();
        }
        first.session.apply(Command::Live(change)); // wherever in an update the run stands
    }
    while first.session.run().expect("loaded").updates() < 100 {
        first.tick();
    }
    first.session.apply(Command::Pause);
    let original = first.settle().clone();
    let log = first.session.log().to_vec();
    assert_eq!(log.len(), 3);

    let mut again = Bench::load(small(), 0);
    for (update, command) in log {
        while again.session.run().expect("loaded").updates() < update {
            again.session.apply(Command::StepUpdate);
            while again.tick() {}
        }
        again.session.apply(command);
    }
    while again.session.run().expect("loaded").updates() < original.update {
        again.session.apply(Command::StepUpdate);
        while again.tick() {}
    }
    let again = again.settle();
    assert_eq!((again.trace_hash, again.weights_hash), (original.trace_hash, original.weights_hash));
}

#[test]
fn a_link_written_after_continue_opens_where_it_was_written() {
    let mut long = Bench::load(small(), 0);
    long.session.apply(Command::Run);
    while long.tick() {}
    long.session.apply(Command::Continue);
    while long.session.run().expect("loaded").updates() < 150 {
        long.tick();
    }
    long.session.apply(Command::Pause);
    let long = long.settle().clone();
    let mut opened = Bench::load(small(), long.update);
    let opened = opened.settle();
    assert_eq!((opened.update, opened.budget, &opened.state), (long.update, 8_000, &RunState::Paused));
    assert_eq!(opened.trace_hash, long.trace_hash);
}

#[test]
fn a_finished_run_was_evaluated_at_its_end() {
    let mut spec = small();
    spec.eval_every = 3_000;
    let mut bench = Bench::load(spec, 0);
    bench.session.apply(Command::Run);
    while bench.tick() {}
    bench.settle();
    let curve: Vec<u32> = bench.session.run().expect("loaded").evals.iter().map(|e| e.env_steps).collect();
    assert_eq!(curve, [0, 3_008, 4_000]);
}

#[test]
fn p40_exploring_evaluations_play_every_start_several_times() {
    let mut spec = small();
    spec.eval_policy = EvalChoice::Exploring;
    spec.eval_episodes = 100;
    let mut bench = Bench::load(spec, 0);
    bench.settle();
    let point = &bench.session.run().expect("loaded").evals[0];
    assert_eq!(point.episodes, 112, "the next multiple of 16 cells");
    assert!(point.ci95 > 0.0, "actions are drawn, so the mean has an error");
    let mut greedy = Bench::load(small(), 0);
    greedy.settle();
    let point = &greedy.session.run().expect("loaded").evals[0];
    assert_eq!((point.episodes, point.ci95), (16, 0.0));
}

#[test]
fn an_env_step_is_taken_wherever_the_run_stands() {
    let mut bench = Bench::load(small(), 0);
    bench.lag = SLICE_SECS; // one piece of work a tick
    bench.session.apply(Command::Run);
    for stop in 300..330 {
        for _ in 0..stop % 7 {
            bench.tick();
        }
        let before = bench.session.run().expect("loaded").count(ENV_STEP);
        bench.session.apply(Command::StepEnv);
        assert_eq!(bench.session.run().expect("loaded").count(ENV_STEP), before + 8);
        bench.session.apply(Command::Run);
    }
}

/// The course's free rider with a partner that never moves: the learner walks all the same, pays, and has less.
#[test]
fn a_learner_walks_for_an_idle_partner_and_has_less() {
    let preset = tandem_core::experiment::presets::preset("free_rider_idle").expect("it is in the menu");
    let mut bench = Bench::load(preset.read().spec.clone(), 0);
    bench.session.apply(Command::Run);
    while bench.tick() {}
    let run = bench.session.run().expect("loaded");
    let last = run.evals.last().expect("a finished run was evaluated");
    println!("{} steps, returns {:?}", last.mean, last.returns);
    assert!(last.mean <= 3.1, "{} steps", last.mean);
    assert!(last.returns[0] < last.returns[1], "{:?}", last.returns);
}

/// The rows of a comparison that someone looks at, when there is nothing left to do.
fn teams(bench: &mut Bench) -> Vec<TeamRow> {
    bench.session.apply(Command::Watch(Watch { teams: true, ..Watch::default() }));
    while bench.tick() {}
    bench.now += SNAPSHOT_SECS;
    bench.session.apply(Command::StagePlays(false));
    bench.tick();
    bench.snapshots.last().expect("a snapshot follows every command").teams.clone()
}

/// Mean and half width of a team that has played every episode.
fn played(rows: &[TeamRow], name: TeamName) -> Option<(f32, f32)> {
    let row = rows.iter().find(|row| row.name == name).expect("a row");
    match row.stands {
        TeamStands::Played { episodes: EPISODES, mean, ci95 } => Some((mean, ci95)),
        _ => None,
    }
}

/// Scripts play as soon as someone looks, learners once they are asked for; those of 4×4 need as many env steps as the
/// optimum, and fewer than the independent script by more than both intervals.
#[test]
fn learned_teams_play_the_episodes_of_the_scripts() {
    const LEARNERS: [AlgoChoice; 3] = [AlgoChoice::Iql, AlgoChoice::Qmix, AlgoChoice::Mappo];
    let mut bench = Bench::load(ExperimentSpec::default(), 0);
    let rows = teams(&mut bench);
    let independent = played(&rows, TeamName::Script(Script::Independent)).expect("scripts need no training");
    for algo in LEARNERS {
        assert_eq!(played(&rows, TeamName::Learner(algo)), None, "{algo:?} was not asked for");
    }

    bench.session.apply(Command::TrainTeams(true));
    for _ in 0..3 {
        bench.tick();
    }
    bench.session.apply(Command::TrainTeams(false));
    let stopped = teams(&mut bench);
    assert!(LEARNERS.iter().all(|&algo| played(&stopped, TeamName::Learner(algo)).is_none()), "{stopped:?}");

    bench.session.apply(Command::TrainTeams(true));
    let rows = teams(&mut bench);
    println!("{rows:?}");
    for algo in LEARNERS {
        let (mean, ci95) = played(&rows, TeamName::Learner(algo)).expect("trained and played");
        assert!((mean - 3.0).abs() <= ci95 + 0.1, "{algo:?}: {mean} ± {ci95}");
        assert!(mean + ci95 < independent.0 - independent.1, "{algo:?}: {mean} ± {ci95} against {independent:?}");
    }
    assert_eq!(bench.session.run().expect("loaded").count(ENV_STEP), 0, "the run on the page was not trained");
}

/// The run on the page does not notice a comparison, a run in another world ends it, and what a world cannot have is
/// told.
#[test]
fn a_comparison_touches_no_run_and_ends_with_its_world() {
    let alone = {
        let mut bench = Bench::load(small(), 40);
        bench.settle().trace_hash
    };
    let mut bench = Bench::load(small(), 40);
    bench.session.apply(Command::Watch(Watch { teams: true, ..Watch::default() }));
    bench.session.apply(Command::TrainTeams(true));
    teams(&mut bench);
    assert_eq!(bench.snapshots.last().map(|s| (s.update, s.trace_hash)), Some((40, alone)));

    let other_learner = ExperimentSpec { algo: AlgoChoice::Iql, ..small() };
    bench.session.apply(Command::Load { spec: Box::new(other_learner), run_to: 0 });
    assert!(played(&teams(&mut bench), TeamName::Learner(AlgoChoice::Iql)).is_some(), "the same world keeps it");

    let race = parse("#env=pellet&reward=first&algo=iql&budget=2000").spec;
    bench.session.apply(Command::Load { spec: Box::new(race), run_to: 0 });
    bench.session.apply(Command::Watch(Watch { teams: true, ..Watch::default() }));
    bench.session.apply(Command::TrainTeams(true));
    let rows = teams(&mut bench);
    assert!(played(&rows, TeamName::Learner(AlgoChoice::Iql)).is_some());
    let qmix = rows.iter().find(|row| row.name == TeamName::Learner(AlgoChoice::Qmix)).expect("a row");
    assert!(matches!(qmix.stands, TeamStands::Refused(_)), "{qmix:?}");

    let game = parse("#env=matrix&algo=iql").spec;
    bench.session.apply(Command::Load { spec: Box::new(game), run_to: 0 });
    assert!(teams(&mut bench).is_empty());
}

/// A partner that draws makes an evaluation a sample: many episodes, an interval, and no claim of exactness. One that
/// only idles draws nothing.
#[test]
fn evaluations_with_a_partner_that_draws_are_samples() {
    let first = |link: &str| {
        let mut bench = Bench::load(parse(link).spec, 0);
        bench.settle();
        let run = bench.session.run().expect("loaded");
        (run.facts.exhausted_starts, run.evals[0].episodes, run.evals[0].ci95 > 0.0)
    };
    assert_eq!(first("#env=matrix&algo=iql&seats=learner,uniform"), (0, 100, true));
    assert_eq!(first("#env=matrix&algo=iql&seats=learner,human"), (0, 100, true));
    assert_eq!(first("#env=matrix&algo=iql&seats=learner,frozen"), (1, 1, false));
    assert_eq!(first("#env=pellet&algo=ippo&seats=learner,independent"), (0, 112, true));
    assert_eq!(first("#env=pellet&algo=ippo&seats=learner,idle"), (16, 16, false));
}
