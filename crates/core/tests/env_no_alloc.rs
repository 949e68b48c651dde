//! A batch that is warm allocates nothing, whatever its environment.

#![expect(unsafe_code, reason = "a counting allocator is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use tandem_core::base::rng::Stream;
use tandem_core::env::batch::Batch;
use tandem_core::env::pellet::{PelletSpec, StartLayout};
use tandem_core::env::registry::{EnvKind, EnvSpec};

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
fn stepping_a_batch_allocates_nothing() {
    let crowd = PelletSpec {
        num_agents: 8,
        num_pellets: 8,
        starts: StartLayout::Random,
        time_limit: 7,
        ..PelletSpec::default()
    };
    let mut specs: Vec<EnvSpec> = EnvKind::ALL.map(EnvKind::default_spec).to_vec();
    specs.push(EnvSpec::Pellet(crowd));
    for spec in specs {
        let env = spec.build().expect("valid");
        let mut batch = Batch::new(env.as_ref(), Stream::new(1, "env"), 4);
        let actions: Vec<u32> = (0..4 * env.info().num_agents).map(|i| i % 2).collect();
        let before = ALLOCATIONS.get();
        assert!(before > 0, "the allocator counts");
        for _ in 0..60 {
            batch.step(env.as_ref(), &actions);
        }
        assert_eq!(ALLOCATIONS.get(), before, "{spec:?}");
        assert!(batch.episodes.iter().any(|&episode| episode > 0), "{spec:?} was never reset");
    }
}
