//! `arena replay`: shows games, proves them, explains them, asks other bots what they would have
//! played, and writes them for other programs. One file a verb.

mod explain;
mod export;
mod rerun;
mod show;
mod verify;

pub(crate) use self::explain::analyst;
use arena_terminal::beside::{ExportArgs, ExportFormat};
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
    /// Write games as text for other programs (PGN and others), or one as a picture or a page
    Export(ExportArgs),
}

impl Replay {
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        match self {
            Self::Show(show) => show.run().await,
            Self::Verify(verify) => verify.run().await,
            Self::Explain(explain) => explain.run().await,
            Self::Rerun(rerun) => rerun.run().await,
            Self::Export(args) => match args.format()? {
                ExportFormat::Text(format) => export::run(&args, format).await,
                ExportFormat::Picture(_) => beside::go_on_as_serve(),
            },
        }
    }
}
