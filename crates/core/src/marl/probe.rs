//! Read-only questions about a run: what an agent's network says of a state, and how the team's value joins the
//! agents' utilities there. Views and the stage ask here; nothing is trained and no buffer changes.

use std::cell::Ref;

use super::learner::{Central, Learner};
use super::parts::world::{write_input, write_state};
use crate::base::lanes::padded;
use crate::env::api::StateRef;
use crate::nn::cpu::{MixerAt, masked_argmax, mlp_forward};
use crate::nn::graph::Buffers;
use crate::nn::layers::{Mixer, Positivity};

/// A run and its numbers.
#[derive(Clone, Copy, Debug)]
pub struct Probe<'a> {
    /// Networks.
    pub learner: &'a Learner,
    /// Their parameters.
    pub buffers: &'a Buffers<f32>,
}

impl Probe<'_> {
    /// What one agent's network gives at a state `[|A|]`: Q_i(o_i, ·).
    pub fn per_action(&self, state: StateRef<'_>, agent: u32) -> Vec<f32> {
        let net = self.learner.agents.net(agent);
        let weights = self.buffers.read(self.learner.agents.block.weights);
        let mut input = vec![0.0; padded(net.inputs()) as usize];
        let (env, agent_id) = (&*self.learner.env, self.learner.settings.agent_id);
        let mut obs = vec![0.0; env.info().obs_len() as usize];
        write_input(env, agent_id, state, agent, &mut obs, &mut input);
        let mut hidden = vec![0.0; net.hidden_width() as usize];
        let mut q = vec![0.0; padded(net.outputs()) as usize];
        mlp_forward(net, &weights, &[0], &input, &mut hidden, &mut q);
        q.truncate(net.outputs() as usize);
        q
    }

    /// Q of all agents `[n][|A|]`.
    pub fn utilities(&self, state: StateRef<'_>) -> Vec<Vec<f32>> {
        (0..self.learner.agents.count).map(|i| self.per_action(state, i)).collect()
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
            Central::Nothing => return None,
            Central::Sum => return Some(TeamValue::Sum),
            Central::Mixer(mixer) => mixer,
        };
        let mut row = vec![0.0; padded(self.learner.env.info().state_len()) as usize];
        let mut vector = vec![0.0; self.learner.env.info().state_len() as usize];
        write_state(&*self.learner.env, state, &mut vector, &mut row);
        let mut net = mixer.net.clone();
        if free {
            net.positivity = Positivity::Free;
        }
        Some(TeamValue::Mixer { net, weights: self.buffers.read(mixer.block.weights), row })
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

/// The greedy legal action, 0 where nothing is legal.
pub fn greedy(q: &[f32], legal: &[u32]) -> u32 {
    masked_argmax(q, legal).unwrap_or(0)
}
