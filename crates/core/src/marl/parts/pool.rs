//! Opponents from the past: snapshots of the one network that learns, each of which plays a seat in some of the training
//! games, so that what beats the newest opponent must beat the earlier ones too.
//!
//! The last K snapshots lie side by side in one buffer; environment e of the share that plays the past has the snapshot
//! in place e mod K for an opponent, first in one seat, then in the other. So every snapshot of the pool is met equally
//! often, no call chooses by numbers, and an opponent changes where its place is filled anew. While somebody is frozen the
//! past plays nowhere, but it is kept: it plays again when both learn again.

use super::agents::Agents;
use super::clock::{Clock, UPDATE};
use crate::base::float::Real;
use crate::marl::settings::LearnerSettings;
use crate::nn::calls::{MlpForward, Rows};
use crate::nn::graph::{Buffers, Compute, Execution, Id, List, Phase, Plan, Reals, Training, View, Wires};
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
    /// Its buffer; `None` where no snapshot is asked for or there are no games for one.
    pub fn new(plan: &mut Plan, agents: &Agents, settings: &LearnerSettings) -> Option<Self> {
        let most = most_places(settings, agents.count);
        let places = settings.pool.min(most);
        if places == 0 {
            return None;
        }
        let all_learn = agents.learners().count() == agents.count;
        let games = if all_learn { most / places * places * agents.count } else { 0 };
        let mut layout = Layout::default();
        let shape = &agents.shape;
        let outputs = shape.layers.iter().map(|layer| layer.weight.cols);
        let sizes: Vec<u32> = std::iter::once(shape.inputs()).chain(outputs).collect();
        let net = |k: u32| Mlp::new(&mut layout, &format!("past{}", k + 1), &sizes, shape.activation);
        let nets: Vec<Mlp> = (0..places).map(net).collect();
        let past = Past { games, places, agents: agents.count };
        Some(Self { past, weights: plan.buffer("pool.weights", &[layout.len]), nets, every: settings.pool_every })
    }

    /// All places begin with the network as it is.
    pub fn begin<R: Real>(&self, agents: &Agents, buffers: &Buffers<R>) {
        let newest = buffers.read(agents.block.weights);
        if !newest.is_empty() {
            buffers.write(self.weights).chunks_exact_mut(newest.len()).for_each(|place| place.copy_from_slice(&newest));
        }
    }

    /// Adds the call that keeps a snapshot when one is due.
    pub fn keep(&self, list: &mut List, agents: &Agents, clock: Clock) {
        if agents.nets.is_empty() {
            return; // there is no newest self
        }
        let (from, to, every) = (agents.block.weights, self.weights, self.every);
        list.train(Phase::Observe, TakeSnapshot { clock, every, places: self.past.places, from, to });
    }

    /// Adds the snapshots' forward passes over the rows of their seats.
    pub fn act(&self, list: &mut List, x: Id<Reals, Execution>, hidden: Id<Reals, Execution>, y: Id<Reals, Execution>) {
        let Past { games, places, agents } = self.past;
        if games == 0 {
            return;
        }
        for (k, net) in (0..).zip(&self.nets) {
            let of_place = (0..games).filter(|e| e % places == k);
            let rows: Rows = of_place.filter_map(|e| Some(e * agents + self.past.seat(e)?)).collect();
            list.act(Phase::Act, MlpForward { net: net.clone(), rows, weights: self.weights, x, hidden, y });
        }
    }
}

/// Most snapshots that have as many games as each other, and as many in each of `seats`.
pub fn most_places(settings: &LearnerSettings, seats: u32) -> u32 {
    (settings.pool_share * settings.envs as f32) as u32 / seats
}

/// Copies the network to the next place every `every` updates.
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
        if before.is_multiple_of(self.every) {
            let place = (before / self.every % self.places) as usize * from.len();
            to[place..place + from.len()].copy_from_slice(&from);
        }
    }
}
