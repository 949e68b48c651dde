//! An experiment as a link: `#v=1&env=pellet&algo=qmix&lr=5e-4&seed=7&view=qtot`.
//!
//! Reading never fails: what cannot be used is replaced and told in a sentence that names the key, what was given and
//! what is allowed; keys of a later release are kept and written back. Writing gives the canonical form: `v`, `env`,
//! `algo` and `seed` always, else only what differs from the defaults, in the order of the knob table.

use super::knobs::{self, KNOBS, Knob, forget_unused, normalise, suit_algo};
use super::pack::{Unpacked, pack, unpack};
use super::snapshot::Sentence;
use super::spec::{EnvChoice, ExperimentSpec};
use super::world;
use crate::env::particles::Scenario;

/// Version of links written by this release.
pub const VERSION: u32 = 1;
/// Largest update a link can run to.
pub const MAX_STEP: u32 = 1_000_000;
/// Longest link that mail programs, chats and learning platforms pass on unharmed, in characters.
pub const MAX_LENGTH: usize = 2_000;
/// Longest text looked at, in bytes.
const MAX_READ: usize = 1 << 16;
/// Most `key=value` pairs looked at.
const MAX_PAIRS: usize = 512;
/// Most unknown keys kept, and longest of their values, in characters.
const MAX_UNKNOWN: usize = 32;
const MAX_UNKNOWN_VALUE: usize = 256;
/// Most sentences about one link.
const MAX_NOTICES: usize = 64;

/// What a link says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    /// The experiment.
    pub spec: ExperimentSpec,
    /// Update to run to before pausing; 0 stays at the start.
    pub step: u32,
    /// View to open.
    pub view: Option<String>,
    /// Language of the page, `en` or `zh`.
    pub lang: Option<String>,
    /// Keys (and their values) that this release does not know.
    pub unknown: Vec<(String, String)>,
    /// What had to be changed or left out, for the reader.
    pub notices: Vec<Sentence>,
}

impl Link {
    /// The link of an experiment, opened at update 0.
    pub fn of(spec: ExperimentSpec) -> Self {
        Self { spec, ..Self::default() }
    }
}

/// Whether `text` has any `key=value` to read.
pub fn has_keys(text: &str) -> bool {
    fragment(text).split('&').any(|piece| piece.split_once('=').is_some_and(|(key, _)| !key.trim().is_empty()))
}

/// Whether `text` has a key that says anything about an experiment.
pub fn names_experiment(text: &str) -> bool {
    let given = Given::of(text.trim(), &mut Vec::new());
    given.pairs.iter().any(|(key, _)| key == "world" || knobs::knob(key).is_some())
}

/// Whether a link is longer than can be passed on safely; its experiment should then travel as a file.
pub fn too_long(text: &str) -> bool {
    text.len() > MAX_LENGTH
}

/// Reads a link: a fragment with or without its `#`, or a whole address.
pub fn parse(text: &str) -> Link {
    let mut notices = Vec::new();
    let mut text = text.trim();
    if text.len() > MAX_READ {
        let end = text.floor_char_boundary(MAX_READ);
        notices.push(Sentence::new("notice.link_cut", &[&text.len().to_string(), &MAX_READ.to_string()]));
        text = &text[..end];
    }
    let is_empty = fragment(text).is_empty();
    let mut link = if has_keys(text) { read(text, &mut notices) } else { Link::default() };
    if !is_empty && !has_keys(text) {
        notices.push(Sentence::new("notice.no_keys", &[&quoted(fragment(text))]));
    }
    if notices.len() > MAX_NOTICES {
        let more = notices.len() - MAX_NOTICES;
        notices.truncate(MAX_NOTICES);
        notices.push(Sentence::new("notice.more", &[&more.to_string()]));
    }
    link.notices = notices;
    link
}

/// Writes a link's fragment, with its `#`. See [`too_long`].
pub fn write(link: &Link) -> String {
    let mut spec = link.spec.clone();
    let _ = normalise(&mut spec);
    forget_unused(&mut spec);
    let defaults = ExperimentSpec::defaults(spec.env, spec.algo);
    let mut pairs = vec![("v".to_owned(), VERSION.to_string())];
    let is_written = |knob: &&Knob| {
        matches!(knob.key, "env" | "algo" | "seed")
            || ((knob.applies)(&spec) && knob.text(&spec) != knob.text(&defaults))
    };
    pairs.extend(KNOBS.iter().filter(is_written).map(|knob| (knob.key.to_owned(), knob.text(&spec))));
    pairs.extend(pack(&spec).map(|packed| ("world".to_owned(), packed)));
    pairs.extend((link.step > 0).then(|| ("step".to_owned(), link.step.min(MAX_STEP).to_string())));
    pairs.extend(link.view.iter().map(|view| ("view".to_owned(), view.clone())));
    pairs.extend(link.lang.iter().map(|lang| ("lang".to_owned(), lang.clone())));
    pairs.extend(link.unknown.iter().cloned());
    let pieces: Vec<String> =
        pairs.iter().map(|(key, value)| format!("{}={}", percent_encoded(key), percent_encoded(value))).collect();
    format!("#{}", pieces.join("&"))
}

