//! `learn`: runs the learning table and writes it down. `cargo xtask learn` calls it with where and what for.
//!
//!   learn --keep DIR --write FILE --code TEXT [--only NAME] [--again] [--engine cpu|gpu]
//!
//! A finished row is kept as a file in DIR together with the code it was run by, and not run again by the same code: an
//! interrupted table goes on where it was. A row that is not kept stays as FILE has it, with the code that ran it, unless
//! the experiment or what is asked of it has changed: then it is missing, and FILE is not written.

#[path = "../../tests/learning/measure.rs"]
mod measure;
mod report;
#[path = "../../tests/learning/table.rs"]
mod table;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use measure::measure;
use report::{Finished, Lines, line, report};
use table::{DEVICE, Row, rows};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

struct Wanted {
    keep: PathBuf,
    write: PathBuf,
    code: String,
    only: Option<String>,
    again: bool,
    /// Rows that a device trains, or the others.
    on_device: bool,
}

impl Wanted {
    fn read() -> Result<Self, Box<dyn Error>> {
        let (mut keep, mut write, mut code, mut only) = (None, None, None, None);
        let (mut again, mut on_device) = (false, false);
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--keep" => keep = words.next(),
                "--write" => write = words.next(),
                "--code" => code = words.next(),
                "--only" => only = words.next(),
                "--again" => again = true,
                "--engine" => on_device = words.next().as_deref() == Some("gpu"),
                other => return Err(format!("`{other}` is no option of the learning table").into()),
            }
        }
        Ok(Self {
            keep: keep.ok_or("--keep names the folder of finished rows")?.into(),
            write: write.ok_or("--write names the document")?.into(),
            code: code.ok_or("--code names the code the rows are run by")?,
            only,
            again,
            on_device,
        })
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let wanted = Wanted::read()?;
    let is_wanted = |row: &Row| {
        (row.section == DEVICE) == wanted.on_device && wanted.only.as_ref().is_none_or(|name| row.is_named(name))
    };
    let chosen: Vec<Row> = rows().into_iter().filter(is_wanted).collect();
    if chosen.is_empty() {
        let names: Vec<String> = rows().into_iter().map(|row| row.id).collect();
        return Err(format!("there is no such row; the rows are {}", names.join(", ")).into());
    }
    std::fs::create_dir_all(&wanted.keep)?;
    for row in &chosen {
        let kept = read(&wanted, row)?;
        match kept {
            Some(finished) if !wanted.again && finished.is_of(row, &wanted.code) => {
                println!("{} (kept)\n  {}", row.id, line(row, &finished));
            }
            _ => {
                println!("{}", row.id);
                let mut outcomes = Vec::new();
                for seed in 0..row.seeds {
                    let outcome = measure(row, seed);
                    let verdict = if outcome.holds { "" } else { ", does not hold" };
                    println!("  seed {seed}: {} after {} env steps{verdict}", outcome.last, outcome.env_steps);
                    outcomes.push(outcome);
                }
                let finished = Finished { code: wanted.code.clone(), link: row.link(), outcomes };
                std::fs::write(wanted.keep.join(format!("{}.json", row.id)), serde_json::to_string(&finished)?)?;
                println!("  {}", line(row, &finished));
            }
        }
    }
    write(&wanted)
}

fn read(wanted: &Wanted, row: &Row) -> Result<Option<Finished>, Box<dyn Error>> {
    match std::fs::read_to_string(wanted.keep.join(format!("{}.json", row.id))) {
        // A file of an older form is as good as none.
        Ok(text) => Ok(serde_json::from_str(&text).ok()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn write(wanted: &Wanted) -> Result<(), Box<dyn Error>> {
    let document = std::fs::read_to_string(&wanted.write).unwrap_or_default();
    let (mut known, mut missing) = (Vec::new(), Vec::new());
    for row in rows() {
        let kept = read(wanted, &row)?.filter(|kept| kept.link == row.link());
        match kept.map(|kept| Lines::of(&row, &kept)).or_else(|| Lines::in_document(&row, &document)) {
            Some(lines) => known.push((row, lines)),
            None => missing.push(row.id),
        }
    }
    if missing.is_empty() {
        std::fs::write(&wanted.write, report(&known))?;
        println!("written: {}", wanted.write.display());
    } else {
        println!("{} stays as it is: not run yet are {}", wanted.write.display(), missing.join(", "));
    }
    Ok(())
}
