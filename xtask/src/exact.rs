//! The promise of the exact engine, checked across builds: the same link computes the same bits unoptimised and
//! optimised, and those of two experiments of the menu are those that are written down. The browser tests compare the page with the
//! same runner.
//!
//! The runner is the example `exact` of the core crate: core alone, so the unoptimised build takes seconds.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use crate::test::Shared;
use crate::toolchain::{cargo, root, run, shown, target_dir};

/// Link, number of updates and the file under `crates/core/tests/fixtures` that holds what `exact` prints: one run of
/// each mixer, of each critic and of each kind of world.
const RUNS: [(&str, &str, Option<&str>); 5] = [
    ("#v=1&env=pellet&algo=qmix&seed=7", "200", Some("trace_pellet_qmix.json")),
    ("#v=1&env=pellet&algo=mappo&seed=7", "4", Some("trace_pellet_mappo.json")),
    ("#v=1&env=two_step&algo=qmix&seed=3", "200", None),
    ("#v=1&env=two_step&algo=ippo&seed=3", "10", None),
    ("#v=1&env=matrix&algo=iql&seed=5", "200", None),
];

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
    for (link, updates, file) in RUNS {
        let [plain, optimised] = [hashes(&builds[0], &[link, updates])?, hashes(&builds[1], &[link, updates])?];
        println!("  {link}: {optimised}");
        ensure!(plain == optimised, "{link} after {updates} updates: unoptimised {plain}, optimised {optimised}");
        if let Some(file) = file {
            let path = root().join("crates/core/tests/fixtures").join(file);
            let recorded = std::fs::read_to_string(&path).with_context(|| format!("cannot read {file}"))?;
            ensure!(optimised == recorded.trim(), "{link} after {updates} updates: {file} says {recorded}");
        }
    }
    Ok(format!("{} runs and the playthroughs, the same bits", RUNS.len()))
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
