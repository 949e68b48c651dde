//! A run that is warm allocates nothing: neither its env steps nor its gradient steps, whatever environment and
//! algorithm; nor do the works that are measured, of which one is a run as the page trains it.

#![expect(unsafe_code, reason = "a counting allocator is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use tandem_core::env::api::Env;
use tandem_core::env::board::BoardSpec;
use tandem_core::env::foraging::ForagingSpec;
use tandem_core::env::matrix_game::MatrixSpec;
use tandem_core::env::particles::{ParticleSpec, Scenario};
use tandem_core::env::pellet::{PelletSpec, StartLayout};
use tandem_core::env::pursuit::PursuitSpec;
use tandem_core::env::registry::EnvSpec;
use tandem_core::env::two_step::TwoStepSpec;
use tandem_core::experiment::bench::WORKS;
use tandem_core::experiment::spec::{EnvChoice, ExperimentSpec};
use tandem_core::marl::learner::{Evaluations, Learner};
use tandem_core::marl::parts::clock::{EPISODES, GRADIENT_STEP};
use tandem_core::marl::registry::ALGORITHMS;
use tandem_core::nn::graph::Cursor;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u32> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_warm_run_allocates_nothing() {
    let crowd = PelletSpec {
        num_agents: 8,
        num_pellets: 8,
        starts: StartLayout::Random,
        time_limit: 7,
        ..PelletSpec::default()
    };
    let specs = [
        EnvSpec::Pellet(PelletSpec::default()),
        EnvSpec::Pellet(crowd),
        EnvSpec::Matrix(MatrixSpec::default()),
        EnvSpec::TwoStep(TwoStepSpec::default()),
        EnvSpec::Board(BoardSpec::ConnectFour),
        EnvSpec::Board(BoardSpec::TicTacToe),
        EnvSpec::Particles(ParticleSpec { max_cycles: 7, near_agents: Some(2), ..ParticleSpec::default() }),
        EnvSpec::Particles(ParticleSpec { max_cycles: 7, ..ParticleSpec::new(Scenario::Tag) }),
        EnvSpec::Particles(ParticleSpec { max_cycles: 7, ..ParticleSpec::new(Scenario::SpeakerListener) }),
        EnvSpec::Foraging(ForagingSpec { time_limit: 7, ..ForagingSpec::default() }),
        EnvSpec::Pursuit(PursuitSpec { n_pursuers: 3, n_evaders: 4, max_cycles: 7, ..PursuitSpec::default() }),
    ];
    for spec in specs {
        for algo in ALGORITHMS.map(|algo| algo.choice) {
            let env: Arc<dyn Env> = spec.build().expect("valid").into();
            let mut settings = ExperimentSpec::defaults(EnvChoice::Pellet, algo).learner;
            (settings.epochs, settings.minibatches, settings.value_clip) = (2, 1, 0.2);
            // Twelve are a tile of eight worlds and four on their own.
            (settings.envs, settings.batch, settings.buffer) = (12, 8, 100);
            (settings.rollout, settings.grad_steps, settings.standardise) = (env.info().max_steps, 2, true);
            let learner = Learner::new(env, algo, &settings, 1, Evaluations { episodes: 1, explores: false });
            let buffers = learner.start::<f32>();
            let update = || {
                learner.rollout.run(&buffers);
                learner.gradient_steps.run(&buffers);
            };
            // Replay fills enough for a batch, working space grows to its size.
            (0..4).for_each(|_| update());
            let before = ALLOCATIONS.get();
            assert!(before > 0, "the allocator counts");
            (0..20).for_each(|_| update());
            // As a person steps: from env step to env step.
            let mut cursor = Cursor::default();
            while !learner.rollout.run_iteration(&mut cursor, &buffers) {}
            assert_eq!(ALLOCATIONS.get(), before, "{algo:?} in {spec:?}");
            let counters = buffers.read(learner.clock.counters);
            // Two an update, and COMA's one of the policies beside its critic's two.
            assert_eq!(counters[GRADIENT_STEP], if algo.info().is_counterfactual { 72 } else { 48 });
            assert!(counters[EPISODES] > 4, "{spec:?} was never reset");
        }
    }
}

#[test]
fn a_warm_work_allocates_nothing() {
    for info in &WORKS {
        let mut work = (info.build)();
        (0..2).for_each(|_| _ = work.run());
        let before = ALLOCATIONS.get();
        assert!(before > 0, "the allocator counts");
        (0..3).for_each(|_| _ = work.run());
        assert_eq!(ALLOCATIONS.get() - before, 0, "{}", info.id);
    }
}
