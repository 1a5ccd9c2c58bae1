//! Errors of a database that a test makes happen.

use std::{borrow::Cow, fmt};

use sqlx::error::{DatabaseError, ErrorKind};

/// When a statement fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultMoment {
    /// The database does not run it.
    Before,
    /// The database does not run it, and ends the transaction: so does SQLite when the disk
    /// is full.
    Ends,
    /// The database runs it, and nobody hears of that.
    After,
}

impl FaultMoment {
    /// Every moment.
    pub const ALL: [Self; 3] = [Self::Before, Self::Ends, Self::After];
}

/// A fault of a statement in a test, in place of the database's answer.
#[derive(Clone, Copy, Debug)]
pub struct StatementFault {
    /// When it fails.
    pub moment: FaultMoment,
    /// The code of the database's error: `13` is SQLite's, and `53100` PostgreSQL's, for a full
    /// disk.
    pub code: &'static str,
}

impl StatementFault {
    pub(crate) fn error(self) -> sqlx::Error {
        coded(self.code)
    }
}

/// An error of a database with this code.
pub(crate) fn coded(code: &'static str) -> sqlx::Error {
    sqlx::Error::Database(Box::new(Coded(code)))
}

#[derive(Debug)]
struct Coded(&'static str);

impl fmt::Display for Coded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(code: {}) simulated", self.0)
    }
}

impl std::error::Error for Coded {}

impl DatabaseError for Coded {
    fn message(&self) -> &str {
        self.0
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        Some(self.0.into())
    }

    fn as_error(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn std::error::Error + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn std::error::Error + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}
