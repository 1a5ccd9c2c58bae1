//! Detection that this process was stopped and continued: by a signal (SIGSTOP), a debugger or a
//! frozen cgroup. A busy machine delays a thread as well, but only a stop interrupts one that
//! waits in epoll_wait(2) and has blocked every signal (signal(7), "Interruption of system calls
//! and library functions by stop signals"). So one thread waits there, and costs nothing.

use std::{
    collections::VecDeque,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use nix::{
    errno::Errno,
    sys::{
        epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout},
        eventfd::{EfdFlags, EventFd},
        signal::SigSet,
    },
};
use tokio::{sync::watch, time::Instant};

use crate::heartbeat::LateBeat;

/// Number of stops that are remembered.
const MEMORY: usize = 1024;
/// Longest time between the continuing of a thread that judges and that of the thread that waits.
const SLACK: Duration = Duration::from_secs(1);

/// The stops of this process. Cheap to clone; all clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Stops(Arc<WaitingThread>);

/// The thread that waits; dropped, it ends.
#[derive(Debug)]
struct WaitingThread {
    shared: Arc<StopBell>,
    seen: watch::Receiver<StopHistory>,
}

#[derive(Debug)]
struct StopBell {
    bell: EventFd,
    /// Number of times that the bell was rung.
    rung: AtomicU64,
    is_over: AtomicBool,
}

#[derive(Debug, Default)]
struct StopHistory {
    /// The end of each stop, and the number of stops before the first of these.
    ends: VecDeque<Instant>,
    before: u64,
    /// Number of rings of the bell that were heard.
    heard: u64,
}

impl Stops {
    /// Notices all stops from now on.
    ///
    /// # Errors
    ///
    /// There is no thread or no open file for it.
    pub(crate) fn watch() -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let bell = EventFd::from_value_and_flags(0, EfdFlags::EFD_CLOEXEC)?;
        epoll.add(&bell, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
        let shared = Arc::new(StopBell {
            bell,
            rung: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        });
        let (seeing, seen) = watch::channel(StopHistory::default());
        let waiting = shared.clone();
        thread::Builder::new()
            .name("stops".to_owned())
            .spawn(move || wait(&epoll, &waiting, &seeing))?;
        Ok(Self(Arc::new(WaitingThread { shared, seen })))
    }

    /// The number of the last stop that is at least a part of this stall, from 1; none where
    /// there is none. Every stop that is over counts: its end comes before the answer of the
    /// thread that waits.
    pub(crate) async fn of(&self, stall: &LateBeat) -> Option<u64> {
        let WaitingThread { shared, seen } = &*self.0;
        let ring = shared.rung.fetch_add(1, Ordering::Relaxed) + 1;
        shared.bell.write(1).ok()?;
        let mut seen = seen.clone();
        let seen = seen.wait_for(|seen| seen.heard >= ring).await.ok()?;
        let is_part = |end: &Instant| stall.from <= *end && *end <= stall.to + SLACK;
        let last = seen.ends.iter().rposition(is_part)?;
        Some(seen.before + last as u64 + 1)
    }
}

impl Drop for WaitingThread {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        let _ = self.shared.bell.write(1);
    }
}

fn wait(epoll: &Epoll, shared: &StopBell, seeing: &watch::Sender<StopHistory>) {
    // A handler that runs on this thread would look like a stop.
    if SigSet::all().thread_block().is_err() {
        return;
    }
    loop {
        match epoll.wait(&mut [EpollEvent::empty()], EpollTimeout::NONE) {
            Ok(_) => {
                let Ok(rings) = shared.bell.read() else {
                    return;
                };
                if shared.is_over.load(Ordering::Relaxed) {
                    return;
                }
                seeing.send_modify(|seen| seen.heard += rings);
            }
            Err(Errno::EINTR) => {
                let now = Instant::now();
                seeing.send_modify(|seen| {
                    if seen.ends.len() == MEMORY {
                        seen.ends.pop_front();
                        seen.before += 1;
                    }
                    seen.ends.push_back(now);
                });
            }
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, process::Command};

    use super::*;

    /// Stops this process from outside, and continues it when it has stopped.
    async fn stop() -> LateBeat {
        let own = std::process::id();
        let script = format!(
            "kill -STOP {own}
            until grep -q 'State:.*stopped' /proc/{own}/status; do sleep 0.01; done
            kill -CONT {own}"
        );
        until_all_wait();
        let from = Instant::now();
        let stopped = tokio::task::spawn_blocking(move || {
            Command::new("sh").args(["-c", &script]).status().unwrap()
        });
        assert!(stopped.await.unwrap().success());
        let to = Instant::now();
        LateBeat { beat: 0, from, to }
    }

    /// Returns when each thread that notices stops waits: one that has just answered may not have
    /// come back to it.
    #[expect(clippy::disallowed_methods, reason = "the files of our own threads")]
    fn until_all_wait() {
        let does_wait = |task: &Path| {
            let read = |file| fs::read_to_string(task.join(file)).unwrap_or_default();
            read("comm") != "stops\n" || read("status").contains("State:\tS")
        };
        let tasks = || fs::read_dir("/proc/self/task").unwrap();
        while !tasks().all(|task| does_wait(&task.unwrap().path())) {
            thread::yield_now();
        }
    }

    #[tokio::test]
    async fn a_stop_is_told_from_a_delay() {
        let stops = Stops::watch().unwrap();
        let from = Instant::now();
        thread::sleep(Duration::from_millis(50));
        let delay = LateBeat {
            beat: 0,
            from,
            to: Instant::now(),
        };
        assert_eq!(stops.of(&delay).await, None);
        let first = stop().await;
        assert_eq!(stops.of(&first).await, Some(1));
        let second = stop().await;
        assert_eq!(stops.of(&second).await, Some(2));
    }
}
