//! Auto-reset: what followed an episode's last env step is kept before the next episode begins.

use std::sync::Arc;

use tandem_core::base::rng::Draws;
use tandem_core::env::api::{Ended, Env, EnvInfo, EnvState, Headline, Label, Role, StateMut, StateRef, StepOut};
use tandem_core::env::frame::Frame;

use crate::support::Lockstep;

/// A world whose first observation is wildly unlike all others.
#[derive(Debug)]
struct Leap(EnvInfo);

impl Leap {
    fn new() -> Self {
        Self(EnvInfo {
            num_agents: 1,
            num_actions: 1,
            obs_len: 1,
            state_len: 1,
            roles: vec![Role::agent(&["action.stay"], vec![Label::new("obs.height", &[])])],
            role_of: vec![0],
            part_names: vec!["part.payoff".to_owned()],
            part_weights: vec![1.0],
            mix: None,
            idle_action: None,
            max_steps: 3,
            fixed_length: true,
            common_reward: true,
            team_reward: true,
            in_turns: false,
            fixed_mask: false,
            obs_determines_state: true,
            headline: Headline::Mean { first: 0, count: 1 },
            enumerated_starts: 1,
            ints: 1,
            reals: 0,
            revision: 1,
        })
    }

    fn height(state: StateRef<'_>) -> f32 {
        if state.ints[0] == 0 { 1e6 } else { state.ints[0] as f32 }
    }
}

impl Env for Leap {
    fn info(&self) -> &EnvInfo {
        &self.0
    }
    fn reset(&self, state: StateMut<'_>, _draws: &Draws) {
        state.ints[0] = 0;
    }
    fn reset_to(&self, state: StateMut<'_>, _start: u32) -> bool {
        state.ints[0] = 0;
        false
    }
    fn step(&self, state: StateMut<'_>, _actions: &[u32], _draws: &Draws, out: &mut StepOut<'_>) -> Ended {
        state.ints[0] += 1;
        out.rewards.fill(1.0);
        out.parts.fill(1.0);
        Ended { terminated: false, truncated: state.ints[0] == 3 }
    }
    fn observe(&self, state: StateRef<'_>, _agent: u32, obs: &mut [f32]) {
        obs[0] = Self::height(state);
    }
    fn state(&self, state: StateRef<'_>, out: &mut [f32]) {
        out[0] = Self::height(state);
    }
    fn legal(&self, _state: StateRef<'_>, _agent: u32, mask: &mut [u32]) {
        mask[0] = 1;
    }
    fn step_count(&self, state: StateRef<'_>) -> u32 {
        state.ints[0] as u32
    }
    fn frame(&self, _state: StateRef<'_>) -> Frame {
        unreachable!("nobody draws this world")
    }
    fn standing_at(&self, _state: StateRef<'_>, _agent: u32, _cell: u32) -> Option<EnvState> {
        None
    }
}

#[test]
fn p02_the_final_observation_is_that_of_the_old_episode() {
    let batch = Lockstep::new(Arc::new(Leap::new()), 1, 2);
    let heights = |buffer: &[f32]| -> [f32; 2] { std::array::from_fn(|e| batch.row(buffer, e as u32)[0]) };
    let (w, buffers) = (&batch.world, &batch.buffers);
    assert_eq!(heights(&buffers.read(w.obs)), [1e6; 2]);
    let mut seen = Vec::new();
    for _ in 0..4 {
        let followed = batch.step(&[0, 0]);
        let (obs, state) = (buffers.read(w.obs), buffers.read(w.state));
        let rows = [&followed.obs, &obs, &followed.states, &state];
        let [first, second]: [Vec<f32>; 2] = std::array::from_fn(|e| rows.iter().map(|r| heights(r)[e]).collect());
        assert_eq!(first, second);
        seen.push(first);
    }
    assert_eq!(seen, [[1.0; 4], [2.0; 4], [3.0, 1e6, 3.0, 1e6], [1.0; 4]]);
    assert_eq!(*buffers.read(w.time), [1, 1, 1, 1], "the second episode of both, one env step in");
}
