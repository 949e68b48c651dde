//! Read-only questions about a run: what an agent's network and the critic say of a state, and how the team's value
//! joins the agents' utilities there. Views and the stage ask here; nothing is trained and no buffer changes.

use std::cell::Ref;

use super::learner::{Central, Learner};
use super::parts::critic::CriticView;
use super::parts::explore::Behaviour;
use super::parts::popart::Scale;
use super::parts::shown::{write_input, write_state};
use super::parts::world::input_len;
use crate::base::lanes::padded;
use crate::env::api::StateRef;
use crate::nn::cpu::{MaskedSoftmax, MixerAt, masked_argmax, mlp_forward};
use crate::nn::graph::{Buffers, Id, Reals, Training};
use crate::nn::layers::{Mixer, Mlp, Positivity};

/// A run and its numbers.
#[derive(Clone, Copy, Debug)]
pub struct Probe<'a> {
    /// Networks.
    pub learner: &'a Learner,
    /// Their parameters.
    pub buffers: &'a Buffers<f32>,
}

impl Probe<'_> {
    /// What one agent's network gives at a state `[|A|]`: Q_i(o_i, ·), or the logits of its policy. Empty of an agent
    /// without a network.
    pub fn output(&self, state: StateRef<'_>, agent: u32) -> Vec<f32> {
        let Some((net, weights)) = self.learner.agents.net(agent) else { return Vec::new() };
        self.forward(net, weights.seen_by_training(), &self.input(state, agent))
    }

    /// [`Probe::output`] of all agents `[n][|A|]`.
    pub fn outputs(&self, state: StateRef<'_>) -> Vec<Vec<f32>> {
        (0..self.learner.agents.count).map(|i| self.output(state, i)).collect()
    }

    /// What is shown of one agent's actions at a state `[|A|]`: Q_i(o_i, ·), or π_i(·|o_i), in which an illegal action
    /// has probability 0. Empty of an agent without a network.
    pub fn per_action(&self, state: StateRef<'_>, agent: u32) -> Vec<f32> {
        let outputs = self.output(state, agent);
        match self.learner.behaviour {
            _ if outputs.is_empty() => outputs,
            Behaviour::EpsilonGreedy => outputs,
            Behaviour::Softmax => {
                let mut mask = vec![0; outputs.len()];
                self.learner.env.legal(state, agent, &mut mask);
                let policy = MaskedSoftmax::of(&outputs, &mask);
                let prob =
                    |(&z, &legal): (&f32, &u32)| if legal == 0 { 0.0 } else { policy.map_or(0.0, |p| p.prob(z)) };
                outputs.iter().zip(&mask).map(prob).collect()
            }
        }
    }

    /// The critic's values at a state in the rewards' unit: one per agent, or one of the team; none without a critic. Where
    /// it values whoever is to move, the other's is the opposite: such games are zero-sum.
    pub fn values(&self, state: StateRef<'_>) -> Vec<f32> {
        let Some(critic) = self.learner.central.critic() else { return Vec::new() };
        let mover = self.learner.turns.and_then(|_| self.learner.env.to_move(state));
        let scale = |m: usize| match critic.moments {
            None => Scale::new([0.0; 3]),
            Some(moments) => Scale::of_row(&self.buffers.read(moments.numbers), critic.heads.statistics(m)),
        };
        let output = |m: usize| match critic.sees {
            CriticView::Local => {
                let net = &critic.nets[if critic.nets.len() == 1 { 0 } else { m }];
                self.forward(net, critic.block.weights, &self.input(state, mover.unwrap_or(m as u32)))[0]
            }
            CriticView::Central => self.forward(&critic.nets[0], critic.block.weights, &self.state(state))[m],
        };
        let value = |m: usize| scale(m).restore(output(m));
        match (self.learner.turns, mover) {
            (None, _) => (0..critic.heads.columns as usize).map(value).collect(),
            (Some(_), None) => vec![0.0; self.learner.agents.count as usize], // the game is over
            (Some(_), Some(mover)) => {
                (0..self.learner.agents.count).map(|i| if i == mover { value(0) } else { -value(0) }).collect()
            }
        }
    }

    fn forward(&self, net: &Mlp, weights: Id<Reals, Training>, input: &[f32]) -> Vec<f32> {
        let mut hidden = vec![0.0; net.hidden_width() as usize];
        let mut y = vec![0.0; padded(net.outputs()) as usize];
        mlp_forward(net, &self.buffers.read(weights), &[0], input, &mut hidden, &mut y);
        y.truncate(net.outputs() as usize);
        y
    }

    /// One agent's input `[padded(O + n)]`.
    fn input(&self, state: StateRef<'_>, agent: u32) -> Vec<f32> {
        let (env, agent_id) = (&*self.learner.env, self.learner.settings.agent_id);
        let mut row = vec![0.0; padded(input_len(env, agent_id)) as usize];
        let mut obs = vec![0.0; env.info().obs_len as usize];
        write_input(env, agent_id, state, agent, &mut obs, &mut row);
        row
    }

    /// The state `[padded(S)]`.
    fn state(&self, state: StateRef<'_>) -> Vec<f32> {
        let len = self.learner.env.info().state_len;
        let (mut row, mut vector) = (vec![0.0; padded(len) as usize], vec![0.0; len as usize]);
        write_state(&*self.learner.env, state, &mut vector, &mut row);
        row
    }

    /// Legal actions of all agents `[n][|A|]`, 1 or 0.
    pub fn legal(&self, state: StateRef<'_>) -> Vec<Vec<u32>> {
        let info = self.learner.env.info();
        (0..info.num_agents)
            .map(|i| {
                let mut mask = vec![0; info.num_actions as usize];
                self.learner.env.legal(state, i, &mut mask);
                mask
            })
            .collect()
    }

    /// How Q_tot depends on the utilities at a state; `None` for independent learners. With `free` the mixer's weights
    /// keep their signs: the same weights, monotonicity dropped, nothing trained.
    pub fn team_value(&self, state: StateRef<'_>, free: bool) -> Option<TeamValue<'_>> {
        let mixer = match &self.learner.central {
            Central::Nothing | Central::Critic(_) | Central::Counterfactual(_) => return None,
            Central::Sum => return Some(TeamValue::Sum),
            Central::Mixer(mixer) => mixer,
        };
        let mut net = mixer.net.clone();
        if free {
            net.positivity = Positivity::Free;
        }
        Some(TeamValue::Mixer { net, weights: self.buffers.read(mixer.block.weights), row: self.state(state) })
    }
}

/// Q_tot as a function of the utilities at one state.
#[derive(Debug)]
pub enum TeamValue<'a> {
    /// VDN.
    Sum,
    /// QMIX.
    Mixer {
        /// The mixer.
        net: Mixer,
        /// Its parameters.
        weights: Ref<'a, Vec<f32>>,
        /// The state `[padded(S)]`.
        row: Vec<f32>,
    },
}

impl TeamValue<'_> {
    /// Q_tot of each point of `q` `[points, n]`.
    pub fn q_tot(&self, q: &[f32], agents: usize) -> Vec<f32> {
        let points = q.chunks_exact(agents);
        match self {
            Self::Sum => points.map(|q| q.iter().sum()).collect(),
            Self::Mixer { net, weights, row } => {
                let mut at = MixerAt::new(net, weights, row);
                points.map(|q| at.q_tot(q)).collect()
            }
        }
    }
}

/// The greedy legal action, 0 where nothing is legal or nothing is known.
pub fn greedy(q: &[f32], legal: &[u32]) -> u32 {
    masked_argmax(q, legal).unwrap_or(0)
}
