//! An experiment as plain data: everything that decides a run, and nothing else.
//!
//! Defaults depend on the environment and the algorithm ([`ExperimentSpec::defaults`]); a link writes only what differs
//! from them. Names, ranges and texts of the fields stand in the knob table (`knobs/table.rs`), nowhere else.

use serde::{Deserialize, Serialize};

use crate::env::board::BoardSpec;
use crate::env::foraging::ForagingSpec;
use crate::env::particles::{ParticleSpec, Scenario};
use crate::env::pursuit::PursuitSpec;

pub use crate::marl::seats::{Controller, Seats};
pub use crate::marl::settings::{
    ActivationChoice, AdvantageChoice, AlgoChoice, DeviationChoice, ExploreChoice, InactiveChoice, LearnerSettings,
    NormAdvChoice, PositivityChoice, TargetChoice, TeamRewardChoice,
};

/// Which rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum EnvChoice {
    /// The pellet gridworld.
    #[default]
    Pellet,
    /// A two-player matrix game.
    Matrix,
    /// The two-step game of the QMIX paper.
    TwoStep,
    /// Level-based foraging.
    Foraging,
    /// Pursuit.
    Pursuit,
    /// A particle world.
    Particles(Scenario),
    /// A board game.
    Board(BoardSpec),
}

impl EnvChoice {
    /// In the order of the menu.
    pub const ALL: [Self; 13] = [
        Self::Pellet,
        Self::Matrix,
        Self::TwoStep,
        Self::Foraging,
        Self::Pursuit,
        Self::Particles(Scenario::Spread),
        Self::Particles(Scenario::Adversary),
        Self::Particles(Scenario::Tag),
        Self::Particles(Scenario::SpeakerListener),
        Self::Particles(Scenario::Reference),
        Self::Particles(Scenario::Push),
        Self::Board(BoardSpec::ConnectFour),
        Self::Board(BoardSpec::TicTacToe),
    ];

    /// Whether it is a game of one or two joint actions.
    pub fn is_short_game(self) -> bool {
        matches!(self, Self::Matrix | Self::TwoStep)
    }
}

/// Which engine executes the lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum EngineChoice {
    /// The bit-reproducible engine.
    #[default]
    Cpu,
}

/// Where agents start in the pellet gridworld.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StartChoice {
    /// All in the top-left corner.
    #[default]
    Corner,
    /// In opposite corners.
    Opposite,
    /// Evenly around the edge.
    Spread,
    /// Drawn uniformly each episode.
    Random,
    /// Where the edited map says.
    Placed,
}

/// Who is paid for a pellet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RewardChoice {
    /// The team.
    #[default]
    Team,
    /// Whoever arrives first.
    First,
}

/// Who is paid when several agents arrive at once in the competitive world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TieChoice {
    /// They share.
    #[default]
    Split,
    /// Nobody.
    Nobody,
}

/// The pellet gridworld's settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PelletSettings {
    /// Cells in a row, 2 ..= 16.
    pub width: u32,
    /// Rows, 2 ..= 16.
    pub height: u32,
    /// Number of agents, 1 ..= 8.
    pub agents: u32,
    /// Start layout.
    pub start: StartChoice,
    /// Number of pellets.
    pub pellets: u32,
    /// Sight radius in cells; `None` is unlimited.
    pub sight: Option<u32>,
    /// Who is paid.
    pub reward: RewardChoice,
    /// Ties in the competitive world.
    pub tie: TieChoice,
    /// Mix α of the competitive world: each agent gets α·team + (1−α)·own.
    pub alpha: f32,
    /// Cost of a move, paid by the agent that moves.
    pub move_cost: f32,
    /// Time limit in env steps (truncation).
    pub limit: u32,
    /// The edited map, if any.
    pub map: Option<GridMap>,
}

/// An edited pellet world. Its size is the settings' `width`×`height`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GridMap {
    /// `[height·width]`, row-major.
    pub cells: Vec<CellKind>,
    /// Start cell of each agent; used when the start layout is `Placed`.
    pub starts: Vec<u32>,
}

