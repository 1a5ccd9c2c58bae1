//! Reasons why a check can't go on.

use std::io;

use referee::Shortage;
use referee_bots::NotRunning;
use referee_core::{Foul, SetupError};
use tokio::task::JoinError;

/// Reason why a check can't go on. It is never the bot's fault.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// A folder for a bot's socket can't be made.
    #[error("could not make a folder among the temporary files (TMPDIR)")]
    Socket(#[source] io::Error),
    /// A record can't be written.
    #[error("could not write a record")]
    Record(#[source] io::Error),
    /// A game refuses a set-up that it names itself.
    #[error("could not begin a game")]
    Setup(#[from] SetupError),
    /// We lack what the bot needs.
    #[error(transparent)]
    Shortage(#[from] Shortage),
    /// A thread that measured a process has panicked.
    #[error("could not measure the bot's process")]
    Measure(#[from] JoinError),
}

/// Reason why a stage ends before its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Halt {
    /// We failed.
    #[error(transparent)]
    Failed(#[from] CheckError),
    /// The bot can't be started or reached any more.
    #[error("{0}")]
    Gone(Foul),
}

impl From<NotRunning> for Halt {
    fn from(error: NotRunning) -> Self {
        match error {
            NotRunning::Foul(foul) => Self::Gone(foul),
            NotRunning::Shortage(shortage) => Self::Failed(shortage.into()),
            NotRunning::Socket(error) => Self::Failed(CheckError::Socket(error)),
        }
    }
}

impl From<Shortage> for Halt {
    fn from(shortage: Shortage) -> Self {
        Self::Failed(shortage.into())
    }
}

impl From<JoinError> for Halt {
    fn from(error: JoinError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<SetupError> for Halt {
    fn from(error: SetupError) -> Self {
        Self::Failed(error.into())
    }
}
