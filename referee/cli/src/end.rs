//! The end of a program.

use std::process::ExitCode;

/// The end of a program, with its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Done.
    Done = 0,
    /// It ran, and the answer is no.
    No = 1,
    /// The request is not possible.
    Usage = 2,
    /// We failed.
    Failed = 3,
    /// Something that others have to provide is not there yet (`EX_TEMPFAIL` of sysexits.h): the
    /// same again may do.
    TryAgain = 75,
    /// It was stopped before the end; the results so far have been shown.
    Interrupted = 130,
}

impl From<End> for ExitCode {
    fn from(end: End) -> Self {
        Self::from(end as u8)
    }
}

/// A person's request is not possible: what was expected, what to do.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Something that others have to provide is not there: what was expected, where, and why it is
/// not.
#[derive(Debug)]
pub struct TryAgain(pub String);

impl std::fmt::Display for TryAgain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TryAgain {}

/// Refuses what a person asked for.
///
/// # Errors
///
/// Always: [`Usage`].
pub fn usage<T>(why: impl Into<String>) -> anyhow::Result<T> {
    Err(Usage(why.into()).into())
}
