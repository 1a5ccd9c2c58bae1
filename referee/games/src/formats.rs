//! Finished games in the formats of other programs: those of every game, and those of one.

use referee_core::{GameFormat, NotWritable, Occasion, Record};

use crate::{GAMES, Mismatch, game, verify};

/// Reason why a game was not written in a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotWritten {
    /// Its record is not one of a possible game.
    #[error("it does not play again: {0}")]
    NotReplayed(#[from] Mismatch),
    /// The format can't say something of it.
    #[error(transparent)]
    NotWritable(#[from] NotWritable),
}

/// All formats, each once: first those of every game.
#[must_use]
pub fn formats() -> Vec<GameFormat> {
    let mut formats = Vec::new();
    for format in GAMES.iter().flat_map(|kind| kind.formats()) {
        if !formats.contains(&format) {
            formats.push(format);
        }
    }
    formats
}

/// A finished game in the format of this name, with a line break at its end. The game is played
/// again for it, so nothing is written of a record that is none of a possible game.
///
/// # Errors
///
/// [`NotWritten`]
pub fn write_game(
    format: &str,
    record: &Record,
    occasion: &Occasion,
) -> Result<String, NotWritten> {
    let header = &record.header;
    let kind = game(&header.game).ok_or_else(|| Mismatch::unknown(&header.game))?;
    verify(record)?;
    Ok(kind.write_game(format, record, occasion)?)
}
