//! The processes that foreign programs have started. The adapter adopts those whose parents are
//! dead. So a child of the adapter that is not the program of a game is left over, and is killed.

use std::{collections::HashSet, fs, io, sync::Arc};

use nix::{
    errno::Errno,
    sys::{
        prctl,
        signal::{Signal, kill},
        wait::{WaitPidFlag, waitpid},
    },
    unistd::Pid,
};
use parking_lot::Mutex;
use tokio::signal::unix::{SignalKind, signal};

/// The programs of running games; clones share them.
#[derive(Clone, Debug)]
pub struct Descendants(Arc<Mutex<HashSet<u32>>>);

impl Descendants {
    /// Adopts orphans from here on.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn new() -> io::Result<Self> {
        prctl::set_child_subreaper(true)?;
        Ok(Self(Arc::default()))
    }

    /// This child is the program of a game, and is waited for elsewhere. Must be called on the
    /// thread of [`kill_leftovers`](Self::kill_leftovers), before that can run.
    pub fn add(&self, program: u32) {
        self.0.lock().insert(program);
    }

    /// This one has been waited for.
    pub fn remove(&self, program: u32) {
        self.0.lock().remove(&program);
        self.kill_leftovers();
    }

    /// Kills and reaps what is left over. Their children are adopted when they are dead,
    /// and their death wakes [`keep_clean`](Self::keep_clean).
    pub fn kill_leftovers(&self) {
        let programs = self.0.lock();
        for id in children() {
            if !programs.contains(&id) {
                let id = pid(id);
                let _ = kill(id, Signal::SIGKILL);
                let _ = waitpid(id, Some(WaitPidFlag::WNOHANG));
            }
        }
    }

    /// Kills leftovers whenever a child has died.
    ///
    /// # Errors
    ///
    /// The system does not tell of dead children.
    #[expect(clippy::disallowed_methods, reason = "the process is the adapter's")]
    pub async fn keep_clean(self) -> io::Result<()> {
        let mut died = signal(SignalKind::child())?;
        while died.recv().await.is_some() {
            self.kill_leftovers();
        }
        Ok(())
    }
}

/// Kills all that is left below this process, and waits until it is gone.
pub fn end() {
    loop {
        for id in children() {
            let _ = kill(pid(id), Signal::SIGKILL);
        }
        match waitpid(None, None) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return,
        }
    }
}

/// The children of this process, those of its other threads too
/// (proc_pid_task(5)).
#[expect(clippy::disallowed_methods, reason = "the kernel tells it")]
fn children() -> Vec<u32> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten();
    let lists =
        threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("children")).ok());
    lists
        .flat_map(|list| {
            let ids = list.split_whitespace().filter_map(|id| id.parse().ok());
            ids.collect::<Vec<u32>>()
        })
        .collect()
}

fn pid(id: u32) -> Pid {
    Pid::from_raw(i32::try_from(id).unwrap_or(i32::MAX))
}
