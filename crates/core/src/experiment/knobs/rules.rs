//! What one field means for another: bounds that involve several, which algorithm fits which world, derived figures.

use super::{KNOBS, knob, seats, shared, table, values};
use crate::env::api::LONGEST_SEGMENT;
use crate::env::matrix_game::{ACTIONS, PAYOFF};
use crate::env::particles::{MAX_AGENTS, ParticleError};
use crate::env::pellet::PelletError;
use crate::env::pursuit::PursuitError;
use crate::env::registry::EnvError;
use crate::experiment::ladder;
use crate::experiment::run::evaluations;
use crate::experiment::snapshot::Sentence;
use crate::experiment::spec::{
    AdvantageChoice, AlgoChoice, CellKind, EnvChoice, ExperimentSpec, GameChoice, LearnerSettings, NormAdvChoice,
    Payoffs, StartChoice, TeamRewardChoice,
};
use crate::experiment::world::{self, num_agents};
use crate::marl::learner::Learner;
use crate::marl::parts::pool::most_places;
use crate::marl::registry::{Refusal, accepts};

/// Bytes that all buffers of a run may take together, and so any of them.
const MEMORY: u64 = 256 << 20;
/// Longest rollout, env steps of an environment.
pub(super) const LONGEST_ROLLOUT: u32 = 2_048;
/// Env steps of all environments that one update may collect: as many environments as there can be, each with the longest
/// episode that is kept whole.
const LARGEST_ROLLOUT: u32 = 512 * LONGEST_SEGMENT;
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
        EnvChoice::Foraging => {
            change(spec, "food", spec.foraging.most_food(), Bound::AtMost, "notice.too_much_food", &mut told);
        }
        EnvChoice::Pursuit => {
            if let Err(EnvError::Pursuit(PursuitError::Crowded { free, .. })) = world::env_spec(spec).build() {
                change(spec, "evaders", free, Bound::AtMost, "notice.too_many_evaders", &mut told);
            }
            if applies(spec, "n_catch") {
                change(spec, "n_catch", num_agents(spec), Bound::AtMost, "notice.most_catchers", &mut told);
            }
        }
        EnvChoice::Board(_) => {}
        EnvChoice::Particles(scenario) => {
            spec.particles.scenario = scenario;
            if let Err(EnvError::Particles(ParticleError::Together { adversaries, good })) =
                world::env_spec(spec).build()
            {
                let all = MAX_AGENTS as u32;
                spec.particles.good = all - adversaries;
                let [given, used, hunters, all] = [good, all - adversaries, adversaries, all].map(|x| x.to_string());
                told.push(Sentence::new("notice.most_prey", &["prey", &given, &used, &hunters, &all]));
            }
        }
    }
    // Before sizes are judged: they follow from who has a network.
    seats::normalise(spec, &mut told);
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
    let longest = LARGEST_ROLLOUT / spec.learner.envs;
    change(spec, "rollout", longest, Bound::AtMost, "notice.rollout_of_envs", told);
    if spec.algo.is_policy_gradient() {
        normalise_on_policy(spec, told);
    } else {
        normalise_replay(spec, told);
    }
    let rarest = spec.budget.div_ceil(EVALUATIONS);
    change(spec, "eval_every", rarest, Bound::AtLeast, "notice.too_many_evaluations", told);
    normalise_memory(spec, told);
    if table::has_pool(spec) {
        let most = most_places(&spec.learner, num_agents(spec));
        change(spec, "pool", most, Bound::AtMost, "notice.pool_too_large", told);
    }
    if spec.algo.is_policy_gradient() {
        // Last, as the sizes above bound it.
        change(
            spec,
            "minibatches",
            most_minibatches(&spec.learner),
            Bound::AtMost,
            "notice.too_many_minibatches",
            told,
        );
    }
}

/// Rollouts of a policy gradient: whole episodes of whole groups where advantages are relative.
fn normalise_on_policy(spec: &mut ExperimentSpec, told: &mut Vec<Sentence>) {
    let Ok(env) = world::env_spec(spec).build() else { return };
    let mut episode = env.info().max_steps;
    if table::group(spec) {
        if episode > LONGEST_SEGMENT {
            change(spec, "limit", LONGEST_SEGMENT, Bound::AtMost, "notice.group_limit", told);
            episode = LONGEST_SEGMENT;
        }
        change(spec, "rollout", episode, Bound::Exactly, "notice.whole_episodes", told);
        let (envs, group) = (spec.learner.envs, spec.learner.group);
        change(spec, "envs", (envs / group).max(1) * group, Bound::Exactly, "notice.whole_groups", told);
    } else if table::self_play(spec) {
        change(spec, "rollout", num_agents(spec), Bound::AtLeast, "notice.rollout_of_turns", told);
    }
}

