//! Experience replay: a ring of segments of T env steps (T+1 observations), and minibatches drawn from it.
//!
//! T is the whole episode where its length is fixed, one env step where it is not, so a segment never crosses the end
//! of an episode and never needs padding; `weight` is there all the same and is what losses are averaged with.

use super::clock::{Clock, GRADIENT_STEP, RING_FILL, RING_HEAD, SEGMENT_STEP};
use super::world::{TERMINATED, TRUNCATED, World, input_len};
use crate::base::float::Real;
use crate::base::lanes::padded;
use crate::base::rng::{Stream, below};
use crate::nn::graph::{Compute, Content, Doubles, Id, Plan, Reals, Training, View, Wires, Words};
use crate::nn::shader::{Domain, Shader};

/// `count` segments: the ring, or a minibatch of it.
#[derive(Clone, Copy, Debug)]
pub struct Segments {
    /// Number of segments.
    pub count: u32,
    /// T.
    pub steps: u32,
    /// o with ids `[count, T+1, N, padded(O + n)]`; N is n, or 1 in turns: who moved.
    pub obs: Id<Reals, Training>,
    /// s `[count, T+1, padded(S)]`, in turns nothing.
    pub state: Id<Reals, Training>,
    /// Legal actions `[count, T+1, N, |A|]`.
    pub mask: Id<Words, Training>,
    /// Actions `[count, T, N]`.
    pub action: Id<Words, Training>,
    /// Rewards, each agent's and the team's `[count, T, N+1]`.
    pub reward: Id<Reals, Training>,
    /// 1 where the world ended after the env step (never at a time limit) `[count, T]`.
    pub terminal: Id<Reals, Training>,
    /// 1 for env steps that happened, 0 for padding and for what is not learned from `[count, T]`.
    pub weight: Id<Reals, Training>,
}

impl Segments {
    /// Buffers named `{name}.…`, of the mover alone or of all agents.
    pub fn new(plan: &mut Plan, name: &str, world: &World, count: u32, steps: u32, in_turns: bool) -> Self {
        let info = world.env.info();
        let (n, state) = if in_turns { (1, 0) } else { (info.num_agents, padded(info.state_len)) };
        let (c, t) = (count, steps);
        let id = |part: &str| format!("{name}.{part}");
        Self {
            count,
            steps,
            obs: plan.buffer(&id("observation"), &[c, t + 1, n, padded(input_len(&*world.env, world.agent_id))]),
            state: plan.buffer(&id("state"), &[c, t + 1, state]),
            mask: plan.buffer(&id("mask"), &[c, t + 1, n, info.num_actions]),
            action: plan.buffer(&id("action"), &[c, t, n]),
            reward: plan.buffer(&id("reward"), &[c, t, n + 1]),
            terminal: plan.buffer(&id("terminal"), &[c, t]),
            weight: plan.buffer(&id("weight"), &[c, t]),
        }
    }
}

/// The ring and the minibatch drawn from it.
#[derive(Clone, Copy, Debug)]
pub struct Replay {
    /// What was seen lately.
    pub ring: Segments,
    /// What a gradient step looks at.
    pub batch: Segments,
    /// Running moments of the rewards drawn, where they are standardised ([`super::td::RewardMoments`]) `[3]`.
    pub reward_moments: Id<Doubles, Training>,
}

/// Appends the env step just taken by every world to the segments being recorded.
#[derive(Clone, Debug)]
pub struct Store {
    /// The worlds.
    pub world: World,
    /// The ring.
    pub ring: Segments,
    /// Head, fill, env step within the segment.
    pub clock: Clock,
    /// Count a time limit as termination (wrong on purpose, for teaching).
    pub timeout_terminal: bool,
}

