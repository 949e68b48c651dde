//! `tandem bench [WORK…] [--json]`: how fast the product's own kernels do a fixed work on this machine.
//!
//! One line a work. The exit status is 1 where a work's numbers are not what they should come to: a fast wrong answer is
//! no measurement.

use std::process::ExitCode;

use tandem_core::experiment::bench::{Measured, WORKS, measure};
use tandem_core::experiment::snapshot::Sentence;

use super::Failure;
use super::args::Args;
use crate::platform::console::{Lines, stopwatch};
use crate::view::text::Texts;

pub(super) fn bench(mut args: Args, texts: Texts) -> Result<ExitCode, Failure> {
    let json = args.flag("--json");
    let mut works = Vec::new();
    while let Some(word) = args.word() {
        let known = WORKS.iter().find(|work| work.id.eq_ignore_ascii_case(&word));
        let all: Vec<&str> = WORKS.iter().map(|work| work.id).collect();
        works.push(known.ok_or_else(|| Sentence::new("cli.no_work", &[&word, &all.join(" | ")]))?.id);
    }
    args.finish()?;
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
    let Measured { work, rate, unit, range, mean_return, expected, episodes, holds, .. } = measured;
    let verdict = texts.t(if *holds { "cli.bench.holds" } else { "cli.bench.off" });
    let millions = |rate: f64| format!("{:.2} M", rate / 1e6);
    texts.f(
        "cli.bench.line",
        &[
            work,
            &millions(*rate),
            unit,
            &millions(range.0),
            &millions(range.1),
            &format!("{mean_return:.3}"),
            &format!("{expected:.3}"),
            &episodes.to_string(),
            verdict,
        ],
    )
}