fn normalise_replay(spec: &mut ExperimentSpec, told: &mut Vec<Sentence>) {
    let steps = segment_steps(spec);
    let longest = LONGEST_ROLLOUT.min(LARGEST_ROLLOUT / spec.learner.envs) / steps * steps;
    let whole = (spec.learner.rollout.div_ceil(steps) * steps).min(longest);
    if whole != spec.learner.rollout {
        change(spec, "rollout", whole, Bound::Exactly, "notice.whole_episodes", told);
    }
    let least = spec.learner.batch.max(least_room(spec));
    change(spec, "buffer", least, Bound::AtLeast, "notice.buffer_too_small", told);
}

/// Segments that are being recorded: one of every environment; of a board both players' latest moves.
fn least_room(spec: &ExperimentSpec) -> u32 {
    spec.learner.envs * if matches!(spec.env, EnvChoice::Board(_)) { 2 } else { 1 }
}

/// Fields whose product decides the memory of a run, the least missed first.
const SIZES: [&str; 5] = ["batch", "rollout", "envs", "eval_episodes", "hidden"];

/// Shrinks what makes a run larger than [`MEMORY`]. A replay keeps three quarters of it: the rest must fit into one.
fn normalise_memory(spec: &mut ExperimentSpec, told: &mut Vec<Sentence>) {
    if bytes(spec) <= MEMORY {
        return;
    }
    let replays = applies(spec, "buffer");
    let limit = if replays { MEMORY / 4 } else { MEMORY };
    for key in SIZES {
        shrink(spec, key, limit, told, |spec| {
            let mut spec = spec.clone();
            if replays {
                spec.learner.buffer = spec.learner.batch.max(least_room(&spec));
            }
            bytes(&spec)
        });
    }
    shrink(spec, "buffer", MEMORY, told, bytes);
}

/// Brings a whole-number knob down to the largest value with which `size` is within `limit`, or to its smallest; where
/// it decides nothing it stays.
fn shrink(
    spec: &mut ExperimentSpec,
    key: &str,
    limit: u64,
    told: &mut Vec<Sentence>,
    size: impl Fn(&ExperimentSpec) -> u64,
) {
    let Some(super::Kind::Int { step, get, set, .. }) = knob(key).map(|knob| knob.kind) else { return };
    // Whole episodes and whole groups stay whole.
    let step = match key {
        "rollout" if table::group(spec) => return,
        "rollout" if !spec.algo.is_policy_gradient() => segment_steps(spec),
        "envs" if table::group(spec) => spec.learner.group,
        _ => step,
    };
    if !applies(spec, key) || size(spec) <= limit {
        return;
    }
    let size_with = |count: u32| {
        let mut spec = spec.clone();
        set(&mut spec, count * step);
        size(&spec)
    };
    let (mut small, mut large) = (1, get(spec) / step);
    if size_with(small) == size(spec) {
        return;
    }
    while small < large {
        let middle = small + (large - small).div_ceil(2);
        if size_with(middle) <= limit {
            small = middle;
        } else {
            large = middle - 1;
        }
    }
    change(spec, key, small * step, Bound::AtMost, "notice.too_much_memory", told);
}

fn applies(spec: &ExperimentSpec, key: &str) -> bool {
    knob(key).is_some_and(|knob| (knob.applies)(spec))
}

