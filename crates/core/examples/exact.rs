//! `exact LINK UPDATES`: runs an experiment on the exact engine and prints one line of JSON with its hashes.
//! `exact playthroughs`: plays the list of written-down episodes and prints their hash.
//!
//! The tests build this twice (unoptimised, release), run the same link in a browser, and compare.

use std::process::ExitCode;

use tandem_core::base::hash::hex;
use tandem_core::env::playthrough::hash_of_all;
use tandem_core::experiment::command::Command;
use tandem_core::experiment::link;
use tandem_core::experiment::session::Session;
use tandem_core::experiment::snapshot::{Report, RunState};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words == ["playthroughs"] {
        println!(r#"{{"playthroughs":"{}"}}"#, hash_of_all());
        return ExitCode::SUCCESS;
    }
    let [link, updates] = &words[..] else {
        eprintln!("usage: exact LINK UPDATES, or exact playthroughs");
        return ExitCode::FAILURE;
    };
    let Ok(run_to) = updates.parse() else {
        eprintln!("`{updates}` is not a number of updates");
        return ExitCode::FAILURE;
    };
    match run(link, run_to) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn run(link: &str, run_to: u32) -> Result<String, String> {
    let mut session = Session::new();
    let spec = Box::new(link::parse(link).spec);
    session.apply(Command::Load { spec, run_to });
    // The session measures its slices with this clock; the result does not depend on it.
    let mut seconds = 0.0;
    let mut clock = || {
        seconds += 0.001;
        seconds
    };
    loop {
        let tick = session.tick(&mut clock);
        for report in session.take_reports() {
            match report {
                Report::Refused(sentence) => return Err(format!("{} {:?}", sentence.id, sentence.args)),
                Report::Snapshot(now) if matches!(now.state, RunState::Paused) && now.update >= run_to => {
                    let weights = now.weights_hash.map(hex).ok_or("a paused run knows the hash of its weights")?;
                    let (update, env_steps, trace) = (now.update, now.env_steps, hex(now.trace_hash));
                    return Ok(format!(
                        r#"{{"update":{update},"envSteps":{env_steps},"traceHash":"{trace}","weightsHash":"{weights}"}}"#
                    ));
                }
                Report::Snapshot(now) if matches!(now.state, RunState::Finished | RunState::Diverged { .. }) => {
                    return Err(format!("the run ended at update {}: {:?}", now.update, now.state));
                }
                Report::Started(_) | Report::Snapshot(_) => (),
            }
        }
        if !tick.busy && tick.wake_in.is_none() {
            return Err("the session has stopped early".to_owned());
        }
    }
}
