//! `arena` as a person uses it: real bots, real files, real signals.

#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

mod exams;
mod games;
mod languages;
mod registry;
mod replays;
mod runs;
mod secrets;
mod selftest;
mod stops;
mod tournaments;
mod vocabulary;
