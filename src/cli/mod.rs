//! The command line: what the words behind `tandem` ask for. Without a subcommand a window opens; with one nothing of
//! the window is touched.
//!
//! Every refusal is a sentence of the text table, in the terminal's language, and an exit status other than 0: 2 for a
//! command line that cannot be carried out, 1 for what went wrong on the way, 130 for Ctrl-C.

mod args;
mod bench;
mod conformance;
mod report;
mod train;

use std::process::ExitCode;

use tandem_core::experiment::link::has_keys;
use tandem_core::experiment::snapshot::Sentence;

use self::args::Args;
use crate::platform::console::{Lines, language, tell};
use crate::view::text::{Lang, Texts};

/// What the command line asks for.
#[derive(Clone, Debug)]
pub enum Start {
    /// A window on the experiment of that link.
    Window(Option<String>),
    /// Nothing more: it is done.
    Done(ExitCode),
}

/// Why a subcommand ended early.
#[derive(Debug)]
enum Failure {
    /// The command line cannot be carried out.
    Refused(Sentence),
    /// Standard output takes no more.
    Output(std::io::Error),
}

impl From<Sentence> for Failure {
    fn from(sentence: Sentence) -> Self {
        Self::Refused(sentence)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Output(error)
    }
}

/// Carries out what `words` (without the program's name) ask for.
pub fn start(words: impl Iterator<Item = String>) -> Start {
    let mut words = words.peekable();
    let texts = texts();
    let Some(first) = words.peek() else { return Start::Window(None) };
    let result = match first.as_str() {
        "train" => {
            let mut args = Args::new(words.skip(1));
            let asks = args.flag("--help") || args.flag("-h");
            if asks { print(texts.t("cli.help")) } else { train::train(args, texts) }
        }
        "bench" => {
            let mut args = Args::new(words.skip(1));
            let asks = args.flag("--help") || args.flag("-h");
            if asks { print(texts.t("cli.help")) } else { bench::bench(args, texts) }
        }
        "conformance" => {
            let mut args = Args::new(words.skip(1));
            let asks = args.flag("--help") || args.flag("-h");
            if asks { print(texts.t("cli.help")) } else { conformance::conformance(args, texts) }
        }
        "help" | "-h" | "--help" => print(texts.t("cli.help")),
        "-V" | "--version" => print(concat!("tandem ", env!("CARGO_PKG_VERSION"))),
        link if has_keys(link) || link.contains("://") || link.trim_start_matches('#').is_empty() => {
            return Start::Window(words.next());
        }
        other => Err(Sentence::new("cli.unknown_command", &[other]).into()),
    };
    Start::Done(match result {
        Ok(status) => status,
        Err(Failure::Refused(sentence)) => {
            tell(&texts.sentence(&sentence));
            ExitCode::from(2)
        }
        Err(Failure::Output(error)) => {
            tell(&texts.sentence(&output_sentence(&error)));
            ExitCode::FAILURE
        }
    })
}

/// Says that there can be no window, and what there can be instead.
pub fn no_window() -> ExitCode {
    tell(texts().t("cli.no_window"));
    ExitCode::FAILURE
}

fn texts() -> Texts {
    Texts { lang: language().as_deref().and_then(Lang::from_tag).unwrap_or_default() }
}

fn print(text: &str) -> Result<ExitCode, Failure> {
    Lines::stdout()?.write(text.trim_end())?;
    Ok(ExitCode::SUCCESS)
}

fn output_sentence(error: &std::io::Error) -> Sentence {
    use std::io::ErrorKind::{BrokenPipe, FileTooLarge, QuotaExceeded, StorageFull};
    let id = match error.kind() {
        BrokenPipe => "cli.output_closed",
        StorageFull | QuotaExceeded | FileTooLarge => "cli.output_full",
        _ => "cli.output_failed",
    };
    Sentence::new(id, &[&error.to_string()])
}
