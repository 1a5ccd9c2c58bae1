//! What can go wrong with a store, in words for the person who runs it.

use std::{io, sync::Arc};

/// Why the store could not do it. It can be cloned, since one transaction may
/// serve many callers.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The database can't be reached or made.
    #[error("could not open the store {location}: {why}")]
    Open {
        /// Its path, or its URL without the password.
        location: String,
        /// What went wrong, and what to do.
        why: String,
    },
    /// The database belongs to somebody else.
    #[error(
        "could not open the store {location}: the database holds something else; name a file or a database of its own"
    )]
    NotOurs {
        /// Its path, or its URL without the password.
        location: String,
    },
    /// The database is of a later version.
    #[error(
        "could not open the store {location}: a newer arena has written it (version {found} of the tables; this one knows {known}); use that arena, or another database"
    )]
    Newer {
        /// Its path, or its URL without the password.
        location: String,
        /// The version of its tables.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// A name is taken.
    #[error("there is a {what} `{name}` already; choose another {choice}")]
    Exists {
        /// What has the name.
        what: &'static str,
        /// The name.
        name: String,
        /// What may be chosen: a name or a version.
        choice: &'static str,
    },
    /// A name that can't be one.
    #[error("`{name}` can't be the {what}: {why}")]
    BadName {
        /// What was to have it.
        what: &'static str,
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is no such thing.
    #[error("there is no {what} `{name}`")]
    Missing {
        /// What there is none of.
        what: &'static str,
        /// Its name or number.
        name: String,
    },
    /// Another arena runs the tournament.
    #[error("tournament {id} is being run by {who}; stop that one first, or wait until it is done")]
    Claimed {
        /// The number of the tournament.
        id: i64,
        /// Host and process, as far as they are known.
        who: String,
    },
    /// A tournament that is over stays so: its root is open.
    #[error("tournament {id} is over and can't be {to}")]
    Over {
        /// The number of the tournament.
        id: i64,
        /// The state that it was to have.
        to: &'static str,
    },
    /// A game that contradicts itself or its group.
    #[error("game {group}.{seating} can't be stored: {why}")]
    BadGame {
        /// Its group.
        group: u64,
        /// Its seating.
        seating: u32,
        /// What is wrong with it.
        why: String,
    },
    /// A text that is no export, or not a whole one. Nothing of it is kept.
    #[error("could not import line {line}: {why}; nothing has been imported")]
    Import {
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// What lies in the database can't be read.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// A game came after the writer was closed.
    #[error("the writer is closed")]
    Closed,
    /// A file could not be read or written.
    #[error("could not read or write: {0}")]
    Io(Arc<io::Error>),
    /// The database has failed.
    #[error("the database failed: {0}")]
    Database(Arc<sqlx::Error>),
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(Arc::new(error))
    }
}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> Self {
        Self::Io(Arc::new(error))
    }
}

/// Whether a key was there already.
pub(crate) fn is_taken(error: &sqlx::Error) -> bool {
    error
        .as_database_error()
        .is_some_and(|error| error.is_unique_violation())
}

impl StoreError {
    /// Whether the same may well succeed in a moment: another writes, or the server
    /// is away.
    pub(crate) fn may_pass(&self) -> bool {
        let Self::Database(error) = self else {
            return false;
        };
        match &**error {
            sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut => true,
            sqlx::Error::Database(error) => error.code().is_some_and(|code| {
                // SQLite: busy, locked, and busy for a snapshot. PostgreSQL: the
                // connection, the server's shutting down or starting up, a
                // serialization failure, a deadlock.
                matches!(&*code, "5" | "6" | "261" | "517" | "40001" | "40P01")
                    || code.starts_with("08")
                    || code.starts_with("57P0")
            }),
            _ => false,
        }
    }
}
