//! N worlds in lockstep, reset as they end.
//!
//! The functions work on one world's slices, so that an engine may hold the arrays in its own buffers; [`Batch`] holds
//! them itself. After a step `next` shows the world as the step left it, before any reset: what a learner bootstraps
//! from. `now` shows where the next action is taken: the same, or the first observation of the new episode.
//! Draws depend on (world, episode, step) alone, so neither the order of the worlds nor the size of the batch matters.

use crate::base::rng::Stream;
use crate::env::api::{Ended, Env, EnvInfo, EnvState, StateMut, StateRef, StepOut};

/// What agents and mixers read of one world. Buffers are the caller's.
#[derive(Debug)]
pub struct ViewMut<'a> {
    /// `[n, obs_len]`.
    pub obs: &'a mut [f32],
    /// `[state_len]`.
    pub state: &'a mut [f32],
    /// `[n, |A|]`, 1 legal, 0 not.
    pub mask: &'a mut [u32],
}

/// Writes what can be read of a world.
pub fn look(env: &dyn Env, state: StateRef<'_>, view: &mut ViewMut<'_>) {
    let info = env.info();
    let (obs_len, num_actions) = (info.obs_len() as usize, info.num_actions as usize);
    for agent in 0..info.num_agents {
        let at = agent as usize;
        env.observe(state, agent, &mut view.obs[at * obs_len..][..obs_len]);
        env.legal(state, agent, &mut view.mask[at * num_actions..][..num_actions]);
    }
    env.state(state, view.state);
}

/// Puts world number `index` at the start of its episode number `episode`.
pub fn reset_world(env: &dyn Env, stream: &Stream, index: u32, episode: u32, state: StateMut<'_>) {
    env.reset(state, &stream.env(index, episode, 0));
}

/// One env step of world number `index`, then a reset into the next episode if this one is over.
///
/// `actions` is `[n]`. `next` gets the view after the step, `now` that at the next action. Draws: the reset has those of
/// step 0, the first env step those of step 1.
pub fn step_world(
    env: &dyn Env,
    stream: &Stream,
    index: u32,
    episode: &mut u32,
    state: StateMut<'_>,
    actions: &[u32],
    out: &mut StepOut<'_>,
    next: &mut ViewMut<'_>,
    now: &mut ViewMut<'_>,
) -> Ended {
    let StateMut { ints, reals } = state;
    let step = env.step_count(StateRef { ints, reals }) + 1;
    let ended = env.step(StateMut { ints, reals }, actions, &stream.env(index, *episode, step), out);
    look(env, StateRef { ints, reals }, next);
    if ended.any() {
        *episode += 1;
        reset_world(env, stream, index, *episode, StateMut { ints, reals });
        look(env, StateRef { ints, reals }, now);
    } else {
        now.obs.copy_from_slice(next.obs);
        now.state.copy_from_slice(next.state);
        now.mask.copy_from_slice(next.mask);
    }
    ended
}

/// Views of N worlds.
#[derive(Clone, Debug, PartialEq)]
pub struct Views {
    /// `[N, n, obs_len]`.
    pub obs: Vec<f32>,
    /// `[N, state_len]`.
    pub state: Vec<f32>,
    /// `[N, n, |A|]`.
    pub mask: Vec<u32>,
}

impl Views {
    /// Zeros for `worlds` worlds.
    pub fn new(info: &EnvInfo, worlds: u32) -> Self {
        let (worlds, agents) = (worlds as usize, info.num_agents as usize);
        Self {
            obs: vec![0.0; worlds * agents * info.obs_len() as usize],
            state: vec![0.0; worlds * info.state_len() as usize],
            mask: vec![0; worlds * agents * info.num_actions as usize],
        }
    }

