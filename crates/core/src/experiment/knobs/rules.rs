//! What one field means for another: bounds that involve several, which algorithm fits which world, derived figures.

use super::{KNOBS, knob, table};
use crate::base::lanes::padded;
use crate::env::api::EnvInfo;
use crate::env::matrix_game::{ACTIONS, PAYOFF};
use crate::env::pellet::PelletError;
use crate::env::registry::EnvError;
use crate::experiment::snapshot::Sentence;
use crate::experiment::spec::{
    AdvantageChoice, AlgoChoice, CellKind, EnvChoice, ExperimentSpec, GameChoice, Payoffs, StartChoice,
};
use crate::experiment::world;
use crate::marl::registry::{Refusal, accepts};

/// Bytes that replay and the largest batch may take together.
const MEMORY: u64 = 256 << 20;
/// Longest rollout, env steps of an environment.
const LONGEST_ROLLOUT: u32 = 128;
/// Evaluation points of one budget, so that a curve stays a curve.
const EVALUATIONS: u32 = 5_000;

/// Brings every field into its range, then fields that bound one another into agreement. One sentence per change; its
/// first argument is the key. What remains impossible (walls around a start) is for [`world::build`] to say.
pub fn normalise(spec: &mut ExperimentSpec) -> Vec<Sentence> {
    let mut told: Vec<Sentence> = KNOBS.iter().filter_map(|knob| knob.clamp(spec)).collect();
    match spec.env {
        EnvChoice::Pellet => normalise_pellet(spec, &mut told),
        EnvChoice::Matrix => normalise_matrix(spec, &mut told),
        EnvChoice::TwoStep => {
            let game = &mut spec.two_step;
            for payoff in game.a.iter_mut().chain(&mut game.b) {
                bound_payoff(payoff, &mut told);
            }
        }
    }
    normalise_run(spec, &mut told);
    told
}

fn normalise_pellet(spec: &mut ExperimentSpec, told: &mut Vec<Sentence>) {
    let (width, height) = (spec.pellet.width, spec.pellet.height);
    if let Some(map) = spec.pellet.map.take_if(|map| map.cells.len() as u32 != width * height) {
        let cells = map.cells.len().to_string();
        told.push(Sentence::new("notice.map_size", &["world", &cells, &format!("{width}x{height}")]));
    }
    // One cell must be left for a pellet wherever the agents stand.
    change(spec, "agents", width * height - 1, Bound::AtMost, "notice.too_many_agents", told);
    if let Err(EnvError::Pellet(PelletError::TooFewPelletCells { room, .. })) = world::env_spec(spec).build() {
        change(spec, "pellets", room.max(1), Bound::AtMost, "notice.too_many_pellets", told);
    }
}

fn normalise_matrix(spec: &mut ExperimentSpec, told: &mut Vec<Sentence>) {
    let has_shape = |table: &Payoffs| {
        ACTIONS.contains(&table.rows)
            && ACTIONS.contains(&table.columns)
            && table.cells.len() == (table.rows * table.columns) as usize
    };
    if spec.matrix.payoffs.take_if(|table| !has_shape(table)).is_some() {
        told.push(Sentence::new("notice.payoff_table", &["world"]));
    }
    if let Some(table) = &mut spec.matrix.payoffs {
        for (first, second) in &mut table.cells {
            bound_payoff(first, told);
            bound_payoff(second, told);
        }
    }
    if spec.matrix.game == GameChoice::Custom && spec.matrix.payoffs.is_none() {
        let game = world::matrix_spec(&spec.matrix);
        spec.matrix.payoffs = Some(Payoffs { rows: game.rows, columns: game.columns, cells: game.payoffs });
    }
}

/// One payoff into its range; a number that is none becomes 0.
fn bound_payoff(payoff: &mut f32, told: &mut Vec<Sentence>) {
    let bounded = if payoff.is_nan() { 0.0 } else { payoff.clamp(*PAYOFF.start(), *PAYOFF.end()) };
    if bounded != *payoff {
        let range = format!("{} … {}", PAYOFF.start(), PAYOFF.end());
        told.push(Sentence::new("notice.clamped", &["world", &payoff.to_string(), &range, &bounded.to_string()]));
    }
    *payoff = bounded;
}

fn normalise_run(spec: &mut ExperimentSpec, told: &mut Vec<Sentence>) {
    if spec.algo.is_policy_gradient() {
        normalise_on_policy(spec, told);
    } else {
        normalise_replay(spec, told);
    }
    let rarest = spec.budget.div_ceil(EVALUATIONS);
    change(spec, "eval_every", rarest, Bound::AtLeast, "notice.too_many_evaluations", told);
}

