//! The resources that a sandboxed program may take.

use serde::{Deserialize, Serialize};

const MIB: u64 = 1 << 20;

/// The resources that a program may take, with all that it starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceLimits {
    /// Memory in bytes, shared memory and files in its private folders included.
    pub memory: Option<u64>,
    /// Processes and threads at one time.
    pub processes: Option<u32>,
    /// Processor time, in percent of one core: 200 is two cores.
    pub cpu_percent: Option<u32>,
    /// True if others that want a processor get ten times as much of it: what is played goes before what
    /// is built.
    pub gives_way: bool,
    /// Bytes in each of its private folders: `/tmp`, `/var/tmp` and `/dev/shm`.
    pub disk: u64,
    /// Files and folders in each of its private folders.
    pub files: u64,
    /// Bytes in one file.
    pub file_size: u64,
    /// Descriptors that one process may have open.
    pub open_files: u64,
}

impl Default for ResourceLimits {
    fn default() -> Self {
        Self {
            memory: None,
            processes: Some(1024),
            cpu_percent: None,
            gives_way: false,
            disk: 256 * MIB,
            files: 16_384,
            file_size: 256 * MIB,
            open_files: 4096,
        }
    }
}
