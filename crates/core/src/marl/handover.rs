//! Which network an agent begins with, and which one it goes on with when a run changes who learns.
//!
//! Invariant: freezing and unfreezing whoever a network is left to moves weights and moments from one buffer to another
//! and back without touching a bit; everything else of the run stays where it is. So does what values an agent: the
//! optimiser passes it by while its agent does not learn (`Critic::trained`).

use super::learner::{Central, Learner};
use super::parts::agents::Agents;
use super::parts::clock::{RING_FILL, RING_HEAD, SEGMENT_STEP};
use crate::base::float::Real;
use crate::nn::graph::{Buffers, Id, Reals, Training};
use crate::nn::layers::{Layout, Mlp};

/// Copies of the agents' parameters: weights, slow copy of them (empty without one), moments and their powers.
struct Kept<R> {
    learners: [Vec<R>; PARTS],
    frozen: [Vec<R>; PARTS],
}

/// Buffers of the parts of a [`Kept`], where there are such.
type Places = [Option<Id<Reals, Training>>; PARTS];

/// A network and which one it is.
type Numbered<'a> = (usize, &'a Mlp);

/// In [`Kept`].
const WEIGHTS: usize = 0;
const SLOW: usize = 1;
const POWERS: usize = 4;
const PARTS: usize = 5;

impl Agents {
    /// Initial weights, `init` being told a network, its layout and where its numbers go. An agent begins with the same
    /// ones whoever else learns: those it would have if everybody did. A frozen member of a group begins with a copy of
    /// the first group's.
    pub fn init<R: Real>(&self, buffers: &Buffers<R>, init: impl Fn(&Mlp, &Layout, &mut [R])) {
        let (layout, nets) = self.with_everyone();
        let mut weights = vec![R::ZERO; layout.len as usize];
        for net in &nets {
            init(net, &layout, &mut weights);
        }
        let first_of = |k: usize, agent: u32| if self.shared { &nets[k] } else { &nets[agent as usize] };
        let mut block = buffers.write(self.block.weights);
        for (k, (net, players)) in self.nets.iter().zip(&self.players).enumerate() {
            let first = players.iter().next().expect("a network has an agent");
            block[net.range()].copy_from_slice(&weights[first_of(k, first).range()]);
        }
        let mut frozen = buffers.write(self.frozen.weights);
        for (net, &player) in self.frozen.nets.iter().zip(&self.frozen.players) {
            frozen[net.range()].copy_from_slice(&weights[first_of(0, player).range()]);
        }
    }

    /// The networks there would be if nobody were frozen or scripted.
    fn with_everyone(&self) -> (Layout, Vec<Mlp>) {
        if self.shared && !self.nets.is_empty() {
            return (self.layout.clone(), self.nets.clone());
        }
        let shape = &self.shape;
        let outputs = shape.layers.iter().map(|layer| layer.weight.cols);
        let sizes: Vec<u32> = std::iter::once(shape.inputs()).chain(outputs).collect();
        let mut layout = Layout::default();
        let mut net = |name: &str| Mlp::new(&mut layout, name, &sizes, shape.activation);
        let nets = if self.shared {
            vec![net("agents")] // everyone is frozen or scripted; the frozen begin as its copies
        } else {
            (1..=self.count).map(|i| net(&format!("agent{i}"))).collect()
        };
        (layout, nets)
    }
}

