//! A process that we have started, in a sandbox or not, and how it ended.

use std::{os::unix::process::ExitStatusExt as _, process::ExitStatus};

use nix::sys::signal::Signal;
use referee_sandbox::{Cgroup, Session};
use tokio::{process, task::spawn_blocking};

use super::group::LeftBehind;
use crate::cores::OwnCore;

/// How a process ended.
#[derive(Clone, Debug)]
pub(super) enum End {
    Exited(ExitStatus),
    /// It took more memory than it may.
    Memory {
        peak: u64,
        limit: u64,
    },
    /// The program could not be started.
    NoProgram(String),
    /// Its sandbox could not be built.
    NoSandbox(String),
}

impl End {
    pub(super) fn killed() -> Self {
        Self::Exited(ExitStatus::from_raw(Signal::SIGKILL as i32))
    }

    /// In words.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Exited(status) => describe(*status),
            Self::Memory { peak, limit } => {
                format!("killed when it took {peak} bytes of memory (the limit is {limit})")
            }
            Self::NoProgram(why) | Self::NoSandbox(why) => why.clone(),
        }
    }
}

/// A child process, killed when this is dropped.
#[derive(Debug)]
pub(super) struct Child {
    process: process::Child,
    sandboxed: Option<Sandboxed>,
    _core: Option<OwnCore>,
    /// Known once it has ended.
    end: Option<End>,
}

/// What holds the walls around a process.
#[derive(Debug)]
pub(super) struct Sandboxed {
    pub(super) session: Session,
    /// How much memory it may take in all.
    pub(super) memory: u64,
}

impl Child {
    pub(super) fn new(
        process: process::Child,
        sandboxed: Option<Sandboxed>,
        core: Option<OwnCore>,
    ) -> Self {
        Self {
            process,
            sandboxed,
            _core: core,
            end: None,
        }
    }

    /// Its output, which can be taken once.
    pub(super) fn process(&mut self) -> &mut process::Child {
        &mut self.process
    }

    /// The cgroup of all that it has started, if there is one.
    pub(super) fn cgroup(&self) -> Option<&Cgroup> {
        self.sandboxed.as_ref()?.session.cgroup()
    }

    pub(super) const fn is_sandboxed(&self) -> bool {
        self.sandboxed.is_some()
    }

    /// Waits until it has ended. May be called again, and be dropped before.
    pub(super) async fn wait(&mut self) -> End {
        if let Some(end) = &self.end {
            return end.clone();
        }
        let end = match self.process.wait().await {
            Ok(status) => self.end_of(status),
            Err(_) => End::killed(),
        };
        self.end = Some(end.clone());
        end
    }

    fn end_of(&mut self, status: ExitStatus) -> End {
        let Some(Sandboxed { session, memory }) = &mut self.sandboxed else {
            return End::Exited(status);
        };
        let end = session.end(status);
        if let Some(cgroup) = session.cgroup()
            && cgroup.was_out_of_memory()
        {
            let limit = *memory;
            let peak = cgroup.memory_peak().unwrap_or(limit);
            return End::Memory { peak, limit };
        }
        End::Exited(match end {
            referee_sandbox::End::Exited(code) => ExitStatus::from_raw((code & 0xff) << 8),
            referee_sandbox::End::Signaled(signal) => ExitStatus::from_raw(signal & 0x7f),
            referee_sandbox::End::NoProgram(why) => return End::NoProgram(why),
            referee_sandbox::End::NotStarted(why) => return End::NoSandbox(why),
        })
    }

    /// What a process in a sandbox had left running when it had ended.
    pub(super) fn left_behind(&self) -> Vec<LeftBehind> {
        let sandboxed = self.sandboxed.iter();
        let left = sandboxed.flat_map(|one| one.session.left_behind());
        left.map(LeftBehind::of_sandbox).collect()
    }

    /// Removes the walls, on a thread of its own: that may wait for processes to end.
    pub(super) async fn release(self) {
        if let Some(sandboxed) = self.sandboxed {
            let _ = spawn_blocking(move || drop(sandboxed)).await;
        }
    }
}

/// The end of a process in words.
fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => match Signal::try_from(signal) {
            Ok(name) => format!("killed by {name}"),
            Err(_) => format!("killed by signal {signal}"),
        },
        (None, None) => "ended".to_owned(),
    }
}
