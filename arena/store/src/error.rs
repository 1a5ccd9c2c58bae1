//! Errors of the store, in words for the person who runs it.

use std::{io, sync::Arc};

/// Reason why the store could not do something. It can be cloned, since a transaction that fails
/// may have games of many callers.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The database can't be reached or created.
    #[error("could not open the store {location}: {why}")]
    Open {
        /// Its path, or its URL without the password.
        location: String,
        /// Description of the failure, and what to do about it.
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
        /// Kind of thing that has the name.
        what: &'static str,
        /// The name.
        name: String,
        /// The choice that must be changed: the name or the version.
        choice: &'static str,
    },
    /// A name that is not allowed.
    #[error("`{name}` can't be the {what}: {why}")]
    BadName {
        /// Kind of thing that the name was for.
        what: &'static str,
        /// The name.
        name: String,
        /// Fault of the name.
        why: &'static str,
    },
    /// There is no such thing.
    #[error("there is no {what} `{name}`")]
    Missing {
        /// Kind of the missing thing.
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
        /// Fault of the game.
        why: String,
    },
    /// The text is not a complete export. Nothing of it is stored.
    #[error("could not import line {line}: {why}; nothing has been imported")]
    Import {
        /// The line, from 1.
        line: u64,
        /// Fault of the line.
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

/// True if a unique key existed already.
pub(crate) fn is_taken(error: &sqlx::Error) -> bool {
    error
        .as_database_error()
        .is_some_and(|error| error.is_unique_violation())
}

/// The change that is needed before the same may succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cure {
    /// Others were quicker, or the connection was lost: the same may succeed at once.
    Again,
    /// The disk of the store, or a quota on it, is full.
    Room,
    /// The file of the store can't be read or written now.
    Disk,
    /// The database's server, or this machine, is away or lacks something.
    Server,
    /// The request is wrong, or the store is damaged: it does not pass by itself.
    Person,
}

impl Cure {
    /// True if it may come by itself. The others are for a person.
    #[must_use]
    pub const fn may_pass(self) -> bool {
        !matches!(self, Self::Person)
    }

    /// The thing that is waited for, in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Again => "another turn at the store",
            Self::Room => "room on the disk of the store",
            Self::Disk => "the file of the store to be readable and writable",
            Self::Server => "the database of the store",
            Self::Person => "somebody to mend it",
        }
    }
}

impl StoreError {
    /// The change that is needed before the same may succeed. This is the only place that tells
    /// errors which pass from others.
    #[must_use]
    pub fn cure(&self) -> Cure {
        match self {
            // What it was opened with may be there later.
            Self::Open { .. } => Cure::Server,
            Self::Closed => Cure::Again,
            Self::Io(error) => cure_of_file(error),
            Self::Database(error) => cure_of_database(error),
            Self::NotOurs { .. }
            | Self::Newer { .. }
            | Self::Exists { .. }
            | Self::BadName { .. }
            | Self::Missing { .. }
            | Self::Claimed { .. }
            | Self::Over { .. }
            | Self::BadGame { .. }
            | Self::Import { .. }
            | Self::Damaged(_) => Cure::Person,
        }
    }

    /// True if the same may succeed later.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        self.cure().may_pass()
    }
}

fn cure_of_file(error: &io::Error) -> Cure {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Cure::Room,
        _ => Cure::Disk,
    }
}

fn cure_of_database(error: &sqlx::Error) -> Cure {
    use sqlx::Error as E;
    match error {
        E::Database(error) => {
            let code = error.code().unwrap_or_default();
            // Those of PostgreSQL have five characters, those of SQLite are shorter numbers.
            match code.parse() {
                Ok(number) if code.len() < 5 => cure_of_sqlite(number),
                _ => cure_of_postgres(&code),
            }
        }
        E::Io(error) => match cure_of_file(error) {
            Cure::Room => Cure::Room,
            _ => Cure::Server,
        },
        // The next connection is another one.
        E::WorkerCrashed | E::BeginFailed | E::InvalidSavePointStatement => Cure::Again,
        E::PoolTimedOut | E::Tls(_) | E::Protocol(_) => Cure::Server,
        _ => Cure::Person,
    }
}

