//! `arena`: arranges games between bots and shows how they went.

mod bots;
mod classic;
mod draw;
mod files;
mod hints;
mod metrics;
mod play;
mod report;
mod reporter;
mod sandbox;
mod secrets;
mod show;
mod stop;
mod verbs;

use std::{io::IsTerminal as _, process::ExitCode};

use arena_tournament::TournamentError;
use clap::Parser as _;
use referee_core::{SetupError, printable_lines};
use referee_games::Mismatch;
use referee_worker::SpecError;

use crate::verbs::{Cli, Format, meant};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // A process that builds walls: before anything that it does not need.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|verb| verb == sandbox::VERB)
    {
        return referee_sandbox::enter();
    }
    secrets::hide();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Whoever closed its end does not want to know.
            let _ = error.print();
            if let Some(meant) = meant(&error) {
                anstream::eprintln!("\nhere it is: {meant}");
            }
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    log(cli.log_format());
    match cli.run() {
        Ok(end) => end.into(),
        Err(error) if is_broken_pipe(&error) => End::Interrupted.into(),
        Err(error) => {
            anstream::eprintln!("arena: {}", in_words(&error));
            let end = if is_usage(&error) {
                End::Usage
            } else if error.is::<NotReplayed>() {
                End::No
            } else {
                End::Failed
            };
            end.into()
        }
    }
}

/// An error in words. It may quote a file, an answer of a database, or a name.
fn in_words(error: &anyhow::Error) -> String {
    const LONGEST_LINE: usize = 2000;
    const MOST_LINES: usize = 50;
    let words = printable_lines(&format!("{error:#}"));
    let lines = words.lines().take(MOST_LINES);
    let lines: Vec<String> = lines
        .map(|line| report::shorten(line, LONGEST_LINE))
        .collect();
    lines.join("\n")
}

/// Whether the mistake is in what was asked for.
fn is_usage(error: &anyhow::Error) -> bool {
    let tournament = error.downcast_ref::<TournamentError>();
    error.is::<Usage>()
        || error.is::<SpecError>()
        || error.is::<SetupError>()
        || tournament.is_some_and(TournamentError::is_usage)
}

/// Begins to write logs, to standard error.
fn log(format: Format) {
    let log = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "warn".into()),
        );
    match format {
        Format::Text => log.init(),
        Format::Json => log.json().init(),
    }
}

/// Whoever read our output has read enough: that needs no words.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

/// How the program ended, with its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Done.
    Done = 0,
    /// It ran, and the answer is no.
    No = 1,
    /// What was asked for is not possible.
    Usage = 2,
    /// We failed.
    Failed = 3,
    /// It was stopped before the end; the results so far have been shown.
    Interrupted = 130,
}

impl From<End> for ExitCode {
    fn from(end: End) -> Self {
        Self::from(end as u8)
    }
}

/// What a person asked for is not possible: what was expected, what to do.
#[derive(Debug)]
struct Usage(String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// A record is not of a game that was played: its game, and the first difference.
#[derive(Debug)]
struct NotReplayed(String, Mismatch);

impl std::fmt::Display for NotReplayed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} does not replay: {}", self.0, self.1)
    }
}

impl std::error::Error for NotReplayed {}

/// Refuses what a person asked for.
fn usage<T>(why: impl Into<String>) -> anyhow::Result<T> {
    Err(Usage(why.into()).into())
}
