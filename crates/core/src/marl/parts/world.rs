//! Environments in lockstep: their buffers, how they begin, and the env step. What they show is in `shown.rs`.

use std::sync::Arc;

use super::clock::{Clock, UPDATE};
use super::shown::Shown;
use crate::base::float::Real;
use crate::base::lanes::{LANES, Lanes, padded};
use crate::base::rng::{Draws, Stream};
use crate::env::api::{Ended, Env, EnvInfo, StateMut, StateRef, StepOut, Tile};
pub use crate::env::api::{MAX_AGENTS, MAX_PARTS};
use crate::nn::graph::{Compute, Doubles, Execution, Id, Ints, Plan, Reals, Singles, Training, View, Wires, Words};
use crate::nn::shader::{Domain, Shader};

/// Buffers of E environments in lockstep. `Reals` of observations and states are padded to lanes.
#[derive(Clone, Debug)]
pub struct World {
    /// The rules.
    pub env: Arc<dyn Env>,
    /// E.
    pub envs: u32,
    /// Whether the agent's id is appended to its observation.
    pub agent_id: bool,
    /// Integer state `[E, ints]`.
    pub ints: Id<Ints, Training>,
    /// Real state `[E, reals]`.
    pub reals: Id<Doubles, Training>,
    /// Episode and step `[E, 2]`; an agent may know how long an episode has lasted.
    pub time: Id<Words, Execution>,
    /// o_i, with the agent's id `[E, n, padded(O + n)]`.
    pub obs: Id<Reals, Execution>,
    /// Legal actions `[E, n, |A|]`; written by [`ResetAll`] alone where they never change.
    pub mask: Id<Words, Execution>,
    /// Joint action `[E, n]`.
    pub action: Id<Words, Execution>,
    /// Whether each was exploratory `[E, n]`.
    pub explored: Id<Words, Execution>,
    /// s `[E, padded(S)]`; like `next_state` left out where nobody reads it.
    pub state: Id<Reals, Training>,
    /// o_i after the env step, before any reset `[E, n, padded(O + n)]`; changes places with `obs`, see [`Observe`].
    pub next_obs: Id<Reals, Training>,
    /// Legal actions after the env step, before any reset `[E, n, |A|]`.
    pub next_mask: Id<Words, Training>,
    /// s after the env step, before any reset `[E, padded(S)]`.
    pub next_state: Id<Reals, Training>,
    /// Rewards of each agent, then of the team (0 where the game has none) `[E, n+1]`.
    pub reward: Id<Reals, Training>,
    /// Raw parts of the agents' rewards, to be told: no algorithm reads them `[E, n, parts]`.
    pub parts: Id<Reals, Training>,
    /// 1 where the env step happened, 0 where the world had finished before `[E]`.
    pub live: Id<Words, Training>,
    /// How the env step ended, bit 0 terminated, bit 1 truncated `[E]`.
    pub ended: Id<Words, Training>,
    /// Working space: one observation or state as the rules write it.
    pub shown: Id<Singles, Training>,
}

/// Bit of [`World::ended`].
pub const TERMINATED: u32 = 1;
/// Bit of [`World::ended`].
pub const TRUNCATED: u32 = 2;

impl World {
    /// Buffers for `envs` environments, named `{name}.…`.
    pub fn new(plan: &mut Plan, name: &str, env: Arc<dyn Env>, envs: u32, agent_id: bool) -> Self {
        let info = env.info();
        let (e, n, a) = (envs, info.num_agents, info.num_actions);
        let obs = padded(input_len(&*env, agent_id));
        let state = padded(info.state_len);
        let (ints, reals) = (info.ints, info.reals);
        let id = |part: &str| format!("{name}.{part}");
        Self {
            envs,
            agent_id,
            ints: plan.buffer(&id("ints"), &[e, ints]),
            reals: plan.buffer(&id("reals"), &[e, reals]),
            time: plan.buffer(&id("time"), &[e, 2]),
            obs: plan.buffer(&id("observation"), &[e, n, obs]),
            mask: plan.buffer(&id("mask"), &[e, n, a]),
            action: plan.buffer(&id("action"), &[e, n]),
            explored: plan.buffer(&id("explored"), &[e, n]),
            state: plan.buffer_if_read(&id("state"), &[e, state]),
            next_obs: plan.buffer(&id("next_observation"), &[e, n, obs]),
            next_mask: plan.buffer(&id("next_mask"), &[e, n, a]),
            next_state: plan.buffer_if_read(&id("next_state"), &[e, state]),
            reward: plan.buffer(&id("reward"), &[e, n + 1]),
            parts: plan.buffer(&id("reward_parts"), &[e, n, info.part_names.len() as u32]),
            live: plan.buffer(&id("live"), &[e]),
            ended: plan.buffer(&id("ended"), &[e]),
            shown: plan.buffer(&id("shown"), &[info.obs_len.max(info.state_len)]),
            env,
        }
    }
}

