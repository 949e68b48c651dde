//! The agents' networks, o_i to Q values or logits: one for a group of learners (with the agent's id in the input) or
//! one each, and those of frozen agents, which no optimiser knows.

use std::ops::Range;
use std::sync::Arc;

use super::optimise::Block;
use super::pool::Pool;
use super::replay::Segments;
use super::world::World;
use crate::base::lanes::padded;
use crate::env::api::Env;
use crate::env::script::{Program, Script};
use crate::marl::seats::{Controller, Members, Seats};
use crate::nn::calls::{MlpBackward, MlpForward, Rows};
use crate::nn::graph::{Execution, Id, List, Phase, Plan, Reals, Training};
use crate::nn::layers::{Activation, Layout, Mlp};

/// Networks and their parameters.
#[derive(Clone, Debug)]
pub struct Agents {
    /// Networks that learn.
    pub nets: Vec<Mlp>,
    /// The agents that act with each.
    pub players: Vec<Members>,
    /// The shape of every network, also where nobody has one.
    pub shape: Mlp,
    /// n.
    pub count: u32,
    /// Whether learners of a group share a network.
    pub shared: bool,
    /// Names and places of all tensors.
    pub layout: Layout,
    /// Their parameters: execution data.
    pub block: Block<Execution>,
    /// Networks that do not learn.
    pub frozen: Frozen,
    /// The scripts of those who have no network.
    pub programs: Vec<Option<Arc<dyn Program>>>,
}

/// Networks that act and do not learn, one for each frozen agent. Parameters and moments lie still here: no call of any
/// list writes them, so an agent that learns again goes on from the same bits.
#[derive(Clone, Debug)]
pub struct Frozen {
    /// Their networks.
    pub nets: Vec<Mlp>,
    /// The agent of each.
    pub players: Vec<u32>,
    /// Names and places of all tensors.
    pub layout: Layout,
    /// Their parameters.
    pub weights: Id<Reals, Execution>,
    /// First moment as it was.
    pub m: Id<Reals, Training>,
    /// Second moment as it was.
    pub v: Id<Reals, Training>,
    /// What corrects the moments' bias, as it was.
    pub powers: Id<Reals, Training>,
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
    /// Networks `inputs → hidden… → actions` for those of `seats` that have one, programs for the others.
    pub fn new(
        plan: &mut Plan,
        env: &dyn Env,
        seats: &Seats,
        shared: bool,
        sizes: &[u32],
        activation: Activation,
    ) -> Self {
        let count = env.info().num_agents;
        let (mut layout, mut frozen_layout) = (Layout::default(), Layout::default());
        let (mut nets, mut players) = (Vec::new(), Vec::new());
        let (mut frozen_nets, mut frozen_players) = (Vec::new(), Vec::new());
        let mut named: Vec<String> = Vec::new();
        for agent in 0..count {
            let Some(name) = network_name(seats.of(agent), agent, shared) else { continue };
            if seats.of(agent) == Controller::Frozen {
                frozen_nets.push(Mlp::new(&mut frozen_layout, &name, sizes, activation));
                frozen_players.push(agent);
            } else if !named.contains(&name) {
                let of_net = |i| network_name(seats.of(i), i, shared).as_ref() == Some(&name);
                nets.push(Mlp::new(&mut layout, &name, sizes, activation));
                players.push(Members::of(count, of_net));
                named.push(name);
            }
        }
        let block = Block::new(plan, "agents", layout.len, nets.len() as u32);
        let frozen = Frozen {
            powers: plan.buffer("frozen.adam_powers", &[frozen_nets.len() as u32, 2]),
            nets: frozen_nets,
            players: frozen_players,
            weights: plan.buffer("frozen.weights", &[frozen_layout.len]),
            m: plan.buffer("frozen.adam_m", &[frozen_layout.len]),
            v: plan.buffer("frozen.adam_v", &[frozen_layout.len]),
            layout: frozen_layout,
        };
        let program = |agent| seats.of(agent).script().and_then(|script| env.program(script)).map(Arc::from);
        let programs = (0..count).map(program).collect();
        let shape = Mlp::new(&mut Layout::default(), "shape", sizes, activation);
        Self { nets, players, shape, count, shared, layout, block, frozen, programs }
    }