/// What a cell of an edited map is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CellKind {
    /// Free; pellets may appear.
    #[default]
    Free,
    /// Wall.
    Wall,
    /// Free, but no pellet appears.
    NoPellet,
}

/// A named matrix game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum GameChoice {
    /// Climbing (Claus and Boutilier 1998).
    #[default]
    Climbing,
    /// Penalty game with penalty k (`MatrixSettings::penalty`).
    Penalty,
    /// The non-monotonic game of QTRAN.
    NonMonotonic,
    /// Prisoner's dilemma.
    Prisoners,
    /// Stag hunt.
    StagHunt,
    /// Matching pennies.
    Pennies,
    /// Smallest sanity game: every agent that plays its first action earns the team 0.5.
    Sanity,
    /// Payoffs typed by the user.
    Custom,
}

/// A matrix game's settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatrixSettings {
    /// Which game.
    pub game: GameChoice,
    /// Penalty k of the penalty game, −100 ..= 0.
    pub penalty: f32,
    /// Rounds per episode, 1 ..= 100.
    pub repeat: u32,
    /// Payoffs when `game` is `Custom`.
    pub payoffs: Option<Payoffs>,
}

/// A bimatrix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Payoffs {
    /// Actions of agent 1, 2 ..= 6.
    pub rows: u32,
    /// Actions of agent 2, 2 ..= 6.
    pub columns: u32,
    /// `[rows·columns]` payoffs (agent 1, agent 2).
    pub cells: Vec<(f32, f32)>,
}

/// The two-step game's settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TwoStepSettings {
    /// Payoffs of state 2A, row-major 2×2.
    pub a: [f32; 4],
    /// Payoffs of state 2B, row-major 2×2.
    pub b: [f32; 4],
}

/// Which policy an evaluation follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum EvalChoice {
    /// The greedy joint action.
    #[default]
    Greedy,
    /// The behaviour policy with the ε of that moment.
    Exploring,
}

/// An experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExperimentSpec {
    /// Environment.
    pub env: EnvChoice,
    /// Its settings where it is the pellet gridworld.
    pub pellet: PelletSettings,
    /// … a matrix game.
    pub matrix: MatrixSettings,
    /// … the two-step game.
    pub two_step: TwoStepSettings,
    /// … level-based foraging.
    pub foraging: ForagingSpec,
    /// … pursuit.
    pub pursuit: PursuitSpec,
    /// … a particle world; which one is for `env` to say.
    pub particles: ParticleSpec,
    /// Algorithm.
    pub algo: AlgoChoice,
    /// Its settings.
    pub learner: LearnerSettings,
    /// Engine.
    pub engine: EngineChoice,
    /// The one seed.
    pub seed: u64,
    /// Env steps after which the run is finished.
    pub budget: u32,
    /// Whether an evaluation at least as good as `stop_at` ends the run before its budget.
    pub stop: bool,
    /// That headline mean.
    pub stop_at: f32,
    /// Minutes without anyone at the page after which training pauses; 0 never.
    pub idle: u32,
    /// Env steps between evaluations.
    pub eval_every: u32,
    /// Episodes of an evaluation where starts are drawn (where all starts are enumerated, all of them).
    pub eval_episodes: u32,
    /// Policy of the evaluations.
    pub eval_policy: EvalChoice,
}

impl Default for ExperimentSpec {
    fn default() -> Self {
        Self::defaults(EnvChoice::default(), AlgoChoice::default())
    }
}

impl ExperimentSpec {
    /// The headline mean at which an evaluation ends the run, if there is one.
    pub fn goal(&self) -> Option<f32> {
        self.stop.then_some(self.stop_at)
    }