impl Learner {
    /// The numbers of a run that goes on with other seats: every buffer of the same name and length, the agents'
    /// networks by whom they move. `before` is the same run but for its seats.
    pub fn take_over<R: Real>(&self, before: &Self, numbers: Buffers<R>) -> Buffers<R> {
        let kept = before.kept(&numbers);
        let buffers = Buffers::continued(&self.plan, &before.plan, numbers);
        if self.turns.is_some() != before.turns.is_some() {
            self.begin_anew(&buffers);
        }
        let mut now = self.kept(&buffers);
        for (net, players) in self.agents.nets.iter().enumerate().zip(&self.agents.players) {
            let is_same = |(_, old): &(usize, &Mlp)| has_name_of(old, net.1);
            let old = before.agents.nets.iter().enumerate().find(is_same).map(|old| (old, &kept.learners));
            let player = players.iter().next().expect("a network has an agent");
            let (old, from) = old.or_else(|| before.moving(player, &kept)).expect("it had a network before");
            hand_over(old, from, net, &mut now.learners);
        }
        for (net, &player) in self.agents.frozen.nets.iter().enumerate().zip(&self.agents.frozen.players) {
            let (old, from) = before.moving(player, &kept).expect("it had a network before");
            hand_over(old, from, net, &mut now.frozen);
        }
        let (learners, frozen) = self.places();
        for (places, numbers) in [(learners, now.learners), (frozen, now.frozen)] {
            for (place, numbers) in places.into_iter().zip(numbers) {
                if let Some(place) = place {
                    *buffers.write(place) = numbers;
                }
            }
        }
        buffers
    }

    /// What is learned from means something else now, env steps instead of decisions: the critic values other things, what
    /// replay holds does not fit, and rewards are others.
    fn begin_anew<R: Real>(&self, buffers: &Buffers<R>) {
        if let Central::Critic(critic) = &self.central {
            self.init_central(buffers);
            let block = critic.block;
            for moment in [block.m, block.v] {
                buffers.write(moment).fill(R::ZERO);
            }
            buffers.write(block.powers).fill(R::ONE);
            if let Some(moments) = critic.moments {
                buffers.write(moments.numbers).fill(0.0);
            }
        }
        if let Some(replay) = self.replay() {
            buffers.write(replay.ring.weight).fill(R::ZERO);
            buffers.write(replay.reward_moments).fill(0.0);
            let mut clock = buffers.write(self.clock.counters);
            (clock[RING_HEAD], clock[RING_FILL], clock[SEGMENT_STEP]) = (0, 0, 0);
        }
    }

    /// The network that moves an agent, with its index, and the numbers it is among.
    fn moving<'a, R>(&'a self, player: u32, kept: &'a Kept<R>) -> Option<(Numbered<'a>, &'a [Vec<R>; PARTS])> {
        let agents = &self.agents;
        if let Some(k) = agents.players.iter().position(|players| players.contains(player)) {
            return Some(((k, &agents.nets[k]), &kept.learners));
        }
        let k = agents.frozen.players.iter().position(|&frozen| frozen == player)?;
        Some(((k, &agents.frozen.nets[k]), &kept.frozen))
    }

    /// Where the parts of a [`Kept`] are. A frozen agent's slow copy would be itself.
    fn places(&self) -> (Places, Places) {
        let (block, frozen) = (self.agents.block.seen_by_training(), &self.agents.frozen);
        let slow = self.targets.iter().find(|target| target.weights.index() == block.weights.index());
        (
            [Some(block.weights), slow.map(|target| target.target), Some(block.m), Some(block.v), Some(block.powers)],
            [Some(frozen.weights.seen_by_training()), None, Some(frozen.m), Some(frozen.v), Some(frozen.powers)],
        )
    }

    fn kept<R: Real>(&self, buffers: &Buffers<R>) -> Kept<R> {
        let read = |place: Option<Id<Reals, Training>>| place.map_or_else(Vec::new, |id| buffers.read(id).clone());
        let (learners, frozen) = self.places();
        Kept { learners: learners.map(read), frozen: frozen.map(read) }
    }
}

fn has_name_of(a: &Mlp, b: &Mlp) -> bool {
    a.layers[0].weight.name == b.layers[0].weight.name
}

/// Weights with the moments and powers they were trained with; the slow copy goes on, or begins as the weights.
fn hand_over<R: Real>(old: Numbered<'_>, from: &[Vec<R>; PARTS], net: Numbered<'_>, to: &mut [Vec<R>; PARTS]) {
    let place = |part: usize, (k, net): Numbered<'_>| if part == POWERS { 2 * k..2 * k + 2 } else { net.range() };
    for part in 0..PARTS {
        if to[part].is_empty() {
            continue;
        }
        let of = if part == SLOW && from[SLOW].is_empty() { WEIGHTS } else { part };
        to[part][place(part, net)].copy_from_slice(&from[of][place(of, old)]);
    }
}
