//! Watches over a process until it has ended.

use std::{
    os::unix::process::ExitStatusExt as _,
    process::ExitStatus,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use referee_core::Foul;
use tokio::{
    process::Child,
    sync::{mpsc, oneshot, watch},
};
use tokio_util::sync::CancellationToken;

use super::{
    group::{Group, Left},
    logs::{LastWords, Output},
    memory::{Memory, Watched},
};
use crate::address::Address;

/// How long its end may take to be known when its connection has broken.
const DEATH_GRACE: Duration = Duration::from_secs(2);
/// How long a bot has between being asked to stop and being stopped.
pub const STOP_GRACE: Duration = Duration::from_secs(1);

/// A bot process that is listening.
#[derive(Debug)]
pub struct Process {
    pub(super) id: Option<u32>,
    pub(super) address: Address,
    pub(super) end: watch::Receiver<Option<End>>,
    pub(super) last_words: LastWords,
    pub(super) stop: CancellationToken,
    pub(super) dismissals: mpsc::Sender<Dismissal>,
}

/// How a process went that was asked to stop while somebody looked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Farewell {
    /// How long it took to end; nothing where it had to be killed.
    pub after: Option<Duration>,
    /// What it had started and left running. It is killed.
    pub left: Vec<Left>,
}

/// To ask it to stop, to wait so long for it, and to tell how it went.
#[derive(Debug)]
pub(super) struct Dismissal {
    patience: Duration,
    went: oneshot::Sender<Farewell>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    Exited(ExitStatus),
    Memory { peak: u64, limit: u64 },
}

impl Process {
    /// Its number, which is that of its group too.
    #[must_use]
    pub const fn id(&self) -> Option<u32> {
        self.id
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> &Address {
        &self.address
    }

    /// Whether it has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.end.borrow().is_some()
    }

    /// Whether nothing is left of it.
    pub(crate) fn is_gone(&self) -> bool {
        // The watcher is gone only when the process is.
        self.end.has_changed().is_err()
    }

    /// Tells why a connection to it broke, waiting a moment for its end to be
    /// known.
    pub async fn post_mortem(&self, broken: String) -> Foul {
        let mut end = self.end.clone();
        let known = tokio::time::timeout(DEATH_GRACE, end.wait_for(Option::is_some)).await;
        let end = match known {
            Ok(Ok(end)) => *end,
            _ => None,
        };
        match end {
            Some(End::Memory { peak, limit }) => Foul::MemoryExceeded { peak, limit },
            Some(End::Exited(status)) => Foul::Crashed {
                detail: Foul::evidence(self.last_words.after(describe(status))),
            },
            None => Foul::Crashed {
                detail: Foul::evidence(self.last_words.after(broken)),
            },
        }
    }

    /// Asks it to stop, and stops it if it does not.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Asks it to stop, and it alone, waits so long for that, looks at what it leaves behind,
    /// and kills what is left. Nothing where it had ended before.
    pub async fn dismiss(&self, patience: Duration) -> Option<Farewell> {
        let (went, farewell) = oneshot::channel();
        let dismissal = Dismissal { patience, went };
        self.dismissals.send(dismissal).await.ok()?;
        farewell.await.ok()
    }

    /// Waits until nothing is left of it.
    pub async fn ended(&self) {
        let mut end = self.end.clone();
        // The watcher is gone only when the process is.
        while end.changed().await.is_ok() {}
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Owns the child until it has been reaped, and its folder with it.
pub(super) async fn watch_over(
    mut child: Child,
    group: Group,
    output: Output,
    memory: Memory,
    (stop, mut dismissed): (CancellationToken, mpsc::Receiver<Dismissal>),
    ended: watch::Sender<Option<End>>,
    sockets: tempfile::TempDir,
) {
    let watched = Watched::new(child.id(), memory).await;
    let exceeded = async {
        match &watched {
            Some(watched) => watched.exceeds().await,
            None => std::future::pending().await,
        }
    };
    let end = tokio::select! {
        biased;
        (peak, limit) = exceeded => End::Memory { peak, limit },
        () = stop.cancelled() => {
            if let Some(watched) = &watched {
                watched.look().await;
            }
            group.signal(Signal::SIGTERM);
            match tokio::time::timeout(STOP_GRACE, child.wait()).await {
                Ok(Ok(status)) => End::Exited(status),
                _ => End::Exited(ExitStatus::from_raw(Signal::SIGKILL as i32)),
            }
        }
        Some(Dismissal { patience, went }) = dismissed.recv() => {
            // It alone: what becomes of its children is its own affair.
            group.signal_leader(Signal::SIGTERM);
            let asked = Instant::now();
            let status = tokio::time::timeout(patience, child.wait()).await;
            let (after, end) = match status {
                Ok(Ok(status)) => (Some(asked.elapsed()), End::Exited(status)),
                _ => (None, End::Exited(ExitStatus::from_raw(Signal::SIGKILL as i32))),
            };
            if after.is_none() {
                // Then only what has left the group is left behind.
                group.kill();
                let _ = child.wait().await;
            }
            let left = group.left(sockets.path()).await;
            for one in &left {
                let _ = kill(Pid::from_raw(one.id), Signal::SIGKILL);
            }
            let _ = went.send(Farewell { after, left });
            end
        }
        status = child.wait() => match status {
            Ok(status) => End::Exited(status),
            Err(_) => End::Exited(ExitStatus::from_raw(Signal::SIGKILL as i32)),
        },
    };
    // Whatever it has started goes with it.
    group.kill();
    let _ = child.wait().await;
    // Who asks how it ended wants to know what it said last.
    output.ended().await;
    ended.send_replace(Some(end));
    drop(group);
    drop(sockets);
    drop(ended);
}

pub(super) fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => match Signal::try_from(signal) {
            Ok(name) => format!("killed by {name}"),
            Err(_) => format!("killed by signal {signal}"),
        },
        (None, None) => "ended".to_owned(),
    }
}
