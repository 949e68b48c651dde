//! Temporal-difference learning on action values: the value taken, the value of the next state, target, loss.
//!
//! Shapes: B segments of T env steps, n agents, of whom N are *members* with values of their own (scripted agents have
//! none); a *value column* is a member (independent learning, M = N) or the team (M = 1). Q buffers are
//! `[B, T+1, n, padded(|A|)]`, everything else `[B, T, ·]`.

use super::clock::{Clock, LOSS};
use super::replay::Segments;
use crate::base::float::Real;
use crate::base::lanes::padded;
use crate::base::wgsl::Constant;
use crate::marl::seats::Members;
use crate::nn::cpu::masked_argmax;
use crate::nn::graph::{Compute, Doubles, Id, Plan, Reals, Training, View, Wires};
use crate::nn::shader::{Domain, Scratch, Shader};

/// Sizes that all kernels here share.
#[derive(Clone, Copy, Debug)]
pub struct Dims {
    /// B.
    pub segments: u32,
    /// T.
    pub steps: u32,
    /// n.
    pub agents: u32,
    /// Who has a value.
    pub members: Members,
    /// |A|.
    pub actions: u32,
}

/// What the value columns of a loss are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// Each member, with its own reward.
    Members,
    /// The team, with its one reward.
    Team,
}

impl Dims {
    /// N.
    pub fn count(self) -> usize {
        self.members.count() as usize
    }

    /// M.
    pub fn columns(self, columns: Columns) -> u32 {
        match columns {
            Columns::Members => self.members.count(),
            Columns::Team => 1,
        }
    }

    /// The reward column that each value column learns from: the member's own, or the team's, which is the last.
    fn reward_columns(self, columns: Columns) -> impl Iterator<Item = usize> + Clone {
        let members = match columns {
            Columns::Members => self.members,
            Columns::Team => Members::of(self.agents + 1, |i| i == self.agents),
        };
        members.iter().map(|i| i as usize)
    }

    /// Where the members' values of a transition are, and which agents they are.
    fn members(self, at: usize) -> impl Iterator<Item = (usize, usize)> {
        (at * self.count()..).zip(self.members.iter().map(|i| i as usize))
    }

    /// Transition (b, t) and the row of its first agent at t, for all b, t < T.
    fn transitions(self) -> impl Iterator<Item = (usize, usize)> {
        let (steps, n) = (self.steps, self.agents);
        (0..self.segments).flat_map(move |b| {
            (0..steps).map(move |t| ((b * steps + t) as usize, ((b * (steps + 1) + t) * n) as usize))
        })
    }

    /// A kernel on these sizes.
    pub(super) fn shader(self, name: &'static str, source: &'static str) -> Shader {
        Shader::new(name, include_str!("../wgsl/td.wgsl"))
            .with(source, Vec::new())
            .word("T", self.steps)
            .word("AGENTS", self.agents)
            .word("ACTIONS", self.actions)
            .word("OUTPUT_WIDTH", padded(self.actions))
            .set("MEMBERS", Constant::Words(self.members.iter().collect()))
            .word("MEMBERS_LEN", self.members.count())
    }

    pub(super) fn domain(self) -> Domain {
        Domain::Items(self.segments)
    }

    /// [`Dims::reward_columns`] as a shader looks them up.
    fn reward_table(self, columns: Columns) -> Constant {
        Constant::Words(self.reward_columns(columns).map(|column| column as u32).collect())
    }
}

/// q_i = Q_i(o_i, a_i): the utility of the action taken.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// Sizes.
    pub dims: Dims,
    /// Q of all actions.
    pub q: Id<Reals, Training>,
    /// The minibatch (actions).
    pub batch: Segments,
    /// q_i `[B, T, N]`.
    pub value: Id<Reals, Training>,
}

impl Compute for Taken {
    type Side = Training;
    const NAME: &'static str = "taken_value";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.q).reads(self.batch.action).writes(self.value);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let (n, width) = (self.dims.agents as usize, padded(self.dims.actions) as usize);
        let (q, action, mut value) = (view.read(self.q), view.read(self.batch.action), view.write(self.value));
        for (at, row) in self.dims.transitions() {
            for (k, i) in self.dims.members(at) {
                value[k] = q[(row + i) * width + action[at * n + i] as usize];
            }
        }
    }
    fn shaders(&self, _: &Plan) -> Option<Vec<Shader>> {
        let shader = self
            .dims
            .shader(Self::NAME, include_str!("../wgsl/taken_value.wgsl"))
            .buffer("Q", self.q)
            .buffer("ACTION", self.batch.action)
            .buffer("VALUE", self.value)
            .stage(Self::NAME, self.dims.domain());
        Some(vec![shader])
    }
}

