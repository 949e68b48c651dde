//! Tasks that build, serve and test Tandem: `cargo xtask TASK`.
//!
//! A task is a module with one public entry; this file is the only list of them.
//! Everything here runs on a bare Rust toolchain: nothing has to be `cargo install`ed.

mod args;
mod bench;
mod bench_page;
mod browser;
mod exact;
mod fuzz;
mod http;
mod learn;
mod serve;
mod site;
mod size;
mod test;
mod toolchain;

use std::process::ExitCode;

use anyhow::bail;

use crate::args::Args;

const USAGE: &str = "\
cargo xtask TASK

  serve [--port P] [--no-open] [--debug]
      build the page and serve it on this machine; --debug builds faster and trains slower
  dist
      write the page to dist/, ready for any static host under any path
  learn [--only ROW] [--again] [--engine cpu]
      train every experiment of the learning table, all seeds, and write docs/RESULTS.md (minutes)
  fuzz [--links N] [--opens N] [--seed S]
      read a million hostile links and open ten thousand of them; what is found joins the tests (minutes)
  bench [WORK…] [--rounds N] [--peers] [--busy]
      measure the works of docs/PERFORMANCE.md natively and in Chromium; --peers installs what else does them, measures it
      in turn with Tandem and writes the document's tables (a quarter of an hour); --busy measures beside other programs, too
  bench-page
      measure the page: download, first picture, training speed, script time per frame
  test [--only PART,PART]
      install what the tests need where that is possible, then run all of them; the parts are";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // Whoever asks a task for help gets the list: it says what each takes.
    let asks = words.iter().any(|word| word == "--help" || word == "-h");
    let task = if asks { "help" } else { words.first().map_or("", String::as_str) };
    match run(task, Args::new(words.iter().skip(1).cloned())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nxtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: &str, args: Args) -> anyhow::Result<()> {
    match task {
        "serve" => serve::serve(args),
        "dist" => serve::dist(args),
        "fuzz" => fuzz::fuzz(args),
        "learn" => learn::learn(args),
        "bench" => bench::bench(args),
        "bench-page" => bench_page::bench(args),
        "test" => test::test(args),
        "" | "help" => {
            println!("{USAGE}\n{}", test::parts().trim_end());
            Ok(())
        }
        other => bail!("there is no task `{other}`; `cargo xtask help` lists them"),
    }
}
