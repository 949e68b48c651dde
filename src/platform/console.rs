//! The terminal of a program without a window: lines out, sentences to the error stream, Ctrl-C, seconds.

use std::fs::File;
use std::io::{ErrorKind, Result, Seek as _, SeekFrom, Write as _};
#[cfg(unix)]
use std::os::fd::AsFd as _;
#[cfg(windows)]
use std::os::windows::io::AsHandle as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::SIGINT;
use signal_hook::flag::{register, register_conditional_shutdown};

/// Standard output, written line by line: a line stands there whole or not at all.
#[derive(Debug)]
pub struct Lines(File);

impl Lines {
    /// Standard output without the standard library's buffer, which would lose sight of what was written.
    pub fn stdout() -> Result<Self> {
        let stdout = std::io::stdout();
        #[cfg(unix)]
        let owned = stdout.as_fd().try_clone_to_owned()?;
        #[cfg(windows)]
        let owned = stdout.as_handle().try_clone_to_owned()?;
        Ok(Self(File::from(owned)))
    }

    /// Writes `line` and its end. What a full disk left of a line in a file is taken back.
    pub fn write(&mut self, line: &str) -> Result<()> {
        let bytes = format!("{line}\n").into_bytes();
        let mut done = 0;
        while done < bytes.len() {
            match self.0.write(&bytes[done..]) {
                Ok(0) => return self.take_back(done, ErrorKind::WriteZero.into()),
                Ok(count) => done += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return self.take_back(done, error),
            }
        }
        Ok(())
    }

    /// Cuts the last `count` bytes off, where these are the end of a file.
    fn take_back(&mut self, count: usize, error: std::io::Error) -> Result<()> {
        if count > 0
            && let Ok(end) = self.0.stream_position()
            && self.0.metadata().is_ok_and(|file| file.is_file() && file.len() == end)
        {
            let start = end - count as u64;
            // The first error is the one to tell.
            let _ = self.0.set_len(start).and_then(|()| self.0.seek(SeekFrom::Start(start)));
        }
        Err(error)
    }
}

/// Tells a person something on the error stream; where that is closed there is nobody to tell.
pub fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The language the terminal is set to, as a tag such as `zh_CN.UTF-8`.
pub fn language() -> Option<String> {
    ["LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(|name| std::env::var(name).ok().filter(|tag| !tag.is_empty()))
}

/// Seconds since this call.
pub fn stopwatch() -> impl Fn() -> f64 {
    let start = super::native::now();
    move || start.elapsed().as_secs_f64()
}

/// Whether Ctrl-C was pressed. The first one asks the program to come to an end, the second ends it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Takes Ctrl-C over from the system. Where that fails Ctrl-C ends the program at once.
    pub fn listen() -> Self {
        let interrupt = Self::default();
        // In this order: what the first one sets, the second one finds set.
        let second = register_conditional_shutdown(SIGINT, 130, Arc::clone(&interrupt.0));
        if let Err(error) = second.and_then(|_| register(SIGINT, Arc::clone(&interrupt.0))) {
            tell(&error.to_string());
        }
        interrupt
    }

    /// Whether it was pressed.
    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
