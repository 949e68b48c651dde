//! Why QMIX misses the best cell of the climbing game: no mixer that rises with every utility has that table, so the
//! nearest it can have gives the best cell away to the −30 beside it.

use tandem_core::base::rng::Stream;
use tandem_core::env::api::EnvState;
use tandem_core::experiment::presets::preset;
use tandem_core::experiment::run::Run;
use tandem_core::experiment::spec::ExperimentSpec;
use tandem_core::experiment::world::matrix_spec;
use tandem_core::marl::probe::{Probe, greedy};

/// Smallest mean squared error, over the nine cells, of any table that some monotone mixer can have (Rashid et al. 2020,
/// arXiv 2006.10800, give 110.8).
const BEST_MONOTONE: f64 = 110.0;

/// Mean squared error of the learned table, its value of the best cell, and the greedy joint action.
fn learned(spec: ExperimentSpec) -> (f64, f32, [u32; 2]) {
    let payoffs = matrix_spec(&spec.matrix).payoffs;
    let mut run = Run::new(spec, 1).expect("the preset can be built");
    while run.end().is_none() {
        run.update();
    }
    let env = &run.learner.env;
    let mut state = EnvState::new(env.info());
    env.reset(state.view_mut(), &Stream::new(0, "start").env(0, 0, 0));
    let probe = Probe { learner: &run.learner, buffers: &run.buffers };
    let (q, legal) = (probe.outputs(state.view()), probe.legal(state.view()));
    let joint: Vec<f32> = (0..9).flat_map(|cell| [q[0][cell / 3], q[1][cell % 3]]).collect();
    let table = probe.team_value(state.view(), false).expect("QMIX has one").q_tot(&joint, 2);
    let square = |(learned, paid): (&f32, &(f32, f32))| {
        let error = f64::from(learned - paid.0);
        error * error
    };
    let error = table.iter().zip(&payoffs).map(square).sum::<f64>() / 9.0;
    (error, table[0], [0, 1].map(|agent| greedy(&q[agent], &legal[agent])))
}

#[test]
fn p21_qmix_misses_the_top_of_climbing_because_its_mixer_is_monotone() {
    let (error, best, greedy) = learned(preset("climbing_qmix").expect("the menu has it").read().spec.clone());
    assert!(error >= BEST_MONOTONE, "{error} is below what a monotone mixer can reach");
    assert!(error < 1.5 * BEST_MONOTONE, "{error} is no fit at all");
    assert!(best < 0.0, "the cell that pays 11 is valued at {best}");
    assert_ne!(greedy, [0, 0]);
}
