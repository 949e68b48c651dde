//! Writing then reading gives back what was written; reading anything at all is harmless.

use proptest::prelude::*;
use tandem_core::experiment::knobs::{KNOBS, Knob, knob, why_not};
use tandem_core::experiment::link::{Link, MAX_STEP, VERSION, parse, too_long, write};
use tandem_core::experiment::spec::{CellKind, ExperimentSpec, GridMap, StartChoice};
use tandem_core::experiment::world;

use crate::arbitrary::{Dice, canonical, canonical_spec, random_spec};
use crate::corpus;

fn any_text() -> impl Strategy<Value = String> {
    proptest::collection::vec(any::<char>(), 0..12).prop_map(|chars| chars.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_experiment_comes_back_from_its_link(spec in canonical_spec(), step in 0..=MAX_STEP) {
        let mut link = Link { step, view: Some("qtot".to_owned()), lang: Some("zh".to_owned()), ..Link::of(spec) };
        let text = write(&link);
        prop_assert_eq!(&parse(&text), &link, "{}", text);
        link.notices.clear();
        prop_assert_eq!(write(&link), text);
    }

    #[test]
    fn unknown_keys_come_back(key in any_text(), value in any_text()) {
        let key = format!("x{}", key.trim());
        let link = Link { unknown: vec![(key, value)], ..Link::default() };
        let read = parse(&write(&link));
        prop_assert_eq!(&read.unknown, &link.unknown);
        prop_assert_eq!(&read.spec, &link.spec);
        let ids: Vec<&str> = read.notices.iter().map(|notice| notice.id.as_str()).collect();
        prop_assert_eq!(ids, ["notice.unknown_key"]);
    }
}

/// Whatever a text says, what is opened can be built, is allowed, and has a link that opens the same without a word
/// (but for the keys kept for a later release).
fn assert_harmless(text: &str) {
    let link = parse(text);
    assert!(world::build(&link.spec).is_ok(), "{text}");
    assert_eq!(why_not(&link.spec, link.spec.algo), None, "{text}");
    assert!(link.step <= MAX_STEP, "{text}");
    let again = parse(&write(&link));
    assert_eq!((&again.spec, again.step, &again.view), (&link.spec, link.step, &link.view), "{text}");
    assert_eq!((&again.lang, &again.unknown), (&link.lang, &link.unknown), "{text}");
    assert!(again.notices.iter().all(|notice| notice.id == "notice.unknown_key"), "{text}\n{:?}", again.notices);
}

const ODD_VALUES: [&str; 40] = [
    "",
    "0",
    "1",
    "-1",
    "2",
    "3",
    "8",
    "64",
    "1e3",
    "1e9",
    "1e999",
    "-1e999",
    "1e-40",
    "NaN",
    "inf",
    "-inf",
    "on",
    "off",
    "true",
    "x",
    "4x4",
    "16x16",
    "0x0",
    "2x2",
    "2x16",
    "-4x-4",
    "99999999999999999999999999",
    "0.5",
    "0,5",
    "5e-4",
    "%FF%FE",
    "%",
    "%4",
    "✓",
    "custom",
    "placed",
    "random",
    "qmix",
    "first",
    "AQ",
];

/// Known and unknown keys with values that are sometimes right.
fn grammatical(dice: &mut Dice) -> String {
    let page = ["v", "step", "view", "lang", "world", "future", "", "LR"];
    let mut pieces = Vec::new();
    for _ in 0..=dice.below(12) {
        let key = if dice.below(5) == 0 { *dice.pick(&page) } else { dice.pick(&KNOBS).key };
        let choices = knob(key).map(Knob::allowed);
        let allowed: Vec<&str> = choices.as_deref().unwrap_or("").split([' ', '|', '…', ',']).collect();
        let value = if dice.coin() { dice.pick(&allowed) } else { dice.pick(&ODD_VALUES) };
        pieces.push(format!("{key}={value}"));
    }
    format!("#{}", pieces.join("&"))
}

/// A good link with bytes changed, doubled or lost.
fn mutated(dice: &mut Dice, from: &str) -> String {
    let mut bytes = from.as_bytes().to_vec();
    for _ in 0..=dice.below(6) {
        if bytes.is_empty() {
            break;
        }
        let at = dice.below(bytes.len());
        match dice.below(4) {
            0 => bytes[at] = dice.word() as u8,
            1 => {
                bytes.remove(at);
            }
            2 => bytes.insert(at, *dice.pick(b"&=#%-.x0199eEA")),
            _ => {
                let end = at + dice.below(bytes.len() - at + 1);
                let piece = bytes[at..end].to_vec();
                bytes.extend(piece);
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn a_hundred_thousand_bad_links_are_harmless() {
    let mut dice = Dice::new(1);
    let good: Vec<String> = corpus::entries().into_iter().map(|entry| entry.link).collect();
    for round in 0..50_000 {
        let texts = [grammatical(&mut dice), mutated(&mut dice, &good[round % good.len()])];
        for text in &texts {
            // Reading must not panic; of every fifth all that follows is looked at too.
            let _ = parse(text);
            if round % 5 == 0 {
                assert_harmless(text);
            }
        }
    }
}

#[test]
fn a_megabyte_of_anything_is_cut() {
    let units = ["x", "&", "=", "%", "a=b&", "lr=1&", "#", "\u{10FFFF}", "world=AAAA", "&x", "%F0%9F"];
    for unit in units {
        let text = unit.repeat((1 << 20) / unit.len());
        let link = parse(&text);
        assert!(link.notices.iter().any(|notice| notice.id == "notice.link_cut"), "{unit}");
        assert!(link.notices.len() <= 65, "{unit}: {} sentences", link.notices.len());
        assert!(link.notices.iter().flat_map(|notice| &notice.args).all(|arg| arg.chars().count() <= 50), "{unit}");
        assert_harmless(&text);
    }
}

#[test]
fn a_link_may_come_in_any_wrapping() {
    let plain = parse("v=1&env=matrix&algo=vdn&lr=5e-4&seed=9");
    assert_eq!(plain.notices, []);
    assert_eq!((plain.spec.seed, plain.spec.learner.lr), (9, 5e-4));
    for text in [
        "#v=1&env=matrix&algo=vdn&lr=5e-4&seed=9",
        "  #v=1&env=matrix&algo=vdn&lr=5e-4&seed=9\n",
        "https://example.org/tandem/index.html?x=1#v=1&env=matrix&algo=vdn&lr=5e-4&seed=9",
        "#v=1&amp;env=matrix&amp;algo=vdn&amp;lr=5e-4&amp;seed=9",
        "#%76=1&env=%6Datrix&algo=vdn&lr=0.0005&seed=9&",
        "#V=1&ENV=Matrix&Algo=VDN&seed=9&lr=0.00050",
        "#algo=vdn&seed=9&lr=5E-4&env=matrix",
    ] {
        assert_eq!(parse(text), plain, "{text}");
    }
    for nothing in ["", "#", "  ", "https://example.org/tandem/"] {
        assert_eq!(parse(nothing), Link::default(), "{nothing}");
    }
}

#[test]
fn p88_links_are_short_and_url_safe() {
    let mut dice = Dice::new(2);
    for _ in 0..2_000 {
        let spec = canonical(random_spec(&mut dice));
        let text = write(&Link { step: MAX_STEP, view: Some("returns".to_owned()), ..Link::of(spec) });
        assert!(!too_long(&text), "{} characters: {text}", text.len());
        let is_safe = |c: char| c.is_ascii_alphanumeric() || "#&=-_.~,".contains(c);
        assert!(text.chars().all(is_safe), "{text}");
    }
    let many = (0..32).map(|i| (format!("key{i}"), "x".repeat(200))).collect();
    assert!(too_long(&write(&Link { unknown: many, ..Link::default() })));
}

#[test]
fn p90_link_includes_edits_seed_step_view() {
    let mut spec = ExperimentSpec { seed: u64::MAX, ..ExperimentSpec::default() };
    let mut cells = vec![CellKind::Free; 16];
    cells[6] = CellKind::Wall;
    spec.pellet.start = StartChoice::Placed;
    spec.pellet.map = Some(GridMap { cells, starts: vec![0, 15] });
    let link = Link { step: 200, view: Some("qtot".to_owned()), ..Link::of(spec) };
    let text = write(&link);
    for part in ["world=", "seed=18446744073709551615", "step=200", "view=qtot"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(parse(&text), link);
}

#[test]
fn only_what_differs_is_written() {
    assert_eq!(write(&Link::default()), format!("#v={VERSION}&env=pellet&algo=qmix&seed=7"));
    let mut link = Link::default();
    link.spec.learner.gamma = 0.5;
    link.spec.learner.target_every = 17; // no effect with a soft target
    assert_eq!(write(&link), "#v=1&env=pellet&algo=qmix&gamma=0.5&seed=7");
}
