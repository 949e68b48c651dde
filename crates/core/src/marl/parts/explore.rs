//! How an agent picks an action from what its network gives: ε-greedy over Q values, or a draw from the softmax of
//! logits. Both see legal actions only, and nothing but what the agent itself may see.

use super::counterfactual::bounded;
use crate::base::float::Real;
use crate::base::lanes::{LANES, padded};
use crate::base::rng::{Octet, Stream, below, uniform};
use crate::marl::seats::Members;
use crate::nn::cpu::{MaskedSoftmax, masked_argmax};
use crate::nn::graph::{Compute, Execution, Id, Plan, Reals, View, Wires, Words};
use crate::nn::shader::{Domain, Shader};

/// What the outputs of the agents' networks mean, and so how agents act while data is gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// Q values: with probability ε uniform, else greedy.
    EpsilonGreedy,
    /// Logits: a draw from their softmax, bounded by ε where an algorithm asks for it.
    Softmax,
}

impl Behaviour {
    /// One agent's choice, and whether it is another than the greedy one by intent. An agent without a legal action
    /// gets 0 (the environment ignores it).
    pub fn choose<R: Real>(self, outputs: &[R], mask: &[u32], epsilon: R, words: [u32; 4]) -> (u32, bool) {
        match self {
            Self::EpsilonGreedy => epsilon_greedy(outputs, mask, epsilon, words),
            Self::Softmax => {
                let (action, explored, _) = softmax(outputs, mask, epsilon, words);
                (action, explored)
            }
        }
    }
}

/// With probability `epsilon` uniform over the legal actions, else the greedy one; and whether it was the exploratory
/// branch. An agent without a legal action gets 0 (the environment ignores it).
pub fn epsilon_greedy<R: Real>(q: &[R], mask: &[u32], epsilon: R, words: [u32; 4]) -> (u32, bool) {
    let legal = mask.iter().filter(|&&m| m != 0).count() as u32;
    if legal == 0 {
        return (0, false);
    }
    if R::from_f32(uniform(words[0])) >= epsilon {
        return (masked_argmax(q, mask).expect("an action is legal"), false);
    }
    let mut before = below(words[1], legal);
    for (action, _) in (0..).zip(mask).filter(|&(_, &m)| m != 0) {
        if before == 0 {
            return (action, true);
        }
        before -= 1;
    }
    unreachable!("fewer are before it than are legal")
}

/// A draw from π_ε = (1 − ε)·softmax + ε/|A_legal| of the legal actions' logits: the action, whether it is not the most
/// likely one, and ln π_ε(action). (0, false, 0) where nothing is legal. With ε = 0 it is the softmax itself, to the bit.
pub fn softmax<R: Real>(logits: &[R], mask: &[u32], epsilon: R, words: [u32; 4]) -> (u32, bool, R) {
    let Some(policy) = MaskedSoftmax::of(logits, mask) else {
        return (0, false, R::ZERO);
    };
    // Of the softmax with probability 1 − ε, else any legal action: other words than the first decide on that.
    let (chance, [_, which, whether, _]) = (R::from_f32(uniform(words[0])), words);
    let action = match epsilon_greedy(logits, mask, epsilon, [whether, which, 0, 0]) {
        (action, true) => action,
        _ => policy.draw(logits, mask, chance),
    };
    let z = logits[action as usize];
    let log_prob = if epsilon > R::ZERO { bounded(policy.prob(z), mask, epsilon).ln() } else { policy.log_prob(z) };
    (action, masked_argmax(logits, mask) != Some(action), log_prob)
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
    /// Who explores; the others are greedy.
    pub explorers: Members,
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
        let (q, mask, time) = (view.read(self.q), view.read(self.mask), view.read(self.time));
        let epsilon = view.read(self.epsilon)[0];
        let mut action = view.write(self.action);
        let mut explored = view.write(self.explored);
        each_seat(self.agents, self.actions, &mask, &time, &self.stream, |seat, words| {
            let epsilon = if self.explorers.contains(seat.agent) { epsilon } else { R::ZERO };
            // What the function gives where nothing is forbidden and chance decides, without counting.
            let (choice, by_chance) = if seat.is_free && R::from_f32(uniform(words[0])) < epsilon {
                (below(words[1], self.actions), true)
            } else {
                epsilon_greedy(&q[seat.outputs()], &mask[seat.legal()], epsilon, words)
            };
            action[seat.row] = choice;
            explored[seat.row] = u32::from(by_chance);
        });
    }
    fn shaders(&self, plan: &Plan) -> Option<Vec<Shader>> {
        let shader = Shader::new(Self::NAME, include_str!("../wgsl/epsilon_greedy.wgsl"))
            .key(self.stream)
            .word("AGENTS", self.agents)
            .word("ACTIONS", self.actions)
            .word("OUTPUT_WIDTH", padded(self.actions))
            .word("EXPLORERS", self.explorers.bits())
            .buffer("Q", self.q)
            .buffer("MASK", self.mask)
            .buffer("EPSILON", self.epsilon)
            .buffer("TIME", self.time)
            .buffer("ACTION", self.action)
            .buffer("EXPLORED", self.explored)
            .stage(Self::NAME, Domain::Items(plan.len(self.time) / 2));
        Some(vec![shader])
    }
}

