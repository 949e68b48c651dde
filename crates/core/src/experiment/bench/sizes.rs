//! A world of which only the sizes matter: what a learner is built for whose data come from elsewhere. Nothing ever
//! happens in it, and nobody plays it.

use std::sync::Arc;

use super::recipe::ACTIONS;
use crate::base::rng::Draws;
use crate::env::api::{Ended, Env, EnvInfo, EnvState, Frame, Headline, StateMut, StateRef, StepOut};
use crate::marl::learner::{Evaluations, Learner};
use crate::marl::settings::{AlgoChoice, LearnerSettings};

/// Sizes, and a reward of the team.
#[derive(Debug)]
pub(super) struct Sizes(EnvInfo);

impl Sizes {
    /// `agents` with observations and states of these lengths, in episodes of `steps` env steps.
    pub(super) fn new(agents: u32, obs_len: u32, state_len: u32, steps: u32) -> Self {
        Self(EnvInfo {
            num_agents: agents,
            num_actions: ACTIONS,
            obs_len,
            state_len,
            roles: Vec::new(),
            role_of: Vec::new(),
            part_names: Vec::new(),
            part_weights: Vec::new(),
            mix: None,
            idle_action: None,
            max_steps: steps,
            fixed_length: true,
            common_reward: true,
            team_reward: true,
            in_turns: false,
            fixed_mask: true,
            obs_determines_state: false,
            headline: Headline::Sum,
            enumerated_starts: 0,
            ints: 0,
            reals: 0,
            revision: 1,
        })
    }

    /// A learner of such a world.
    pub(super) fn learner(self, algo: AlgoChoice, settings: &LearnerSettings) -> Learner {
        Learner::new(Arc::new(self), algo, settings, 1, Evaluations { episodes: 1, explores: false })
    }
}

impl Env for Sizes {
    fn info(&self) -> &EnvInfo {
        &self.0
    }
    fn reset(&self, _state: StateMut<'_>, _draws: &Draws) {}
    fn reset_to(&self, _state: StateMut<'_>, _start: u32) -> bool {
        false
    }
    fn step(&self, _state: StateMut<'_>, _actions: &[u32], _draws: &Draws, out: &mut StepOut<'_>) -> Ended {
        out.rewards.fill(0.0);
        Ended::default()
    }
    fn observe(&self, _state: StateRef<'_>, _agent: u32, obs: &mut [f32]) {
        obs.fill(0.0);
    }
    fn state(&self, _state: StateRef<'_>, out: &mut [f32]) {
        out.fill(0.0);
    }
    fn legal(&self, _state: StateRef<'_>, _agent: u32, mask: &mut [u32]) {
        mask.fill(1);
    }
    fn step_count(&self, _state: StateRef<'_>) -> u32 {
        0
    }
    fn frame(&self, _state: StateRef<'_>) -> Frame {
        Frame::Particles {
            agents: Vec::new(),
            landmarks: Vec::new(),
            pairs: Vec::new(),
            touching: Vec::new(),
            words: Vec::new(),
        }
    }
    fn standing_at(&self, _state: StateRef<'_>, _agent: u32, _cell: u32) -> Option<EnvState> {
        None
    }
}
