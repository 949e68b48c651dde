//! `tandem bench [WORK…] [--json]`: how fast the product's own kernels do a fixed work on this machine.
//!
//! One line a work. The exit status is 1 where a work's numbers are not what they should come to: a fast wrong answer is
//! no measurement.

use std::process::ExitCode;

use tandem_core::experiment::bench::{Check, Measured, Quantity, WORKS, find, measure};
use tandem_core::experiment::snapshot::Sentence;

use super::Failure;
use super::args::Args;
use crate::platform::console::{Lines, stopwatch};
use crate::view::numbers;
use crate::view::text::Texts;

pub(super) fn bench(mut args: Args, texts: Texts) -> Result<ExitCode, Failure> {
    let json = args.flag("--json");
    let mut works = Vec::new();
    let all = WORKS.iter().map(|work| work.id).collect::<Vec<_>>().join(" | ");
    while let Some(word) = args.word() {
        works.push(find(&word).ok_or_else(|| Sentence::new("cli.no_work", &[&word, &all]))?.id);
    }
    args.finish(&format!("{all}, --json"))?;
    if works.is_empty() {
        works = WORKS.iter().map(|work| work.id).collect();
    }
    let mut lines = Lines::stdout()?;
    let mut holds = true;
    for work in works {
        let mut clock = stopwatch();
        let measured = measure(work, &mut clock);
        let Some(measured) = measured else { continue };
        holds &= measured.holds;
        let line =
            if json { serde_json::to_string(&measured).map_err(std::io::Error::from)? } else { told(texts, &measured) };
        lines.write(&line)?;
    }
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn told(texts: Texts, measured: &Measured) -> String {
    let Measured { work, rate, unit, range, checks, holds, .. } = measured;
    let checks: Vec<String> = checks.iter().map(|check| checked(texts, check)).collect();
    let verdict = texts.t(if *holds { "cli.bench.holds" } else { "cli.bench.off" });
    let [rate, slowest, fastest] = [*rate, range.0, range.1].map(numbers::speed);
    texts.f("cli.bench.line", &[work, &rate, unit, &slowest, &fastest, &checks.join(" · "), verdict])
}

fn checked(texts: Texts, check: &Check) -> String {
    let (id, decimals) = match check.name {
        Quantity::FirstLoss => ("cli.bench.first_loss", 6),
        Quantity::Loss16 => ("cli.bench.loss_16", 6),
        Quantity::Loss31 => ("cli.bench.loss_31", 6),
        Quantity::MeanReturn => ("cli.bench.mean_return", 3),
        Quantity::ReturnFirst => ("cli.bench.return_first", 2),
        Quantity::ReturnAfter => ("cli.bench.return_after", 2),
    };
    let [value, expected] = [check.value, check.expected].map(|number| numbers::decimals(number, decimals));
    texts.f("cli.bench.check", &[texts.t(id), &value, &expected])
}
