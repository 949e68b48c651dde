//! The agents' networks, o_i to Q values or logits: one for all (with the agent's id in the input) or one each.

use std::sync::Arc;

use super::optimise::Block;
use super::replay::Segments;
use super::world::World;
use crate::base::lanes::padded;
use crate::nn::calls::{MlpBackward, MlpForward, Rows};
use crate::nn::graph::{Execution, Id, List, Phase, Plan, Reals, Training};
use crate::nn::layers::{Activation, Layout, Mlp};

/// Networks and their parameters.
#[derive(Clone, Debug)]
pub struct Agents {
    /// One network, or one per agent.
    pub nets: Vec<Mlp>,
    /// n.
    pub count: u32,
    /// Names and places of all tensors.
    pub layout: Layout,
    /// Their parameters: execution data.
    pub block: Block<Execution>,
}

/// What the networks' forward pass over a minibatch leaves.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Kept activations `[rows, hidden_width]`.
    pub hidden: Id<Reals, Training>,
    /// Q values or logits `[rows, padded(|A|)]`.
    pub outputs: Id<Reals, Training>,
}

impl Agents {
    /// Networks `inputs → hidden… → actions`.
    pub fn new(plan: &mut Plan, count: u32, shared: bool, sizes: &[u32], activation: Activation) -> Self {
        let mut layout = Layout::default();
        let nets = if shared {
            vec![Mlp::new(&mut layout, "agents", sizes, activation)]
        } else {
            (1..=count).map(|i| Mlp::new(&mut layout, &format!("agent{i}"), sizes, activation)).collect()
        };
        let block = Block::new(plan, "agents", layout.len);
        Self { nets, count, layout, block }
    }

    /// The network of agent `i`.
    pub fn net(&self, i: u32) -> &Mlp {
        &self.nets[if self.nets.len() == 1 { 0 } else { i as usize }]
    }

    /// Rows of each network where every base in `bases` is the row of agent 1 of n consecutive ones.
    fn rows(&self, bases: impl Iterator<Item = u32> + Clone) -> Vec<Rows> {
        rows_of(self.nets.len(), self.count, bases)
    }

    /// The acting part: each agent's Q values or logits from its own observation, `[E, n, padded(|A|)]`.
    pub fn act(&self, plan: &mut Plan, list: &mut List, name: &str, world: &World) -> Id<Reals, Execution> {
        let rows = world.envs * self.count;
        let hidden = plan.buffer(&format!("{name}.hidden"), &[rows, self.net(0).hidden_width()]);
        let width = padded(self.net(0).outputs());
        let outputs = plan.buffer(&format!("{name}.outputs"), &[world.envs, self.count, width]);
        for (net, rows) in self.nets.iter().zip(self.rows((0..world.envs).map(|e| e * self.count))) {
            list.act(
                Phase::Act,
                MlpForward { net: net.clone(), rows, weights: self.block.weights, x: world.obs, hidden, y: outputs },
            );
        }
        outputs
    }

    /// Buffers of a forward pass over `items` (`[B, T+1]`, say) of n observations, named `{name}.…`.
    pub fn pass(&self, plan: &mut Plan, name: &str, items: &[u32]) -> Pass {
        let shape = |width: u32| [items, &[self.count, width]].concat();
        Pass {
            hidden: plan.buffer(&format!("{name}.hidden"), &shape(self.net(0).hidden_width())),
            outputs: plan.buffer(&format!("{name}.outputs"), &shape(padded(self.net(0).outputs()))),
        }
    }

    /// Q of all agents at the observations `times` (indices into 0..=T) of a minibatch.
    pub fn forward(
        &self,
        list: &mut List,
        phase: Phase,
        weights: Id<Reals, Training>,
        batch: &Segments,
        times: std::ops::Range<u32>,
        pass: Pass,
    ) {
        self.forward_rows(list, phase, weights, batch.obs, self.batch_rows(batch, times), pass);
    }

    /// Adds ∂L/∂weights, given ∂L/∂Q at the observations 0..T.
    pub fn backward(
        &self,
        list: &mut List,
        batch: &Segments,
        pass: Pass,
        dq: Id<Reals, Training>,
        scratch: Id<Reals, Training>,
    ) {
        self.backward_rows(list, batch.obs, self.batch_rows(batch, 0..batch.steps), pass, dq, scratch);
    }

    /// Logits of all agents at the observations `obs` of `count` items.
    pub fn forward_items(&self, list: &mut List, obs: Id<Reals, Training>, count: u32, pass: Pass) {
        let weights = self.block.weights.seen_by_training();
        self.forward_rows(list, Phase::Sample, weights, obs, self.item_rows(count), pass);
    }

    /// Adds ∂L/∂weights, given ∂L/∂logits of `count` items.
    pub fn backward_items(
        &self,
        list: &mut List,
        obs: Id<Reals, Training>,
        count: u32,
        pass: Pass,
        dlogits: Id<Reals, Training>,
        scratch: Id<Reals, Training>,
    ) {
        self.backward_rows(list, obs, self.item_rows(count), pass, dlogits, scratch);
    }

    fn forward_rows(
        &self,
        list: &mut List,
        phase: Phase,
        weights: Id<Reals, Training>,
        x: Id<Reals, Training>,
        rows: Vec<Rows>,
        pass: Pass,
    ) {
        for (net, rows) in self.nets.iter().zip(rows) {
            let net = net.clone();
            list.train(phase, MlpForward { net, rows, weights, x, hidden: pass.hidden, y: pass.outputs });
        }
    }

    fn backward_rows(
        &self,
        list: &mut List,
        x: Id<Reals, Training>,
        rows: Vec<Rows>,
        pass: Pass,
        dy: Id<Reals, Training>,
        scratch: Id<Reals, Training>,
    ) {
        for (net, rows) in self.nets.iter().zip(rows) {
            let (weights, grad) = (self.block.weights.seen_by_training(), self.block.grad);
            let (net, hidden) = (net.clone(), pass.hidden);
            list.train(Phase::Apply, MlpBackward { net, rows, weights, x, hidden, dy, scratch, grad });
        }
    }

    fn item_rows(&self, count: u32) -> Vec<Rows> {
        self.rows((0..count).map(|item| item * self.count))
    }

    fn batch_rows(&self, batch: &Segments, times: std::ops::Range<u32>) -> Vec<Rows> {
        let (steps, n) = (batch.steps + 1, self.count);
        self.rows((0..batch.count).flat_map(move |b| times.clone().map(move |t| (b * steps + t) * n)))
    }
}

/// Rows of each of `nets` networks, one for all or one each, where every base in `bases` is the first of `count`
/// consecutive rows, one per agent.
pub(super) fn rows_of(nets: usize, count: u32, bases: impl Iterator<Item = u32> + Clone) -> Vec<Rows> {
    if nets == 1 {
        vec![bases.flat_map(|base| base..base + count).collect::<Vec<_>>().into()]
    } else {
        (0..count).map(|i| Arc::from(bases.clone().map(|base| base + i).collect::<Vec<_>>())).collect()
    }
}
