//! An experiment that can be ticked: takes [`Command`]s, publishes [`Report`]s, never waits and reads no clock.
//!
//! Two clocks run here. *Training* advances update by update, at full speed in slices or at a chosen pace. *The stage*
//! plays episodes of its own for the eye; when training is paused or slow it shows the training environment itself.
//! Beside them a comparison of teams is worked at, while there is one to work at.

use std::collections::VecDeque;

use super::command::{Command, TrainSpeed, Watch};
use super::compare::Comparison;
use super::knobs::{forget_unused, normalise};
use super::policy;
use super::presence::Presence;
use super::rates::rates;
use super::run::Run;
use super::snapshot::{Report, RunState, Snapshot};
use super::spec::{Controller, ExperimentSpec};
use super::stage::{Counterexample, StagePlay, show_training};
use crate::marl::parts::clock::{ENV_STEP, EPISODES, GRADIENT_STEP, RING_FILL};
use crate::marl::parts::tally::RECENT;

/// Seconds of work per tick: short enough for commands to be felt at once.
pub const SLICE_SECS: f64 = 0.010;
/// Seconds between snapshots while training: numbers alone repaint at most this often.
pub const SNAPSHOT_SECS: f64 = 0.050;
/// A paced run never makes up for more than this many seconds that it missed.
const LARGEST_LAG_SECS: f64 = 0.1;
/// Seconds the end of a stage episode stays in view.
const END_SECS: f64 = 1.0;

/// What the host should do after a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tick {
    /// Tick again at once (after letting messages through).
    pub busy: bool,
    /// Otherwise: seconds until something moves by itself, if anything does.
    pub wake_in: Option<f64>,
}

/// A run and what surrounds it: stage, pacing, reports.
#[derive(Debug, Default)]
pub struct Session {
    run: Option<Run>,
    runs: u32,
    goal: Goal,
    speed: TrainSpeed,
    next_update_at: f64,
    watch: Watch,
    stage: StageClock,
    counterexample: Counterexample,
    comparison: Option<Comparison>,
    reports: Vec<Report>,
    evals_sent: usize,
    changed: bool,
    last_snapshot_at: Option<f64>,
    rates: VecDeque<(f64, u32, u32)>,
    presence: Presence,
    log: Vec<(u32, Command)>,
}

/// What training is to do next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Goal {
    #[default]
    Rest,
    Run,
    /// At full speed until this many updates are finished. A link's `step` is told as a seek; single
    /// updates are not.
    Until {
        update: u32,
        is_seek: bool,
    },
}

#[derive(Debug)]
struct StageClock {
    play: Option<StagePlay>,
    steps_per_sec: u32,
    explores: bool,
    /// Played or held on request; otherwise it follows training.
    plays: Option<bool>,
    next_at: f64,
}

impl Default for StageClock {
    fn default() -> Self {
        Self { play: None, steps_per_sec: 4, explores: false, plays: None, next_at: 0.0 }
    }
}

impl Session {
    /// A session without an experiment; `Command::Load` gives it one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a command.
    pub fn apply(&mut self, command: Command) {
        self.presence.heard(); // whoever commands is there
        match command {
            Command::Seen => return,
            Command::Load { spec, run_to } => self.load(*spec, run_to),
            Command::Run => self.head_for(Goal::Run),
            Command::Pause => self.rest_at_boundary(),
            Command::StepEnv => self.step_env(),
            Command::StepUpdate => {
                let update = match self.goal {
                    Goal::Until { update, is_seek: false, .. } => update,
                    _ => self.run.as_ref().map_or(0, Run::updates),
                };
                self.head_for(Goal::Until { update: update + 1, is_seek: false });
            }
            Command::Continue => {
                let may_go_on = |run: &&mut Run| matches!(run.end(), Some(RunState::Finished | RunState::Reached));
                if let Some(run) = self.run.as_mut().filter(may_go_on) {
                    self.log.push((run.updates(), command));
                    run.go_on();
                    self.head_for(Goal::Run);
                }
            }
            Command::Speed(speed) => self.speed = speed,
            Command::Live(change) => {
                if let Some(run) = &mut self.run
                    && let Some(at) = run.change(change.clone())
                {
                    self.log.push((at, Command::Live(change)));
                }
            }
            Command::Act { agent, action, at } => {
                if let (Some(run), Some(play)) = (&self.run, &mut self.stage.play)
                    && play.choose(run, agent, action, at)
                {
                    self.log.push((run.updates(), command));
                    if !run.facts.flows {
                        self.stage.next_at = 0.0; // the step is the person's, not the pace's
                    }
                }
            }
            Command::TakeWeights(which) => {
                if let Some(run) = &mut self.run
                    && let Some(at) = run.take_weights(which)
                {
                    self.log.push((at, command));
                    self.head_for(Goal::Rest);
                }
            }
            Command::StageSpeed(steps) => self.stage.steps_per_sec = steps.clamp(1, 60),
            Command::StageExplores(explores) => self.stage.explores = explores,
            Command::StagePlays(plays) => self.stage.plays = Some(plays),
            Command::RestartEpisode => {
                if let (Some(run), Some(play)) = (&self.run, &mut self.stage.play) {
                    play.next_episode(run);
                    self.stage.plays = Some(true);
                }
            }
            Command::TrainTeams(trains) => {
                if let Some(comparison) = &mut self.comparison {
                    comparison.train(trains);
                }
            }
            Command::Watch(watch) => {
                self.watch = watch;
                self.compare_teams();
            }
        }
        self.changed = true;
    }

