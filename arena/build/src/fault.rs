//! Why there is no bot: what is wrong with an entry, and what is wrong with this machine.

use std::{fmt, io};

use referee_core::printable;

/// An upload did not become a bot.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// It is the author's affair.
    #[error(transparent)]
    Fault(#[from] BuildFault),
    /// It is this machine's affair or ours, and costs the author nothing. The words are for who
    /// runs the arena; an author is told "System Error".
    #[error("System Error: {0}")]
    Ours(String),
    /// Whoever asked for it has cancelled it.
    #[error("the build was cancelled")]
    Cancelled,
}

impl From<io::Error> for BuildError {
    fn from(error: io::Error) -> Self {
        Self::Ours(error.to_string())
    }
}

/// What is wrong with an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {why}")]
pub struct BuildFault {
    /// The kind, for programs and for a heading.
    pub kind: FaultKind,
    /// What was found, what was expected, what to do. It is printable.
    pub why: String,
    /// What the build has said: printable lines, within [`BuildLimits::log`](crate::BuildLimits).
    /// Empty where nothing was built.
    pub log: String,
}

impl BuildFault {
    pub(crate) fn new(kind: FaultKind, why: impl AsRef<str>) -> Self {
        let why = printable(why.as_ref());
        let log = String::new();
        Self { kind, why, log }
    }

    pub(crate) fn with_log(self, log: String) -> Self {
        Self { log, ..self }
    }
}

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// The upload, or what it unpacks to, is too large.
    TooLarge,
    /// The upload is no archive that can be read.
    BadArchive,
    /// A file in the upload, or in what was built, has a name that is refused.
    BadName,
    /// It has something that is neither a file nor a folder: a link, a device.
    NotAFile,
    /// There are too many files.
    TooManyFiles,
    /// `entry.toml` is invalid.
    BadSettings,
    /// It is not seen how it is to be built.
    NoRecipe,
    /// What was sent plays another game.
    WrongGame,
    /// The compiler, or the author's own command, has failed.
    CompileError,
    /// The build took too long.
    TimeLimit,
    /// The build took too much memory.
    MemoryLimit,
    /// The build wrote too much.
    OutputLimit,
    /// The build started too many processes.
    ProcessLimit,
    /// The build has not made what is to be started.
    NoProgram,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLarge => "Too Large",
            Self::BadArchive => "Bad Archive",
            Self::BadName => "Bad File Name",
            Self::NotAFile => "Not a File",
            Self::TooManyFiles => "Too Many Files",
            Self::BadSettings => "Bad entry.toml",
            Self::NoRecipe => "No Recipe",
            Self::WrongGame => "Wrong Game",
            Self::CompileError => "Compile Error",
            Self::TimeLimit => "Build Time Limit Exceeded",
            Self::MemoryLimit => "Build Memory Limit Exceeded",
            Self::OutputLimit => "Build Output Limit Exceeded",
            Self::ProcessLimit => "Build Process Limit Exceeded",
            Self::NoProgram => "No Program",
        })
    }
}
