//! Links a person would not write: grammar-aware mutations of the corpus, the menu's experiments and the knob table,
//! packed worlds that lie about themselves, and raw noise.

use tandem_core::base::rng::{Stream, below};
use tandem_core::env::script::SCRIPTS;
use tandem_core::experiment::knobs::{self, KNOBS, Kind, Knob};
use tandem_core::experiment::link::parse;
use tandem_core::experiment::pack::pack;
use tandem_core::experiment::presets::presets;
use tandem_core::experiment::spec::{
    CellKind, Controller, EnvChoice, ExperimentSpec, GameChoice, GridMap, Payoffs, Seats,
};

/// Who plays: words that are allowed somewhere, and words that are not.
const SEATS: [&str; 12] = [
    "learner",
    "learner.b",
    "learner.h",
    "learner.z",
    "frozen",
    "human",
    "human.idle",
    "uniform",
    "idle",
    "independent",
    "qmix_style",
    "nobody",
];

/// Values that programs trip over.
const ODD: [&str; 36] = [
    "",
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "8",
    "16",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "1e9",
    "1e38",
    "-1e38",
    "3.4028236e38",
    "1e-45",
    "1e999",
    "-1e999",
    "18446744073709551616",
    "99999999999999999999999999999999999999999",
    "0.5",
    "0,5",
    "1_000",
    "nan",
    "inf",
    "-inf",
    "∞",
    "１２",
    "on",
    "off",
    "4x4",
    "16x16",
    "0x0",
    "x",
    "%00",
];

/// What decides which other keys mean something.
const CHOICES: [&str; 4] = ["algo", "algo", "env", "adv"];

/// Draws one after another.
pub(crate) struct Dice {
    stream: Stream,
    count: [u32; 2],
}

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self { stream: Stream::new(seed, "fuzz"), count: [0; 2] }
    }

    /// Draws that belong to a text, so that a text that was found does again what it did.
    pub(crate) fn of(text: &str) -> Self {
        // FNV-1a.
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self::new(text.bytes().fold(0xcbf2_9ce4_8422_2325, mix))
    }

    fn word(&mut self) -> u32 {
        let (low, carry) = self.count[0].overflowing_add(1);
        self.count = [low, self.count[1] + u32::from(carry)];
        self.stream.words([low, self.count[1], 0, 0])[0]
    }

    /// Below `n`, which is at least 1.
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        match self.word() {
            word if n <= 1 << 16 => below(word, n),
            word => ((u64::from(word) * u64::from(n)) >> 32) as u32,
        }
    }

    /// A small number, a large one, or one at an edge.
    pub(crate) fn number(&mut self) -> u32 {
        match self.below(4) {
            0 => self.below(10),
            1 => u32::MAX - self.below(3),
            2 => 1 << self.below(32),
            _ => self.word(),
        }
    }

    pub(crate) fn coin(&mut self) -> bool {
        self.word() & 1 == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u32) as usize]
    }

    fn float(&mut self) -> f32 {
        match self.below(3) {
            0 => f32::from_bits(self.word()),
            1 => *self.pick(&[f32::NAN, f32::INFINITY, f32::MAX, 0.0, -0.0, 1e3, -1e3]),
            _ => self.below(2_001) as f32 - 1e3,
        }
    }
}

/// Where mutations begin.
pub(crate) struct Hostile {
    links: Vec<Vec<(String, String)>>,
}

impl Hostile {
    pub(crate) fn new() -> Self {
        let corpus = include_str!("../links_corpus.txt");
        let is_link = |line: &&str| !line.is_empty() && !["# ", "=", "!"].iter().any(|mark| line.starts_with(mark));
        let known = corpus.lines().filter(is_link).map(pairs);
        let menu = presets().iter().map(|preset| pairs(&preset.link));
        Self { links: known.chain(menu).collect() }
    }

    /// The next link.
    pub(crate) fn link(&self, dice: &mut Dice) -> String {
        if dice.below(10) == 0 {
            return noise(dice);
        }
        let mut pairs = match dice.below(3) {
            0 => from_table(dice),
            _ => dice.pick(&self.links).clone(),
        };
        for _ in 0..dice.below(6) {
            mutate(&mut pairs, dice);
        }
        if dice.below(3) == 0 {
            let key = *dice.pick(&CHOICES);
            let knob = knobs::knob(key).expect("they are keys");
            pairs.push((knob.key.to_owned(), value(knob, dice)));
        }
        if dice.below(6) == 0 {
            pairs.push(("world".to_owned(), world(&joined(&pairs), dice)));
        }
        let mut text = joined(&pairs);
        if dice.below(8) == 0 {
            scratch(&mut text, dice);
        }
        if dice.below(2_000) == 0 {
            text = text.repeat(1 + dice.below(400) as usize);
        }
        text
    }
}

