//! What a session tells the page: plain numbers, computed in the session, drawn by the views.

use serde::{Deserialize, Serialize};

use super::ladder::Standings;
use super::spec::AlgoChoice;
use crate::env::api::{Frame, Headline, Label, Mix, Role};
use crate::env::script::{Foreseen, Script};

/// A message from the session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Report {
    /// A run was built: its fixed facts. Everything of the earlier run is void.
    Started(Box<Facts>),
    /// The newest state of affairs. Only the newest matters, except that `evals` must be appended.
    Snapshot(Box<Snapshot>),
    /// `Load` could not be carried out; the earlier run goes on. A text id and its arguments.
    Refused(Sentence),
}

/// A sentence for a person: an id of the text table and its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentence {
    /// Text id.
    pub id: String,
    /// Arguments, by position (`{0}`, `{1}`, …).
    pub args: Vec<String>,
}

impl Sentence {
    /// The sentence `id` about `args`.
    #[must_use]
    pub fn new(id: &str, args: &[&str]) -> Self {
        Self { id: id.to_owned(), args: args.iter().map(|&arg| arg.to_owned()).collect() }
    }
}

/// Facts of a run that never change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Number of this run in its session, from 1.
    pub run: u32,
    /// n.
    pub num_agents: u32,
    /// |A|.
    pub num_actions: u32,
    /// The kinds of agents: names of their actions and of what they observe.
    pub roles: Vec<Role>,
    /// Each agent's kind, an index of `roles` `[n]`.
    pub role_of: Vec<u32>,
    /// Whether one agent moves in each env step.
    pub in_turns: bool,
    /// Whether the world goes on while nobody acts.
    pub flows: bool,
    /// Text id of each of the reward's parts.
    pub part_names: Vec<String>,
    /// Weight of each part in an agent's reward.
    pub part_weights: Vec<f32>,
    /// The two parts that α mixes, where there are such.
    pub mix: Option<Mix>,
    /// The action that does nothing, where there is one.
    pub idle_action: Option<u32>,
    /// The measure an episode is judged by.
    pub headline: Headline,
    /// Lower headline is better (steps), else higher (return).
    pub lower_is_better: bool,
    /// Time limit, env steps.
    pub max_steps: u32,
    /// The best possible headline mean, in its unit, if known.
    pub optimum: Option<Optimum>,
    /// Each observation determines the state.
    pub obs_determines_state: bool,
    /// Starts that every evaluation plays once each, nothing being drawn; 0 where its episodes are a sample.
    pub exhausted_starts: u32,
    /// Parameters of all agents' networks.
    pub agent_parameters: u32,
    /// Parameters of the mixer, 0 without one.
    pub mixer_parameters: u32,
    /// Parameters of the critic, 0 without one.
    pub critic_parameters: u32,
    /// Numbers the critic reads at once, 0 without one.
    pub critic_inputs: u32,
    /// Whether agents follow a stochastic policy trained by its gradient, rather than Q values.
    pub is_policy_gradient: bool,
    /// Env steps per update.
    pub env_steps_per_update: u32,
    /// Env steps after which the run is finished (grows with `Continue`, see the snapshot).
    pub budget: u32,
}

impl Facts {
    /// What `agent` shares with its kind; `None` of an agent that there is not.
    #[must_use]
    pub fn role(&self, agent: u32) -> Option<&Role> {
        self.roles.get(*self.role_of.get(agent as usize)? as usize)
    }

    /// Name of an agent's action.
    #[must_use]
    pub fn action(&self, agent: u32, action: u32) -> Option<&Label> {
        self.role(agent)?.actions.get(action as usize)
    }
}

/// A searched optimum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Optimum {
    /// In the headline's unit.
    pub value: f32,
    /// Whether it is exact for the start distribution (else over a fixed sample of starts).
    pub exact: bool,
    /// Whether agents see less than the search did ("optimum with full information").
    pub full_information: bool,
}

/// Where training stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum RunState {
    /// Waiting for Run.
    #[default]
    Paused,
    /// Training.
    Running,
    /// Running at full speed to the update a link names.
    Seeking {
        /// That update.
        to: u32,
    },
    /// The budget is used up.
    Finished,
    /// An evaluation was as good as the goal.
    Reached,
    /// A number left the finite range, or a norm every reasonable one; the weights are those of the update before.
    Diverged {
        /// Name of the first bad tensor.
        tensor: String,
        /// What is wrong with it.
        cause: Cause,
        /// Update at which it was found.
        update: u32,
    },
}

