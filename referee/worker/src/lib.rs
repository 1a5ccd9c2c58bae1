//! A worker: how a leased chunk of games is played: assignments in, typed results out.
//!
//! It knows no store, no schedule and no terminal. It gets its work from a dispatcher
//! behind the trait [`Dispatch`], in owned messages ([`lease`]).

mod abilities;
mod bots;
mod buckets;
mod dispatch;
mod games;
mod hosts;
pub mod lease;
mod packer;
mod records;
pub mod remote;
mod stop;
mod summary;
mod worker;
mod workers;

pub use abilities::{Abilities, Machine, Need};
pub use bots::{BotPool, ChunkBots};
pub use buckets::{Buckets, bucket};
pub use dispatch::{Dispatch, DispatchError};
pub use games::{BotGames, Games, LeasedGame, PackedResult, WorkError};
pub use packer::Packer;
pub use records::{ReadError, RecordFolder, read_record};
pub use stop::Stop;
pub use summary::{Summary, course};
pub use worker::{ChunkBounds, Worker};
pub use workers::{WorkerGroup, WorkerIdentity};