/// The part after the first `#`; all of it where there is none, unless it is an address.
fn fragment(text: &str) -> &str {
    match text.split_once('#') {
        Some((_, fragment)) => fragment,
        None if text.contains("://") => "",
        None => text,
    }
}

fn read(text: &str, notices: &mut Vec<Sentence>) -> Link {
    let mut given = Given::of(text, notices);
    let mut link = Link::default();
    read_version(&mut given, notices);
    let mut spec = ExperimentSpec::default();
    // Defaults depend on these two, so they come before the others.
    let (first, rest): (Vec<&Knob>, Vec<&Knob>) = KNOBS.iter().partition(|knob| matches!(knob.key, "env" | "algo"));
    let mut used: Vec<&Knob> = Vec::new();
    for knob in first.into_iter().chain(rest) {
        let also = |given: &mut Given| (knob.key == "agents").then(|| given.take_n(spec.env)).flatten();
        if let Some(value) = given.take(knob.key).or_else(|| also(&mut given)) {
            notices.extend(knob.read(&mut spec, &value));
            used.push(knob);
        }
    }
    read_world(&mut given, &mut spec, notices);
    notices.extend(normalise(&mut spec));
    settle(&mut spec, used.iter().any(|knob| knob.key == "algo"), notices);
    for knob in used.into_iter().filter(|knob| !(knob.applies)(&spec)) {
        notices.push(Sentence::new("notice.no_effect", &[knob.key]));
    }
    forget_unused(&mut spec);
    link.spec = spec;
    read_page(&mut given, &mut link, notices);
    read_unknown(given, &mut link, notices);
    link
}

/// What no clamp can mend: an impossible world becomes the unedited one, an algorithm that does not suit another one.
/// `names_algo`: the link asks for that algorithm, so that another one is another experiment.
fn settle(spec: &mut ExperimentSpec, names_algo: bool, notices: &mut Vec<Sentence>) {
    if let Err(reason) = world::build(spec) {
        notices.push(reason);
        notices.push(Sentence::new("notice.world_unedited", &["world"]));
        if spec.env == EnvChoice::Pellet {
            spec.pellet.map = None;
        }
        notices.extend(normalise(spec));
    }
    let refused = spec.algo.info().name;
    if let Some(reason) = suit_algo(spec) {
        let instead = spec.algo.info().name;
        // An algorithm that could not be read is nobody's wish: only what is used in its place changes.
        let misread = notices.iter_mut().find(|said| said.id == "notice.unreadable" && said.args[0] == "algo");
        if let Some(used) = misread.and_then(|said| said.args.last_mut()) {
            spec.algo.info().id.clone_into(used);
        } else if names_algo {
            notices.extend([reason, Sentence::new("notice.algo_instead", &["algo", instead])]);
        } else {
            notices.push(Sentence::new("notice.algo_chosen", &["algo", instead, refused]));
        }
        notices.extend(normalise(spec));
    }
}

fn read_version(given: &mut Given, notices: &mut Vec<Sentence>) {
    let Some(value) = given.take("v") else { return };
    match value.trim().parse::<u32>() {
        Ok(VERSION) => {}
        Ok(version) if version > VERSION => {
            notices.push(Sentence::new("notice.newer_version", &["v", &quoted(&value), &VERSION.to_string()]));
        }
        _ => {
            let ours = VERSION.to_string();
            notices.push(Sentence::new("notice.unreadable", &["v", &quoted(&value), &ours, &ours]));
        }
    }
}

fn read_world(given: &mut Given, spec: &mut ExperimentSpec, notices: &mut Vec<Sentence>) {
    let Some(value) = given.take("world") else { return };
    let id = match unpack(value.trim(), spec) {
        Unpacked::Done => return,
        Unpacked::OtherWorld => "notice.world_other",
        Unpacked::Newer => "notice.world_newer",
        Unpacked::Broken => "notice.world_broken",
    };
    notices.push(Sentence::new(id, &["world", &quoted(&value)]));
}

