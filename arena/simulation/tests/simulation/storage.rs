//! The store of an arena whose process is killed: every call runs beside the simulation, takes
//! some simulated time before and after it, and may fail.

use std::{sync::Arc, time::Duration};

use arena_dispatch::{OnCommit, Storage};
use arena_simulation::{Beside, BesideResults, Pace, commit_pacing};
use arena_store::{
    Claim, CommitPacing, Cure, GameFilter, GameRow, QueuedTournament, Store, StoreError,
    Tournament, TournamentId, TournamentState, Wish, WorkerRow, WorkerSession,
};
use arena_tournament::{StoredResults, TournamentError, WallClock};

use crate::{
    chance::Chance, defect::Defect, results::WatchedResults, scenario::FAULTS, trouble::Trouble,
    watch::Watch,
};

/// Longest time that a call takes before it is done, and again after it.
const LONGEST: Duration = Duration::from_millis(20);
/// The same of the calls of a slow store that take longer, which are one in so many.
const SLOW: Duration = Duration::from_secs(3);
const SLOW_ONE_IN: u64 = 15;

/// A store beside the simulation.
pub(crate) struct BesideStorage {
    store: Store,
    beside: Beside,
    watch: Watch,
    trouble: Trouble,
    pace: Pace,
    seed: u64,
}

impl BesideStorage {
    pub(crate) fn new(
        store: Store,
        beside: Beside,
        watch: Watch,
        trouble: Trouble,
        seed: u64,
    ) -> Self {
        let mut chance = Chance::new(seed);
        Self {
            store,
            beside,
            watch,
            pace: pace(&trouble, chance.number()),
            trouble,
            seed: chance.number(),
        }
    }

    /// Makes a call that may fail before it was done, and after that.
    async fn call<F, T>(
        &self,
        what: &'static str,
        call: impl FnOnce(Store) -> F + Send,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
        T: Send + 'static,
    {
        self.pace.pass().await;
        self.trouble.strike(what)?;
        let result = self.beside.call(call(self.store.clone()));
        self.pace.pass().await;
        self.trouble.strike(what)?;
        result
    }
}

/// Duration of calls.
fn pace(trouble: &Trouble, seed: u64) -> Pace {
    let pace = Pace::new(LONGEST, seed);
    match trouble.faults.is_slow {
        true => pace.with_slow_calls(SLOW_ONE_IN, SLOW, FAULTS),
        false => pace,
    }
}

impl Storage for BesideStorage {
    type Results = BesideResults<WatchedResults>;
    type Claim = Claim;

    async fn queue(&self) -> Result<Vec<QueuedTournament>, StoreError> {
        let queue = self.call("the queue", |store| async move { store.queue().await });
        let mut queue = queue.await?;
        for queued in &mut queue {
            if self.watch.defect == Defect::StopsInNameOnly && queued.wish == Wish::Pause {
                self.set_state(queued.id, TournamentState::Stopped, 0)
                    .await?;
                queued.wish = Wish::Play;
            }
            match (self.watch.defect, queued.wish) {
                (Defect::IgnoresCancel, Wish::Cancel) | (Defect::IgnoresPause, Wish::Pause) => {
                    queued.wish = Wish::Play;
                }
                _ => {}
            }
        }
        Ok(queue)
    }

    async fn tournament(&self, name: &str) -> Result<Option<Tournament>, StoreError> {
        let name = name.to_owned();
        let call = |store: Store| async move { store.tournament(&name).await };
        self.call("a tournament", call).await
    }

    async fn claim(&self, id: TournamentId) -> Result<Claim, StoreError> {
        let call = move |store: Store| async move { store.claim(id).await };
        self.call("a claim", call).await
    }

    async fn holds(&self, _: &mut Claim) -> bool {
        // In memory a claim ends with its process.
        !self.trouble.loses_claim()
    }

    async fn release(&self, claim: Claim) {
        self.pace.pass().await;
        self.beside.call(claim.release());
    }