    /// The network of agent `i` and where its parameters are, if it has one.
    pub fn net(&self, i: u32) -> Option<(&Mlp, Id<Reals, Execution>)> {
        let learner = self.nets.iter().zip(&self.players).find(|(_, players)| players.contains(i));
        let frozen = || self.frozen.nets.iter().zip(&self.frozen.players).find(|&(_, &player)| player == i);
        learner
            .map(|(net, _)| (net, self.block.weights))
            .or_else(|| frozen().map(|(net, _)| (net, self.frozen.weights)))
    }

    /// The one network that learns, as one agent: whoever is to move, where agents move in turns.
    #[must_use]
    pub fn as_mover(&self) -> Self {
        let mut mover = self.clone();
        (mover.count, mover.players, mover.programs) = (1, vec![Members::all(1)], vec![None]);
        mover.frozen.nets.clear();
        mover.frozen.players.clear();
        mover
    }

    /// The same networks, but everybody except the agent in `seat` plays by that script of `env`.
    #[must_use]
    pub fn against(&self, env: &dyn Env, script: Script, seat: u32) -> Self {
        let program = |agent| if agent == seat { None } else { env.program(script).map(Arc::from) };
        Self { programs: (0..self.count).map(program).collect(), ..self.clone() }
    }

    /// The networks that learn once more, behind what `layout` holds.
    pub fn copied(&self, layout: &mut Layout, name: &str) -> Vec<Mlp> {
        let outputs = self.shape.layers.iter().map(|layer| layer.weight.cols);
        let sizes: Vec<u32> = std::iter::once(self.shape.inputs()).chain(outputs).collect();
        let copy = |i| Mlp::new(layout, &format!("{name}.{i}"), &sizes, self.shape.activation);
        (1..=self.nets.len()).map(copy).collect()
    }

    /// The parts of [`Agents::block`]: a network each.
    pub fn parts(&self) -> Vec<Vec<Range<usize>>> {
        self.nets.iter().map(|net| vec![net.range()]).collect()
    }

    /// The agents that learn.
    pub fn learners(&self) -> Members {
        Members::of(self.count, |i| self.players.iter().any(|players| players.contains(i)))
    }

    /// The agents that act with a network, learning or not.
    pub fn networked(&self) -> Members {
        Members::of(self.count, |i| self.net(i).is_some())
    }

    /// The acting part: each agent's Q values or logits from its own observation, `[E, n, padded(|A|)]`; rows of agents
    /// without a network are not written. Snapshots of a `pool` speak in the place of those whose seats they have.
    pub fn act(
        &self,
        list: &mut List,
        world: &World,
        pool: Option<&Pool>,
        hidden: Id<Reals, Execution>,
        outputs: Id<Reals, Execution>,
    ) {
        for (net, players) in self.nets.iter().zip(&self.players) {
            let (net, rows, weights) = (net.clone(), self.item_rows(*players, world.envs), self.block.weights);
            list.act(Phase::Act, MlpForward { net, rows, weights, x: world.obs, hidden, y: outputs });
        }
        for (net, &player) in self.frozen.nets.iter().zip(&self.frozen.players) {
            let rows = self.item_rows(self.alone(player), world.envs);
            let (net, weights) = (net.clone(), self.frozen.weights);
            list.act(Phase::Act, MlpForward { net, rows, weights, x: world.obs, hidden, y: outputs });
        }
        if let Some(pool) = pool {
            pool.act(list, world.obs, hidden, outputs);
        }
    }

    /// Buffers of a forward pass over `items` (`[B, T+1]`, say) of n observations, named `{name}.…`.
    pub fn pass(&self, plan: &mut Plan, name: &str, items: &[u32]) -> Pass {
        let shape = |width: u32| [items, &[self.count, width]].concat();
        Pass {
            hidden: plan.buffer(&format!("{name}.hidden"), &shape(self.shape.hidden_width())),
            outputs: plan.buffer(&format!("{name}.outputs"), &shape(padded(self.shape.outputs()))),
        }
    }

