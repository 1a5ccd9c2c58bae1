//! Results and records in SQLite or PostgreSQL: nothing that is in it is lost or
//! counted twice.
//!
//! A game is known by its tournament, group and seating, and that key is unique.
//! Its result, its record, the counters and the score of a group that it
//! completes are written in one transaction. So a game may be played and
//! reported any number of times, by anybody, and counts once.

mod bots;
mod claim;
mod counter;
mod csv;
mod error;
mod export;
mod filer;
mod game;
mod import;
mod lease;
mod pack;
mod report;
mod results;
mod sql;
mod store;
mod tournament;

pub use bots::{BotRow, NewBot};
pub use claim::Claim;
pub use counter::{BadCounter, Counter, Ending};
pub use error::StoreError;
pub use filer::{Commit, Filer, Pace};
pub use game::{Filed, FinishedGame, GameRow};
pub use lease::{ChunkKey, Lease};
pub use pack::{UnpackError, pack, unpack};
pub use results::{FirstFoul, GameFilter, ScoredGroup};
pub use store::Store;
pub use tournament::{
    NewEntrant, NewTournament, State, Tournament, TournamentId, TournamentSummary,
};
