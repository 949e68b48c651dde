//! How an agent picks an action from its own Q values: ε-greedy over legal actions.

use crate::base::float::Real;
use crate::base::lanes::padded;
use crate::base::rng::{Stream, below, uniform};
use crate::nn::cpu::masked_argmax;
use crate::nn::graph::{Compute, Execution, Id, Reals, View, Wires, Words};

/// One agent's choice: with probability `epsilon` uniform over the legal actions, else the greedy one; and whether it
/// was the exploratory branch. An agent without a legal action gets 0 (the environment ignores it).
pub fn epsilon_greedy<R: Real>(q: &[R], mask: &[u32], epsilon: R, words: [u32; 4]) -> (u32, bool) {
    let Some(greedy) = masked_argmax(q, mask) else {
        return (0, false);
    };
    if R::from_f32(uniform(words[0])) >= epsilon {
        return (greedy, false);
    }
    let legal = mask.iter().filter(|&&m| m != 0).count() as u32;
    let pick = below(words[1], legal);
    let action = (0..mask.len() as u32).filter(|&a| mask[a as usize] != 0).nth(pick as usize);
    (action.expect("pick is below the number of legal actions"), true)
}

/// Every agent of every environment acts on its own Q values and nothing else.
#[derive(Clone, Debug)]
pub struct EpsilonGreedy {
    /// Draws, at counter (environment, episode, step, agent·256).
    pub stream: Stream,
    /// n.
    pub agents: u32,
    /// |A|.
    pub actions: u32,
    /// Q_i(o_i, ·) `[E, n, padded(|A|)]`.
    pub q: Id<Reals, Execution>,
    /// Legal actions `[E, n, |A|]`.
    pub mask: Id<Words, Execution>,
    /// ε `[1]`.
    pub epsilon: Id<Reals, Execution>,
    /// Episode and step of each environment `[E, 2]`.
    pub time: Id<Words, Execution>,
    /// Chosen actions `[E, n]`.
    pub action: Id<Words, Execution>,
    /// Whether a choice was exploratory `[E, n]`.
    pub explored: Id<Words, Execution>,
}

impl Compute for EpsilonGreedy {
    type Side = Execution;
    const NAME: &'static str = "epsilon_greedy";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.q).reads(self.mask).reads(self.epsilon).reads(self.time);
        wires.writes(self.action).writes(self.explored);
    }
    fn run<R: Real>(&self, view: View<'_, R, Execution>) {
        let (n, a, width) = (self.agents as usize, self.actions as usize, padded(self.actions) as usize);
        let (q, mask, time) = (view.read(self.q), view.read(self.mask), view.read(self.time));
        let epsilon = view.read(self.epsilon)[0];
        let mut action = view.write(self.action);
        let mut explored = view.write(self.explored);
        for row in 0..action.len() {
            let (env, agent) = (row / n, (row % n) as u32);
            let counter = [env as u32, time[env * 2], time[env * 2 + 1], agent * 256];
            let (choice, by_chance) = epsilon_greedy(
                &q[row * width..row * width + a],
                &mask[row * a..(row + 1) * a],
                epsilon,
                self.stream.words(counter),
            );
            action[row] = choice;
            explored[row] = u32::from(by_chance);
        }
    }
}
