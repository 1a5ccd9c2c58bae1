//! Archives of bots: packed on one machine, unpacked on another, kept in a cache.
#![allow(clippy::disallowed_methods, reason = "a test")]
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

mod cache;
mod pack;
mod unpack;
mod vocabulary;
