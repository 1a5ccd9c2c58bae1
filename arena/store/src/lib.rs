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
mod game;
mod import;
mod lease;
mod pack;
mod report;
mod result_writer;
mod results;
mod sql;
mod store;
mod tournament;

pub use bots::{BotRow, NewBot};
pub use claim::Claim;
pub use counter::{BadCounter, Counter, Ending};
pub use error::StoreError;
pub use game::{FinishedGame, GameRow, Reported};
pub use lease::{ChunkKey, Lease};
pub use pack::{UnpackError, pack, unpack};
pub use result_writer::{Commit, CommitPacing, ResultWriter};
pub use results::{FirstFoul, GameFilter, ScoredGroup};
pub use store::Store;
pub use tournament::{
    NewEntrant, NewTournament, Tournament, TournamentId, TournamentState, TournamentSummary,
};
