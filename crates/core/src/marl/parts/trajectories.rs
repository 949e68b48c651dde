//! What a rollout leaves for policy gradients: T env steps of E environments, time-major. Item t·E + e is env step t of
//! environment e everywhere; what followed it is kept from before any reset. Where one network moves whoever's turn it is,
//! an item has the mover's row alone (N = 1), else all agents' (N = n).

use super::clock::{Clock, SEGMENT_STEP};
use super::replay::copy_row;
use super::turns::Turns;
use super::world::{TERMINATED, TRUNCATED, World, input_len};
use crate::base::float::Real;
use crate::base::lanes::padded;
use crate::nn::graph::{Compute, Execution, Id, Plan, Reals, Training, View, Wires, Words};
use crate::nn::shader::{Domain, Shader};

/// A rollout.
#[derive(Clone, Copy, Debug)]
pub struct Trajectories {
    /// T.
    pub steps: u32,
    /// E.
    pub envs: u32,
    /// o with ids `[T, E, N, padded(O + n)]`.
    pub obs: Id<Reals, Training>,
    /// o' `[T, E, N, padded(O + n)]`; in turns that of whoever moves next.
    pub next_obs: Id<Reals, Training>,
    /// s `[T, E, padded(S)]`.
    pub state: Id<Reals, Training>,
    /// s' `[T, E, padded(S)]`.
    pub next_state: Id<Reals, Training>,
    /// Legal actions `[T, E, N, |A|]`.
    pub mask: Id<Words, Training>,
    /// Actions `[T, E, N]`.
    pub action: Id<Words, Training>,
    /// ln π(a_i|o_i) of the policy that acted `[T, E, N]`.
    pub log_prob: Id<Reals, Training>,
    /// Rewards, each agent's and the team's `[T, E, n+1]`.
    pub reward: Id<Reals, Training>,
    /// 1 where the world ended (never at a time limit): there is no value beyond `[T, E]`.
    pub terminal: Id<Reals, Training>,
    /// 1 where the episode ended for either reason: the next item belongs to another one `[T, E]`.
    pub ended: Id<Reals, Training>,
    /// 1 for env steps that are learned from, 0 for padding behind an episode's end `[T, E]`; in turns 0, too, where the
    /// mover does not learn from its move.
    pub weight: Id<Reals, Training>,
    /// In turns: who moved, and at T who is to move `[T+1, E]`.
    pub mover: Option<Id<Words, Training>>,
}

