//! Every text that knobs, presets, links and worlds refer to exists, in both languages.

use std::collections::BTreeMap;

use tandem_core::env::script::SCRIPTS;
use tandem_core::experiment::knobs::{Group, KNOBS, Kind};
use tandem_core::experiment::presets::{PresetGroup, presets};
use tandem_core::experiment::snapshot::Sentence;
use tandem_core::experiment::spec::{AlgoChoice, EnvChoice, ExperimentSpec};

/// Id to English and Chinese.
pub(crate) type Table = BTreeMap<String, (String, String)>;

/// The texts of core: knobs, experiments, notices.
pub(crate) fn table() -> Table {
    let files = [
        include_str!("../../../../assets/text/knobs.ron"),
        include_str!("../../../../assets/text/experiments.ron"),
        include_str!("../../../../assets/text/notices.ron"),
    ];
    let parse = |source: &&str| ron::from_str::<Table>(source).expect("a text file is a RON map");
    files.iter().flat_map(parse).collect()
}

/// A sentence in English, failing where its text is missing or has another number of arguments.
pub(crate) fn english(sentence: &Sentence) -> String {
    let table = table();
    let (text, chinese) = table.get(&sentence.id).unwrap_or_else(|| panic!("{} has no text", sentence.id));
    let mut text = text.clone();
    for (i, arg) in sentence.args.iter().enumerate() {
        let place = format!("{{{i}}}");
        assert_eq!(text.contains(&place), chinese.contains(&place), "{}: {place} in one language only", sentence.id);
        text = text.replace(&place, arg);
    }
    text
}

/// Ids made from the tables: of groups, knobs, choices, presets.
fn made_ids() -> Vec<String> {
    let mut ids: Vec<String> = Group::ALL.iter().map(|group| group.text_id().to_owned()).collect();
    ids.extend(PresetGroup::ALL.iter().map(|group| group.text_id().to_owned()));
    for knob in &KNOBS {
        ids.extend([knob.text_id(), knob.tip_id()]);
        if let Kind::Choice { ids: choices, .. } = knob.kind {
            ids.extend(choices.iter().map(|choice| knob.choice_id(choice)));
        }
        if let Kind::Seats { .. } = knob.kind {
            let scripts = SCRIPTS.iter().map(|info| info.id);
            ids.extend(["learner", "frozen", "human"].into_iter().chain(scripts).map(|seat| knob.choice_id(seat)));
        }
        for env in EnvChoice::ALL {
            ids.extend(knob.unit_id(&ExperimentSpec::defaults(env, AlgoChoice::Iql)).map(str::to_owned));
        }
    }
    for preset in presets() {
        ids.extend([preset.title_id(), preset.question_id(), preset.press_id(), preset.answer_id()]);
        ids.extend(preset.expected_id());
    }
    ids
}

#[test]
fn every_entry_of_the_tables_has_its_texts() {
    let table = table();
    for id in made_ids() {
        assert!(table.contains_key(&id), "{id} has no text");
    }
}

#[test]
fn no_text_is_left_over() {
    let made = made_ids();
    // Sentences stand in the sources as they are.
    let sources = [
        include_str!("../../src/experiment/knobs/mod.rs"),
        include_str!("../../src/experiment/knobs/rules.rs"),
        include_str!("../../src/experiment/knobs/seats.rs"),
        include_str!("../../src/experiment/link.rs"),
        include_str!("../../src/experiment/run/device.rs"),
        include_str!("../../src/experiment/world.rs"),
    ]
    .concat();
    for id in table().keys() {
        let is_made = made.contains(id) || id.strip_suffix(".tip").is_some_and(|of| made.iter().any(|id| id == of));
        assert!(is_made || sources.contains(&format!("\"{id}\"")), "nothing uses the text {id}");
    }
}

#[test]
fn texts_of_experiments_are_short() {
    let table = table();
    for preset in presets() {
        for (id, most) in [(preset.question_id(), 2), (preset.press_id(), 1), (preset.answer_id(), 4)] {
            let (english, chinese) = &table[&id];
            assert!(sentences(english, &['.', '?', '!']) <= most, "{id}: {english}");
            assert!(sentences(chinese, &['。', '？', '！']) <= most, "{id}: {chinese}");
        }
    }
}

/// Ends of sentences: a sign followed by a space or the end, in Chinese by anything.
fn sentences(text: &str, ends: &[char]) -> usize {
    let chars: Vec<char> = text.chars().collect();
    let is_end = |i: &usize| {
        ends.contains(&chars[*i]) && (!chars[*i].is_ascii() || chars.get(i + 1).is_none_or(|next| *next == ' '))
    };
    (0..chars.len()).filter(is_end).count()
}