    /// The settings that `env` and `algo` begin with.
    #[must_use]
    pub fn defaults(env: EnvChoice, algo: AlgoChoice) -> Self {
        let pellet = PelletSettings {
            width: 4,
            height: 4,
            agents: 2,
            start: StartChoice::Corner,
            pellets: 1,
            sight: None,
            reward: RewardChoice::Team,
            tie: TieChoice::Split,
            alpha: 0.0,
            move_cost: 0.0,
            limit: 50,
            map: None,
        };
        let matrix = MatrixSettings { game: GameChoice::Climbing, penalty: -50.0, repeat: 1, payoffs: None };
        let two_step = TwoStepSettings { a: [7.0; 4], b: [0.0, 1.0, 1.0, 8.0] };
        let learner = LearnerSettings {
            lr: 1e-3,
            lr_end: 2e-5,
            lr_over: 50_000,
            gamma: 0.9,
            explore: ExploreChoice::EpsilonGreedy,
            eps: 1.0,
            eps_end: 0.05,
            eps_over: 10_000,
            batch: 64,
            buffer: 20_000,
            warmup: 500,
            envs: 8,
            rollout: 4,
            grad_steps: 4,
            target: TargetChoice::Soft,
            target_every: 200,
            tau: 0.02,
            double_q: true,
            shared: true,
            agent_id: true,
            hidden: 64,
            layers: 2,
            activation: ActivationChoice::Relu,
            embed: 32,
            hyper_layers: 2,
            hyper_hidden: 64,
            positivity: PositivityChoice::Abs,
            monotone: true,
            clip: 10.0,
            hysteresis: 1.0,
            standardise: false,
            team_reward: TeamRewardChoice::Given,
            timeout_terminal: false,
            critic_lr: 7e-4,
            entropy: 0.01,
            entropy_end: 0.01,
            entropy_over: 0,
            clip_ratio: 0.2,
            value_clip: 0.0,
            value_coef: 0.5,
            gae_lambda: 0.95,
            advantage: AdvantageChoice::Gae,
            n_step: 5,
            group: 8,
            deviation: DeviationChoice::Population,
            norm_adv: NormAdvChoice::Batch,
            value_norm: true,
            inactive: InactiveChoice::Mask,
            epochs: 10,
            minibatches: 4,
            orthogonal: false,
            opening: 0,
            opening_share: 0.75,
            pool: 0,
            pool_every: 10,
            pool_share: 0.25,
            match_games: 0,
            seats: Seats::default(),
        };
        let mut spec = Self {
            env,
            pellet,
            matrix,
            two_step,
            foraging: ForagingSpec::default(),
            pursuit: PursuitSpec::default(),
            particles: ParticleSpec::new(if let EnvChoice::Particles(scenario) = env {
                scenario
            } else {
                Scenario::default()
            }),
            algo,
            learner,
            engine: EngineChoice::Cpu,
            seed: 7,
            budget: 50_000,
            stop: false,
            stop_at: 0.0,
            idle: 60,
            eval_every: 500,
            eval_episodes: 100,
            eval_policy: EvalChoice::Greedy,
        };
        if algo.is_policy_gradient() {
            spec.policy_gradient_defaults();
        } else if env.is_short_game() {
            // One-shot and two-step games: uniform joint actions, whole episodes, the paper's sizes.
            let l = &mut spec.learner;
            l.explore = ExploreChoice::Uniform;
            l.gamma = 0.99;
            l.envs = 32;
            l.rollout = if env == EnvChoice::TwoStep { 2 } else { 1 };
            l.grad_steps = 1;
            l.batch = 32;
            l.buffer = 5_000;
            l.warmup = 0;
            l.target = TargetChoice::Hard;
            l.target_every = 100;
            l.embed = 8;
            l.hyper_layers = 1;
            l.lr = 5e-4;
            l.lr_end = 5e-4;
            l.lr_over = 0;
            spec.budget = l.envs * l.rollout * 4_000;
            spec.eval_every = 2_000;
        }
        match env {
            EnvChoice::Foraging => (spec.budget, spec.eval_every) = (500_000, 10_000),
            EnvChoice::Pursuit => {
                (spec.budget, spec.eval_every, spec.eval_episodes) = (200_000, 20_000, 10);
                // Eight agents that see 147 numbers each: as much as fits.
                spec.learner.buffer = 5_000;
            }
            EnvChoice::Particles(_) => spec.particle_defaults(),
            EnvChoice::Board(game) => spec.board_defaults(game),
            EnvChoice::Pellet | EnvChoice::Matrix | EnvChoice::TwoStep => {}
        }
        spec
    }