    /// What changed the run besides its link, with the number of updates finished when it took effect: link and log
    /// together are the run.
    pub fn log(&self) -> &[(u32, Command)] {
        &self.log
    }

    /// The run, for tests and tools.
    pub fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    /// Works for about [`SLICE_SECS`] of `clock` (monotonic seconds).
    pub fn tick(&mut self, clock: &mut dyn FnMut() -> f64) -> Tick {
        let now = clock();
        self.pause_alone(now);
        self.train(now, clock);
        self.work_at_comparison(clock);
        self.play(now);
        self.report(clock());
        Tick { busy: self.is_busy(), wake_in: self.wake_in(clock()) }
    }

    /// Reports since the last call, oldest first.
    pub fn take_reports(&mut self) -> Vec<Report> {
        std::mem::take(&mut self.reports)
    }

    fn load(&mut self, mut spec: ExperimentSpec, run_to: u32) {
        let _told = normalise(&mut spec); // the page has said it; here it only makes the numbers safe
        forget_unused(&mut spec); // what a link would not write must not act
        match Run::new(spec, self.runs + 1) {
            Ok(mut new) => {
                // A link written after *continue* names an update beyond one budget.
                let wanted = u64::from(run_to) * u64::from(new.facts.env_steps_per_update);
                new.extend(wanted.saturating_sub(1).div_euclid(u64::from(new.budget)) as u32);
                new.heed_goal_from(run_to); // nor does it end where the goal was reached on the way
                self.runs += 1;
                self.reports.push(Report::Started(Box::new(new.facts.clone())));
                self.stage.play = Some(StagePlay::new(&new));
                self.stage.plays = None;
                self.run = Some(new);
                self.presence.resume();
                self.goal = match run_to {
                    0 => Goal::Rest,
                    update => Goal::Until { update, is_seek: true },
                };
                self.evals_sent = 0;
                self.rates.clear();
                self.log.clear();
                self.compare_teams();
            }
            Err(sentence) => self.reports.push(Report::Refused(sentence)),
        }
    }

    /// The comparison is that of the run's world; one that nobody has looked at is not begun.
    fn compare_teams(&mut self) {
        let Some(run) = &self.run else { return };
        if self.comparison.as_ref().is_some_and(|comparison| !comparison.is_about(&run.spec)) {
            self.comparison = None;
        }
        if self.watch.teams && self.comparison.is_none() {
            self.comparison = Comparison::new(&run.spec);
        }
    }

    /// Training's goal changes; the stage follows training again.
    fn head_for(&mut self, goal: Goal) {
        let ended = self.run.as_ref().is_none_or(|run| run.end().is_some());
        self.goal = if ended { Goal::Rest } else { goal };
        self.presence.resume();
        self.stage.plays = None;
        self.rates.clear();
    }

    /// Training pauses where nobody was heard of for as long as the experiment says.
    fn pause_alone(&mut self, now: f64) {
        self.presence.tick(now);
        let minutes = self.run.as_ref().map_or(0, Run::idle);
        if self.goal == Goal::Run && self.presence.is_alone(now, minutes) {
            self.rest_at_boundary();
            self.presence.miss();
            self.changed = true;
        }
    }

    /// Training stops at update boundaries: one that has begun is completed.
    fn rest_at_boundary(&mut self) {
        let Some(run) = self.run.as_ref().filter(|_| self.goal != Goal::Rest) else { return };
        let update = run.updates() + u32::from(run.is_rolling_out());
        self.head_for(Goal::Until { update, is_seek: false });
    }

