//! The memory that a process uses with all that it has started.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    time::{Duration, Instant},
};

use referee_sandbox::Cgroup;
use tokio::sync::mpsc;

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
    /// It has added so much, which is more than its limit.
    Exceeded { added: u64, limit: u64 },
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
    /// Starts the thread, if the memory is limited or measured.
    ///
    /// # Errors
    ///
    /// The system can't start a thread.
    pub(super) fn start(
        id: u32,
        memory: MemoryOptions,
        cgroup: Option<Cgroup>,
    ) -> io::Result<Option<Self>> {
        if memory.limit.is_none() && memory.gauge.is_none() {
            return Ok(None);
        }
        let (running, ended) = channel();
        let (end, ends) = mpsc::channel(1);
        std::thread::Builder::new()
            .name(format!("memory-{id}"))
            .spawn(move || {
                if let Some(why) = memory.watch(id, cgroup.as_ref(), &ended) {
                    let _ = end.try_send(why);
                }
            })?;
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
    /// process ended, since it would be without a limit.
    fn watch(&self, id: u32, cgroup: Option<&Cgroup>, ended: &Receiver<()>) -> Option<MemoryEnd> {
        let mut at_first = None;
        let mut measured = Instant::now();
        let mut is_last = false;
        loop {
            match used(id, cgroup) {
                Ok(None) => return None,
                Ok(Some(used)) => {
                    measured = Instant::now();
                    // What it has at the first look is its own, whenever that was possible.
                    let added = used.saturating_sub(*at_first.get_or_insert(used));
                    if let Some(gauge) = &self.gauge {
                        gauge.seen(added);
                    }
                    if let Some(limit) = self.limit.filter(|limit| added > *limit) {
                        return Some(MemoryEnd::Exceeded { added, limit });
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
pub(super) fn told<T: Default>(what: &'static str, said: io::Result<T>) -> OrShortage<T> {
    said.or_else(|error| match Shortage::of(what, error) {
        Ok(shortage) => Err(shortage),
        Err(_) => Ok(T::default()),
    })
}
