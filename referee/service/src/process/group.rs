//! The process group of a bot, and what it leaves behind.

use std::{
    ffi::OsStr,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill, killpg},
    unistd::Pid,
};
use procfs::process::Process;
use referee_core::printable;
use tokio::task::spawn_blocking;

use super::child::Leader;
use crate::{
    proc::{OrShortage, of_each_process},
    shortage::{PATIENCE, found},
    supervisor::Supervisor,
};

/// Longest time that a bot's children may outlive it, and the interval at which they are
/// looked for.
pub(super) const LEAVE_GRACE: Duration = Duration::from_millis(500);
const LEAVE_CHECK: Duration = Duration::from_millis(10);
/// Most characters of a command line that are kept.
const COMMAND_LIMIT: usize = 400;

/// A process that a bot had started and that was still running when the bot had ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftBehind {
    /// Its process id.
    pub id: i32,
    /// Its command line.
    pub command: String,
    /// True if it had left the bot's process group.
    pub outside_group: bool,
}

impl LeftBehind {
    pub(super) fn of_sandbox(left: &referee_sandbox::LeftProcess) -> Self {
        Self {
            id: left.id,
            command: printable(&left.command),
            outside_group: left.outside_group,
        }
    }
}

/// A process group, killed when it is dropped.
pub(super) struct ProcessGroup {
    leader: Pid,
    kind: Leader,
    supervisor: Option<Arc<Supervisor>>,
}

impl ProcessGroup {
    /// The group that this process leads; it has the id of its leader.
    pub(super) fn new(
        leader: u32,
        folder: &Path,
        supervisor: Option<Arc<Supervisor>>,
        kind: Leader,
    ) -> Self {
        let leader = i32::try_from(leader).expect("a pid_t is an i32 on Linux");
        let leader = Pid::from_raw(leader);
        if let Some(supervisor) = &supervisor {
            match kind {
                Leader::Bot => supervisor.watch(leader, folder),
                Leader::Sandbox | Leader::Container => supervisor.watch_folder(leader, folder),
            }
        }
        Self {
            leader,
            kind,
            supervisor,
        }
    }

    pub(super) fn signal(&self, signal: Signal) {
        if self.kind != Leader::Bot {
            return self.signal_leader(signal);
        }
        // It may be gone already.
        let _ = killpg(self.leader, signal);
    }

    pub(super) fn signal_leader(&self, signal: Signal) {
        let _ = kill(self.leader, signal);
    }

    pub(super) fn kill(&self) {
        match self.kind {
            Leader::Bot | Leader::Sandbox => self.signal(Signal::SIGKILL),
            Leader::Container => self.signal(Signal::SIGQUIT),
        }
    }

    /// Processes that still run a moment after the end of the leader: the rest of the group,
    /// and all processes that have inherited `BOT_LISTEN` with the bot's own folder in it.
    /// Waits for what we lack to ask for them.
    pub(super) async fn left(&self, folder: &Path) -> OrShortage<Vec<LeftBehind>> {
        let leader = self.leader.as_raw();
        let began = Instant::now();
        loop {
            let folder = folder.to_owned();
            let looked = spawn_blocking(move || running(leader, &folder)).await;
            let left = looked.unwrap_or_else(|error| {
                tracing::warn!(%error, "could not look at what a bot has left behind");
                Ok(Vec::new())
            });
            let (is_settled, longest) = match &left {
                Ok(left) => (left.is_empty(), LEAVE_GRACE),
                Err(_) => (false, PATIENCE),
            };
            if is_settled || began.elapsed() >= longest {
                return left;
            }
            tokio::time::sleep(LEAVE_CHECK).await;
        }
    }
}

fn running(leader: i32, folder: &Path) -> OrShortage<Vec<LeftBehind>> {
    let listen = [b"unix:", folder.as_os_str().as_encoded_bytes()].concat();
    let inherited = |process: &Process| {
        let variables = found(process.environ())?;
        let listens = variables.and_then(|mut all| all.remove(OsStr::new("BOT_LISTEN")));
        Ok(listens.is_some_and(|there| there.as_encoded_bytes().starts_with(&listen)))
    };
    let mut running = Vec::new();
    of_each_process(|process, stat| {
        let alive = !matches!(stat.state, 'Z' | 'X');
        let outside_group = stat.pgrp != leader;
        if alive && stat.pid != leader && (!outside_group || inherited(process)?) {
            running.push(LeftBehind {
                id: stat.pid,
                command: command_line(process, stat.comm)?,
                outside_group,
            });
        }
        Ok(())
    })?;
    Ok(running)
}

/// Its command line, or its name if that can't be read.
fn command_line(process: &Process, name: String) -> OrShortage<String> {
    let words = found(process.cmdline())?.map_or(name, |words| words.join(" "));
    let words: String = words.chars().take(COMMAND_LIMIT).collect();
    Ok(printable(&words))
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
        if let Some(supervisor) = &self.supervisor {
            supervisor.unwatch(self.leader);
        }
    }
}
