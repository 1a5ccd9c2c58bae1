//! The store of an arena whose process is killed: every call runs beside the simulation, and
//! takes some simulated time before and after it.

use std::{
    collections::BTreeMap,
    ops::Range,
    path::PathBuf,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use arena_dispatch::{OnCommit, Storage};
use arena_ladder::{Entrant, GroupCount};
use arena_simulation::{Beside, BesideResults};
use arena_store::{
    Claim, CommitPacing, Counter, DistinctGames, FinishedGame, FirstFoul, GameFilter, GameRow,
    QueuedTournament, ScoredGroup, Store, StoreError, Stored, Tournament, TournamentId,
    TournamentState, Wish, WorkerRow, WorkerSession,
};
use arena_tournament::{Answer, Results, StoredResults, TournamentError, WallClock};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng as _, SeedableRng as _},
};
use referee_worker::lease::{ChunkId, LeaseId, SessionId};

use crate::watch::Watch;

/// How long a call takes before it is done, and again after it, at most.
const LONGEST: Duration = Duration::from_millis(20);

/// A store beside the simulation.
pub(crate) struct BesideStorage {
    store: Store,
    beside: Beside,
    watch: Watch,
    chance: Mutex<ChaCha8Rng>,
}

impl BesideStorage {
    pub(crate) fn new(store: Store, beside: Beside, watch: Watch, seed: u64) -> Self {
        Self {
            store,
            beside,
            watch,
            chance: Mutex::new(ChaCha8Rng::seed_from_u64(seed)),
        }
    }

    async fn call<F, T>(&self, call: impl FnOnce(Store) -> F + Send) -> T
    where
        F: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        self.pass_time().await;
        let result = self.beside.call(call(self.store.clone()));
        self.pass_time().await;
        result
    }

    async fn pass_time(&self) {
        let time = self.draw() % (LONGEST.as_millis() as u64 + 1);
        tokio::time::sleep(Duration::from_millis(time)).await;
    }

    fn draw(&self) -> u64 {
        let mut chance = self.chance.lock().unwrap_or_else(PoisonError::into_inner);
        chance.next_u64()
    }
}

impl Storage for BesideStorage {
    type Results = BesideResults<WatchedResults>;
    type Claim = Claim;

    async fn queue(&self) -> Result<Vec<QueuedTournament>, StoreError> {
        self.call(|store| async move { store.queue().await }).await
    }

    async fn tournament(&self, name: &str) -> Result<Option<Tournament>, StoreError> {
        let name = name.to_owned();
        self.call(|store| async move { store.tournament(&name).await })
            .await
    }

    async fn claim(&self, id: TournamentId) -> Result<Claim, StoreError> {
        self.call(move |store| async move { store.claim(id).await })
            .await
    }

    async fn holds(&self, _: &mut Claim) -> bool {
        // In memory a claim ends with its process.
        true
    }

    async fn release(&self, claim: Claim) {
        self.call(|_| claim.release()).await;
    }

    async fn results(
        &self,
        id: TournamentId,
        clock: WallClock,
        seen: OnCommit,
    ) -> Result<Self::Results, TournamentError> {
        let pacing = CommitPacing {
            interval: Duration::ZERO,
            most_waiting: 1,
        };
        let begin = |store: Store| async move {
            StoredResults::writing_paced(&store, id, pacing, seen).await
        };
        let stored = self.call(begin).await?.with_clock(clock);
        let watched = WatchedResults {
            stored,
            watch: self.watch.clone(),
        };
        Ok(BesideResults::new(
            watched,
            self.beside.clone(),
            LONGEST,
            self.draw(),
        ))
    }

    async fn set_state(
        &self,
        id: TournamentId,
        to: TournamentState,
        unix_ms: i64,
    ) -> Result<(), StoreError> {
        let set = self.call(move |store| async move { store.set_state(id, to, unix_ms).await });
        set.await?;
        self.watch.state(to);
        Ok(())
    }

    async fn set_wish(&self, id: TournamentId, to: Option<Wish>) -> Result<(), StoreError> {
        self.call(move |store| async move { store.set_wish(id, to).await })
            .await
    }

    async fn set_waits(&self, id: TournamentId, waits: Option<String>) -> Result<(), StoreError> {
        self.call(move |store| async move { store.set_waits(id, waits.as_deref()).await })
            .await
    }

