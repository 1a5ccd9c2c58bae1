//! The memory that a process uses with all that it has started, and what it is told of its limit.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    time::{Duration, Instant},
};

use referee_core::Foul;
use referee_sandbox::{Cgroup, MemoryKills};
use tokio::sync::{mpsc, oneshot};

use crate::{
    proc::{OrShortage, memory_of_tree},
    shortage::{PATIENCE, Shortage},
};

/// Interval at which the memory of a process is measured.
const MEMORY_CHECK: Duration = Duration::from_millis(10);
/// Longest time that the last measurement waits for what we lack.
const LAST_CHECK: Duration = Duration::from_secs(1);

/// The reason to end a process whose memory is watched.
#[derive(Debug)]
pub(super) enum MemoryEnd {
    /// It has added more than its limit.
    Exceeded(MemoryPeak),
    /// It could not be measured for a long time.
    Unmeasured(Shortage),
}

/// The limit and the measure of a process's memory, if any. Then it is looked at every few
/// milliseconds and once more before the process is stopped. All its descendants count as
/// its own, and where it has a cgroup, memory that its processes share, too.
#[derive(Clone, Debug, Default)]
pub struct MemoryOptions {
    /// Most anonymous memory that it may add to what it has when it listens, in bytes.
    pub limit: Option<u64>,
    /// Gets the most that a process has added.
    pub gauge: Option<Arc<MemoryGauge>>,
}

/// The most that any of several processes has added, in bytes.
#[derive(Debug, Default)]
pub struct MemoryGauge(AtomicU64);

impl MemoryGauge {
    /// The most so far.
    #[must_use]
    pub fn peak(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn seen(&self, bytes: u64) {
        self.0.fetch_max(bytes, Ordering::Relaxed);
    }
}

/// A thread that measures the memory of a process and all its descendants. A thread of its
/// own, since a measurement blocks, and one every few milliseconds costs half as much again
/// where it is handed to another thread each time.
pub(super) struct MemoryWatch {
    /// Ends the thread when it is dropped, after a last measurement.
    running: Option<Sender<()>>,
    /// The reason why the process is to be ended. It is closed when the thread has ended.
    ends: mpsc::Receiver<MemoryEnd>,
}

impl MemoryWatch {
    /// Starts the thread, if the memory is limited or measured, and waits until it has looked
    /// once: what the process takes from then on is counted.
    ///
    /// # Errors
    ///
    /// The system can't start a thread.
    pub(super) async fn start(
        id: u32,
        memory: MemoryOptions,
        cgroup: Option<Cgroup>,
    ) -> io::Result<Option<Self>> {
        if memory.limit.is_none() && memory.gauge.is_none() {
            return Ok(None);
        }
        let (running, ended) = channel();
        let (end, ends) = mpsc::channel(1);
        let (looking, looked) = oneshot::channel();
        std::thread::Builder::new()
            .name(format!("memory-{id}"))
            .spawn(move || {
                if let Some(why) = memory.watch(id, cgroup.as_ref(), &ended, Some(looking)) {
                    let _ = end.try_send(why);
                }
            })?;
        let _ = looked.await;
        Ok(Some(Self {
            running: Some(running),
            ends,
        }))
    }

    /// Waits until the process is to be ended.
    pub(super) async fn ends(&mut self) -> MemoryEnd {
        match self.ends.recv().await {
            Some(end) => end,
            // It has ended.
            None => std::future::pending().await,
        }
    }