/// The keys that are about the page.
fn read_page(given: &mut Given, link: &mut Link, notices: &mut Vec<Sentence>) {
    if let Some(value) = given.take("step") {
        let reading = knobs::read_whole_number(&value, 0, MAX_STEP);
        let (step, id) = match reading {
            Ok(step) => (step, None),
            Err(Some(step)) => (step, Some("notice.clamped")),
            Err(None) => (0, Some("notice.unreadable")),
        };
        link.step = step;
        let allowed = format!("0 … {MAX_STEP}");
        notices.extend(id.map(|id| Sentence::new(id, &["step", &quoted(&value), &allowed, &step.to_string()])));
    }
    if let Some(value) = given.take("view") {
        let is_id = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
        let value = value.trim().to_ascii_lowercase();
        if (1..=32).contains(&value.len()) && value.chars().all(is_id) {
            link.view = Some(value);
        } else {
            notices.push(Sentence::new("notice.unreadable", &["view", &quoted(&value), "a-z 0-9 _ -", "returns"]));
        }
    }
    if let Some(value) = given.take("lang") {
        match value.trim().to_ascii_lowercase().as_str() {
            lang @ ("en" | "zh") => link.lang = Some(lang.to_owned()),
            lang => notices.push(Sentence::new("notice.lang", &["lang", &quoted(lang), "en | zh"])),
        }
    }
}

fn read_unknown(given: Given, link: &mut Link, notices: &mut Vec<Sentence>) {
    for (key, value) in given.pairs {
        let fits = value.chars().count() <= MAX_UNKNOWN_VALUE && key.chars().count() <= MAX_UNKNOWN_VALUE;
        let id = if fits && link.unknown.len() < MAX_UNKNOWN { "notice.unknown_key" } else { "notice.unknown_dropped" };
        notices.push(Sentence::new(id, &[&quoted(&key), &quoted(&value)]));
        if id == "notice.unknown_key" {
            link.unknown.push((key, value));
        }
    }
}

/// The pairs of a text that nobody has taken yet.
struct Given {
    pairs: Vec<(String, String)>,
}

impl Given {
    /// Splits and decodes. Of a key given twice the last holds.
    fn of(text: &str, notices: &mut Vec<Sentence>) -> Self {
        let mut pieces: Vec<&str> = fragment(text).split('&').filter(|piece| !piece.trim().is_empty()).collect();
        if pieces.len() > MAX_PAIRS {
            notices.push(Sentence::new("notice.too_many_keys", &[&pieces.len().to_string(), &MAX_PAIRS.to_string()]));
            pieces.truncate(MAX_PAIRS);
        }
        let pair = |piece: &str| -> (String, String) {
            let (key, value) = piece.split_once('=').unwrap_or((piece, ""));
            // An address copied out of HTML source separates by `&amp;`.
            let key = percent_decoded(key.trim().trim_start_matches("amp;"));
            (key.trim().to_owned(), percent_decoded(value))
        };
        let mut pairs: Vec<(String, String)> = Vec::new();
        for (key, value) in pieces.into_iter().map(pair) {
            let key = known(&key.to_ascii_lowercase()).map_or(key, str::to_owned);
            match pairs.iter_mut().find(|(earlier, _)| *earlier == key) {
                Some((_, earlier)) => {
                    notices.push(Sentence::new("notice.twice", &[&quoted(&key), &quoted(earlier), &quoted(&value)]));
                    *earlier = value;
                }
                None => pairs.push((key, value)),
            }
        }
        Self { pairs }
    }

    /// The N of a particle world's reference, as a number of agents: adversary counts its good ones alone.
    fn take_n(&mut self, env: EnvChoice) -> Option<String> {
        let given = self.take("n")?;
        let counts_good = env == EnvChoice::Particles(Scenario::Adversary);
        let all =
            given.trim().parse::<u32>().ok().filter(|_| counts_good).map(|good| good.saturating_add(1).to_string());
        Some(all.unwrap_or(given))
    }

    fn take(&mut self, key: &str) -> Option<String> {
        let at = self.pairs.iter().position(|(given, _)| given == key)?;
        Some(self.pairs.remove(at).1)
    }
}

/// The key of a link that `key` is, or is another name of; `n` is read by [`Given::take_n`].
fn known(key: &str) -> Option<&'static str> {
    let of_page = ["v", "world", "step", "view", "lang", "n"].into_iter().find(|&known| known == key);
    of_page.or_else(|| knobs::knob(key).map(|knob| knob.key))
}

fn quoted(text: &str) -> String {
    knobs::shortened(text)
}

/// `%41` → `A`; what is no such sign stays as it is.
fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = |hex: &[u8]| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok();
        match bytes.get(at + 1..at + 3).and_then(code) {
            Some(byte) if bytes[at] == b'%' && bytes[at + 1] != b'+' => {
                out.push(byte);
                at += 3;
            }
            _ => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Everything but the signs that no program changes in an address.
fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b',') {
            out.push(char::from(byte));
        } else {
            out.extend(["%", &format!("{byte:02X}")]);
        }
    }
    out
}
