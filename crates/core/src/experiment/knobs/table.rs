//! The table itself. Its order is the order of keys in a link and of fields in the panel.
//!
//! A key is for ever; a range may grow but not shrink, or old links would be clamped.

use super::rules::LONGEST_ROLLOUT;
use super::rules::{plays, switch_algo, switch_env};
use super::values::decimal;
use super::{Group, Kind, Knob, shared};
use crate::env::board::BoardSpec;
use crate::env::particles::{Convention, GOOD, MAX_AGENTS, NEAREST, OBSTACLES, Scenario};
use crate::env::pellet::{AGENTS, PELLETS, SIGHT, SIZE, TIME_LIMIT};
use crate::env::pursuit::EVADERS;
use crate::experiment::spec::{
    ActivationChoice, AdvantageChoice, AlgoChoice, DeviationChoice, EngineChoice, EnvChoice, EvalChoice,
    ExperimentSpec, ExploreChoice, GameChoice, InactiveChoice, NormAdvChoice, PositivityChoice, RewardChoice,
    StartChoice, TargetChoice, TeamRewardChoice, TieChoice,
};
use crate::experiment::world::env_spec;
use crate::marl::parts::turns::one_moves_all;

/// Unit of what replay counts; see [`Knob::unit_id`].
pub(super) const SEGMENTS: &str = "unit.segments";

const ENV_STEPS: &str = "unit.env_steps";
const GRAD_STEPS: &str = "unit.gradient_steps";

const fn knob(key: &'static str, group: Group, kind: Kind) -> Knob {
    Knob { key, group, kind, live: false, beginner: false, unit: "", applies: |_| true }
}

impl Knob {
    const fn live(self) -> Self {
        Self { live: true, ..self }
    }

    const fn beginner(self) -> Self {
        Self { beginner: true, ..self }
    }

    const fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    const fn when(self, applies: fn(&ExperimentSpec) -> bool) -> Self {
        Self { applies, ..self }
    }
}

/// A whole number in a field: `int!(field, min, max)` or `int!(field, min, max, step)`.
macro_rules! int {
    ($($field:ident).+, $min:expr, $max:expr) => { int!($($field).+, $min, $max, 1) };
    ($($field:ident).+, $min:expr, $max:expr, $step:expr) => {
        Kind::Int { min: $min, max: $max, step: $step, get: |s| s.$($field).+, set: |s, v| s.$($field).+ = v }
    };
}

/// A number in a field; `log` for those whose order of magnitude matters.
macro_rules! float {
    ($($field:ident).+, $min:expr, $max:expr) => { float!(@ $($field).+, $min, $max, false) };
    ($($field:ident).+, $min:expr, $max:expr, log) => { float!(@ $($field).+, $min, $max, true) };
    (@ $($field:ident).+, $min:expr, $max:expr, $log:expr) => {
        Kind::Float { min: $min, max: $max, log: $log, get: |s| s.$($field).+, set: |s, v| s.$($field).+ = v }
    };
}

/// A number of a reference's arguments, which are f64: the decimal that a person wrote, not the f32 nearest to it.
macro_rules! double {
    ($($field:ident).+, $min:expr, $max:expr) => {
        Kind::Float {
            min: $min,
            max: $max,
            log: false,
            get: |s| s.$($field).+ as f32,
            set: |s, v| s.$($field).+ = decimal(v),
        }
    };
}

/// How many of the nearest are seen, or all.
macro_rules! nearest {
    ($($field:ident).+) => {
        Kind::OptionalInt {
            min: *NEAREST.start(),
            max: *NEAREST.end(),
            get: |s| s.$($field).+,
            set: |s, v| s.$($field).+ = v,
        }
    };
}

/// On or off in a field.
macro_rules! switch {
    ($($field:ident).+) => { Kind::Bool { get: |s| s.$($field).+, set: |s, v| s.$($field).+ = v } };
}

