//! What a learner can be told: plain data, named once, used by the algorithms and by the experiment's spec.
//!
//! They derive serde because a spec crosses to the worker as bytes of the same build; links have a format of their own.

use serde::{Deserialize, Serialize};

use super::seats::Seats;

/// Which algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AlgoChoice {
    /// Independent Q-learning (Tan 1993).
    Iql,
    /// Value decomposition network (Sunehag et al. 2017).
    Vdn,
    /// Monotonic value factorisation (Rashid et al. 2018).
    #[default]
    Qmix,
    /// Independent proximal policy optimisation (de Witt et al. 2020).
    Ippo,
    /// The same with a central critic (Yu et al. 2022).
    Mappo,
    /// Counterfactual multi-agent policy gradients (Foerster et al. 2018).
    Coma,
}

/// How actions are chosen while data is gathered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExploreChoice {
    /// ε-greedy, each agent for itself.
    #[default]
    EpsilonGreedy,
    /// Uniform over the legal joint actions, whatever was learned.
    Uniform,
}

/// How target parameters follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TargetChoice {
    /// Copied every `target_every` gradient steps.
    #[default]
    Hard,
    /// Moved by `tau` at each gradient step.
    Soft,
}

/// How mixer weights are kept non-negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PositivityChoice {
    /// |w|.
    #[default]
    Abs,
    /// softplus(w).
    Softplus,
}

/// Hidden activation of the agents' networks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ActivationChoice {
    /// max(0, x).
    #[default]
    Relu,
    /// tanh x.
    Tanh,
}

/// How policy gradients judge an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AdvantageChoice {
    /// Generalised advantage estimation (Schulman et al. 2016).
    #[default]
    Gae,
    /// n-step return less the critic's value.
    NStep,
    /// The episode's return against those of others with the same start; no critic.
    Group,
}

/// Which deviation divides group-relative advantages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviationChoice {
    /// Of the group as all there is: divided by its size.
    #[default]
    Population,
    /// Of the group as a sample: divided by its size less one.
    Sample,
}

/// Over whom advantages are normalised in a minibatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum NormAdvChoice {
    /// They are not.
    Off,
    /// Over all agents.
    #[default]
    Batch,
    /// Over each agent's own.
    Agent,
}

/// What a team's value learns from where every agent has a reward of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TeamRewardChoice {
    /// The world's one team reward; a world without one is refused.
    #[default]
    Given,
    /// The sum of the rewards of the agents whose utilities are joined.
    Sum,
    /// Their mean.
    Mean,
}

/// What an agent without a legal action means to a critic that reads its observation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum InactiveChoice {
    /// Its value is not trained.
    #[default]
    Mask,
    /// Its value is trained on zeros and its id instead of its observation.
    Zero,
}

/// Everything a learner needs. Fields of the other family have no effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearnerSettings {
    /// Adam's learning rate at env step 0.
    pub lr: f32,
    /// Learning rate from `lr_over` env steps on.
    pub lr_end: f32,
    /// Env steps over which the learning rate falls linearly; 0 keeps `lr`.
    pub lr_over: u32,
    /// Discount γ.
    pub gamma: f32,
    /// Exploration.
    pub explore: ExploreChoice,
    /// ε at env step 0.
    pub eps: f32,
    /// ε from `eps_over` env steps on.
    pub eps_end: f32,
    /// Env steps over which ε falls linearly.
    pub eps_over: u32,
    /// Segments in a minibatch (env steps, or whole episodes where their length is fixed).
    pub batch: u32,
    /// Segments the replay ring holds.
    pub buffer: u32,
    /// Env steps gathered before the first gradient step.
    pub warmup: u32,
    /// Parallel environments.
    pub envs: u32,
    /// Env steps of each environment per update.
    pub rollout: u32,
    /// Gradient steps per update.
    pub grad_steps: u32,
    /// Hard or soft target.
    pub target: TargetChoice,
    /// Gradient steps between hard copies.
    pub target_every: u32,
    /// Soft mix τ.
    pub tau: f32,
    /// Double Q-learning: the online network chooses, the target network evaluates.
    pub double_q: bool,
    /// One network for all agents, or one each.
    pub shared: bool,
    /// Agent id appended one-hot to the observation.
    pub agent_id: bool,
    /// Units of a hidden layer.
    pub hidden: u32,
    /// Hidden layers, 1 ..= 3.
    pub layers: u32,
    /// Hidden activation.
    pub activation: ActivationChoice,
    /// Mixer embedding, a multiple of 8.
    pub embed: u32,
    /// Layers of the hypernetworks that make the weights, 1 or 2.
    pub hyper_layers: u32,
    /// Hidden units of a two-layer hypernetwork.
    pub hyper_hidden: u32,
    /// How weights are kept non-negative.
    pub positivity: PositivityChoice,
    /// Off: weights keep their sign; the run is then "not QMIX".
    pub monotone: bool,
    /// Largest gradient norm.
    pub clip: f32,
    /// Hysteretic weight β of errors below the estimate (IQL; 1 is off). Matignon et al. 2007.
    pub hysteresis: f32,
    /// Rewards divided by their running deviation, mean removed.
    pub standardise: bool,
    /// The team's reward, where the world has only the agents' own.
    pub team_reward: TeamRewardChoice,
    /// Treat the time limit as termination (wrong on purpose; off).
    pub timeout_terminal: bool,
    /// The critic's learning rate at env step 0; it falls in proportion to `lr`.
    pub critic_lr: f32,
    /// Weight of the policy's entropy at env step 0.
    pub entropy: f32,
    /// Weight of the entropy from `entropy_over` env steps on.
    pub entropy_end: f32,
    /// Env steps over which it falls linearly; 0 keeps `entropy`.
    pub entropy_over: u32,
    /// Clip range ε of the probability ratio: 1 − ε ..= 1 + ε.
    pub clip_ratio: f32,
    /// Clip range of the value about the one it had in the rollout, on the critic's own scale; 0 is off.
    pub value_clip: f32,
    /// Weight of the value loss.
    pub value_coef: f32,
    /// λ of GAE, or of COMA's TD(λ) targets.
    pub gae_lambda: f32,
    /// How an action is judged.
    pub advantage: AdvantageChoice,
    /// n of n-step returns.
    pub n_step: u32,
    /// Episodes of one start that are compared with one another.
    pub group: u32,
    /// Their deviation.
    pub deviation: DeviationChoice,
    /// Normalisation of advantages in a minibatch; none after `group`.
    pub norm_adv: NormAdvChoice,
    /// Whether the critic learns returns less their mean, divided by their deviation.
    pub value_norm: bool,
    /// What an agent without a legal action means to a local critic.
    pub inactive: InactiveChoice,
    /// Passes over a rollout.
    pub epochs: u32,
    /// Gradient steps of a pass.
    pub minibatches: u32,
    /// Orthogonal initial weights, or PyTorch's uniform ones.
    pub orthogonal: bool,
    /// Most random plies a game opens with, where agents move in turns; 0 is none.
    pub opening: u32,
    /// Share of the games that open so.
    pub opening_share: f32,
    /// Snapshots that are kept as opponents, where agents move in turns and all learn; 0 is none.
    pub pool: u32,
    /// Updates between two snapshots.
    pub pool_every: u32,
    /// Share of the environments in which one of them plays.
    pub pool_share: f32,
    /// Games of an evaluation against each script, as first and as second player, where agents move in turns.
    pub match_games: u32,
    /// Who moves each agent.
    pub seats: Seats,
}
