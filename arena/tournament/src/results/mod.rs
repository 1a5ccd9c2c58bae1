//! The place where results are written and read again: the store, or memory with record files
//! beside it. Both keep the same rows, and everything that is told of a run is computed from what
//! is read here.

mod memory;
mod stored;

use std::{collections::BTreeMap, ops::Range, path::PathBuf, time::Duration};

use arena_ladder::{Entrant, GroupScore, Lineup};
use arena_store::{
    BegunGame, CompleteGroup, Counter, Course, FinishedGame, FirstFoul, GameRow, GroupMark,
    KeptTotals, NewTotals, ScoredGroup, StoredReport,
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

    /// The games of groups that are not complete and whose numbers lie in `within`, in order.
    fn begun(
        &self,
        within: &[Range<u64>],
    ) -> impl Future<Output = ResultsAnswer<Vec<BegunGame>>> + Send;

    /// Up to `limit` complete groups in the order in which they became so, from the first one behind `after`.
    fn complete_groups(
        &self,
        after: Option<GroupMark>,
        limit: u32,
    ) -> impl Future<Output = ResultsAnswer<Vec<CompleteGroup>>> + Send;

    /// The complete groups whose numbers lie in `within`.
    fn complete_groups_within(
        &self,
        within: &[Range<u64>],
    ) -> impl Future<Output = ResultsAnswer<Vec<CompleteGroup>>> + Send;

    /// The courses of the games of all groups that became complete after one and up to another.
    fn courses(
        &self,
        after: Option<GroupMark>,
        to: GroupMark,
    ) -> impl Future<Output = ResultsAnswer<Vec<Course>>> + Send;

    /// What was summed over these results, where that is kept.
    fn kept_totals(&self) -> impl Future<Output = ResultsAnswer<Option<KeptTotals>>> + Send {
        std::future::ready(Ok(None))
    }

    /// The different courses in this revision of the sums; none if it was replaced.
    fn kept_courses(
        &self,
        _revision: u64,
    ) -> impl Future<Output = ResultsAnswer<Option<Vec<Vec<u64>>>>> + Send {
        std::future::ready(Ok(None))
    }

    /// Keeps sums for the next one who asks; false if they are not.
    fn keep_totals(
        &self,
        _totals: NewTotals<'_>,
    ) -> impl Future<Output = ResultsAnswer<bool>> + Send {
        std::future::ready(Ok(false))
    }

    /// The counters of all games that may be told of.
    fn counters(
        &self,
    ) -> impl Future<Output = ResultsAnswer<Vec<(Option<Entrant>, Counter, i64)>>> + Send;

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
