//! Nim with one heap, as a crate outside of the project would have it: 1 to 3 counters are taken in
//! turn, whoever takes the last one wins. It is here for tests alone.

mod rules;
mod view;
mod wire;

use referee_core::{GameKind, ListedGame};

pub use rules::{Heap, Nim, Setup};
pub use view::View;

/// The game, as a list of games holds it.
pub static NIM: &dyn GameKind = &ListedGame::<Nim>::new();

#[allow(
    missing_docs,
    unreachable_pub,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::doc_markdown,
    reason = "generated; the .proto file documents it"
)]
mod proto {
    include!(concat!(env!("OUT_DIR"), "/games.nim.v1.rs"));
}
