//! `serve` and `dist`: the built page on this machine, or in a folder for a static host.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context as _;

use crate::args::Args;
use crate::http::Server;
use crate::site::{self, Flavour, Site};
use crate::toolchain;

const PORT: u16 = 8080;

/// `cargo xtask serve`.
pub(crate) fn serve(mut args: Args) -> anyhow::Result<()> {
    let port = args.value("--port")?.unwrap_or(PORT);
    let open = !args.flag("--no-open");
    let flavour = if args.flag("--debug") { Flavour::Debug } else { Flavour::Web };
    args.finish()?;

    let site = site::build(flavour)?;
    let server = Server::bind(port)?;
    let url = server.url();
    println!("\n  Tandem is at {url}\n  Ctrl-C ends it.\n");
    if open {
        open_browser(&url);
    }
    server.run(site);
    Ok(())
}

/// `cargo xtask dist`: every file once plain and, where that pays, once as `.gz` and `.br`.
///
/// The `.br` and `.gz` files are for servers that send them by themselves (nginx `gzip_static` and `brotli_static`,
/// Caddy `precompressed`); `tandem_bg.wasm.gz` is also what `boot.js` asks for on a server that compresses nothing.
pub(crate) fn dist(args: Args) -> anyhow::Result<()> {
    args.finish()?;
    let site = site::build(Flavour::Web)?;
    let dist = toolchain::root().join("dist");
    write(&site, &dist)?;
    println!("\n  The page is in {}: put that folder on any static host, under any path.\n", dist.display());
    Ok(())
}

/// Writes the page to a folder, in place of what was there.
pub(crate) fn write(site: &Site, folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot clear {}", folder.display()))?;
    }
    for (name, asset) in &site.files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().context("files lie in the folder")?)?;
        fs::write(&path, &asset.plain)?;
        for (ending, bytes) in [("gz", &asset.gzip), ("br", &asset.brotli)] {
            if let Some(bytes) = bytes {
                fs::write(folder.join(format!("{name}.{ending}")), bytes)?;
            }
        }
    }
    Ok(())
}

/// Asks the desktop to show the page; a machine without one is no error, the address is on the terminal.
fn open_browser(url: &str) {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        let mut command = Command::new("cmd");
        command.args(["/C", "start", ""]);
        command
    } else if std::env::var_os("DISPLAY").is_some() || std::env::var_os("WAYLAND_DISPLAY").is_some() {
        Command::new("xdg-open")
    } else {
        return;
    };
    if command.arg(url).stdout(Stdio::null()).stderr(Stdio::null()).spawn().is_err() {
        println!("  (no browser could be opened from here)");
    }
}