/// Rollouts of a policy gradient: whole episodes of whole groups where advantages are relative, minibatches that are
/// not empty, and buffers that fit.
fn normalise_on_policy(spec: &mut ExperimentSpec, told: &mut Vec<Sentence>) {
    let Ok(env) = world::env_spec(spec).build() else { return };
    let mut episode = env.info().max_steps;
    if table::group(spec) {
        if episode > LONGEST_ROLLOUT {
            change(spec, "limit", LONGEST_ROLLOUT, Bound::AtMost, "notice.group_limit", told);
            episode = LONGEST_ROLLOUT;
        }
        change(spec, "rollout", episode, Bound::Exactly, "notice.whole_episodes", told);
        let (envs, group) = (spec.learner.envs, spec.learner.group);
        change(spec, "envs", (envs / group).max(1) * group, Bound::Exactly, "notice.whole_groups", told);
    }
    let per_item = memory_on_policy(spec, env.info());
    let most = (MEMORY / per_item / u64::from(spec.learner.envs)).clamp(1, u64::from(LONGEST_ROLLOUT)) as u32;
    change(spec, "rollout", most, Bound::AtMost, "notice.too_much_memory", told);
    let items = spec.learner.envs * spec.learner.rollout;
    change(spec, "minibatches", items, Bound::AtMost, "notice.too_many_minibatches", told);
}

fn normalise_replay(spec: &mut ExperimentSpec, told: &mut Vec<Sentence>) {
    let steps = segment_steps(spec);
    let longest = LONGEST_ROLLOUT / steps * steps;
    let whole = (spec.learner.rollout.div_ceil(steps) * steps).min(longest);
    if whole != spec.learner.rollout {
        change(spec, "rollout", whole, Bound::Exactly, "notice.whole_episodes", told);
    }
    let least = spec.learner.batch.max(spec.learner.envs);
    change(spec, "buffer", least, Bound::AtLeast, "notice.buffer_too_small", told);
    let Ok(env) = world::env_spec(spec).build() else { return };
    let (per_segment, per_row) = memory(spec, env.info());
    // A quarter is enough for the largest batch on networks of the middle size, and leaves room for many segments.
    let batch = (MEMORY / 4 / per_row).max(1).min(u64::from(u32::MAX)) as u32;
    change(spec, "batch", batch, Bound::AtMost, "notice.too_much_memory", told);
    let left = MEMORY - u64::from(spec.learner.batch) * per_row;
    let buffer = (left / per_segment).min(u64::from(u32::MAX)) as u32;
    change(spec, "buffer", buffer, Bound::AtMost, "notice.too_much_memory", told);
}

/// Side on which a bound holds.
#[derive(Clone, Copy)]
enum Bound {
    AtLeast,
    AtMost,
    Exactly,
}

/// Moves a whole-number knob to `bound` where it is on the wrong side, and says so.
fn change(spec: &mut ExperimentSpec, key: &str, bound: u32, side: Bound, id: &str, told: &mut Vec<Sentence>) {
    let Some(super::Kind::Int { get, set, .. }) = knob(key).map(|knob| knob.kind) else { return };
    let given = get(spec);
    let used = match side {
        Bound::AtLeast => given.max(bound),
        Bound::AtMost => given.min(bound),
        Bound::Exactly => bound,
    };
    if used != given {
        set(spec, used);
        told.push(Sentence::new(id, &[key, &given.to_string(), &used.to_string()]));
    }
}

/// Bytes of a segment in replay, and of a segment in a batch with all activations and gradients.
fn memory(spec: &ExperimentSpec, info: &EnvInfo) -> (u64, u64) {
    let l = &spec.learner;
    let lanes = |width: u32| u64::from(padded(width));
    let (agents, actions) = (u64::from(info.num_agents), u64::from(info.num_actions));
    let (obs, state) = (lanes(info.obs_len() + info.num_agents), lanes(info.state_len()));
    let steps = u64::from(info.segment_steps());
    // As `marl::parts::replay::Segments` lays it out.
    let stored = (steps + 1) * (agents * (obs + actions) + state) + steps * (2 * agents + 3);
    let network = agents * (obs + lanes(l.hidden) * u64::from(l.layers) + lanes(info.num_actions));
    let mixer = if spec.algo == AlgoChoice::Qmix {
        let hyper_hidden = if l.hyper_layers == 2 { lanes(l.hyper_hidden) } else { 0 };
        state + 2 * hyper_hidden + (agents + 3) * lanes(l.embed)
    } else {
        agents
    };
    // Values and gradients, online and target.
    (4 * stored, 4 * (stored + (steps + 1) * 4 * (network + mixer)))
}

/// Bytes of an item of a rollout, were all items in one minibatch.
fn memory_on_policy(spec: &ExperimentSpec, info: &EnvInfo) -> u64 {
    let l = &spec.learner;
    let lanes = |width: u32| u64::from(padded(width));
    let (agents, actions) = (u64::from(info.num_agents), u64::from(info.num_actions));
    let (obs, state) = (lanes(info.obs_len() + info.num_agents), lanes(info.state_len()));
    // As `marl::parts::trajectories::Trajectories` lays it out, and what a minibatch copies of it.
    let stored = agents * (3 * obs + 2 * actions + 8) + 3 * state;
    let hidden = lanes(l.hidden) * u64::from(l.layers);
    // Policy and critic in a minibatch, the critic over the rollout.
    let networks = agents * (3 * hidden + 2 * lanes(info.num_actions) + 32);
    4 * (stored + networks)
}