/// An enum in a field, every variant with its id.
macro_rules! choice {
    ($($field:ident).+ : $Enum:ident { $($id:literal => $Variant:ident $(($of:path))?),+ $(,)? }) => {
        choice!($($field).+ : $Enum { $($id => $Variant $(($of))?),+ } |s, v| s.$($field).+ = v)
    };
    ($($field:ident).+ : $Enum:ident { $($id:literal => $Variant:ident $(($of:path))?),+ $(,)? } |$s:ident, $v:ident| $set:expr) => {
        Kind::Choice {
            ids: &[$($id),+],
            get: |s| match s.$($field).+ { $($Enum::$Variant $(($of))? => $id),+ },
            set: |$s, id| {
                let $v = match id {
                    $($id => $Enum::$Variant $(($of))?,)+
                    _ => return,
                };
                $set;
            },
        }
    };
}

fn pellet(s: &ExperimentSpec) -> bool {
    s.env == EnvChoice::Pellet
}

fn matrix(s: &ExperimentSpec) -> bool {
    s.env == EnvChoice::Matrix
}

fn foraging(s: &ExperimentSpec) -> bool {
    s.env == EnvChoice::Foraging
}

fn pursuit(s: &ExperimentSpec) -> bool {
    s.env == EnvChoice::Pursuit
}

fn board(s: &ExperimentSpec) -> bool {
    matches!(s.env, EnvChoice::Board(_))
}

/// A game of turns in which decisions are learned from.
pub(super) fn self_play(s: &ExperimentSpec) -> bool {
    board(s) && one_moves_all(&s.learner, s.algo, 2)
}

/// The same where it has both seats.
fn plays_itself(s: &ExperimentSpec) -> bool {
    self_play(s) && (0..2).all(|agent| s.learner.seats.of(agent).learns())
}

pub(super) fn has_pool(s: &ExperimentSpec) -> bool {
    plays_itself(s) && s.learner.pool > 0
}

fn competitive(s: &ExperimentSpec) -> bool {
    pellet(s) && s.pellet.reward == RewardChoice::First
}

fn plays_particles(s: &ExperimentSpec, scenarios: &[Scenario]) -> bool {
    matches!(s.env, EnvChoice::Particles(scenario) if scenarios.contains(&scenario))
}

fn tag(s: &ExperimentSpec) -> bool {
    plays_particles(s, &[Scenario::Tag])
}

/// Scenarios with a curriculum and a success that may end an episode.
fn succeeds(s: &ExperimentSpec) -> bool {
    plays_particles(s, &[Scenario::Spread, Scenario::Tag])
}

/// Scenarios whose agents may see the nearest others alone.
fn has_neighbours(s: &ExperimentSpec) -> bool {
    plays_particles(s, &[Scenario::Spread, Scenario::Adversary, Scenario::Tag])
}

/// Scenarios that mix a common part and an agent's own.
fn is_mixed(s: &ExperimentSpec) -> bool {
    plays_particles(s, &[Scenario::Reference])
        || (plays_particles(s, &[Scenario::Spread]) && s.particles.convention == Convention::V3)
}

fn qmix(s: &ExperimentSpec) -> bool {
    s.algo == AlgoChoice::Qmix
}

/// An algorithm that learns the team's value, in a world that pays every agent its own reward.
fn pays_apart(s: &ExperimentSpec) -> bool {
    s.algo.info().team_value && !board(s) && env_spec(s).build().is_ok_and(|env| !env.info().team_reward)
}

fn value_based(s: &ExperimentSpec) -> bool {
    !s.algo.is_policy_gradient()
}

fn policy_gradient(s: &ExperimentSpec) -> bool {
    s.algo.is_policy_gradient()
}

fn ppo(s: &ExperimentSpec) -> bool {
    s.algo.info().is_ppo()
}

/// Advantages relative to a group of episodes.
pub(super) fn group(s: &ExperimentSpec) -> bool {
    ppo(s) && s.learner.advantage == AdvantageChoice::Group
}

fn critic(s: &ExperimentSpec) -> bool {
    policy_gradient(s) && !group(s)
}

/// A critic V, whose loss has a part in PPO's.
fn value_critic(s: &ExperimentSpec) -> bool {
    ppo(s) && !group(s)
}

fn has_target(s: &ExperimentSpec) -> bool {
    s.algo.info().has_target()
}

