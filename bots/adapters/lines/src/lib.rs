//! Plays programs that read lines and write lines as bots.
//!
//! Each dialect is a bot: JSON one of every game, GTP one of Othello. A program is started for a game
//! and killed after it, unless it is one that plays many games in turn. An agent of Kaggle's is
//! played by a script that reads and writes lines. There is no clock here but one: shortly before a
//! question's limit a program is looked at that has not answered. The referee judges; a game whose
//! stream is cancelled is dropped, and its program is killed with it.

mod gtp;
mod json;
mod kaggle;
mod program;
mod seat;
mod spec;
mod stdio;
mod waiting;

use std::io;

use adapter_process::Descendants;
use nix::sys::prctl;

pub use gtp::{GAME as GTP_GAME, GtpOptions};
pub use kaggle::KaggleSpec;
pub use program::ProgramCommand;
pub use spec::{LineDialect, LineSpec, LineSpecError};

/// Reason why a program can't be served.
#[derive(Debug, thiserror::Error)]
pub enum AdapterError {
    /// It could not be started.
    #[error("could not start {program}: {error}")]
    Start {
        /// The program, as it was written.
        program: String,
        /// The system's reason.
        error: io::Error,
    },
    /// The system failed.
    #[error("could not serve: {0}")]
    Io(#[from] io::Error),
    /// It could not be served.
    #[error(transparent)]
    Listen(#[from] bot_kit::ListenError),
}

/// Serves a program as a bot of the games of its dialect until it is asked to stop.
///
/// # Errors
///
/// [`AdapterError`].
pub fn adapter(spec: &LineSpec) -> Result<(), AdapterError> {
    // The program must not read the memory of this process.
    prctl::set_dumpable(false).map_err(io::Error::from)?;
    let descendants = Descendants::new()?;
    // One thread: what is left over is looked for on the thread that starts programs.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let served = match &spec.dialect {
        LineDialect::Stdio => runtime.block_on(stdio::serve(spec.clone(), descendants)),
        LineDialect::Gtp(options) => {
            runtime.block_on(gtp::serve(spec.clone(), descendants, options.clone()))
        }
    };
    drop(runtime);
    adapter_process::end();
    served
}
