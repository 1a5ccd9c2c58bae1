//! What strangers may send: each attack is contained, and its fault says what it was.
#![allow(clippy::print_stderr, clippy::disallowed_methods, reason = "a test")]
#![expect(clippy::unwrap_used, reason = "a failure is the test's")]

#[path = "../common/mod.rs"]
mod common;

mod archives;
mod builds;
