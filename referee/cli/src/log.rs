//! The log of a program, which goes to standard error.

use std::io::IsTerminal as _;

use clap::{Args, ValueEnum};
use tracing_subscriber::EnvFilter;

/// Form of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One event a line, and nothing else.
    Json,
}

/// How every program of the arena writes its log.
#[derive(Args)]
pub struct LogFormatArgs {
    /// How log lines are written to standard error; RUST_LOG says which, as in
    /// RUST_LOG=arena=debug.
    #[arg(long, env = "ARENA_LOG_FORMAT", value_enum, default_value_t = LogFormat::Text, global = true, hide_short_help = true)]
    pub log_format: LogFormat,
}

impl LogFormat {
    /// Begins to write logs: those that RUST_LOG names, or else the usual ones.
    pub fn begin(self, usual: &str) {
        let log = tracing_subscriber::fmt()
            .with_writer(std::io::stderr)
            .log_internal_errors(false)
            .with_ansi(std::io::stderr().is_terminal())
            .with_env_filter(
                EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(usual)),
            );
        match self {
            Self::Text => log.init(),
            Self::Json => log.json().init(),
        }
    }
}
