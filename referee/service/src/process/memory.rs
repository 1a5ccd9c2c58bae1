//! How much memory a process uses with all that it has started.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// How often a process with a memory limit is looked at.
const MEMORY_CHECK: Duration = Duration::from_millis(10);

/// What is done about a process's memory: nothing, or it is looked at every few
/// milliseconds and once more before it is stopped. What it has started, and what
/// that has started, counts as its own.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// How much anonymous memory it may add to what it has when it listens, in
    /// bytes.
    pub limit: Option<u64>,
    /// Where the most that a process has added is written down.
    pub gauge: Option<Arc<MemoryGauge>>,
}

/// The most that any process which was looked at has added, in bytes.
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
pub(super) struct Watched {
    id: u32,
    at_first: u64,
    memory: Memory,
}

impl Watched {
    pub(super) fn new(id: Option<u32>, memory: Memory) -> Option<Self> {
        let wanted = memory.limit.is_some() || memory.gauge.is_some();
        let id = id.filter(|_| wanted)?;
        Some(Self {
            id,
            at_first: anonymous_memory(id).unwrap_or(0),
            memory,
        })
    }

    /// How much it has added by now.
    pub(super) fn look(&self) -> Option<u64> {
        let added = anonymous_memory(self.id)?.saturating_sub(self.at_first);
        if let Some(gauge) = &self.memory.gauge {
            gauge.seen(added);
        }
        Some(added)
    }

    /// Waits until it has added more than it may: tells how much, and how much it may.
    pub(super) async fn exceeds(&self) -> (u64, u64) {
        loop {
            tokio::time::sleep(MEMORY_CHECK).await;
            let Some(peak) = self.look() else {
                return std::future::pending().await;
            };
            if let Some(limit) = self.memory.limit.filter(|limit| peak > *limit) {
                return (peak, limit);
            }
        }
    }
}

/// The anonymous memory of a process and of all below it, in bytes. What a process
/// has from before it was forked counts for both; what has left the tree, because its
/// parent has died, does not count, nor does memory that is made to be shared.
fn anonymous_memory(id: u32) -> Option<u64> {
    let own = anonymous_memory_alone(id)?;
    // A process can't be below itself, so this ends.
    let below = children(id).filter_map(anonymous_memory);
    Some(own + below.sum::<u64>())
}

/// `RssAnon` of a process in bytes (proc_pid_status(5)). All of its threads have the
/// same; where the first one has ended, only the others tell.
#[must_use]
pub fn anonymous_memory_alone(id: u32) -> Option<u64> {
    let threads = || {
        let threads = std::fs::read_dir(format!("/proc/{id}/task")).ok()?;
        threads
            .flatten()
            .find_map(|thread| anonymous_in(&thread.path()))
    };
    anonymous_in(Path::new(&format!("/proc/{id}"))).or_else(threads)
}

fn anonymous_in(folder: &Path) -> Option<u64> {
    let status = std::fs::read_to_string(folder.join("status")).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("RssAnon:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// What a process has started, by any of its threads (proc_pid_task(5)).
fn children(id: u32) -> impl Iterator<Item = u32> {
    let threads = std::fs::read_dir(format!("/proc/{id}/task"))
        .into_iter()
        .flatten();
    let lists = threads
        .filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("children")).ok());
    lists.flat_map(|list| {
        let ids = list.split_whitespace().filter_map(|id| id.parse().ok());
        ids.collect::<Vec<u32>>()
    })
}

#[cfg(test)]
mod tests {
    use std::{io::BufRead as _, process::Stdio};

    use super::*;

    #[test]
    fn the_memory_of_a_process_is_that_of_its_whole_tree() {
        // A shell below a shell below a shell: each says that it is there, and the
        // innermost one waits for our end of the pipe to close.
        let innermost = "echo; read never";
        let inner = format!("echo; sh -c '{innermost}'; exit");
        let script = format!("echo; sh -c \"{inner}\"; exit");
        let mut outer = std::process::Command::new("sh")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = std::io::BufReader::new(outer.stdout.take().unwrap());
        assert_eq!(output.lines().take(3).count(), 3);

        let id = outer.id();
        let [child] = children(id).collect::<Vec<_>>()[..] else {
            panic!("a shell that runs one command has one child");
        };
        let [grandchild] = children(child).collect::<Vec<_>>()[..] else {
            panic!("a shell that runs one command has one child");
        };
        assert_eq!(children(grandchild).count(), 0);
        let alone = [id, child, grandchild].map(|id| anonymous_memory_alone(id).unwrap());
        assert!(alone.iter().all(|memory| *memory > 0), "{alone:?}");
        // They all wait, so nothing changes between two looks.
        assert_eq!(anonymous_memory(id).unwrap(), alone.iter().sum::<u64>());
        assert_eq!(anonymous_memory(grandchild).unwrap(), alone[2]);

        drop(outer.stdin.take());
        outer.wait().unwrap();
        assert_eq!(anonymous_memory(id), None);
    }
}