    /// Paid once, at the end of up to 9 or 42 plies, and seen from the mover's side, so that one network plays both sides
    /// without being told which. Most games of a policy gradient open at random: left to themselves both sides
    /// soon play the same few games over and over.
    fn board_defaults(&mut self, game: BoardSpec) {
        let is_large = game == BoardSpec::ConnectFour;
        let l = &mut self.learner;
        l.gamma = 0.99;
        (l.agent_id, l.match_games) = (false, 100);
        l.hidden = if is_large { 128 } else { 64 };
        if self.algo.is_policy_gradient() {
            (l.envs, l.rollout) = (if is_large { 512 } else { 128 }, 16);
            (l.epochs, l.minibatches, l.entropy, l.entropy_end) = (4, if is_large { 16 } else { 4 }, 0.05, 0.05);
            l.activation = ActivationChoice::Relu;
            (l.lr, l.lr_end, l.critic_lr, l.opening) = (1e-3, 1e-3, 1e-3, if is_large { 16 } else { 4 });
        } else {
            (l.envs, l.rollout, l.warmup) = (16, 4, 2_000);
            (l.lr, l.lr_end, l.lr_over, l.eps_over) = (5e-4, 5e-4, 0, if is_large { 100_000 } else { 50_000 });
        }
        (self.budget, self.eval_every) = if is_large { (500_000, 50_000) } else { (400_000, 20_000) };
    }

    /// Whole episodes of 25 env steps. Nothing here is tuned.
    fn particle_defaults(&mut self) {
        let l = &mut self.learner;
        l.gamma = 0.95;
        l.rollout = 25;
        if self.algo.info().is_counterfactual {
            (l.envs, l.minibatches) = (8, 8);
            self.budget = 200_000;
        } else if self.algo.is_policy_gradient() {
            (l.envs, l.minibatches) = (32, 1);
            self.budget = 200_000;
        } else {
            (l.envs, l.grad_steps, l.batch, l.buffer, l.warmup) = (16, 8, 32, 2_000, 2_000);
            (l.lr, l.lr_end, l.lr_over, l.eps_over) = (5e-4, 5e-4, 0, 50_000);
            self.budget = 100_000;
        }
        self.eval_every = 8_000;
    }

    fn policy_gradient_defaults(&mut self) {
        let is_short_game = self.env.is_short_game();
        let l = &mut self.learner;
        (l.lr, l.lr_end, l.lr_over) = (7e-4, 7e-4, 0);
        (l.activation, l.orthogonal) = (ActivationChoice::Tanh, true);
        if is_short_game {
            // One-shot and two-step games: episodes so short that a pass needs no parts.
            l.gamma = 0.99;
            (l.envs, l.rollout, l.epochs, l.minibatches) = (32, 4, 4, 1);
            self.budget = 64_000;
            self.eval_every = 2_000;
        } else {
            l.gamma = 0.95;
            (l.envs, l.rollout) = (16, 32);
        }
        if self.algo.info().is_counterfactual {
            self.counterfactual_defaults();
        }
    }

    /// The critic is trained on minibatches of short rollouts, the policies once on each: many small steps.
    fn counterfactual_defaults(&mut self) {
        let l = &mut self.learner;
        (l.envs, l.rollout, l.epochs, l.minibatches) = (8, 8, 2, 2);
        (l.eps, l.eps_end, l.eps_over) = (0.5, 0.02, 20_000);
        (l.gae_lambda, l.entropy, l.entropy_end) = (0.8, 0.0, 0.0);
        (l.target, l.target_every) = (TargetChoice::Hard, 200);
        self.budget = 200_000;
        self.eval_every = 4_000;
    }
}
