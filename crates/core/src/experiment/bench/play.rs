//! Works W3 and connect_four: environments in lockstep, acted in uniformly at random.

use std::sync::Arc;

use super::{Check, Quantity, Work};
use crate::base::lanes::padded;
use crate::base::rng::Stream;
use crate::env::registry::EnvSpec;
use crate::marl::parts::explore::EpsilonGreedy;
use crate::marl::parts::world::{Observe, ResetAll, Starts, Step, World};
use crate::marl::seats::Members;
use crate::nn::graph::{Buffers, Id, List, Phase, Plan, Reals, leave_out_unread};

/// Environments in lockstep.
const ENVS: u32 = 128;
/// Env steps of an environment in one run of the list: a whole episode of spread.
const STEPS: u32 = 25;
/// Episodes that are checked, at least.
const CHECKED: u32 = 4_000;

/// Agent 1's return under the same play, as measured with the reference implementation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reference {
    /// Mean over episodes.
    pub(super) mean: f64,
    /// Standard deviation over episodes.
    pub(super) deviation: f64,
    /// How many episodes.
    pub(super) episodes: u32,
}

/// Worlds and the list that moves them.
#[derive(Debug)]
pub(super) struct Play {
    reference: Reference,
    world: World,
    list: List,
    buffers: Buffers<f32>,
    /// Agent 1's return so far `[E]`.
    running: Vec<f64>,
    /// Episodes that have ended, and the sum of agent 1's returns.
    ended: (u32, f64),
}

impl Play {
    pub(super) fn new(spec: &EnvSpec, reference: Reference) -> Self {
        let env = Arc::from(spec.build().expect("a work's world is one"));
        let mut plan = Plan::default();
        let world = World::new(&mut plan, "bench", env, ENVS, false);
        let facts = world.env.info();
        let (n, a) = (facts.num_agents, facts.num_actions);
        let q: Id<Reals, _> = plan.buffer("bench.q", &[ENVS, n, padded(a)]);
        let epsilon = plan.buffer("bench.epsilon", &[1]);
        let (mut reset, mut list) = (List::default(), List::default());
        let stream = Stream::new(0, "bench");
        reset.train(Phase::Environment, ResetAll { world: world.clone(), stream, starts: Starts::Drawn });
        reset.train(Phase::Observe, Observe { world: world.clone() });
        let uniform = EpsilonGreedy {
            stream: Stream::new(0, "bench actions"),
            agents: n,
            actions: a,
            explorers: Members::all(n),
            q,
            mask: world.mask,
            epsilon,
            time: world.time,
            action: world.action,
            explored: world.explored,
        };
        list.act(Phase::Act, uniform);
        list.train(Phase::Environment, Step { world: world.clone(), stream, auto_reset: true });
        list.train(Phase::Observe, Observe { world: world.clone() });
        leave_out_unread(&mut plan, &[&reset, &list]);
        let buffers = Buffers::new(&plan);
        buffers.write(epsilon).fill(1.0);
        reset.run(&buffers);
        Self { reference, world, list, buffers, running: vec![0.0; ENVS as usize], ended: (0, 0.0) }
    }
}

impl Work for Play {
    /// Within three standard errors, of both means together, of the reference's.
    fn checks(&mut self) -> Vec<Check> {
        while self.ended.0 < CHECKED {
            self.run();
        }
        let Reference { mean: expected, deviation, episodes: theirs } = self.reference;
        let (episodes, sum) = (f64::from(self.ended.0), self.ended.1);
        let error = deviation * (1.0 / f64::from(theirs) + 1.0 / episodes).sqrt();
        vec![Check::new(Quantity::MeanReturn, sum / episodes, expected, 3.0 * error)]
    }

    /// Some env steps of every environment.
    fn run(&mut self) -> u32 {
        for _ in 0..STEPS {
            self.list.run(&self.buffers);
            let width = self.world.env.info().num_agents as usize + 1;
            let (reward, ended) = (self.buffers.read(self.world.reward), self.buffers.read(self.world.ended));
            for (e, running) in self.running.iter_mut().enumerate() {
                *running += f64::from(reward[e * width]);
                if ended[e] != 0 {
                    self.ended = (self.ended.0 + 1, self.ended.1 + std::mem::take(running));
                }
            }
        }
        ENVS * STEPS
    }
}