/// Bytes of all buffers of a run, from the very plan it would be built with; 0 where it cannot be built.
fn bytes(spec: &ExperimentSpec) -> u64 {
    let mut spec = spec.clone();
    forget_unused(&mut spec); // as it will be when the run is built
    let l = &mut spec.learner;
    l.minibatches = l.minibatches.min(most_minibatches(l));
    match world::build(&spec) {
        Ok(env) if why_not(&spec, spec.algo).is_none() => {
            let learner = Learner::new(env.into(), spec.algo, &spec.learner, spec.seed, evaluations(&spec));
            learner.plan.bytes() + ladder::bytes(&learner)
        }
        _ => 0,
    }
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

/// [`segment_steps`](crate::env::api::EnvInfo::segment_steps) of an experiment's world; 1 of an impossible one.
pub fn segment_steps(spec: &ExperimentSpec) -> u32 {
    world::env_spec(spec).build().map_or(1, |env| env.info().segment_steps())
}

/// Gradient steps per env step, the training ratio.
pub fn gradient_steps_per_env_step(spec: &ExperimentSpec) -> f32 {
    gradient_steps_per_update(spec) as f32 / (spec.learner.envs * spec.learner.rollout) as f32
}

/// Minibatches that a rollout has items for: two each where advantages are normalised, for one alone is always average.
fn most_minibatches(l: &LearnerSettings) -> u32 {
    let least = if l.norm_adv == NormAdvChoice::Off { 1 } else { 2 };
    (l.envs * l.rollout / least).max(1)
}

/// Gradient steps of one update.
pub fn gradient_steps_per_update(spec: &ExperimentSpec) -> u32 {
    let l = &spec.learner;
    match spec.algo.info() {
        algo if algo.is_counterfactual => l.epochs * l.minibatches + 1,
        algo if algo.is_ppo() => l.epochs * l.minibatches,
        _ => l.grad_steps,
    }
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
    match accepts(algo, spec.learner.team_reward, env.info()) {
        Ok(()) => None,
        Err(Refusal::ZeroSum { algorithm }) => Some(Sentence::new("refuse.zero_sum", &[algorithm])),
        Err(Refusal::IndividualRewards { algorithm, rewards }) => {
            let rewards = rewards.to_string();
            Some(match remedy(spec) {
                None => Sentence::new("refuse.individual_rewards", &[algorithm, &rewards]),
                Some((knob, value)) => {
                    let pair = format!("{}={value}", knob.key);
                    Sentence::new("refuse.individual_rewards.remedy", &[algorithm, &rewards, &knob.text_id(), &pair])
                }
            })
        }
    }
}

/// Values with which a world pays its team together, where it has such a choice.
const PAID_TOGETHER: [(&str, &str); 3] = [("reward", "team"), ("shared_reward", "on"), ("local_ratio", "0")];

/// The one of them with which this world has a team reward.
fn remedy(spec: &ExperimentSpec) -> Option<(&'static super::Knob, &'static str)> {
    let all = PAID_TOGETHER.into_iter().filter_map(|(key, value)| Some((knob(key)?, value)));
    all.filter(|(knob, _)| (knob.applies)(spec)).find(|(knob, value)| {
        let mut then = spec.clone();
        let told = knob.read(&mut then, value);
        told.is_none() && world::env_spec(&then).build().is_ok_and(|env| env.info().team_reward)
    })
}

/// Goes to the independent algorithm of the family where the chosen one does not suit the world, and returns why it does
/// not.
pub fn suit_algo(spec: &mut ExperimentSpec) -> Option<Sentence> {
    let reason = why_not(spec, spec.algo)?;
    let instead = if spec.algo.is_policy_gradient() { AlgoChoice::Ippo } else { AlgoChoice::Iql };
    switch_algo(spec, instead);
    Some(reason)
}

/// What a reader should know about settings that are allowed but easily misread.
pub fn remarks(spec: &ExperimentSpec) -> Vec<Sentence> {
    let l = &spec.learner;
    let agents = num_agents(spec);
    let mixes = spec.algo.info().team_value;
    let team = if applies(spec, "team") { l.team_reward } else { TeamRewardChoice::Given };
    let pellet = spec.env == EnvChoice::Pellet;
    // A board is seen from the mover's side, and its pieces say who began.
    let board = matches!(spec.env, EnvChoice::Board(_));
    [
        (!(0..agents).any(|agent| l.seats.of(agent).learns()), "remark.nobody_learns"),
        (agents > 1 && l.shared && !l.agent_id && !board, "remark.no_agent_id"),
        (spec.algo == AlgoChoice::Qmix && !l.monotone, "remark.not_qmix"),
        (shared::has_limit(spec) && l.timeout_terminal, "remark.timeout_terminal"),
        (team == TeamRewardChoice::Sum, "remark.rewards_summed"),
        (team == TeamRewardChoice::Mean, "remark.rewards_averaged"),
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

/// Learning rates times `factor`, the critic's like the agents', each within its range.
pub fn scale_lr(spec: &mut ExperimentSpec, factor: f64) {
    for key in ["lr", "lr_end", "critic_lr"] {
        let Some(super::Kind::Float { min, max, get, set, .. }) = knob(key).map(|knob| knob.kind) else { continue };
        if applies(spec, key) {
            let scaled = values::six_digits(f64::from(get(spec)) * factor);
            set(spec, scaled.clamp(min, max));
        }
    }
}

fn keep_worlds(spec: &mut ExperimentSpec, old: ExperimentSpec) {
    spec.pellet = old.pellet;
    spec.matrix = old.matrix;
    spec.two_step = old.two_step;
    spec.foraging = old.foraging;
    spec.pursuit = old.pursuit;
    // Scenarios share their parameters, not what these begin with.
    let is_other = matches!(spec.env, EnvChoice::Particles(scenario) if scenario != old.particles.scenario);
    if !is_other {
        spec.particles = old.particles;
    }
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
    if spec.env != EnvChoice::Foraging {
        spec.foraging = defaults.foraging.clone();
    }
    if spec.env != EnvChoice::Pursuit {
        spec.pursuit = defaults.pursuit.clone();
    }
    if !matches!(spec.env, EnvChoice::Particles(_)) {
        spec.particles = defaults.particles.clone();
    }
    for knob in &KNOBS {
        if !(knob.applies)(spec) {
            knob.copy(&defaults, spec);
        }
    }
    if spec.matrix.game != GameChoice::Custom {
        spec.matrix.payoffs = None;
    }
    seats::forget_unused(spec);
    let pellet = &mut spec.pellet;
    if let Some(map) = &mut pellet.map {
        map.starts.truncate(if pellet.start == StartChoice::Placed { pellet.agents as usize } else { 0 });
    }
    pellet.map.take_if(|map| map.starts.is_empty() && map.cells.iter().all(|&cell| cell == CellKind::Free));
}
