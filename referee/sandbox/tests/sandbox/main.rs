//! Real programs in real sandboxes, of every kind that this machine has.
#![expect(clippy::unwrap_used, reason = "a failure is the test's")]

mod channels;
mod common;
mod ends;
mod languages;
mod walls;
