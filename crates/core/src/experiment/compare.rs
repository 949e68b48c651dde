//! Teams beside each other over the same episodes: the course's scripts, and learners trained to be compared.
//!
//! Work of its own beside the run: it reads nothing of it and changes nothing in it. Scripts play at once; learners cost
//! seconds, so they wait until they are asked for.

use std::sync::Arc;

use super::knobs::{forget_unused, normalise};
use super::run::Run;
use super::snapshot::{Sentence, TeamName, TeamRow, TeamStands};
use super::spec::{AlgoChoice, ExperimentSpec};
use super::trial::{EPISODES, ScriptedTeam, Team, Trial};
use super::world;
use crate::base::stats::summary;
use crate::env::api::{Env, StateRef};
use crate::env::script::{SCRIPTS, Turn};
use crate::marl::parts::clock::ENV_STEP;
use crate::marl::probe::{Probe, greedy};

/// Learners that are trained to stand beside the scripts.
pub const LEARNERS: [AlgoChoice; 3] = [AlgoChoice::Iql, AlgoChoice::Qmix, AlgoChoice::Mappo];

/// The teams of one world, seed and budget.
#[derive(Debug)]
pub struct Comparison {
    question: ExperimentSpec,
    env: Arc<dyn Env>,
    trial: Trial,
    entrants: Vec<Entrant>,
}

#[derive(Debug)]
struct Entrant {
    name: TeamName,
    player: Player,
    /// Env steps of each episode played.
    steps: Vec<f64>,
}

#[derive(Debug)]
enum Player {
    Script(ScriptedTeam),
    /// A learner that nobody has asked for.
    Untrained,
    /// A learner that is asked for and not begun: one at a time takes its memory.
    Waiting,
    /// Trains to the end of its budget, then plays.
    Learner(Box<Run>),
    /// A learner that this world cannot have.
    Refused(Sentence),
    /// A learner that has played; its networks are let go.
    Retired,
}

/// Every agent's greedy action, by its own network on its own observation.
impl Team for Run {
    fn act(&mut self, _: &dyn Env, state: StateRef<'_>, _: Turn, actions: &mut [u32]) {
        let probe = Probe { learner: &self.learner, buffers: &self.buffers };
        for ((action, outputs), legal) in actions.iter_mut().zip(probe.outputs(state)).zip(probe.legal(state)) {
            *action = greedy(&outputs, &legal);
        }
    }
}

impl Comparison {
    /// The teams of the world of `spec`; `None` where no team has a script for it.
    pub fn new(spec: &ExperimentSpec) -> Option<Self> {
        let env: Arc<dyn Env> = world::build(spec).ok()?.into();
        let scripts = SCRIPTS.iter().filter(|info| info.is_team);
        let scripted = scripts.filter_map(|info| {
            let player = Player::Script(ScriptedTeam::new(&*env, info.script)?);
            Some(Entrant { name: TeamName::Script(info.script), player, steps: Vec::new() })
        });
        let mut entrants: Vec<Entrant> = scripted.collect();
        if entrants.is_empty() {
            return None;
        }
        let untrained = |algo| Entrant { name: TeamName::Learner(algo), player: Player::Untrained, steps: Vec::new() };
        entrants.extend(LEARNERS.map(untrained));
        Some(Self { question: question(spec), trial: Trial::new(&*env, spec.seed), env, entrants })
    }

    /// Whether these are the teams of the world of `spec`, with its seed and budget.
    pub fn is_about(&self, spec: &ExperimentSpec) -> bool {
        self.question == question(spec)
    }

    /// Trains the learners that have not been trained, or lets go of those that are not finished.
    pub fn train(&mut self, trains: bool) {
        for Entrant { player, steps, .. } in &mut self.entrants {
            match player {
                Player::Untrained if trains => *player = Player::Waiting,
                Player::Waiting | Player::Learner(_) if !trains => {
                    *player = Player::Untrained;
                    steps.clear();
                }
                _ => {}
            }
        }
    }

