//! `cargo xtask learn`: trains every row of the learning table and writes docs/RESULTS.md.
//!
//! The table and the runner are the core crate's (tests/learning, examples/learn); finished rows are kept under
//! target/learn until the code or the menu's experiments change. Each row of the document names the code that ran it, so
//! `--only` rewrites its rows and leaves the others as they are.

use std::process::Command;

use anyhow::{bail, ensure};

use crate::args::Args;
use crate::toolchain::{cargo, root, run, target_dir};

/// What decides a result.
const CODE: [&str; 4] =
    ["crates/core/src", "crates/core/tests/learning", "crates/core/Cargo.toml", "assets/presets.ron"];

/// `cargo xtask learn [--only NAME] [--again] [--engine cpu|gpu]`: the rows of the exact engine, or those that are
/// trained on a device.
pub(crate) fn learn(mut args: Args) -> anyhow::Result<()> {
    let only: Option<String> = args.value("--only")?;
    let again = args.flag("--again");
    let engine: Option<String> = args.value("--engine")?;
    args.finish()?;
    let engine = engine.unwrap_or_else(|| "cpu".to_owned());
    if !["cpu", "gpu"].contains(&engine.as_str()) {
        bail!("`--engine` cannot be `{engine}`; allowed: cpu, gpu");
    }
    let mut command = cargo();
    command.args(["run", "--quiet", "--release", "--package", "tandem-core", "--features", "gpu"]);
    command.args(["--example", "learn", "--", "--engine", &engine]);
    command.arg("--keep").arg(target_dir()?.join("learn"));
    command.arg("--write").arg(root().join("docs/RESULTS.md"));
    let (code, is_clean) = code()?;
    command.args(["--code", &code]);
    if let Some(name) = only {
        command.args(["--only", &name]);
    }
    // Without a commit nothing says whether a kept row is of this code.
    if again || !is_clean {
        command.arg("--again");
    }
    println!("· compiling the runner; finished rows are kept, so the table may be interrupted");
    run(&mut command)
}

/// The last commit that could have changed a result with its date, and whether nothing was changed since.
fn code() -> anyhow::Result<(String, bool)> {
    let last = git(&["log", "-1", "--format=%h, %cs"])?;
    let changed = git(&["status", "--porcelain"])?;
    Ok(if changed.is_empty() { (last, true) } else { (format!("{last}, changed since"), false) })
}

fn git(words: &[&str]) -> anyhow::Result<String> {
    let output = Command::new("git").current_dir(root()).args(words).arg("--").args(CODE).output()?;
    ensure!(output.status.success(), "git {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}
