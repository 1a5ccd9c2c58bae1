//! The arena as a service: hands out the work of every tournament of a store and takes what
//! comes of it. Workers in the same process call it, workers elsewhere reach it over
//! `arena.v1.Dispatch`.
//!
//! [`Tournaments`] has one dispatcher for each tournament that is being played, and shares
//! the workers between them. [`DispatchService`] is the network's end of it: sessions,
//! tokens, and the proof that a reported game was played as its record says.

mod access;
mod credit;
mod pulse;
mod running;
mod serve;
mod service;
mod sessions;
mod storage;
mod tournaments;

pub use access::{AccessError, WorkerAccess};
pub use pulse::Pulse;
pub use serve::serve;
pub use service::{Admitted, DispatchService, Examines, Replays, ServiceOptions};
pub use storage::{OnCommit, Storage};
pub use tournaments::{NewObserver, TournamentOptions, Tournaments, WithPods};