/// The transpose of [`Taken`]: ∂L/∂Q_i(o_i, ·) is ∂L/∂q_i at the action taken, 0 elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct TakenBackward {
    /// Sizes.
    pub dims: Dims,
    /// ∂L/∂q_i `[B, T, N]`.
    pub dtaken: Id<Reals, Training>,
    /// The minibatch (actions).
    pub batch: Segments,
    /// ∂L/∂Q `[B, T+1, n, padded(|A|)]`; rows at T stay untouched.
    pub dq: Id<Reals, Training>,
}

impl Compute for TakenBackward {
    type Side = Training;
    const NAME: &'static str = "taken_value_backward";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.dtaken).reads(self.batch.action).writes(self.dq);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let (n, width) = (self.dims.agents as usize, padded(self.dims.actions) as usize);
        let (dtaken, action, mut dq) = (view.read(self.dtaken), view.read(self.batch.action), view.write(self.dq));
        for (at, row) in self.dims.transitions() {
            for (k, i) in self.dims.members(at) {
                let q_row = &mut dq[(row + i) * width..(row + i + 1) * width];
                q_row.fill(R::ZERO);
                q_row[action[at * n + i] as usize] = dtaken[k];
            }
        }
    }
    fn shaders(&self, _: &Plan) -> Option<Vec<Shader>> {
        let shader = self
            .dims
            .shader(Self::NAME, include_str!("../wgsl/taken_value_backward.wgsl"))
            .buffer("DTAKEN", self.dtaken)
            .buffer("ACTION", self.batch.action)
            .buffer("DQ", self.dq)
            .stage(Self::NAME, self.dims.domain());
        Some(vec![shader])
    }
}

/// The next state's utility: Q_i⁻(o_i', a_i') with a_i' the best *legal* action, judged by the online network
/// (double Q-learning, van Hasselt et al. 2016) or by the target network itself. 0 where nothing is legal.
#[derive(Clone, Copy, Debug)]
pub struct NextValue {
    /// Sizes.
    pub dims: Dims,
    /// Who chooses a': online Q or target Q.
    pub chooser: Id<Reals, Training>,
    /// Target Q.
    pub target_q: Id<Reals, Training>,
    /// The minibatch (masks).
    pub batch: Segments,
    /// q_i' `[B, T, N]`.
    pub next: Id<Reals, Training>,
}

impl Compute for NextValue {
    type Side = Training;
    const NAME: &'static str = "next_value";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.chooser).reads(self.target_q).reads(self.batch.mask).writes(self.next);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let (n, a) = (self.dims.agents as usize, self.dims.actions as usize);
        let width = padded(self.dims.actions) as usize;
        let (chooser, target_q) = (view.read(self.chooser), view.read(self.target_q));
        let (mask, mut next) = (view.read(self.batch.mask), view.write(self.next));
        for (at, row) in self.dims.transitions() {
            for (k, i) in self.dims.members(at) {
                let row = row + n + i; // the same agent, one step later
                let best = masked_argmax(&chooser[row * width..row * width + a], &mask[row * a..(row + 1) * a]);
                next[k] = best.map_or(R::ZERO, |best| target_q[row * width + best as usize]);
            }
        }
    }
    fn shaders(&self, _: &Plan) -> Option<Vec<Shader>> {
        let shader = self
            .dims
            .shader(Self::NAME, include_str!("../wgsl/next_value.wgsl"))
            .buffer("CHOOSER", self.chooser)
            .buffer("TARGET_Q", self.target_q)
            .buffer("MASK", self.batch.mask)
            .buffer("NEXT", self.next)
            .stage(Self::NAME, self.dims.domain());
        Some(vec![shader])
    }
}

/// The team's reward where every agent has one of its own: r = Σ_i r_i over the members, or their mean, written to the
/// team's column. Only what is learned from changes; whatever tells of rewards keeps the agents' own.
#[derive(Clone, Copy, Debug)]
pub struct PayTeam {
    /// Rewards, each agent's and the team's `[…, n+1]`.
    pub reward: Id<Reals, Training>,
    /// n.
    pub agents: u32,
    /// Segments, or env steps, that the rewards are of.
    pub items: u32,
    /// Whose rewards are joined.
    pub members: Members,
    /// The mean rather than the sum.
    pub is_mean: bool,
}