/// What divergence was seen by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// NaN or infinity.
    NotFinite,
    /// A gradient norm above [`LARGEST_GRADIENT`](super::divergence::LARGEST_GRADIENT).
    Gradient,
    /// A norm of parameters above [`LARGEST_WEIGHTS`](super::divergence::LARGEST_WEIGHTS).
    Weights,
}

/// The state of affairs at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Run this belongs to ([`Facts::run`]).
    pub run: u32,
    /// Where training stands.
    pub state: RunState,
    /// Updates done.
    pub update: u32,
    /// Gradient steps done.
    pub gradient_steps: u32,
    /// Env steps done (all environments together).
    pub env_steps: u32,
    /// Env steps at which the run finishes.
    pub budget: u32,
    /// Trace hash after the updates done.
    pub trace_hash: [u32; 2],
    /// Env step it stands at: that of the last update boundary.
    pub trace_at: u32,
    /// Hash of all parameters' bits; computed when paused or finished.
    pub weights_hash: Option<[u32; 2]>,
    /// Measured over the last second; 0 when paused.
    pub updates_per_sec: f32,
    /// Measured over the last second; 0 when paused.
    pub env_steps_per_sec: f32,
    /// ε now.
    pub epsilon: f32,
    /// Learning rate now.
    pub lr: f32,
    /// TD loss of the last gradient step, if any.
    pub loss: Option<f32>,
    /// Gradient norm before clipping of the last gradient step, if any.
    pub grad_norm: Option<f32>,
    /// Segments in the replay ring, and its capacity; (0, 0) without one.
    pub replay: (u32, u32),
    /// How the policy moved in the newest pass over a rollout; `None` for value-based learners and before the first.
    pub policy: Option<PolicyStats>,
    /// Update of the first live change, if any.
    pub changed_at: Option<u32>,
    /// Update whose weights were put back, until the next update is finished.
    pub weights_of: Option<u32>,
    /// After divergence: the updates whose weights can be put back, the best by evaluation (if there was one since the seats
    /// last changed) and the last good one.
    pub kept: Option<(Option<u32>, u32)>,
    /// After the end, where the last evaluation is worse than the best: that one, whose weights can be put back.
    pub peak: Option<Peak>,
    /// Whether training paused by itself, for nobody was at the page, and was not told to go on since.
    pub is_idle: bool,
    /// Index of `evals[0]` in the run's curve.
    pub evals_from: u32,
    /// Evaluation points since the last snapshot (all of them in the first one).
    pub evals: Vec<EvalPoint>,
    /// Newest mean training return per agent over recent episodes, raw and undiscounted.
    pub train_returns: Vec<f32>,
    /// The stage.
    pub stage: Stage,
    /// Joint values of the state on stage, if watched and the algorithm has them.
    pub joint: Option<JointValues>,
    /// Teams compared over the same episodes, if watched and the world has such teams.
    pub teams: Vec<TeamRow>,
    /// Snapshots of the learner against each other, where the Teams view is watched and a board is learned by self-play.
    pub ladder: Option<Standings>,
    /// Speed as last commanded.
    pub speed: super::command::TrainSpeed,
}

/// An evaluation better than the last.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    /// Updates done then.
    pub update: u32,
    /// Its headline mean.
    pub mean: f32,
}

/// How a policy moved in the newest pass over a rollout. Ratios are r = π(a|o) / π_old(a|o), each as its gradient step
/// found it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PolicyStats {
    /// Number of ratios in 32 equal bins over 0.5 ..= 1.5; the outermost bins hold what lies beyond.
    pub histogram: Vec<u32>,
    /// Clip range ε: the band is 1 − ε ..= 1 + ε.
    pub clip: f32,
    /// Share of ratios outside the band.
    pub clip_fraction: f32,
    /// Mean of (r − 1) − ln r: an estimate of KL(π_old ‖ π), in nats.
    pub kl: f32,
    /// Mean entropy of the policies, in nats.
    pub entropy: f32,
    /// Mean squared error of the critic on its own scale, if there is a critic.
    pub value_loss: Option<f32>,
    /// Share of the returns' variance that the critic knew before it learned from them; 1 is all, 0 none.
    pub explained_variance: Option<f32>,
}

