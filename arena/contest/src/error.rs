//! Reasons why something of a contest can't be done, in words for the person who asked for it.

use arena_store::StoreError;
use arena_tournament::TournamentError;
use referee_net::TokenError;

/// Reason why something of a contest can't be done.
#[derive(Debug, thiserror::Error)]
pub enum ContestError {
    /// A file or an argument is wrong; it says what was expected.
    #[error("{0}")]
    Invalid(String),
    /// The store fails.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A tournament of the contest can't be made or read.
    #[error(transparent)]
    Tournament(#[from] TournamentError),
    /// No token can be made.
    #[error(transparent)]
    Token(#[from] TokenError),
}

impl ContestError {
    /// True if the caller can mend it.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Invalid(_) => true,
            Self::Store(error) => matches!(
                error,
                StoreError::Exists { .. } | StoreError::BadName { .. } | StoreError::Missing { .. }
            ),
            Self::Tournament(error) => error.is_usage(),
            Self::Token(_) => false,
        }
    }
}

pub(crate) fn invalid<T>(told: impl Into<String>) -> Result<T, ContestError> {
    Err(ContestError::Invalid(told.into()))
}
