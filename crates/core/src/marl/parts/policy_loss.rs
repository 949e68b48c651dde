//! PPO's loss (Schulman et al. 2017, arXiv 1707.06347, eq. 7 and 9) and its gradients at the networks' outputs:
//!
//!   L = −mean min(r·A, clip(r, 1 − ε, 1 + ε)·A) + c_v·mean (V − R)² − c_e·mean H(π),   r = π(a|o) / π_old(a|o).
//!
//! Means are weighted: padding counts nothing, and an agent without a legal action has neither ratio nor entropy.

use super::advantage::normalise;
use super::clock::{Clock, ENTROPY_NOW, LOSS};
use super::critic::Heads;
use super::minibatch::Minibatch;
use crate::base::float::Real;
use crate::base::lanes::padded;
use crate::marl::seats::Members;
use crate::nn::cpu::MaskedSoftmax;
use crate::nn::graph::{Compute, Doubles, Id, Plan, Reals, Training, View, Wires, Words};
use crate::nn::shader::{Domain, Scratch, Shader};

/// What a pass over the rollout shows of how the policy moves.
#[derive(Clone, Copy, Debug)]
pub struct Statistics {
    /// Ratios r of all agents' actions `[BINS]`, over 0.5 ..= 1.5; the outermost bins hold what lies beyond.
    pub histogram: Id<Words, Training>,
    /// Sums, see the constants below.
    pub sums: Id<Doubles, Training>,
    /// Of the whole rollout: Σ w·(R − V)² and Σ w·(R − mean R)² `[2]`, V being what the critic said before learning.
    pub fit: Id<Doubles, Training>,
}

/// Bins of the ratio's histogram.
pub const BINS: u32 = 32;
/// Index into [`Statistics::sums`]: weights of actions.
pub const ACTIONS: usize = 0;
/// Actions whose ratio lies outside the clip range.
pub const CLIPPED: usize = 1;
/// Σ (r − 1) − ln r, an estimate of KL(π_old ‖ π) that is never negative (Schulman 2020).
pub const KL: usize = 2;
/// Entropies.
pub const ENTROPIES: usize = 3;
/// Losses of values, without their coefficient.
pub const VALUE_LOSS: usize = 4;
/// Gradient steps these are the losses of.
pub const VALUE_STEPS: usize = 5;
const SUMS: u32 = 6;

impl Statistics {
    /// Its buffers.
    pub fn new(plan: &mut Plan) -> Self {
        Self {
            histogram: plan.buffer("statistics.ratio", &[BINS]),
            sums: plan.buffer("statistics.sums", &[SUMS]),
            fit: plan.buffer("statistics.fit", &[2]),
        }
    }
}

/// Added to the deviation that advantages are divided by (Yu et al. 2022, as in their code).
const DEVIATION_EPS: f32 = 1e-5;

/// Over whom advantages are normalised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normalise {
    /// Nobody.
    Off,
    /// All agents that can act.
    Batch,
    /// Each agent for itself.
    Agent,
}

/// The policy's part of the loss, and ∂L/∂logits.
#[derive(Clone, Copy, Debug)]
pub struct PolicyLoss {
    /// n.
    pub agents: u32,
    /// |A|.
    pub actions: u32,
    /// Advantages of an item: n, or 1 that all agents share.
    pub columns: u32,
    /// Who learns: the others have neither ratio nor entropy.
    pub learners: Members,
    /// ε.
    pub clip: f32,
    /// Normalisation of the advantages.
    pub normalise: Normalise,
    /// The minibatch.
    pub batch: Minibatch,
    /// Logits of the policy as it is now `[M, n, padded(|A|)]`.
    pub logits: Id<Reals, Training>,
    /// ∂L/∂logits, the same shape.
    pub dlogits: Id<Reals, Training>,
    /// Advantages as they enter the loss, normalised where that is asked for `[M, n]`.
    pub scaled: Id<Reals, Training>,
    /// Weight of the entropy, and where the loss goes.
    pub clock: Clock,
    /// What is told of the policy.
    pub statistics: Statistics,
}

