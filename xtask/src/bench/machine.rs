//! Which machine measures, which code, and whether anything else runs meanwhile.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::ensure;

use crate::browser::Browser;
use crate::toolchain::root;

/// What a document says of the machine.
pub(super) struct Machine {
    pub(super) processor: String,
    pub(super) cores: usize,
    pub(super) system: String,
    pub(super) browser: String,
    busy: f64,
}

impl Machine {
    /// To be called while nothing is measured.
    pub(super) fn look(browser: &Browser) -> Self {
        Self {
            processor: processor(),
            cores: thread::available_parallelism().map_or(1, usize::from),
            system: std::env::consts::OS.to_owned(),
            browser: browser.version(),
            busy: cores_in_use(),
        }
    }

    /// Remembers the busiest moment; to be called while nothing is measured.
    pub(super) fn look_again(&mut self) {
        self.busy = self.busy.max(cores_in_use());
    }

    /// Cores that other programs used at the busiest moment looked at.
    pub(super) fn busy(&self) -> f64 {
        self.busy
    }
}

/// Cores in use during a second; 0 where the system does not tell. The load average would still remember the compiler.
fn cores_in_use() -> f64 {
    let looked = || fs::read_to_string("/proc/stat").ok().and_then(|text| used_and_all(&text));
    let before = looked();
    thread::sleep(Duration::from_secs(1));
    let (Some(before), Some(after)) = (before, looked()) else { return 0.0 };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    (after.0 - before.0) / (after.1 - before.1).max(1.0) * cores as f64
}

/// Ticks spent working and ticks in all, from Linux's `/proc/stat`.
fn used_and_all(stat: &str) -> Option<(f64, f64)> {
    let ticks: Vec<f64> = stat.lines().next()?.split_whitespace().skip(1).map_while(|word| word.parse().ok()).collect();
    // user, nice, system, idle, waiting for the disk, interrupts (2), taken by other machines; the rest is counted twice.
    let all: f64 = ticks.get(..8)?.iter().sum();
    Some((all - ticks[3] - ticks[4], all))
}

fn processor() -> String {
    let told = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let linux = told.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    match linux {
        Some((_, name)) => name.trim().to_owned(),
        None => output(Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"]))
            .unwrap_or_else(|_| std::env::consts::ARCH.to_owned()),
    }
}

/// Today, and the commit that is measured.
pub(super) fn today_and_commit() -> anyhow::Result<(String, String)> {
    // Node is there anyway, and the standard library knows no calendar.
    let today = output(Command::new("node").args(["-p", "new Date().toISOString().slice(0, 10)"]))?;
    let git = |words: &[&str]| output(Command::new("git").current_dir(root()).args(words));
    let commit = git(&["rev-parse", "--short", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--", ":!docs"])?;
    Ok((today, if changed.is_empty() { commit } else { format!("{commit}, changed since") }))
}

fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command.stdin(Stdio::null()).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::used_and_all;

    #[test]
    fn waiting_is_not_working() {
        let stat = "cpu  10 2 3 400 5 1 1 8 7 7\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        assert_eq!(used_and_all(stat), Some((25.0, 430.0)));
        assert_eq!(used_and_all("cpu  10 2 3"), None);
        assert_eq!(used_and_all(""), None);
    }
}
