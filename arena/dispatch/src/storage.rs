//! The calls of a store that the service needs, so that a simulation can put its own thread
//! between.

use arena_store::{
    Claim, Commit, GameFilter, GameRow, QueuedTournament, Store, StoreError, Tournament,
    TournamentId, TournamentState, Wish, WorkerRow, WorkerSession,
};
use arena_tournament::{Results, StoredResults, TournamentError, WallClock};

/// Is told of each commit; it must not block.
pub type OnCommit = Box<dyn Fn(&Commit) + Send + Sync>;

/// A store of tournaments and workers.
pub trait Storage: Send + Sync + 'static {
    /// The results of one tournament.
    type Results: Results;
    /// The right to play a tournament. Dropping it gives it back.
    type Claim: Send + 'static;

    /// The tournaments that are not over and of which a person has asked something, in the
    /// order in which they are played.
    fn queue(&self) -> impl Future<Output = Result<Vec<QueuedTournament>, StoreError>> + Send;

    /// The tournament of this name.
    fn tournament(
        &self,
        name: &str,
    ) -> impl Future<Output = Result<Option<Tournament>, StoreError>> + Send;

    /// Takes the right to play a tournament.
    fn claim(
        &self,
        id: TournamentId,
    ) -> impl Future<Output = Result<Self::Claim, StoreError>> + Send;

    /// True if a claim still holds.
    fn holds(&self, claim: &mut Self::Claim) -> impl Future<Output = bool> + Send;

    /// Gives it back, and returns when others can have it.
    fn release(&self, claim: Self::Claim) -> impl Future<Output = ()> + Send;

    /// The results of a tournament, to be added to.
    fn results(
        &self,
        id: TournamentId,
        clock: WallClock,
        seen: OnCommit,
    ) -> impl Future<Output = Result<Self::Results, TournamentError>> + Send;

    /// Sets the state of a tournament.
    fn set_state(
        &self,
        id: TournamentId,
        to: TournamentState,
        unix_ms: i64,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Writes down what is asked of a tournament.
    fn set_wish(
        &self,
        id: TournamentId,
        to: Option<Wish>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Writes down what a tournament waits for, in words.
    fn set_waits(
        &self,
        id: TournamentId,
        waits: Option<String>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// The packed bytes of a bot's archive, by its hash.
    fn archive(
        &self,
        hash: &str,
    ) -> impl Future<Output = Result<Option<Vec<u8>>, StoreError>> + Send;

    /// All workers.
    fn workers(&self) -> impl Future<Output = Result<Vec<WorkerRow>, StoreError>> + Send;

    /// Adds a worker without a token where there is none of this name.
    fn meet_worker(
        &self,
        name: &str,
        unix_ms: i64,
    ) -> impl Future<Output = Result<WorkerRow, StoreError>> + Send;

    /// Shuts a worker out.
    fn shut_out_worker(
        &self,
        name: &str,
        why: &str,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Writes down what is known of workers' processes.
    fn keep_sessions(
        &self,
        sessions: Vec<WorkerSession>,
        unix_ms: i64,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// A page of a tournament's games.
    fn games(
        &self,
        id: TournamentId,
        filter: GameFilter,
        most: u32,
    ) -> impl Future<Output = Result<Vec<GameRow>, StoreError>> + Send;
}

impl Storage for Store {
    type Results = StoredResults;
    type Claim = Claim;

    async fn queue(&self) -> Result<Vec<QueuedTournament>, StoreError> {
        self.queue().await
    }

    async fn tournament(&self, name: &str) -> Result<Option<Tournament>, StoreError> {
        self.tournament(name).await
    }

    async fn claim(&self, id: TournamentId) -> Result<Claim, StoreError> {
        self.claim(id).await
    }

    async fn holds(&self, claim: &mut Claim) -> bool {
        claim.holds().await
    }

    async fn release(&self, claim: Claim) {
        claim.release().await;
    }

    async fn results(
        &self,
        id: TournamentId,
        clock: WallClock,
        seen: OnCommit,
    ) -> Result<StoredResults, TournamentError> {
        let results = StoredResults::writing(self, id, seen).await?;
        Ok(results.with_clock(clock))
    }

    async fn set_state(
        &self,
        id: TournamentId,
        to: TournamentState,
        unix_ms: i64,
    ) -> Result<(), StoreError> {
        self.set_state(id, to, unix_ms).await
    }

    async fn set_wish(&self, id: TournamentId, to: Option<Wish>) -> Result<(), StoreError> {
        self.set_wish(id, to).await
    }

    async fn set_waits(&self, id: TournamentId, waits: Option<String>) -> Result<(), StoreError> {
        self.set_waits(id, waits.as_deref()).await
    }

    async fn archive(&self, hash: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.archive_bytes(hash).await
    }

    async fn workers(&self) -> Result<Vec<WorkerRow>, StoreError> {
        self.workers().await
    }

    async fn meet_worker(&self, name: &str, unix_ms: i64) -> Result<WorkerRow, StoreError> {
        self.meet_worker(name, unix_ms).await
    }

    async fn shut_out_worker(&self, name: &str, why: &str) -> Result<(), StoreError> {
        self.shut_out_worker(name, why).await
    }

    async fn keep_sessions(
        &self,
        sessions: Vec<WorkerSession>,
        unix_ms: i64,
    ) -> Result<(), StoreError> {
        self.keep_sessions(&sessions, unix_ms).await
    }

    async fn games(
        &self,
        id: TournamentId,
        filter: GameFilter,
        most: u32,
    ) -> Result<Vec<GameRow>, StoreError> {
        self.games(id, &filter, most).await
    }
}
