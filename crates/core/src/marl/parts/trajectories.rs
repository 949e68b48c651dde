//! What a rollout leaves for policy gradients: T env steps of E environments, time-major. Item t·E + e is env step t of
//! environment e everywhere; what followed it is kept from before any reset.

use super::clock::{Clock, SEGMENT_STEP};
use super::replay::copy_row;
use super::world::{TERMINATED, TRUNCATED, World, input_len};
use crate::base::float::Real;
use crate::base::lanes::padded;
use crate::nn::graph::{Compute, Execution, Id, Plan, Reals, Training, View, Wires, Words};

/// A rollout.
#[derive(Clone, Copy, Debug)]
pub struct Trajectories {
    /// T.
    pub steps: u32,
    /// E.
    pub envs: u32,
    /// o with ids `[T, E, n, padded(O + n)]`.
    pub obs: Id<Reals, Training>,
    /// o' `[T, E, n, padded(O + n)]`.
    pub next_obs: Id<Reals, Training>,
    /// s `[T, E, padded(S)]`.
    pub state: Id<Reals, Training>,
    /// s' `[T, E, padded(S)]`.
    pub next_state: Id<Reals, Training>,
    /// Legal actions `[T, E, n, |A|]`.
    pub mask: Id<Words, Training>,
    /// Joint actions `[T, E, n]`.
    pub action: Id<Words, Training>,
    /// ln π(a_i|o_i) of the policy that acted `[T, E, n]`.
    pub log_prob: Id<Reals, Training>,
    /// Rewards, each agent's and the team's `[T, E, n+1]`.
    pub reward: Id<Reals, Training>,
    /// 1 where the world ended (never at a time limit): there is no value beyond `[T, E]`.
    pub terminal: Id<Reals, Training>,
    /// 1 where the episode ended for either reason: the next item belongs to another one `[T, E]`.
    pub ended: Id<Reals, Training>,
    /// 1 for env steps that happened, 0 for padding behind an episode's end `[T, E]`.
    pub weight: Id<Reals, Training>,
}

impl Trajectories {
    /// Buffers for `steps` env steps of `world`.
    pub fn new(plan: &mut Plan, world: &World, steps: u32) -> Self {
        let info = world.env.info();
        let (t, e, n) = (steps, world.envs, info.num_agents);
        let (obs, state) = (padded(input_len(&*world.env, world.agent_id)), padded(info.state_len));
        let id = |part: &str| format!("rollout.{part}");
        Self {
            steps,
            envs: e,
            obs: plan.buffer(&id("observation"), &[t, e, n, obs]),
            next_obs: plan.buffer(&id("next_observation"), &[t, e, n, obs]),
            state: plan.buffer(&id("state"), &[t, e, state]),
            next_state: plan.buffer(&id("next_state"), &[t, e, state]),
            mask: plan.buffer(&id("mask"), &[t, e, n, info.num_actions]),
            action: plan.buffer(&id("action"), &[t, e, n]),
            log_prob: plan.buffer(&id("log_prob"), &[t, e, n]),
            reward: plan.buffer(&id("reward"), &[t, e, n + 1]),
            terminal: plan.buffer(&id("terminal"), &[t, e]),
            ended: plan.buffer(&id("ended"), &[t, e]),
            weight: plan.buffer(&id("weight"), &[t, e]),
        }
    }

    /// Items, T·E.
    pub fn count(&self) -> u32 {
        self.steps * self.envs
    }
}

/// Keeps the env step just taken by every world.
#[derive(Clone, Debug)]
pub struct Record {
    /// The worlds.
    pub world: World,
    /// ln π(a_i|o_i) `[E, n]`.
    pub log_prob: Id<Reals, Execution>,
    /// Where to.
    pub to: Trajectories,
    /// Env step within the rollout.
    pub clock: Clock,
    /// Count a time limit as termination (wrong on purpose, for teaching).
    pub timeout_terminal: bool,
    /// Give an agent without a legal action zeros (and its id) for an observation.
    pub zero_inactive: bool,
}

impl Compute for Record {
    type Side = Training;
    const NAME: &'static str = "record";
    fn wires(&self, wires: &mut Wires) {
        let (w, to) = (&self.world, &self.to);
        wires.reads(w.obs).reads(w.state).reads(w.mask).reads(w.action).reads(self.log_prob).reads(w.reward);
        wires.reads(w.ended).reads(w.live).reads(w.next_obs).reads(w.next_state).reads(w.next_mask);
        wires.writes(to.obs).writes(to.next_obs).writes(to.state).writes(to.next_state).writes(to.mask);
        wires.writes(to.action).writes(to.log_prob).writes(to.reward).writes(to.terminal).writes(to.ended);
        wires.writes(to.weight).writes(self.clock.counters);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let (w, to) = (&self.world, &self.to);
        let mut clock = view.write(self.clock.counters);
        let (envs, items) = (w.envs, to.count());
        let ends = if self.timeout_terminal { TERMINATED | TRUNCATED } else { TERMINATED };
        for e in 0..envs {
            let item = clock[SEGMENT_STEP] * envs + e;
            copy_row::<R, _, _, _>(&view, w.obs, e, to.obs, item, envs, items);
            copy_row::<R, _, _, _>(&view, w.next_obs, e, to.next_obs, item, envs, items);
            copy_row::<R, _, _, _>(&view, w.state, e, to.state, item, envs, items);
            copy_row::<R, _, _, _>(&view, w.next_state, e, to.next_state, item, envs, items);
            copy_row::<R, _, _, _>(&view, w.mask, e, to.mask, item, envs, items);
            copy_row::<R, _, _, _>(&view, w.action, e, to.action, item, envs, items);
            copy_row::<R, _, _, _>(&view, self.log_prob, e, to.log_prob, item, envs, items);
            copy_row::<R, _, _, _>(&view, w.reward, e, to.reward, item, envs, items);
            if self.zero_inactive {
                self.blank(&mut view.write(to.obs), &view.read(w.mask), e, item);
                self.blank(&mut view.write(to.next_obs), &view.read(w.next_mask), e, item);
            }
            let flag = |holds: bool| if holds { R::ONE } else { R::ZERO };
            let ended = view.read(w.ended)[e as usize];
            view.write(to.terminal)[item as usize] = flag(ended & ends != 0);
            view.write(to.ended)[item as usize] = flag(ended != 0);
            view.write(to.weight)[item as usize] = flag(view.read(w.live)[e as usize] != 0);
        }
        clock[SEGMENT_STEP] = (clock[SEGMENT_STEP] + 1) % to.steps;
    }
}

impl Record {
    /// Zeros the observations, but not the ids, of the agents that `mask` leaves nothing to do.
    fn blank<R: Real>(&self, obs: &mut [R], mask: &[u32], e: u32, item: u32) {
        let info = self.world.env.info();
        let (n, a) = (info.num_agents as usize, info.num_actions as usize);
        let (len, width) = (info.obs_len as usize, padded(input_len(&*self.world.env, self.world.agent_id)) as usize);
        for i in 0..n {
            let legal = (e as usize * n + i) * a;
            if mask[legal..legal + a].iter().all(|&m| m == 0) {
                let row = (item as usize * n + i) * width;
                obs[row..row + len].fill(R::ZERO);
            }
        }
    }
}
