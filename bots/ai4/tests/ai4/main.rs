//! The engine beside the rules crate, and in whole rounds.

mod common;
mod endgames;
mod rules;
mod search;
