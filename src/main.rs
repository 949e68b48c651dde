//! The front doors: a window or a command on the desktop; in a browser the page, or the session's worker where the same
//! module is started in a worker.

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    match tandem::cli::start(words) {
        tandem::cli::Start::Done(status) => status,
        tandem::cli::Start::Window(link) => {
            env_logger::init();
            tandem::window(link).map_or_else(
                |error| {
                    log::debug!("{error}");
                    tandem::cli::no_window()
                },
                |()| std::process::ExitCode::SUCCESS,
            )
        }
    }
}

#[cfg(target_arch = "wasm32")]
fn main() {
    tandem::page::web_main();
}
