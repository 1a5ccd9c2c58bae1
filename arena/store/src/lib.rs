//! Results and records in SQLite or PostgreSQL. A stored game is neither lost nor
//! counted twice.
//!
//! The key of a game is its tournament, group and seating, and it is unique. The
//! result of a game, its record, its counters and the score of a group that it
//! completes are written in one transaction. So any number of workers can play and
//! report a game, and it counts once.

mod archives;
mod bots;
mod claim;
mod contests;
mod counter;
mod csv;
mod error;
mod export;
mod game;
mod import;
mod lease;
mod report;
mod result_writer;
mod results;
mod server;
mod session;
mod simulated;
mod sql;
mod store;
mod totals;
mod tournament;
mod workers;

pub use archives::{ARCHIVE_PART, ArchiveInfo, NewArchive};
pub use bots::{BotRow, NewBot};
pub use claim::Claim;
pub use contests::{
    By, Challenge, Contest, ContestId, ContestRun, ContestRunKind, Contestant, DetailsOf,
    ENTRY_BOT, Entry, EntryState, LOGGED_ROUNDS, LogLine, NewContest, NewContestRun, NewEntry,
    NewPerson, Person, PersonNumber, Place, Role,
};
pub use counter::{BadCounter, Counter, GameEnding};
pub use error::{Cure, StoreError};
pub use game::{FinishedGame, GameRow, Reported, StoredReport, counted_scores};
pub use lease::{ChunkKey, Lease, LeaseHolder};
use referee_core::pack;
pub use referee_core::pack::{RecordUnpackError, pack_for_store, unpack};
pub use result_writer::{Commit, CommitPacing, ResultWriter};
pub use results::{
    BegunGame, CompleteGroup, Course, EVERY_GROUP, FirstFoul, GameFilter, GroupMark, ScoredGroup,
};
pub use server::StoreTlsFiles;
pub use session::StatementFaults;
pub use simulated::{FaultMoment, StatementFault};
pub use store::Store;
pub use totals::{KeptTotals, NewTotals};
pub use tournament::{
    NewEntrant, NewTournament, QueuedTournament, Tournament, TournamentId, TournamentState,
    TournamentSummary, Wish,
};
pub use workers::{WorkerRow, WorkerSession, WorkerStatus};
