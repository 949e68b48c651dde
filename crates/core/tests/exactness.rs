//! The bits of two runs, written down: the first experiment of the menu, and MAPPO in the same world.
//!
//! `cargo xtask test` compares the same files with an unoptimised and a release build (the example `exact` prints this
//! very line), the browser tests compare the page with that release build. A change of these bits is a change of every
//! shared link's run: rewrite the files with `BLESS=1` only when that is meant, and say so in the changelog.

use std::path::PathBuf;

use tandem_core::base::hash::hex;
use tandem_core::experiment::run::Run;
use tandem_core::experiment::spec::{AlgoChoice, EnvChoice, ExperimentSpec};
use tandem_core::marl::parts::clock::ENV_STEP;

fn check(algo: AlgoChoice, updates: u32, file: &str) {
    let spec = ExperimentSpec::defaults(EnvChoice::Pellet, algo);
    let mut run = Run::new(spec, 1).expect("an experiment of the menu can be built");
    while run.updates() < updates {
        run.update();
    }
    let now = format!(
        "{{\"update\":{updates},\"envSteps\":{},\"traceHash\":\"{}\",\"weightsHash\":\"{}\"}}\n",
        run.count(ENV_STEP),
        hex(run.trace),
        hex(run.weights_hash()),
    );
    let root = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo tells its tests where the package lies");
    let file = PathBuf::from(root).join("tests/fixtures").join(file);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &now).expect("the fixture can be written");
    }
    let recorded = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(now, recorded, "the run's bits have changed; if that is meant: BLESS=1 cargo test --test exactness");
}

#[test]
fn p39_the_first_experiment_repeats_its_recorded_bits() {
    check(AlgoChoice::Qmix, 200, "trace_pellet_qmix.json");
}

#[test]
fn p39_a_policy_gradient_repeats_its_recorded_bits() {
    check(AlgoChoice::Mappo, 4, "trace_pellet_mappo.json");
}
