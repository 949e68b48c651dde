//! The promise of the exact engine, checked across builds: the links of a corpus compute the bits that are written down
//! for them, unoptimised and optimised. Core's own tests compare the same file with every width of register, the
//! browser tests compare the page.
//!
//! The runner is the example `exact` of the core crate: core alone, so the unoptimised build takes seconds.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};

use crate::test::Shared;
use crate::toolchain::{cargo, root, run, shown, target_dir};

/// A link, a number of updates and what `exact` prints for them, one line each.
const CORPUS: &str = "crates/core/tests/fixtures/traces.txt";

/// Builds the runner as users get it and says where it is: `exact LINK UPDATES` prints the hashes of that run,
/// `exact playthroughs` that of the episodes in `crates/core/tests/playthroughs`.
pub(crate) fn runner() -> anyhow::Result<PathBuf> {
    build("release")
}

/// The part `exact` of `cargo xtask test`.
pub(crate) fn test(_: &mut Shared) -> anyhow::Result<String> {
    let builds = [build("exact-debug")?, runner()?];
    let [plain, optimised] = [hashes(&builds[0], &["playthroughs"])?, hashes(&builds[1], &["playthroughs"])?];
    println!("  playthroughs: {optimised}");
    ensure!(plain == optimised, "playthroughs: unoptimised {plain}, optimised {optimised}");
    let corpus = std::fs::read_to_string(root().join(CORPUS)).with_context(|| format!("cannot read {CORPUS}"))?;
    for line in corpus.lines() {
        let [link, updates, recorded] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            bail!("{CORPUS}: `{line}` is not a link, a number of updates and what they come to");
        };
        for (build, name) in builds.iter().zip(["unoptimised", "optimised"]) {
            let now = hashes(build, &[link, updates])?;
            ensure!(now == recorded, "{link} after {updates} updates: {name} {now}, {CORPUS} says {recorded}");
        }
        println!("  {link} {updates}: {recorded}");
    }
    Ok(format!("{} recorded runs and the playthroughs, the same bits", corpus.lines().count()))
}

fn build(profile: &str) -> anyhow::Result<PathBuf> {
    println!("· compiling the exact runner, profile `{profile}`");
    run(cargo().args(["build", "--package", "tandem-core", "--example", "exact", "--profile", profile]))?;
    let name = format!("exact{}", std::env::consts::EXE_SUFFIX);
    Ok(target_dir()?.join(profile).join("examples").join(name))
}

fn hashes(runner: &Path, words: &[&str]) -> anyhow::Result<String> {
    let mut command = Command::new(runner);
    command.args(words);
    let output = command.output().with_context(|| format!("cannot start `{}`", shown(&command)))?;
    ensure!(output.status.success(), "`{}`: {}", shown(&command), String::from_utf8_lossy(&output.stderr).trim());
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}
