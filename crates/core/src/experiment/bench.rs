//! Works to measure, run on the product's own kernels: environments in lockstep, acted in uniformly at random.
//!
//! A work counts what it does and knows what its numbers should come to; whoever runs it has the clock.

use std::sync::Arc;

use crate::base::lanes::padded;
use crate::base::rng::Stream;
use crate::env::board::BoardSpec;
use crate::env::particles::ParticleSpec;
use crate::env::registry::EnvSpec;
use crate::marl::parts::explore::EpsilonGreedy;
use crate::marl::parts::world::{Observe, ResetAll, Starts, Step, World};
use crate::marl::seats::Members;
use crate::nn::graph::{Buffers, Id, List, Phase, Plan, Reals};

/// Environments in lockstep.
const ENVS: u32 = 128;
/// Env steps of an environment in one run of the list: a whole episode of spread.
const STEPS: u32 = 25;

/// What can be measured.
pub const WORKS: [WorkInfo; 2] = [
    WorkInfo {
        id: "W3",
        about: "simple_spread, N = 3, 25 env steps an episode, f64 physics, uniform actions, observations and resets",
        unit: "env steps/s",
        expected: Expected { mean: -26.55, deviation: 7.99, episodes: 1_000 },
    },
    WorkInfo {
        id: "connect_four",
        about: "Connect Four, uniform legal moves, masks and observations of both players, new games",
        unit: "plies/s",
        expected: Expected { mean: 0.5545 - 0.4431, deviation: 0.993, episodes: 20_000 },
    },
];

/// What is known of a work.
#[derive(Clone, Copy, Debug)]
pub struct WorkInfo {
    /// Its name.
    pub id: &'static str,
    /// What it does.
    pub about: &'static str,
    /// Unit of its rate.
    pub unit: &'static str,
    /// Agent 1's return under the same play, as measured with the reference implementation.
    pub expected: Expected,
}

/// A return measured elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// Mean over episodes.
    pub mean: f64,
    /// Standard deviation over episodes.
    pub deviation: f64,
    /// How many episodes.
    pub episodes: u32,
}

/// A work, ready to run.
#[derive(Debug)]
pub struct Work {
    /// What is known of it.
    pub info: &'static WorkInfo,
    world: World,
    list: List,
    buffers: Buffers<f32>,
    running: Vec<f64>,
    /// Episodes that have ended, and the sum of agent 1's returns.
    ended: (u32, f64),
}

/// What a work's numbers came to.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Mean of agent 1's return.
    pub mean: f64,
    /// Episodes.
    pub episodes: u32,
    /// Whether the mean is within three standard errors, of both means together, of the reference's.
    pub holds: bool,
}

impl Work {
    /// The work of that name, in any case.
    pub fn new(id: &str) -> Option<Self> {
        let info = WORKS.iter().find(|info| info.id.eq_ignore_ascii_case(id))?;
        let spec = match info.id {
            "W3" => EnvSpec::Particles(ParticleSpec::default()),
            _ => EnvSpec::Board(BoardSpec::ConnectFour),
        };
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
        let buffers = Buffers::new(&plan);
        buffers.write(epsilon).fill(1.0);
        reset.run(&buffers);
        Some(Self { info, world, list, buffers, running: vec![0.0; ENVS as usize], ended: (0, 0.0) })
    }

    /// Some env steps of every environment; how many in all.
    pub fn run(&mut self) -> u32 {
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

    /// How the episodes so far agree with the reference; `None` before the first has ended.
    pub fn check(&self) -> Option<Check> {
        let (episodes, sum) = self.ended;
        let Expected { mean: expected, deviation, episodes: theirs } = self.info.expected;
        let mean = sum / f64::from(episodes);
        let error = deviation * (1.0 / f64::from(theirs) + 1.0 / f64::from(episodes)).sqrt();
        (episodes > 0).then_some(Check { mean, episodes, holds: (mean - expected).abs() <= 3.0 * error })
    }
}

/// What was measured.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Measured {
    /// The work.
    pub work: &'static str,
    /// Median rate of the repetitions, in `unit`.
    pub rate: f64,
    /// See `rate`.
    pub unit: &'static str,
    /// Slowest and fastest repetition.
    pub range: (f64, f64),
    /// Seconds measured in all.
    pub seconds: f64,
    /// Mean return of agent 1, to be compared with `expected`.
    pub mean_return: f64,
    /// The reference's.
    pub expected: f64,
    /// Episodes.
    pub episodes: u32,
    /// Whether both agree within three standard errors.
    pub holds: bool,
}

/// Repetitions of a measurement, and seconds of each.
const REPETITIONS: usize = 7;
const REPETITION_SECS: f64 = 0.5;

/// Runs a work for some seconds of `clock` (monotonic seconds); `None` where there is no work of that name.
pub fn measure(id: &str, clock: &mut dyn FnMut() -> f64) -> Option<Measured> {
    let mut work = Work::new(id)?;
    work.run(); // caches and branch predictors are warm
    let began = clock();
    let mut rates: Vec<f64> = (0..REPETITIONS)
        .map(|_| {
            let (began, mut done) = (clock(), 0);
            loop {
                done += work.run();
                let seconds = clock() - began;
                if seconds >= REPETITION_SECS {
                    return f64::from(done) / seconds;
                }
            }
        })
        .collect();
    let seconds = clock() - began;
    rates.sort_by(f64::total_cmp);
    let check = work.check()?;
    Some(Measured {
        work: work.info.id,
        rate: rates[REPETITIONS / 2],
        unit: work.info.unit,
        range: (rates[0], rates[REPETITIONS - 1]),
        seconds,
        mean_return: check.mean,
        expected: work.info.expected.mean,
        episodes: check.episodes,
        holds: check.holds,
    })
}
