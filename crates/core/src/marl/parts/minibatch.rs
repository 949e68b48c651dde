//! Minibatches of a rollout: each pass goes through its items in a new order, each gradient step takes the next
//! ⌊T·E / minibatches⌋ of them; what is left over waits for the next pass.

use super::agents::Agents;
use super::clock::{Clock, GRADIENT_STEP};
use super::policy_loss::Statistics;
use crate::base::float::Real;
use crate::base::lanes::padded;
use crate::base::rng::{Permutation, Stream};
use crate::nn::graph::{Compute, Content, Id, Plan, Reals, Training, View, Wires, Words};
use crate::nn::shader::{Domain, Shader};

/// What a gradient step looks at: M items of a rollout, with what was computed for them.
#[derive(Clone, Copy, Debug)]
pub struct Minibatch {
    /// M.
    pub count: u32,
    /// o with ids `[M, n, padded(O + n)]`.
    pub obs: Id<Reals, Training>,
    /// Legal actions `[M, n, |A|]`.
    pub mask: Id<Words, Training>,
    /// Joint actions `[M, n]`.
    pub action: Id<Words, Training>,
    /// ln π(a_i|o_i) of the policy that acted `[M, n]`.
    pub log_prob: Id<Reals, Training>,
    /// A `[M, columns]`.
    pub advantage: Id<Reals, Training>,
    /// 1 for env steps that happened `[M]`.
    pub weight: Id<Reals, Training>,
}

impl Minibatch {
    /// Buffers for `count` items of `agents`, with `columns` advantages each.
    pub fn new(plan: &mut Plan, count: u32, agents: &Agents, columns: u32) -> Self {
        let (n, obs, actions) = (agents.count, padded(agents.shape.inputs()), agents.shape.outputs());
        let id = |part: &str| format!("minibatch.{part}");
        Self {
            count,
            obs: plan.buffer(&id("observation"), &[count, n, obs]),
            mask: plan.buffer(&id("mask"), &[count, n, actions]),
            action: plan.buffer(&id("action"), &[count, n]),
            log_prob: plan.buffer(&id("log_prob"), &[count, n]),
            advantage: plan.buffer(&id("advantage"), &[count, columns]),
            weight: plan.buffer(&id("weight"), &[count]),
        }
    }
}

/// First kernel of a pass over the rollout: a new order, and statistics from the beginning.
#[derive(Clone, Copy, Debug)]
pub struct BeginPass {
    /// Keys at counter (gradient steps so far, 0, 0, 0).
    pub stream: Stream,
    /// Gradient steps.
    pub clock: Clock,
    /// Item at each place `[T·E]`.
    pub order: Id<Words, Training>,
    /// Of the policy, over one pass.
    pub statistics: Statistics,
}

impl Compute for BeginPass {
    type Side = Training;
    const NAME: &'static str = "begin_pass";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.clock.counters).writes(self.order);
        wires.writes(self.statistics.histogram).writes(self.statistics.sums);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let keys = self.stream.words([view.read(self.clock.counters)[GRADIENT_STEP], 0, 0, 0]);
        let mut order = view.write(self.order);
        let permutation = Permutation::new(keys, order.len() as u32);
        for (place, item) in (0..).zip(order.iter_mut()) {
            *item = permutation.at(place);
        }
        view.write(self.statistics.histogram).fill(0);
        view.write(self.statistics.sums).fill(0.0);
    }
    fn shaders(&self, plan: &Plan) -> Option<Vec<Shader>> {
        let (items, bins) = (plan.len(self.order), plan.len(self.statistics.histogram));
        let shader = Shader::new(Self::NAME, include_str!("../wgsl/begin_pass.wgsl"))
            .key(self.stream)
            .buffer("CLOCK", self.clock.counters)
            .buffer("ORDER", self.order)
            .word("ITEMS", items)
            .word("HALF", Permutation::half(items))
            .buffer("HISTOGRAM", self.statistics.histogram)
            .word("BINS", bins)
            .buffer("SUMS", self.statistics.sums)
            .word("SUMS_LEN", plan.len(self.statistics.sums))
            .stage(Self::NAME, Domain::Elements(items.max(bins)));
        Some(vec![shader])
    }
}