fn has_epsilon(s: &ExperimentSpec) -> bool {
    s.algo.info().has_epsilon() && s.learner.explore == ExploreChoice::EpsilonGreedy
}

/// Every tunable.
pub static KNOBS: [Knob; 108] = {
    use Group::{Algorithm, Exploration, Networks, Replay, Run, Seats, World};
    [
        knob(
            "env",
            World,
            choice!(env: EnvChoice {
                "pellet" => Pellet, "matrix" => Matrix, "two_step" => TwoStep, "foraging" => Foraging,
                "pursuit" => Pursuit, "spread" => Particles(Scenario::Spread),
                "adversary" => Particles(Scenario::Adversary), "tag" => Particles(Scenario::Tag),
                "speaker_listener" => Particles(Scenario::SpeakerListener),
                "reference" => Particles(Scenario::Reference), "push" => Particles(Scenario::Push),
                "connect_four" => Board(BoardSpec::ConnectFour), "tictactoe" => Board(BoardSpec::TicTacToe),
            } |s, env| switch_env(s, env)),
        )
        .beginner(),
        knob(
            "size",
            World,
            Kind::Size {
                min: *SIZE.start(),
                max: *SIZE.end(),
                get: shared::size,
                set: shared::set_size,
            },
        )
        .beginner()
        .unit("unit.cells")
        .when(shared::has_size),
        knob(
            "agents",
            World,
            Kind::Int {
                min: *AGENTS.start(),
                max: MAX_AGENTS as u32,
                step: 1,
                get: shared::agents,
                set: shared::set_agents,
            },
        )
        .beginner()
        .when(shared::has_agents),
        knob(
            "start",
            World,
            choice!(pellet.start: StartChoice {
                "corner" => Corner, "opposite" => Opposite, "spread" => Spread, "random" => Random, "placed" => Placed,
            }),
        )
        .beginner()
        .when(pellet),
        knob("pellets", World, int!(pellet.pellets, *PELLETS.start(), *PELLETS.end())).beginner().when(pellet),
        knob(
            "sight",
            World,
            Kind::OptionalInt {
                min: *SIGHT.start(),
                max: *SIGHT.end(),
                get: shared::sight,
                set: shared::set_sight,
            },
        )
        .beginner()
        .unit("unit.cells")
        .when(shared::has_sight),
        knob("reward", World, choice!(pellet.reward: RewardChoice { "team" => Team, "first" => First }))
            .beginner()
            .when(pellet),
        knob("tie", World, choice!(pellet.tie: TieChoice { "split" => Split, "nobody" => Nobody })).when(competitive),
        knob("alpha", World, float!(pellet.alpha, 0.0, 1.0)).beginner().when(competitive),
        knob("cost", World, float!(pellet.move_cost, 0.0, 1.0)).when(pellet),
        knob(
            "limit",
            World,
            Kind::Int {
                min: *TIME_LIMIT.start(),
                max: *TIME_LIMIT.end(),
                step: 1,
                get: shared::limit,
                set: shared::set_limit,
            },
        )
        .unit(ENV_STEPS)
        .when(shared::has_limit),
        knob(
            "game",
            World,
            choice!(matrix.game: GameChoice {
                "climbing" => Climbing, "penalty" => Penalty, "nonmonotonic" => NonMonotonic, "prisoners_dilemma" => Prisoners,
                "stag_hunt" => StagHunt, "matching_pennies" => Pennies, "sanity" => Sanity, "custom" => Custom,
            }),
        )
        .beginner()
        .when(matrix),
        knob("penalty", World, float!(matrix.penalty, -100.0, 0.0))
            .beginner()
            .when(|s| plays(s, GameChoice::Penalty)),
        knob("repeat", World, int!(matrix.repeat, 1, 100)).when(matrix),
        knob("food", World, int!(foraging.food, 1, 8)).beginner().when(foraging),
        knob(
            "levels",
            World,
            Kind::Int {
                min: 1,
                max: 8,
                step: 1,
                get: |s| s.foraging.max_player_level.first().copied().unwrap_or(1),
                set: |s, v| s.foraging.max_player_level = vec![v],
            },
        )
        .beginner()
        .when(foraging),
        knob("coop", World, switch!(foraging.force_coop)).beginner().when(foraging),
        knob("penalty_load", World, double!(foraging.penalty, 0.0, 1.0)).when(foraging),
        knob("share_food", World, switch!(foraging.normalize_reward)).when(foraging),
        knob("see_levels", World, switch!(foraging.observe_agent_levels)).when(foraging),
        knob("see_grid", World, switch!(foraging.grid_observation)).when(foraging),
        knob("evaders", World, int!(pursuit.n_evaders, *EVADERS.start(), *EVADERS.end())).beginner().when(pursuit),
        knob("obs_range", World, int!(pursuit.obs_range, 3, 15, 2)).beginner().unit("unit.cells").when(pursuit),
        knob("shared_reward", World, switch!(pursuit.shared_reward)).beginner().when(pursuit),
        knob("surround", World, switch!(pursuit.surround)).beginner().when(pursuit),
        knob("n_catch", World, int!(pursuit.n_catch, 1, 8)).when(|s| pursuit(s) && !s.pursuit.surround),
        knob("freeze", World, switch!(pursuit.freeze_evaders)).when(pursuit),
        knob("tag_reward", World, double!(pursuit.tag_reward, -10.0, 10.0)).when(pursuit),
        knob("catch_reward", World, double!(pursuit.catch_reward, -100.0, 100.0)).when(pursuit),
        knob("urgency", World, double!(pursuit.urgency_reward, -10.0, 10.0)).when(pursuit),
        knob("window", World, double!(pursuit.constraint_window, 0.25, 1.0)).when(pursuit),
        knob("hunters", World, int!(particles.adversaries, *GOOD.start(), *GOOD.end())).beginner().when(tag),
        knob("prey", World, int!(particles.good, *GOOD.start(), *GOOD.end())).beginner().when(tag),
        knob("obstacles", World, int!(particles.obstacles, *OBSTACLES.start(), *OBSTACLES.end())).when(tag),
        knob("convention", World, choice!(particles.convention: Convention { "v3" => V3, "openai" => OpenAi }))
            .beginner()
            .when(|s| plays_particles(s, &[Scenario::Spread])),
        knob("local_ratio", World, double!(particles.local_ratio, 0.0, 1.0)).beginner().when(is_mixed),
        knob("success", World, switch!(particles.terminate_on_success)).when(succeeds),
        knob(
            "curriculum",
            World,
            Kind::Choice {
                ids: &["off", "0", "1", "2"],
                get: |s| match s.particles.curriculum {
                    None => "off",
                    Some(0) => "0",
                    Some(1) => "1",
                    Some(_) => "2",
                },
                set: |s, id| s.particles.curriculum = id.parse().ok(),
            },
        )
        .when(succeeds),
        knob("near_agents", World, nearest!(particles.near_agents)).when(has_neighbours),
        knob("near_landmarks", World, nearest!(particles.near_landmarks)).when(has_neighbours),
        knob("seats", Seats, Kind::Seats { get: |s| &s.learner.seats, set: |s, v| s.learner.seats = v }).live().beginner(),
        knob(
            "algo",
            Algorithm,
            choice!(algo: AlgoChoice {
                "iql" => Iql, "vdn" => Vdn, "qmix" => Qmix, "ippo" => Ippo, "mappo" => Mappo,
                "coma" => Coma,
            } |s, algo| switch_algo(s, algo)),
        )
        .beginner(),
        knob("lr", Algorithm, float!(learner.lr, 1e-6, 1.0, log)).live().beginner(),
        knob("lr_end", Algorithm, float!(learner.lr_end, 0.0, 1.0, log)).when(|s| s.learner.lr_over > 0),
        knob("lr_over", Algorithm, int!(learner.lr_over, 0, 10_000_000)).unit(ENV_STEPS),
        knob("gamma", Algorithm, float!(learner.gamma, 0.0, 1.0)).beginner(),
        knob("critic_lr", Algorithm, float!(learner.critic_lr, 1e-6, 1.0, log)).when(critic),
        knob(
            "adv",
            Algorithm,
            choice!(learner.advantage: AdvantageChoice { "gae" => Gae, "nstep" => NStep, "group" => Group }),
        )
        .beginner()
        .when(ppo),
        knob("lambda", Algorithm, float!(learner.gae_lambda, 0.0, 1.0))
            .when(|s| policy_gradient(s) && (!ppo(s) || s.learner.advantage == AdvantageChoice::Gae)),
        knob("n_step", Algorithm, int!(learner.n_step, 1, 128))
            .unit(ENV_STEPS)
            .when(|s| ppo(s) && s.learner.advantage == AdvantageChoice::NStep),
        knob("group", Algorithm, int!(learner.group, 2, 64)).unit("unit.episodes").beginner().when(group),
        knob(
            "dev",
            Algorithm,
            choice!(learner.deviation: DeviationChoice { "population" => Population, "sample" => Sample }),
        )
        .when(group),
        knob(
            "norm_adv",
            Algorithm,
            choice!(learner.norm_adv: NormAdvChoice { "off" => Off, "batch" => Batch, "agent" => Agent }),
        )
        .when(value_critic),
        knob("clip_ratio", Algorithm, float!(learner.clip_ratio, 0.01, 1.0)).beginner().when(ppo),
        knob("value_coef", Algorithm, float!(learner.value_coef, 0.0, 10.0)).when(value_critic),
        knob("value_clip", Algorithm, float!(learner.value_clip, 0.0, 10.0)).when(value_critic),
        knob("value_norm", Algorithm, switch!(learner.value_norm)).when(value_critic),
        knob("inactive", Algorithm, choice!(learner.inactive: InactiveChoice { "mask" => Mask, "zero" => Zero }))
            .when(|s| critic(s) && s.algo == AlgoChoice::Ippo && !board(s)),
        knob("double", Algorithm, switch!(learner.double_q)).when(value_based),
        knob("clip", Algorithm, float!(learner.clip, 1e-3, 1e6, log)),
        knob("beta", Algorithm, float!(learner.hysteresis, 0.0, 1.0)).when(|s| s.algo == AlgoChoice::Iql),
        knob(
            "team",
            Algorithm,
            choice!(learner.team_reward: TeamRewardChoice { "given" => Given, "sum" => Sum, "mean" => Mean }),
        )
        .beginner()
        .when(pays_apart),
        knob("standardise", Algorithm, switch!(learner.standardise)).when(value_based),
        knob("timeout_terminal", Algorithm, switch!(learner.timeout_terminal)).when(shared::has_limit),
        knob("shared", Networks, switch!(learner.shared)).beginner(),
        knob("agent_id", Networks, switch!(learner.agent_id)).when(|s| s.learner.shared),
        knob("hidden", Networks, int!(learner.hidden, 8, 128, 8)).unit("unit.units"),
        knob("layers", Networks, int!(learner.layers, 1, 3)),
        knob("act", Networks, choice!(learner.activation: ActivationChoice { "relu" => Relu, "tanh" => Tanh })),
        knob("orthogonal", Networks, switch!(learner.orthogonal)).when(policy_gradient),
        knob("monotone", Networks, switch!(learner.monotone)).beginner().when(qmix),
        knob("pos", Networks, choice!(learner.positivity: PositivityChoice { "abs" => Abs, "softplus" => Softplus }))
            .when(|s| qmix(s) && s.learner.monotone),
        knob("embed", Networks, int!(learner.embed, 8, 64, 8)).unit("unit.units").when(qmix),
        knob("hyper", Networks, int!(learner.hyper_layers, 1, 2)).when(qmix),
        knob("hyper_hidden", Networks, int!(learner.hyper_hidden, 8, 128, 8))
            .unit("unit.units")
            .when(|s| qmix(s) && s.learner.hyper_layers == 2),
        knob(
            "explore",
            Exploration,
            choice!(learner.explore: ExploreChoice { "eps" => EpsilonGreedy, "uniform" => Uniform }),
        )
        .beginner()
        .when(value_based),
        knob("eps", Exploration, float!(learner.eps, 0.0, 1.0)).live().beginner().when(has_epsilon),
        knob("eps_end", Exploration, float!(learner.eps_end, 0.0, 1.0)).when(|s| has_epsilon(s) && s.learner.eps_over > 0),
        knob("eps_over", Exploration, int!(learner.eps_over, 0, 10_000_000)).beginner().unit(ENV_STEPS).when(has_epsilon),
        knob("entropy", Exploration, float!(learner.entropy, 0.0, 1.0)).beginner().when(policy_gradient),
        knob("entropy_end", Exploration, float!(learner.entropy_end, 0.0, 1.0))
            .when(|s| policy_gradient(s) && s.learner.entropy_over > 0),
        knob("entropy_over", Exploration, int!(learner.entropy_over, 0, 10_000_000))
            .unit(ENV_STEPS)
            .when(policy_gradient),
        knob("opening", Exploration, int!(learner.opening, 0, 40)).beginner().unit("unit.plies").when(self_play),
        knob("opening_share", Exploration, float!(learner.opening_share, 0.0, 1.0))
            .when(|s| self_play(s) && s.learner.opening > 0),
        knob("pool", Exploration, int!(learner.pool, 0, 16)).beginner().unit("unit.snapshots").when(plays_itself),
        knob("pool_every", Exploration, int!(learner.pool_every, 1, 10_000)).unit("unit.updates").when(has_pool),
        knob("pool_share", Exploration, float!(learner.pool_share, 0.0, 1.0)).when(has_pool),
        knob("envs", Replay, int!(learner.envs, 1, 512)),
        knob("rollout", Replay, int!(learner.rollout, 1, LONGEST_ROLLOUT)).unit(ENV_STEPS),
        knob("epochs", Replay, int!(learner.epochs, 1, 64)).beginner().when(policy_gradient),
        knob("minibatches", Replay, int!(learner.minibatches, 1, 1_024)).when(policy_gradient),
        knob("grads", Replay, int!(learner.grad_steps, 1, 64)).unit(GRAD_STEPS).when(value_based),
        knob("batch", Replay, int!(learner.batch, 1, 1_024)).unit(SEGMENTS).when(value_based),
        knob("buffer", Replay, int!(learner.buffer, 1, 200_000)).unit(SEGMENTS).when(value_based),
        knob("warmup", Replay, int!(learner.warmup, 0, 1_000_000)).unit(ENV_STEPS).when(value_based),
        knob("target", Replay, choice!(learner.target: TargetChoice { "hard" => Hard, "soft" => Soft })).when(has_target),
        knob("target_every", Replay, int!(learner.target_every, 1, 100_000))
            .unit(GRAD_STEPS)
            .when(|s| has_target(s) && s.learner.target == TargetChoice::Hard),
        knob("tau", Replay, float!(learner.tau, 1e-5, 1.0, log))
            .when(|s| has_target(s) && s.learner.target == TargetChoice::Soft),
        knob("seed", Run, Kind::Seed { get: |s| s.seed, set: |s, v| s.seed = v }).beginner(),
        knob("budget", Run, int!(budget, 1_000, 100_000_000)).beginner().unit(ENV_STEPS),
        knob("stop", Run, switch!(stop)).live().when(|s| !board(s)),
        knob("stop_at", Run, float!(stop_at, -1e4, 1e4)).live().when(|s| s.stop && !board(s)),
        knob("idle", Run, int!(idle, 0, 1_440)).live().unit("unit.minutes"),
        knob("eval_every", Run, int!(eval_every, 100, 100_000_000)).unit(ENV_STEPS),
        knob("eval_episodes", Run, int!(eval_episodes, 1, 1_000)).unit("unit.episodes"),
        knob("eval", Run, choice!(eval_policy: EvalChoice { "greedy" => Greedy, "exploring" => Exploring })),
        knob("match_games", Run, int!(learner.match_games, 0, 1_000)).unit("unit.games").when(board),
        knob("engine", Run, choice!(engine: EngineChoice { "cpu" => Cpu })),
    ]
};