    /// Whether there is something to do.
    pub fn has_work(&self) -> bool {
        self.entrants.iter().any(|entrant| entrant.player.has_work(entrant.steps.len()))
    }

    /// A small piece of work: an episode, or a piece of a learner's training.
    pub fn work(&mut self) {
        let at_work = |entrant: &&mut Entrant| entrant.player.has_work(entrant.steps.len());
        // Scripts in turn, so that all are shown over as many episodes; then learner after learner.
        let turn = |entrant: &&mut Entrant| matches!(entrant.player, Player::Script(_)).then_some(entrant.steps.len());
        let next = self.entrants.iter_mut().filter(at_work).min_by_key(|entrant| turn(entrant).unwrap_or(usize::MAX));
        let Some(Entrant { name, player, steps }) = next else { return };
        if let (Player::Waiting, TeamName::Learner(algo)) = (&player, name) {
            let run = Run::new(trained(&self.question, *algo), 0);
            *player = run.map_or_else(Player::Refused, |run| Player::Learner(Box::new(run)));
            return;
        }
        let team: &mut dyn Team = match player {
            Player::Script(team) => team,
            Player::Learner(run) if run.end().is_none() => return run.work(),
            Player::Learner(run) => &mut **run,
            Player::Untrained | Player::Waiting | Player::Refused(_) | Player::Retired => return,
        };
        steps.push(f64::from(self.trial.play(&*self.env, steps.len() as u32, team)));
        if matches!(player, Player::Learner(_)) && !player.has_work(steps.len()) {
            *player = Player::Retired;
        }
    }

    /// Where every team stands.
    pub fn rows(&self) -> Vec<TeamRow> {
        self.entrants.iter().map(|entrant| TeamRow { name: entrant.name, stands: entrant.stands() }).collect()
    }
}

impl Player {
    /// Whether it has yet to train or play after `played` episodes.
    fn has_work(&self, played: usize) -> bool {
        matches!(self, Self::Script(_) | Self::Waiting | Self::Learner(_)) && (played as u32) < EPISODES
    }
}

impl Entrant {
    fn stands(&self) -> TeamStands {
        match &self.player {
            Player::Untrained => TeamStands::Untrained,
            Player::Waiting => TeamStands::Waiting,
            Player::Refused(reason) => TeamStands::Refused(reason.clone()),
            Player::Learner(run) if self.steps.is_empty() => {
                TeamStands::Training { env_steps: run.count(ENV_STEP), budget: run.budget }
            }
            _ => summary(&self.steps).map_or(TeamStands::Untrained, |all| TeamStands::Played {
                episodes: self.steps.len() as u32,
                mean: all.mean as f32,
                ci95: all.ci95 as f32,
            }),
        }
    }
}

/// What of an experiment decides the comparison: world, seed, budget.
fn question(spec: &ExperimentSpec) -> ExperimentSpec {
    ExperimentSpec {
        pellet: spec.pellet.clone(),
        seed: spec.seed,
        budget: spec.budget,
        ..ExperimentSpec::defaults(spec.env, AlgoChoice::default())
    }
}

/// A learner with its default settings, whose learning rate falls over the budget where it falls at all.
fn trained(question: &ExperimentSpec, algo: AlgoChoice) -> ExperimentSpec {
    let (pellet, seed, budget) = (question.pellet.clone(), question.seed, question.budget);
    let defaults = ExperimentSpec::defaults(question.env, algo);
    let mut spec = ExperimentSpec { pellet, seed, budget, eval_every: budget, ..defaults };
    if spec.learner.lr_over > 0 {
        spec.learner.lr_over = budget;
    }
    let _told = normalise(&mut spec); // an experiment's numbers are in range; the plan of buffers may be smaller
    forget_unused(&mut spec);
    spec
}
