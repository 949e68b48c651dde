//! Tasks that build, serve and test Tandem: `cargo xtask TASK`.
//!
//! A task is a module with one public entry; this file is the only list of them.
//! Everything here runs on a bare Rust toolchain: nothing has to be `cargo install`ed.

mod args;
mod http;
mod serve;
mod site;
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
";

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let task = words.next().unwrap_or_default();
    match run(&task, Args::new(words)) {
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
        "" | "help" | "-h" | "--help" => {
            print!("{USAGE}");
            Ok(())
        }
        other => bail!("there is no task `{other}`\n\n{USAGE}"),
    }
}