    async fn archive(&self, hash: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let hash = hash.to_owned();
        self.call(|store| async move { store.archive_bytes(&hash).await })
            .await
    }

    async fn workers(&self) -> Result<Vec<WorkerRow>, StoreError> {
        self.call(|store| async move { store.workers().await })
            .await
    }

    async fn meet_worker(&self, name: &str, unix_ms: i64) -> Result<WorkerRow, StoreError> {
        let name = name.to_owned();
        self.call(move |store| async move { store.meet_worker(&name, unix_ms).await })
            .await
    }

    async fn shut_out_worker(&self, name: &str, why: &str) -> Result<(), StoreError> {
        let (name, why) = (name.to_owned(), why.to_owned());
        self.call(|store| async move { store.shut_out_worker(&name, &why).await })
            .await
    }

    async fn keep_sessions(
        &self,
        sessions: Vec<WorkerSession>,
        unix_ms: i64,
    ) -> Result<(), StoreError> {
        self.call(move |store| async move { store.keep_sessions(&sessions, unix_ms).await })
            .await
    }

    async fn games(
        &self,
        id: TournamentId,
        filter: GameFilter,
        most: u32,
    ) -> Result<Vec<GameRow>, StoreError> {
        self.call(move |store| async move { store.games(id, &filter, most).await })
            .await
    }
}

/// Results whose leases and reports are watched at the moment at which they are written.
pub(crate) struct WatchedResults {
    stored: StoredResults,
    watch: Watch,
}

impl Results for WatchedResults {
    async fn lease(
        &self,
        chunk: ChunkId,
        worker: &str,
        session: Option<SessionId>,
        valid_for: Duration,
    ) -> Answer<u32> {
        let leased = self.stored.lease(chunk, worker, session, valid_for).await;
        if let Ok(attempt) = leased {
            self.watch.leased(chunk, attempt, worker);
        }
        leased
    }

    async fn leases(&self) -> Answer<Vec<(ChunkId, u32, SessionId)>> {
        self.stored.leases().await
    }

    async fn renew(&self, lease: LeaseId, valid_for: Duration) -> Answer<bool> {
        self.stored.renew(lease, valid_for).await
    }

    async fn release(&self, lease: LeaseId) -> Answer<()> {
        self.stored.release(lease).await
    }

    async fn report(&self, game_id: &str, mut game: FinishedGame) -> Answer<Stored> {
        let (chunk, attempt) = (game.chunk, game.attempt);
        let (row, worker) = (game.row.clone(), game.row.worker.clone());
        if self.watch.takes_stale_reports() {
            game.attempt = u32::MAX;
        }
        let stored = self.stored.report(game_id, game).await?;
        let worker = worker.unwrap_or_default();
        self.watch
            .reported(&row, &worker, &chunk, attempt, stored.reported);
        Ok(stored)
    }

    fn keeps_records(&self) -> bool {
        self.stored.keeps_records()
    }

    fn record_file(&self, game_id: &str) -> Option<PathBuf> {
        self.stored.record_file(game_id)
    }

    async fn score(&self, group: u64) -> Answer<Option<ScoredGroup>> {
        self.stored.score(group).await
    }

    async fn scores(&self) -> Answer<BTreeMap<u64, ScoredGroup>> {
        self.stored.scores().await
    }

    async fn begun(&self) -> Answer<BTreeMap<u64, Vec<u32>>> {
        self.stored.begun().await
    }

    async fn group_counts(&self, without: &[Range<u64>]) -> Answer<Vec<GroupCount>> {
        self.stored.group_counts(without).await
    }

    async fn counters(&self) -> Answer<Vec<(Option<Entrant>, Counter, i64)>> {
        self.stored.counters().await
    }

    async fn distinct_games(&self) -> Answer<DistinctGames> {
        self.stored.distinct_games().await
    }

    async fn first_fouls(&self) -> Answer<Vec<FirstFoul>> {
        self.stored.first_fouls().await
    }

    async fn earlier_games(&self, group: u64) -> Answer<Vec<GameRow>> {
        self.stored.earlier_games(group).await
    }

    fn can_go_on(&self) -> bool {
        self.stored.can_go_on()
    }

    async fn close(&self) -> Answer<()> {
        self.stored.close().await
    }
}