    /// Measures once more.
    pub(super) async fn end(&mut self) {
        self.running = None;
        self.ends.recv().await;
    }
}

impl MemoryOptions {
    /// Measures until the process has ended or is to be ended, or its [`MemoryWatch`] is ended
    /// or dropped. What can't be measured is measured again; only where that goes on is the
    /// process ended, since it would be without a limit. `looking` is dropped after the first look.
    fn watch(
        &self,
        id: u32,
        cgroup: Option<&Cgroup>,
        ended: &Receiver<()>,
        mut looking: Option<oneshot::Sender<()>>,
    ) -> Option<MemoryEnd> {
        let mut at_first = None;
        let mut measured = Instant::now();
        let mut is_last = false;
        loop {
            let used = used(id, cgroup);
            drop(looking.take());
            match used {
                Ok(None) => return None,
                Ok(Some(used)) => {
                    measured = Instant::now();
                    // What it has at the first look is its own, whenever that was possible.
                    let added = used.saturating_sub(*at_first.get_or_insert(used));
                    if let Some(gauge) = &self.gauge {
                        gauge.seen(added);
                    }
                    if let Some(limit) = self.limit.filter(|limit| added > *limit) {
                        return Some(MemoryEnd::Exceeded(MemoryPeak { peak: added, limit }));
                    }
                    if is_last {
                        return None;
                    }
                }
                Err(shortage) => {
                    let longest = if is_last { LAST_CHECK } else { PATIENCE };
                    if measured.elapsed() >= longest {
                        tracing::warn!(%shortage, "the memory of a bot can't be measured");
                        return (!is_last).then_some(MemoryEnd::Unmeasured(shortage));
                    }
                }
            }
            if is_last {
                std::thread::sleep(MEMORY_CHECK);
            } else if ended.recv_timeout(MEMORY_CHECK) != Err(RecvTimeoutError::Timeout) {
                is_last = true;
                measured = Instant::now();
            }
        }
    }
}

/// The memory that a process uses now with all that it has started, shared memory included;
/// none where it has ended.
fn used(id: u32, cgroup: Option<&Cgroup>) -> OrShortage<Option<u64>> {
    let Some(own) = memory_of_tree(id)? else {
        return Ok(None);
    };
    let shared = cgroup.map(Cgroup::shared_memory).transpose();
    let shared = told("ask a cgroup for its memory", shared)?;
    Ok(Some(own + shared.flatten().unwrap_or(0)))
}

/// The answer of a cgroup; nothing where it is gone.
fn told<T: Default>(what: &'static str, said: io::Result<T>) -> OrShortage<T> {
    said.or_else(|error| match Shortage::of(what, error) {
        Ok(shortage) => Err(shortage),
        Err(_) => Ok(T::default()),
    })
}

/// The limit of all memory of a bot's processes, which the system keeps: it kills a process of the
/// cgroup that takes more. That may be one that the bot has started, as the host of a strategy,
/// whose death only the bot sees; so the count is asked for whenever a failure is judged.
#[derive(Clone, Debug)]
pub(super) struct MemoryWall {
    cgroup: Cgroup,
    kills: Arc<MemoryKills>,
    /// In bytes.
    limit: u64,
}

impl MemoryWall {
    /// Around the processes of this cgroup, which may have so many bytes in all. None where their
    /// deaths are not counted, or the cgroup is gone.
    ///
    /// # Errors
    ///
    /// We lack what is needed to ask.
    pub(super) fn of(cgroup: &Cgroup, limit: u64) -> OrShortage<Option<Self>> {
        let kills = cgroup.memory_kills().map(Some);
        let kills = told("ask a cgroup for its deaths", kills)?;
        Ok(kills.map(|kills| Self {
            cgroup: cgroup.clone(),
            kills: Arc::new(kills),
            limit,
        }))
    }

    /// Number of processes that were killed so far.
    pub(super) fn kills(&self) -> u64 {
        // Once it is gone nothing is judged by it: the end of its first process is known.
        self.kills.count().unwrap_or(0)
    }

    /// The most memory that its processes had at one time, and the limit, if more of them were
    /// killed than before.
    pub(super) fn exceeded(&self, before: u64) -> Option<MemoryPeak> {
        let limit = self.limit;
        (self.kills() > before).then(|| MemoryPeak {
            peak: self.cgroup.memory_peak().unwrap_or(limit),
            limit,
        })
    }
}

/// Too much memory, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryPeak {
    pub(super) peak: u64,
    pub(super) limit: u64,
}

impl From<MemoryPeak> for Foul {
    fn from(MemoryPeak { peak, limit }: MemoryPeak) -> Self {
        Self::MemoryExceeded { peak, limit }
    }
}

/// The variable that tells a bot its limit, in bytes.
const LIMIT: &str = "BOT_MEMORY_LIMIT";
const MIB: u64 = 1 << 20;
/// Least heap that a runtime is told to keep to: less is not enough for it to listen.
const LEAST_HEAP: u64 = 32 * MIB;

/// The variables that tell a bot, and the runtimes that give their heap a share of the machine's
/// memory, of a limit in bytes.
///
/// Java and Node get half of it: their heap is not all that they take. Besides come compiled code,
/// stacks and buffers, and for Java as much again for the direct buffers of netty. That is also
/// Node's own share in a container. .NET gets three quarters, as it takes in a container, since its
/// limit includes what the heap needs beside its objects. `-Xmx` is known to every JVM
/// (`MaxRAM` is deprecated since JDK 26, and `MaxRAMPercentage` is of the machine's memory);
/// `JAVA_TOOL_OPTIONS` is read by all of them, `JDK_JAVA_OPTIONS` only by `java` since version 9. The
/// line that a JVM prints for either goes to its standard error, where it says whence the limit
/// comes. An option on a command line goes before these.
pub(super) fn variables(limit: u64) -> [(&'static str, String); 4] {
    let half = (limit / 2).max(LEAST_HEAP) / MIB;
    let most = (limit / 4 * 3).max(LEAST_HEAP);
    [
        (LIMIT, limit.to_string()),
        ("JAVA_TOOL_OPTIONS", format!("-Xmx{half}m")),
        ("NODE_OPTIONS", format!("--max-old-space-size={half}")),
        ("DOTNET_GCHeapHardLimit", format!("{most:x}")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_told_in_the_words_of_each_runtime() {
        let told = |limit| variables(limit).map(|(name, value)| format!("{name}={value}"));
        assert_eq!(
            told(1 << 30),
            [
                "BOT_MEMORY_LIMIT=1073741824",
                "JAVA_TOOL_OPTIONS=-Xmx512m",
                "NODE_OPTIONS=--max-old-space-size=512",
                "DOTNET_GCHeapHardLimit=30000000",
            ]
        );
        // Less than a runtime needs to listen is the bot's own affair.
        assert_eq!(
            told(2 << 20),
            [
                "BOT_MEMORY_LIMIT=2097152",
                "JAVA_TOOL_OPTIONS=-Xmx32m",
                "NODE_OPTIONS=--max-old-space-size=32",
                "DOTNET_GCHeapHardLimit=2000000",
            ]
        );
    }
}
