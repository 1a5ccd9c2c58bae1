//! Real connections on loopback, with certificates that are made here.
#![expect(clippy::unwrap_used, reason = "this is how a test fails")]

mod bounds;
mod budgets;
mod common;
mod gates;
mod handshakes;
mod pages;
mod reloads;
mod tokens;
