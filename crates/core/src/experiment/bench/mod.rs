//! Works to measure, each made of the lists and kernels that a run is made of, in a size that other implementations
//! can be given, too.
//!
//! A work knows what its numbers should come to and is checked before it is measured: a fast wrong answer is no
//! measurement. Whoever runs it has the clock.

mod mappo;
mod play;
mod qmix;
mod recipe;
mod sizes;
mod train;

use std::fmt::Debug;

use crate::env::board::BoardSpec;
use crate::env::particles::ParticleSpec;
use crate::env::registry::EnvSpec;

use self::mappo::MappoUpdate;
use self::play::{Play, Reference};
use self::qmix::{QmixSizes, QmixUpdate};
use self::train::Training;

/// Something that can be done again and again, warm after its checks.
pub trait Work: Debug {
    /// Does what has known results, from the beginning, and compares.
    fn checks(&mut self) -> Vec<Check>;
    /// Goes on; how many units that was.
    fn run(&mut self) -> u32;
}

/// What is known of a work.
#[derive(Clone, Copy, Debug)]
pub struct WorkInfo {
    /// Its name.
    pub id: &'static str,
    /// What it does.
    pub about: &'static str,
    /// Unit of its rate.
    pub unit: &'static str,
    /// Makes it.
    pub build: fn() -> Box<dyn Work>,
}

/// What can be measured.
pub const WORKS: [WorkInfo; 6] = [
    WorkInfo {
        id: "W1",
        about: "QMIX update: 32 episodes of 25 env steps, 3 agents, 16,486 parameters; 10 updates back to back",
        unit: "updates/s",
        build: || Box::new(QmixUpdate::new(QmixSizes::LARGE)),
    },
    WorkInfo {
        id: "W2",
        about: "MAPPO update: GAE and 4 epochs of 4 minibatches over 128 environments of 25 env steps, 3 agents",
        unit: "iterations/s",
        build: || Box::new(MappoUpdate::new()),
    },
    WorkInfo {
        id: "W3",
        about: "simple_spread, N = 3, 25 env steps an episode, f64 physics, uniform actions, observations and resets",
        unit: "env steps/s",
        build: || {
            let reference = Reference { mean: -26.55, deviation: 7.99, episodes: 1_000 };
            Box::new(Play::new(&EnvSpec::Particles(ParticleSpec::default()), reference))
        },
    },
    WorkInfo {
        id: "W4",
        about: "MAPPO from end to end: 128 environments of simple_spread, an episode each, then an update as in W2",
        unit: "env steps/s",
        build: || Box::new(Training::new()),
    },
    WorkInfo {
        id: "W5",
        about: "QMIX update: 64 episodes of one env step, 2 agents, 2,726 parameters; 10 updates back to back",
        unit: "updates/s",
        build: || Box::new(QmixUpdate::new(QmixSizes::SMALL)),
    },
    WorkInfo {
        id: "connect_four",
        about: "Connect Four, uniform legal moves, masks and observations of both players, new games",
        unit: "plies/s",
        build: || {
            let reference = Reference { mean: 0.5545 - 0.4431, deviation: 0.993, episodes: 20_000 };
            Box::new(Play::new(&EnvSpec::Board(BoardSpec::ConnectFour), reference))
        },
    },
];

/// The work of that name, in any case.
pub fn find(id: &str) -> Option<&'static WorkInfo> {
    WORKS.iter().find(|info| info.id.eq_ignore_ascii_case(id))
}

/// A number of a work beside what it should be.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Check {
    /// What number.
    pub name: Quantity,
    /// What it came to.
    pub value: f64,
    /// What others have found.
    pub expected: f64,
    /// Whether both agree.
    pub holds: bool,
}

/// What a check looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Loss of the first gradient step.
    FirstLoss,
    /// Loss of the 16th gradient step.
    Loss16,
    /// Loss of the 31st gradient step.
    Loss31,
    /// Mean return of agent 1 under play that does not learn.
    MeanReturn,
    /// Mean return in the first iterations of training.
    ReturnFirst,
    /// Mean return after 60 iterations of training.
    ReturnAfter,
}

impl Check {
    /// Holds where `value` is within `tolerance` of `expected`.
    fn new(name: Quantity, value: f64, expected: f64, tolerance: f64) -> Self {
        Self { name, value, expected, holds: (value - expected).abs() <= tolerance }
    }

    /// A loss that other frameworks have computed from the same numbers in f32.
    fn loss(name: Quantity, value: f32, expected: f64) -> Self {
        Self::new(name, f64::from(value), expected, 1e-5 * expected)
    }
}

/// What was measured.
#[derive(Clone, Debug, serde::Serialize)]
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
    /// The work's numbers.
    pub checks: Vec<Check>,
    /// Whether all of them are as they should be.
    pub holds: bool,
}

/// Repetitions of a measurement, and the least seconds of each.
const REPETITIONS: usize = 7;
const REPETITION_SECS: f64 = 0.5;

/// Checks a work, then runs it for some seconds of `clock` (monotonic seconds); `None` where there is no work of that
/// name.
pub fn measure(id: &str, clock: &mut dyn FnMut() -> f64) -> Option<Measured> {
    let info = find(id)?;
    let mut work = (info.build)();
    let checks = work.checks();
    work.run(); // after the checks, caches and branch predictors know this part alone
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
    Some(Measured {
        work: info.id,
        rate: rates[REPETITIONS / 2],
        unit: info.unit,
        range: (rates[0], rates[REPETITIONS - 1]),
        seconds,
        holds: checks.iter().all(|check| check.holds),
        checks,
    })
}