impl Compute for PayTeam {
    type Side = Training;
    const NAME: &'static str = "pay_team";
    fn wires(&self, wires: &mut Wires) {
        wires.writes(self.reward);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let n = self.agents as usize;
        let among = R::from_u32(if self.is_mean { self.members.count() } else { 1 });
        for rewards in view.write(self.reward).chunks_exact_mut(n + 1) {
            let sum = self.members.iter().fold(R::ZERO, |sum, i| sum + rewards[i as usize]);
            rewards[n] = sum / among;
        }
    }
    fn shaders(&self, plan: &Plan) -> Option<Vec<Shader>> {
        let shader = Shader::new(Self::NAME, include_str!("../wgsl/pay_team.wgsl"))
            .word("AGENTS", self.agents)
            .word("LENGTH", plan.len(self.reward) / (self.items * (self.agents + 1)))
            .set("MEMBERS", Constant::Words(self.members.iter().collect()))
            .word("MEMBERS_LEN", self.members.count())
            .buffer("REWARD", self.reward)
            .flag("IS_MEAN", self.is_mean)
            .stage(Self::NAME, Domain::Items(self.items));
        Some(vec![shader])
    }
}

/// Running moments of the rewards, for reward standardisation (as EPyMARL does, but never over padding). Doubles: a
/// run sees more rewards than single precision can count (2²⁴).
#[derive(Clone, Copy, Debug)]
pub struct RewardMoments {
    /// Count, mean and sum of squared deviations `[3]`.
    pub moments: Id<Doubles, Training>,
    /// The minibatch whose rewards are taken in.
    pub batch: Segments,
    /// Sizes.
    pub dims: Dims,
    /// Whose rewards are taken in.
    pub columns: Columns,
}

impl Compute for RewardMoments {
    type Side = Training;
    const NAME: &'static str = "reward_moments";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.batch.reward).reads(self.batch.weight).writes(self.moments);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let (reward, weight) = (view.read(self.batch.reward), view.read(self.batch.weight));
        let mut m = view.write(self.moments);
        let (width, columns) = (self.dims.agents as usize + 1, self.dims.reward_columns(self.columns));
        // Welford 1962, one reward at a time in the batch's order.
        for (at, _) in self.dims.transitions() {
            if weight[at] == R::ZERO {
                continue;
            }
            for column in columns.clone() {
                let r = reward[at * width + column].to_f64();
                let (count, mean) = (m[0] + 1.0, m[1]);
                let new_mean = mean + (r - mean) / count;
                m[2] += (r - mean) * (r - new_mean);
                (m[0], m[1]) = (count, new_mean);
            }
        }
    }
    fn shaders(&self, _: &Plan) -> Option<Vec<Shader>> {
        let shader = self
            .dims
            .shader(Self::NAME, include_str!("../wgsl/reward_moments.wgsl"))
            .buffer("MOMENTS", self.moments)
            .buffer("REWARD", self.batch.reward)
            .buffer("WEIGHT", self.batch.weight)
            .word("TRANSITIONS", self.dims.segments * self.dims.steps)
            .set("REWARD_COLUMNS", self.dims.reward_table(self.columns))
            .word("COLUMNS", self.dims.columns(self.columns))
            .stage(Self::NAME, Domain::Solo);
        Some(vec![shader])
    }
}

/// y = r + γ·(1 − terminal)·value of the next state. A time limit is not terminal.
#[derive(Clone, Copy, Debug)]
pub struct TdTarget {
    /// Sizes.
    pub dims: Dims,
    /// What is learned.
    pub columns: Columns,
    /// γ.
    pub gamma: f32,
    /// Reward moments, if rewards are standardised.
    pub moments: Option<Id<Doubles, Training>>,
    /// The minibatch (rewards, terminals).
    pub batch: Segments,
    /// Value of the next state `[B, T, M]`.
    pub next: Id<Reals, Training>,
    /// y `[B, T, M]`.
    pub y: Id<Reals, Training>,
}

