//! Minibatches of a rollout: each pass goes through its items in a new order, each gradient step takes the next
//! ⌊T·E / minibatches⌋ of them; what is left over waits for the next pass.

use super::agents::Agents;
use super::clock::{Clock, GRADIENT_STEP};
use super::policy_loss::Statistics;
use crate::base::float::Real;
use crate::base::lanes::padded;
use crate::base::rng::{Permutation, Stream};
use crate::nn::graph::{Compute, Content, Id, Plan, Reals, Training, View, Wires, Words};

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
}

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
