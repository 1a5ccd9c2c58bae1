//! What the command line, the full-screen player and the page all say to people: a sentence that
//! two programs need stands here once, with all its languages. Words of one game are in the folder
//! of that game; the words for a foul are in `referee-core`.

#![forbid(unsafe_code)]

pub mod figures;
mod names;
mod result;
pub mod warning;

pub use names::with_names;
pub use result::{Winner, reason, result, result_with_evidence, winner};

/// `1 game`, `2 games`.
#[must_use]
pub fn plural(count: impl Into<u64>, what: &str) -> String {
    let count = count.into();
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {what}{s}")
}