fn pairs(link: &str) -> Vec<(String, String)> {
    let pieces = link.trim_start_matches('#').split('&');
    pieces.map(|piece| piece.split_once('=').unwrap_or((piece, ""))).map(|(k, v)| (k.into(), v.into())).collect()
}

fn joined(pairs: &[(String, String)]) -> String {
    let pieces: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
    format!("#{}", pieces.join("&"))
}

/// A few knobs at values of their own kind, mostly allowed ones, often at the ends of their range.
fn from_table(dice: &mut Dice) -> Vec<(String, String)> {
    (0..=dice.below(12))
        .map(|_| {
            let knob = dice.pick(&KNOBS);
            (knob.key.to_owned(), value(knob, dice))
        })
        .collect()
}

fn value(knob: &Knob, dice: &mut Dice) -> String {
    if dice.below(4) == 0 {
        return (*dice.pick(&ODD)).to_owned();
    }
    match knob.kind {
        Kind::Int { min, max, .. } | Kind::OptionalInt { min, max, .. } => {
            let between = min + dice.below(max - min + 1);
            dice.pick(&[min, max, min.wrapping_sub(1), max.wrapping_add(1), between, between]).to_string()
        }
        Kind::Float { min, max, .. } => {
            let between = min + (max - min) * (dice.word() as f32 / u32::MAX as f32);
            dice.pick(&[min, max, min - 1.0, max * 2.0, between, between]).to_string()
        }
        Kind::Choice { ids, .. } => (*dice.pick(ids)).to_owned(),
        Kind::Bool { .. } => (*dice.pick(&["on", "off"])).to_owned(),
        Kind::Size { min, max, .. } => {
            let side = |dice: &mut Dice| dice.pick(&[min, max, max + 1, 0]).to_string();
            format!("{}x{}", side(dice), side(dice))
        }
        Kind::Seed { .. } => u64::from(dice.word()).pow(2).to_string(),
        Kind::Seats { .. } => {
            let words: Vec<&str> = (0..=dice.below(9)).map(|_| *dice.pick(&SEATS)).collect();
            words.join(",")
        }
    }
}

fn mutate(pairs: &mut Vec<(String, String)>, dice: &mut Dice) {
    if pairs.is_empty() {
        return pairs.extend(from_table(dice));
    }
    let (i, j) = (dice.below(pairs.len() as u32) as usize, dice.below(pairs.len() as u32) as usize);
    match dice.below(9) {
        0 => pairs.extend(from_table(dice).into_iter().take(1)),
        1 => pairs.push(pairs[i].clone()),
        2 => {
            let value = pairs[i].1.clone();
            pairs[i].1 = std::mem::replace(&mut pairs[j].1, value);
        }
        3 => {
            pairs.remove(i);
        }
        4 => pairs[i].1 = (*dice.pick(&ODD)).to_owned(),
        5 => pairs[i].0 = dice.pick(&KNOBS).key.to_owned(),
        6 => {
            let keep = dice.below(pairs[i].1.len() as u32 + 1) as usize;
            let end = pairs[i].1.floor_char_boundary(keep);
            pairs[i].1.truncate(end);
        }
        7 => {
            let more = pairs[i].1.clone();
            pairs[i].1.push_str(&more);
        }
        _ => match KNOBS.iter().find(|knob| knob.key == pairs[i].0) {
            Some(knob) => pairs[i].1 = value(knob, dice),
            None => scratch(&mut pairs[i].1, dice),
        },
    }
}

