//! Episodes written down: whoever changes a rule, a player or a draw sees it here, move by move.
//!
//! `cargo xtask test` plays the same list unoptimised and optimised, the browser tests play it in the page.

use std::path::PathBuf;

use tandem_core::env::playthrough::{PLAYTHROUGHS, text};
use tandem_core::env::registry::EnvSpec;
use tandem_core::experiment::spec::EnvChoice;

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

/// Games of one or two joint actions are tables: there is no arithmetic in them to go wrong.
#[test]
fn every_world_has_an_episode_written_down() {
    let played: Vec<EnvChoice> = PLAYTHROUGHS.iter().map(|playthrough| choice(&(playthrough.set_up)())).collect();
    for env in EnvChoice::ALL.into_iter().filter(|env| !env.is_short_game()) {
        assert!(played.contains(&env), "no playthrough of {env:?}");
    }
}

/// What leaving the arena costs is the one reward with a transcendental function: an exponential from 1 on.
#[test]
fn prey_goes_where_its_cost_is_an_exponential() {
    let tag = PLAYTHROUGHS.iter().find(|playthrough| playthrough.id == "tag_prey_leaves").expect("it is on the list");
    let text = text(tag);
    let places = text.lines().filter_map(|line| line.strip_prefix("agent 3 at ")?.split_once(','));
    let coordinates = places.flat_map(|(place, _)| place.split(' ')).map(|word| word.parse::<f32>().expect("a number"));
    assert!(coordinates.filter(|x| x.abs() > 1.0).count() >= 2, "the prey stays in the arena");
}

fn choice(spec: &EnvSpec) -> EnvChoice {
    match spec {
        EnvSpec::Pellet(_) => EnvChoice::Pellet,
        EnvSpec::Matrix(_) => EnvChoice::Matrix,
        EnvSpec::TwoStep(_) => EnvChoice::TwoStep,
        EnvSpec::Particles(spec) => EnvChoice::Particles(spec.scenario),
        EnvSpec::Board(spec) => EnvChoice::Board(*spec),
        EnvSpec::Foraging(_) => EnvChoice::Foraging,
        EnvSpec::Pursuit(_) => EnvChoice::Pursuit,
    }
}
