//! Real connections on loopback, with certificates that are made here.
#![allow(clippy::disallowed_methods, reason = "a test")]
#![expect(clippy::unwrap_used, reason = "this is how a test fails")]

mod bounds;
mod budgets;
mod clients;
mod common;
mod gates;
mod handshakes;
mod pages;
mod reloads;
mod tokens;
