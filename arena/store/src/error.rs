//! Errors of the store, in words for the person who runs it.

use std::{io, sync::Arc};

/// Why the store could not do something. It can be cloned, since a transaction that
/// fails may have games of many callers.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The database can't be reached or created.
    #[error("could not open the store {location}: {why}")]
    Open {
        /// Its path, or its URL without the password.
        location: String,
        /// What went wrong, and what to do.
        why: String,
    },
    /// The database has tables of another program.
    #[error(
        "could not open the store {location}: the database contains other tables; use another file or database"
    )]
    NotOurs {
        /// Its path, or its URL without the password.
        location: String,
    },
    /// A newer version of the arena has written the database.
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
    /// The name exists.
    #[error("there is a {what} `{name}` already; choose another {choice}")]
    Exists {
        /// What has the name.
        what: &'static str,
        /// The name.
        name: String,
        /// What to change: the name or the version.
        choice: &'static str,
    },
    /// A name that is not allowed.
    #[error("`{name}` can't be the {what}: {why}")]
    BadName {
        /// What it was for.
        what: &'static str,
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is no such thing.
    #[error("there is no {what} `{name}`")]
    Missing {
        /// What is missing.
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
    /// A tournament that is over can't change: its root is public.
    #[error("tournament {id} is over and can't be {to}")]
    Over {
        /// The number of the tournament.
        id: i64,
        /// The state that was asked for.
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
    /// The text is not a complete export. Nothing of it is stored.
    #[error("could not import line {line}: {why}; nothing has been imported")]
    Import {
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// A value in the database can't be read.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// A game came after the result writer was closed.
    #[error("the result writer is closed")]
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

/// Whether a unique key existed already.
pub(crate) fn is_taken(error: &sqlx::Error) -> bool {
    error
        .as_database_error()
        .is_some_and(|error| error.is_unique_violation())
}

impl StoreError {
    /// Whether a retry may succeed: the database is locked, or the server can't be
    /// reached at the moment.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        let Self::Database(error) = self else {
            return false;
        };
        match &**error {
            sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut => true,
            sqlx::Error::Database(error) => error.code().is_some_and(|code| {
                // SQLite: SQLITE_BUSY, _LOCKED, _BUSY_RECOVERY, _BUSY_SNAPSHOT.
                // PostgreSQL: serialization failure, deadlock, class 08 (connection
                // errors) and class 57P0 (the server shuts down or starts up).
                matches!(&*code, "5" | "6" | "261" | "517" | "40001" | "40P01")
                    || code.starts_with("08")
                    || code.starts_with("57P0")
            }),
            _ => false,
        }
    }
}
