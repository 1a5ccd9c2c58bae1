//! How much memory a process uses with all that it has started.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::task::spawn_blocking;

use crate::proc::memory_of_tree;

/// How often the memory of a process is measured.
const MEMORY_CHECK: Duration = Duration::from_millis(10);

/// Whether a process's memory is limited or measured. If so, it is looked at every few
/// milliseconds and once more before the process is stopped. All its descendants count as
/// its own.
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

/// A process whose memory is looked at, with all processes below it.
pub(super) struct MemoryWatch {
    id: u32,
    at_first: u64,
    memory: Memory,
}

impl MemoryWatch {
    pub(super) async fn new(id: u32, memory: Memory) -> Option<Self> {
        if memory.limit.is_none() && memory.gauge.is_none() {
            return None;
        }
        Some(Self {
            id,
            at_first: used(id).await.unwrap_or(0),
            memory,
        })
    }

    /// How much it has added by now.
    pub(super) async fn look(&self) -> Option<u64> {
        let added = used(self.id).await?.saturating_sub(self.at_first);
        if let Some(gauge) = &self.memory.gauge {
            gauge.seen(added);
        }
        Some(added)
    }

    /// Waits until it has added more than its limit; gives what it has added, and the limit.
    pub(super) async fn exceeds(&self) -> (u64, u64) {
        loop {
            tokio::time::sleep(MEMORY_CHECK).await;
            let Some(peak) = self.look().await else {
                return std::future::pending().await;
            };
            if let Some(limit) = self.memory.limit.filter(|limit| peak > *limit) {
                return (peak, limit);
            }
        }
    }
}

/// Measures on a thread that may block; none if the process or the runtime has ended.
async fn used(id: u32) -> Option<u64> {
    spawn_blocking(move || memory_of_tree(id)).await.ok()?
}