/// [`EnvInfo::segment_steps`] of an experiment's world; 1 of an impossible one.
pub fn segment_steps(spec: &ExperimentSpec) -> u32 {
    world::env_spec(spec).build().map_or(1, |env| env.info().segment_steps())
}

/// Gradient steps per env step, the training ratio.
pub fn gradient_steps_per_env_step(spec: &ExperimentSpec) -> f32 {
    let l = &spec.learner;
    let per_update = if spec.algo.is_policy_gradient() { l.epochs * l.minibatches } else { l.grad_steps };
    per_update as f32 / (l.envs * l.rollout) as f32
}

/// Whether the world is that matrix game.
pub(super) fn plays(spec: &ExperimentSpec, game: GameChoice) -> bool {
    spec.env == EnvChoice::Matrix && spec.matrix.game == game
}

/// Why `algo` cannot be used in this world; `None` where it can.
pub fn why_not(spec: &ExperimentSpec, algo: AlgoChoice) -> Option<Sentence> {
    if algo == AlgoChoice::Mappo && spec.learner.advantage == AdvantageChoice::Group {
        return Some(Sentence::new("refuse.group_has_no_critic", &[algo.info().name]));
    }
    // An impossible world has its own sentence.
    let env = world::env_spec(spec).build().ok()?;
    match accepts(algo, env.info()) {
        Ok(()) => None,
        Err(Refusal::IndividualRewards { algorithm, rewards }) => {
            Some(Sentence::new("refuse.individual_rewards", &[algorithm, &rewards.to_string()]))
        }
    }
}

/// What a reader should know about settings that are allowed but easily misread.
pub fn remarks(spec: &ExperimentSpec) -> Vec<Sentence> {
    let l = &spec.learner;
    let agents = if spec.env == EnvChoice::Pellet { spec.pellet.agents } else { 2 };
    let mixes = spec.algo.info().team_value;
    let pellet = spec.env == EnvChoice::Pellet;
    [
        (agents > 1 && l.shared && !l.agent_id, "remark.no_agent_id"),
        (spec.algo == AlgoChoice::Qmix && !l.monotone, "remark.not_qmix"),
        (pellet && l.timeout_terminal, "remark.timeout_terminal"),
        (pellet && mixes && agents > 1 && spec.pellet.move_cost > 0.0, "remark.costs_summed"),
    ]
    .into_iter()
    .filter(|&(holds, _)| holds)
    .map(|(_, id)| Sentence::new(id, &[]))
    .collect()
}

/// Goes to another world: its own defaults, but the seed and every world's settings stay.
pub fn switch_env(spec: &mut ExperimentSpec, env: EnvChoice) {
    let old = std::mem::replace(spec, ExperimentSpec::defaults(env, spec.algo));
    spec.seed = old.seed;
    keep_worlds(spec, old);
}

/// Goes to another algorithm: what was changed from the old one's defaults stays, the rest follows the new one's.
pub fn switch_algo(spec: &mut ExperimentSpec, algo: AlgoChoice) {
    let old = std::mem::replace(spec, ExperimentSpec::defaults(spec.env, algo));
    let old_defaults = ExperimentSpec::defaults(old.env, old.algo);
    let is_changed = |knob: &&super::Knob| knob.text(&old) != knob.text(&old_defaults);
    for knob in KNOBS.iter().filter(|knob| !matches!(knob.key, "env" | "algo")).filter(is_changed) {
        knob.copy(&old, spec);
    }
    keep_worlds(spec, old);
}

fn keep_worlds(spec: &mut ExperimentSpec, old: ExperimentSpec) {
    spec.pellet = old.pellet;
    spec.matrix = old.matrix;
    spec.two_step = old.two_step;
}

/// Sets everything that has no effect in this experiment to its default, so that equal runs have equal specs.
pub fn forget_unused(spec: &mut ExperimentSpec) {
    let defaults = ExperimentSpec::defaults(spec.env, spec.algo);
    if spec.env != EnvChoice::Pellet {
        spec.pellet = defaults.pellet.clone();
    }
    if spec.env != EnvChoice::Matrix {
        spec.matrix = defaults.matrix.clone();
    }
    if spec.env != EnvChoice::TwoStep {
        spec.two_step = defaults.two_step.clone();
    }
    for knob in &KNOBS {
        if !(knob.applies)(spec) {
            knob.copy(&defaults, spec);
        }
    }
    if spec.matrix.game != GameChoice::Custom {
        spec.matrix.payoffs = None;
    }
    let pellet = &mut spec.pellet;
    if let Some(map) = &mut pellet.map {
        map.starts.truncate(if pellet.start == StartChoice::Placed { pellet.agents as usize } else { 0 });
    }
    pellet.map.take_if(|map| map.starts.is_empty() && map.cells.iter().all(|&cell| cell == CellKind::Free));
}
