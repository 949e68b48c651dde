//! Critics V: of each agent's observation (IPPO) or of the state (MAPPO). They exist in training only.
//!
//! A *value column* m is what one advantage is computed from: an agent (M = n) or the team (M = 1). A local critic has
//! one network for all agents or one each, with one output; a central one has an output per column, a *head*.
//!
//! The values of agents that do not learn lie still: a network of their own, or a head, keeps every bit. What a head
//! says may change all the same, for the hidden layers below it are trained by those who learn.

use std::ops::Range;

use super::optimise::Block;
use super::popart::{Moments, Scale};
use super::trajectories::Trajectories;
use crate::base::float::Real;
use crate::base::lanes::padded;
use crate::marl::seats::Members;
use crate::nn::calls::{MlpBackward, MlpForward, Rows};
use crate::nn::cpu::mlp_forward;
use crate::nn::graph::{Compute, Id, List, Phase, Plan, Reals, Training, View, Wires};
use crate::nn::layers::{Activation, Layout, Mlp};
use crate::nn::shader::{Domain, Shader};

/// What a critic sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CriticView {
    /// Each agent's observation.
    Local,
    /// The state.
    Central,
}

/// A critic and its parameters.
#[derive(Clone, Debug)]
pub struct Critic {
    /// What it sees.
    pub sees: CriticView,
    /// One network, or one per agent.
    pub nets: Vec<Mlp>,
    /// Names and places of its tensors.
    pub layout: Layout,
    /// Parameters.
    pub block: Block<Training>,
    /// Where its values lie.
    pub heads: Heads,
    /// Mean and deviation of the returns, if it learns them normalised.
    pub moments: Option<Moments>,
}

/// Where value columns lie among a critic's outputs.
#[derive(Clone, Copy, Debug)]
pub struct Heads {
    /// M.
    pub columns: u32,
    /// Input rows of an item: n of a local critic, 1 of a central one.
    pub rows: u32,
    /// Padded outputs of a row.
    pub width: u32,
    /// Whether all columns are one output of one network and share their statistics.
    pub is_shared: bool,
    /// The columns that are trained: all of them, but those of agents that do not learn.
    pub trained: Members,
    /// Reward column of value column 0: 0, or n where the team's reward is learned.
    pub first_reward: u32,
}

impl Heads {
    /// Where column `m` of an item lies in a buffer of outputs.
    pub fn output(self, item: usize, m: usize) -> usize {
        let (rows, width) = (self.rows as usize, self.width as usize);
        if rows == 1 { item * width + m } else { (item * rows + m) * width }
    }

    /// A kernel that knows where values lie among the outputs `y`, and their scale.
    pub(super) fn shader(
        self,
        name: &'static str,
        source: &'static str,
        y: Id<Reals, Training>,
        moments: Option<Moments>,
    ) -> Shader {
        let shader = Shader::new(name, include_str!("../wgsl/value_heads.wgsl"))
            .with(source, Vec::new())
            .word("COLUMNS", self.columns)
            .word("HEAD_ROWS", self.rows)
            .word("HEAD_WIDTH", self.width)
            .buffer("Y", y)
            .flag("IS_SHARED", self.is_shared)
            .flag("NORMALISES", moments.is_some());
        moments.into_iter().fold(shader, |shader, moments| shader.buffer("MOMENTS", moments.numbers))
    }

    /// The statistics that column `m` is normalised with.
    pub fn statistics(self, m: usize) -> usize {
        if self.is_shared { 0 } else { m }
    }
}

impl Critic {
    /// A critic of n `agents` as `sees` has it: `hidden` layers between inputs of length `inputs` and values. A local
    /// one is `shared` by the agents or each agent's own. A central one values the team where there is a team reward,
    /// else every agent; only the values of `learners` are trained then.
    pub fn new(
        plan: &mut Plan,
        sees: CriticView,
        (agents, inputs): (u32, u32),
        learners: Members,
        hidden: &[u32],
        activation: Activation,
        shared: bool,
        team_reward: bool,
        normalised: bool,
    ) -> Self {
        let mut layout = Layout::default();
        let of_team = sees == CriticView::Central && team_reward;
        let columns = if of_team { 1 } else { agents };
        let outputs = if sees == CriticView::Central { columns } else { 1 };
        let sizes: Vec<u32> = [&[inputs], hidden, &[outputs]].concat();
        let nets = if sees == CriticView::Central || shared {
            vec![Mlp::new(&mut layout, "critic", &sizes, activation)]
        } else {
            (1..=agents).map(|i| Mlp::new(&mut layout, &format!("critic{i}"), &sizes, activation)).collect()
        };
        // A central critic's heads are parts beside the layers they stand on.
        let parts = if sees == CriticView::Central { 1 + columns } else { nets.len() as u32 };
        let block = Block::new(plan, "critic", layout.len, parts);
        let heads = Heads {
            columns,
            rows: if sees == CriticView::Local { agents } else { 1 },
            width: padded(outputs),
            is_shared: sees == CriticView::Local && nets.len() == 1,
            trained: if of_team { Members::all(1) } else { learners },
            first_reward: if of_team { agents } else { 0 },
        };
        let moments = normalised.then(|| Moments::new(plan, "critic", if heads.is_shared { 1 } else { columns }));
        Self { sees, nets, layout, block, heads, moments }
    }