    /// One env step of every training environment, after whatever has to be completed before it; where it is the last
    /// of an update, the tick completes the update.
    fn step_env(&mut self) {
        self.head_for(Goal::Rest);
        let Some(run) = self.run.as_mut().filter(|run| run.end().is_none()) else { return };
        while run.is_inside_update() && !run.is_rolling_out() {
            run.work();
        }
        if run.end().is_none() {
            run.work();
        }
    }

    /// Where training stands, as told to the page.
    fn state(&self) -> RunState {
        if let Some(end) = self.run.as_ref().and_then(Run::end) {
            return end;
        }
        match self.goal {
            Goal::Run => RunState::Running,
            Goal::Until { update, is_seek: true, .. } => RunState::Seeking { to: update },
            Goal::Until { .. } | Goal::Rest => RunState::Paused,
        }
    }

    fn is_busy(&self) -> bool {
        self.is_training() || self.compares()
    }

    /// Whether the comparison has work now; while nobody looks at it, training comes first.
    fn compares(&self) -> bool {
        let has_work = self.comparison.as_ref().is_some_and(Comparison::has_work);
        has_work && (self.watch.teams || !self.is_training())
    }

    /// Whether training has work now: what has begun is completed at once even when updates are paced; only between the
    /// env steps of a rollout may a run rest.
    fn is_training(&self) -> bool {
        let Some(run) = &self.run else { return false };
        match self.goal {
            Goal::Rest => run.is_inside_update() && !run.is_rolling_out(),
            Goal::Run => self.speed == TrainSpeed::Full || run.is_inside_update(),
            Goal::Until { .. } => true,
        }
    }

    fn updates_per_sec(&self) -> f64 {
        match self.speed {
            TrainSpeed::One => 1.0,
            TrainSpeed::Ten => 10.0,
            TrainSpeed::Hundred => 100.0,
            TrainSpeed::Full => f64::INFINITY, // a period of 0
        }
    }

    fn train(&mut self, now: f64, clock: &mut dyn FnMut() -> f64) {
        let period = 1.0 / self.updates_per_sec();
        // A tab that slept does not catch up.
        self.next_update_at = self.next_update_at.max(now - LARGEST_LAG_SECS).min(now + period);
        loop {
            let Some(run) = &mut self.run else { return };
            if run.is_inside_update() {
                if self.goal == Goal::Rest && run.is_rolling_out() {
                    return;
                }
            } else {
                match self.goal {
                    Goal::Rest => return,
                    _ if run.end().is_some() => self.goal = Goal::Rest,
                    Goal::Until { update, .. } if run.updates() >= update => self.goal = Goal::Rest,
                    Goal::Run if now < self.next_update_at => return,
                    Goal::Run => self.next_update_at += period,
                    Goal::Until { .. } => {}
                }
            }
            self.changed = true;
            if self.goal != Goal::Rest || run.is_inside_update() {
                run.work();
            }
            if clock() - now >= SLICE_SECS {
                return;
            }
        }
    }

    fn work_at_comparison(&mut self, clock: &mut dyn FnMut() -> f64) {
        if !self.compares() {
            return;
        }
        let Some(comparison) = &mut self.comparison else { return };
        let began = clock();
        while comparison.has_work() && clock() - began < SLICE_SECS {
            comparison.work();
            self.changed |= self.watch.teams;
        }
    }

    /// Whether the stage plays episodes of its own now (rather than showing the training environment).
    fn plays_own(&self) -> bool {
        let untouched = self.run.as_ref().is_none_or(|run| run.count(ENV_STEP) == 0);
        match self.state() {
            RunState::Running => self.speed == TrainSpeed::Full,
            RunState::Seeking { .. } | RunState::Finished | RunState::Reached | RunState::Diverged { .. } => true,
            // Whoever has a seat plays on the stage, not in training.
            RunState::Paused => untouched || self.stage.plays.is_some() || self.has_person(),
        }
    }

    /// Whether an episode of the stage's own goes on by itself.
    fn is_playing(&self) -> bool {
        self.plays_own() && self.stage.plays != Some(false) && !self.is_awaited()
    }

    /// Whether a person has a seat.
    fn has_person(&self) -> bool {
        let seats = self.run.as_ref().map(|run| &run.learner.settings.seats);
        seats.is_some_and(|seats| seats.list.iter().any(|seat| matches!(seat, Controller::Human(_))))
    }

