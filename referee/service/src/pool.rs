//! The threads that games are played on. Each has a runtime of its own, since a thread that
//! does nothing else handles a question sooner, and each measures how late it is.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle, ThreadId},
    time::Duration,
};

use tokio::{
    runtime::{Builder, Handle},
    sync::{Semaphore, oneshot},
    time::Instant,
};
use tokio_util::{
    sync::CancellationToken,
    task::{AbortOnDropHandle, TaskTracker},
};

use crate::{
    cores::{core_count, keep_to},
    heartbeat::Heartbeat,
    stops::Stops,
};

/// Names a thread, among those of all pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ShardId(ThreadId);

/// A thread that plays games.
#[derive(Clone)]
pub struct Shard {
    /// Its name.
    pub id: ShardId,
    /// Its heartbeat, which measures how late it is.
    pub heartbeat: Heartbeat,
    /// The streams of games that are over, as long as their bots have not closed them.
    pub closing: TaskTracker,
    /// Number of moves that have been made in its games.
    pub moves: Arc<AtomicU64>,
    /// The bots that may be started now, for the games of all threads of the pool: one for each core,
    /// so that the limit of a start is not used up by the starts of others.
    pub(crate) starts: Arc<Semaphore>,
    handle: Handle,
    /// The games that it plays.
    games: TaskTracker,
}

/// All of these threads. Dropping it ends them and cuts off games that are still running.
pub struct Pool {
    shards: Vec<Shard>,
    starts: Arc<Semaphore>,
    beats: Vec<AbortOnDropHandle<()>>,
    stop: CancellationToken,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    /// A pool of this many threads, at least one.
    ///
    /// # Errors
    ///
    /// The system can't start a thread.
    pub fn new(threads: usize) -> std::io::Result<Self> {
        Self::of_threads(vec![None; threads.max(1)])
    }

    /// A pool of a thread on each of these cores.
    ///
    /// # Errors
    ///
    /// The system can't start a thread.
    pub fn on_cores(cores: &[usize]) -> std::io::Result<Self> {
        Self::of_threads(cores.iter().copied().map(Some).collect())
    }

    /// A pool whose only thread is the calling one: its games are played on this runtime as
    /// long as the caller drives it. So they can be played on a clock that is not the machine's.
    #[must_use]
    pub fn on_runtime(handle: Handle) -> Self {
        let mut pool = Self::empty();
        pool.add(thread::current().id(), handle, None);
        pool
    }

    fn empty() -> Self {
        Self {
            shards: Vec::new(),
            starts: Arc::new(Semaphore::new(core_count())),
            beats: Vec::new(),
            stop: CancellationToken::new(),
            threads: Vec::new(),
        }
    }

    fn add(&mut self, thread: ThreadId, handle: Handle, stops: Option<Stops>) {
        let heartbeat = Heartbeat::new(stops);
        let beat = handle.spawn(heartbeat.clone().beat());
        self.beats.push(AbortOnDropHandle::new(beat));
        self.shards.push(Shard {
            id: ShardId(thread),
            heartbeat,
            closing: TaskTracker::new(),
            moves: Arc::default(),
            starts: self.starts.clone(),
            handle,
            games: TaskTracker::new(),
        });
    }

    fn of_threads(cores: Vec<Option<usize>>) -> std::io::Result<Self> {
        let mut pool = Self::empty();
        let stops = Stops::watch()?;
        for (number, core) in cores.into_iter().enumerate() {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let handle = runtime.handle().clone();
            let stop = pool.stop.clone();
            let thread = thread::Builder::new()
                .name(format!("referee-{number}"))
                .spawn(move || {
                    if let Some(core) = core
                        && let Err(error) = keep_to(core)
                    {
                        tracing::warn!(%error, core, "a thread can't be kept to its core");
                    }
                    runtime.block_on(stop.cancelled());
                })?;
            pool.add(thread.thread().id(), handle, Some(stops.clone()));
            pool.threads.push(thread);
        }
        Ok(pool)
    }

    /// Runs a future on the thread that has the fewest. If the returned future is dropped,
    /// that one is dropped too.
    pub async fn run<F, T>(&self, work: impl FnOnce(Shard) -> F) -> Result<T, CutOff>
    where
        F: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        let shard = self
            .shards
            .iter()
            .min_by_key(|shard| shard.games.len())
            .expect("a pool has a thread")
            .clone();
        let counted = shard.games.token();
        let work = work(shard.clone());
        let (mut done, result) = oneshot::channel();
        shard.handle.spawn(async move {
            let _counted = counted;
            tokio::select! {
                biased;
                result = work => { let _ = done.send(result); }
                () = done.closed() => {}
            }
        });
        result.await.map_err(|_| CutOff)
    }

    /// Waits until every bot has closed the streams of games that are over, or has had the
    /// time for it.
    pub async fn drain(&self) {
        for shard in &self.shards {
            shard.closing.close();
            shard.closing.wait().await;
            shard.closing.reopen();
        }
    }

    /// The longest delay of any thread.
    #[must_use]
    pub fn worst_delay(&self) -> Duration {
        self.worst(Heartbeat::worst)
    }

    /// The same since that moment.
    #[must_use]
    pub fn worst_delay_since(&self, since: Instant) -> Duration {
        self.worst(|heartbeat| heartbeat.worst_since(since))
    }

    fn worst(&self, of: impl Fn(&Heartbeat) -> Duration) -> Duration {
        let delays = self.shards.iter().map(|shard| of(&shard.heartbeat));
        delays.max().expect("a pool has a thread")
    }

    /// Number of games that are being played on all threads.
    #[must_use]
    pub fn running(&self) -> usize {
        self.shards.iter().map(|shard| shard.games.len()).sum()
    }

    /// Number of moves that have been made in games on all threads, also in those that are not over.
    #[must_use]
    pub fn moves(&self) -> u64 {
        let shards = self.shards.iter();
        shards
            .map(|shard| shard.moves.load(Ordering::Relaxed))
            .sum()
    }

    /// Number of tasks that are alive on all threads, the heartbeats among them.
    #[must_use]
    pub fn tasks(&self) -> usize {
        self.shards
            .iter()
            .map(|shard| shard.handle.metrics().num_alive_tasks())
            .sum()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.stop.cancel();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// The work was cut off: its thread has ended, or it panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the game was cut off")]
pub struct CutOff;