impl Compute for Store {
    type Side = Training;
    const NAME: &'static str = "store";
    fn wires(&self, wires: &mut Wires) {
        let (w, r) = (&self.world, &self.ring);
        wires.reads(w.obs).reads(w.state).reads(w.mask).reads(w.action).reads(w.reward).reads(w.ended);
        wires.reads(w.next_obs).reads(w.next_state).reads(w.next_mask);
        wires.writes(r.obs).writes(r.state).writes(r.mask).writes(r.action).writes(r.reward);
        wires.writes(r.terminal).writes(r.weight).writes(self.clock.counters);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let (w, r) = (&self.world, &self.ring);
        let mut clock = view.write(self.clock.counters);
        let (t, steps) = (clock[SEGMENT_STEP], r.steps);
        let slot = |e: u32| (clock[RING_HEAD] + e) % r.count;
        for e in 0..w.envs {
            let (before, after) = (slot(e) * (steps + 1) + t, slot(e) * (steps + 1) + t + 1);
            let at = slot(e) * steps + t;
            copy_row::<R, _, _, _>(&view, w.obs, e, r.obs, before, w.envs, r.count * (steps + 1));
            copy_row::<R, _, _, _>(&view, w.state, e, r.state, before, w.envs, r.count * (steps + 1));
            copy_row::<R, _, _, _>(&view, w.mask, e, r.mask, before, w.envs, r.count * (steps + 1));
            copy_row::<R, _, _, _>(&view, w.next_obs, e, r.obs, after, w.envs, r.count * (steps + 1));
            copy_row::<R, _, _, _>(&view, w.next_state, e, r.state, after, w.envs, r.count * (steps + 1));
            copy_row::<R, _, _, _>(&view, w.next_mask, e, r.mask, after, w.envs, r.count * (steps + 1));
            copy_row::<R, _, _, _>(&view, w.action, e, r.action, at, w.envs, r.count * steps);
            copy_row::<R, _, _, _>(&view, w.reward, e, r.reward, at, w.envs, r.count * steps);
            let ended = view.read(w.ended)[e as usize];
            let ends = if self.timeout_terminal { TERMINATED | TRUNCATED } else { TERMINATED };
            view.write(r.terminal)[at as usize] = if ended & ends != 0 { R::ONE } else { R::ZERO };
            view.write(r.weight)[at as usize] = R::ONE;
        }
        clock[SEGMENT_STEP] = (t + 1) % steps;
        if clock[SEGMENT_STEP] == 0 {
            clock[RING_HEAD] = (clock[RING_HEAD] + w.envs) % r.count;
            clock[RING_FILL] = (clock[RING_FILL] + w.envs).min(r.count);
        }
    }
    fn shaders(&self, plan: &Plan) -> Option<Vec<Shader>> {
        let (w, r) = (&self.world, &self.ring);
        let shader = Shader::new(Self::NAME, include_str!("../wgsl/store.wgsl"))
            .word("ENVS", w.envs)
            .word("AGENTS", w.env.info().num_agents)
            .buffer("CLOCK", self.clock.counters)
            .buffer("OBS", w.obs)
            .buffer("NEXT_OBS", w.next_obs)
            .word("OBS_LEN", plan.len(w.obs) / w.envs)
            .buffer("STATE", w.state)
            .buffer("NEXT_STATE", w.next_state)
            .word("STATE_LEN", plan.len(w.state) / w.envs)
            .buffer("MASK", w.mask)
            .buffer("NEXT_MASK", w.next_mask)
            .word("MASK_LEN", plan.len(w.mask) / w.envs)
            .buffer("ACTION", w.action)
            .buffer("REWARD", w.reward)
            .buffer("ENDED", w.ended)
            .word("RING", r.count)
            .word("SEGMENT", r.steps)
            .buffer("RING_OBS", r.obs)
            .buffer("RING_STATE", r.state)
            .buffer("RING_MASK", r.mask)
            .buffer("RING_ACTION", r.action)
            .buffer("RING_REWARD", r.reward)
            .buffer("RING_TERMINAL", r.terminal)
            .buffer("RING_WEIGHT", r.weight)
            .word("ENDS", if self.timeout_terminal { TERMINATED | TRUNCATED } else { TERMINATED })
            .stage(Self::NAME, Domain::Items(w.envs))
            .close("end_store");
        Some(vec![shader])
    }
}

/// Draws a minibatch uniformly with replacement; where it is as large as the ring, takes the whole ring in order.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Draws at counter (gradient step, 0, item, 0).
    pub stream: Stream,
    /// The ring.
    pub ring: Segments,
    /// The minibatch.
    pub batch: Segments,
    /// Fill and gradient step.
    pub clock: Clock,
    /// Ring slot of each item `[count]`.
    pub slot: Id<Words, Training>,
}