/// By the result codes of <https://sqlite.org/rescode.html>; the lowest eight bits are the
/// primary code.
const fn cure_of_sqlite(code: u32) -> Cure {
    match (code, code & 0xff) {
        // READONLY_DBMOVED: the file was taken away. IOERR_CORRUPTFS, IOERR_DATA: what is on
        // the disk is damaged.
        (1032 | 8458 | 8202, _) => Cure::Person,
        // IOERR_NOMEM, NOMEM
        (3082, _) | (_, 7) => Cure::Server,
        // ABORT, BUSY, LOCKED, INTERRUPT, PROTOCOL
        (_, 4 | 5 | 6 | 9 | 15) => Cure::Again,
        // FULL
        (_, 13) => Cure::Room,
        // PERM, READONLY, IOERR, CANTOPEN, AUTH
        (_, 3 | 8 | 10 | 14 | 23) => Cure::Disk,
        // Among them ERROR, CORRUPT, CONSTRAINT, MISUSE and NOTADB.
        _ => Cure::Person,
    }
}

/// By the classes of <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
fn cure_of_postgres(code: &str) -> Cure {
    match code {
        // disk_full
        "53100" => Cure::Room,
        // database_dropped
        "57P04" => Cure::Person,
        // in_failed_sql_transaction, idle_in_transaction_session_timeout,
        // transaction_timeout, lock_not_available
        "25P02" | "25P03" | "25P04" | "55P03" => Cure::Again,
        // read_only_sql_transaction: a standby, until it is the primary server.
        "25006" => Cure::Server,
        _ => match code.get(..2) {
            // Transaction rollback, such as serialization failures and deadlocks.
            Some("40") => Cure::Again,
            // Connections, resources, operator intervention, invalid authorization: a server
            // of which this is being changed.
            Some("08" | "53" | "57" | "28") => Cure::Server,
            // System errors, such as io_error.
            Some("58") => Cure::Disk,
            _ => Cure::Person,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::coded;

    #[test]
    fn each_code_of_a_database_says_what_it_waits_for() {
        for (cure, codes) in [
            // BUSY, LOCKED, BUSY_RECOVERY, BUSY_SNAPSHOT, LOCKED_SHAREDCACHE, INTERRUPT,
            // PROTOCOL, ABORT_ROLLBACK; serialization_failure, deadlock_detected,
            // in_failed_sql_transaction, lock_not_available.
            (
                Cure::Again,
                "5 6 261 517 262 9 15 516 40001 40P01 25P02 55P03",
            ),
            // FULL; disk_full.
            (Cure::Room, "13 53100"),
            // IOERR and _READ, _WRITE, _FSYNC, _SHMSIZE, _SHMMAP; CANTOPEN, READONLY,
            // READONLY_DIRECTORY, PERM; system_error, io_error.
            (
                Cure::Disk,
                "10 266 778 1034 4874 5386 14 8 1544 3 58000 58030",
            ),
            // NOMEM, IOERR_NOMEM; connection_failure and others, out_of_memory,
            // too_many_connections, admin_shutdown, crash_shutdown, cannot_connect_now,
            // query_canceled, invalid_password, read_only_sql_transaction.
            (
                Cure::Server,
                "7 3082 08000 08001 08003 08006 53000 53200 53300 57P01 57P02 57P03 57014 28P01 \
                 25006",
            ),
            // ERROR, CORRUPT, CONSTRAINT_UNIQUE, NOTADB, MISUSE, IOERR_CORRUPTFS,
            // READONLY_DBMOVED, FORMAT; unique_violation, undefined_table, data_corrupted,
            // database_dropped, insufficient_privilege, internal_error.
            (
                Cure::Person,
                "1 11 2067 26 21 8458 1032 24 23505 42P01 XX001 57P04 42501 XX000",
            ),
        ] {
            for code in codes.split_whitespace() {
                let error = StoreError::from(coded(code));
                assert_eq!(error.cure(), cure, "{code}");
            }
        }
    }

    #[test]
    fn a_failing_file_or_connection_says_what_it_waits_for() {
        let of = |kind| StoreError::from(io::Error::from(kind)).cure();
        assert_eq!(of(io::ErrorKind::StorageFull), Cure::Room);
        assert_eq!(of(io::ErrorKind::QuotaExceeded), Cure::Room);
        assert_eq!(of(io::ErrorKind::PermissionDenied), Cure::Disk);
        for (error, cure) in [
            (
                sqlx::Error::Io(io::ErrorKind::ConnectionReset.into()),
                Cure::Server,
            ),
            (sqlx::Error::PoolTimedOut, Cure::Server),
            (sqlx::Error::WorkerCrashed, Cure::Again),
            (sqlx::Error::PoolClosed, Cure::Person),
            (sqlx::Error::RowNotFound, Cure::Person),
        ] {
            assert_eq!(StoreError::from(error).cure(), cure);
        }
        assert!(!StoreError::Damaged(String::new()).may_pass());
    }
}
