//! A device, and learners from links.

use std::sync::Arc;

use tandem_core::env::api::Env;
use tandem_core::experiment::spec::ExperimentSpec;
use tandem_core::experiment::{link, world};
use tandem_core::marl::learner::{Evaluations, Learner};
use tandem_core::nn::gpu::Gpu;

/// The first device there is, which has the limits that every device has.
pub(crate) fn gpu() -> Gpu {
    pollster::block_on(Gpu::open()).expect("a machine without a graphics processor has a software adapter")
}

/// The experiment of a link, which says nothing that is not understood.
pub(crate) fn spec(text: &str) -> ExperimentSpec {
    let link = link::parse(text);
    assert_eq!(link.notices, [], "{text}");
    link.spec
}

/// Its lists.
pub(crate) fn learner(text: &str) -> Learner {
    let spec = spec(text);
    let env: Arc<dyn Env> = Arc::from(world::build(&spec).expect("the world exists"));
    Learner::new(env, spec.algo, &spec.learner, spec.seed, Evaluations { episodes: 1, explores: false })
}
