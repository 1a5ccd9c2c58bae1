//! `arena replay`: shows games, proves them, explains them, and asks other bots what they would
//! have played. One file a verb.

mod explain;
mod export;
mod games;
mod rerun;
mod show;
mod verify;

use clap::Subcommand;
use referee_core::{Record, Verdict};

pub(crate) use self::export::write;
use crate::End;

#[derive(Subcommand)]
pub(crate) enum Replay {
    /// Show a game: its moves, its times, its board; of a folder the list of its games
    Show(show::Show),
    /// Play games again and compare: exit code 1 if one differs from its record
    Verify(verify::Verify),
    /// Say which move turned a game, by playing on from each position
    Explain(explain::Explain),
    /// Ask another bot what it would have played in one seat of a game
    Rerun(rerun::Rerun),
    /// Write a game as a picture, a moving picture, or a page to step through
    Export(export::Export),
}

impl Replay {
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        match self {
            Self::Show(show) => show.run().await,
            Self::Verify(verify) => verify.run().await,
            Self::Explain(explain) => explain.run().await,
            Self::Rerun(rerun) => rerun.run().await,
            Self::Export(export) => export.run().await,
        }
    }
}

/// Who came first.
enum Winner<'a> {
    Nobody,
    One(&'a str),
    Several,
}

impl<'a> Winner<'a> {
    fn of(record: &'a Record) -> Self {
        let places = record
            .result
            .verdict
            .outcome()
            .map(|outcome| &outcome.places);
        let first = places.into_iter().flat_map(|places| places.iter());
        let mut first = first.filter(|(_, place)| **place == 1);
        match (first.next(), first.next()) {
            (None, _) => Self::Nobody,
            (Some((seat, _)), None) => Self::One(&record.header.players[seat]),
            (Some(_), Some(_)) => Self::Several,
        }
    }
}

/// How a game ended.
pub(crate) fn in_words(record: &Record) -> String {
    match &record.result.verdict {
        Verdict::Void { reason } => format!("void: {reason}"),
        Verdict::Finished { outcome, fouls } => {
            let won = match Winner::of(record) {
                Winner::Nobody => "nobody won".to_owned(),
                Winner::One(winner) => format!("{winner} won"),
                Winner::Several => "a draw".to_owned(),
            };
            let mut text = format!("{won}: {}", outcome.reason);
            for foul in fouls {
                text += &format!("; {}: {}", record.header.players[foul.seat], foul.foul);
            }
            text
        }
    }
}
