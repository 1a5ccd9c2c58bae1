//! Standard output.

use clap::ValueEnum;
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
