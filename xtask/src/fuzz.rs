//! `cargo xtask fuzz`: hostile links, many more of them than in the tests.
//!
//! The search is the core crate's (tests/fuzz, examples/fuzz). What panics or takes too much memory is written to
//! tests/fuzz/found.jsonl, which the tests try first from then on.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};

use crate::args::Args;
use crate::toolchain::{cargo, run, shown, target_dir};

/// Seed of the links that the browser tests open.
const BROWSER_SEED: &str = "20";

/// `cargo xtask fuzz [--links N] [--opens N] [--seed S]`.
pub(crate) fn fuzz(mut args: Args) -> anyhow::Result<()> {
    let links: u32 = args.value("--links")?.unwrap_or(1_000_000);
    let opens: u32 = args.value("--opens")?.unwrap_or(10_000);
    let seed: u64 = args.value("--seed")?.unwrap_or(1);
    args.finish()?;
    if opens > links {
        bail!("`--opens` cannot be {opens}: at most as many links are opened as are read, here {links}");
    }
    let words = [links.to_string(), opens.to_string(), seed.to_string()];
    run(Command::new(runner()?).args(words)).context("if a link was found, it is in crates/core/tests/fuzz/found.jsonl")
}

/// Writes `count` hostile links as lines of JSON into `folder`, for the browser tests.
pub(crate) fn write_links(folder: &Path, count: u32) -> anyhow::Result<PathBuf> {
    let mut command = Command::new(runner()?);
    command.args(["--print", &count.to_string(), BROWSER_SEED]);
    let output = command.output().with_context(|| format!("cannot start `{}`", shown(&command)))?;
    ensure!(output.status.success(), "`{}`: {}", shown(&command), String::from_utf8_lossy(&output.stderr).trim());
    let file = folder.join("hostile.jsonl");
    std::fs::write(&file, output.stdout).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}

fn runner() -> anyhow::Result<PathBuf> {
    println!("· compiling the search for hostile links");
    run(cargo().args(["build", "--quiet", "--release", "--package", "tandem-core", "--example", "fuzz"]))?;
    let name = format!("fuzz{}", std::env::consts::EXE_SUFFIX);
    Ok(target_dir()?.join("release").join("examples").join(name))
}
