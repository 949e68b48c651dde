//! What worlds show: an observation and legal actions to each agent, the state to training, as rows of a batch.

use super::world::{World, input_len};
use crate::base::float::Real;
use crate::base::lanes::{LANES, padded};
use crate::env::api::{Env, EnvInfo, StateRef};

/// Where observations, masks and states of a batch go.
pub(super) struct Shown<'a, R> {
    world: &'a World,
    info: &'a EnvInfo,
    /// Length of a row of `obs`.
    pub(super) width: usize,
    pub(super) obs: &'a mut [R],
    mask: &'a mut [u32],
    state: &'a mut [R],
    scratch: &'a mut [f32],
}

/// Writes one agent's network input: o_i ++ one-hot(i), zero padding. `scratch` has room for an observation.
pub fn write_input<R: Real>(
    env: &dyn Env,
    agent_id: bool,
    state: StateRef<'_>,
    agent: u32,
    scratch: &mut [f32],
    row: &mut [R],
) {
    let (own, beyond) = row.split_at_mut(env.info().obs_len as usize);
    write(own, scratch, |obs| env.observe(state, agent, obs));
    beyond.fill(R::ZERO);
    if agent_id {
        beyond[agent as usize] = R::ONE;
    }
}

/// Writes one agent's legal actions `[|A|]`. Who waits for its turn has exactly one choice, action 0, which the rules
/// ignore. So waiting is a transition like any other: its value is that of what the other's reply leads to, and the
/// policy's only action has probability 1, so no gradient.
pub fn show_legal(env: &dyn Env, state: StateRef<'_>, agent: u32, mask: &mut [u32]) {
    env.legal(state, agent, mask);
    if env.to_move(state).is_some_and(|mover| mover != agent) {
        mask[0] = 1;
    }
}

/// Writes the state vector, zero padding. `scratch` has room for it.
pub fn write_state<R: Real>(env: &dyn Env, state: StateRef<'_>, scratch: &mut [f32], row: &mut [R]) {
    let (own, beyond) = row.split_at_mut(env.info().state_len as usize);
    write(own, scratch, |vector| env.state(state, vector));
    beyond.fill(R::ZERO);
}

/// Has the rules write a vector in its place or, where that is not of single precision, in `scratch`.
fn write<R: Real>(to: &mut [R], scratch: &mut [f32], rules: impl FnOnce(&mut [f32])) {
    if let Some(singles) = R::singles(to) {
        return rules(singles);
    }
    let scratch = &mut scratch[..to.len()];
    rules(scratch);
    to.iter_mut().zip(scratch).for_each(|(to, from)| *to = R::from_f32(*from));
}

impl<'a, R: Real> Shown<'a, R> {
    /// Those of `world`, whose state may be left out. `scratch` has room for an observation and for a state.
    pub(super) fn new(
        world: &'a World,
        obs: &'a mut [R],
        mask: &'a mut [u32],
        state: &'a mut [R],
        scratch: &'a mut [f32],
    ) -> Self {
        let width = padded(input_len(&*world.env, world.agent_id)) as usize;
        Self { world, info: world.env.info(), width, obs, mask, state, scratch }
    }

    /// All that world `e`, now `at`, shows.
    pub(super) fn show(&mut self, e: usize, at: StateRef<'_>) {
        let (w, info) = (self.world, self.info);
        let (n, a) = (info.num_agents as usize, info.num_actions as usize);
        for i in 0..n {
            let row = e * n + i;
            let input = &mut self.obs[row * self.width..(row + 1) * self.width];
            write_input(&*w.env, w.agent_id, at, i as u32, self.scratch, input);
            if !info.fixed_mask {
                show_legal(&*w.env, at, i as u32, &mut self.mask[row * a..(row + 1) * a]);
            }
        }
        self.show_state(e, at);
    }

    /// What is missing where the observations of world `e`, now `at`, are there already: the agents' ids, and the state.
    pub(super) fn complete(&mut self, e: usize, at: StateRef<'_>) {
        if self.world.agent_id {
            let n = self.info.num_agents as usize;
            for i in 0..n {
                self.obs[(e * n + i) * self.width + self.info.obs_len as usize + i] = R::ONE;
            }
        }
        self.show_state(e, at);
    }

    /// The state, if anybody reads it; nobody writes what is behind observations one after the other.
    fn show_state(&mut self, e: usize, at: StateRef<'_>) {
        if self.state.is_empty() {
            return;
        }
        let stride = padded(self.info.state_len) as usize;
        let row = &mut self.state[e * stride..(e + 1) * stride];
        if !self.world.env.state_is_observations() {
            return write_state(&*self.world.env, at, self.scratch, row);
        }
        let n = self.info.num_agents as usize;
        let mut rest = row;
        for i in 0..n {
            let own = self.info.role(i as u32).obs.len();
            let (to, behind) = rest.split_at_mut(own);
            copy(to, &self.obs[(e * n + i) * self.width..][..own]);
            rest = behind;
        }
    }
}

/// Copies short rows, whose length only the run knows: whole lanes at a time, for a call would take longer.
#[inline(always)]
fn copy<R: Real>(to: &mut [R], from: &[R]) {
    let ((to, to_rest), (from, from_rest)) = (to.as_chunks_mut::<LANES>(), from.as_chunks::<LANES>());
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    to_rest.iter_mut().zip(from_rest).for_each(|(to, from)| *to = *from);
}