/// One evaluation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EvalPoint {
    /// Env step it stands at.
    pub env_steps: u32,
    /// Updates done then.
    pub update: u32,
    /// Headline: mean over its episodes.
    pub mean: f32,
    /// Smallest and largest headline over its episodes.
    pub min: f32,
    /// See `min`.
    pub max: f32,
    /// Half width of the 95 % interval of the mean over its episodes (0 where every start is played once and nothing is
    /// drawn).
    pub ci95: f32,
    /// Mean undiscounted return of each agent.
    pub returns: Vec<f32>,
    /// Mean per episode of each agent's raw reward parts, `[n, parts]`.
    pub parts: Vec<f32>,
    /// How the policy had moved in the update before, see [`Snapshot::policy`].
    pub policy: Option<PolicyStats>,
    /// Games against scripts, where agents move in turns.
    pub matches: Vec<MatchResult>,
    /// Share of episodes that ended by themselves (not by the time limit).
    pub solved: f32,
    /// Episodes.
    pub episodes: u32,
}

/// How the greedy network of one seat fared against a script in the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchResult {
    /// The script.
    pub opponent: Script,
    /// Who played with the network: agent 0 begins.
    pub seat: u32,
    /// Games won.
    pub won: u32,
    /// Games drawn.
    pub drawn: u32,
    /// Games lost.
    pub lost: u32,
}

/// In place of an action that there is not.
pub const NO_ACTION: u32 = u32::MAX;

/// What the stage shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// The picture; `None` before the first one.
    pub frame: Option<Frame>,
    /// Whether it is the training environment itself (paused or slow) rather than an episode of the stage's own.
    pub is_training_env: bool,
    /// Which environment of the batch, when it is the training environment.
    pub env_index: u32,
    /// Episode number.
    pub episode: u32,
    /// Env steps taken in it.
    pub step: u32,
    /// Update whose weights act.
    pub weights_update: u32,
    /// Whether it explores.
    pub explores: bool,
    /// Whether an episode of its own goes on by itself; false while it is held and where training moves it.
    pub plays: bool,
    /// The episode is over; the next begins shortly.
    pub ended: bool,
    /// Last joint action, `[n]`; empty at the start of an episode.
    pub actions: Vec<u32>,
    /// Which of these were exploratory (not greedy), `[n]`.
    pub explored: Vec<bool>,
    /// Rewards of the last env step, `[n]`.
    pub rewards: Vec<f32>,
    /// Undiscounted return so far in this episode, `[n]`.
    pub returns: Vec<f32>,
    /// What its env steps have paid, part by part.
    pub paid: Paid,
    /// Agents whose action a person has yet to choose; the episode waits for them.
    pub waiting: Vec<u32>,
    /// What people have chosen, `[n]`; empty where the training environment is shown.
    pub chosen: Vec<Option<u32>>,
    /// Who is to move where agents move in turns and the game is not over.
    pub to_move: Option<u32>,
    /// Where agents move in turns: what the one to move holds of its moves, or else the one that moved last before it did.
    pub thought: Option<Thought>,
    /// Observation of each agent, `[n][obs_len]`.
    pub observations: Vec<Vec<f32>>,
    /// Global state vector.
    pub state: Vec<f32>,
    /// Q_i(o_i, ·) of a value-based learner (a utility under VDN and QMIX), π_i(·|o_i) of a policy-gradient one,
    /// `[n][|A|]`.
    pub per_action: Vec<Vec<f32>>,
    /// The critic's values at this state, in the rewards' unit: V_i(o_i) or V_i(s) of each agent, or V(s) of the team
    /// (one number); empty without a critic.
    pub values: Vec<f32>,
    /// Legal actions, `[n][|A|]`.
    pub legal: Vec<Vec<bool>>,
    /// Greedy action of each agent, [`NO_ACTION`] of one without a network.
    pub greedy: Vec<u32>,
    /// The same of the watched agent for every grid cell it could stand at, `[cells][|A|]`; empty rows for walls and pellet
    /// cells; empty where there is no grid or no overlay is watched.
    pub overlay: Vec<Vec<f32>>,
    /// The agent that `overlay` belongs to.
    pub overlay_agent: u32,
    /// Action frequencies of each agent in recent training, `[n][|A|]`, for the margins of a payoff table.
    pub frequencies: Vec<Vec<f32>>,
}

