//! What the command line, the full-screen player and the page all say to people: a sentence that
//! two programs need stands here once, with all its languages. Words of one game are in the folder
//! of that game; names of fouls are in `referee-core`.

#![forbid(unsafe_code)]

mod result;

pub use result::{Winner, result, result_with_evidence};
