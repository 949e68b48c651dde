//! How good an action was: advantages, and the targets of the critic, from a rollout.
//!
//! `terminal` cuts the value of what follows, `ended` (a time limit, too) cuts the chain: nothing of the next episode
//! enters, and what a time limit cuts off is worth V(next). The rollout's end cuts like a time limit.

use super::critic::Heads;
use super::trajectories::Trajectories;
use crate::base::float::Real;
use crate::nn::graph::{Compute, Id, Plan, Reals, Training, View, Wires};
use crate::nn::shader::{Domain, Shader};

/// How returns are made from rewards and values.
#[derive(Clone, Copy, Debug)]
pub enum Lookahead {
    /// Generalised advantage estimation with λ (Schulman et al. 2016, eq. 16).
    Gae(f32),
    /// The rewards of n env steps, then V.
    Steps(u32),
}

/// A = R − V and the critic's target R.
#[derive(Clone, Copy, Debug)]
pub struct Advantages {
    /// Value columns and their rewards.
    pub heads: Heads,
    /// γ.
    pub gamma: f32,
    /// What R is.
    pub lookahead: Lookahead,
    /// The rollout.
    pub rollout: Trajectories,
    /// V(t) `[T, E, M]`.
    pub value: Id<Reals, Training>,
    /// V of what followed `[T, E, M]`.
    pub next_value: Id<Reals, Training>,
    /// A `[T, E, M]`, 0 for padding.
    pub advantage: Id<Reals, Training>,
    /// R `[T, E, M]`.
    pub target: Id<Reals, Training>,
}

impl Compute for Advantages {
    type Side = Training;
    const NAME: &'static str = "advantages";
    fn wires(&self, wires: &mut Wires) {
        let r = &self.rollout;
        wires.reads(r.reward).reads(r.terminal).reads(r.ended).reads(r.weight).reads(self.value).reads(self.next_value);
        wires.writes(self.advantage).writes(self.target);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let r = &self.rollout;
        let (reward, terminal) = (view.read(r.reward), view.read(r.terminal));
        let (ended, weight) = (view.read(r.ended), view.read(r.weight));
        let (value, next) = (view.read(self.value), view.read(self.next_value));
        let (mut advantage, mut target) = (view.write(self.advantage), view.write(self.target));
        let (steps, envs, columns) = (r.steps as usize, r.envs as usize, self.heads.columns as usize);
        let (first, width) = (self.heads.first_reward as usize, reward.len() / (steps * envs));
        let gamma = R::from_f32(self.gamma);
        for e in 0..envs {
            for m in 0..columns {
                let item = |t: usize| t * envs + e;
                let value_of_next = |t: usize| (R::ONE - terminal[item(t)]) * next[item(t) * columns + m];
                let reward = |t: usize| reward[item(t) * width + first + m];
                let mut later = R::ZERO;
                for t in (0..steps).rev() {
                    let at = item(t) * columns + m;
                    let a = match self.lookahead {
                        Lookahead::Gae(lambda) => {
                            let delta = reward(t) + gamma * value_of_next(t) - value[at];
                            delta + gamma * R::from_f32(lambda) * (R::ONE - ended[item(t)]) * later
                        }
                        Lookahead::Steps(n) => {
                            let is_last = |k: &usize| ended[item(*k)] != R::ZERO || *k + 1 == steps;
                            let last = (t..).take(n as usize).find(is_last).unwrap_or(t + n as usize - 1);
                            let all = (t..=last).rev().fold(value_of_next(last), |sum, k| reward(k) + gamma * sum);
                            all - value[at]
                        }
                    };
                    later = a * weight[item(t)];
                    (advantage[at], target[at]) = (later, later + value[at]);
                }
            }
        }
    }
    fn shaders(&self, plan: &Plan) -> Option<Vec<Shader>> {
        let r = &self.rollout;
        let shader = Shader::new(Self::NAME, include_str!("../wgsl/advantages.wgsl"))
            .word("T", r.steps)
            .word("ENVS", r.envs)
            .word("COLUMNS", self.heads.columns)
            .buffer("REWARD", r.reward)
            .word("REWARD_WIDTH", plan.len(r.reward) / r.count())
            .word("FIRST_REWARD", self.heads.first_reward)
            .buffer("TERMINAL", r.terminal)
            .buffer("ENDED", r.ended)
            .buffer("WEIGHT", r.weight)
            .buffer("VALUE", self.value)
            .buffer("NEXT_VALUE", self.next_value)
            .buffer("ADVANTAGE", self.advantage)
            .buffer("TARGET", self.target)
            .real("GAMMA", self.gamma)
            .across(Self::NAME, Domain::Items(r.envs));
        Some(vec![match self.lookahead {
            Lookahead::Gae(lambda) => shader.real("LAMBDA", lambda),
            Lookahead::Steps(steps) => shader.flag("IS_GAE", false).word("LOOKAHEAD", steps),
        }])
    }
}

