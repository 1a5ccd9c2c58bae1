//! `arena`: arranges games between bots and shows how they went.

mod adviser;
mod built_in;
mod classic;
mod draw;
mod hints;
mod metrics;
mod play;
mod pods;
mod report;
mod reporter;
mod secrets;
mod show;
mod verbs;

use std::{io::IsTerminal as _, process::ExitCode};

use arena_tournament::TournamentError;
use clap::Parser as _;
use referee_bots::SpecError;
pub(crate) use referee_cli::{End, Usage, bots, stop, usage};
use referee_cli::{Hidden, TryAgain};
use referee_core::{SetupError, printable_lines};
use referee_games::Mismatch;

use crate::verbs::{Cli, Format, meant};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if let Some(code) = Hidden::enter_sandbox() {
        return code;
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
            } else if error.is::<TryAgain>() {
                End::TryAgain
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
        .map(|line| referee_core::shorten(line, LONGEST_LINE))
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

/// A record is not of a game that was played: its game, and the first difference.
#[derive(Debug)]
struct NotReplayed(String, Mismatch);

impl std::fmt::Display for NotReplayed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} does not replay: {}", self.0, self.1)
    }
}

impl std::error::Error for NotReplayed {}