/// Every agent of every environment draws from its own policy, and keeps ln π of what it drew.
#[derive(Clone, Debug)]
pub struct SoftmaxDraw {
    /// Draws, at counter (environment, episode, step, agent·256).
    pub stream: Stream,
    /// n.
    pub agents: u32,
    /// |A|.
    pub actions: u32,
    /// Who explores by ε; the others draw from their softmax alone.
    pub explorers: Members,
    /// ε `[1]`.
    pub epsilon: Id<Reals, Execution>,
    /// Logits `[E, n, padded(|A|)]`.
    pub logits: Id<Reals, Execution>,
    /// Legal actions `[E, n, |A|]`.
    pub mask: Id<Words, Execution>,
    /// Episode and step of each environment `[E, 2]`.
    pub time: Id<Words, Execution>,
    /// Drawn actions `[E, n]`.
    pub action: Id<Words, Execution>,
    /// Whether a draw is not the most likely action `[E, n]`.
    pub explored: Id<Words, Execution>,
    /// ln π(action) `[E, n]`, 0 where nothing was legal.
    pub log_prob: Id<Reals, Execution>,
}

impl Compute for SoftmaxDraw {
    type Side = Execution;
    const NAME: &'static str = "softmax_draw";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.logits).reads(self.mask).reads(self.epsilon).reads(self.time);
        wires.writes(self.action).writes(self.explored).writes(self.log_prob);
    }
    fn run<R: Real>(&self, view: View<'_, R, Execution>) {
        let (logits, mask, time) = (view.read(self.logits), view.read(self.mask), view.read(self.time));
        let epsilon = view.read(self.epsilon)[0];
        let (mut action, mut explored) = (view.write(self.action), view.write(self.explored));
        let mut log_prob = view.write(self.log_prob);
        each_seat(self.agents, self.actions, &mask, &time, &self.stream, |seat, words| {
            let epsilon = if self.explorers.contains(seat.agent) { epsilon } else { R::ZERO };
            let (drawn, by_chance, log_p) = softmax(&logits[seat.outputs()], &mask[seat.legal()], epsilon, words);
            action[seat.row] = drawn;
            explored[seat.row] = u32::from(by_chance);
            log_prob[seat.row] = log_p;
        });
    }
    fn shaders(&self, plan: &Plan) -> Option<Vec<Shader>> {
        let shader = Shader::new(Self::NAME, include_str!("../wgsl/softmax_draw.wgsl"))
            .key(self.stream)
            .word("AGENTS", self.agents)
            .word("ACTIONS", self.actions)
            .word("OUTPUT_WIDTH", padded(self.actions))
            .word("EXPLORERS", self.explorers.bits())
            .buffer("EPSILON", self.epsilon)
            .buffer("LOGITS", self.logits)
            .buffer("MASK", self.mask)
            .buffer("TIME", self.time)
            .buffer("ACTION", self.action)
            .buffer("EXPLORED", self.explored)
            .buffer("LOG_PROB", self.log_prob)
            .stage(Self::NAME, Domain::Items(plan.len(self.time) / 2));
        Some(vec![shader])
    }
}

/// One agent of one environment.
#[derive(Clone, Copy)]
struct Seat {
    row: usize,
    agent: u32,
    actions: usize,
    /// Known to have every action; false says nothing.
    is_free: bool,
}

/// Counters whose words are drawn together.
const BLOCK: usize = 2 * LANES;

/// Calls `act` for every agent of every environment with its four words, drawn many at a time.
#[inline(always)]
fn each_seat(
    agents: u32,
    actions: u32,
    mask: &[u32],
    time: &[u32],
    stream: &Stream,
    mut act: impl FnMut(Seat, [u32; 4]),
) {
    let (mut counters, mut seats) = ([Octet::default(); BLOCK / LANES], [0; BLOCK]);
    let (rows, actions) = (time.len() / 2 * agents as usize, actions as usize);
    let (mut env, mut agent) = (0, 0);
    for first in (0..rows).step_by(BLOCK) {
        let count = BLOCK.min(rows - first);
        for k in 0..count {
            let counter = &mut counters[k / LANES];
            let time = &time[env * 2..env * 2 + 2];
            for (lanes, word) in counter.iter_mut().zip([env as u32, time[0], time[1], agent * 256]) {
                lanes[k % LANES] = word;
            }
            seats[k] = agent;
            agent += 1;
            if agent == agents {
                (env, agent) = (env + 1, 0);
            }
        }
        let words = stream.words_of_octets(&counters);
        let least = mask[first * actions..(first + count) * actions].iter().fold(1, |least, &legal| legal.min(least));
        for k in 0..count {
            let words = [0, 1, 2, 3].map(|word: usize| words[k / LANES][word][k % LANES]);
            act(Seat { row: first + k, agent: seats[k], actions, is_free: least != 0 }, words);
        }
    }
}

impl Seat {
    fn outputs(self) -> std::ops::Range<usize> {
        let start = self.row * padded(self.actions as u32) as usize;
        start..start + self.actions
    }

    fn legal(self) -> std::ops::Range<usize> {
        self.row * self.actions..(self.row + 1) * self.actions
    }
}