impl World {
    /// A kernel on these worlds under their rules, if a device knows them.
    fn shader(&self, plan: &Plan, name: &'static str, source: &'static str) -> Option<Shader> {
        let (info, rules) = (self.env.info(), self.env.wgsl()?);
        let shader = Shader::new(name, include_str!("../wgsl/world.wgsl"))
            .with(rules.source, rules.constants)
            .with(source, Vec::new())
            .word("AGENTS", info.num_agents)
            .word("ACTIONS", info.num_actions)
            .buffer("WORLD_INTS", self.ints)
            .word("WORLD_INTS_LEN", info.ints)
            .buffer("WORLD_REALS", self.reals)
            .word("WORLD_REALS_LEN", info.reals)
            .buffer("TIME", self.time)
            .buffer("ENDED", self.ended)
            .buffer("NEXT_OBS", self.next_obs)
            .word("OBS_LEN", info.obs_len)
            .word("OBS_WIDTH", padded(input_len(&*self.env, self.agent_id)))
            .flag("AGENT_ID", self.agent_id)
            .buffer("NEXT_MASK", self.next_mask)
            .flag("FIXED_MASK", info.fixed_mask)
            .buffer("NEXT_STATE", self.next_state)
            .word("STATE_LEN", info.state_len)
            .word("STATE_WIDTH", plan.len(self.next_state) / self.envs);
        Some(shader)
    }
}

/// Length of an agent's input: observation and, if switched on, its id one-hot.
pub fn input_len(env: &dyn Env, agent_id: bool) -> u32 {
    env.info().obs_len + if agent_id { env.info().num_agents } else { 0 }
}

/// How worlds begin.
#[derive(Clone, Copy, Debug)]
pub enum Starts {
    /// Drawn from the stream.
    Drawn,
    /// World e at enumerated start e, going round where there are more worlds than this many starts.
    Enumerated(u32),
    /// Drawn anew in every update, `of` consecutive worlds sharing a start.
    Groups {
        /// Worlds of a group.
        of: u32,
        /// The update.
        clock: Clock,
    },
}

/// Puts every world at the start of an episode: step 0 of episode 0, or of the update's number in groups.
#[derive(Clone, Debug)]
pub struct ResetAll {
    /// The worlds.
    pub world: World,
    /// Draws of resets.
    pub stream: Stream,
    /// How they begin.
    pub starts: Starts,
}

impl Compute for ResetAll {
    type Side = Training;
    const NAME: &'static str = "env_reset";
    fn wires(&self, wires: &mut Wires) {
        wires.writes(self.world.ints).writes(self.world.reals).writes(self.world.time).writes(self.world.ended);
        wires.writes(self.world.mask).writes(self.world.next_mask);
        if let Starts::Groups { clock, .. } = self.starts {
            wires.reads(clock.counters);
        }
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let w = &self.world;
        let info = w.env.info();
        let (mut ints, mut reals) = (view.write(w.ints), view.write(w.reals));
        let (mut time, mut ended) = (view.write(w.time), view.write(w.ended));
        let episode = match self.starts {
            Starts::Groups { clock, .. } => view.read(clock.counters)[UPDATE],
            Starts::Drawn | Starts::Enumerated(_) => 0,
        };
        for e in 0..w.envs as usize {
            (time[e * 2], time[e * 2 + 1]) = (episode, 0);
            let state = state_of(info, e, &mut ints, &mut reals);
            let draw = |e: u32, state: StateMut<'_>| {
                w.env.reset(state, &self.stream.env(e, episode, 0));
                false
            };
            let over = match self.starts {
                Starts::Drawn => draw(e as u32, state),
                Starts::Groups { of, .. } => draw(e as u32 / of, state),
                Starts::Enumerated(count) => w.env.reset_to(state, e as u32 % count),
            };
            ended[e] = if over { TERMINATED } else { 0 };
        }
        if info.fixed_mask {
            let first = StateRef { ints: &ints[..info.ints as usize], reals: &reals[..info.reals as usize] };
            for mut mask in [view.write(w.mask), view.write(w.next_mask)] {
                for (agent, mask) in (0..info.num_agents).cycle().zip(mask.chunks_exact_mut(info.num_actions as usize))
                {
                    w.env.legal(first, agent, mask);
                }
            }
        }
    }
}

