//! A process that we have started, with or without walls, and how it ended.

use std::{os::unix::process::ExitStatusExt as _, path::PathBuf, process::ExitStatus};

use nix::sys::signal::Signal;
use referee_container as container;
use referee_sandbox::{Cgroup, SandboxSession};
use tokio::{process, task::spawn_blocking};

use super::{
    group::LeftBehind,
    memory::{MemoryPeak, MemoryWall},
};
use crate::{cores::OwnCore, proc::OrShortage};

/// The end of a process.
#[derive(Clone, Debug)]
pub(super) enum ProcessEnd {
    Exited(ExitStatus),
    /// It took more memory than it may.
    Memory(MemoryPeak),
    /// The program could not be started.
    NoProgram(String),
    /// Its walls could not be built.
    NoWalls(String),
    /// Its walls are gone, which it can't have done.
    Lost(String),
    /// It was killed for this.
    Killed(String),
}

impl ProcessEnd {
    pub(super) fn killed() -> Self {
        Self::Exited(ExitStatus::from_raw(Signal::SIGKILL as i32))
    }

    /// In words.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Exited(status) => describe(*status),
            Self::Memory(MemoryPeak { peak, limit }) => {
                format!("killed when it took {peak} bytes of memory (the limit is {limit})")
            }
            Self::NoProgram(why) | Self::NoWalls(why) | Self::Lost(why) | Self::Killed(why) => {
                why.clone()
            }
        }
    }
}

/// A child process, killed when this is dropped.
#[derive(Debug)]
pub(super) struct Child {
    process: process::Child,
    around: Around,
    /// Most memory that it may take in all, in bytes, if the system is to keep that.
    memory: Option<u64>,
    wall: Option<MemoryWall>,
    _core: Option<OwnCore>,
    /// Known once it has ended.
    end: Option<ProcessEnd>,
}

/// The holder of the walls around a process.
#[derive(Debug)]
pub(super) enum Around {
    /// There are none.
    Nothing,
    /// The process stands for a program in a sandbox.
    Sandbox(SandboxSession),
    /// The process stands for a program in a container.
    Container(container::ContainerSession),
}

/// The relation of the process that we know to the bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leader {
    /// It is the bot, and leads its group.
    Bot,
    /// It stands for a bot in a sandbox: it passes signals on, and all ends with it.
    Sandbox,
    /// It stands for a bot in a container. It passes signals on, SIGQUIT kills the bot, and it is
    /// never killed itself.
    Container,
}