impl Compute for PolicyLoss {
    type Side = Training;
    const NAME: &'static str = "policy_loss";
    fn wires(&self, wires: &mut Wires) {
        let b = &self.batch;
        wires.reads(b.mask).reads(b.action).reads(b.log_prob).reads(b.advantage).reads(b.weight).reads(self.logits);
        wires.writes(self.dlogits).writes(self.scaled).writes(self.clock.scalars);
        wires.writes(self.statistics.histogram).writes(self.statistics.sums);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let b = &self.batch;
        let (n, a, width) = (self.agents as usize, self.actions as usize, padded(self.actions) as usize);
        let (mask, action, old) = (view.read(b.mask), view.read(b.action), view.read(b.log_prob));
        let (weight, logits, mut dlogits) = (view.read(b.weight), view.read(self.logits), view.write(self.dlogits));
        let mut scalars = view.write(self.clock.scalars);
        let mut statistics =
            Told { sums: &mut view.write(self.statistics.sums), bins: &mut view.write(self.statistics.histogram) };
        let mut scaled = view.write(self.scaled);
        let legal = |row: usize| legal_of(&mask, a, row);
        // An agent that has nothing to decide (it waits, or has but one choice) or does not learn has no part in the mean.
        let counts = |row: usize| self.learners.contains((row % n) as u32) && can_choose(legal(row));
        let mean = Mean { weight: &weight, columns: n, counts };
        self.scale(&view.read(b.advantage), |row| mean.weight_of(row), &mut scaled);
        let (low, high) = (R::from_f32(1.0 - self.clip), R::from_f32(1.0 + self.clip));
        let entropy_weight = scalars[ENTROPY_NOW];
        let mut loss = R::ZERO;
        dlogits.fill(R::ZERO);
        for Share { row, weight, part } in mean.rows() {
            let z = &logits[row * width..row * width + a];
            // Until each is replaced by its gradient, probabilities lie where the gradients will.
            let d = &mut dlogits[row * width..row * width + a];
            let policy = MaskedSoftmax::with_probs(z, legal(row), d).expect("who counts has a legal action");
            let (taken, advantage) = (action[row] as usize, scaled[row]);
            let log_ratio = policy.log_prob(z[taken]) - old[row];
            let ratio = log_ratio.exp();
            let clipped = Real::min(Real::max(ratio, low), high);
            let (free, bounded) = (ratio * advantage, clipped * advantage);
            // Where the clipped term is the smaller one, it does not depend on the policy.
            let dlog_prob = if free > bounded { R::ZERO } else { free };
            let mut entropy = R::ZERO;
            for ((&z, &p), _) in z.iter().zip(&*d).zip(legal(row)).filter(|(_, legal)| **legal != 0) {
                entropy += -(p * policy.log_prob(z));
            }
            loss += part * (-Real::min(free, bounded) - entropy_weight * entropy);
            for (k, (d, &z)) in d.iter_mut().zip(z).enumerate().filter(|(k, _)| legal(row)[*k] != 0) {
                let p = *d;
                let chosen = if k == taken { R::ONE } else { R::ZERO };
                let of_entropy = entropy_weight * p * (policy.log_prob(z) + entropy);
                *d = part * (of_entropy - dlog_prob * (chosen - p));
            }
            statistics.add(weight.to_f64(), ratio.to_f64(), log_ratio.to_f64(), entropy.to_f64(), ratio != clipped);
        }
        scalars[LOSS] = loss;
    }
    fn shaders(&self, _: &Plan) -> Option<Vec<Shader>> {
        let (b, n) = (&self.batch, self.agents);
        let normalises = match self.normalise {
            Normalise::Off => 0,
            Normalise::Batch => 1,
            Normalise::Agent => 2,
        };
        let items = Domain::Items(b.count);
        let shader = Shader::new(Self::NAME, include_str!("../wgsl/policy_loss.wgsl"))
            .word("ITEMS", b.count)
            .word("AGENTS", n)
            .word("ACTIONS", self.actions)
            .word("OUTPUT_WIDTH", padded(self.actions))
            .word("COLUMNS", self.columns)
            .word("LEARNERS", self.learners.bits())
            .real("CLIP", self.clip)
            .word("NORMALISES", normalises)
            .buffer("MASK", b.mask)
            .buffer("ACTION", b.action)
            .buffer("LOG_PROB", b.log_prob)
            .buffer("ADVANTAGE", b.advantage)
            .buffer("WEIGHT", b.weight)
            .buffer("LOGITS", self.logits)
            .buffer("DLOGITS", self.dlogits)
            .buffer("SCALED", self.scaled)
            .buffer("SCALARS", self.clock.scalars)
            .buffer("HISTOGRAM", self.statistics.histogram)
            .word("BINS", BINS)
            .buffer("SUMS", self.statistics.sums)
            .scratch("ROW_WEIGHT", b.count * n)
            .scratch("ROW_BIN", b.count * n)
            .own(Scratch { name: "TOLD", len: 5, per_tile: true, per_step: false })
            .stage("policy_rows", items)
            .across(Self::NAME, items)
            .stage("end_policy_loss", Domain::Solo);
        Some(vec![shader])
    }
}

