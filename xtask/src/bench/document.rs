//! The tables of docs/PERFORMANCE.md, as Markdown, between two marks; what stands around them is written by hand.

use std::fmt::Write as _;
use std::fs;

use anyhow::Context as _;

use super::IDLE;
use super::contest::{Program, TARGETS};
use super::install;
use super::machine::{Machine, today_and_commit};
use super::score::{Score, Spread, place, ratio, readable};
use crate::toolchain::root;

const BEGIN: &str = "<!-- Written by `cargo xtask bench --peers`. Do not edit. -->";
const END: &str = "<!-- End of what is written. -->";

/// Where it was measured, ratios against targets, rates, and who could not be measured.
pub(super) fn tables(scores: &[Score], rounds: usize, machine: &Machine) -> anyhow::Result<String> {
    let (today, commit) = today_and_commit()?;
    let Machine { processor, cores, system, browser, .. } = machine;
    let mut text = format!(
        "Measured on {today} at {commit}, rounds: {rounds}, on {processor} ({cores} cores, {system}); {browser}"
    );
    if scores.iter().any(|score| matches!(score.by.program, Program::Peer { .. })) {
        write!(text, "; peers: {}", versions()?)?;
    }
    writeln!(text, ".")?;
    if machine.busy() > IDLE {
        writeln!(text, "The machine was not idle: other programs used up to {:.1} cores.", machine.busy())?;
    }
    text += &targets(scores);
    text += &rates(scores);
    text += &failures(scores);
    Ok(text)
}

/// Replaces what stands between the marks.
pub(super) fn write(tables: &str) -> anyhow::Result<()> {
    let path = root().join("docs/PERFORMANCE.md");
    let document = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    fs::write(&path, replaced(&document, tables)?)?;
    println!("· written to docs/PERFORMANCE.md");
    Ok(())
}

fn replaced(document: &str, tables: &str) -> anyhow::Result<String> {
    let parts = document.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) =
        parts.with_context(|| format!("docs/PERFORMANCE.md lacks the marks `{BEGIN}` and `{END}`"))?;
    Ok(format!("{before}{BEGIN}\n\n{}\n\n{END}{after}", tables.trim()))
}

fn targets(scores: &[Score]) -> String {
    let mut text = String::new();
    for target in &TARGETS {
        let Some(Spread { median, low, high }) = ratio(scores, target) else { continue };
        let reached = if median >= target.at_least { "yes" } else { "no" };
        let row = [
            target.work.to_owned(),
            target.place.name().to_owned(),
            format!("{}, {}", target.peer, place(target).map_or("", super::contest::Place::name)),
            format!("{} ({} to {})", readable(median), readable(low), readable(high)),
            format!("≥ {}", target.at_least),
            reached.to_owned(),
        ];
        text += &row_of(&row);
    }
    titled(
        "Tandem's rate as a multiple of a peer's: median over the rounds and their range.",
        &["work", "Tandem", "peer", "ratio", "target", "reached"],
        &text,
    )
}

fn rates(scores: &[Score]) -> String {
    let mut text = String::new();
    let mut sorted: Vec<&Score> = scores.iter().collect();
    sorted.sort_by_key(|score| score.work.id);
    for score in sorted {
        let Some(Spread { median, low, high }) = Spread::of(score.rates.clone()) else { continue };
        let row = [
            format!("{}, {}", score.work.id, score.work.about),
            score.by.name.to_owned(),
            score.by.place.name().to_owned(),
            format!("{} {}", readable(median), score.unit),
            format!("{} to {}", readable(low), readable(high)),
        ];
        text += &row_of(&row);
    }
    titled("Rates: median over the rounds and their range.", &["work", "by", "where", "rate", "range"], &text)
}

fn failures(scores: &[Score]) -> String {
    let failed = scores.iter().filter_map(|score| Some((score, score.failure.as_ref()?)));
    failed.fold(String::new(), |text, (score, reason)| {
        text + &format!(
            "\nNot measured: {} at {} ({}): {reason}.\n",
            score.by.name,
            score.work.id,
            score.by.place.name()
        )
    })
}

/// Versions as they are pinned.
fn versions() -> anyhow::Result<String> {
    let native = fs::read_to_string(install::folder().join("requirements.txt"))?;
    let mut all: Vec<String> =
        native.lines().filter(|line| !line.starts_with('#')).map(|line| line.replace("==", " ")).collect();
    let web: serde_json::Value = serde_json::from_slice(&fs::read(install::folder().join("web/package.json"))?)?;
    let packages = web["dependencies"].as_object().context("xtask/peers/web/package.json names dependencies")?;
    all.extend(packages.iter().map(|(name, version)| format!("{name} {}", version.as_str().unwrap_or_default())));
    Ok(all.join(", "))
}

fn titled(title: &str, columns: &[&str], rows: &str) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let columns: Vec<String> = columns.iter().map(|&column| column.to_owned()).collect();
    let line = vec!["---".to_owned(); columns.len()];
    format!("\n{title}\n\n{}{}{rows}", row_of(&columns), row_of(&line))
}

fn row_of(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::super::contest::{CONTESTANTS, WORKS};
    use super::super::score::Score;
    use super::{BEGIN, END, failures, rates, replaced, targets};

    fn score(index: usize, rates: &[f64]) -> Score {
        let mut score = Score::new(&CONTESTANTS[index], &WORKS[0]);
        score.rates = rates.to_vec();
        "updates/s".clone_into(&mut score.unit);
        score
    }

    #[test]
    fn a_target_is_reached_by_the_median() {
        let scores = [score(0, &[100.0, 130.0, 120.0]), score(1, &[100.0, 100.0, 100.0])];
        let table = targets(&scores);
        assert!(table.contains("| W1 | native | PyTorch, native | 1.20 (1.00 to 1.30) | ≥ 1.2 | yes |"), "{table}");
        let slower = [score(0, &[100.0, 130.0, 119.0]), score(1, &[100.0, 100.0, 100.0])];
        assert!(targets(&slower).contains("| ≥ 1.2 | no |"));
        assert_eq!(targets(&scores[..1]), "", "there is nobody to compare with");
    }

    #[test]
    fn everybody_has_a_rate_or_a_reason() {
        let mut failed = score(1, &[]);
        failed.failure = Some("pip could not install it".to_owned());
        let scores = [score(0, &[100.0, 130.0, 120.0]), failed];
        let table = rates(&scores);
        assert!(table.contains("| W1, QMIX update | Tandem | native | 120 updates/s | 100 to 130 |"), "{table}");
        assert!(!table.contains("PyTorch"));
        assert_eq!(failures(&scores), "\nNot measured: PyTorch at W1 (native): pip could not install it.\n");
    }

    #[test]
    fn only_what_is_between_the_marks_is_replaced() {
        let document = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        let new = replaced(&document, "new\n").expect("both marks are there");
        assert_eq!(new, format!("before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"));
        assert_eq!(replaced(&new, "new").expect("both marks are there"), new);
        assert!(replaced("no marks", "new").is_err());
    }
}
