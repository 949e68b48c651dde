//! `cargo xtask test`: every test there is, fast ones first, each part named in the summary at the end.
//!
//! A part that cannot run counts as failed: nothing is skipped silently. A failed part does not keep the others from
//! running, so one run tells everything.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};

use crate::args::Args;
use crate::browser::{self, Browser};
use crate::http::Server;
use crate::site::{self, Flavour, Site};
use crate::toolchain::{cargo, run, shown, target_dir};
use crate::{exact, fuzz, serve, size};

/// A part's name, what it runs, and how.
struct Part {
    name: &'static str,
    about: &'static str,
    run: fn(&mut Shared) -> anyhow::Result<String>,
}

const PARTS: [Part; 5] = [
    Part { name: "native", about: "unit, contract, learning and UI tests", run: native },
    Part { name: "exact", about: "an unoptimised and a release build compute the same bits", run: exact::test },
    Part { name: "page", about: "the page builds and bundles", run: page },
    Part { name: "size", about: "the download keeps its budget", run: |shared| size::check(shared.site()?) },
    Part { name: "browser", about: "the built page in Chromium", run: browser },
];

/// What later parts take over from earlier ones.
#[derive(Default)]
pub(crate) struct Shared {
    site: Option<Site>,
}

impl Shared {
    fn site(&mut self) -> anyhow::Result<&Site> {
        if self.site.is_none() {
            self.site = Some(site::build(Flavour::Web)?);
        }
        self.site.as_ref().context("the page was just built")
    }
}

/// Names and descriptions of the parts, for the usage text.
pub(crate) fn parts() -> String {
    PARTS.iter().fold(String::new(), |mut text, part| {
        let _infallible = writeln!(text, "        {:8} {}", part.name, part.about);
        text
    })
}

/// `cargo xtask test [--only PART,PART]`.
pub(crate) fn test(mut args: Args) -> anyhow::Result<()> {
    let only: Option<String> = args.value("--only")?;
    args.finish()?;
    let wanted: Vec<&str> = only.iter().flat_map(|names| names.split(',')).collect();
    if let Some(unknown) = wanted.iter().find(|name| PARTS.iter().all(|part| part.name != **name)) {
        bail!("there is no part `{unknown}`; the parts are\n{}", parts());
    }

    let mut shared = Shared::default();
    let mut summary = String::new();
    let mut failed = Vec::new();
    for part in PARTS.iter().filter(|part| wanted.is_empty() || wanted.contains(&part.name)) {
        println!("\n── {}: {}", part.name, part.about);
        let start = Instant::now();
        let (verdict, line) = match (part.run)(&mut shared) {
            Ok(line) => ("ok", line),
            Err(error) => {
                failed.push(part.name);
                ("FAILED", format!("{error:#}"))
            }
        };
        writeln!(summary, "  {:8} {verdict:6} {:>4} s  {line}", part.name, start.elapsed().as_secs())?;
    }
    println!("\n{summary}");
    ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
    Ok(())
}

fn native(_: &mut Shared) -> anyhow::Result<String> {
    // Needed by the UI tests' pictures too, and better missed now than after ten minutes.
    Browser::ready()?;
    let mut counts = Counts::default();
    let mut command = cargo();
    command.args(["test", "--workspace", "--no-fail-fast"]).env("CI", "1");
    run_counting(&mut command, &mut counts, |line, counts| {
        let Some(result) = line.strip_prefix("test result: ") else { return };
        for item in result.split(['.', ';']) {
            let mut words = item.split_whitespace();
            let number = words.next().and_then(|word| word.parse::<u32>().ok());
            match (number, words.next()) {
                (Some(number), Some("passed")) => counts.passed += number,
                (Some(number), Some("failed")) => counts.failed += number,
                (Some(number), Some("ignored")) => counts.skipped += number,
                _ => (),
            }
        }
    })
}

fn page(shared: &mut Shared) -> anyhow::Result<String> {
    let files = shared.site()?.files.len();
    Ok(format!("{files} files"))
}

fn browser(shared: &mut Shared) -> anyhow::Result<String> {
    let browser = Browser::ready()?;
    let native = exact::runner()?;
    shared.site()?;
    let site = shared.site.take().context("the page was just built")?;
    let dist = target_dir()?.join("tandem-site").join("dist");
    serve::write(&site, &dist)?;
    // Any free port: people may be using theirs.
    let server = Server::bind(0)?;
    let url = server.url();
    server.run_in_background(site);

    let mut files: Vec<_> = std::fs::read_dir(browser::folder())?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".test.mjs"))
        .collect();
    files.sort();
    let mut command = browser.node(&url);
    command.env("TANDEM_NATIVE", native).env("TANDEM_PROGRAM", program()?);
    command.env("TANDEM_HOSTILE", fuzz::write_links(&target_dir()?, 200)?).env("TANDEM_DIST", dist);
    command.args(["--test", "--test-reporter=spec", "--test-concurrency=1"]).args(files);
    run_counting(&mut command, &mut Counts::default(), |line, counts| {
        let mut words = line.trim_start_matches(['ℹ', ' ']).split_whitespace();
        let (name, number) = (words.next(), words.next().and_then(|word| word.parse::<u32>().ok()));
        if words.next().is_some() || !line.starts_with('ℹ') {
            return;
        }
        match (name, number) {
            (Some("pass"), Some(number)) => counts.passed = number,
            (Some("fail"), Some(number)) => counts.failed = number,
            (Some("skipped" | "todo" | "cancelled"), Some(number)) => counts.skipped += number,
            _ => (),
        }
    })
}

/// The program with its command line, as the native tests have built it; `cargo build` would build everything it stands
/// on once more, with the features that tests do not add.
fn program() -> anyhow::Result<PathBuf> {
    run(cargo().args(["test", "--workspace", "--quiet", "--no-run", "--test", "cli"]))?;
    Ok(target_dir()?.join("debug").join(format!("tandem{}", std::env::consts::EXE_SUFFIX)))
}

/// Numbers out of a test runner's own summary.
#[derive(Default)]
struct Counts {
    passed: u32,
    failed: u32,
    skipped: u32,
}

/// Runs a test runner with its output on the terminal, and counts. A runner that ran nothing has failed.
fn run_counting(command: &mut Command, counts: &mut Counts, read: fn(&str, &mut Counts)) -> anyhow::Result<String> {
    let shown = shown(command);
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start `{shown}`"))?;
    let stdout = child.stdout.take().context("stdout is piped")?;
    for line in BufReader::new(stdout).lines() {
        let line = line?;
        println!("{line}");
        read(&line, counts);
    }
    let status = child.wait()?;
    let Counts { passed, failed, skipped } = counts;
    let line = format!("{passed} passed, {failed} failed, {skipped} skipped");
    ensure!(status.success(), "{line} (`{shown}`)");
    ensure!(*passed > 0 && *skipped == 0, "{line}: a test that does not run proves nothing (`{shown}`)");
    Ok(line)
}