/// Copies the rows of this gradient step's items.
#[derive(Clone, Debug)]
pub struct Gather {
    /// Gradient steps.
    pub clock: Clock,
    /// Minibatches of a pass.
    pub minibatches: u32,
    /// Gradient steps of an update, which may take others beside those on minibatches.
    pub per_update: u32,
    /// Item at each place `[T·E]`.
    pub order: Id<Words, Training>,
    /// Pairs of buffers of reals: of all items, of the minibatch's.
    pub reals: Vec<(Id<Reals, Training>, Id<Reals, Training>)>,
    /// Pairs of buffers of words.
    pub words: Vec<(Id<Words, Training>, Id<Words, Training>)>,
    /// M.
    pub count: u32,
}

impl Compute for Gather {
    type Side = Training;
    const NAME: &'static str = "gather";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.clock.counters).reads(self.order);
        self.reals.iter().for_each(|&(from, to)| _ = wires.reads(from).writes(to));
        self.words.iter().for_each(|&(from, to)| _ = wires.reads(from).writes(to));
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let order = view.read(self.order);
        // The gradient step has been counted, from 1.
        let number = (view.read(self.clock.counters)[GRADIENT_STEP] - 1) % self.per_update % self.minibatches;
        let items = &order[(number * self.count) as usize..][..self.count as usize];
        self.reals.iter().for_each(|&(from, to)| gather(&view, from, to, items));
        self.words.iter().for_each(|&(from, to)| gather(&view, from, to, items));
    }
    fn shaders(&self, plan: &Plan) -> Option<Vec<Shader>> {
        let mut shader = Shader::new(Self::NAME, include_str!("../wgsl/gather.wgsl"))
            .buffer("CLOCK", self.clock.counters)
            .buffer("ORDER", self.order)
            .word("MINIBATCHES", self.minibatches)
            .word("PER_UPDATE", self.per_update)
            .word("COUNT", self.count)
            .across(Self::NAME, Domain::Items(self.count));
        debug_assert!(self.reals.len() <= REAL_PAIRS.len() && self.words.len() <= WORD_PAIRS.len());
        for (&(from, to), [name, to_name, len]) in self.reals.iter().zip(REAL_PAIRS) {
            shader = shader.buffer(name, from).buffer(to_name, to).word(len, plan.len(to) / self.count);
        }
        for (&(from, to), [name, to_name, len]) in self.words.iter().zip(WORD_PAIRS) {
            shader = shader.buffer(name, from).buffer(to_name, to).word(len, plan.len(to) / self.count);
        }
        Some(vec![shader])
    }
}

/// What a shader calls a pair of buffers and the numbers an item has of them.
const REAL_PAIRS: [[&str; 3]; 7] = [
    ["REAL_FROM_0", "REAL_TO_0", "REAL_LEN_0"],
    ["REAL_FROM_1", "REAL_TO_1", "REAL_LEN_1"],
    ["REAL_FROM_2", "REAL_TO_2", "REAL_LEN_2"],
    ["REAL_FROM_3", "REAL_TO_3", "REAL_LEN_3"],
    ["REAL_FROM_4", "REAL_TO_4", "REAL_LEN_4"],
    ["REAL_FROM_5", "REAL_TO_5", "REAL_LEN_5"],
    ["REAL_FROM_6", "REAL_TO_6", "REAL_LEN_6"],
];
const WORD_PAIRS: [[&str; 3]; 2] =
    [["WORD_FROM_0", "WORD_TO_0", "WORD_LEN_0"], ["WORD_FROM_1", "WORD_TO_1", "WORD_LEN_1"]];

fn gather<R: Real, T: Content>(
    view: &View<'_, R, Training>,
    from: Id<T, Training>,
    to: Id<T, Training>,
    items: &[u32],
) {
    let (from, mut to) = (view.read(from), view.write(to));
    let width = to.len() / items.len();
    for (row, &item) in to.chunks_exact_mut(width).zip(items) {
        row.copy_from_slice(&from[item as usize * width..][..width]);
    }
}
