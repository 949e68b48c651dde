//! `cargo xtask bench-page`: what a visitor waits for and what the page leaves of the processor, as a report.
//!
//! Nothing is asserted but the size budget. Training runs natively too, so the table shows what the browser costs.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, ensure};

use crate::args::Args;
use crate::browser::Browser;
use crate::http::Server;
use crate::site::{self, Flavour};
use crate::{exact, size};

/// Name, link and updates for the native run (about as much as the browser does in its ten seconds).
const LINKS: [(&str, &str, u32); 2] = [
    ("pellet 4x4, QMIX", "#v=1&env=pellet&algo=qmix&seed=7&budget=10000000", 4000),
    ("two-step, QMIX", "#v=1&env=two_step&algo=qmix&seed=7&budget=10000000", 4000),
];

/// `cargo xtask bench-page`.
pub(crate) fn bench(args: Args) -> anyhow::Result<()> {
    args.finish()?;
    let browser = Browser::ready()?;
    let runner = exact::runner()?;
    let site = site::build(Flavour::Web)?;
    let budget = size::check(&site);

    println!("· measuring in Chromium, about a minute");
    let server = Server::bind(0)?;
    let mut node = browser.node(&server.url());
    server.run_in_background(site);
    let links: Vec<String> = LINKS.iter().map(|(name, link, _)| format!("{name:?}:{link:?}")).collect();
    let output = node.env("TANDEM_LINKS", format!("{{{}}}", links.join(","))).arg("bench.mjs").output()?;
    ensure!(output.status.success(), "bench.mjs failed:\n{}", String::from_utf8_lossy(&output.stderr));
    let page = String::from_utf8(output.stdout)?;
    let of = |kind: &str, name: &str| {
        page.lines().find(|line| line.contains(&format!("{kind:?}")) && line.contains(name)).unwrap_or_default()
    };

    let picture = of("picture", "");
    println!("\n  download            {}", budget.as_ref().map_or_else(ToString::to_string, Clone::clone));
    println!("  bytes → picture     median {} ms, worst {} ms", number(picture, "median"), number(picture, "worst"));
    println!("\n  {:18} {:>22} {:>22} {:>30}", "", "env steps/s", "updates/s", "page script per frame");
    println!(
        "  {:18} {:>11}{:>11} {:>11}{:>11} {:>30}",
        "", "page", "native", "page", "native", "median, p95 ms at frames/s"
    );
    for (name, link, updates) in LINKS {
        let line = of("training", name);
        let start = Instant::now();
        let native = Command::new(&runner).args([link, &updates.to_string()]).output()?;
        ensure!(native.status.success(), "{}", String::from_utf8_lossy(&native.stderr));
        let seconds = start.elapsed().as_secs_f64();
        let env_steps: f64 = number(&String::from_utf8(native.stdout)?, "envSteps").parse().context("a count")?;
        println!(
            "  {name:18} {:>11}{:>11.0} {:>11}{:>11.0} {:>30}",
            number(line, "envSteps"),
            env_steps / seconds,
            number(line, "updates"),
            f64::from(updates) / seconds,
            format!("{}, {} at {}", number(line, "median"), number(line, "p95"), number(line, "frames")),
        );
    }
    budget.map(drop)
}

/// A number out of a line of JSON, rounded for reading.
fn number(line: &str, key: &str) -> String {
    let Some((_, rest)) = line.split_once(&format!("\"{key}\":")) else { return "?".to_owned() };
    let text = rest.split([',', '}']).next().unwrap_or_default();
    match text.parse::<f64>() {
        Ok(value) if value < 100.0 && value.fract() != 0.0 => format!("{value:.1}"),
        Ok(value) => format!("{value:.0}"),
        Err(_) => text.to_owned(),
    }
}
