//! An experiment that can be ticked: takes [`Command`]s, publishes [`Report`]s, never waits and reads no clock.
//!
//! Two clocks run here. *Training* advances update by update, at full speed in slices or at a chosen pace. *The stage*
//! plays episodes of its own for the eye; when training is paused or slow it shows the training environment itself.

use std::collections::VecDeque;

use super::command::{Command, TrainSpeed, Watch};
use super::knobs::{forget_unused, normalise};
use super::run::Run;
use super::snapshot::{Report, RunState, Sentence, Snapshot};
use super::spec::ExperimentSpec;
use super::stage::{StagePlay, show_training};
use crate::marl::parts::clock::{ENV_STEP, EPISODES, GRADIENT_STEP, LR_NOW, RING_FILL};
use crate::marl::parts::world::RECENT;

/// Seconds of work per tick: short enough for commands to be felt at once.
pub const SLICE_SECS: f64 = 0.010;
/// Seconds between snapshots while training: numbers alone repaint at most this often.
pub const SNAPSHOT_SECS: f64 = 0.050;
/// A paced run never makes up for more than this many seconds that it missed.
const LARGEST_LAG_SECS: f64 = 0.1;
/// Seconds the end of a stage episode stays in view.
const END_SECS: f64 = 1.0;
/// Seconds over which rates are measured.
const RATE_SECS: f64 = 1.0;

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
    state: RunState,
    /// Whether to go on running once a seek has arrived.
    run_after_seek: bool,
    /// Updates to complete before resting.
    updates_owed: u32,
    speed: TrainSpeed,
    next_update_at: f64,
    watch: Watch,
    stage: StageClock,
    reports: Vec<Report>,
    evals_sent: usize,
    changed: bool,
    last_snapshot_at: Option<f64>,
    rates: VecDeque<(f64, u32, u32)>,
    log: Vec<(u32, Command)>,
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
        let update = self.run.as_ref().map_or(0, Run::updates);
        if !matches!(command, Command::Load { .. } | Command::Watch(_)) {
            self.log.push((update, command.clone()));
        }
        match command {
            Command::Load { spec, run_to, run } => self.load(*spec, run_to, run),
            Command::Restart => {
                if let Some(run) = &self.run {
                    let spec = run.spec.clone();
                    self.load(spec, 0, false);
                }
            }
            Command::Run => self.set_running(),
            Command::Pause => self.pause(),
            Command::StepEnv => self.step_env(),
            Command::StepUpdate => self.owe_updates(self.updates_owed + 1),
            Command::Continue => {
                if let Some(run) = &mut self.run {
                    run.budget = run.budget.saturating_add(run.spec.budget);
                }
                self.set_running();
            }
            Command::Speed(speed) => self.speed = speed,
            Command::Live(change) => {
                if let Some(run) = &mut self.run {
                    run.change(change);
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
            Command::Watch(watch) => self.watch = watch,
        }
        self.changed = true;
    }

    /// Commands of the current run with the update they came at: link and log together are the run.
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
        self.train(now, clock);
        self.play(now);
        self.report(clock());
        Tick { busy: self.is_busy(), wake_in: self.wake_in(clock()) }
    }

    /// Reports since the last call, oldest first.
    pub fn take_reports(&mut self) -> Vec<Report> {
        std::mem::take(&mut self.reports)
    }

    fn load(&mut self, mut spec: ExperimentSpec, run_to: u32, run: bool) {
        let _told = normalise(&mut spec); // the page has said it; here it only makes the numbers safe
        forget_unused(&mut spec); // what a link would not write must not act
        match Run::new(spec, self.runs + 1) {
            Ok(new) => {
                self.runs += 1;
                self.reports.push(Report::Started(Box::new(new.facts.clone())));
                self.stage.play = Some(StagePlay::new(&new));
                self.stage.plays = None;
                self.run = Some(new);
                self.run_after_seek = run;
                self.state = match (run_to, run) {
                    (0, false) => RunState::Paused,
                    (0, true) => RunState::Running,
                    (to, _) => RunState::Seeking { to },
                };
                self.updates_owed = 0;
                self.evals_sent = 0;
                self.rates.clear();
                self.log.clear();
            }
            Err(sentence) => self.refuse(sentence),
        }
    }

    fn refuse(&mut self, sentence: Sentence) {
        self.reports.push(Report::Refused(sentence));
    }

    fn set_running(&mut self) {
        if let Some(run) = &self.run {
            self.state = run.end().unwrap_or(RunState::Running);
            self.updates_owed = 0;
            self.stage.plays = None;
            self.rates.clear();
        }
    }

    /// Training stops at update boundaries: one that has begun is completed.
    fn pause(&mut self) {
        if matches!(self.state, RunState::Running | RunState::Seeking { .. }) {
            self.owe_updates(u32::from(self.run.as_ref().is_some_and(Run::is_inside_update)));
        }
    }

    /// Completes `updates` updates (one that has begun counts as the first), then rests.
    fn owe_updates(&mut self, updates: u32) {
        if let Some(run) = &self.run {
            self.state = run.end().unwrap_or(RunState::Paused);
            self.updates_owed = if self.state == RunState::Paused { updates } else { 0 };
            self.stage.plays = None;
        }
    }

    /// One env step of every training environment; where it is the last of an update, the rest of the update too.
    fn step_env(&mut self) {
        self.owe_updates(self.updates_owed);
        let Some(run) = self.run.as_mut().filter(|run| run.end().is_none()) else { return };
        run.work();
        if !run.is_rolling_out() {
            self.updates_owed += u32::from(run.is_inside_update());
        }
    }

    /// Whether there is work now: an update that has begun is completed at once even when updates are paced.
    fn is_busy(&self) -> bool {
        let begun = self.run.as_ref().is_some_and(Run::is_inside_update);
        self.is_at_full_speed() || (self.state == RunState::Running && begun)
    }

    fn is_at_full_speed(&self) -> bool {
        match self.state {
            RunState::Running => self.speed == TrainSpeed::Full,
            RunState::Seeking { .. } => true,
            _ => self.updates_owed > 0,
        }
    }

    fn updates_per_sec(&self) -> f64 {
        match self.speed {
            TrainSpeed::One => 1.0,
            TrainSpeed::Ten => 10.0,
            TrainSpeed::Hundred => 100.0,
            TrainSpeed::Full => f64::INFINITY,
        }
    }

    fn train(&mut self, now: f64, clock: &mut dyn FnMut() -> f64) {
        let full = self.is_at_full_speed();
        let period = 1.0 / self.updates_per_sec();
        let Some(run) = &mut self.run else { return };
        if !full && self.state != RunState::Running {
            return;
        }
        // A tab that slept does not catch up.
        self.next_update_at = self.next_update_at.max(now - LARGEST_LAG_SECS).min(now + period);
        loop {
            if !run.is_inside_update() {
                if let Some(end) = run.end() {
                    (self.state, self.updates_owed) = (end, 0);
                    self.changed = true; // the slice before may have told of the last update already
                    break;
                }
                match self.state {
                    RunState::Seeking { to } if run.updates() >= to => {
                        self.state = if self.run_after_seek { RunState::Running } else { RunState::Paused };
                        self.changed = true;
                        break;
                    }
                    RunState::Running if !full => {
                        if now < self.next_update_at {
                            break;
                        }
                        self.next_update_at += period;
                    }
                    RunState::Paused if self.updates_owed == 0 => break,
                    _ => {}
                }
            }
            run.work();
            self.changed = true;
            if self.state == RunState::Paused && !run.is_inside_update() {
                self.updates_owed -= 1;
            }
            if clock() - now >= SLICE_SECS {
                break;
            }
        }
    }

    /// Whether the stage plays episodes of its own now (rather than showing the training environment).
    fn plays_own(&self) -> bool {
        let untouched = self.run.as_ref().is_none_or(|run| run.count(ENV_STEP) == 0 && !run.is_inside_update());
        match self.state {
            RunState::Running => self.speed == TrainSpeed::Full,
            RunState::Seeking { .. } | RunState::Finished | RunState::Diverged { .. } => true,
            RunState::Paused => untouched || self.stage.plays == Some(true),
        }
    }

    fn play(&mut self, now: f64) {
        if !self.plays_own() || self.stage.plays == Some(false) {
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
        if self.plays_own() && self.stage.plays != Some(false) {
            at = at.min(self.stage.next_at);
        }
        if self.state == RunState::Running && self.speed != TrainSpeed::Full {
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
        let run = self.run.as_ref().expect("report() asks only with a run");
        let (updates_per_sec, env_steps_per_sec) = rates(&mut self.rates, now, run, &self.state);
        let play = self.stage.play.as_ref().filter(|_| self.plays_own());
        let (stage, joint) = match play {
            Some(play) => play.show(run, &self.watch, self.stage.explores),
            None => show_training(run, &self.watch),
        };
        let scalars = run.buffers.read(run.learner.clock.scalars);
        let losses = run.loss_and_norm();
        let resting = !matches!(self.state, RunState::Running | RunState::Seeking { .. });
        let n = run.facts.num_agents as usize;
        let recent = run.buffers.read(run.learner.tally.recent);
        let episodes = run.count(EPISODES);
        let kept = episodes.min(RECENT) as usize;
        let mean_return = |i: usize| recent.iter().skip(i).step_by(n).take(kept).sum::<f32>() / kept as f32;
        Snapshot {
            run: run.facts.run,
            state: self.state.clone(),
            update: run.updates(),
            gradient_steps: run.count(GRADIENT_STEP),
            env_steps: run.count(ENV_STEP),
            budget: run.budget,
            episodes,
            trace_hash: run.trace,
            weights_hash: (resting && !run.is_inside_update()).then(|| run.weights_hash()),
            updates_per_sec,
            env_steps_per_sec,
            epsilon: run.epsilon(),
            lr: if losses.is_some() { scalars[LR_NOW] } else { run.spec.learner.lr },
            loss: losses.map(|l| l.0),
            grad_norm: losses.map(|l| l.1),
            replay: (run.count(RING_FILL), run.spec.learner.buffer),
            changed_at: run.changed_at,
            evals_from: self.evals_sent as u32,
            evals: run.evals[self.evals_sent..].to_vec(),
            train_returns: if kept > 0 { (0..n).map(mean_return).collect() } else { Vec::new() },
            stage,
            joint,
            speed: self.speed,
        }
    }
}

/// Updates and env steps per second over the last second; 0 while nothing trains.
fn rates(samples: &mut VecDeque<(f64, u32, u32)>, now: f64, run: &Run, state: &RunState) -> (f32, f32) {
    if !matches!(state, RunState::Running | RunState::Seeking { .. }) {
        samples.clear();
        return (0.0, 0.0);
    }
    samples.push_back((now, run.updates(), run.count(ENV_STEP)));
    while samples.len() > 2 && now - samples[1].0 >= RATE_SECS {
        samples.pop_front();
    }
    let (then, updates, env_steps) = samples[0];
    let secs = now - then;
    if secs <= 0.0 {
        return (0.0, 0.0);
    }
    let per_sec = |after: u32, before: u32| (f64::from(after.saturating_sub(before)) / secs) as f32;
    (per_sec(run.updates(), updates), per_sec(run.count(ENV_STEP), env_steps))
}
