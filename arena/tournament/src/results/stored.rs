//! Results in the store.

use std::{
    collections::BTreeMap,
    ops::Range,
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use arena_ladder::{Entrant, MatchId};
use arena_store::{
    BegunGame, ChunkKey, Commit, CommitPacing, CompleteGroup, Counter, Course, FinishedGame,
    FirstFoul, GameFilter, GameRow, GroupMark, KeptTotals, LeaseHolder, NewTotals, ResultWriter,
    ScoredGroup, Store, StoredReport, TournamentId,
};
use referee_worker::lease::{ChunkId, LeaseId, SessionId};
use tokio::{runtime::Handle, sync::mpsc, task::spawn_blocking};

use super::{Results, ResultsAnswer};
use crate::{
    Definition, WallClock,
    totals::{KEPT_EVERY, Totals},
    unix_ms,
};

/// The results of one tournament of a store.
#[derive(Clone)]
pub struct StoredResults {
    store: Store,
    id: TournamentId,
    /// None where they are only read.
    writer: Option<ResultWriter>,
    clock: WallClock,
}

impl StoredResults {
    /// The results of a tournament, to be read.
    #[must_use]
    pub fn of(store: &Store, id: TournamentId) -> Self {
        Self {
            store: store.clone(),
            id,
            writer: None,
            clock: WallClock::default(),
        }
    }

    /// The same, to be added to. `seen` is told of each commit; it must not block.
    ///
    /// # Errors
    ///
    /// The store fails.
    pub async fn writing(
        store: &Store,
        id: TournamentId,
        seen: impl Fn(&Commit) + Send + Sync + 'static,
    ) -> ResultsAnswer<Self> {
        Self::writing_paced(store, id, CommitPacing::default(), seen).await
    }

    /// The same, with games that share commits as `pacing` says.
    ///
    /// # Errors
    ///
    /// The store fails.
    pub async fn writing_paced(
        store: &Store,
        id: TournamentId,
        pacing: CommitPacing,
        seen: impl Fn(&Commit) + Send + Sync + 'static,
    ) -> ResultsAnswer<Self> {
        let keeper = TotalsKeeper::start(Self::of(store, id));
        let seen = move |commit: &Commit| {
            keeper.see(commit);
            seen(commit);
        };
        let writer = ResultWriter::start(store, id, pacing, seen).await?;
        Ok(Self {
            writer: Some(writer),
            ..Self::of(store, id)
        })
    }

    /// The same, with another clock than the machine's.
    #[must_use]
    pub fn with_clock(self, clock: WallClock) -> Self {
        Self { clock, ..self }
    }

    /// Sums them, so that the sums are kept.
    async fn sum(&self) -> ResultsAnswer<()> {
        let tournament = self.store.tournament_of(self.id).await?;
        let definition = Definition::of(&tournament)?;
        let entrants = tournament.entrants.len();
        Totals::of(self, &definition, entrants, tournament.root.as_ref()).await?;
        Ok(())
    }

    fn writer(&self) -> &ResultWriter {
        let writer = self.writer.as_ref();
        writer.expect("results that are only read are given neither leases nor games")
    }

    /// Milliseconds since 1970, so long from now.
    fn unix_ms_in(&self, time: Duration) -> i64 {
        unix_ms(self.clock.now() + time)
    }
}

impl Results for StoredResults {
    async fn lease(
        &self,
        chunk: ChunkId,
        worker: &str,
        session: Option<SessionId>,
        valid_for: Duration,
    ) -> ResultsAnswer<u32> {
        let holder = LeaseHolder {
            worker: worker.to_owned(),
            session: session.map(|session| session.0),
            until_unix_ms: self.unix_ms_in(valid_for),
        };
        Ok(self.writer().lease(key(chunk), &holder).await?)
    }

    async fn leases(&self) -> ResultsAnswer<Vec<(ChunkId, u32, SessionId)>> {
        let leases = self.store.leases(self.id).await?.into_iter();
        let of_others = leases.filter_map(|lease| {
            let session = SessionId(lease.holder.session?);
            Some((chunk(&lease.chunk), lease.attempt, session))
        });
        Ok(of_others.collect())
    }

    async fn renew(&self, lease: LeaseId, valid_for: Duration) -> ResultsAnswer<bool> {
        let until = self.unix_ms_in(valid_for);
        let renewed = (self.writer()).renew(key(lease.chunk), lease.attempt, until);
        Ok(renewed)
    }

    async fn release(&self, lease: LeaseId) -> ResultsAnswer<()> {
        self.writer().release(key(lease.chunk), lease.attempt);
        Ok(())
    }

    async fn report(&self, _: &str, game: FinishedGame) -> ResultsAnswer<StoredReport> {
        Ok(self.writer().write(game).await?)
    }

    fn keeps_records(&self) -> bool {
        true
    }

    fn record_file(&self, _: &str) -> Option<PathBuf> {
        None
    }

    async fn score(&self, group: u64) -> ResultsAnswer<Option<ScoredGroup>> {
        let page = self.store.scores(self.id, group.checked_sub(1), 1).await?;
        Ok(page.into_iter().find(|scored| scored.score.number == group))
    }

    async fn scores(&self) -> ResultsAnswer<BTreeMap<u64, ScoredGroup>> {
        let mut scores = BTreeMap::new();
        let mut after = None;
        loop {
            let page = self.store.scores(self.id, after, 10_000).await?;
            let Some(last) = page.last() else {
                return Ok(scores);
            };
            after = Some(last.score.number);
            scores.extend(page.into_iter().map(|group| (group.score.number, group)));
        }
    }

    async fn begun(&self, within: &[Range<u64>]) -> ResultsAnswer<Vec<BegunGame>> {
        Ok(self.store.begun_games(self.id, within).await?)
    }

    async fn complete_groups(
        &self,
        after: Option<GroupMark>,
        limit: u32,
    ) -> ResultsAnswer<Vec<CompleteGroup>> {
        Ok(self.store.complete_groups(self.id, after, limit).await?)
    }

    async fn complete_groups_within(
        &self,
        within: &[Range<u64>],
    ) -> ResultsAnswer<Vec<CompleteGroup>> {
        Ok(self.store.complete_groups_within(self.id, within).await?)
    }

    async fn courses(&self, after: Option<GroupMark>, to: GroupMark) -> ResultsAnswer<Vec<Course>> {
        Ok(self.store.courses(self.id, after, to).await?)
    }

    async fn kept_totals(&self) -> ResultsAnswer<Option<KeptTotals>> {
        Ok(self.store.kept_totals(self.id).await?)
    }

    async fn kept_courses(&self, revision: u64) -> ResultsAnswer<Option<Vec<Vec<u64>>>> {
        Ok(self.store.kept_courses(self.id, revision).await?)
    }

    async fn keep_totals(&self, totals: NewTotals<'_>) -> ResultsAnswer<bool> {
        Ok(self.store.keep_totals(self.id, totals).await?)
    }

    async fn counters(&self) -> ResultsAnswer<Vec<(Option<Entrant>, Counter, i64)>> {
        Ok(self.store.counters(self.id).await?)
    }

    async fn first_fouls(&self) -> ResultsAnswer<Vec<FirstFoul>> {
        Ok(self.store.first_fouls(self.id).await?)
    }

    async fn earlier_games(&self, group: u64) -> ResultsAnswer<Vec<GameRow>> {
        let mut games = Vec::new();
        let mut filter = GameFilter {
            after: group.checked_sub(1).map(|before| (before, u32::MAX)),
            ..GameFilter::default()
        };
        loop {
            let page = self.store.games(self.id, &filter, 32).await?;
            let Some(last) = page.last() else {
                return Ok(games);
            };
            let is_done = last.group != group;
            filter.after = Some((last.group, last.seating));
            games.extend(page.into_iter().filter(|game| game.group == group));
            if is_done {
                return Ok(games);
            }
        }
    }

    fn can_go_on(&self) -> bool {
        true
    }

    async fn close(&self) -> ResultsAnswer<()> {
        if let Some(writer) = &self.writer {
            writer.close().await;
        }
        Ok(())
    }
}

/// A chunk as the store names it.
pub(crate) const fn key(chunk: ChunkId) -> ChunkKey {
    ChunkKey {
        matchup: MatchId(chunk.matchup),
        first_group: chunk.first_group,
        groups: chunk.groups,
        seating: chunk.seating,
    }
}

fn chunk(key: &ChunkKey) -> ChunkId {
    ChunkId {
        matchup: key.matchup.0,
        first_group: key.first_group,
        groups: key.groups,
        seating: key.seating,
    }
}

/// Sums the results of a run while it is played, so that little is left to be summed by who asks.
struct TotalsKeeper {
    games: AtomicU64,
    wake: mpsc::Sender<()>,
}

impl TotalsKeeper {
    /// After so many games it is time again: those of groups of two.
    const EVERY: u64 = 2 * KEPT_EVERY;

    fn start(results: StoredResults) -> Self {
        let (wake, mut woken) = mpsc::channel(1);
        // It ends with the writer of the results, which has the other end.
        tokio::spawn(async move {
            while woken.recv().await.is_some() {
                let (results, runtime) = (results.clone(), Handle::current());
                // Games wait for nothing that takes so long.
                let summed = spawn_blocking(move || {
                    if let Err(error) = runtime.block_on(results.sum()) {
                        tracing::debug!(tournament = %results.id, %error, "results were not summed");
                    }
                });
                if summed.await.is_err() {
                    return;
                }
            }
        });
        Self {
            games: AtomicU64::new(0),
            wake,
        }
    }

    fn see(&self, commit: &Commit) {
        let more = commit.games as u64;
        let before = self.games.fetch_add(more, Ordering::Relaxed);
        if before / Self::EVERY != (before + more) / Self::EVERY {
            // An error means that it is at it.
            let _ = self.wake.try_send(());
        }
    }
}
