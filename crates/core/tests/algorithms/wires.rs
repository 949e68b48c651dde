//! What a call says it reads and writes is all it touches: the page draws wires from it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tandem_core::experiment::spec::{EnvChoice, ExperimentSpec};
use tandem_core::experiment::world;
use tandem_core::marl::learner::{Evaluations, Learner};
use tandem_core::marl::settings::{LearnerSettings, TargetChoice};
use tandem_core::nn::graph::{Buffers, Call, Content, Doubles, Id, Ints, List, Plan, Reals, Singles, Training, Words};

use crate::support::{ALL, POLICIES, Tiny, ids, settings};

/// Borrows every buffer of a kind that `call` may not write, and for writing those it may not even read: whatever it
/// touches beyond its wires then panics.
fn with_others_held<T: Content>(plan: &Plan, buffers: &Buffers<f32>, call: &dyn Call, run: &mut dyn FnMut()) {
    let wires = call.wires();
    let (mut to_read, mut to_write) = (Vec::new(), Vec::new());
    for (i, (_, id)) in (0..).zip(ids::<T>(plan)) {
        let this = (T::KIND, i);
        if wires.writes.contains(&this) {
            continue;
        }
        if wires.reads.contains(&this) {
            to_read.push(buffers.read(id));
        } else {
            to_write.push(buffers.write(id));
        }
    }
    run();
}

fn assert_keeps_to_its_wires(plan: &Plan, buffers: &Buffers<f32>, call: &dyn Call) {
    let mut run = || {
        let result = catch_unwind(AssertUnwindSafe(|| call.run_f32(buffers)));
        assert!(result.is_ok(), "{} touches more than its wires say", call.name());
    };
    with_others_held::<Reals>(plan, buffers, call, &mut || {
        with_others_held::<Words>(plan, buffers, call, &mut || {
            with_others_held::<Ints>(plan, buffers, call, &mut || {
                with_others_held::<Doubles>(plan, buffers, call, &mut || {
                    with_others_held::<Singles>(plan, buffers, call, &mut run);
                });
            });
        });
    });
}

#[test]
fn calls_touch_only_what_their_wires_name() {
    for algo in ALL.into_iter().chain(POLICIES) {
        for (shared, standardise, target) in [(true, true, TargetChoice::Hard), (false, false, TargetChoice::Soft)] {
            let settings = LearnerSettings {
                shared,
                standardise,
                target,
                target_every: 1,
                hyper_layers: 2,
                value_norm: shared,
                ..settings()
            };
            let env = world::build(&ExperimentSpec::defaults(EnvChoice::Pellet, algo)).expect("a valid world");
            let learner = Learner::new(Arc::from(env), algo, &settings, 1, Evaluations { episodes: 2, explores: true });
            let buffers = learner.start::<f32>();
            let lists = [&learner.reset, &learner.rollout, &learner.gradient_steps, &learner.evaluation.list];
            let mut names = std::collections::BTreeSet::new();
            for (_, call) in lists.into_iter().flat_map(List::calls) {
                assert_keeps_to_its_wires(&learner.plan, &buffers, call);
                names.insert(call.name());
            }
            assert_eq!(names.contains("reward_moments"), standardise && !algo.is_policy_gradient());
            assert_eq!(names.contains("popart"), shared && algo.is_policy_gradient());
            assert!(names.len() > 15, "{names:?}");
        }
    }
}

/// The test above is not blind: a call that names too little is caught.
#[test]
#[should_panic(expected = "says_nothing touches more than its wires say")]
fn a_call_that_names_too_little_is_caught() {
    use tandem_core::base::float::Real;
    use tandem_core::nn::graph::{Compute, View, Wires};

    #[derive(Debug)]
    struct SaysNothing(Id<Words, Training>);
    impl Compute for SaysNothing {
        type Side = Training;
        const NAME: &'static str = "says_nothing";
        fn wires(&self, _: &mut Wires) {}
        fn run<R: Real>(&self, view: View<'_, R, Training>) {
            view.read(self.0);
        }
    }
    let learner = crate::support::learner(Tiny::new(2, 2, 2, 2), ALL[0], &settings());
    let counters = learner.clock.counters;
    assert_keeps_to_its_wires(&learner.plan, &learner.start(), &SaysNothing(counters));
}
