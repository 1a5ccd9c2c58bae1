//! `arena replay`: shows games, proves them, explains them, and asks other bots what they would
//! have played. One file a verb.

mod explain;
mod export;
mod games;
mod rerun;
mod show;
mod verify;

use anyhow::Context as _;
use clap::Subcommand;
use referee_core::{Record, Scene, Seat, Verdict};
use referee_games::{Moment, game, known_to};

use crate::{End, usage};

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

/// The table after this many moves (all of them without a number): as this seat knew it, or with
/// all hands open.
fn position(
    record: &Record,
    moments: &[Moment],
    last: &Scene,
    ply: Option<usize>,
    seat: Option<u8>,
) -> anyhow::Result<Scene> {
    let ply = ply.unwrap_or(moments.len());
    if ply > moments.len() {
        return usage(format!("--ply {ply}: the game has {} moves", moments.len()));
    }
    let next = moments.get(ply);
    let Some(seat) = seat else {
        return Ok(next.map_or(last, |moment| &moment.before).clone());
    };
    let seats = record.header.players.seats();
    if seat >= seats {
        return usage(format!(
            "--seat {seat}: the game has seats 0 to {}",
            seats - 1
        ));
    }
    let kind = game(&record.header.game).context("it has just been replayed")?;
    // Up to the next move.
    let until = next.map_or(record.events.len(), |moment| moment.at);
    let knew = known_to(kind, Seat::new(seat), &record.events[..until])?;
    knew.with_context(|| format!("seat {seat} was told nothing"))
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
