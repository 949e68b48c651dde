//! `fuzz LINKS OPENS SEED`: reads LINKS hostile links, opens OPENS of them, and says what took longest and what took
//! most memory. `fuzz --print COUNT SEED` prints links as JSON strings for other programs to try.
//!
//! `cargo xtask fuzz` calls it; what it finds is written to `tests/fuzz/found.jsonl`.

#[path = "../../tests/fuzz/hostile.rs"]
mod hostile;
#[path = "../../tests/fuzz/meter.rs"]
mod meter;
#[path = "../../tests/fuzz/open.rs"]
mod open;
#[path = "../../tests/fuzz/search.rs"]
mod search;

use std::process::ExitCode;
use std::time::Instant;

use hostile::{Dice, Hostile};
use search::{Search, assert_small, found};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let numbers = |words: &[String]| words.iter().map(|word| word.parse().ok()).collect::<Option<Vec<u64>>>();
    match words.split_first() {
        Some((first, rest)) if first == "--print" => {
            if let Some([count, seed]) = numbers(rest).as_deref() {
                print(*count, *seed);
                return ExitCode::SUCCESS;
            }
        }
        _ => {
            if let Some([links, opens, seed]) = numbers(&words).as_deref() {
                fuzz(*links as u32, *opens as u32, *seed);
                return ExitCode::SUCCESS;
            }
        }
    }
    eprintln!("usage: fuzz LINKS OPENS SEED, or fuzz --print COUNT SEED");
    ExitCode::FAILURE
}

fn print(count: u64, seed: u64) {
    let (hostile, mut dice) = (Hostile::new(), Dice::new(seed));
    for _ in 0..count {
        println!("{}", serde_json::Value::from(hostile.link(&mut dice)));
    }
}

#[expect(clippy::disallowed_methods, reason = "how long a link takes is reported and decides nothing")]
fn fuzz(links: u32, opens: u32, seed: u64) {
    let start = Instant::now();
    let mut clock = || start.elapsed().as_secs_f64();
    let mut search = Search::new(seed);
    for text in found() {
        search.both(&text, &mut clock);
    }
    search.run(links, opens, &mut clock, &mut |read| {
        eprintln!("  {read} links read, {:.0} s", start.elapsed().as_secs_f64());
    });
    assert_small();
    println!("{links} links read, {opens} of them opened for one update, seed {seed}: no panic");
    println!("{}", search.report());
}
