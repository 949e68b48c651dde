//! The search itself: reads many hostile links, opens some of them, keeps count, and writes down whatever panics or
//! takes too much memory, so that it is tried first from then on (`found.jsonl`, one JSON string a line).

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, Once};

use tandem_core::experiment::link::{Link, parse, write};
use tandem_core::experiment::spec::EnvChoice;

use crate::hostile::{Dice, Hostile};
use crate::meter::{MOST, largest};
use crate::open::open;

/// The link being tried, for the panic hook.
static TRIED: Mutex<String> = Mutex::new(String::new());

/// A duration and the link that took it.
#[derive(Clone, Debug, Default)]
struct Slowest {
    seconds: f64,
    link: String,
}

impl Slowest {
    fn take(&mut self, seconds: f64, link: &str) {
        if seconds > self.seconds {
            *self = Self { seconds, link: link.to_owned() };
        }
    }
}

/// What kinds of links were read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) plain: u32,
    pub(crate) with_notices: u32,
    pub(crate) envs: Vec<u32>,
    pub(crate) algos: Vec<u32>,
}

/// A search and its record.
pub(crate) struct Search {
    dice: Dice,
    hostile: Hostile,
    pub(crate) seen: Seen,
    slowest_parse: Slowest,
    slowest_open: Slowest,
}

impl Search {
    /// A search whose links are drawn by `seed`. From now on a panic writes its link down.
    pub(crate) fn new(seed: u64) -> Self {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let earlier = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                if let Ok(link) = TRIED.try_lock()
                    && !link.is_empty()
                {
                    write_down(&link);
                }
                earlier(info);
            }));
        });
        Self {
            dice: Dice::new(seed),
            hostile: Hostile::new(),
            seen: Seen::default(),
            slowest_parse: Slowest::default(),
            slowest_open: Slowest::default(),
        }
    }

    /// Reads `links` links and opens `opens` of them, evenly drawn. `clock` gives seconds; `tell` hears how many were
    /// read, now and then.
    pub(crate) fn run(&mut self, links: u32, opens: u32, clock: &mut dyn FnMut() -> f64, tell: &mut dyn FnMut(u32)) {
        let mut left = opens;
        for k in 0..links {
            let text = self.hostile.link(&mut self.dice);
            let link = self.parse(&text, clock);
            // Knuth's selection sampling: each with probability left / rest, so that exactly `opens` are chosen.
            if self.dice.below(links - k) < left {
                left -= 1;
                self.open(&text, link, clock);
            }
            if k % 10_000 == 9_999 {
                tell(k + 1);
            }
        }
    }

    /// Reads and opens one link.
    pub(crate) fn both(&mut self, text: &str, clock: &mut dyn FnMut() -> f64) {
        let link = self.parse(text, clock);
        self.open(text, link, clock);
    }

    /// What took longest and most, for a person.
    pub(crate) fn report(&self) -> String {
        let line = |name: &str, Slowest { seconds, link }: &Slowest| {
            let shown: String = link.chars().take(400).collect();
            format!("slowest {name} {:.1} ms: {shown}\n", seconds * 1e3)
        };
        let memory = format!("largest allocation {:.1} MB\n", largest() as f64 / f64::from(1 << 20));
        let Seen { plain, with_notices, envs, algos } = &self.seen;
        let kinds = format!("{plain} without a notice, {with_notices} with; worlds {envs:?}, algorithms {algos:?}");
        line("parse", &self.slowest_parse) + &line("open", &self.slowest_open) + &memory + &kinds
    }

    fn parse(&mut self, text: &str, clock: &mut dyn FnMut() -> f64) -> Link {
        trying(text);
        let start = clock();
        let link = parse(text);
        self.slowest_parse.take(clock() - start, text);
        let seen = &mut self.seen;
        let of_its_kind = if link.notices.is_empty() { &mut seen.plain } else { &mut seen.with_notices };
        *of_its_kind += 1;
        let env = EnvChoice::ALL.iter().position(|&env| env == link.spec.env).expect("the list has every world");
        count(&mut seen.envs, env);
        count(&mut seen.algos, link.spec.algo as usize);
        assert_small();
        trying("");
        link
    }

    fn open(&mut self, text: &str, link: Link, clock: &mut dyn FnMut() -> f64) {
        trying(text);
        let again = parse(&write(&link));
        assert_eq!(again.spec, link.spec, "what is shared is what was opened");
        let start = clock();
        open(link.spec, &mut Dice::of(text));
        self.slowest_open.take(clock() - start, text);
        assert_small();
        trying("");
    }
}

/// # Panics
/// Where an allocation was larger than a browser may be asked for.
pub(crate) fn assert_small() {
    let most = largest();
    assert!(most <= MOST, "an allocation of {} MB", most >> 20);
}

fn trying(text: &str) {
    let mut tried = TRIED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    text.clone_into(&mut tried);
}

fn count(counts: &mut Vec<u32>, at: usize) {
    counts.resize(counts.len().max(at + 1), 0);
    counts[at] += 1;
}

fn file() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz/found.jsonl"))
}

/// Every link that was found so far.
pub(crate) fn found() -> Vec<String> {
    let text = std::fs::read_to_string(file()).expect("the file is in the repository");
    text.lines().map(|line| serde_json::from_str(line).expect("a line is a JSON string")).collect()
}

fn write_down(link: &str) {
    let line = serde_json::to_string(link).unwrap_or_default();
    let known = std::fs::read_to_string(file()).unwrap_or_default();
    if known.lines().all(|known| known != line)
        && let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(file())
    {
        let _ = writeln!(file, "{line}");
        eprintln!("written to tests/fuzz/found.jsonl: {line}");
    }
}
