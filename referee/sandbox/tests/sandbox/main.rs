//! Real programs in real sandboxes, of every kind that this machine has.
#![allow(clippy::print_stderr, clippy::disallowed_methods, reason = "a test")]
#![expect(clippy::unwrap_used, reason = "a failure is the test's")]

mod channels;
mod common;
mod ends;
mod languages;
mod packages;
mod walls;
