//! The front doors: a window on the desktop; in a browser the page, or the session's worker where the same module is
//! started in a worker.

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    env_logger::init();
    tandem::window(std::env::args().nth(1))
}

#[cfg(target_arch = "wasm32")]
fn main() {
    tandem::page::web_main();
}