impl Compute for Sample {
    type Side = Training;
    const NAME: &'static str = "sample";
    fn wires(&self, wires: &mut Wires) {
        let (r, b) = (&self.ring, &self.batch);
        wires.reads(self.clock.counters);
        wires
            .reads(r.obs)
            .reads(r.state)
            .reads(r.mask)
            .reads(r.action)
            .reads(r.reward)
            .reads(r.terminal)
            .reads(r.weight);
        wires.writes(b.obs).writes(b.state).writes(b.mask).writes(b.action).writes(b.reward).writes(b.terminal);
        wires.writes(b.weight).writes(self.slot);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let (r, b) = (&self.ring, &self.batch);
        let clock = view.read(self.clock.counters);
        let mut slots = view.write(self.slot);
        for (item, slot) in slots.iter_mut().enumerate() {
            *slot = if b.count == r.count {
                item as u32
            } else {
                below(self.stream.words([clock[GRADIENT_STEP], 0, item as u32, 0])[0], clock[RING_FILL].max(1))
            };
        }
        for (item, &slot) in slots.iter().enumerate() {
            let item = item as u32;
            copy_row::<R, _, _, _>(&view, r.obs, slot, b.obs, item, r.count, b.count);
            copy_row::<R, _, _, _>(&view, r.state, slot, b.state, item, r.count, b.count);
            copy_row::<R, _, _, _>(&view, r.mask, slot, b.mask, item, r.count, b.count);
            copy_row::<R, _, _, _>(&view, r.action, slot, b.action, item, r.count, b.count);
            copy_row::<R, _, _, _>(&view, r.reward, slot, b.reward, item, r.count, b.count);
            copy_row::<R, _, _, _>(&view, r.terminal, slot, b.terminal, item, r.count, b.count);
            copy_row::<R, _, _, _>(&view, r.weight, slot, b.weight, item, r.count, b.count);
        }
    }
    fn shaders(&self, plan: &Plan) -> Option<Vec<Shader>> {
        let (r, b) = (&self.ring, &self.batch);
        let shader = Shader::new(Self::NAME, include_str!("../wgsl/sample.wgsl"))
            .key(self.stream)
            .buffer("CLOCK", self.clock.counters)
            .flag("TAKES_ALL", b.count == r.count)
            .buffer("SLOT", self.slot)
            .buffer("RING_OBS", r.obs)
            .buffer("OBS", b.obs)
            .word("OBS_LEN", plan.len(b.obs) / b.count)
            .buffer("RING_STATE", r.state)
            .buffer("STATE", b.state)
            .word("STATE_LEN", plan.len(b.state) / b.count)
            .buffer("RING_MASK", r.mask)
            .buffer("MASK", b.mask)
            .word("MASK_LEN", plan.len(b.mask) / b.count)
            .buffer("RING_ACTION", r.action)
            .buffer("ACTION", b.action)
            .word("ACTION_LEN", plan.len(b.action) / b.count)
            .buffer("RING_REWARD", r.reward)
            .buffer("REWARD", b.reward)
            .word("REWARD_LEN", plan.len(b.reward) / b.count)
            .buffer("RING_TERMINAL", r.terminal)
            .buffer("TERMINAL", b.terminal)
            .buffer("RING_WEIGHT", r.weight)
            .buffer("WEIGHT", b.weight)
            .word("STEP_LEN", b.steps)
            .across(Self::NAME, Domain::Items(b.count));
        Some(vec![shader])
    }
}

/// Copies row `i` of `from` (which has `from_rows` rows) to row `j` of `to` (which has `to_rows`).
pub(super) fn copy_row<R: Real, T: Content, A: crate::nn::graph::Side, B: crate::nn::graph::Side>(
    view: &View<'_, R, Training>,
    from: Id<T, A>,
    i: u32,
    to: Id<T, B>,
    j: u32,
    from_rows: u32,
    to_rows: u32,
) {
    let (from, mut to) = (view.read(from), view.write(to));
    let width = to.len() / to_rows as usize;
    debug_assert_eq!(width, from.len() / from_rows as usize, "rows are equally wide");
    let (i, j) = (i as usize * width, j as usize * width);
    to[j..j + width].copy_from_slice(&from[i..i + width]);
}
