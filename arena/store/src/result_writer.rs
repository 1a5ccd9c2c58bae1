//! Group commit: games that are reported at about the same time share a transaction, and what
//! has changed of leases goes with them.

use std::{fmt, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    sync::{Notify, mpsc, oneshot},
    time::Instant,
};

use crate::{
    ChunkKey, FinishedGame, LeaseHolder, Store, StoreError, StoredReport, TournamentId,
    lease::{self, ChangedLease, LeaseBook},
};

/// After how long a transaction is tried again first, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// When games are committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitPacing {
    /// The shortest time from the end of a commit to the next one, so that games share
    /// commits. A game that comes when this time has passed is committed at once.
    pub interval: Duration,
    /// With this many games waiting, they are committed at once. If callers wait for
    /// the answer before they play on, the number of games played at once suffices.
    pub most_waiting: usize,
    /// Longest time in which a transaction is tried again while the database can't take it. Then
    /// all who wait for it are told.
    pub patience: Duration,
}

impl Default for CommitPacing {
    fn default() -> Self {
        Self {
            interval: Duration::from_millis(20),
            most_waiting: 256,
            patience: Duration::from_secs(60),
        }
    }
}

/// A transaction of a [`ResultWriter`] that stores games, for the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Number of games in it.
    pub games: usize,
    /// Time that the first of them waited for the transaction to begin.
    pub waited: Duration,
    /// Duration of the transaction, with its retries.
    pub took: Duration,
    /// True if it succeeded.
    pub stored: bool,
}

/// Stores the games of one tournament as they are reported, several in a transaction.
/// All clones share one queue.
#[derive(Clone)]
pub struct ResultWriter {
    queue: mpsc::Sender<Message>,
    store: Store,
    id: TournamentId,
    entrants: usize,
    leases: Arc<Leases>,
}

/// The leases, which the writer stores.
struct Leases {
    book: Mutex<LeaseBook>,
    /// Tells the writer of a change.
    changed: Notify,
}

type WriteReply = oneshot::Sender<Result<StoredReport, StoreError>>;

enum Message {
    Game {
        game: Box<FinishedGame>,
        since: Instant,
        answer: WriteReply,
    },
    Close(oneshot::Sender<()>),
}

impl ResultWriter {
    /// Starts a writer for a tournament. `seen` is called after each commit; it must not
    /// block.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`], or the database fails.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub async fn start(
        store: &Store,
        id: TournamentId,
        pacing: CommitPacing,
        seen: impl Fn(&Commit) + Send + Sync + 'static,
    ) -> Result<Self, StoreError> {
        let tournament = store.tournament_of(id).await?;
        let leases = Arc::new(Leases {
            book: Mutex::new(LeaseBook::of(store.leases(id).await?)),
            changed: Notify::new(),
        });
        let (queue, messages) = mpsc::channel(1024);
        let writer = WriterTask {
            store: store.clone(),
            id,
            pacing,
            leases: leases.clone(),
            seen: Arc::new(seen),
        };
        tokio::spawn(writer.run(messages));
        Ok(Self {
            queue,
            store: store.clone(),
            id,
            entrants: tournament.entrants.len(),
            leases,
        })
    }

    /// Leases a chunk to a worker, even if another worker has it, and returns the number of
    /// the attempt. From now on games of earlier attempts are
    /// [`Stale`](crate::Reported::Stale), also after a restart.
    ///
    /// It waits for no commit but the first time, and once in ten thousand, when numbers are
    /// reserved. The lease is stored by the next commit. If the process is killed before that, nobody has the
    /// chunk after a restart, and whoever gets it then has a later attempt.
    ///
    /// # Errors
    ///
    /// The database fails, where numbers are reserved.
    pub async fn lease(&self, chunk: ChunkKey, holder: &LeaseHolder) -> Result<u32, StoreError> {
        loop {
            let leased = self.leases.book.lock().lease(chunk, holder);
            if let Some(attempt) = leased {
                self.leases.changed.notify_one();
                return Ok(attempt);
            }
            // Those of another caller that reserves at the same time are not used.
            let mut transaction = self.store.writing().await?;
            let up_to = lease::reserve(&mut transaction, self.id).await?;
            transaction.commit().await?;
            self.leases.book.lock().reserve(up_to);
        }
    }

    /// Extends a lease. Returns false if the chunk has been leased again since, or
    /// was released.
    #[must_use]
    pub fn renew(&self, chunk: ChunkKey, attempt: u32, until_unix_ms: i64) -> bool {
        let renewed = (self.leases.book.lock()).renew(chunk, attempt, until_unix_ms);
        self.leases.changed.notify_one();
        renewed
    }

    /// Ends the lease of a chunk that is done or given up. Returns false if the chunk
    /// has been leased again since, or was released before.
    pub fn release(&self, chunk: ChunkKey, attempt: u32) -> bool {
        let released = self.leases.book.lock().release(chunk, attempt);
        self.leases.changed.notify_one();
        released
    }

    /// Reports a game, and returns when it is stored. It is stored even if the caller
    /// drops the future after the game has entered the queue.
    ///
    /// # Errors
    ///
    /// As [`Store::report`], and [`StoreError::Closed`]. If a transaction fails, all
    /// callers with games in it get the error, and may report their games again.
    pub async fn write(&self, game: FinishedGame) -> Result<StoredReport, StoreError> {
        // A bad game would make the transaction fail for the others in it.
        game.row.check(self.entrants)?;
        let (answer, answered) = oneshot::channel();
        let message = Message::Game {
            game: Box::new(game),
            since: Instant::now(),
            answer,
        };
        let sent = self.queue.send(message).await;
        sent.map_err(|_| StoreError::Closed)?;
        answered.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Accepts no more games, and returns when those in the queue are stored or have
    /// failed.
    pub async fn close(&self) {
        let (done, closed) = oneshot::channel();
        // An error means that it has been closed before.
        if self.queue.send(Message::Close(done)).await.is_ok() {
            let _ = closed.await;
        }
        self.queue.closed().await;
    }
}

