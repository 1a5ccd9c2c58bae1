//! Reasons why a game can't be reviewed.

use std::io;

use referee::GameError;
use referee_games::Mismatch;

use crate::playouts::BotError;

/// Reason why a game can't be reviewed.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// The record is not what it says.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// The bot in this process failed.
    #[error("could not play on with the bot")]
    Bot(#[source] BotError),
    /// A folder for a bot's socket can't be made.
    #[error("could not make a folder among the temporary files (TMPDIR)")]
    Socket(#[source] io::Error),
    /// The moves of one seat were to be judged by hands that it did not know.
    #[error("what one seat knew is judged by a bot with estimates alone")]
    OpenHands,
    /// The bot could not be asked, which is not its fault.
    #[error("could not ask the bot")]
    Play(#[from] GameError),
}
