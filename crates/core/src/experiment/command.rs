//! What a person (or a script) can tell a session. Plain data: it crosses to the worker as bytes and is kept in the
//! command log, so a run is its link plus this log.

use serde::{Deserialize, Serialize};

use super::knobs::{knob, normalise, scale_lr};
use super::spec::{ExperimentSpec, Seats};

/// One instruction. Training commands take effect at the next update and are recorded with its number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Throw the current run away; build `spec`, then run to update `run_to` at full speed (0: stay at update 0) and
    /// pause there.
    Load {
        /// The experiment.
        spec: Box<ExperimentSpec>,
        /// Update to run to before pausing.
        run_to: u32,
    },
    /// Train.
    Run,
    /// Stop training at the next boundary.
    Pause,
    /// One env step of the training environments, then pause.
    StepEnv,
    /// To the next update boundary, then pause.
    StepUpdate,
    /// After *finished* or *goal reached*, and only then: another budget's worth of env steps, or on past the goal.
    Continue,
    /// Training speed.
    Speed(TrainSpeed),
    /// Change a live field; where it is one that trains otherwise, the run is then no longer the link's run.
    Live(LiveChange),
    /// Between updates, of a diverged run or of one that is well: put weights back that were kept, with their moments and
    /// slow copies, and pause. The run is then no longer the link's run.
    TakeWeights(Weights),
    /// A person's action for an agent on the stage, taken at the next env step of its episode.
    Act {
        /// The agent.
        agent: u32,
        /// Its action.
        action: u32,
        /// Episode and env step it is for, as the stage shows them; too late, and nothing happens.
        at: (u32, u32),
    },
    /// Stage speed in env steps per second: 1, 4 or 12.
    StageSpeed(u32),
    /// Whether the stage explores (the behaviour policy) or acts greedily.
    StageExplores(bool),
    /// Begin the stage's next episode now.
    RestartEpisode,
    /// Play or hold the stage (only while it plays its own episodes).
    StagePlays(bool),
    /// Train the learners that stand beside the scripted teams, or stop training them.
    TrainTeams(bool),
    /// Somebody is at the page. Every command says so, too; this one says nothing else.
    Seen,
    /// What the page is looking at; the session computes only that.
    Watch(Watch),
}

/// Weights that a run keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Weights {
    /// Of the best evaluation since the seats last changed; nothing happens where there was none.
    Best,
    /// Of the last update that ended well.
    Last,
}

/// How fast training runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TrainSpeed {
    /// One update a second.
    One,
    /// Ten updates a second.
    Ten,
    /// A hundred updates a second.
    Hundred,
    /// As fast as the processor allows.
    #[default]
    Full,
}

/// A live field and its new value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LiveChange {
    /// Learning rate, constant from now on; the critic's keeps its proportion to it.
    Lr(f32),
    /// ε, constant from now on.
    Epsilon(f32),
    /// Who of the learners and frozen agents learns from now on.
    Seats(Seats),
    /// Headline mean at which an evaluation ends the run from now on, if one does.
    Goal(Option<f32>),
    /// Minutes without anyone at the page after which training pauses; 0 never.
    Idle(u32),
}

impl LiveChange {
    /// The change that makes the live field `key` what it is in `spec`; `None` where no such field is live.
    pub fn of(key: &str, spec: &ExperimentSpec) -> Option<Self> {
        match key {
            "lr" => Some(Self::Lr(spec.learner.lr)),
            "eps" => Some(Self::Epsilon(spec.learner.eps)),
            "seats" => Some(Self::Seats(spec.learner.seats.clone())),
            "stop" | "stop_at" => Some(Self::Goal(spec.goal())),
            "idle" => Some(Self::Idle(spec.idle)),
            _ => None,
        }
    }

    /// Whether its field has an effect in `spec`.
    pub fn applies(&self, spec: &ExperimentSpec) -> bool {
        let key = match self {
            Self::Lr(_) => "lr",
            Self::Epsilon(_) => "eps",
            Self::Seats(_) => "seats",
            Self::Goal(_) => "stop",
            Self::Idle(_) => "idle",
        };
        knob(key).is_some_and(|knob| (knob.applies)(spec))
    }

    /// Whether it changes what is trained, not only how long.
    pub fn trains_otherwise(&self) -> bool {
        !matches!(self, Self::Goal(_) | Self::Idle(_))
    }

    /// Makes the change in `spec`, which then is what the run goes on with, whoever asks: the run, or a page that writes
    /// its link.
    pub fn apply(&self, spec: &mut ExperimentSpec) {
        match self {
            Self::Lr(lr) => {
                scale_lr(spec, f64::from(*lr) / f64::from(spec.learner.lr));
                let l = &mut spec.learner;
                (l.lr, l.lr_end, l.lr_over) = (*lr, *lr, 0);
            }
            Self::Epsilon(eps) => {
                let l = &mut spec.learner;
                (l.eps, l.eps_end, l.eps_over) = (*eps, *eps, 0);
            }
            Self::Seats(seats) => spec.learner.seats.clone_from(seats),
            Self::Goal(goal) => {
                spec.stop = goal.is_some();
                spec.stop_at = goal.unwrap_or(spec.stop_at);
            }
            Self::Idle(minutes) => spec.idle = *minutes,
        }
    }

    /// The same change with its value in the field's range.
    #[must_use]
    pub fn within_range(self) -> Self {
        let mut spec = ExperimentSpec::default();
        match &self {
            Self::Lr(lr) => spec.learner.lr = *lr,
            Self::Epsilon(eps) => spec.learner.eps = *eps,
            Self::Seats(_) => return self, // judged by the run, which knows its world
            Self::Goal(_) | Self::Idle(_) => self.apply(&mut spec),
        }
        let _told = normalise(&mut spec); // the page has said it; here it only makes the number safe
        match self {
            Self::Lr(_) => Self::Lr(spec.learner.lr),
            Self::Epsilon(_) => Self::Epsilon(spec.learner.eps),
            Self::Seats(seats) => Self::Seats(seats),
            Self::Goal(_) => Self::Goal(spec.goal()),
            Self::Idle(_) => Self::Idle(spec.idle),
        }
    }
}

/// What the page shows and therefore needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    /// Agent selected on the stage.
    pub agent: u32,
    /// Pair of agents of the Q_tot surface.
    pub pair: (u32, u32),
    /// Whether the joint values ([`super::snapshot::JointValues`]) are on screen.
    pub joint_values: bool,
    /// Also evaluate the mixer with its weights' signs kept ("show without |·|").
    pub without_abs: bool,
    /// Whether overlays (arrows, Q per action for every cell) are on screen.
    pub overlay: bool,
    /// Whether the comparison of teams ([`super::snapshot::TeamRow`]) is on screen.
    pub teams: bool,
}

impl Default for Watch {
    fn default() -> Self {
        Self { agent: 0, pair: (0, 1), joint_values: true, without_abs: false, overlay: true, teams: false }
    }
}
