//! The critic's loss, the counterfactual advantage and the policy's loss of COMA (Foerster et al. 2018, arXiv 1705.08926,
//! eq. 4 and 7). Items of a rollout or of a minibatch, n agents of whom some learn; Q and logits are
//! `[items, n, padded(|A|)]`.

use super::clock::{Clock, ENTROPY_NOW, LOSS};
use super::policy_loss::{ACTIONS, ENTROPIES, Mean, Share, Statistics, VALUE_LOSS, VALUE_STEPS, can_choose, legal_of};
use crate::base::float::Real;
use crate::base::lanes::padded;
use crate::marl::seats::Members;
use crate::nn::cpu::MaskedSoftmax;
use crate::nn::graph::{Compute, Id, Reals, Training, View, Wires, Words};

/// What an agent's choice is compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct Counterfactual<R> {
    /// b = Σ_a π(a)·Q(s, (a, a_-i)): what the agent's own policy gives on average while the others do what they did.
    pub baseline: R,
    /// A(a) = Q(s, (a, a_-i)) − b `[|A|]` (eq. 4); only that of the action taken enters the update.
    pub advantage: Vec<R>,
}

impl<R: Real> Counterfactual<R> {
    /// Of one agent, from the heads of its actions and its policy `[|A|]`; an illegal action has probability 0.
    pub fn of(q: &[R], policy: &[R]) -> Self {
        let baseline = baseline(q, policy);
        Self { baseline, advantage: q.iter().map(|&q| q - baseline).collect() }
    }
}

/// Σ_a π(a)·Q(a). Of a policy that does one thing with probability 1 it is the value of that, to the bit.
fn baseline<R: Real>(q: &[R], policy: &[R]) -> R {
    q.iter().zip(policy).fold(R::ZERO, |sum, (&q, &p)| sum + p * q)
}

/// π_ε = (1 − ε)·π + ε / |A_legal| of every legal action, in place: it keeps a probability of at least ε / |A_legal| while
/// the agents explore. With ε = 0 nothing changes, to the bit.
pub fn bound<R: Real>(policy: &mut [R], legal: &[u32], epsilon: R) {
    for (p, _) in policy.iter_mut().zip(legal).filter(|(_, legal)| **legal != 0) {
        *p = bounded(*p, legal, epsilon);
    }
}

/// π_ε of one legal action.
pub fn bounded<R: Real>(p: R, legal: &[u32], epsilon: R) -> R {
    let count = legal.iter().filter(|&&legal| legal != 0).count() as u32;
    (R::ONE - epsilon) * p + epsilon / R::from_u32(count)
}

/// L = mean (y − Q(s, (a_i, a_-i)))² and ∂L/∂Q: of all heads only that of the action taken learns.
#[derive(Clone, Copy, Debug)]
pub struct ActionValueLoss {
    /// n.
    pub agents: u32,
    /// Padded |A|.
    pub width: u32,
    /// Whose critic is trained.
    pub learners: Members,
    /// Actions `[M, n]`.
    pub action: Id<Words, Training>,
    /// Weights `[M]`.
    pub weight: Id<Reals, Training>,
    /// y `[M, n]`.
    pub target: Id<Reals, Training>,
    /// Q.
    pub q: Id<Reals, Training>,
    /// ∂L/∂Q.
    pub dq: Id<Reals, Training>,
    /// Where the loss goes.
    pub clock: Clock,
    /// What is told of it.
    pub statistics: Statistics,
}

impl Compute for ActionValueLoss {
    type Side = Training;
    const NAME: &'static str = "action_value_loss";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.action).reads(self.weight).reads(self.target).reads(self.q);
        wires.writes(self.dq).writes(self.clock.scalars).writes(self.statistics.sums);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let (action, weight, target) = (view.read(self.action), view.read(self.weight), view.read(self.target));
        let (q, mut dq) = (view.read(self.q), view.write(self.dq));
        let (n, width) = (self.agents as usize, self.width as usize);
        let mean = Mean { weight: &weight, columns: n, counts: |row: usize| self.learners.contains((row % n) as u32) };
        let mut loss = R::ZERO;
        dq.fill(R::ZERO);
        for Share { row, part, .. } in mean.rows() {
            let at = row * width + action[row] as usize;
            let error = q[at] - target[row];
            loss += part * error * error;
            dq[at] = part * R::from_f32(2.0) * error;
        }
        view.write(self.clock.scalars)[LOSS] = loss;
        let mut sums = view.write(self.statistics.sums);
        sums[VALUE_LOSS] += loss.to_f64();
        sums[VALUE_STEPS] += 1.0;
    }
}

/// A of every action taken (eq. 4), over the policy that acted.
#[derive(Clone, Copy, Debug)]
pub struct CounterfactualAdvantage {
    /// n.
    pub agents: u32,
    /// |A|.
    pub actions: u32,
    /// Who learns.
    pub learners: Members,
    /// ε of the rollout `[1]`.
    pub epsilon: Id<Reals, Training>,
    /// Legal actions `[M, n, |A|]`.
    pub mask: Id<Words, Training>,
    /// Actions `[M, n]`.
    pub action: Id<Words, Training>,
    /// Q.
    pub q: Id<Reals, Training>,
    /// Logits.
    pub logits: Id<Reals, Training>,
    /// π_ε `[M, n, |A|]`; rows of agents that do not learn are not written.
    pub policy: Id<Reals, Training>,
    /// A `[M, n]`, 0 for whoever does not learn or has nothing to decide.
    pub advantage: Id<Reals, Training>,
}

