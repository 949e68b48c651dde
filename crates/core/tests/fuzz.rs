//! Hostile links and commands: whatever a text says, reading it does not panic, opening it trains one update, and
//! nothing takes more memory than a browser gives. `cargo xtask fuzz` runs the same with more of them.

#[path = "fuzz/hostile.rs"]
mod hostile;
#[path = "fuzz/meter.rs"]
mod meter;
#[path = "fuzz/open.rs"]
mod open;
#[path = "fuzz/search.rs"]
mod search;

use search::{Search, assert_small, found};
use tandem_core::experiment::knobs::{Kind, knob};

#[test]
fn what_was_found_before_is_harmless() {
    let mut search = Search::new(0);
    for text in found() {
        search.both(&text, &mut || 0.0);
    }
}

#[test]
fn a_hundred_thousand_hostile_links_are_harmless() {
    let mut search = Search::new(1);
    search.run(100_000, 500, &mut || 0.0, &mut |_| ());
    assert_small();
    println!("{}", search.report());
    let seen = &search.seen;
    assert!(seen.with_notices > 50_000 && seen.plain > 1_000, "links are neither all broken nor all fine: {seen:?}");
    for (key, counts) in [("env", &seen.envs), ("algo", &seen.algos)] {
        let Some(Kind::Choice { ids, .. }) = knob(key).map(|knob| knob.kind) else { panic!("{key} is a choice") };
        assert_eq!(counts.len(), ids.len(), "every {key} was met: {seen:?}");
    }
    assert!(seen.envs.iter().chain(&seen.algos).all(|count| *count > 1_000), "and often: {seen:?}");
}
