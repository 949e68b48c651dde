//! The bits of a corpus of runs, written down in `fixtures/traces.txt`: a link, a number of updates and what the example
//! `exact` prints after them, one line each; every algorithm, every kind of world.
//!
//! Here they are compared with every width of register that the processor has. `cargo xtask test` compares the same file
//! with an unoptimised and a release build, the browser tests with the page. A change of these bits is a change of every
//! such link's run: rewrite the file with `BLESS=1 cargo test --test exactness` only when that is meant, and say so in
//! the changelog.

use std::path::PathBuf;

use tandem_core::base::hash::hex;
use tandem_core::base::lanes::{Registers, limit_registers};
use tandem_core::experiment::link;
use tandem_core::experiment::run::Run;
use tandem_core::marl::parts::clock::ENV_STEP;

fn after(link: &str, updates: u32) -> String {
    let mut run = Run::new(link::parse(link).spec, 1).expect("a recorded experiment can be built");
    while run.updates() < updates {
        run.update();
    }
    format!(
        r#"{{"update":{updates},"envSteps":{},"traceHash":"{}","weightsHash":"{}"}}"#,
        run.count(ENV_STEP),
        hex(run.trace),
        hex(run.weights_hash()),
    )
}

/// All that the processor has.
fn with_every_width(mut check: impl FnMut(&str)) {
    let own = Registers::here();
    for registers in [Registers::Narrow, Registers::Avx2, Registers::Avx512] {
        if registers <= own {
            limit_registers(registers);
            check(&format!("{registers:?}"));
        }
    }
}

#[test]
fn p39_recorded_runs_repeat_their_bits_with_every_width_of_register() {
    let root = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo tells its tests where the package lies");
    let file = PathBuf::from(root).join("tests/fixtures/traces.txt");
    let mut recorded = std::fs::read_to_string(&file).expect("the corpus can be read");
    let mut blesses = std::env::var_os("BLESS").is_some();
    with_every_width(|registers| {
        let again = |line: &str| {
            let mut words = line.split(' ');
            let (link, updates) = (words.next().expect("a link"), words.next().expect("a number of updates"));
            format!("{link} {updates} {}\n", after(link, updates.parse().expect("a number of updates")))
        };
        let now: String = recorded.lines().map(again).collect();
        if std::mem::take(&mut blesses) {
            std::fs::write(&file, &now).expect("the corpus can be written");
            recorded.clone_from(&now);
        }
        assert_eq!(now, recorded, "with {registers} registers; if the change is meant: BLESS=1");
    });
}
