//! The threads that games are played on: each has a runtime of its own, since
//! a question is answered sooner by a thread that does nothing else, and each
//! watches how late it is.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{JoinHandle, ThreadId},
    time::Duration,
};

use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::heartbeat::Heartbeat;

/// Which of the threads, of all pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ShardId(ThreadId);

/// A thread that plays games.
#[derive(Clone)]
pub struct Shard {
    /// Which.
    pub id: ShardId,
    /// How late it is.
    pub heartbeat: Heartbeat,
    /// The streams of games that are over and that their bots have not closed
    /// yet.
    pub goodbyes: TaskTracker,
    handle: Handle,
    load: Arc<AtomicUsize>,
}

/// All of them. Dropping it ends them; games that are still running are cut
/// off.
pub struct Pool {
    shards: Vec<Shard>,
    stop: CancellationToken,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    /// As many threads as said.
    ///
    /// # Errors
    ///
    /// Where the system has no threads to give.
    pub fn new(threads: usize) -> std::io::Result<Self> {
        let stop = CancellationToken::new();
        let mut pool = Self {
            shards: Vec::new(),
            stop,
            threads: Vec::new(),
        };
        for number in 0..threads.max(1) {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let handle = runtime.handle().clone();
            let stop = pool.stop.clone();
            let thread = std::thread::Builder::new()
                .name(format!("referee-{number}"))
                .spawn(move || runtime.block_on(stop.cancelled()))?;
            let shard = Shard {
                id: ShardId(thread.thread().id()),
                heartbeat: Heartbeat::default(),
                goodbyes: TaskTracker::new(),
                handle,
                load: Arc::default(),
            };
            shard.handle.spawn(shard.heartbeat.clone().beat());
            pool.shards.push(shard);
            pool.threads.push(thread);
        }
        Ok(pool)
    }

    /// Runs something on the thread that has the least to do. If the result is
    /// not waited for, what runs is cut off.
    pub async fn run<F, T>(&self, work: impl FnOnce(Shard) -> F) -> Result<T, CutOff>
    where
        F: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        let shard = self
            .shards
            .iter()
            .min_by_key(|shard| shard.load.load(Ordering::Relaxed))
            .expect("a pool has a thread")
            .clone();
        let load = Load::new(&shard.load);
        let work = work(shard.clone());
        let (mut done, result) = oneshot::channel();
        shard.handle.spawn(async move {
            let _load = load;
            tokio::select! {
                biased;
                result = work => { let _ = done.send(result); }
                () = done.closed() => {}
            }
        });
        result.await.map_err(|_| CutOff)
    }

    /// Waits until every bot has heard that its game is over, or has had the
    /// time for it.
    pub async fn drain(&self) {
        for shard in &self.shards {
            shard.goodbyes.close();
            shard.goodbyes.wait().await;
            shard.goodbyes.reopen();
        }
    }

    /// The longest that any of the threads has kept anybody waiting.
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

    /// How many tasks are alive on all threads, the heartbeats among them.
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

/// What ran was cut off: its thread has ended, or it panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the game was cut off")]
pub struct CutOff;

struct Load(Arc<AtomicUsize>);

impl Load {
    fn new(load: &Arc<AtomicUsize>) -> Self {
        load.fetch_add(1, Ordering::Relaxed);
        Self(load.clone())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