    /// The view of world `index`.
    pub fn world_mut(&mut self, info: &EnvInfo, index: usize) -> ViewMut<'_> {
        ViewMut {
            obs: row_mut(&mut self.obs, index, (info.num_agents * info.obs_len()) as usize),
            state: row_mut(&mut self.state, index, info.state_len() as usize),
            mask: row_mut(&mut self.mask, index, (info.num_agents * info.num_actions) as usize),
        }
    }
}

/// N worlds with their arrays.
#[derive(Clone, Debug)]
pub struct Batch {
    stream: Stream,
    worlds: u32,
    /// `[N, ints]`.
    pub ints: Vec<i32>,
    /// `[N, reals]`.
    pub reals: Vec<f64>,
    /// `[N]`: number of each world's current episode.
    pub episodes: Vec<u32>,
    /// Where the next actions are taken.
    pub now: Views,
    /// As the last step left the worlds, before any reset.
    pub next: Views,
    /// `[N, n]`: rewards of the last step.
    pub rewards: Vec<f32>,
    /// `[N, n, parts]`: their parts.
    pub parts: Vec<f32>,
    /// `[N]`: how the last step ended.
    pub ended: Vec<Ended>,
}

impl Batch {
    /// `worlds` worlds at the start of their first episodes.
    pub fn new(env: &dyn Env, stream: Stream, worlds: u32) -> Self {
        let info = env.info();
        let count = worlds as usize;
        let views = Views::new(info, worlds);
        let mut batch = Self {
            stream,
            worlds,
            ints: vec![0; count * info.ints as usize],
            reals: vec![0.0; count * info.reals as usize],
            episodes: vec![0; count],
            now: views.clone(),
            next: views,
            rewards: vec![0.0; count * info.num_agents as usize],
            parts: vec![0.0; count * info.num_agents as usize * info.part_names.len()],
            ended: vec![Ended::default(); count],
        };
        batch.reset_all(env);
        batch
    }

    /// All worlds at the start of their first episodes again.
    pub fn reset_all(&mut self, env: &dyn Env) {
        let info = env.info();
        self.episodes.fill(0);
        for index in 0..self.worlds {
            let at = index as usize;
            let ints = row_mut(&mut self.ints, at, info.ints as usize);
            let reals = row_mut(&mut self.reals, at, info.reals as usize);
            reset_world(env, &self.stream, index, 0, StateMut { ints, reals });
            look(env, StateRef { ints, reals }, &mut self.now.world_mut(info, at));
        }
        self.next.clone_from(&self.now);
        self.rewards.fill(0.0);
        self.parts.fill(0.0);
        self.ended.fill(Ended::default());
    }

    /// One env step of every world; `actions` is `[N, n]`.
    pub fn step(&mut self, env: &dyn Env, actions: &[u32]) {
        let info = env.info();
        let agents = info.num_agents as usize;
        for index in 0..self.worlds {
            let at = index as usize;
            let state = StateMut {
                ints: row_mut(&mut self.ints, at, info.ints as usize),
                reals: row_mut(&mut self.reals, at, info.reals as usize),
            };
            let mut out = StepOut {
                rewards: row_mut(&mut self.rewards, at, agents),
                parts: row_mut(&mut self.parts, at, agents * info.part_names.len()),
            };
            self.ended[at] = step_world(
                env,
                &self.stream,
                index,
                &mut self.episodes[at],
                state,
                &actions[at * agents..][..agents],
                &mut out,
                &mut self.next.world_mut(info, at),
                &mut self.now.world_mut(info, at),
            );
        }
    }

    /// The state of world `index`.
    pub fn world(&self, index: u32) -> EnvState {
        let of = |array: usize| array / self.worlds as usize;
        let (ints, reals, at) = (of(self.ints.len()), of(self.reals.len()), index as usize);
        EnvState { ints: self.ints[at * ints..][..ints].to_vec(), reals: self.reals[at * reals..][..reals].to_vec() }
    }
}

/// Row `index` of a flat array with rows of `len`.
fn row_mut<T>(array: &mut [T], index: usize, len: usize) -> &mut [T] {
    &mut array[index * len..][..len]
}