/// A = (R − mean) / deviation of an episode's discounted return R over the episodes of the same start (the group), for
/// every env step of the episode (Shao et al. 2024, GRPO, with episodes in the place of answers); 0 where all returns
/// are equal. Needs no critic.
#[derive(Clone, Copy, Debug)]
pub struct GroupRelative {
    /// Consecutive environments of a group.
    pub group: u32,
    /// n.
    pub agents: u32,
    /// γ.
    pub gamma: f32,
    /// Whether the deviation is a sample's.
    pub is_sample: bool,
    /// The rollout: one whole episode an environment.
    pub rollout: Trajectories,
    /// Discounted return `[E, n]`.
    pub returns: Id<Reals, Training>,
    /// A `[T, E, n]`, 0 for padding.
    pub advantage: Id<Reals, Training>,
}

impl Compute for GroupRelative {
    type Side = Training;
    const NAME: &'static str = "group_relative";
    fn wires(&self, wires: &mut Wires) {
        let r = &self.rollout;
        wires.reads(r.reward).reads(r.weight).writes(self.returns).writes(self.advantage);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let r = &self.rollout;
        let (reward, weight) = (view.read(r.reward), view.read(r.weight));
        let (mut returns, mut advantage) = (view.write(self.returns), view.write(self.advantage));
        let (steps, envs, n) = (r.steps as usize, r.envs as usize, self.agents as usize);
        let gamma = R::from_f32(self.gamma);
        for (e, returns) in returns.chunks_exact_mut(n).enumerate() {
            for (i, sum) in returns.iter_mut().enumerate() {
                let reward = |t: usize| weight[t * envs + e] * reward[(t * envs + e) * (n + 1) + i];
                *sum = (0..steps).rev().fold(R::ZERO, |sum, t| reward(t) + gamma * sum);
            }
        }
        for group in returns.chunks_mut(self.group as usize * n) {
            (0..n).for_each(|i| normalise(&mut group[i..], n, |_| R::ONE, self.is_sample, 0.0));
        }
        for (item, advantage) in advantage.chunks_exact_mut(n).enumerate() {
            let e = item % envs;
            for (a, &of_episode) in advantage.iter_mut().zip(&returns[e * n..(e + 1) * n]) {
                *a = of_episode * weight[item];
            }
        }
    }
}

/// x ← (x − mean) / (deviation + `epsilon`) for every `stride`-th number, `weight` saying what each counts in mean and
/// deviation. Exactly 0 where all that count are equal, as is one alone: what is left of them after rounding says
/// nothing, and must not be made large.
pub fn normalise<R: Real>(
    numbers: &mut [R],
    stride: usize,
    weight: impl Fn(usize) -> R,
    is_sample: bool,
    epsilon: f32,
) {
    let all = || numbers.iter().copied().enumerate().step_by(stride).map(|(at, x)| (weight(at), x));
    let count = all().fold(R::ZERO, |sum, (w, _)| sum + w);
    let mean = all().fold(R::ZERO, |sum, (w, x)| sum + w * x) / count;
    let square = all().fold(R::ZERO, |sum, (w, x)| sum + w * (x - mean) * (x - mean));
    let mut counting = all().filter(|(w, _)| *w > R::ZERO).map(|(_, x)| x);
    let first = counting.next();
    let is_equal = counting.all(|x| Some(x) == first);
    let deviation = (square / if is_sample { count - R::ONE } else { count }).sqrt() + R::from_f32(epsilon);
    for x in numbers.iter_mut().step_by(stride) {
        *x = if is_equal { R::ZERO } else { (*x - mean) / deviation };
    }
}
