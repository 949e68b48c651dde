//! The works that are measured come to what they should. W1, W2 and W5 are whole updates in f32 on fixed data, whose
//! losses are known from PyTorch, JAX and TensorFlow.js.

use tandem_core::experiment::bench::{WORKS, find};

fn check(id: &str) {
    let mut work = (find(id).expect("a work").build)();
    let checks = work.checks();
    assert!(!checks.is_empty(), "{id} is not checked");
    for check in checks {
        assert!(check.holds, "{id}: {check:?}");
    }
}

#[test]
fn updates_have_the_losses_of_other_frameworks() {
    ["W1", "W2", "W5"].into_iter().for_each(check);
}

#[test]
fn random_play_has_the_references_returns() {
    ["W3", "connect_four"].into_iter().for_each(check);
}

#[test]
fn training_from_end_to_end_learns() {
    check("W4");
}

#[test]
fn a_work_is_found_in_any_case() {
    for info in &WORKS {
        assert_eq!(find(&info.id.to_lowercase()).map(|found| found.id), Some(info.id));
    }
    assert!(find("W6").is_none());
}