/// What the worlds show now: o_i and legal actions to each agent, s to training. Since an env step a world has not changed,
/// unless it was reset: what followed then is what is now, so those buffers change places, and `next_…` mean nothing
/// until the next env step.
#[derive(Clone, Debug)]
pub struct Observe {
    /// The worlds.
    pub world: World,
}

impl Compute for Observe {
    type Side = Training;
    const NAME: &'static str = "env_observe";
    fn wires(&self, wires: &mut Wires) {
        let w = &self.world;
        wires.reads(w.ints).reads(w.reals).reads(w.time).reads(w.ended);
        wires.writes(w.next_obs).writes(w.next_mask).writes(w.obs).writes(w.mask).writes(w.shown);
        wires.passes(w.next_state, w.state).passes(w.state, w.next_state);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let w = &self.world;
        let (ints, reals) = (view.read(w.ints), view.read(w.reals));
        let (time, ended) = (view.read(w.time), view.read(w.ended));
        let (mut obs, mut mask, mut state) = (view.write(w.obs), view.write(w.mask), view.write(w.state));
        std::mem::swap(&mut *obs, &mut *view.write(w.next_obs));
        std::mem::swap(&mut *mask, &mut *view.write(w.next_mask));
        std::mem::swap(&mut *state, &mut *view.write(w.next_state));
        let mut scratch = view.write(w.shown);
        let mut shown = Shown::new(w, &mut obs, &mut mask, &mut state, &mut scratch);
        let (i, r) = (w.env.info().ints as usize, w.env.info().reals as usize);
        // Worlds at a start, and those that stay finished: their last env step may be long ago.
        for e in (0..w.envs as usize).filter(|&e| time[e * 2 + 1] == 0 || ended[e] != 0) {
            let at = StateRef { ints: &ints[e * i..(e + 1) * i], reals: &reals[e * r..(e + 1) * r] };
            shown.show(e, at);
        }
    }
    fn shaders(&self, plan: &Plan) -> Option<Vec<Shader>> {
        let w = &self.world;
        let shader = w
            .shader(plan, Self::NAME, include_str!("../wgsl/env_observe.wgsl"))?
            .buffer("OBS", w.obs)
            .buffer("MASK", w.mask)
            .buffer("STATE", w.state)
            .stage("env_observe", Domain::Items(w.envs));
        Some(vec![shader])
    }
}

/// One env step of every world, with auto-reset. What follows the step is kept before the reset (`next_…`), so that
/// bootstrapping never looks into the next episode.
#[derive(Clone, Debug)]
pub struct Step {
    /// The worlds.
    pub world: World,
    /// Draws of env steps and resets.
    pub stream: Stream,
    /// Whether a finished world begins its next episode; if not, it stays finished and pays nothing more.
    pub auto_reset: bool,
}

