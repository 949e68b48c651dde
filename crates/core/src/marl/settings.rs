//! What a value-based learner can be told: plain data, named once, used by the algorithms and by the experiment's spec.
//!
//! They derive serde because a spec crosses to the worker as bytes of the same build; links have a format of their own.

use serde::{Deserialize, Serialize};

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

/// Everything a value-based learner needs.
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
    /// Treat the time limit as termination (wrong on purpose; off).
    pub timeout_terminal: bool,
}