    /// Q of the `members` among the agents at the observations `times` (indices into 0..=T) of a minibatch. Learners
    /// act with `weights`; a frozen agent's slow copy would be itself.
    pub fn forward(
        &self,
        list: &mut List,
        phase: Phase,
        weights: Id<Reals, Training>,
        members: Members,
        batch: &Segments,
        times: Range<u32>,
        pass: Pass,
    ) {
        let rows = |players| self.batch_rows(players, batch, times.clone());
        self.forward_rows(list, phase, weights, batch.obs, rows, pass);
        let frozen = self.frozen.nets.iter().zip(&self.frozen.players);
        for (net, &player) in frozen.filter(|&(_, &player)| members.contains(player)) {
            let (net, rows, weights) = (net.clone(), rows(self.alone(player)), self.frozen.weights.seen_by_training());
            list.train(phase, MlpForward { net, rows, weights, x: batch.obs, hidden: pass.hidden, y: pass.outputs });
        }
    }

    /// Adds ∂L/∂weights of the networks that learn, given ∂L/∂Q at the observations 0..T.
    pub fn backward(
        &self,
        list: &mut List,
        batch: &Segments,
        pass: Pass,
        dq: Id<Reals, Training>,
        scratch: Id<Reals, Training>,
    ) {
        let rows = |players| self.batch_rows(players, batch, 0..batch.steps);
        self.backward_rows(list, batch.obs, rows, pass, dq, scratch);
    }

    /// Logits of the learners at the observations `obs` of `count` items; rows of the others are not written.
    pub fn forward_items(&self, list: &mut List, obs: Id<Reals, Training>, count: u32, pass: Pass) {
        let weights = self.block.weights.seen_by_training();
        self.forward_rows(list, Phase::Sample, weights, obs, |players| self.item_rows(players, count), pass);
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
        self.backward_rows(list, obs, |players| self.item_rows(players, count), pass, dlogits, scratch);
    }

    fn forward_rows(
        &self,
        list: &mut List,
        phase: Phase,
        weights: Id<Reals, Training>,
        x: Id<Reals, Training>,
        rows: impl Fn(Members) -> Rows,
        pass: Pass,
    ) {
        for (net, players) in self.nets.iter().zip(&self.players) {
            let (net, rows) = (net.clone(), rows(*players));
            list.train(phase, MlpForward { net, rows, weights, x, hidden: pass.hidden, y: pass.outputs });
        }
    }

    fn backward_rows(
        &self,
        list: &mut List,
        x: Id<Reals, Training>,
        rows: impl Fn(Members) -> Rows,
        pass: Pass,
        dy: Id<Reals, Training>,
        scratch: Id<Reals, Training>,
    ) {
        for (net, players) in self.nets.iter().zip(&self.players) {
            let (weights, grad) = (self.block.weights.seen_by_training(), self.block.grad);
            let (net, rows, hidden) = (net.clone(), rows(*players), pass.hidden);
            list.train(Phase::Apply, MlpBackward { net, rows, weights, x, hidden, dy, scratch, grad });
        }
    }

    fn item_rows(&self, players: Members, count: u32) -> Rows {
        rows_of(players, (0..count).map(|item| item * self.count), count)
    }

    fn batch_rows(&self, players: Members, batch: &Segments, times: Range<u32>) -> Rows {
        let (steps, n) = (batch.steps + 1, self.count);
        let bases = (0..batch.count).flat_map(move |b| times.clone().map(move |t| (b * steps + t) * n));
        rows_of(players, bases, batch.count)
    }

    fn alone(&self, player: u32) -> Members {
        Members::of(self.count, |i| i == player)
    }
}

/// Name of the network that moves an agent. It decides what an agent goes on with when others take its place: a
/// separate network keeps its name when it is frozen, a frozen member of a group gets a copy under its own.
fn network_name(controller: Controller, agent: u32, shared: bool) -> Option<String> {
    match (controller, shared) {
        (Controller::Learner(0), true) => Some("agents".to_owned()),
        (Controller::Learner(group), true) => Some(format!("agents.{}", group + 1)),
        (Controller::Learner(_) | Controller::Frozen, false) => Some(format!("agent{}", agent + 1)),
        (Controller::Frozen, true) => Some(format!("frozen{}", agent + 1)),
        (Controller::Scripted(_) | Controller::Human(_), _) => None,
    }
}

/// Rows of `players` where every base is the row of agent 1 of n consecutive ones, of `items` that have as many bases each.
fn rows_of(players: Members, bases: impl Iterator<Item = u32>, items: u32) -> Rows {
    // There can be a million, and a link is judged by building its lists.
    let players: Vec<u32> = players.iter().collect();
    let mut rows = Vec::new();
    for base in bases {
        rows.extend(players.iter().map(|i| base + i));
    }
    Rows::new(rows, items)
}