impl Compute for Step {
    type Side = Training;
    const NAME: &'static str = "env_step";
    fn wires(&self, wires: &mut Wires) {
        let w = &self.world;
        wires.reads(w.action).writes(w.ints).writes(w.reals).writes(w.time).writes(w.reward).writes(w.parts);
        wires
            .writes(w.ended)
            .writes(w.live)
            .writes(w.next_obs)
            .writes(w.next_mask)
            .writes(w.next_state)
            .writes(w.shown);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let w = &self.world;
        let (action, mut scratch) = (view.read(w.action), view.write(w.shown));
        let (mut ints, mut reals, mut time) = (view.write(w.ints), view.write(w.reals), view.write(w.time));
        let (mut reward, mut parts) = (view.write(w.reward), view.write(w.parts));
        let (mut ended, mut live) = (view.write(w.ended), view.write(w.live));
        let (mut obs, mut mask, mut state) =
            (view.write(w.next_obs), view.write(w.next_mask), view.write(w.next_state));
        let shown = Shown::new(w, &mut obs, &mut mask, &mut state, &mut scratch);
        let mut stepping = Stepping {
            call: self,
            action: &action,
            ints: &mut ints,
            reals: &mut reals,
            time: &mut time,
            reward: &mut reward,
            reward_parts: &mut parts,
            info: w.env.info(),
            ended: &mut ended,
            live: &mut live,
            shown,
            rewards: [0.0; MAX_AGENTS],
            parts: [0.0; MAX_AGENTS * MAX_PARTS],
            lane_rewards: [Lanes::ZERO; MAX_AGENTS + 1],
            lane_parts: [Lanes::ZERO; MAX_AGENTS * MAX_PARTS],
        };
        let mut e = 0;
        while e < w.envs as usize {
            if e + LANES <= w.envs as usize && stepping.tile(e) {
                e += LANES;
            } else {
                stepping.one(e);
                e += 1;
            }
        }
    }
    fn shaders(&self, plan: &Plan) -> Option<Vec<Shader>> {
        let w = &self.world;
        let info = w.env.info();
        let worlds = Domain::Items(w.envs);
        let shader = w
            .shader(plan, Self::NAME, include_str!("../wgsl/env_step.wgsl"))?
            .key(self.stream)
            .buffer("ACTION", w.action)
            .buffer("REWARD", w.reward)
            .buffer("PARTS", w.parts)
            .word("PARTS_LEN", info.num_agents * info.part_names.len() as u32)
            .buffer("LIVE", w.live)
            .flag("AUTO_RESET", self.auto_reset)
            .stage("env_step", worlds)
            .stage("show_next", worlds)
            .stage("end_step", worlds);
        Some(vec![shader])
    }
}

/// The buffers of an env step.
struct Stepping<'a, R> {
    call: &'a Step,
    info: &'a EnvInfo,
    action: &'a [u32],
    ints: &'a mut [i32],
    reals: &'a mut [f64],
    time: &'a mut [u32],
    reward: &'a mut [R],
    reward_parts: &'a mut [R],
    ended: &'a mut [u32],
    live: &'a mut [u32],
    shown: Shown<'a, R>,
    /// What the rules pay, in one world and in a tile of them.
    rewards: [f64; MAX_AGENTS],
    parts: [f64; MAX_AGENTS * MAX_PARTS],
    /// The team's behind those of the agents.
    lane_rewards: [Lanes<f64>; MAX_AGENTS + 1],
    lane_parts: [Lanes<f64>; MAX_AGENTS * MAX_PARTS],
}

