//! Episodes written down: whoever changes a rule, a player or a draw sees it here, move by move.
//!
//! `cargo xtask test` plays the same list unoptimised and optimised, the browser tests play it in the page.

use std::path::PathBuf;

use tandem_core::env::playthrough::{PLAYTHROUGHS, text};

/// `BLESS=1` rewrites the files, on purpose only.
#[test]
fn p39_playthroughs_are_what_was_written_down() {
    let root = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo tells its tests where the package lies");
    let folder = PathBuf::from(root).join("tests/playthroughs");
    for playthrough in &PLAYTHROUGHS {
        let file = folder.join(playthrough.id).with_extension("txt");
        let now = text(playthrough);
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&file, &now).expect("the file can be written");
        }
        let recorded = std::fs::read_to_string(&file).unwrap_or_default();
        let differs = now.lines().zip(recorded.lines()).find(|(now, recorded)| now != recorded);
        assert!(now == recorded, "{} has changed, first at {differs:?}: BLESS=1 if that is meant", playthrough.id);
    }
    let files = std::fs::read_dir(&folder).expect("the folder is there").count();
    assert_eq!(files, PLAYTHROUGHS.len(), "a file for every playthrough and no other");
}
