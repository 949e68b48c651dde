//! Every text that knobs, presets, links and worlds refer to exists, in both languages.

use std::collections::BTreeMap;

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

#[test]
fn every_knob_has_its_texts() {
    let table = table();
    let has = |id: &str| assert!(table.contains_key(id), "{id} has no text");
    Group::ALL.iter().for_each(|group| has(group.text_id()));
    for knob in &KNOBS {
        has(&knob.text_id());
        has(&knob.tip_id());
        if let Kind::Choice { ids, .. } = knob.kind {
            ids.iter().for_each(|id| has(&knob.choice_id(id)));
        }
        for env in [EnvChoice::Pellet, EnvChoice::Matrix, EnvChoice::TwoStep] {
            if let Some(unit) = knob.unit_id(&ExperimentSpec::defaults(env, AlgoChoice::Iql)) {
                has(unit);
            }
        }
    }
}

#[test]
fn every_preset_has_its_texts() {
    let table = table();
    let has = |id: &str| assert!(table.contains_key(id), "{id} has no text");
    PresetGroup::ALL.iter().for_each(|group| has(group.text_id()));
    for preset in presets() {
        [preset.title_id(), preset.question_id(), preset.press_id(), preset.answer_id()].iter().for_each(|id| has(id));
    }
}

#[test]
fn no_text_is_left_over() {
    let mut wanted: Vec<String> = Group::ALL.iter().map(|group| group.text_id().to_owned()).collect();
    wanted.extend(PresetGroup::ALL.iter().map(|group| group.text_id().to_owned()));
    for knob in &KNOBS {
        wanted.extend([knob.text_id(), knob.tip_id()]);
        if let Kind::Choice { ids, .. } = knob.kind {
            wanted.extend(ids.iter().flat_map(|id| [knob.choice_id(id), format!("{}.tip", knob.choice_id(id))]));
        }
    }
    for preset in presets() {
        wanted.extend([preset.title_id(), preset.question_id(), preset.press_id(), preset.answer_id()]);
    }
    // Sentences and units stand in the sources as they are.
    let sources = [
        include_str!("../../src/experiment/knobs/mod.rs"),
        include_str!("../../src/experiment/knobs/rules.rs"),
        include_str!("../../src/experiment/knobs/table.rs"),
        include_str!("../../src/experiment/link.rs"),
        include_str!("../../src/experiment/world.rs"),
    ]
    .concat();
    for id in table().keys() {
        assert!(wanted.contains(id) || sources.contains(&format!("\"{id}\"")), "nothing uses the text {id}");
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
