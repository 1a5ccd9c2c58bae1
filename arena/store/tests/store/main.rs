//! The store on both databases, and each on its own where they differ.
#![allow(clippy::disallowed_methods, reason = "a test")]
#![expect(
    clippy::unwrap_used,
    reason = "the functions that on_both! runs are tests as well"
)]

mod archives;
mod bots;
mod claims;
mod contests;
mod crashes;
mod exports;
mod faults;
mod json;
mod leases;
mod memory;
mod opening;
mod reports;
mod result_writer;
mod results;
mod tournaments;
mod vocabulary;
