//! Opponents from the past: snapshots of the one network that learns, each of which plays a seat in some of the training
//! games, so that what beats the newest opponent must beat the earlier ones too.
//!
//! The last K snapshots lie side by side in one buffer; environment e of the share that plays the past has the snapshot
//! in place e mod K for an opponent, first in one seat, then in the other. So every snapshot of the pool is met equally
//! often, no call chooses by numbers, and an opponent changes where its place is filled anew.

use super::agents::Agents;
use super::clock::{Clock, UPDATE};
use crate::base::float::Real;
use crate::marl::settings::LearnerSettings;
use crate::nn::calls::{MlpForward, Rows};
use crate::nn::graph::{Compute, Execution, Id, List, Phase, Plan, Reals, Training, View, Wires};
use crate::nn::layers::{Layout, Mlp};

/// Which environments play the past, and who it is there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Past {
    /// Environments 0 .. `games`.
    pub games: u32,
    /// K.
    pub places: u32,
    /// n.
    pub agents: u32,
}

impl Past {
    /// The seat that the past has in environment `e`.
    pub fn seat(self, e: u32) -> Option<u32> {
        (e < self.games).then(|| e / self.places % self.agents)
    }
}

/// The snapshots.
#[derive(Clone, Debug)]
pub struct Pool {
    /// Where they play.
    pub past: Past,
    /// Their parameters `[K, len]`.
    pub weights: Id<Reals, Execution>,
    /// The network of each.
    nets: Vec<Mlp>,
    every: u32,
}

impl Pool {
    /// Its buffer; `None` where no game is played against the past, or not everybody learns.
    pub fn new(plan: &mut Plan, agents: &Agents, settings: &LearnerSettings) -> Option<Self> {
        // As many games for each snapshot, and as many in each seat.
        let most = (settings.pool_share * settings.envs as f32) as u32 / agents.count;
        let places = settings.pool.min(most);
        let games = most.checked_div(places).unwrap_or(0) * places * agents.count;
        if places == 0 || agents.learners().count() != agents.count {
            return None;
        }
        let mut layout = Layout::default();
        let shape = &agents.shape;
        let outputs = shape.layers.iter().map(|layer| layer.weight.cols);
        let sizes: Vec<u32> = std::iter::once(shape.inputs()).chain(outputs).collect();
        let net = |k: u32| Mlp::new(&mut layout, &format!("past{}", k + 1), &sizes, shape.activation);
        let nets: Vec<Mlp> = (0..places).map(net).collect();
        let past = Past { games, places, agents: agents.count };
        Some(Self { past, weights: plan.buffer("pool.weights", &[layout.len]), nets, every: settings.pool_every })
    }

    /// Adds the call that keeps a snapshot when one is due, and fills all places at the first update.
    pub fn keep(&self, list: &mut List, agents: &Agents, clock: Clock) {
        let (from, to, every) = (agents.block.weights, self.weights, self.every);
        list.train(Phase::Observe, TakeSnapshot { clock, every, places: self.past.places, from, to });
    }

    /// Adds the snapshots' forward passes over the rows of their seats.
    pub fn act(&self, list: &mut List, x: Id<Reals, Execution>, hidden: Id<Reals, Execution>, y: Id<Reals, Execution>) {
        let Past { games, places, agents } = self.past;
        for (k, net) in (0..).zip(&self.nets) {
            let of_place = (0..games).filter(|e| e % places == k);
            let rows: Rows = of_place.filter_map(|e| Some(e * agents + self.past.seat(e)?)).collect();
            list.act(Phase::Act, MlpForward { net: net.clone(), rows, weights: self.weights, x, hidden, y });
        }
    }

    /// Puts the network as it is into all places of a pool.
    pub fn fill<R: Real>(weights: &[R], pool: &mut [R]) {
        pool.chunks_exact_mut(weights.len()).for_each(|place| place.copy_from_slice(weights));
    }
}

/// Copies the network to the next place every `every` updates, to all of them at the first.
#[derive(Clone, Copy, Debug)]
struct TakeSnapshot {
    clock: Clock,
    every: u32,
    places: u32,
    from: Id<Reals, Execution>,
    to: Id<Reals, Execution>,
}

impl Compute for TakeSnapshot {
    type Side = Training;
    const NAME: &'static str = "take_snapshot";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.clock.counters).reads(self.from).writes(self.to);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        // The update has been counted, from 1.
        let before = view.read(self.clock.counters)[UPDATE] - 1;
        let (from, mut to) = (view.read(self.from), view.write(self.to));
        let due = before.is_multiple_of(self.every).then_some(before / self.every % self.places);
        for (place, to) in (0..).zip(to.chunks_exact_mut(from.len())) {
            if before == 0 || due == Some(place) {
                to.copy_from_slice(&from);
            }
        }
    }
}