impl Compute for CounterfactualAdvantage {
    type Side = Training;
    const NAME: &'static str = "counterfactual_advantage";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.epsilon).reads(self.mask).reads(self.action).reads(self.q).reads(self.logits);
        wires.writes(self.policy).writes(self.advantage);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let (mask, action, epsilon) = (view.read(self.mask), view.read(self.action), view.read(self.epsilon)[0]);
        let (q, logits) = (view.read(self.q), view.read(self.logits));
        let (mut policy, mut advantage) = (view.write(self.policy), view.write(self.advantage));
        let (n, a, width) = (self.agents as usize, self.actions as usize, padded(self.actions) as usize);
        for (row, (policy, advantage)) in policy.chunks_exact_mut(a).zip(advantage.iter_mut()).enumerate() {
            let legal = legal_of(&mask, a, row);
            *advantage = R::ZERO;
            if self.learners.contains((row % n) as u32) && can_choose(legal) {
                let (z, q) = (&logits[row * width..row * width + a], &q[row * width..row * width + a]);
                MaskedSoftmax::with_probs(z, legal, policy).expect("who can choose has a legal action");
                bound(policy, legal, epsilon);
                *advantage = q[action[row] as usize] - baseline(q, policy);
            }
        }
    }
}

/// L = −mean A·ln π_ε(a_i|o_i) − c_e·mean H(π), and ∂L/∂logits (eq. 7). π_ε is the policy that acted, so its logarithm is
/// what is differentiated; the entropy is that of the softmax below it. A is a number here: no gradient reaches the critic.
#[derive(Clone, Copy, Debug)]
pub struct CounterfactualLoss {
    /// n.
    pub agents: u32,
    /// |A|.
    pub actions: u32,
    /// Who learns.
    pub learners: Members,
    /// ε of the rollout `[1]`.
    pub epsilon: Id<Reals, Training>,
    /// Legal actions `[M, n, |A|]`.
    pub mask: Id<Words, Training>,
    /// Actions `[M, n]`.
    pub action: Id<Words, Training>,
    /// Weights `[M]`.
    pub weight: Id<Reals, Training>,
    /// A `[M, n]`.
    pub advantage: Id<Reals, Training>,
    /// Logits.
    pub logits: Id<Reals, Training>,
    /// ∂L/∂logits.
    pub dlogits: Id<Reals, Training>,
    /// Weight of the entropy, and where the loss goes.
    pub clock: Clock,
    /// What is told of the policy.
    pub statistics: Statistics,
}

impl Compute for CounterfactualLoss {
    type Side = Training;
    const NAME: &'static str = "counterfactual_loss";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.epsilon).reads(self.mask).reads(self.action).reads(self.weight).reads(self.advantage);
        wires.reads(self.logits).writes(self.dlogits).writes(self.clock.scalars).writes(self.statistics.sums);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let (mask, action, weight) = (view.read(self.mask), view.read(self.action), view.read(self.weight));
        let (advantage, logits) = (view.read(self.advantage), view.read(self.logits));
        let (epsilon, mut dlogits) = (view.read(self.epsilon)[0], view.write(self.dlogits));
        let (mut scalars, mut sums) = (view.write(self.clock.scalars), view.write(self.statistics.sums));
        let (n, a, width) = (self.agents as usize, self.actions as usize, padded(self.actions) as usize);
        let legal = |row: usize| legal_of(&mask, a, row);
        let counts = |row: usize| self.learners.contains((row % n) as u32) && can_choose(legal(row));
        let mean = Mean { weight: &weight, columns: n, counts };
        let entropy_weight = scalars[ENTROPY_NOW];
        let mut loss = R::ZERO;
        dlogits.fill(R::ZERO);
        for Share { row, weight, part } in mean.rows() {
            let z = &logits[row * width..row * width + a];
            // Until each is replaced by its gradient, probabilities lie where the gradients will.
            let d = &mut dlogits[row * width..row * width + a];
            let policy = MaskedSoftmax::with_probs(z, legal(row), d).expect("who counts has a legal action");
            let taken = action[row] as usize;
            let p_taken = bounded(d[taken], legal(row), epsilon);
            let entropy = z.iter().zip(&*d).zip(legal(row)).filter(|(_, legal)| **legal != 0);
            let entropy = entropy.fold(R::ZERO, |sum, ((&z, &p), _)| sum - p * policy.log_prob(z));
            loss += part * (-advantage[row] * p_taken.ln() - entropy_weight * entropy);
            // ∂ ln π_ε(a) / ∂z_k = (1 − ε)·π(a)·(δ_ak − π(k)) / π_ε(a).
            let slope = advantage[row] * (R::ONE - epsilon) * d[taken] / p_taken;
            for (k, (d, &z)) in d.iter_mut().zip(z).enumerate().filter(|(k, _)| legal(row)[*k] != 0) {
                let p = *d;
                let chosen = if k == taken { R::ONE } else { R::ZERO };
                *d = part * (entropy_weight * p * (policy.log_prob(z) + entropy) - slope * (chosen - p));
            }
            sums[ACTIONS] += weight.to_f64();
            sums[ENTROPIES] += weight.to_f64() * entropy.to_f64();
        }
        scalars[LOSS] = loss;
    }
}
