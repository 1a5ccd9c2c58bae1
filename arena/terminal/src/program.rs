//! The life of a program: arguments, log, errors in words, exit codes.

use std::{io::IsTerminal as _, process::ExitCode};

use arena_tournament::TournamentError;
use clap::Parser;
use referee_bots::EntryError;
use referee_cli::{
    End, Hidden, TryAgain, Usage,
    text::{flush, print_help, tell},
};
use referee_core::{SetupError, printable_lines};

use crate::{Format, NotReplayed, secrets};

/// The command line of a program.
pub trait CommandLine: Parser {
    /// Format of log lines.
    fn log_format(&self) -> Format;

    /// Does what was typed.
    ///
    /// # Errors
    ///
    /// What was typed is wrong, or it failed.
    fn run(self) -> anyhow::Result<End>;

    /// Advice to users of other programs, for something that this one does not have.
    fn meant(_: &clap::Error) -> Option<&'static str> {
        None
    }
}

/// Reads the command line and does what it says: the whole of a program's `main`.
pub fn main<C: CommandLine>() -> ExitCode {
    if let Some(code) = Hidden::enter_sandbox() {
        return code;
    }
    secrets::hide();
    let command = match C::try_parse() {
        Ok(command) => command,
        Err(error) => {
            if let Err(error) = print_help(&error) {
                return failed(&error);
            }
            if let Some(meant) = C::meant(&error) {
                tell(&format!("\nhere it is: {meant}"));
            }
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    log(command.log_format());
    match command.run().and_then(|end| flush().map(|()| end)) {
        Ok(end) => end.into(),
        Err(error) => failed(&error),
    }
}

/// Says why the program has failed, and gives its exit code.
fn failed(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        return End::Interrupted.into();
    }
    tell(&format!("arena: {}", in_words(error)));
    let end = if is_usage(error) {
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

/// True if the mistake is in what was asked for.
fn is_usage(error: &anyhow::Error) -> bool {
    let tournament = error.downcast_ref::<TournamentError>();
    error.is::<Usage>()
        || error.is::<EntryError>()
        || error.is::<SetupError>()
        || tournament.is_some_and(TournamentError::is_usage)
}

/// Begins to write logs, to standard error.
fn log(format: Format) {
    let log = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .log_internal_errors(false)
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
