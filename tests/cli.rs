//! The built program on the command line: what it prints, that it is the page's run, and that whatever goes wrong is a
//! sentence, an exit status and no half line.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tandem_core::base::hash::hex;
use tandem_core::experiment::command;
use tandem_core::experiment::link::parse;
use tandem_core::experiment::session::Session;
use tandem_core::experiment::snapshot::{Report, RunState};

const LINK: &str = "#v=1&env=pellet&algo=qmix&seed=7&hidden=16&hyper_hidden=16";

/// The program with these words, its texts in English.
fn tandem(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
    command.args(words).env("LC_ALL", "C").stdin(Stdio::null());
    command
}

fn output(words: &[&str]) -> Output {
    tandem(words).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("texts are UTF-8")
}

/// Lines of JSON, each of them whole.
fn json(bytes: &[u8]) -> Vec<Value> {
    let text = text(bytes);
    assert!(text.is_empty() || text.ends_with('\n'), "the last line is whole: {text}");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

fn summaries(lines: &[Value]) -> Vec<&Value> {
    lines.iter().filter(|line| line["kind"] == "summary").collect()
}

/// Trace and weights hash of the session that a page would run to `update`.
fn session(link: &str, update: u32) -> (String, String) {
    let mut session = Session::new();
    let spec = Box::new(parse(link).spec);
    session.apply(command::Command::Load { spec, run_to: update });
    let mut seconds = 0.0;
    loop {
        session.tick(&mut || {
            seconds += 0.001;
            seconds
        });
        for report in session.take_reports() {
            if let Report::Snapshot(now) = report
                && now.state == RunState::Paused
                && now.update == update
                && let Some(weights) = now.weights_hash
            {
                return (hex(now.trace_hash), hex(weights));
            }
        }
    }
}

#[test]
fn a_run_without_a_page_is_the_pages_run() {
    // The link's own step and budget do not end it.
    let link = format!("{LINK}&budget=1000&step=5");
    let output = output(&["train", &link, "--steps", "2001", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    let lines = json(&output.stdout);
    let keys = |line: &Value| line.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    let eval = ["better", "ci95", "env_steps", "kind", "max", "mean", "metric", "min", "per_agent", "seed", "to_go_s"];
    let eval: Vec<&str> = eval.into_iter().chain(["updates", "wall_s"]).collect();
    let (last, evals) = lines.split_last().expect("there are lines");
    assert!(evals.len() >= 4, "every 500 env steps: {evals:?}");
    for line in evals {
        let mut found = keys(line);
        found.sort();
        assert_eq!(found, eval);
        assert_eq!(
            (&line["kind"], &line["metric"], &line["better"]),
            (&"eval".into(), &"steps".into(), &"lower".into())
        );
        assert_eq!(line["per_agent"].as_array().map(Vec::len), Some(2));
    }
    let mut found = keys(last);
    found.sort();
    let summary =
        ["best", "diverged", "ended", "env_steps", "kind", "last3", "seed", "trace_hash", "updates", "wall_s"];
    assert_eq!(found, [&summary[..], &["weights_hash"]].concat());
    assert_eq!(last["ended"], "steps");
    assert_eq!(last["env_steps"], 2016, "the first update boundary at or after 2001");
    assert_eq!(evals.last().expect("there are some")["env_steps"], 2016, "the end is evaluated");
    let means: Vec<f64> = evals.iter().filter_map(|line| line["mean"].as_f64()).collect();
    assert_eq!(last["best"].as_f64(), means.iter().copied().reduce(f64::min), "fewer steps are better");
    let last3: Vec<f64> = last["last3"].as_array().expect("a list").iter().filter_map(Value::as_f64).collect();
    assert_eq!(last3, means[means.len() - 3..]);
    let (trace, weights) = session(LINK, 63);
    assert_eq!((&last["updates"], &last["trace_hash"]), (&63.into(), &trace.into()));
    assert_eq!(last["weights_hash"], weights);
}

/// Where a board is learned by self-play, a line before the summary tells how snapshots fare against each other.
#[test]
fn snapshots_against_each_other_are_a_line() {
    let link = "#v=1&env=tictactoe&algo=ippo&seed=7&hidden=16&envs=64&eval_every=1000&match_games=0";
    let told = output(&["train", link, "--steps", "3000", "--json"]);
    let lines = json(&told.stdout);
    let ladder = &lines[lines.len() - 2];
    assert_eq!(ladder["kind"], "ladder");
    let snapshots = ladder["snapshots"].as_array().expect("a list").len();
    assert!(snapshots >= 4, "the untrained one, and one every 1,000 env steps: {ladder}");
    let rows = ladder["scores"].as_array().expect("a list");
    assert_eq!(rows.len(), snapshots);
    for cell in rows.iter().flat_map(|row| row.as_array().expect("a list")) {
        let games: u64 = ["won", "drawn", "lost"].iter().filter_map(|outcome| cell[outcome].as_u64()).sum();
        assert_eq!(Some(games), ladder["games"].as_u64());
    }
    let told = text(&output(&["train", link, "--steps", "3000"]).stdout);
    assert_eq!(told.matches(" first: ").count(), snapshots, "{told}");
    let kinds = |link| json(&output(&["train", link, "--steps", "100", "--json"]).stdout);
    assert!(kinds(LINK).iter().all(|line| line["kind"] != "ladder"));
}

#[test]
fn seeds_are_half_open_and_each_is_its_own_run() {
    let three = output(&["train", LINK, "--steps=600", "--seeds=3..6", "--json"]);
    let lines = json(&three.stdout);
    let summaries = summaries(&lines);
    let seeds: Vec<u64> = summaries.iter().filter_map(|line| line["seed"].as_u64()).collect();
    assert_eq!(seeds, [3, 4, 5]);
    let alone = output(&["train", &LINK.replace("seed=7", "seed=4"), "--steps", "600", "--json", "--engine", "cpu"]);
    let alone = json(&alone.stdout);
    assert_eq!(alone.last().expect("a summary")["trace_hash"], summaries[1]["trace_hash"]);
    assert_ne!(summaries[0]["trace_hash"], summaries[1]["trace_hash"]);
}

/// A goal of the link ends a run before its steps, and is told.
#[test]
fn the_summary_says_what_ended_a_run() {
    let link = format!("{LINK}&stop=on&stop_at=1000");
    let lines = json(&output(&["train", &link, "--steps", "5000", "--json"]).stdout);
    let summary = lines.last().expect("a summary");
    assert_eq!((&summary["ended"], &summary["env_steps"]), (&"goal".into(), &512.into()));
    let told = text(&output(&["train", &link, "--steps", "5000"]).stdout);
    assert!(told.contains(" s, goal reached; best mean "), "{told}");
}

#[test]
fn a_person_reads_lines() {
    let address = format!("https://tandem.test/page/{LINK}");
    let output = output(&["train", &address, "--steps", "500"]);
    let text = text(&output.stdout);
    assert!(text.starts_with("seed 7  env step 0  update 0  mean "), "{text}");
    assert!(text.contains("seed 7: 512 env steps, updates 16, "), "{text}");
    assert!(text.contains(" over every start)") && !text.contains('±'), "every start was played: {text}");
    assert!(text.lines().all(|line| !line.contains('{')), "{text}");
    let chinese = tandem(&["train", LINK, "--steps", "500"]).env("LC_ALL", "zh_CN.UTF-8").output();
    let chinese = chinese.expect("the program starts");
    assert!(String::from_utf8_lossy(&chinese.stdout).contains("环境步"));
}

#[test]
fn what_is_out_of_range_is_refused_by_name_and_an_unknown_key_is_a_warning() {
    let odd = [
        ("batch=99999", "batch: 99999 is not allowed; 1024 is used. Allowed: 1 … 1024."),
        ("env=spread&algo=ippo&N=0", "agents: 0 is not allowed; 1 is used. Allowed: 1 … "),
        ("env=spread&algo=ippo&local_ratio=2", "local_ratio: 2 is not allowed; 1 is used. Allowed: 0 … 1."),
        ("env=spread&algo=ippo&max_cycles=-1", "limit: -1 is not allowed; 1 is used. Allowed: 1 … "),
        ("env=foraging&algo=ippo&size=5x5&food=8", "food"),
    ];
    for (link, told) in odd {
        let output = output(&["train", &format!("#v=1&{link}"), "--steps", "100"]);
        assert_eq!(output.status.code(), Some(2), "{link}");
        assert!(output.stdout.is_empty(), "{link}: nothing was trained");
        assert!(text(&output.stderr).contains(told), "{}", text(&output.stderr));
    }
    let output = output(&["train", &format!("{LINK}&colour=blue"), "--steps", "100", "--json"]);
    assert!(output.status.success());
    assert!(text(&output.stderr).contains("warning: colour = blue"), "{}", text(&output.stderr));
    assert_eq!(summaries(&json(&output.stdout)).len(), 1);
}

/// A graphics processor, of software where there is no other, trains the same env steps; it has no trace.
#[test]
fn a_graphics_processor_trains() {
    let words = ["train", LINK, "--steps", "600", "--json", "--engine", "gpu"];
    let lines = json(&output(&words).stdout);
    let summary = &summaries(&lines)[0];
    let here = json(&output(&words[..5]).stdout);
    assert_eq!(summary["env_steps"], summaries(&here)[0]["env_steps"]);
    assert_eq!(summary["updates"], summaries(&here)[0]["updates"]);
    assert!(summary["trace_hash"].is_null() && summary["weights_hash"].is_string(), "{summary}");
    assert_eq!(
        summaries(&json(&output(&words).stdout))[0]["weights_hash"],
        summary["weights_hash"],
        "the same bits again"
    );
}

#[test]
fn what_cannot_be_carried_out_is_a_sentence_that_says_what_is_allowed() {
    let cases: [(&[&str], &str); 16] = [
        (&["train"], "needs an experiment's link"),
        (&["train", LINK], "needs --steps N"),
        (&["train", LINK, "--steps"], "--steps needs a value. Allowed: 1 … 4294967295."),
        (&["train", LINK, "--steps", "--json"], "--steps needs a value"),
        (&["train", LINK, "--steps", "0"], "Allowed: a whole number from 1 to 4294967295."),
        (&["train", LINK, "--steps", "1e3"], "“1e3” is not allowed"),
        (&["train", LINK, "--steps", "4294967296"], "“4294967296” is not allowed"),
        (&["train", LINK, "--steps", "9", "--seeds", "5..2"], "A..B with whole numbers and A below B"),
        (&["train", LINK, "--steps", "9", "--seeds", "5"], "“5” names no seeds"),
        (
            &["train", LINK, "--steps", "9", "--engine", "tpu"],
            "“tpu” is not an engine of this release. Allowed: cpu, gpu.",
        ),
        (
            &["train", "env=foraging", "--steps", "9", "--engine", "gpu"],
            "its kernel “env_observe” exists for the processor alone",
        ),
        (&["train", LINK, "--steps", "9", "--sedes", "1..2"], "“--sedes” is not understood here"),
        (&["train", LINK, "--steps", "9", "more"], "“more” is not understood here"),
        (&["bench", "W1", "--jsn"], "connect_four, --json. See"),
        (&["train", "hello", "--steps", "9"], "“hello” is not an experiment link"),
        (&["trian", LINK], "There is no command “trian”"),
    ];
    for (words, expected) in cases {
        let output = output(words);
        let told = text(&output.stderr);
        assert!(told.contains(expected), "{words:?}: {told}");
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert_eq!(text(&output.stdout), "", "{words:?}");
    }
}

/// A cluster job must not report numbers of another experiment.
#[test]
fn a_link_that_is_not_understood_is_refused() {
    let link = |more: &str| format!("{LINK}&{more}");
    let cases = [
        ("#env=pelet&algo=mapo".to_owned(), "env: “pelet” cannot be read"),
        ("#env=pelet&algo=mapo".to_owned(), "algo: “mapo” cannot be read"),
        ("#foo=1".to_owned(), "“#foo=1” names nothing of an experiment"),
        ("#v=1&view=qtot".to_owned(), "names nothing of an experiment"),
        (LINK.replace("v=1", "v=2"), "the link has version 2"),
        (link("world=AQID!"), "damaged or incomplete"),
        (link("lr=NaN"), "lr: “NaN” cannot be read"),
        ("#v=1&env=pellet&algo=qmix&reward=first".to_owned(), "algo: "),
    ];
    for (link, expected) in cases {
        let output = output(&["train", &link, "--steps", "9"]);
        let told = text(&output.stderr);
        assert!(told.contains(expected), "{link}: {told}");
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""), "{link}");
    }
    let of_the_page = output(&["train", &link("view=!&lang=fr&step=x"), "--steps", "9"]);
    assert!(of_the_page.status.success(), "{}", text(&of_the_page.stderr));
}

#[test]
fn divergence_is_told_and_is_no_success() {
    let output = output(&["train", "#v=1&env=pellet&algo=qmix&lr=1&seed=7", "--steps", "4000", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    let told = text(&output.stderr);
    assert!(told.starts_with("Seed 7 diverged: training stopped at update "), "{told}");
    let lines = json(&output.stdout);
    let summary = lines.last().expect("a summary");
    assert_eq!((&summary["weights_hash"], &summary["ended"]), (&Value::Null, &"diverged".into()));
    let diverged = &summary["diverged"];
    assert_eq!((&diverged["cause"], &diverged["update"]), (&"gradient".into(), &summary["updates"]));
    let tensor = diverged["tensor"].as_str().expect("a name");
    assert!(told.contains(&format!("the gradient exploded, most of all at {tensor}")), "{told}");
    assert!(told.contains("a tenth of the learning rate: lr=0.1&lr_end=2e-6 in the link"), "{told}");
}

#[test]
fn help_and_version_are_printed() {
    for words in [["--help"], ["help"], ["-h"]] {
        let output = output(&words);
        assert!(output.status.success());
        assert!(text(&output.stdout).contains("tandem train LINK --steps N"));
    }
    for words in [["train", "--help"], ["train", "-h"]] {
        let output = output(&words);
        assert!(output.status.success() && text(&output.stdout).contains("--steps N"), "{}", text(&output.stderr));
    }
    assert!(text(&output(&["--version"]).stdout).starts_with("tandem "));
}

#[test]
fn a_closed_pipe_is_told() {
    let mut child = tandem(&["train", LINK, "--steps", "100000", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut line = String::new();
    let mut reader = BufReader::new(child.stdout.take().expect("piped"));
    reader.read_line(&mut line).expect("a first line");
    drop(reader);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stderr);
    assert!(told.contains("Nobody reads the output any more"), "{told}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    for words in [&["train", LINK, "--steps", "100"][..], &["--help"]] {
        let full = File::options().write(true).open("/dev/full").expect("Linux has a full disk");
        let output = tandem(words).stdout(full).stderr(Stdio::piped()).output().expect("the program starts");
        assert_eq!(output.status.code(), Some(1));
        let told = text(&output.stderr);
        assert!(told.contains("No space left on device") && told.contains("free some space"), "{told}");
        assert!(!told.contains("training"), "printing the help is no training: {told}");
    }
}

/// A file that may not grow beyond a kilobyte: the line that does not fit is not begun.
#[cfg(target_os = "linux")]
#[test]
fn a_line_is_written_whole_or_not_at_all() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("full.jsonl");
    let script = r#"trap "" XFSZ; ulimit -f 1; exec "$0" train "$1" --steps 5000 --json > "$2""#;
    let output = Command::new("bash")
        .args(["-c", script, env!("CARGO_BIN_EXE_tandem"), LINK])
        .arg(&file)
        .env("LC_ALL", "C")
        .output()
        .expect("bash starts");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("The output takes no more"), "{}", text(&output.stderr));
    let mut written = Vec::new();
    File::open(&file).and_then(|mut file| file.read_to_end(&mut written)).expect("the file is there");
    let lines = json(&written);
    assert!(lines.len() > 2 && written.len() <= 1024, "{} lines, {} bytes", lines.len(), written.len());
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_at_an_update_with_the_summary() {
    let mut child = tandem(&["train", LINK, "--steps", "4000000000", "--seeds", "7..9", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut reader = BufReader::new(child.stdout.take().expect("piped"));
    let mut written = String::new();
    for _ in 0..3 {
        reader.read_line(&mut written).expect("a line");
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill starts");
    assert!(killed.success());
    reader.read_to_string(&mut written).expect("the rest");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let told = text(&output.stderr);
    assert!(told.contains("Ended by Ctrl-C"), "{told}");
    let lines = json(written.as_bytes());
    let summaries = summaries(&lines);
    assert_eq!(summaries.len(), 1, "the other seed is not begun");
    let updates = summaries[0]["updates"].as_u64().expect("a count") as u32;
    let (trace, weights) = session(LINK, updates);
    assert_eq!((&summaries[0]["trace_hash"], &summaries[0]["weights_hash"]), (&trace.into(), &weights.into()));
}

#[test]
fn a_work_is_checked_before_it_is_measured() {
    let output = output(&["bench", "w5", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = json(&output.stdout);
    let [measured] = &lines[..] else { panic!("one work, one line: {lines:?}") };
    assert_eq!((&measured["work"], &measured["unit"]), (&"W5".into(), &"updates/s".into()));
    let number = |value: &Value| value.as_f64().expect("a number");
    let (rate, range) = (number(&measured["rate"]), &measured["range"]);
    assert!(0.0 < number(&range[0]) && number(&range[0]) <= rate && rate <= number(&range[1]), "{measured}");
    let checks = measured["checks"].as_array().expect("a list");
    assert_eq!(checks.iter().map(|check| &check["name"]).collect::<Vec<_>>(), ["first_loss", "loss31"]);
    for check in checks {
        assert!((number(&check["value"]) / number(&check["expected"]) - 1.0).abs() <= 1e-5, "{check}");
        assert_eq!(check["holds"], true);
    }
    assert_eq!(measured["holds"], true);
}

#[test]
fn a_work_that_is_none_is_refused() {
    let output = output(&["bench", "W1", "W6"]);
    assert_eq!(output.status.code(), Some(2));
    let told = text(&output.stderr);
    assert!(told.contains("“W6”") && told.contains("W1 | W2 | W3 | W4 | W5 | connect_four"), "{told}");
    assert_eq!(text(&output.stdout), "", "nothing is measured before all is read");
}

/// Without a display a person is told what to do instead.
#[test]
fn without_a_display_there_is_a_sentence() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"] {
        command.env_remove(name);
    }
    let output = command.output().expect("the program starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("No window can be opened"), "{}", text(&output.stderr));
}
