//! Every text the source names exists, and every text that exists is named.

use std::collections::BTreeSet;
use std::path::Path;

use tandem::view::text::table;
use tandem_core::env::api::{Env, Label};
use tandem_core::env::particles::{ParticleSpec, Scenario};
use tandem_core::env::script::SCRIPTS;
use tandem_core::experiment::knobs::{KNOBS, Kind};
use tandem_core::experiment::presets::presets;

/// String literals of all sources that look like ids: words with dots between them.
fn literals() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = if root.join("src").exists() { root.to_path_buf() } else { std::env::current_dir().expect("a folder") };
    let mut found = BTreeSet::new();
    for folder in ["src", "crates/core/src"] {
        collect(&root.join(folder), &mut found);
    }
    found
}

fn collect(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("the sources are here").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = std::fs::read_to_string(&path).expect("a source is text");
            found.extend(source.split('"').skip(1).filter(|text| is_id(text)).map(str::to_owned));
        }
    }
}

fn is_id(text: &str) -> bool {
    let is_word = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    text.contains('.') && text.split('.').all(is_word) && text.starts_with(|c: char| c.is_ascii_lowercase())
}

/// Names of what agents are, do, see and are paid for in worlds that make them from parts.
fn labels() -> Vec<Label> {
    let plain = |id: &String| Label::new(id, &[]);
    let mut labels = Vec::new();
    for scenario in Scenario::ALL {
        for near in [None, Some(2)] {
            let spec = ParticleSpec { near_agents: near, near_landmarks: near, ..ParticleSpec::new(scenario) };
            let world = spec.validate().expect("a world");
            let info = world.info();
            labels.extend(info.part_names.iter().map(plain));
            for role in &info.roles {
                labels.push(plain(&role.id));
                labels.extend(role.actions.iter().chain(&role.obs).cloned());
            }
        }
    }
    labels
}

/// Ids made from the tables of knobs and presets.
fn made() -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for knob in &KNOBS {
        ids.extend([knob.text_id(), knob.tip_id()]);
        if let Kind::Choice { ids: choices, .. } = knob.kind {
            ids.extend(choices.iter().map(|id| knob.choice_id(id)));
            // Names of algorithms say too little by themselves.
            if knob.key == "algo" {
                ids.extend(choices.iter().map(|id| format!("{}.tip", knob.choice_id(id))));
            }
        }
        if let Kind::Seats { .. } = knob.kind {
            let seats = SCRIPTS.iter().map(|info| info.id).chain(["learner", "frozen", "human"]);
            for id in seats.map(|seat| knob.choice_id(seat)) {
                ids.extend([format!("{id}.tip"), id]);
            }
        }
    }
    ids.extend(labels().into_iter().map(|label| label.id));
    for preset in presets() {
        ids.extend([preset.title_id(), preset.question_id(), preset.press_id(), preset.answer_id()]);
        ids.extend(preset.expected_id());
    }
    ids
}

#[test]
fn what_is_made_from_the_tables_is_there() {
    let missing: Vec<String> = made().into_iter().filter(|id| !table().contains_key(id)).collect();
    assert!(missing.is_empty(), "no text for {missing:?}");
}

#[test]
fn a_label_has_a_place_for_each_of_its_numbers() {
    for label in labels() {
        let (english, chinese) = &table()[&label.id];
        for text in [english, chinese] {
            let places = (0..9).take_while(|place| text.contains(&format!("{{{place}}}"))).count();
            assert_eq!(places, label.args.len(), "{}: {text}", label.id);
        }
    }
}

#[test]
fn what_the_source_names_is_there() {
    // First words of ids; other literals with dots are file names, formulas, links.
    let domains: BTreeSet<&str> = table().keys().filter_map(|id| id.split('.').next()).collect();
    let is_text = |id: &String| id.split('.').next().is_some_and(|domain| domains.contains(domain));
    // A mark that knobs resolve to env steps or episodes, and a buffer's name.
    let is_text = |id: &String| is_text(id) && !["unit.segments", "group.return"].contains(&id.as_str());
    let missing: Vec<String> = literals().into_iter().filter(is_text).filter(|id| !table().contains_key(id)).collect();
    assert!(missing.is_empty(), "no text for {missing:?}");
}

#[test]
fn nothing_stands_in_the_table_unused() {
    let mut used = literals();
    used.extend(made());
    // The status bar and the parts of a reward make the ids of their tips, `plural` those about one thing.
    let is_made = |id: &str| {
        let of = |ending: &str| id.strip_suffix(ending).is_some_and(|id| used.contains(id));
        of(".one") || (["status.", "part."].iter().any(|domain| id.starts_with(domain)) && of(".tip"))
    };
    let is_used = |id: &str| used.contains(id) || is_made(id);
    let unused: Vec<&String> = table().keys().filter(|id| !is_used(id)).collect();
    assert!(unused.is_empty(), "nothing shows {unused:?}");
}