impl Trajectories {
    /// Buffers for `steps` env steps of `world`, of the mover alone or of all agents.
    pub fn new(plan: &mut Plan, world: &World, steps: u32, in_turns: bool) -> Self {
        let info = world.env.info();
        let (t, e, n) = (steps, world.envs, if in_turns { 1 } else { info.num_agents });
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
            reward: plan.buffer(&id("reward"), &[t, e, info.num_agents + 1]),
            terminal: plan.buffer(&id("terminal"), &[t, e]),
            ended: plan.buffer(&id("ended"), &[t, e]),
            weight: plan.buffer(&id("weight"), &[t, e]),
            mover: in_turns.then(|| plan.buffer(&id("mover"), &[t + 1, e])),
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
    /// Whose turn it is, where only the mover's row is kept.
    pub turns: Option<Turns>,
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
        if let (Some(turns), Some(mover)) = (&self.turns, to.mover) {
            turns.wires(wires);
            wires.reads(w.ints).reads(w.reals).writes(mover);
        }
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let (w, to) = (&self.world, &self.to);
        let mut clock = view.write(self.clock.counters);
        let (envs, items) = (w.envs, to.count());
        let step = clock[SEGMENT_STEP];
        let ends = if self.timeout_terminal { TERMINATED | TRUNCATED } else { TERMINATED };
        for e in 0..envs {
            let item = step * envs + e;
            // The rows of an environment, or of one agent in it.
            let (rows, now, next) = match &self.turns {
                None => (envs, e, e),
                Some(turns) => {
                    let n = w.env.info().num_agents;
                    (envs * n, e * n + turns.mover(&view, e), e * n + w.to_move(&view, e))
                }
            };
            copy_row::<R, _, _, _>(&view, w.obs, now, to.obs, item, rows, items);
            copy_row::<R, _, _, _>(&view, w.next_obs, next, to.next_obs, item, rows, items);
            copy_row::<R, _, _, _>(&view, w.state, e, to.state, item, envs, items);
            copy_row::<R, _, _, _>(&view, w.next_state, e, to.next_state, item, envs, items);
            copy_row::<R, _, _, _>(&view, w.mask, now, to.mask, item, rows, items);
            copy_row::<R, _, _, _>(&view, w.action, now, to.action, item, rows, items);
            copy_row::<R, _, _, _>(&view, self.log_prob, now, to.log_prob, item, rows, items);
            copy_row::<R, _, _, _>(&view, w.reward, e, to.reward, item, envs, items);
            if self.zero_inactive && self.turns.is_none() {
                self.blank(&mut view.write(to.obs), &view.read(w.mask), e, item);
                self.blank(&mut view.write(to.next_obs), &view.read(w.next_mask), e, item);
            }
            let flag = |holds: bool| if holds { R::ONE } else { R::ZERO };
            let ended = view.read(w.ended)[e as usize];
            view.write(to.terminal)[item as usize] = flag(ended & ends != 0);
            view.write(to.ended)[item as usize] = flag(ended != 0);
            let mut counts = view.read(w.live)[e as usize] != 0;
            if let (Some(turns), Some(mover)) = (&self.turns, to.mover) {
                counts &= turns.teach(&view, e) && step + w.env.info().num_agents <= to.steps;
                let mut mover = view.write(mover);
                mover[item as usize] = turns.mover(&view, e);
                mover[(item + envs) as usize] = w.to_move(&view, e);
            }
            view.write(to.weight)[item as usize] = flag(counts);
        }
        clock[SEGMENT_STEP] = (clock[SEGMENT_STEP] + 1) % to.steps;
    }
    fn shaders(&self, plan: &Plan) -> Option<Vec<Shader>> {
        let (w, to, info) = (&self.world, &self.to, self.world.env.info());
        if self.turns.is_some() {
            return None;
        }
        let shader = Shader::new(Self::NAME, include_str!("../wgsl/record.wgsl"))
            .word("ENVS", w.envs)
            .word("AGENTS", info.num_agents)
            .word("ACTIONS", info.num_actions)
            .buffer("CLOCK", self.clock.counters)
            .buffer("OBS", w.obs)
            .buffer("NEXT_OBS", w.next_obs)
            .word("OBS_OWN", info.obs_len)
            .word("OBS_WIDTH", padded(input_len(&*w.env, w.agent_id)))
            .buffer("STATE", w.state)
            .buffer("NEXT_STATE", w.next_state)
            .word("STATE_LEN", plan.len(w.state) / w.envs)
            .buffer("MASK", w.mask)
            .buffer("NEXT_MASK", w.next_mask)
            .buffer("ACTION", w.action)
            .buffer("LOG_PROB", self.log_prob)
            .buffer("REWARD", w.reward)
            .buffer("ENDED", w.ended)
            .buffer("LIVE", w.live)
            .word("T", to.steps)
            .buffer("TO_OBS", to.obs)
            .buffer("TO_NEXT_OBS", to.next_obs)
            .buffer("TO_STATE", to.state)
            .buffer("TO_NEXT_STATE", to.next_state)
            .buffer("TO_MASK", to.mask)
            .buffer("TO_ACTION", to.action)
            .buffer("TO_LOG_PROB", to.log_prob)
            .buffer("TO_REWARD", to.reward)
            .buffer("TO_TERMINAL", to.terminal)
            .buffer("TO_ENDED", to.ended)
            .buffer("TO_WEIGHT", to.weight)
            .word("ENDS", if self.timeout_terminal { TERMINATED | TRUNCATED } else { TERMINATED })
            .flag("ZERO_INACTIVE", self.zero_inactive)
            .stage(Self::NAME, Domain::Items(w.envs))
            .close("end_record");
        Some(vec![shader])
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
