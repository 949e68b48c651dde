//! `cargo xtask bench`: how fast Tandem does the works of docs/PERFORMANCE.md, natively and in Chromium, and with
//! `--peers` how fast others do them.
//!
//! What is compared is measured in turn, one work after the other, round after round, so that whatever the machine does
//! meanwhile meets everybody; a ratio is taken within a round. Whoever cannot be installed or run is named with the
//! reason and the others go on. A rate counts only where the numbers came out right.

mod contest;
mod document;
mod install;
mod line;
mod machine;
mod runner;
mod score;

use anyhow::{bail, ensure};

use self::contest::{CONTESTANTS, Contestant, Program, WORKS, Work};
use self::machine::Machine;
use self::runner::Runner;
use self::score::Score;
use crate::args::Args;

/// Cores that others may use while something is measured.
const IDLE: f64 = 0.25;

/// `cargo xtask bench [WORK…] [--rounds N] [--peers] [--busy]`.
pub(crate) fn bench(mut args: Args) -> anyhow::Result<()> {
    let rounds: usize = args.value("--rounds")?.unwrap_or(3);
    let (peers, busy) = (args.flag("--peers"), args.flag("--busy"));
    let wanted = args.words();
    args.finish()?;
    ensure!(rounds > 0, "`--rounds` cannot be 0: nothing would be measured");
    let works = works(&wanted)?;

    let runner = Runner::new(peers)?;
    let mut machine = Machine::look(runner.browser());
    if machine.busy() > IDLE && !busy {
        bail!(
            "other programs use {:.1} cores of this machine, so rates would say little; wait until they have ended, \
             or measure all the same with `--busy`",
            machine.busy()
        );
    }
    let mut scores = entries(&works, peers);
    for round in 1..=rounds {
        for work in &works {
            machine.look_again();
            for score in scores.iter_mut().filter(|score| score.work.id == work.id && score.failure.is_none()) {
                let name = format!("round {round}, {}, {}, {}", work.id, score.by.name, score.by.place.name());
                match runner.measure(score.by, score.work) {
                    Ok(line) => {
                        println!("  {name}: {} {}", score::readable(line.rate), line.unit);
                        score.add(line);
                    }
                    Err(error) => {
                        println!("  {name}: failed, {error:#}");
                        score.failure = Some(format!("{error:#}"));
                    }
                }
            }
        }
    }

    let tables = document::tables(&scores, rounds, &machine)?;
    println!("\n{tables}");
    for score in scores.iter().filter(|score| matches!(score.by.program, Program::Tandem)) {
        if let Some(failure) = &score.failure {
            bail!("{} could not be measured: {failure}", score.work.id);
        }
    }
    if peers && works.len() == WORKS.len() {
        document::write(&tables)?;
    }
    Ok(())
}

/// The works of these names, or all.
fn works(wanted: &[String]) -> anyhow::Result<Vec<&'static Work>> {
    for name in wanted {
        let is_known = WORKS.iter().any(|work| work.id.eq_ignore_ascii_case(name));
        ensure!(is_known, "there is no work `{name}`; the works are {}", WORKS.map(|work| work.id).join(", "));
    }
    let is_wanted = |work: &&Work| wanted.is_empty() || wanted.iter().any(|name| work.id.eq_ignore_ascii_case(name));
    Ok(WORKS.iter().filter(is_wanted).collect())
}

/// Everybody with each work that they do, nothing measured yet.
fn entries(works: &[&'static Work], peers: bool) -> Vec<Score> {
    let takes_part = |by: &&Contestant| peers || matches!(by.program, Program::Tandem);
    let does = |by: &'static Contestant| works.iter().filter(|work| by.works.contains(&work.id));
    CONTESTANTS.iter().filter(takes_part).flat_map(|by| does(by).map(|work| Score::new(by, work))).collect()
}
