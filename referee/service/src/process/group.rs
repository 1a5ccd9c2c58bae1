//! The process group of a bot, and what it leaves behind.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill, killpg},
    unistd::Pid,
};

use crate::supervisor::Supervisor;

/// How long what it has started may outlive it, and how often it is looked for.
const LEAVE_GRACE: Duration = Duration::from_millis(500);
const LEAVE_CHECK: Duration = Duration::from_millis(10);
/// How much of a command line is kept.
const COMMAND_LIMIT: usize = 400;

/// A process that outlived the one which started it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Its number.
    pub id: i32,
    /// Its command line.
    pub command: String,
    /// Whether it had left the process group too.
    pub outside_group: bool,
}

/// A process group, killed when it is dropped.
pub(super) struct Group {
    leader: Option<Pid>,
    supervisor: Option<Arc<Supervisor>>,
}

impl Group {
    pub(super) fn new(
        leader: Option<Pid>,
        folder: &Path,
        supervisor: Option<Arc<Supervisor>>,
    ) -> Self {
        if let (Some(leader), Some(supervisor)) = (leader, &supervisor) {
            supervisor.watch(leader, folder);
        }
        Self { leader, supervisor }
    }

    pub(super) fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            // It may be gone already.
            let _ = killpg(leader, signal);
        }
    }

    pub(super) fn signal_leader(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            let _ = kill(leader, signal);
        }
    }

    pub(super) fn kill(&self) {
        self.signal(Signal::SIGKILL);
    }

    /// What is still running of all that the leader has started, a moment after
    /// its end: the rest of the group, and whoever has inherited the environment in
    /// which only these have our folder.
    pub(super) async fn left(&self, folder: &Path) -> Vec<Left> {
        let deadline = Instant::now() + LEAVE_GRACE;
        loop {
            let left = self.running(folder);
            if left.is_empty() || Instant::now() >= deadline {
                return left;
            }
            tokio::time::sleep(LEAVE_CHECK).await;
        }
    }

    fn running(&self, folder: &Path) -> Vec<Left> {
        let Some(leader) = self.leader.map(Pid::as_raw) else {
            return Vec::new();
        };
        let folder = folder.as_os_str().as_encoded_bytes();
        let ids = std::fs::read_dir("/proc").into_iter().flatten();
        let ids = ids.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
        ids.filter(|id| *id != leader)
            .filter_map(|id| {
                let inside = group_of(id)? == leader;
                let inherited = || {
                    let variables = std::fs::read(format!("/proc/{id}/environ"));
                    let listen = [b"BOT_LISTEN=unix:", folder].concat();
                    variables.is_ok_and(|all| {
                        all.split(|byte| *byte == 0)
                            .any(|variable| variable.starts_with(&listen))
                    })
                };
                (inside || inherited()).then(|| Left {
                    id,
                    command: command_line(id),
                    outside_group: !inside,
                })
            })
            .collect()
    }
}

/// The group of a process that is alive (proc_pid_stat(5)).
fn group_of(id: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name before it may have anything in it.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    (!matches!(state, "Z" | "X"))
        .then(|| fields.nth(1)?.parse().ok())
        .flatten()
}

fn command_line(id: i32) -> String {
    let words = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&words);
    let words: Vec<&str> = words.split('\0').filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(COMMAND_LIMIT).collect()
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        if let (Some(leader), Some(supervisor)) = (self.leader, &self.supervisor) {
            supervisor.forget(leader);
        }
    }
}
