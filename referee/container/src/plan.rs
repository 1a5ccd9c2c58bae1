//! The messages between the calling process and the monitor: one line of JSON each, over a
//! socket that is the monitor's standard input.

use std::path::PathBuf;

use referee_sandbox::ResourceLimits;
use serde::{Deserialize, Serialize};

/// The plan of one container: what the monitor is to start.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ContainerPlan {
    /// The engine's socket.
    pub(crate) engine: PathBuf,
    /// The container's name, which says who has made it.
    pub(crate) name: String,
    /// The image by its number, so that it is this one whatever its tag is given to.
    pub(crate) image: String,
    /// Arguments of the image's program.
    pub(crate) arguments: Vec<String>,
    /// As `NAME=VALUE`.
    pub(crate) environment: Vec<String>,
    /// The folder for its socket, and at which path it sees that.
    pub(crate) socket_folder: PathBuf,
    pub(crate) socket_folder_inside: String,
    /// As `USER:GROUP`.
    pub(crate) user: String,
    /// True if the user's number is the same inside: only Podman without root must be told so.
    pub(crate) keeps_user: bool,
    pub(crate) limits: ResourceLimits,
    /// The cores that it may use, as in `0,3`; all of them, if there is none.
    pub(crate) cores: Option<String>,
}

/// A report of the monitor.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum MonitorReport {
    /// The container runs.
    Started {
        /// The process that it began with, where this machine sees it.
        process: Option<u32>,
    },
    /// It has ended.
    Ended {
        /// The end of the program.
        end: ContainerEnd,
        /// True if the container is removed.
        removed: bool,
    },
}

/// The end of a program in a container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ContainerEnd {
    /// With this code.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
    /// The engine has killed it, since it took more memory than it may, in bytes.
    Memory {
        /// Most memory that it may take, in bytes.
        limit: u64,
    },
    /// It has written too much into the folder of its socket.
    Disk(String),
    /// Its image has no program that can be started.
    NoProgram(String),
    /// The engine could not start it, which is not its fault.
    NotStarted(String),
    /// Its monitor was killed, which no program in a container can do.
    Lost(String),
}
