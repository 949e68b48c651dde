//! TD(λ) targets of action values along a rollout (Sutton 1988; Foerster et al. 2018, sec. 4.1):
//!
//!   y(t) = r + γ·(1 − terminal)·[(1 − λ)·Q⁻(t+1) + λ·y(t+1)],   Q⁻(t) = Q⁻(s, (a_i, a_-i)) of what was done.
//!
//! An action's value needs the action that followed. Where a time limit or the rollout's end cuts the chain there is none,
//! so that env step is only bootstrapped from, y(t) = Q⁻(t), and has weight 0. Where the world ended nothing follows, and
//! y(t) = r: `terminated` alone stops bootstrapping, and no target is ever masked by truncation.

use super::trajectories::Trajectories;
use crate::base::float::Real;
use crate::nn::graph::{Compute, Id, Reals, Training, View, Wires};

/// Targets of every agent's critic, and which items they are targets of.
#[derive(Clone, Copy, Debug)]
pub struct TdLambda {
    /// n.
    pub agents: u32,
    /// Padded |A|.
    pub width: u32,
    /// γ.
    pub gamma: f32,
    /// λ.
    pub lambda: f32,
    /// The rollout; its last reward column is the team's.
    pub rollout: Trajectories,
    /// Q⁻(s, (·, a_-i)) of the slow copy `[T, E, n, padded(|A|)]`.
    pub q: Id<Reals, Training>,
    /// Q⁻ of what was done `[T, E, n]`.
    pub taken: Id<Reals, Training>,
    /// y `[T, E, n]`.
    pub target: Id<Reals, Training>,
    /// 1 for env steps that are learned from, 0 for what is only bootstrapped from or did not happen `[T, E]`.
    pub weight: Id<Reals, Training>,
}

impl Compute for TdLambda {
    type Side = Training;
    const NAME: &'static str = "td_lambda";
    fn wires(&self, wires: &mut Wires) {
        let r = &self.rollout;
        wires.reads(r.reward).reads(r.action).reads(r.terminal).reads(r.ended).reads(r.weight).reads(self.q);
        wires.writes(self.taken).writes(self.target).writes(self.weight);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let r = &self.rollout;
        let (reward, action) = (view.read(r.reward), view.read(r.action));
        let (terminal, ended, happened) = (view.read(r.terminal), view.read(r.ended), view.read(r.weight));
        let (q, mut taken) = (view.read(self.q), view.write(self.taken));
        let (mut target, mut weight) = (view.write(self.target), view.write(self.weight));
        let (n, width, envs, items) = (self.agents as usize, self.width as usize, r.envs as usize, r.count() as usize);
        let (gamma, lambda) = (R::from_f32(self.gamma), R::from_f32(self.lambda));
        for ((taken, q), &action) in taken.iter_mut().zip(q.chunks_exact(width)).zip(action.iter()) {
            *taken = q[action as usize];
        }
        for item in (0..items).rev() {
            let is_terminal = terminal[item] != R::ZERO;
            let is_cut = !is_terminal && (ended[item] != R::ZERO || item + envs >= items);
            weight[item] = if is_cut { R::ZERO } else { happened[item] };
            for at in item * n..(item + 1) * n {
                let next = at + envs * n;
                target[at] = if is_cut {
                    taken[at]
                } else {
                    let later =
                        if is_terminal { R::ZERO } else { (R::ONE - lambda) * taken[next] + lambda * target[next] };
                    reward[item * (n + 1) + n] + gamma * later
                };
            }
        }
    }
}
