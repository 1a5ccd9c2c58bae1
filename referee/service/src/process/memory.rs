//! How much memory a process uses with all that it has started.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    time::Duration,
};

use referee_sandbox::Cgroup;
use tokio::sync::mpsc;

use crate::proc::memory_of_tree;

/// How often the memory of a process is measured.
const MEMORY_CHECK: Duration = Duration::from_millis(10);

/// Whether a process's memory is limited or measured. If so, it is looked at every few
/// milliseconds and once more before the process is stopped. All its descendants count as
/// its own, and where it has a cgroup, memory that its processes share, too.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// How much anonymous memory it may add to what it has when it listens, in
    /// bytes.
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
    /// What the process has added when that is more than its limit, and the limit. It is
    /// closed when the thread has ended.
    exceeded: mpsc::Receiver<(u64, u64)>,
}

impl MemoryWatch {
    /// Starts the thread, if the memory is limited or measured.
    ///
    /// # Errors
    ///
    /// The system can't start a thread.
    pub(super) fn start(
        id: u32,
        memory: Memory,
        cgroup: Option<Cgroup>,
    ) -> io::Result<Option<Self>> {
        if memory.limit.is_none() && memory.gauge.is_none() {
            return Ok(None);
        }
        let (running, ended) = channel();
        let (exceeds, exceeded) = mpsc::channel(1);
        std::thread::Builder::new()
            .name(format!("memory-{id}"))
            .spawn(move || memory.watch(id, cgroup.as_ref(), &ended, &exceeds))?;
        Ok(Some(Self {
            running: Some(running),
            exceeded,
        }))
    }

    /// Waits until it has added more than its limit; gives what it has added, and the limit.
    pub(super) async fn exceeds(&mut self) -> (u64, u64) {
        match self.exceeded.recv().await {
            Some(exceeded) => exceeded,
            // It has ended.
            None => std::future::pending().await,
        }
    }

    /// Measures once more.
    pub(super) async fn end(&mut self) {
        self.running = None;
        self.exceeded.recv().await;
    }
}

impl Memory {
    /// Measures until the process has ended or exceeds its limit, or its [`MemoryWatch`] is
    /// ended or dropped.
    fn watch(
        &self,
        id: u32,
        cgroup: Option<&Cgroup>,
        ended: &Receiver<()>,
        exceeds: &mpsc::Sender<(u64, u64)>,
    ) {
        let used = || {
            let shared = cgroup.and_then(Cgroup::shared_memory).unwrap_or(0);
            Some(memory_of_tree(id)? + shared)
        };
        let at_first = used().unwrap_or(0);
        loop {
            let last = ended.recv_timeout(MEMORY_CHECK) != Err(RecvTimeoutError::Timeout);
            let Some(used) = used() else {
                return;
            };
            let added = used.saturating_sub(at_first);
            if let Some(gauge) = &self.gauge {
                gauge.seen(added);
            }
            if let Some(limit) = self.limit.filter(|limit| added > *limit) {
                let _ = exceeds.try_send((added, limit));
                return;
            }
            if last {
                return;
            }
        }
    }
}
