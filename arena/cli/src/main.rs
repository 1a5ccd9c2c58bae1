//! `arena`: arranges games between bots and shows how they went.

mod check;
mod classic;
mod draw;
mod entry;
mod files;
mod report;
mod run;
mod setups;
mod stop;
mod strength;
mod tally;
mod tournament;
mod verbs;

use std::{io::IsTerminal as _, process::ExitCode};

use clap::Parser as _;

use crate::verbs::{Cli, Format};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    log(cli.log_format());
    match cli.run() {
        Ok(end) => end.into(),
        Err(error) if is_broken_pipe(&error) => End::Interrupted.into(),
        Err(error) => {
            anstream::eprintln!("arena: {error:#}");
            match error.downcast_ref::<Usage>() {
                Some(_) => End::Usage.into(),
                None => End::Failed.into(),
            }
        }
    }
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

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Done.
    Done,
    /// It ran, and the answer is no.
    No,
    /// It was asked for something that there is not.
    Usage,
    /// We failed.
    Failed,
    /// It was stopped before the end; what there is has been shown.
    Interrupted,
}

impl From<End> for ExitCode {
    fn from(end: End) -> Self {
        Self::from(match end {
            End::Done => 0,
            End::No => 1,
            End::Usage => 2,
            End::Failed => 3,
            End::Interrupted => 130,
        })
    }
}

/// What a person asked for can't be: what was expected, what to do.
#[derive(Debug)]
struct Usage(String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Refuses what a person asked for.
fn usage<T>(why: impl Into<String>) -> anyhow::Result<T> {
    Err(Usage(why.into()).into())
}