    async fn results(
        &self,
        id: TournamentId,
        clock: WallClock,
        seen: OnCommit,
    ) -> Result<Self::Results, TournamentError> {
        let pacing = CommitPacing {
            // No simulated time passes while it tries again.
            patience: Duration::ZERO,
            ..commit_pacing()
        };
        self.pace.pass().await;
        self.trouble.strike("results")?;
        let store = self.store.clone();
        let begin = async move { StoredResults::writing_paced(&store, id, pacing, seen).await };
        let stored = self.beside.call(begin)?.with_clock(clock);
        let watched = WatchedResults {
            stored,
            id,
            watch: self.watch.clone(),
            trouble: self.trouble.clone(),
        };
        let pace = pace(&self.trouble, self.seed ^ id.number());
        Ok(BesideResults::new(watched, self.beside.clone(), pace))
    }

    async fn set_state(
        &self,
        id: TournamentId,
        to: TournamentState,
        unix_ms: i64,
    ) -> Result<(), StoreError> {
        if self.watch.defect == Defect::NeverEnds && to == TournamentState::Over {
            return Err(StoreError::Io(Arc::new(std::io::Error::other("simulated"))));
        }
        let watch = self.watch.clone();
        let call = move |store: Store| async move {
            let set = store.set_state(id, to, unix_ms).await;
            // It may be done though nobody has heard of it.
            let spared = watch.spare();
            let all = store.tournaments().await?;
            drop(spared);
            if set.is_ok() || all.iter().any(|one| one.id == id && one.state == to) {
                watch.state(id, to);
            }
            set
        };
        self.call("a state", call).await
    }

    async fn set_wish(&self, id: TournamentId, to: Option<Wish>) -> Result<(), StoreError> {
        let call = move |store: Store| async move { store.set_wish(id, to).await };
        self.call("a wish", call).await
    }

    async fn set_waits(&self, id: TournamentId, waits: Option<String>) -> Result<(), StoreError> {
        if let Some(waits) = &waits
            && waits.starts_with("somebody")
        {
            self.watch
                .breaks(format!("tournament {id} waits for {waits}"));
        }
        let for_room = |waits: &String| waits.starts_with(Cure::Room.words());
        if waits.as_ref().is_some_and(for_room) {
            self.watch.count("waits for room");
        }
        let call = move |store: Store| async move { store.set_waits(id, waits.as_deref()).await };
        self.call("what it waits for", call).await
    }

    async fn archive(&self, hash: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let hash = hash.to_owned();
        let call = |store: Store| async move { store.archive_bytes(&hash).await };
        let bytes = self.call("an archive", call).await?;
        Ok(bytes.map(|bytes| self.trouble.spoil(bytes)))
    }

    async fn workers(&self) -> Result<Vec<WorkerRow>, StoreError> {
        let workers = self.call("workers", |store| async move { store.workers().await });
        let mut workers = workers.await?;
        if self.watch.defect == Defect::IgnoresRevoke {
            for worker in &mut workers {
                worker.revoked = false;
            }
        }
        Ok(workers)
    }

    async fn meet_worker(&self, name: &str, unix_ms: i64) -> Result<WorkerRow, StoreError> {
        let name = name.to_owned();
        let call = move |store: Store| async move { store.meet_worker(&name, unix_ms).await };
        self.call("a worker", call).await
    }

    async fn shut_out_worker(&self, name: &str, why: &str) -> Result<(), StoreError> {
        let (name, why) = (name.to_owned(), why.to_owned());
        let call = |store: Store| async move { store.shut_out_worker(&name, &why).await };
        self.call("shutting a worker out", call).await
    }

    async fn keep_sessions(
        &self,
        sessions: Vec<WorkerSession>,
        unix_ms: i64,
    ) -> Result<(), StoreError> {
        let call = move |store: Store| async move { store.keep_sessions(&sessions, unix_ms).await };
        self.call("sessions", call).await
    }

    async fn games(
        &self,
        id: TournamentId,
        filter: GameFilter,
        most: u32,
    ) -> Result<Vec<GameRow>, StoreError> {
        let call = move |store: Store| async move { store.games(id, &filter, most).await };
        self.call("games", call).await
    }
}
