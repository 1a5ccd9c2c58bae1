//! Reasons why a tournament can't be made, run or proved.

use std::{error::Error, io, path::PathBuf};

use arena_ladder::schedule::NotScheduled;
use arena_store::StoreError;
use referee_bots::EntryError;
use referee_core::{RecordError, SetupError};
use referee_worker::WorkError;

/// Reason why a tournament can't be made, run or proved. A bot's foul is never such a reason: it is
/// a result.
#[derive(Debug, thiserror::Error)]
pub enum TournamentError {
    /// The request is not possible: the text says what was expected, what came, what to do.
    #[error("{0}")]
    Invalid(String),
    /// A bot that can't take part.
    #[error(transparent)]
    Spec(#[from] EntryError),
    /// A set-up that is none.
    #[error("setup: {0}")]
    Setup(#[from] SetupError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file could not be read or written.
    #[error("could not use {path}")]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        error: io::Error,
    },
    /// Bots can't be started here.
    #[error(transparent)]
    Launch(#[from] referee_bots::LaunchError),
    /// Output could not be written.
    #[error("could not write")]
    Output(#[from] io::Error),
    /// The system failed.
    #[error("{what}")]
    System {
        /// The thing that could not be done.
        what: &'static str,
        /// The reason why not.
        #[source]
        error: Box<dyn Error + Send + Sync>,
    },
    /// A worker could not go on.
    #[error(transparent)]
    Work(#[from] WorkError),
    /// A record can't be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Results and schedule contradict each other.
    #[error("{0}; another version of the arena may have made it")]
    Inconsistent(String),
    /// The results name a group that the schedule does not have.
    #[error(transparent)]
    NotScheduled(#[from] NotScheduled),
}

impl TournamentError {
    /// True if the mistake is in what was asked for, and not ours.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        matches!(self, Self::Invalid(_) | Self::Spec(_) | Self::Setup(_))
    }

    /// True if the same may succeed later: the store or the system has failed, and what was asked
    /// for is possible.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Store(error) => error.may_pass(),
            Self::Output(_) | Self::System { .. } => true,
            _ => false,
        }
    }

    /// The thing that it waits for, where the same may succeed later, with this error, in words.
    #[must_use]
    pub fn waits_for(&self) -> Option<String> {
        let what = match self {
            Self::Store(error) => error.cure().words(),
            _ => "the arena's own machine",
        };
        self.may_pass().then(|| format!("{what}: {self}"))
    }

    pub(crate) fn system(
        what: &'static str,
        error: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        let error = error.into();
        Self::System { what, error }
    }
}

/// Refuses what was asked for.
pub(crate) fn invalid<T>(why: impl Into<String>) -> Result<T, TournamentError> {
    Err(TournamentError::Invalid(why.into()))
}
