//! Errors of games of people.

use referee_core::SetupError;

/// The reason why a game could not be played. It is never a player's fault.
#[derive(Debug, thiserror::Error)]
pub enum PeopleGameError {
    /// Its set-up is invalid, or it has other seats.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// There is no room for the socket of a bot.
    #[error("no socket for a bot: {0}")]
    Socket(#[source] std::io::Error),
    /// This machine lacks what a bot needs.
    #[error(transparent)]
    Shortage(#[from] referee::Shortage),
    /// A bot can't go on with a game that was begun elsewhere.
    #[error("{0} can't be resumed in the middle of a game; a bot says that it can by `can_resume`")]
    CantResume(String),
    /// The answers that were kept are not of this game.
    #[error("the answers that were kept are not those of this game")]
    Damaged,
}

/// Reason why a move was not taken back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTakenBack {
    /// The seat has not moved yet.
    #[error("there is no move to take back")]
    NoMove,
    /// Several people play a game with secrets. The game is dealt as before, so somebody would know
    /// what comes, which no call has told them.
    #[error(
        "several people play, and the same hands and tiles would come again: in a game with secrets \
         no move is taken back then"
    )]
    Secrets,
    /// A bot can't be caught up in the middle of a game.
    #[error(
        "{0} can't be resumed in the middle of a game, so no move can be taken back; a bot says that \
         it can by `can_resume`"
    )]
    CantResume(String),
}

/// Reason why there is no hint.
#[derive(Debug, thiserror::Error)]
pub enum HintError {
    /// The seat is not asked.
    #[error("it is not this seat's turn")]
    NotAsked,
    /// The bot failed.
    #[error("the bot that was asked for a hint failed: {0}")]
    Bot(#[source] arena_review::BotError),
}
