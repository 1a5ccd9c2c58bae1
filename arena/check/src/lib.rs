//! Is a bot fit to enter? [`check`] plays with it as a referee would, from start to stop, and
//! names all that is wrong as data: a [`Finding`] with its [`Evidence`] and how to fix it.
//!
//! It judges no game: what a foul is, the rules say. It prints nothing; a [`CheckObserver`]
//! hears what is done. [`referee`] checks the other side: whether a referee catches bots that
//! misbehave on purpose.

#![forbid(unsafe_code)]

mod error;
mod evidence;
mod examiner;
mod finding;
mod game;
mod host;
pub mod referee;
mod report;
mod run;
mod stages;
mod subject;
pub mod words;

pub use error::CheckError;
pub use evidence::{AskedQuestion, Circumstance, Evidence, ObservedFoul, UnknownServiceReply};
pub use examiner::CheckOptions;
pub use finding::{CATALOGUE, Finding, fix_behind_adapter, fix_of_foul};
pub use report::{CheckObserver, CheckReport, StageOutcome, StageReport};
pub use run::check;
