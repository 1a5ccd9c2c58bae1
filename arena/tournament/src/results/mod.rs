//! The place where results are written and read again: the store, or memory with record files
//! beside it. Both keep the same rows, and everything that is told of a run is computed from what
//! is read here.

mod memory;
mod stored;

use std::{collections::BTreeMap, ops::Range, path::PathBuf, time::Duration};

use arena_ladder::{Entrant, GroupCount, GroupScore, Lineup};
use arena_store::{
    Counter, DistinctGames, FinishedGame, FirstFoul, GameRow, ScoredGroup, StoredReport,
};
use referee_worker::lease::{ChunkId, LeaseId, SessionId};

use crate::TournamentError;

pub use memory::MemoryResults;
pub use stored::StoredResults;
pub(crate) use stored::key;

/// The answer to a call of [`Results`].
pub type ResultsAnswer<T> = Result<T, TournamentError>;

/// The outcome of a group: lineup, places by game and place of the lineup, margins.
pub(crate) type GroupOutcome = (Lineup, Vec<Vec<u8>>, Vec<i64>);

/// The place where the results of a run go. A game counts once, however often it is reported.
pub trait Results: Send + Sync + 'static {
    /// Leases a chunk to a worker for so long, and says which attempt this is: a later one has a
    /// higher number. Reports of earlier attempts are stale from here on.
    fn lease(
        &self,
        chunk: ChunkId,
        worker: &str,
        session: Option<SessionId>,
        valid_for: Duration,
    ) -> impl Future<Output = ResultsAnswer<u32>> + Send;

    /// The leases of workers that are not in this process, with their attempts.
    fn leases(&self) -> impl Future<Output = ResultsAnswer<Vec<(ChunkId, u32, SessionId)>>> + Send {
        std::future::ready(Ok(Vec::new()))
    }

    /// Keeps a lease for so long from now; false where there is a later attempt.
    fn renew(
        &self,
        lease: LeaseId,
        valid_for: Duration,
    ) -> impl Future<Output = ResultsAnswer<bool>> + Send;

    /// Ends a lease.
    fn release(&self, lease: LeaseId) -> impl Future<Output = ResultsAnswer<()>> + Send;

    /// Takes a finished game, with the id that its record has. A game that completes
    /// its group is taken together with the group's score, which is in the answer where it is at
    /// hand.
    fn report(
        &self,
        game_id: &str,
        game: FinishedGame,
    ) -> impl Future<Output = ResultsAnswer<StoredReport>> + Send;

    /// True if records are kept.
    fn keeps_records(&self) -> bool;

    /// The file of a game's record, where records are files.
    fn record_file(&self, game_id: &str) -> Option<PathBuf>;

    /// The score of a group that is complete.
    fn score(&self, group: u64) -> impl Future<Output = ResultsAnswer<Option<ScoredGroup>>> + Send;

    /// Every complete group, by number.
    fn scores(&self) -> impl Future<Output = ResultsAnswer<BTreeMap<u64, ScoredGroup>>> + Send;

    /// The seatings that have been played of groups that are not complete.
    fn begun(&self) -> impl Future<Output = ResultsAnswer<BTreeMap<u64, Vec<u32>>>> + Send;

    /// Complete groups that came out the same, counted, without those whose numbers
    /// lie in `without`.
    fn group_counts(
        &self,
        without: &[Range<u64>],
    ) -> impl Future<Output = ResultsAnswer<Vec<GroupCount>>> + Send;

    /// The counters of all games that may be told of.
    fn counters(
        &self,
    ) -> impl Future<Output = ResultsAnswer<Vec<(Option<Entrant>, Counter, i64)>>> + Send;

    /// Numbers of different games, of those that may be told of.
    fn distinct_games(&self) -> impl Future<Output = ResultsAnswer<DistinctGames>> + Send;

    /// The first foul of each entrant that has one in a game that may be told of.
    fn first_fouls(&self) -> impl Future<Output = ResultsAnswer<Vec<FirstFoul>>> + Send;

    /// The sum of each entrant's scores, where scores are payments between four seats
    /// and all of them are at hand.
    fn payments(&self) -> BTreeMap<Entrant, i64> {
        BTreeMap::new()
    }

    /// The games of a complete group that may be told of, where an earlier run can have
    /// played some of them.
    fn earlier_games(&self, group: u64)
    -> impl Future<Output = ResultsAnswer<Vec<GameRow>>> + Send;

    /// True if another run can go on from these results.
    fn can_go_on(&self) -> bool;

    /// Takes no more games, and returns when everything is written.
    fn close(&self) -> impl Future<Output = ResultsAnswer<()>> + Send;
}

/// Adds a game to the score of its group.
pub(crate) fn add_to(score: &mut GroupScore, game: &GameRow) {
    score.add_game(
        &game.lineup,
        &game.order,
        &game.places,
        &game.scores,
        &game.fouls,
    );
}

/// The place that each of a game's lineup took, in order of the lineup.
pub(crate) fn places_by_lineup(game: &GameRow) -> Vec<u8> {
    let mut places = vec![0; game.order.len()];
    for (place, who) in game.places.iter().zip(&game.order) {
        places[*who] = *place;
    }
    places
}
