//! What strangers may send: each attack is contained, and its fault says what it was.

#[path = "../common/mod.rs"]
mod common;

mod archives;
mod builds;