/// A spec as no link and no page would send it: numbers out of every range, a world that lies about itself.
pub(crate) fn unjudged(spec: &ExperimentSpec, dice: &mut Dice) -> ExperimentSpec {
    let mut spec = spec.clone();
    for knob in &KNOBS {
        match knob.kind {
            _ if dice.below(4) > 0 => {}
            Kind::Int { set, .. } => set(&mut spec, dice.number()),
            Kind::Float { set, .. } => set(&mut spec, dice.float()),
            Kind::Choice { ids, set, .. } => {
                let id = *dice.pick(ids);
                set(&mut spec, id);
            }
            Kind::Bool { set, .. } => set(&mut spec, dice.coin()),
            Kind::Size { set, .. } => set(&mut spec, (dice.number(), dice.number())),
            Kind::OptionalInt { set, .. } => set(&mut spec, dice.coin().then(|| dice.number())),
            Kind::Seats { set, .. } => {
                set(&mut spec, Seats { list: (0..dice.below(12)).map(|_| controller(dice)).collect() });
            }
            Kind::Seed { set, .. } => set(&mut spec, u64::from(dice.word())),
        }
    }
    if dice.coin() {
        odd_world(&mut spec, dice);
    }
    spec
}

/// Anybody.
pub(crate) fn controller(dice: &mut Dice) -> Controller {
    match dice.below(5) {
        0 => Controller::Learner(dice.below(256) as u8),
        1 => Controller::Learner(dice.below(3) as u8),
        2 => Controller::Frozen,
        3 => Controller::Scripted(dice.pick(&SCRIPTS).script),
        _ => Controller::Human(dice.pick(&SCRIPTS).script),
    }
}

/// A packed world that need not suit the experiment, nor be possible, nor whole.
fn world(link: &str, dice: &mut Dice) -> String {
    let mut spec = parse(link).spec;
    if dice.coin() {
        spec = ExperimentSpec::defaults(*dice.pick(&EnvChoice::ALL), spec.algo);
    }
    odd_world(&mut spec, dice);
    let mut text = pack(&spec).unwrap_or_default();
    if dice.below(3) == 0 {
        scratch(&mut text, dice);
    }
    text
}

/// An edited world that need not be possible.
fn odd_world(spec: &mut ExperimentSpec, dice: &mut Dice) {
    match spec.env {
        EnvChoice::Pellet => {
            let exact = spec.pellet.width.wrapping_mul(spec.pellet.height) % 1024;
            let count = if dice.coin() { exact } else { dice.below(300) };
            let kinds = [CellKind::Free, CellKind::Free, CellKind::Wall, CellKind::NoPellet];
            let cells = (0..count).map(|_| *dice.pick(&kinds)).collect();
            let starts =
                (0..dice.below(12)).map(|_| if dice.coin() { dice.below(16) } else { dice.number() }).collect();
            spec.pellet.map = Some(GridMap { cells, starts });
        }
        EnvChoice::Matrix => {
            let (rows, columns) = (dice.below(8), dice.below(8));
            let count = if dice.coin() { rows * columns } else { dice.below(64) };
            let (rows, columns) = if dice.below(4) == 0 { (dice.number(), dice.number()) } else { (rows, columns) };
            let cells = (0..count).map(|_| (dice.float(), dice.float())).collect();
            spec.matrix.game = GameChoice::Custom;
            spec.matrix.payoffs = Some(Payoffs { rows, columns, cells });
        }
        EnvChoice::TwoStep => {
            spec.two_step.a = std::array::from_fn(|_| dice.float());
            spec.two_step.b = std::array::from_fn(|_| dice.float());
        }
        EnvChoice::Foraging | EnvChoice::Pursuit | EnvChoice::Particles(_) | EnvChoice::Board(_) => {}
    }
}

/// Replaces, removes and inserts characters.
fn scratch(text: &mut String, dice: &mut Dice) {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=dice.below(4) {
        let at = dice.below(chars.len() as u32 + 1) as usize;
        match dice.below(4) {
            0 => chars.truncate(at),
            1 if at < chars.len() => {
                chars.remove(at);
            }
            2 if at < chars.len() => chars[at] = letter(dice),
            _ => chars.insert(at, letter(dice)),
        }
    }
    *text = chars.into_iter().collect();
}

fn letter(dice: &mut Dice) -> char {
    match dice.below(4) {
        0 => *dice.pick(&['&', '=', '#', '%', '+', ';', '\u{0}', '\n', ' ', '{', '0', '\u{202e}', '\u{feff}']),
        1 => char::from_u32(dice.below(0x11_0000)).unwrap_or('\u{fffd}'),
        _ => char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[dice.below(64) as usize]),
    }
}

/// Bytes that are no link, made into text as a browser would, or characters of all kinds around a little grammar.
fn noise(dice: &mut Dice) -> String {
    let length = 1 + dice.below(200);
    if dice.coin() {
        let bytes: Vec<u8> = (0..length).map(|_| dice.word() as u8).collect();
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    (0..length).map(|_| letter(dice)).collect()
}