impl PolicyLoss {
    /// Advantages of all agents, less their mean and divided by their deviation where that is asked for.
    fn scale<R: Real>(&self, advantage: &[R], acts: impl Fn(usize) -> R, scaled: &mut [R]) {
        let (n, columns) = (self.agents as usize, self.columns as usize);
        for (row, a) in scaled.iter_mut().enumerate() {
            *a = advantage[row / n * columns + if columns == 1 { 0 } else { row % n }];
        }
        let (first, step) = match self.normalise {
            Normalise::Off => (0..0, 1),
            Normalise::Batch => (0..1, 1),
            Normalise::Agent => (0..n, n),
        };
        for start in first {
            normalise(&mut scaled[start..], step, |at| acts(start + at), false, DEVIATION_EPS);
        }
    }
}

/// What the losses are: a weighted mean over the rows of a minibatch, `columns` of them an item.
pub(super) struct Mean<'a, R, C> {
    /// Weights of the items `[M]`.
    pub(super) weight: &'a [R],
    pub(super) columns: usize,
    /// Whether a row has a part in it.
    pub(super) counts: C,
}

/// A row with a part in a [`Mean`].
pub(super) struct Share<R> {
    pub(super) row: usize,
    pub(super) weight: R,
    /// Its weight, divided by those of all rows.
    pub(super) part: R,
}

impl<R: Real, C: Fn(usize) -> bool> Mean<'_, R, C> {
    fn weight_of(&self, row: usize) -> R {
        if (self.counts)(row) { self.weight[row / self.columns] } else { R::ZERO }
    }

    /// The rows of weight, in ascending order.
    pub(super) fn rows(&self) -> impl Iterator<Item = Share<R>> {
        let all = 0..self.weight.len() * self.columns;
        let total = all.clone().fold(R::ZERO, |sum, row| sum + self.weight_of(row));
        let share = if total > R::ZERO { R::ONE / total } else { R::ZERO };
        all.map(move |row| (row, self.weight_of(row)))
            .filter(|&(_, weight)| weight != R::ZERO)
            .map(move |(row, weight)| Share { row, weight, part: weight * share })
    }
}

/// Legal actions of an agent at an item.
pub(super) fn legal_of(mask: &[u32], actions: usize, row: usize) -> &[u32] {
    &mask[row * actions..(row + 1) * actions]
}

pub(super) fn can_choose(legal: &[u32]) -> bool {
    legal.iter().filter(|&&legal| legal != 0).count() > 1
}

fn can_act(legal: &[u32]) -> bool {
    legal.iter().any(|&legal| legal != 0)
}

/// [`Statistics`] being written.
struct Told<'a> {
    sums: &'a mut [f64],
    bins: &'a mut [u32],
}

impl Told<'_> {
    fn add(&mut self, weight: f64, ratio: f64, log_ratio: f64, entropy: f64, is_clipped: bool) {
        self.sums[ACTIONS] += weight;
        self.sums[CLIPPED] += if is_clipped { weight } else { 0.0 };
        self.sums[KL] += weight * ((ratio - 1.0) - log_ratio);
        self.sums[ENTROPIES] += weight * entropy;
        // What is no number goes nowhere near a bin; `as` saturates.
        let bin = ((ratio - 0.5) * f64::from(BINS)) as u32;
        self.bins[bin.min(BINS - 1) as usize] += 1;
    }
}

/// The values' part of the loss, added to the policy's, and ∂L/∂outputs of the critic. With value clipping an error is
/// the larger one of V and of V kept within ± clip of what it was in the rollout, all on the critic's own scale.
#[derive(Clone, Copy, Debug)]
pub struct ValueLoss {
    /// n.
    pub agents: u32,
    /// |A|.
    pub actions: u32,
    /// Where values lie.
    pub heads: Heads,
    /// Coefficient c_v.
    pub coefficient: f32,
    /// Clip range; 0 is off.
    pub clip: f32,
    /// Whether an agent without a legal action has no value loss.
    pub masks_inactive: bool,
    /// The minibatch (masks, weights).
    pub batch: Minibatch,
    /// V in the rollout `[M, columns]`.
    pub value: Id<Reals, Training>,
    /// R `[M, columns]`.
    pub target: Id<Reals, Training>,
    /// Outputs of the critic as it is now.
    pub y: Id<Reals, Training>,
    /// ∂L/∂outputs.
    pub dy: Id<Reals, Training>,
    /// Where the loss is added.
    pub clock: Clock,
    /// What is told of the loss.
    pub statistics: Statistics,
}

