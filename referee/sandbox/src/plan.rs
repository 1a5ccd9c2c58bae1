//! The messages between the arena, the monitor and the init.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fmt,
    path::PathBuf,
};

use serde::{Deserialize, Serialize};

use crate::{
    cgroup::CgroupFolders,
    limits::ResourceLimits,
    own::SharedFiles,
    view::{Grant, ViewEntry},
    walls::{Outer, Wall},
};

/// The plan of one start, with all that it needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StartPlan {
    pub(crate) outer: Outer,
    pub(crate) bubblewrap: Option<PathBuf>,
    /// The verb that starts the init again, inside of bubblewrap.
    pub(crate) verb: Vec<OsString>,
    /// The walls to build.
    pub(crate) walls: BTreeSet<Wall>,
    /// True if a wall of the inner part that can't be built is reported instead of ending
    /// the start.
    pub(crate) probing: bool,
    pub(crate) cgroup: Option<CgroupFolders>,
    pub(crate) view: Vec<ViewEntry>,
    /// What was found too large for a copy before: the program shares it, and nobody looks again.
    pub(crate) too_large: BTreeSet<PathBuf>,
    pub(crate) grants: Vec<Grant>,
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) directory: PathBuf,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) limits: ResourceLimits,
    pub(crate) keeps_its_cores: bool,
}

impl StartPlan {
    pub(crate) fn has(&self, wall: Wall) -> bool {
        self.walls.contains(&wall)
    }

    /// True if the init is process 1 of a namespace, so that all ends with it.
    pub(crate) fn has_pid_namespace(&self) -> bool {
        self.outer != Outer::None && self.has(Wall::Processes)
    }
}

/// An order, which is said downwards.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum SandboxOrder {
    /// To the monitor: start this.
    Monitor(Box<StartPlan>),
    /// To the init: start this.
    Init(Box<StartPlan>),
    /// To the init: send this signal to the program.
    Signal(i32),
}

/// A report, which is said upwards.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum SandboxReport {
    /// The program runs.
    Started {
        /// The version of landlock's interface that is in force, 0 without it.
        landlock: u8,
        /// The walls that could not be built, and why. Only when probing.
        failed: BTreeMap<Wall, String>,
        /// Files that it shares with others that see them, since they are too large for a copy.
        shared: SharedFiles,
    },
    Ended(EndReport),
}

/// The end of a program, and what it left running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EndReport {
    pub(crate) end: ProgramEnd,
    pub(crate) left: Vec<LeftProcess>,
}

impl From<ProgramEnd> for EndReport {
    fn from(end: ProgramEnd) -> Self {
        let left = Vec::new();
        Self { end, left }
    }
}

/// A process that a program had started and that still ran some time after the program had
/// ended. The sandbox has killed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftProcess {
    /// Its process id in the sandbox.
    pub id: i32,
    /// Its command line.
    pub command: String,
    /// True if it had left the process group of the program.
    pub outside_group: bool,
}

/// The end of a sandboxed program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProgramEnd {
    /// It exited with this code.
    Exited(i32),
    /// This signal ended it.
    Signaled(i32),
    /// The program could not be started: it is not one, or may not be executed.
    NoProgram(String),
    /// The sandbox could not be built.
    NotStarted(String),
    /// The sandbox has ended around it, and the program could not have done that: something
    /// outside has, or the system for lack of memory. Where the cgroup of the program counts
    /// [kills](crate::MemoryKills), its memory was the reason.
    Lost(String),
}

impl ProgramEnd {
    /// The exit code of the process that stands for the program: its own, or 128 plus the
    /// signal's number, as shells have it.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Exited(code) => u8::try_from(code & 0xff).unwrap_or(1),
            Self::Signaled(signal) => u8::try_from((128 + signal) & 0xff).unwrap_or(1),
            Self::NoProgram(_) | Self::NotStarted(_) | Self::Lost(_) => 127,
        }
    }
}

impl fmt::Display for ProgramEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exited with code {code}"),
            Self::Signaled(signal) => match nix::sys::signal::Signal::try_from(*signal) {
                Ok(name) => write!(f, "was killed by {name}"),
                Err(_) => write!(f, "was killed by signal {signal}"),
            },
            Self::NoProgram(why) | Self::NotStarted(why) => write!(f, "was not started: {why}"),
            Self::Lost(why) => write!(f, "was lost: {why}"),
        }
    }
}
