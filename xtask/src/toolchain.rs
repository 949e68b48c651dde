//! What must be installed before the page can be built, and where things lie.
//!
//! What rustup can install is installed; what needs the system's package manager is named.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context as _, bail};

const WASM: &str = "wasm32-unknown-unknown";

/// The repository: where cargo runs this program from, which several checkouts may share.
pub(crate) fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let here = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        Path::new(&here).parent().expect("xtask lies in the repository").to_owned()
    })
}

/// Cargo's target directory, wherever the user's settings put it: this program was built in it.
pub(crate) fn target_dir() -> anyhow::Result<PathBuf> {
    let me = std::env::current_exe()?;
    Ok(me.ancestors().nth(2).context("xtask lies in target/PROFILE/")?.to_owned())
}

/// The cargo that runs this task, in the repository.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs a command with its output on the terminal; an exit status other than 0 is an error that shows the command.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let shown = shown(command);
    let status = command.status().with_context(|| format!("cannot start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

/// Whether a program of this name can be started.
pub(crate) fn has(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// A command as one would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    command.get_args().fold(program, |line, word| line + " " + &word.to_string_lossy())
}

/// Makes sure that cargo can build for the browser.
pub(crate) fn ensure_wasm() -> anyhow::Result<()> {
    if cfg!(unix) && !has("cc") {
        bail!(
            "the C linker `cc` is missing (build scripts and macros of the dependencies are linked with it)\n\
             install it: Debian, Ubuntu `apt install build-essential`; Fedora `dnf install gcc`; \
             Arch `pacman -S base-devel`; macOS `xcode-select --install`"
        );
    }
    let rustc = Command::new("rustc").args(["--print", "sysroot"]).current_dir(root()).output();
    let sysroot = rustc.context("cannot start rustc; install Rust from https://rustup.rs")?.stdout;
    let sysroot = PathBuf::from(String::from_utf8_lossy(&sysroot).trim());
    if sysroot.join("lib/rustlib").join(WASM).is_dir() {
        return Ok(());
    }
    println!("· adding the Rust target {WASM}");
    run(Command::new("rustup").args(["target", "add", WASM]).current_dir(root()))
        .context("the Rust target for browsers is missing; with rustup: `rustup target add wasm32-unknown-unknown`")
}