impl<R: Real> Stepping<'_, R> {
    /// World `e`, if it is not over.
    fn one(&mut self, e: usize) {
        let w = &self.call.world;
        let (n, p) = self.widths();
        if !self.call.auto_reset && self.ended[e] != 0 {
            self.live[e] = 0;
            self.reward[e * (n + 1)..(e + 1) * (n + 1)].fill(R::ZERO);
            self.reward_parts[e * p..(e + 1) * p].fill(R::ZERO);
            return;
        }
        let draws = self.draws(e);
        let mut out = StepOut { rewards: &mut self.rewards[..n], parts: &mut self.parts[..p] };
        let at = state_of(self.info, e, self.ints, self.reals);
        let end = w.env.step(at, &self.action[e * n..(e + 1) * n], &draws, &mut out);
        let rewards = &mut self.reward[e * (n + 1)..(e + 1) * (n + 1)];
        rewards.iter_mut().zip(&*out.rewards).for_each(|(to, &from)| *to = R::from_f64(from));
        let parts = &mut self.reward_parts[e * p..(e + 1) * p];
        parts.iter_mut().zip(&*out.parts).for_each(|(to, &from)| *to = R::from_f64(from));
        let team = if self.info.common_reward { Some(out.rewards[0]) } else { w.env.team_reward(&out) };
        rewards[n] = R::from_f64(team.unwrap_or(0.0));
        self.shown.show(e, state_of(self.info, e, self.ints, self.reals).view());
        self.close(e, end);
    }

    /// The worlds from `e` on together, a lane each. False, and nothing done, where that cannot be.
    fn tile(&mut self, e: usize) -> bool {
        let w = &self.call.world;
        let (n, p) = self.widths();
        let worlds = e..e + LANES;
        if !self.info.fixed_mask
            || !(self.call.auto_reset || self.ended[worlds.clone()].iter().all(|&ended| ended == 0))
        {
            return false;
        }
        let of = |width: usize| worlds.start * width..worlds.end * width;
        let obs_stride = self.shown.width;
        let Some(obs) = R::singles(&mut self.shown.obs[of(n * obs_stride)]) else { return false };
        let mut ended = [Ended::default(); LANES];
        let mut tile = Tile {
            ints: &mut self.ints[of(self.info.ints as usize)],
            reals: &mut self.reals[of(self.info.reals as usize)],
            actions: &self.action[of(n)],
            rewards: &mut self.lane_rewards[..n],
            parts: &mut self.lane_parts[..p],
            obs,
            obs_stride,
            ended: &mut ended,
        };
        if !w.env.step_tile(&mut tile) {
            return false;
        }
        self.lane_rewards[n] = self.team_rewards();
        scatter(&self.lane_parts[..p], &mut self.reward_parts[of(p)]);
        scatter(&self.lane_rewards[..=n], &mut self.reward[of(n + 1)]);
        for (lane, end) in ended.into_iter().enumerate() {
            let at = state_of(self.info, e + lane, self.ints, self.reals);
            self.shown.complete(e + lane, at.view());
            self.close(e + lane, end);
        }
        true
    }

    /// The team's reward in each lane of a tile; 0 where the game has none.
    #[inline(always)]
    fn team_rewards(&mut self) -> Lanes<f64> {
        if self.info.common_reward {
            return self.lane_rewards[0];
        }
        let mut team = Lanes::ZERO;
        if self.info.team_reward {
            let (n, p) = self.widths();
            for (lane, team) in team.0.iter_mut().enumerate() {
                self.rewards.iter_mut().zip(&self.lane_rewards[..n]).for_each(|(to, lanes)| *to = lanes.0[lane]);
                self.parts.iter_mut().zip(&self.lane_parts[..p]).for_each(|(to, lanes)| *to = lanes.0[lane]);
                let out = StepOut { rewards: &mut self.rewards[..n], parts: &mut self.parts[..p] };
                *team = self.call.world.env.team_reward(&out).unwrap_or(0.0);
            }
        }
        team
    }

    /// Agents, and parts of all agents' rewards.
    fn widths(&self) -> (usize, usize) {
        let n = self.info.num_agents as usize;
        (n, n * self.info.part_names.len())
    }

    fn draws(&self, e: usize) -> Draws {
        self.call.stream.env(e as u32, self.time[e * 2], self.time[e * 2 + 1] + 1)
    }

    /// Notes how the env step of world `e` ended, and begins its next episode if this one is over.
    #[inline(always)]
    fn close(&mut self, e: usize, end: Ended) {
        let w = &self.call.world;
        self.live[e] = 1;
        self.ended[e] = bits(end);
        self.time[e * 2 + 1] += 1;
        if end.any() && self.call.auto_reset {
            let episode = self.time[e * 2] + 1;
            (self.time[e * 2], self.time[e * 2 + 1]) = (episode, 0);
            let at = state_of(self.info, e, self.ints, self.reals);
            w.env.reset(at, &self.call.stream.env(e as u32, episode, 0));
        }
    }
}

/// What the rules paid a tile of worlds, into rows of as many worlds that may have room for more.
#[inline(always)]
fn scatter<R: Real>(columns: &[Lanes<f64>], rows: &mut [R]) {
    let width = rows.len() / LANES;
    for (k, column) in columns.iter().enumerate() {
        for (lane, &number) in column.0.iter().enumerate() {
            rows[lane * width + k] = R::from_f64(number);
        }
    }
}

fn bits(end: Ended) -> u32 {
    u32::from(end.terminated) * TERMINATED + u32::from(end.truncated) * TRUNCATED
}

fn state_of<'a>(info: &EnvInfo, e: usize, ints: &'a mut [i32], reals: &'a mut [f64]) -> StateMut<'a> {
    let (i, r) = (info.ints as usize, info.reals as usize);
    StateMut { ints: &mut ints[e * i..(e + 1) * i], reals: &mut reals[e * r..(e + 1) * r] }
}
