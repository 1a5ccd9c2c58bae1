//! Results that are kept in a real database while everything else is simulated.

use std::{collections::BTreeMap, ops::Range, path::PathBuf, sync::Arc, time::Duration};

use arena_ladder::Entrant;
use arena_store::{
    BegunGame, CommitPacing, CompleteGroup, Counter, Course, FinishedGame, FirstFoul, GameRow,
    GroupMark, ScoredGroup, StoredReport,
};
use arena_tournament::{Results, ResultsAnswer};
use referee_worker::lease::{ChunkId, LeaseId, SessionId};

use crate::{Beside, Pace};

/// Hands every call to results that run [`Beside`] the simulation. It takes some
/// simulated time before the call and after it. So a host can crash before anything was
/// written, and after everything was written but before anybody was told.
///
/// Games share no commit: each call has ended before the next one begins.
#[derive(Debug)]
pub struct BesideResults<R> {
    inner: Arc<R>,
    beside: Beside,
    pace: Pace,
}

/// The commits of results that are kept [`Beside`] a simulation: a game is stored at once, and
/// leases with it. What was stored while simulated time passes would be stored at another moment in
/// each run.
#[must_use]
pub fn commit_pacing() -> CommitPacing {
    CommitPacing {
        interval: Duration::from_hours(1),
        most_waiting: 1,
        ..CommitPacing::default()
    }
}

impl<R: Results> BesideResults<R> {
    /// Results whose calls take twice the time that `pace` draws.
    #[must_use]
    pub fn new(inner: R, beside: Beside, pace: Pace) -> Self {
        Self {
            inner: Arc::new(inner),
            beside,
            pace,
        }
    }

    async fn call<F, T>(&self, call: impl FnOnce(Arc<R>) -> F + Send) -> T
    where
        F: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        self.pace.pass().await;
        let result = self.beside.call(call(self.inner.clone()));
        self.pace.pass().await;
        result
    }
}

impl<R: Results> Results for BesideResults<R> {
    async fn lease(
        &self,
        chunk: ChunkId,
        worker: &str,
        session: Option<SessionId>,
        valid_for: Duration,
    ) -> ResultsAnswer<u32> {
        let worker = worker.to_owned();
        self.call(move |inner| async move { inner.lease(chunk, &worker, session, valid_for).await })
            .await
    }

    async fn leases(&self) -> ResultsAnswer<Vec<(ChunkId, u32, SessionId)>> {
        self.call(|inner| async move { inner.leases().await }).await
    }

    async fn renew(&self, lease: LeaseId, valid_for: Duration) -> ResultsAnswer<bool> {
        self.call(move |inner| async move { inner.renew(lease, valid_for).await })
            .await
    }

    async fn release(&self, lease: LeaseId) -> ResultsAnswer<()> {
        self.call(move |inner| async move { inner.release(lease).await })
            .await
    }

    async fn report(&self, game_id: &str, game: FinishedGame) -> ResultsAnswer<StoredReport> {
        let game_id = game_id.to_owned();
        self.call(move |inner| async move { inner.report(&game_id, game).await })
            .await
    }

    fn keeps_records(&self) -> bool {
        self.inner.keeps_records()
    }

    fn record_file(&self, game_id: &str) -> Option<PathBuf> {
        self.inner.record_file(game_id)
    }

    async fn score(&self, group: u64) -> ResultsAnswer<Option<ScoredGroup>> {
        self.call(move |inner| async move { inner.score(group).await })
            .await
    }

    async fn scores(&self) -> ResultsAnswer<BTreeMap<u64, ScoredGroup>> {
        self.call(|inner| async move { inner.scores().await }).await
    }

    async fn begun(&self, within: &[Range<u64>]) -> ResultsAnswer<Vec<BegunGame>> {
        let within = within.to_vec();
        self.call(move |inner| async move { inner.begun(&within).await })
            .await
    }

    async fn complete_groups(
        &self,
        after: Option<GroupMark>,
        limit: u32,
    ) -> ResultsAnswer<Vec<CompleteGroup>> {
        self.call(move |inner| async move { inner.complete_groups(after, limit).await })
            .await
    }

    async fn complete_groups_within(
        &self,
        within: &[Range<u64>],
    ) -> ResultsAnswer<Vec<CompleteGroup>> {
        let within = within.to_vec();
        self.call(move |inner| async move { inner.complete_groups_within(&within).await })
            .await
    }

    async fn courses(&self, after: Option<GroupMark>, to: GroupMark) -> ResultsAnswer<Vec<Course>> {
        self.call(move |inner| async move { inner.courses(after, to).await })
            .await
    }

    async fn counters(&self) -> ResultsAnswer<Vec<(Option<Entrant>, Counter, i64)>> {
        self.call(|inner| async move { inner.counters().await })
            .await
    }

    async fn first_fouls(&self) -> ResultsAnswer<Vec<FirstFoul>> {
        self.call(|inner| async move { inner.first_fouls().await })
            .await
    }

    fn payments(&self) -> BTreeMap<Entrant, i64> {
        self.inner.payments()
    }

    async fn earlier_games(&self, group: u64) -> ResultsAnswer<Vec<GameRow>> {
        self.call(move |inner| async move { inner.earlier_games(group).await })
            .await
    }

    fn can_go_on(&self) -> bool {
        self.inner.can_go_on()
    }

    async fn close(&self) -> ResultsAnswer<()> {
        self.call(|inner| async move { inner.close().await }).await
    }
}
