//! COMA's critic: Q(s, (·, a_-i)) for agent i, a head for each of its actions, so that one forward pass answers what every
//! other choice of the agent would have been worth while the others do what they did (Foerster et al. 2018, fig. 1c).
//!
//! It reads the state, what the *others* did and whose actions the heads are, never a_i: the input of agent i has a place
//! for n − 1 actions only. It exists in training only.

use super::optimise::{Block, Target};
use super::trajectories::Trajectories;
use crate::base::float::Real;
use crate::base::lanes::padded;
use crate::marl::seats::Members;
use crate::nn::calls::{MlpBackward, MlpForward, Rows};
use crate::nn::graph::{Compute, Id, List, Phase, Plan, Reals, Training, View, Wires};
use crate::nn::layers::{Activation, Layout, Mlp};

/// The critic, its parameters and their slow copy.
#[derive(Clone, Debug)]
pub struct JointCritic {
    /// One network for all agents.
    pub net: Mlp,
    /// Names and places of its tensors.
    pub layout: Layout,
    /// Parameters.
    pub block: Block<Training>,
    /// Their slow copy, which targets are made of.
    pub copy: Target,
    /// What its input is made of.
    pub input: JointInput,
}

/// Sizes of s, the others' actions and the agent's id, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JointInput {
    /// S.
    pub state: u32,
    /// n.
    pub agents: u32,
    /// |A|.
    pub actions: u32,
}

impl JointInput {
    /// S + (n − 1)·|A| + n: it grows with the agents, where a critic of the state alone does not.
    pub fn width(self) -> u32 {
        self.state + (self.agents - 1) * self.actions + self.agents
    }

    /// Writes what the critic reads for `agent`, zero padding: s ++ one-hot(a_j), j ≠ i ++ one-hot(i).
    pub fn write<R: Real>(self, state: &[R], joint: &[u32], agent: usize, row: &mut [R]) {
        let (s, a) = (self.state as usize, self.actions as usize);
        row.fill(R::ZERO);
        row[..s].copy_from_slice(&state[..s]);
        let others = joint.iter().enumerate().filter(|&(j, _)| j != agent);
        for (place, (_, &action)) in others.enumerate() {
            row[s + place * a + action as usize] = R::ONE;
        }
        row[s + (self.agents as usize - 1) * a + agent] = R::ONE;
    }
}

impl JointCritic {
    /// A critic with `hidden` layers.
    pub fn new(plan: &mut Plan, input: JointInput, hidden: &[u32], activation: Activation) -> Self {
        let mut layout = Layout::default();
        let sizes: Vec<u32> = [&[input.width()], hidden, &[input.actions]].concat();
        let net = Mlp::new(&mut layout, "critic", &sizes, activation);
        let block = Block::new(plan, "critic", layout.len, 1);
        let copy = Target::new(plan, "critic", block.weights, layout.len);
        Self { net, layout, block, copy, input }
    }

    /// Q(s, (·, a_-i)) by `weights` of the `learners` among the agents, for the first `count` items of `x`.
    pub fn forward(
        &self,
        list: &mut List,
        weights: Id<Reals, Training>,
        learners: Members,
        (x, count): (Id<Reals, Training>, u32),
        [hidden, y]: [Id<Reals, Training>; 2],
    ) {
        let (net, rows) = (self.net.clone(), self.rows(learners, count));
        list.train(Phase::Centralise, MlpForward { net, rows, weights, x, hidden, y });
    }

    /// Adds ∂L/∂weights, given ∂L/∂Q.
    pub fn backward(
        &self,
        list: &mut List,
        learners: Members,
        (x, count): (Id<Reals, Training>, u32),
        [hidden, dy]: [Id<Reals, Training>; 2],
        scratch: Id<Reals, Training>,
    ) {
        let (net, rows, weights, grad) =
            (self.net.clone(), self.rows(learners, count), self.block.weights, self.block.grad);
        list.train(Phase::Apply, MlpBackward { net, rows, weights, x, hidden, dy, scratch, grad });
    }

    fn rows(&self, learners: Members, count: u32) -> Rows {
        let n = self.input.agents;
        (0..count).flat_map(|item| learners.iter().map(move |i| item * n + i)).collect()
    }
}

/// What the critic reads of every item of a rollout.
#[derive(Clone, Copy, Debug)]
pub struct ReadJoint {
    /// Sizes.
    pub input: JointInput,
    /// States and actions.
    pub rollout: Trajectories,
    /// A row for each agent `[T, E, n, padded(S + (n − 1)·|A| + n)]`.
    pub x: Id<Reals, Training>,
}

impl Compute for ReadJoint {
    type Side = Training;
    const NAME: &'static str = "read_joint";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.rollout.state).reads(self.rollout.action).writes(self.x);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let (state, action) = (view.read(self.rollout.state), view.read(self.rollout.action));
        let mut x = view.write(self.x);
        let n = self.input.agents as usize;
        let (from, to) = (padded(self.input.state) as usize, padded(self.input.width()) as usize);
        let items = state.chunks_exact(from).zip(action.chunks_exact(n));
        for ((state, joint), rows) in items.zip(x.chunks_exact_mut(n * to)) {
            for (agent, row) in rows.chunks_exact_mut(to).enumerate() {
                self.input.write(state, joint, agent, row);
            }
        }
    }
}