impl Child {
    pub(super) fn new(
        process: process::Child,
        around: Around,
        memory: Option<u64>,
        core: Option<OwnCore>,
    ) -> Self {
        Self {
            process,
            around,
            memory,
            wall: None,
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
        match &self.around {
            Around::Nothing => None,
            Around::Sandbox(session) => session.cgroup(),
            Around::Container(session) => session.cgroup(),
        }
    }

    /// Looks from now on at what the system kills of it for memory, where it keeps a limit and its
    /// cgroup can be seen.
    ///
    /// # Errors
    ///
    /// We lack what is needed for that.
    pub(super) fn count_memory_kills(&mut self) -> OrShortage<()> {
        self.wall = match (self.cgroup(), self.memory) {
            (Some(cgroup), Some(limit)) => MemoryWall::of(cgroup, limit)?,
            _ => None,
        };
        Ok(())
    }

    /// The limit of its memory that the system keeps.
    pub(super) const fn memory_wall(&self) -> Option<&MemoryWall> {
        self.wall.as_ref()
    }

    /// The relation of the process that we know to the bot.
    pub(super) const fn leader(&self) -> Leader {
        match &self.around {
            Around::Nothing => Leader::Bot,
            Around::Sandbox(_) => Leader::Sandbox,
            Around::Container(_) => Leader::Container,
        }
    }

    /// Waits until the bot runs, and gives the process that it began with, as far as that can be
    /// seen.
    ///
    /// # Errors
    ///
    /// How it ended instead.
    pub(super) async fn started(&mut self) -> Result<Option<u32>, ProcessEnd> {
        match &mut self.around {
            Around::Nothing | Around::Sandbox(_) => Ok(self.process.id()),
            Around::Container(session) => match session.started().await {
                Ok(started) => Ok(started.process),
                Err(end) => {
                    let end = ProcessEnd::of_container(end);
                    self.end = Some(end.clone());
                    Err(end)
                }
            },
        }
    }

    /// Files that a program in a sandbox shares with others that see them, since they are too
    /// large to be copied for each process. Known when it has said something.
    pub(super) fn shared_files(&mut self) -> &[PathBuf] {
        match &mut self.around {
            Around::Sandbox(session) => session.shared(),
            Around::Nothing | Around::Container(_) => &[],
        }
    }

    /// Waits until it has ended. May be called again, and be dropped before.
    pub(super) async fn wait(&mut self) -> ProcessEnd {
        if let Some(end) = &self.end {
            return end.clone();
        }
        let end = match self.process.wait().await {
            Ok(status) => self.end_of(status).await,
            Err(_) => ProcessEnd::killed(),
        };
        self.end = Some(end.clone());
        end
    }

    async fn end_of(&mut self, status: ExitStatus) -> ProcessEnd {
        let end = match &mut self.around {
            Around::Nothing => return ProcessEnd::Exited(status),
            Around::Sandbox(session) => ProcessEnd::of_sandbox(session.end(status)),
            // Its cgroup is gone with it; its engine knows.
            Around::Container(session) => {
                return ProcessEnd::of_container(session.end(status).await);
            }
        };
        let exceeded = self.wall.as_ref().and_then(|wall| wall.exceeded(0));
        exceeded.map_or(end, ProcessEnd::Memory)
    }

    /// Processes that a process in a sandbox had left running when it had ended.
    pub(super) fn left_behind(&self) -> Vec<LeftBehind> {
        match &self.around {
            Around::Sandbox(session) => {
                let left = session.left_behind().iter();
                left.map(LeftBehind::of_sandbox).collect()
            }
            // Nothing outlives the first process of a container.
            Around::Nothing | Around::Container(_) => Vec::new(),
        }
    }

    /// Removes the walls, on a thread of its own: that may wait for processes to end.
    pub(super) async fn release(self) {
        match self.around {
            Around::Nothing => {}
            Around::Sandbox(session) => {
                let _ = spawn_blocking(move || session.release()).await;
            }
            Around::Container(session) => session.release().await,
        }
    }
}

impl ProcessEnd {
    fn of_sandbox(end: referee_sandbox::ProgramEnd) -> Self {
        use referee_sandbox::ProgramEnd;
        match end {
            ProgramEnd::Exited(code) => Self::Exited(exited(code)),
            ProgramEnd::Signaled(signal) => Self::Exited(signaled(signal)),
            ProgramEnd::NoProgram(why) => Self::NoProgram(why),
            ProgramEnd::NotStarted(why) => Self::NoWalls(why),
            ProgramEnd::Lost(why) => Self::Lost(why),
        }
    }

    fn of_container(end: container::ContainerEnd) -> Self {
        match end {
            container::ContainerEnd::Exited(code) => Self::Exited(exited(code)),
            container::ContainerEnd::Signaled(signal) => Self::Exited(signaled(signal)),
            // The engine kills it before it has more.
            container::ContainerEnd::Memory { limit } => {
                Self::Memory(MemoryPeak { peak: limit, limit })
            }
            container::ContainerEnd::Disk(why) => Self::Killed(why),
            container::ContainerEnd::NoProgram(why) => Self::NoProgram(why),
            container::ContainerEnd::NotStarted(why) => Self::NoWalls(why),
            container::ContainerEnd::Lost(why) => Self::Lost(why),
        }
    }
}

fn exited(code: i32) -> ExitStatus {
    ExitStatus::from_raw((code & 0xff) << 8)
}

fn signaled(signal: i32) -> ExitStatus {
    ExitStatus::from_raw(signal & 0x7f)
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
