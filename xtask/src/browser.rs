//! What the browser tests need from the machine: a Chromium, a software GPU, a Chinese font, node, playwright-core.
//!
//! Installed where that is possible without asking anybody (Debian and Ubuntu as root, npm); otherwise the error says
//! exactly what to install. Nothing is skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use crate::toolchain::{has, root, run};

/// Debian's and Ubuntu's names. Mesa: OpenGL for the page, Vulkan for the native UI tests.
const PACKAGES: [&str; 7] =
    ["chromium", "mesa-vulkan-drivers", "libegl1", "libgl1-mesa-dri", "fonts-noto-cjk", "fontconfig", "xdg-utils"];
/// Below this node's test runner lacks `--test-concurrency`.
const NODE: (u32, u32) = (20, 10);

/// A machine that is ready.
pub(crate) struct Browser {
    chromium: PathBuf,
}

impl Browser {
    /// Finds or installs everything.
    pub(crate) fn ready() -> anyhow::Result<Self> {
        if has("dpkg-query") && has("apt-get") {
            ensure_packages()?;
        }
        let chromium = chromium().context(
            "no Chromium was found; install it (Debian `apt install chromium`, Fedora `dnf install chromium`) \
             or give its path in TANDEM_CHROMIUM",
        )?;
        if has("fc-list") && output(Command::new("fc-list").arg(":lang=zh")).is_empty() {
            bail!(
                "no font on this machine has Chinese characters; install Noto Sans CJK (Debian `apt install fonts-noto-cjk`)"
            );
        }
        ensure_node()?;
        ensure_playwright()?;
        Ok(Self { chromium })
    }

    /// A node command in the folder of the browser tests that finds the browser and the page.
    pub(crate) fn node(&self, url: &str) -> Command {
        let mut command = Command::new("node");
        command.current_dir(folder()).env("TANDEM_CHROMIUM", &self.chromium).env("TANDEM_URL", url);
        command
    }

    /// What the browser calls itself.
    pub(crate) fn version(&self) -> String {
        output(Command::new(&self.chromium).arg("--version"))
    }
}

/// Where the browser tests lie.
pub(crate) fn folder() -> PathBuf {
    root().join("web").join("e2e")
}

fn ensure_packages() -> anyhow::Result<()> {
    let installed = |package: &&str| {
        output(Command::new("dpkg-query").args(["-W", "-f=${Status}", package])).ends_with(" installed")
    };
    let missing: Vec<&str> = PACKAGES
        .into_iter()
        .filter(|package| !installed(package))
        // A Chromium from elsewhere does as well.
        .filter(|package| *package != "chromium" || chromium().is_none())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let line = missing.join(" ");
    println!("· installing {line}");
    let root = output(Command::new("id").arg("-u")) == "0";
    let apt = |words: &[&str]| {
        let mut command = if root { Command::new("apt-get") } else { Command::new("sudo") };
        if !root {
            command.args(["-n", "apt-get"]);
        }
        command.env("DEBIAN_FRONTEND", "noninteractive").args(words).stdin(Stdio::null());
        run(&mut command)
    };
    let install = [&["install", "--yes", "--no-install-recommends"], &*missing].concat();
    // A list that is a little old is enough most of the time; a fresh machine has none at all.
    apt(&install)
        .or_else(|_| apt(&["update"]).and_then(|()| apt(&install)))
        .with_context(|| format!("these packages are missing: `sudo apt install {line}`"))
}

fn chromium() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("TANDEM_CHROMIUM") {
        return Some(path.into());
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    std::env::split_paths(&folders)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .chain([
            "/Applications/Chromium.app/Contents/MacOS/Chromium".into(),
            "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome".into(),
        ])
        .find(|path| path.is_file())
}

fn ensure_node() -> anyhow::Result<()> {
    let version = output(Command::new("node").arg("--version"));
    let mut numbers = version.trim_start_matches('v').split('.').map_while(|word| word.parse::<u32>().ok());
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if found < NODE || !has("npm") {
        let found = if version.is_empty() { "none was found".to_owned() } else { format!("found {version}") };
        bail!(
            "the browser tests need node {}.{} or newer with npm ({found}); install it from https://nodejs.org \
             or with the system's package manager",
            NODE.0,
            NODE.1
        );
    }
    Ok(())
}

/// playwright-core in exactly the locked version; it brings no browser of its own.
fn ensure_playwright() -> anyhow::Result<()> {
    let version = |path: &Path| {
        let text = fs::read_to_string(path).unwrap_or_default();
        let from = text.find(r#""node_modules/playwright-core""#)?;
        let version = text[from..].split(r#""version": ""#).nth(1)?;
        Some(version.split('"').next()?.to_owned())
    };
    let wanted =
        version(&folder().join("package-lock.json")).context("web/e2e/package-lock.json names playwright-core")?;
    if version(&folder().join("node_modules/.package-lock.json")).as_ref() == Some(&wanted) {
        return Ok(());
    }
    println!("· installing playwright-core {wanted} into web/e2e/node_modules");
    run(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(folder()))
}

/// What a command prints, trimmed; nothing if it cannot be run.
fn output(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}