impl Compute for ValueLoss {
    type Side = Training;
    const NAME: &'static str = "value_loss";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.batch.mask).reads(self.batch.weight).reads(self.value).reads(self.target).reads(self.y);
        wires.writes(self.dy).writes(self.clock.scalars).writes(self.statistics.sums);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let (mask, weight) = (view.read(self.batch.mask), view.read(self.batch.weight));
        let (value, target, y) = (view.read(self.value), view.read(self.target), view.read(self.y));
        let (mut dy, mut scalars) = (view.write(self.dy), view.write(self.clock.scalars));
        let (columns, a) = (self.heads.columns as usize, self.actions as usize);
        let (c, range, two) = (R::from_f32(self.coefficient), R::from_f32(self.clip), R::from_f32(2.0));
        // The team's value has no agent that could be without a legal action.
        let masks = self.masks_inactive && self.heads.columns == self.agents;
        let counts = |row: usize| {
            let learns = self.heads.trained.contains((row % columns) as u32);
            learns && (!masks || can_act(legal_of(&mask, a, row)))
        };
        let mean = Mean { weight: &weight, columns, counts };
        let mut loss = R::ZERO;
        dy.fill(R::ZERO);
        for Share { row: k, part, .. } in mean.rows() {
            let at = self.heads.output(k / columns, k % columns);
            let error = y[at] - target[k];
            let moved = y[at] - value[k];
            let held = value[k] + Real::min(Real::max(moved, -range), range) - target[k];
            let is_held = self.clip > 0.0 && moved.abs() > range && held * held > error * error;
            let (error, slope) = if is_held { (held, R::ZERO) } else { (error, R::ONE) };
            loss += part * error * error;
            dy[at] = c * part * two * error * slope;
        }
        scalars[LOSS] += c * loss;
        let mut sums = view.write(self.statistics.sums);
        sums[VALUE_LOSS] += loss.to_f64();
        sums[VALUE_STEPS] += 1.0;
    }
    fn shaders(&self, _: &Plan) -> Option<Vec<Shader>> {
        let (b, items) = (&self.batch, Domain::Items(self.batch.count));
        let masks = self.masks_inactive && self.heads.columns == self.agents;
        let shader = self
            .heads
            .shader(Self::NAME, include_str!("../wgsl/value_loss.wgsl"), self.y, None)
            .word("ITEMS", b.count)
            .word("ACTIONS", self.actions)
            .word("TRAINED", self.heads.trained.bits())
            .real("COEFFICIENT", self.coefficient)
            .real("CLIP", self.clip)
            .flag("MASKS_INACTIVE", masks)
            .buffer("MASK", b.mask)
            .buffer("WEIGHT", b.weight)
            .buffer("VALUE", self.value)
            .buffer("TARGET", self.target)
            .buffer("DY", self.dy)
            .buffer("SCALARS", self.clock.scalars)
            .buffer("SUMS", self.statistics.sums)
            .scratch("ROW_WEIGHT", b.count * self.heads.columns)
            .own(Scratch { name: "LOSSES", len: 1, per_tile: true, per_step: false })
            .stage("value_rows", items)
            .across(Self::NAME, items)
            .stage("end_value_loss", Domain::Solo);
        Some(vec![shader])
    }
}

/// How much of the returns' variance the critic knew before it learned from them.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    /// The value columns that are trained.
    pub columns: Members,
    /// 1 for env steps that happened `[items]`.
    pub weight: Id<Reals, Training>,
    /// V `[items, M]`.
    pub value: Id<Reals, Training>,
    /// R `[items, M]`.
    pub target: Id<Reals, Training>,
    /// Where the sums go.
    pub statistics: Statistics,
}

impl Compute for Fit {
    type Side = Training;
    const NAME: &'static str = "value_fit";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.weight).reads(self.value).reads(self.target).writes(self.statistics.fit);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let (weight, value, target) = (view.read(self.weight), view.read(self.value), view.read(self.target));
        let columns = target.len() / weight.len();
        let all = || {
            target
                .iter()
                .zip(value.iter())
                .enumerate()
                .filter(|(k, _)| self.columns.contains((k % columns) as u32))
                .map(|(k, (r, v))| (weight[k / columns].to_f64(), r.to_f64(), v.to_f64()))
        };
        let count: f64 = all().map(|(w, ..)| w).sum();
        let mean = all().map(|(w, r, _)| w * r).sum::<f64>() / Real::max(count, 1.0);
        let mut fit = view.write(self.statistics.fit);
        fit[0] = all().map(|(w, r, v)| w * (r - v) * (r - v)).sum();
        fit[1] = all().map(|(w, r, _)| w * (r - mean) * (r - mean)).sum();
    }
    fn shaders(&self, plan: &Plan) -> Option<Vec<Shader>> {
        let items = plan.len(self.weight);
        let shader = Shader::new(Self::NAME, include_str!("../wgsl/value_fit.wgsl"))
            .word("ITEMS", items)
            .word("COLUMNS", plan.len(self.value) / items)
            .word("TRAINED", self.columns.bits())
            .buffer("WEIGHT", self.weight)
            .buffer("VALUE", self.value)
            .buffer("TARGET", self.target)
            .buffer("FIT", self.statistics.fit)
            .stage(Self::NAME, Domain::Solo);
        Some(vec![shader])
    }
}