impl fmt::Debug for ResultWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResultWriter")
            .field("tournament", &self.id)
            .finish_non_exhaustive()
    }
}

/// The one who writes.
struct WriterTask {
    store: Store,
    id: TournamentId,
    pacing: CommitPacing,
    leases: Arc<Leases>,
    seen: Arc<dyn Fn(&Commit) + Send + Sync>,
}

impl WriterTask {
    async fn run(self, mut messages: mpsc::Receiver<Message>) {
        let mut batch = Batch::default();
        let mut free = Instant::now();
        loop {
            tokio::select! {
                biased;
                message = messages.recv() => match message {
                    Some(message) => batch.take(message, &mut messages),
                    None => break,
                },
                () = self.leases.changed.notified() => {}
            }
            // Leases alone wait for games to go with.
            let alone = free.max(Instant::now() + self.pacing.interval);
            // What comes until the pause is over goes with it.
            while batch.games.len() < self.pacing.most_waiting.max(1) {
                let until = if batch.games.is_empty() { alone } else { free };
                let next = match messages.try_recv() {
                    Ok(message) => Some(message),
                    Err(mpsc::error::TryRecvError::Disconnected) => None,
                    Err(mpsc::error::TryRecvError::Empty) if batch.is_last() => None,
                    // A timer would take a millisecond to say so.
                    Err(mpsc::error::TryRecvError::Empty) if Instant::now() >= until => None,
                    Err(mpsc::error::TryRecvError::Empty) => {
                        tokio::time::timeout_at(until, messages.recv())
                            .await
                            .unwrap_or(None)
                    }
                };
                match next {
                    Some(message) => batch.take(message, &mut messages),
                    None => break,
                }
            }
            self.commit(&mut batch).await;
            free = Instant::now() + self.pacing.interval;
        }
        if batch.is_last() {
            // Leases that were given up since.
            self.commit(&mut batch).await;
        }
        for closed in batch.closed {
            let _ = closed.send(());
        }
    }

    /// Reports games, again and again while the database is busy or away: reporting
    /// a game twice changes nothing.
    async fn report(
        &self,
        games: &[FinishedGame],
        leases: &[ChangedLease],
    ) -> Result<Vec<StoredReport>, StoreError> {
        let until = Instant::now() + self.pacing.patience;
        let mut pause = FIRST_PAUSE;
        loop {
            match self.store.report_all(self.id, games, leases).await {
                Err(error) if error.may_pass() && Instant::now() + pause < until => {
                    tracing::warn!(tournament = %self.id, %error, "the store is tried again");
                    tokio::time::sleep(pause).await;
                    pause = (2 * pause).min(LONGEST_PAUSE);
                }
                reported => return reported,
            }
        }
    }

    async fn commit(&self, batch: &mut Batch) {
        let leases = self.leases.book.lock().take_changed();
        if batch.games.is_empty() && leases.is_empty() {
            return;
        }
        let games = std::mem::take(&mut batch.games);
        let answers = std::mem::take(&mut batch.answers);
        let begin = Instant::now();
        let waited = batch
            .since
            .take()
            .map_or(Duration::ZERO, |since| begin - since);
        let count = games.len();
        let reported = self.report(&games, &leases).await;
        if reported.is_err() {
            self.leases.book.lock().put_back(&leases);
        }
        let commit = Commit {
            games: count,
            waited,
            took: begin.elapsed(),
            stored: reported.is_ok(),
        };
        match &reported {
            Ok(_) => tracing::debug!(
                tournament = %self.id,
                games = count,
                waited_us = commit.waited.as_micros() as u64,
                took_us = commit.took.as_micros() as u64,
                "games stored"
            ),
            Err(error) => {
                tracing::error!(tournament = %self.id, games = count, %error, "games not stored");
            }
        }
        if count > 0 {
            (self.seen)(&commit);
        }
        // An error means that the caller has stopped waiting.
        match reported {
            Ok(reported) => {
                for (answer, stored) in answers.into_iter().zip(reported) {
                    let _ = answer.send(Ok(stored));
                }
            }
            Err(error) => {
                for answer in answers {
                    let _ = answer.send(Err(error.clone()));
                }
            }
        }
    }
}

/// Content of the next transaction.
#[derive(Default)]
struct Batch {
    games: Vec<FinishedGame>,
    answers: Vec<WriteReply>,
    /// Since when the first has waited.
    since: Option<Instant>,
    closed: Vec<oneshot::Sender<()>>,
}

impl Batch {
    fn take(&mut self, message: Message, messages: &mut mpsc::Receiver<Message>) {
        match message {
            Message::Game {
                game,
                since,
                answer,
            } => {
                self.since.get_or_insert(since);
                self.games.push(*game);
                self.answers.push(answer);
            }
            Message::Close(done) => {
                messages.close();
                self.closed.push(done);
            }
        }
    }

    /// True if nothing more will come.
    fn is_last(&self) -> bool {
        !self.closed.is_empty()
    }
}