impl Compute for TdTarget {
    type Side = Training;
    const NAME: &'static str = "td_target";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.batch.reward).reads(self.batch.terminal).reads(self.next).writes(self.y);
        if let Some(moments) = self.moments {
            wires.reads(moments);
        }
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let (width, m) = (self.dims.agents as usize + 1, self.dims.columns(self.columns) as usize);
        let (reward, terminal) = (view.read(self.batch.reward), view.read(self.batch.terminal));
        let (next, mut y) = (view.read(self.next), view.write(self.y));
        let gamma = R::from_f32(self.gamma);
        let (mean, deviation) = self.moments.map_or((0.0, 1.0), |id| {
            let m = view.read(id);
            if m[0] > 0.0 { (m[1], (m[2] / m[0]).sqrt() + 1e-5) } else { (0.0, 1.0) }
        });
        for (at, _) in self.dims.transitions() {
            for (j, column) in self.dims.reward_columns(self.columns).enumerate() {
                let r = R::from_f64((reward[at * width + column].to_f64() - mean) / deviation);
                y[at * m + j] = r + gamma * (R::ONE - terminal[at]) * next[at * m + j];
            }
        }
    }
    fn shaders(&self, _: &Plan) -> Option<Vec<Shader>> {
        let shader = self
            .dims
            .shader(Self::NAME, include_str!("../wgsl/td_target.wgsl"))
            .set("REWARD_COLUMNS", self.dims.reward_table(self.columns))
            .word("COLUMNS", self.dims.columns(self.columns))
            .real("GAMMA", self.gamma)
            .flag("STANDARDISES", self.moments.is_some())
            .buffer("REWARD", self.batch.reward)
            .buffer("TERMINAL", self.batch.terminal)
            .buffer("NEXT", self.next)
            .buffer("Y", self.y)
            .stage(Self::NAME, self.dims.domain());
        Some(vec![self.moments.into_iter().fold(shader, |shader, moments| shader.buffer("MOMENTS", moments))])
    }
}

/// L = Σ w·c·(y − v)² / (M·Σ w), and ∂L/∂v. c is β where the target lies below the estimate (hysteretic Q-learning,
/// Matignon et al. 2007), else 1; w is 0 for padding and for moves that are not learned from.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// Sizes.
    pub dims: Dims,
    /// What is learned.
    pub columns: Columns,
    /// β.
    pub hysteresis: f32,
    /// The minibatch (weights).
    pub batch: Segments,
    /// v `[B, T, M]`.
    pub value: Id<Reals, Training>,
    /// y `[B, T, M]`.
    pub target: Id<Reals, Training>,
    /// ∂L/∂v `[B, T, M]`.
    pub dvalue: Id<Reals, Training>,
    /// Where the loss is written.
    pub clock: Clock,
}

impl Compute for Loss {
    type Side = Training;
    const NAME: &'static str = "td_loss";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.value).reads(self.target).reads(self.batch.weight);
        wires.writes(self.dvalue).writes(self.clock.scalars);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let m = self.dims.columns(self.columns) as usize;
        let (value, target, weight) = (view.read(self.value), view.read(self.target), view.read(self.batch.weight));
        let mut dvalue = view.write(self.dvalue);
        let weights = weight.iter().fold(R::ZERO, |sum, &w| sum + w);
        // Nothing of weight: no loss.
        let weights = if weights > R::ZERO { weights } else { R::ONE };
        let total = weights * R::from_u32(self.dims.columns(self.columns));
        let beta = R::from_f32(self.hysteresis);
        let mut loss = R::ZERO;
        for (at, _) in self.dims.transitions() {
            for k in at * m..(at + 1) * m {
                let error = value[k] - target[k];
                let c = weight[at] * if error > R::ZERO { beta } else { R::ONE };
                loss += c * error * error;
                dvalue[k] = R::from_f32(2.0) * c * error / total;
            }
        }
        view.write(self.clock.scalars)[LOSS] = loss / total;
    }
    fn shaders(&self, _: &Plan) -> Option<Vec<Shader>> {
        let shader = self
            .dims
            .shader(Self::NAME, include_str!("../wgsl/td_loss.wgsl"))
            .word("COLUMNS", self.dims.columns(self.columns))
            .word("TRANSITIONS", self.dims.segments * self.dims.steps)
            .real("BETA", self.hysteresis)
            .buffer("VALUE", self.value)
            .buffer("Y", self.target)
            .buffer("WEIGHT", self.batch.weight)
            .buffer("DVALUE", self.dvalue)
            .buffer("SCALARS", self.clock.scalars)
            .own(Scratch { name: "LOSSES", len: 1, per_tile: true, per_step: false })
            .across(Self::NAME, self.dims.domain())
            .stage("end_loss", Domain::Solo);
        Some(vec![shader])
    }
}