/// What an agent held of its moves when it was its turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Thought {
    /// Whose turn it was.
    pub agent: u32,
    /// Whether it has moved since.
    pub is_past: bool,
    /// As [`Stage::per_action`]; empty of a script.
    pub per_action: Vec<f32>,
    /// What a script that looks ahead saw behind each move `[|A|]`; empty of others.
    pub foreseen: Vec<Option<Foreseen>>,
    /// Which moves were legal `[|A|]`.
    pub legal: Vec<bool>,
}

/// Raw reward parts of an episode, env step by env step: the newest ones where it is long.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Paid {
    /// The episode's number, as [`Stage::episode`]; in the training environment the one that has just ended stays until
    /// the next takes its first env step, or nobody would see what its last one paid.
    pub episode: u32,
    /// Whether it is over.
    pub ended: bool,
    /// Env steps before the first one kept.
    pub from: u32,
    /// `[env steps kept, n, parts]`.
    pub parts: Vec<f32>,
}

/// Q_tot at the state on stage, over the joint actions of a pair of agents (others at their greedy actions).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JointValues {
    /// The pair (i, j); rows of `table` are i's actions, columns j's.
    pub pair: (u32, u32),
    /// Whether the mixer is the sum (VDN), so that the surface is a plane by construction.
    pub is_sum: bool,
    /// The mixer's values.
    pub learned: Mixed,
    /// The same weights with their signs kept, if watched.
    pub without_abs: Option<Mixed>,
    /// A state (its frame) at which the mixer without |·| breaks IGM, and the joint values there, if one was found.
    pub counterexample: Option<(Frame, Mixed)>,
    /// Exact joint action values `[|A|, |A|]`, where known (matrix and two-step games).
    pub exact: Option<Vec<f32>>,
    /// Share of the states of the stage's episode so far at which IGM holds, and their number.
    pub igm_share: (f32, u32),
}

/// A joint value function at one state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mixed {
    /// Q_tot of each joint action of the pair, `[|A|, |A|]`; NaN never occurs, illegal ones are absent in `legal`.
    pub table: Vec<f32>,
    /// Whether the joint action is legal, `[|A|, |A|]`.
    pub legal: Vec<bool>,
    /// Utilities of agent i's and agent j's actions, `[|A|]` each: the dots' coordinates.
    pub utilities: (Vec<f32>, Vec<f32>),
    /// Range of Q_i (x axis) and of Q_j (y axis) the surface covers.
    pub x: (f32, f32),
    /// See `x`.
    pub y: (f32, f32),
    /// Points per side.
    pub points: u32,
    /// Q_tot over the grid, `[points, points]`, row = y index.
    pub surface: Vec<f32>,
    /// Largest distance from the best plane, in per cent of the surface's range.
    pub bend: f32,
    /// Individual argmaxes (i, j).
    pub greedy: (u32, u32),
    /// A joint action of largest Q_tot.
    pub best: (u32, u32),
    /// Q_tot at the individual argmaxes equals the largest Q_tot within 1e-5 of the range.
    pub igm: bool,
    /// Number of joint actions enumerated for the verdict; less than |A|^n where only the pair was.
    pub enumerated: u32,
    /// Whether all joint actions were enumerated.
    pub complete: bool,
}

/// A team of a comparison. All play the same [`super::trial::EPISODES`] episodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TeamRow {
    /// Who.
    pub name: TeamName,
    /// How it stands.
    pub stands: TeamStands,
}

/// Who plays for a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TeamName {
    /// Every agent this script.
    Script(Script),
    /// Every agent a learner of this algorithm, acting greedily.
    Learner(AlgoChoice),
}

/// Where a team stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TeamStands {
    /// Nobody has asked for it.
    Untrained,
    /// Asked for, not begun.
    Waiting,
    /// This world cannot have it, and why.
    Refused(Sentence),
    /// Learns.
    Training {
        /// Env steps done.
        env_steps: u32,
        /// Env steps at which it begins to play.
        budget: u32,
    },
    /// Has played.
    Played {
        /// Episodes so far.
        episodes: u32,
        /// Mean env steps of an episode.
        mean: f32,
        /// Half width of the mean's 95 % interval over episodes.
        ci95: f32,
    },
}
