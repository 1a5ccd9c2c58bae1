//! Results whose leases and reports are watched at the moment at which they are written, and of
//! which a call may fail.

use std::{collections::BTreeMap, ops::Range, path::PathBuf, time::Duration};

use arena_ladder::Entrant;
use arena_store::{
    BegunGame, CompleteGroup, Counter, Course, FinishedGame, FirstFoul, GameRow, GroupMark,
    Reported, ScoredGroup, StoredReport, TournamentId,
};
use arena_tournament::{Results, ResultsAnswer, StoredResults, TournamentError};
use referee_worker::lease::{ChunkId, LeaseId, SessionId};

use crate::{defect::Defect, trouble::Trouble, watch::Watch};

/// When an arena stops that [`StopsForGood`](Defect::StopsForGood).
const STOPS_AT: Duration = Duration::from_secs(1);

/// Results that are watched.
pub(crate) struct WatchedResults {
    pub(crate) stored: StoredResults,
    pub(crate) id: TournamentId,
    pub(crate) watch: Watch,
    pub(crate) trouble: Trouble,
}

impl Results for WatchedResults {
    async fn lease(
        &self,
        chunk: ChunkId,
        worker: &str,
        session: Option<SessionId>,
        valid_for: Duration,
    ) -> ResultsAnswer<u32> {
        self.trouble.strike("a lease")?;
        if self.watch.defect == Defect::StopsForGood && self.watch.now() > STOPS_AT {
            let why = "simulated: it is wrong, and only now".to_owned();
            return Err(TournamentError::Inconsistent(why));
        }
        let attempt = self.stored.lease(chunk, worker, session, valid_for).await?;
        self.watch.leased(self.id, chunk, attempt, worker);
        self.trouble.strike("a lease that is written")?;
        Ok(attempt)
    }

    async fn leases(&self) -> ResultsAnswer<Vec<(ChunkId, u32, SessionId)>> {
        self.trouble.strike("leases")?;
        self.stored.leases().await
    }

    async fn renew(&self, lease: LeaseId, valid_for: Duration) -> ResultsAnswer<bool> {
        self.trouble.strike("a renewal")?;
        self.stored.renew(lease, valid_for).await
    }

    async fn release(&self, lease: LeaseId) -> ResultsAnswer<()> {
        self.trouble.strike("a release")?;
        self.stored.release(lease).await
    }

    async fn report(&self, game_id: &str, mut game: FinishedGame) -> ResultsAnswer<StoredReport> {
        self.trouble.strike("a report")?;
        let (chunk, attempt) = (game.chunk, game.attempt);
        match self.watch.defect {
            Defect::LosesGames if game.row.group > 0 => {
                return Ok(StoredReport {
                    reported: Reported::Accepted,
                    scored: None,
                });
            }
            Defect::AltersResults if game.row.group > 0 => game.row.scores.reverse(),
            Defect::LosesCounters => game.row.counters.clear(),
            _ => {}
        }
        let row = game.row.clone();
        let stored = self.stored.report(game_id, game).await?;
        self.watch
            .reported(self.id, &row, &chunk, attempt, stored.reported);
        self.trouble.strike("a report that is written")?;
        Ok(stored)
    }

    fn keeps_records(&self) -> bool {
        self.stored.keeps_records()
    }

    fn record_file(&self, game_id: &str) -> Option<PathBuf> {
        self.stored.record_file(game_id)
    }

    async fn score(&self, group: u64) -> ResultsAnswer<Option<ScoredGroup>> {
        self.trouble.strike("a score")?;
        self.stored.score(group).await
    }

    async fn scores(&self) -> ResultsAnswer<BTreeMap<u64, ScoredGroup>> {
        self.trouble.strike("scores")?;
        self.stored.scores().await
    }

    async fn begun(&self, within: &[Range<u64>]) -> ResultsAnswer<Vec<BegunGame>> {
        self.trouble.strike("begun")?;
        self.stored.begun(within).await
    }

    async fn complete_groups(
        &self,
        after: Option<GroupMark>,
        limit: u32,
    ) -> ResultsAnswer<Vec<CompleteGroup>> {
        self.stored.complete_groups(after, limit).await
    }

    async fn complete_groups_within(
        &self,
        within: &[Range<u64>],
    ) -> ResultsAnswer<Vec<CompleteGroup>> {
        self.stored.complete_groups_within(within).await
    }

    async fn courses(&self, after: Option<GroupMark>, to: GroupMark) -> ResultsAnswer<Vec<Course>> {
        self.stored.courses(after, to).await
    }

    async fn counters(&self) -> ResultsAnswer<Vec<(Option<Entrant>, Counter, i64)>> {
        self.stored.counters().await
    }

    async fn first_fouls(&self) -> ResultsAnswer<Vec<FirstFoul>> {
        self.trouble.strike("first_fouls")?;
        self.stored.first_fouls().await
    }

    async fn earlier_games(&self, group: u64) -> ResultsAnswer<Vec<GameRow>> {
        self.trouble.strike("earlier games")?;
        self.stored.earlier_games(group).await
    }

    fn can_go_on(&self) -> bool {
        self.stored.can_go_on()
    }

    async fn close(&self) -> ResultsAnswer<()> {
        self.stored.close().await
    }
}