    /// Whether the episode on stage waits for a person: for a move, or at the end of a game, which is looked at until
    /// another is asked for.
    fn is_awaited(&self) -> bool {
        let on_stage = self.run.as_ref().zip(self.stage.play.as_ref());
        on_stage.is_some_and(|(run, play)| {
            let is_game_over = play.has_ended() && run.facts.in_turns && self.has_person();
            is_game_over || !play.waiting(run).is_empty()
        })
    }

    fn play(&mut self, now: f64) {
        if let (Some(run), Some(play)) = (&self.run, &mut self.stage.play) {
            self.changed |= play.welcome(run);
        }
        if !self.is_playing() {
            return;
        }
        let (Some(run), Some(play)) = (&self.run, &mut self.stage.play) else { return };
        if now < self.stage.next_at {
            return;
        }
        let pace = 1.0 / f64::from(self.stage.steps_per_sec);
        if play.has_ended() {
            play.next_episode(run);
        } else {
            play.step(run, self.stage.explores);
        }
        self.stage.next_at = now + if play.has_ended() { pace.max(END_SECS) } else { pace };
        self.changed = true;
    }

    fn wake_in(&self, now: f64) -> Option<f64> {
        self.run.as_ref()?;
        let mut at = f64::INFINITY;
        if self.is_playing() {
            at = at.min(self.stage.next_at);
        }
        if self.goal == Goal::Run && self.speed != TrainSpeed::Full {
            at = at.min(self.next_update_at);
        }
        if self.changed {
            at = at.min(self.last_snapshot_at.map_or(now, |last| last + SNAPSHOT_SECS));
        }
        at.is_finite().then_some((at - now).max(0.0))
    }

    fn report(&mut self, now: f64) {
        let due = self.last_snapshot_at.is_none_or(|last| now - last >= SNAPSHOT_SECS);
        if !self.changed || !due || self.run.is_none() {
            return;
        }
        let snapshot = self.snapshot(now);
        self.evals_sent = self.run.as_ref().map_or(0, |run| run.evals.len());
        self.reports.push(Report::Snapshot(Box::new(snapshot)));
        self.changed = false;
        self.last_snapshot_at = Some(now);
    }

    fn snapshot(&mut self, now: f64) -> Snapshot {
        let state = self.state();
        let run = self.run.as_ref().expect("report() asks only with a run");
        let (updates_per_sec, env_steps_per_sec) = rates(&mut self.rates, now, run, &state);
        let play = self.stage.play.as_ref().filter(|_| self.plays_own());
        let (mut stage, joint) = match play {
            Some(play) => play.show(run, &self.watch, self.stage.explores, &mut self.counterexample),
            None => show_training(run, &self.watch, &mut self.counterexample),
        };
        stage.plays = self.is_playing();
        let losses = run.loss_and_norm();
        let n = run.facts.num_agents as usize;
        let recent = run.buffers.read(run.learner.tally.recent);
        let kept = run.count(EPISODES).min(RECENT) as usize;
        let mean_return = |i: usize| recent.iter().skip(i).step_by(n).take(kept).sum::<f32>() / kept as f32;
        Snapshot {
            run: run.facts.run,
            state,
            update: run.updates(),
            gradient_steps: run.count(GRADIENT_STEP),
            env_steps: run.count(ENV_STEP),
            budget: run.budget,
            trace_hash: run.trace,
            trace_at: run.updates() * run.facts.env_steps_per_update,
            weights_hash: (self.goal == Goal::Rest && !run.is_inside_update()).then(|| run.weights_hash()),
            updates_per_sec,
            env_steps_per_sec,
            epsilon: run.epsilon(),
            lr: run.lr(),
            loss: losses.map(|l| l.0),
            grad_norm: losses.map(|l| l.1),
            replay: run.learner.replay().map_or((0, 0), |replay| (run.count(RING_FILL), replay.ring.count)),
            policy: policy::told(&run.learner, &run.buffers),
            changed_at: run.changed_at,
            weights_of: run.weights_of,
            kept: run.diverged.is_some().then(|| run.kept()),
            peak: run.end().and_then(|_| run.peak()),
            is_idle: self.presence.is_missed(),
            evals_from: self.evals_sent as u32,
            evals: run.evals[self.evals_sent..].to_vec(),
            train_returns: if kept > 0 { (0..n).map(mean_return).collect() } else { Vec::new() },
            stage,
            joint,
            teams: self.comparison.iter().filter(|_| self.watch.teams).flat_map(Comparison::rows).collect(),
            ladder: run.ladder().filter(|_| self.watch.teams),
            speed: self.speed,
        }
    }
}
