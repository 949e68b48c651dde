//! Peers from PyPI and npm in pinned versions, under `target/peers`: nothing is installed elsewhere or committed.
//!
//! Each package is installed by itself, so that one that is not to be had leaves the others. What is there already is
//! found by pip and npm without asking anybody.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use super::runner::last_words;
use crate::site::{Asset, Site};
use crate::toolchain::{root, target_dir};

/// What could not be installed: package and reason.
pub(super) type Failures = BTreeMap<String, String>;

/// Where the peers' programs lie.
pub(super) fn folder() -> PathBuf {
    root().join("xtask").join("peers")
}

/// A Python with the packages of `requirements.txt`.
pub(super) fn python(failures: &mut Failures) -> anyhow::Result<PathBuf> {
    let pinned = folder().join("requirements.txt");
    let packages = packages_of(&fs::read_to_string(&pinned)?);
    let venv = target_dir()?.join("peers").join("python");
    let python = venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !python.is_file() {
        let system = if cfg!(windows) { "python" } else { "python3" };
        if let Err(error) = quiet(Command::new(system).args(["-m", "venv"]).arg(&venv)) {
            failures.extend(packages.into_iter().map(|(package, _)| (package, format!("Python: {error:#}"))));
            return Ok(python);
        }
    }
    for (package, line) in packages {
        println!("· installing {line}{}", if package == "torch" { " (several GB)" } else { "" });
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", &line, "--constraint"])
            .arg(&pinned);
        if let Err(error) = quiet(&mut pip) {
            failures.insert(package, format!("pip could not install it: {error:#}"));
        }
    }
    Ok(python)
}

/// Name and whole line of each pinned package.
fn packages_of(requirements: &str) -> Vec<(String, String)> {
    let pinned = |line: &str| Some((line.split_once("==")?.0.trim().to_owned(), line.trim().to_owned()));
    requirements.lines().filter(|line| !line.starts_with('#')).filter_map(pinned).collect()
}

/// The pages of the peers with the libraries of `web/package.json`.
pub(super) fn pages(failures: &mut Failures) -> anyhow::Result<Site> {
    let (sources, install) = (folder().join("web"), target_dir()?.join("peers").join("web"));
    fs::create_dir_all(&install)?;
    fs::copy(sources.join("package.json"), install.join("package.json"))?;
    println!("· installing TensorFlow.js and jax-js");
    let mut npm = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" });
    npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&install);
    let installed = quiet(&mut npm);

    let mut site = Site { files: BTreeMap::new() };
    add_files(&mut site, &sources, "")?;
    let modules = install.join("node_modules");
    for (package, dist, prefix) in [
        ("@tensorflow/tfjs", "@tensorflow/tfjs/dist", ""),
        ("@tensorflow/tfjs", "@tensorflow/tfjs-backend-wasm/dist", ""),
        ("@jax-js/jax", "@jax-js/jax/dist", "jax-js/"),
    ] {
        let added = installed.as_ref().map_err(|error| format!("npm could not install it: {error:#}"));
        let added =
            added.and_then(|()| add_files(&mut site, &modules.join(dist), prefix).map_err(|e| format!("{e:#}")));
        if let Err(reason) = added {
            failures.insert(package.to_owned(), reason);
        }
    }
    Ok(site)
}

/// The files of a folder that a page may ask for, without those in folders below.
fn add_files(site: &mut Site, folder: &Path, prefix: &str) -> anyhow::Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        let is_served =
            path.extension().is_some_and(|ending| ["html", "js", "mjs", "wasm"].iter().any(|e| ending == *e));
        if is_served && path.is_file() {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            site.files.insert(format!("{prefix}{name}"), Asset { plain: fs::read(&path)?, gzip: None, brotli: None });
        }
    }
    Ok(())
}

/// Runs a command whose output matters only when it fails.
fn quiet(command: &mut Command) -> anyhow::Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("cannot start `{program}`"))?;
    last_words(&output).map_or(Ok(()), |reason| Err(anyhow::anyhow!(reason)))
}

#[cfg(test)]
mod tests {
    use super::packages_of;

    #[test]
    fn only_pinned_lines_are_packages() {
        let packages = packages_of("# What jax==0 needs.\njax==0.10.2\n\ntorch==2.15.0\n");
        let expected = [("jax", "jax==0.10.2"), ("torch", "torch==2.15.0")];
        assert_eq!(packages, expected.map(|(name, line)| (name.to_owned(), line.to_owned())));
    }
}