    /// Numbers a row that a forward pass keeps.
    pub fn hidden_width(&self) -> u32 {
        self.nets[0].hidden_width()
    }

    /// The networks on the first `count` items of `x`.
    pub fn forward(
        &self,
        list: &mut List,
        x: Id<Reals, Training>,
        count: u32,
        hidden: Id<Reals, Training>,
        y: Id<Reals, Training>,
    ) {
        for (net, rows) in self.nets.iter().zip(self.item_rows(count)) {
            let (net, weights) = (net.clone(), self.block.weights);
            list.train(Phase::Centralise, MlpForward { net, rows, weights, x, hidden, y });
        }
    }

    /// Adds ∂L/∂weights, given ∂L/∂y of the first `count` items.
    pub fn backward(
        &self,
        list: &mut List,
        x: Id<Reals, Training>,
        count: u32,
        hidden: Id<Reals, Training>,
        dy: Id<Reals, Training>,
        scratch: Id<Reals, Training>,
    ) {
        for (net, rows) in self.nets.iter().zip(self.item_rows(count)) {
            let (net, weights, grad) = (net.clone(), self.block.weights, self.block.grad);
            list.train(Phase::Apply, MlpBackward { net, rows, weights, x, hidden, dy, scratch, grad });
        }
    }

    fn item_rows(&self, count: u32) -> Vec<Rows> {
        let of = |net| {
            // There can be a million, and a link is judged by building its lists.
            let mut rows = Vec::with_capacity((count * self.heads.rows) as usize / self.nets.len());
            (0..count).for_each(|item| rows.extend(self.rows_of(net, item)));
            Rows::new(rows, count)
        };
        (0..self.nets.len()).map(of).collect()
    }

    /// The rows of an item that network `net` values.
    fn rows_of(&self, net: usize, item: u32) -> Range<u32> {
        let (first, n) = (item * self.heads.rows, self.heads.rows);
        if self.nets.len() == 1 { first..first + n } else { first + net as u32..first + net as u32 + 1 }
    }

    /// The parts of [`Critic::block`]: a network each or, of a central critic, hidden layers and heads. Those of agents
    /// that do not learn are empty and keep their bits: a gradient of 0 alone would not hold them still, for Adam goes
    /// on along the moments it has.
    pub fn parts(&self) -> Vec<Vec<Range<usize>>> {
        let learns = |m: usize| self.heads.is_shared || self.heads.trained.contains(m as u32);
        if self.sees == CriticView::Local {
            let part = |(m, net): (usize, &Mlp)| if learns(m) { vec![net.range()] } else { Vec::new() };
            return self.nets.iter().enumerate().map(part).collect();
        }
        // All heads stand on the same hidden layers; each is a column of the last one.
        let net = &self.nets[0];
        let last = &net.layers[net.layers.len() - 1];
        let rows = || [&last.weight, &last.bias].into_iter().flat_map(|t| t.range().step_by(t.stride() as usize));
        let column = |m: usize| if learns(m) { rows().map(|row| row + m..row + m + 1).collect() } else { Vec::new() };
        let hidden = std::iter::once(net.range().start..last.weight.range().start).collect();
        std::iter::once(hidden).chain((0..self.heads.columns as usize).map(column)).collect()
    }
}

/// V in the rewards' own unit, whatever scale the critic's outputs are on: advantages are never made of anything else.
#[derive(Clone, Copy, Debug)]
pub struct Values {
    /// Where values lie.
    pub heads: Heads,
    /// The outputs' scale.
    pub moments: Option<Moments>,
    /// Outputs of the networks.
    pub y: Id<Reals, Training>,
    /// V `[items, M]`.
    pub value: Id<Reals, Training>,
}

