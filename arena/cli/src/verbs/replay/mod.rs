//! `arena replay`: shows games, proves them, explains them, and asks other bots what they would
//! have played. One file a verb.

mod explain;
mod rerun;
mod show;
mod verify;

use arena_terminal::beside::PictureArgs;
use clap::Subcommand;

use crate::{End, beside};

#[derive(Subcommand)]
pub(crate) enum Replay {
    /// Show a game: its moves, its times, its board; of a folder or a tournament the list of
    /// its games
    Show(show::Show),
    /// Play games again and compare: exit code 1 if one differs from its record
    Verify(verify::Verify),
    /// Say which move turned a game, by playing on from each position
    Explain(explain::Explain),
    /// Ask another bot what it would have played in one seat of a game
    Rerun(rerun::Rerun),
    /// Write a game as a picture, a moving picture, or a page to step through
    Export(PictureArgs),
}

impl Replay {
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        match self {
            Self::Show(show) => show.run().await,
            Self::Verify(verify) => verify.run().await,
            Self::Explain(explain) => explain.run().await,
            Self::Rerun(rerun) => rerun.run().await,
            Self::Export(_) => beside::go_on_as_serve(),
        }
    }
}
