//! One position of a game that was recorded.

use anyhow::Context as _;
use referee_cli::usage;
use referee_core::{Record, Scene, Seat};
use referee_games::{Mismatch, Moment, game, known_to};

/// The table after this many moves (all of them without a number): as this seat knew it, or with
/// all hands open.
///
/// # Errors
///
/// The game has no such move or seat, or the seat was told nothing.
pub fn position(
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

/// A record is not of a game that was played: its game, and the first difference.
#[derive(Debug)]
pub struct NotReplayed(pub String, pub Mismatch);

impl std::fmt::Display for NotReplayed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} does not replay: {}", self.0, self.1)
    }
}

impl std::error::Error for NotReplayed {}