impl Compute for Values {
    type Side = Training;
    const NAME: &'static str = "values";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.y).writes(self.value);
        if let Some(moments) = self.moments {
            wires.reads(moments.numbers);
        }
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let (y, mut value) = (view.read(self.y), view.write(self.value));
        for m in 0..self.heads.columns as usize {
            let scale = Scale::of(self.moments, self.heads.statistics(m), &view);
            for (item, value) in value.chunks_exact_mut(self.heads.columns as usize).enumerate() {
                value[m] = scale.restore(y[self.heads.output(item, m)]);
            }
        }
    }
    fn shaders(&self, plan: &Plan) -> Option<Vec<Shader>> {
        let items = plan.len(self.value) / self.heads.columns;
        let shader = self
            .heads
            .shader(Self::NAME, include_str!("../wgsl/values.wgsl"), self.y, self.moments)
            .buffer("VALUE", self.value)
            .stage(Self::NAME, Domain::Items(items));
        Some(vec![shader])
    }
}

/// Rows that [`NextValues`] values in one go.
const AT_ONCE: usize = 64;

/// V of what followed every item of a rollout, in the rewards' own unit. Where an episode goes on, that is V of its
/// environment's next item, which is known: networks are asked only where one ended, and at the rollout's end.
#[derive(Clone, Debug)]
pub struct NextValues {
    /// Networks and the outputs' scale.
    pub critic: Critic,
    /// The rollout.
    pub rollout: Trajectories,
    /// What the critic reads of what followed `[T, E, …]`.
    pub x: Id<Reals, Training>,
    /// Kept activations of some items.
    pub hidden: Id<Reals, Training>,
    /// Outputs for those.
    pub y: Id<Reals, Training>,
    /// V `[T, E, M]`.
    pub value: Id<Reals, Training>,
    /// V of what followed `[T, E, M]`.
    pub next_value: Id<Reals, Training>,
}

impl Compute for NextValues {
    type Side = Training;
    const NAME: &'static str = "next_values";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.rollout.ended).reads(self.critic.block.weights).reads(self.x).reads(self.value);
        wires.writes(self.hidden).writes(self.y).writes(self.next_value);
        if let Some(moments) = self.critic.moments {
            wires.reads(moments.numbers);
        }
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let (critic, heads) = (&self.critic, self.critic.heads);
        let (ended, value, mut next) =
            (view.read(self.rollout.ended), view.read(self.value), view.write(self.next_value));
        let (items, envs, columns) = (self.rollout.count(), self.rollout.envs, heads.columns as usize);
        let (weights, x) = (view.read(critic.block.weights), view.read(self.x));
        let (mut hidden, mut y) = (view.write(self.hidden), view.write(self.y));
        let is_cut = |item: u32| item + envs >= items || ended[item as usize] != R::ZERO;
        for (k, net) in critic.nets.iter().enumerate() {
            let mut rows = (0..items).filter(|&item| is_cut(item)).flat_map(|item| critic.rows_of(k, item));
            loop {
                let (mut some, mut count) = ([0; AT_ONCE], 0);
                for (to, row) in some.iter_mut().zip(&mut rows) {
                    *to = row;
                    count += 1;
                }
                if count == 0 {
                    break;
                }
                mlp_forward(net, &weights, &some[..count], &x, &mut hidden, &mut y);
            }
        }
        for m in 0..columns {
            let scale = Scale::of(critic.moments, heads.statistics(m), &view);
            for item in 0..items {
                let at = item as usize * columns + m;
                next[at] = if is_cut(item) {
                    scale.restore(y[heads.output(item as usize, m)])
                } else {
                    value[at + envs as usize * columns]
                };
            }
        }
    }
    /// A device asks the networks about all that followed: it would take longer to find out where it must.
    fn shaders(&self, plan: &Plan) -> Option<Vec<Shader>> {
        let (critic, items) = (&self.critic, self.rollout.count());
        let mut shaders = Vec::new();
        for (net, rows) in critic.nets.iter().zip(critic.item_rows(items)) {
            let (net, weights) = (net.clone(), critic.block.weights);
            let forward = MlpForward { net, rows, weights, x: self.x, hidden: self.hidden, y: self.y };
            shaders.extend(Compute::shaders(&forward, plan)?);
        }
        let shader = critic
            .heads
            .shader(Self::NAME, include_str!("../wgsl/next_values.wgsl"), self.y, critic.moments)
            .word("ITEMS", items)
            .word("ENVS", self.rollout.envs)
            .buffer("ENDED", self.rollout.ended)
            .buffer("VALUE", self.value)
            .buffer("NEXT_VALUE", self.next_value)
            .across(Self::NAME, Domain::Items(items));
        shaders.push(shader);
        Some(shaders)
    }
}
