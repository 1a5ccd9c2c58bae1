//! Standard output, and the form of log lines.

use clap::{Args, ValueEnum};
use referee_cli::usage;

/// What goes to standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// One event a line, and nothing else.
    Json,
}

impl Format {
    /// True if the moves of running games are printed, which events alone say.
    ///
    /// # Errors
    ///
    /// They are asked for, and no events are printed.
    pub fn prints_moves(self, live: bool) -> anyhow::Result<bool> {
        match (live, self) {
            (true, Self::Text) => usage("--live prints events: expected --format json with it"),
            _ => Ok(live),
        }
    }
}

/// How every program of the arena writes its log.
#[derive(Args)]
pub struct LogFormatArgs {
    /// How log lines are written to standard error; RUST_LOG says which, as in
    /// RUST_LOG=arena=debug.
    #[arg(long, env = "ARENA_LOG_FORMAT", value_enum, default_value_t = Format::Text, global = true, hide_short_help = true)]
    pub log_format: Format,
}
