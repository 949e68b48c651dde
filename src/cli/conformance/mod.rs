//! `tandem conformance DIR`: trajectories of reference implementations, replayed by our rules.
//!
//! One line for each file, in order of names: `OK`, `FAIL` or `UNSUPPORTED`, the file, how many episodes were replayed,
//! the largest deviation of each quantity, then what failed first and which episodes were left out, with the reason.
//! A file that is not of the format is told of on stderr, and has a line only if it also fails.
//! Exit status: 1 if a file fails, 2 if one cannot be read, else 0.

mod boards;
mod check;
mod foraging;
mod format;
mod games;
mod params;
mod particles;
mod pursuit;
mod replay;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tandem_core::env::board::BoardSpec;
use tandem_core::env::particles::Scenario;
use tandem_core::experiment::snapshot::Sentence;

use self::check::{Check, Findings, Stop};
use self::format::{Document, Episode, Malformed};
use self::replay::{Subject, replay};
use super::Failure;
use super::args::Args;
use crate::platform::console::{Lines, tell};
use crate::view::text::Texts;

/// `tandem conformance`.
pub(super) fn conformance(mut args: Args, texts: Texts) -> Result<ExitCode, Failure> {
    let folder = args.word().ok_or_else(|| Sentence::new("conformance.no_folder", &[]))?;
    args.finish("DIR")?;
    let files = files(Path::new(&folder))?;
    let mut lines = Lines::stdout()?;
    let (mut fails, mut unreadable) = (false, false);
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let findings = judge(&file);
        fails |= findings.failure.is_some();
        unreadable |= findings.malformed.is_some();
        // Nothing is said for a file of which a part could not be read, but what fails fails.
        if findings.failure.is_some() || findings.malformed.is_none() {
            lines.write(&on_one_line(&line(&name, &findings, texts)))?;
        }
        if let Some(Malformed(what)) = &findings.malformed {
            tell(&on_one_line(&texts.f("conformance.unreadable", &[&name, what])));
        }
    }
    Ok(ExitCode::from(if unreadable { 2 } else { u8::from(fails) }))
}

/// The folder's JSON files in order of their names.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Sentence> {
    let said = |error: std::io::Error| {
        Sentence::new("conformance.no_such_folder", &[&folder.to_string_lossy(), &error.to_string()])
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(said)? {
        let path = entry.map_err(said)?.path();
        if path.extension().is_some_and(|ending| ending == "json") {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(Sentence::new("conformance.empty_folder", &[&folder.to_string_lossy()]));
    }
    files.sort();
    Ok(files)
}

fn judge(file: &Path) -> Findings {
    let mut findings = Findings::default();
    let text = std::fs::read_to_string(file).map_err(|error| Malformed(error.to_string()));
    let document = match text.and_then(|text| Document::read(&text)) {
        Ok(document) => document,
        Err(what) => return Findings { malformed: Some(what), ..findings },
    };
    for episode in &document.episodes {
        let mut check = Check { findings: &mut findings, episode: &episode.id, step: "reset".to_owned() };
        let result = subject(&document.env, episode).and_then(|subject| replay(&*subject, episode, &mut check));
        match result {
            Ok(()) => findings.replayed += 1,
            Err(Stop::Unsupported(reason)) => findings.unsupported.push((episode.id.clone(), reason)),
            Err(Stop::Failed(what)) => {
                findings.replayed += 1;
                findings.failure.get_or_insert(named(episode, what));
            }
            Err(Stop::Malformed(what)) => {
                findings.malformed.get_or_insert(what);
            }
        }
    }
    findings
}

/// The world that stands in for the reference's.
fn subject(env: &str, episode: &Episode) -> Result<Box<dyn Subject>, Stop> {
    if let Some(scenario) = Scenario::ALL.into_iter().find(|scenario| scenario.reference() == env) {
        return Ok(Box::new(particles::Plane::new(scenario, episode)?));
    }
    Ok(match env {
        "connect_four_v3" => Box::new(boards::Board::new(BoardSpec::ConnectFour, episode)?),
        "tictactoe_v3" => Box::new(boards::Board::new(BoardSpec::TicTacToe, episode)?),
        "level_based_foraging" => Box::new(foraging::Forage::new(episode)?),
        "pursuit_v4" | "pursuit_v5" => Box::new(pursuit::Hunt::new(episode)?),
        "matrix_games" => Box::new(games::Game::new(episode)?),
        other => return Err(Stop::Unsupported(Sentence::new("conformance.unknown_env", &[other]))),
    })
}

/// What our rules object to in a start does not say in which episode.
fn named(episode: &Episode, what: Sentence) -> Sentence {
    let says_where = what.args.first().is_some_and(|first| *first == episode.id);
    if says_where {
        return what;
    }
    let args = [vec![episode.id.clone(), what.id], what.args].concat();
    Sentence { id: "conformance.refused".to_owned(), args }
}

fn line(name: &str, findings: &Findings, texts: Texts) -> String {
    let verdict = match (&findings.failure, findings.replayed) {
        (Some(_), _) => "FAIL",
        (None, 0) if !findings.unsupported.is_empty() => "UNSUPPORTED",
        (None, _) => "OK",
    };
    let mut line = format!("{verdict} {name}");
    let mut add = |text: &str| write!(line, "  {text}").expect("strings grow");
    add(&texts.plural("conformance.episodes", findings.replayed, &[&findings.replayed.to_string()]));
    for (quantity, deviation) in &findings.deviations {
        add(&format!("{quantity} {}", if *deviation == 0.0 { "0".to_owned() } else { format!("{deviation:.1e}") }));
    }
    if let Some(failure) = &findings.failure {
        add(&said(failure, texts));
    }
    let mut told: Vec<(String, Vec<&str>)> = Vec::new();
    for (episode, reason) in &findings.unsupported {
        let reason = texts.sentence(reason);
        match told.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, episodes)) => episodes.push(episode),
            None => told.push((reason, vec![episode])),
        }
    }
    for (reason, episodes) in told {
        add(&texts.f("conformance.left_out", &[&episodes.join(", "), &reason]));
    }
    line
}

/// What stands in a file may have line breaks and control characters; a verdict is one line.
fn on_one_line(text: &str) -> String {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if breaks(c) {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

/// A failure; an objection of the rules is a sentence inside a sentence.
fn said(failure: &Sentence, texts: Texts) -> String {
    match &failure.args[..] {
        [episode, id, args @ ..] if failure.id == "conformance.refused" => {
            let inner = texts.sentence(&Sentence { id: id.clone(), args: args.to_vec() });
            texts.f("conformance.refused", &[episode, &inner])
        }
        _ => texts.sentence(failure),
    }
}
