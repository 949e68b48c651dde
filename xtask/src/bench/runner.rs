//! Starts whoever is measured and reads what they print: one process for one work, one thread each.
//!
//! Native programs are pinned to one core where the system can (`taskset`), which also tells libraries how many threads to
//! start. A page has one thread to compute with whatever the browser does beside it: nobody asks for shared memory.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use anyhow::{Context as _, bail};

use super::contest::{Contestant, Place, Program, Work};
use super::install::{self, Failures};
use super::line::{self, Line};
use crate::browser::Browser;
use crate::http::Server;
use crate::site::{self, Flavour};
use crate::toolchain::{cargo, has, run, target_dir};

/// Everything built, installed and served.
pub(super) struct Runner {
    tandem: PathBuf,
    python: PathBuf,
    browser: Browser,
    /// Addresses of Tandem's page and of the peers'.
    page: String,
    peers_pages: String,
    failures: Failures,
    core: Option<String>,
}

impl Runner {
    /// With peers or without.
    pub(super) fn new(peers: bool) -> anyhow::Result<Self> {
        let browser = Browser::ready()?;
        println!("· compiling the program, profile `release`");
        run(cargo().args(["build", "--release", "--package", "tandem", "--bin", "tandem"]))?;
        let tandem = target_dir()?.join("release").join(format!("tandem{}", std::env::consts::EXE_SUFFIX));
        let page = serve(site::build(Flavour::Web)?)?;
        let (mut failures, mut python, mut peers_pages) = (Failures::new(), PathBuf::new(), String::new());
        if peers {
            python = install::python(&mut failures)?;
            peers_pages = serve(install::pages(&mut failures)?)?;
        }
        Ok(Self { tandem, python, browser, page, peers_pages, failures, core: core() })
    }

    pub(super) fn browser(&self) -> &Browser {
        &self.browser
    }

    /// Has somebody do a work; an error says what went wrong with it.
    pub(super) fn measure(&self, by: &Contestant, work: &Work) -> anyhow::Result<Line> {
        if let Program::Peer { package, .. } = by.program
            && let Some(reason) = self.failures.get(package)
        {
            bail!("{reason}");
        }
        let output = self.command(by, work).output().context("it cannot be started")?;
        let line = line::read(&String::from_utf8_lossy(&output.stdout), work);
        match last_words(&output) {
            None => line,
            Some(reason) => line.and_then(|_| bail!("it failed after its result")).context(reason),
        }
    }

    fn command(&self, by: &Contestant, work: &Work) -> Command {
        match (&by.program, by.place) {
            (Program::Tandem, Place::Native) => {
                let mut command = self.pinned(&self.tandem);
                command.args(["bench", work.id, "--json"]);
                command
            }
            (Program::Peer { file, .. }, Place::Native) => {
                let mut command = self.pinned(&self.python);
                // Compiled Python would otherwise be written beside the sources.
                command.arg("-B").arg(install::folder().join(file)).arg(work.id);
                command.env("OMP_NUM_THREADS", "1").env("JAX_PLATFORMS", "cpu");
                command.env("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false");
                command
            }
            (Program::Tandem, Place::Wasm) => self.opened(&self.page, "", work),
            (Program::Peer { file, .. }, Place::Wasm) => self.opened(&self.peers_pages, file, work),
        }
    }

    fn pinned(&self, program: &PathBuf) -> Command {
        let Some(core) = &self.core else { return Command::new(program) };
        let mut command = Command::new("taskset");
        command.args(["--cpu-list", core]).arg(program);
        command
    }

    fn opened(&self, url: &str, file: &str, work: &Work) -> Command {
        let mut command = self.browser.node(url);
        command.env("TANDEM_PAGE", format!("{file}?bench={}", work.id)).arg("measure.mjs");
        command
    }
}

/// Serves files in the background and says where.
fn serve(site: site::Site) -> anyhow::Result<String> {
    let server = Server::bind(0)?;
    let url = server.url();
    server.run_in_background(site);
    Ok(url)
}

/// The last core that this program may use: the first one is where a system puts its own work.
fn core() -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok().filter(|_| has("taskset"))?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    list.trim().rsplit([',', '-']).next().map(str::to_owned)
}

/// What a program that failed said at last; `None` of one that did not fail.
pub(super) fn last_words(output: &Output) -> Option<String> {
    if output.status.success() {
        return None;
    }
    let said = String::from_utf8_lossy(&output.stderr);
    // Node and Python tell what kind of error it was at the beginning of a line, and where at some length.
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let telling = lines.clone().rfind(|line| line.contains("Error")).or_else(|| lines.next_back());
    Some(telling.map_or_else(|| output.status.to_string(), str::to_owned))
}
