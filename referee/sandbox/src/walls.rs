//! The walls of a sandbox as a value: which hold, which are missing, what that means.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde::{Deserialize, Serialize};

/// One thing that a sandbox holds a program back from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wall {
    /// It sees the system, its own program and what it was given; it writes only in
    /// private folders that are gone with it.
    Files,
    /// It neither sees nor signals other processes, nor reads their memory.
    Processes,
    /// It reaches nobody by network, nor by an abstract socket.
    Network,
    /// It shares no memory and no queues with others, nor leaves them behind.
    Ipc,
    /// It fills no disk: its folders are limited in bytes and in files.
    Disk,
    /// A second wall around files, and around signals and sockets where the kernel has it.
    Landlock,
    /// It has no use of system calls that only attacks and tools need.
    SystemCalls,
    /// Its memory is limited, shared memory included.
    Memory,
    /// Its processes and threads are limited in number.
    ProcessCount,
    /// Its processor time is limited.
    Cpu,
    /// All that it has started ends with it.
    Ending,
    /// It can be held still while others move.
    Freezer,
    /// The files of the machine that it has read are dropped from memory when it has ended.
    PageCache,
}

impl Wall {
    /// All walls, in order.
    pub const ALL: [Self; 13] = [
        Self::Files,
        Self::Processes,
        Self::Network,
        Self::Ipc,
        Self::Disk,
        Self::Landlock,
        Self::SystemCalls,
        Self::Memory,
        Self::ProcessCount,
        Self::Cpu,
        Self::Ending,
        Self::Freezer,
        Self::PageCache,
    ];

    fn words(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Processes => "processes",
            Self::Network => "network",
            Self::Ipc => "ipc",
            Self::Disk => "disk",
            Self::Landlock => "landlock",
            Self::SystemCalls => "system calls",
            Self::Memory => "memory",
            Self::ProcessCount => "process count",
            Self::Cpu => "cpu",
            Self::Ending => "ending",
            Self::Freezer => "freezer",
            Self::PageCache => "page cache",
        }
    }

    /// The damage that a program can do without this wall.
    fn consequence(self) -> &'static str {
        match self {
            Self::Files => {
                "a bot can read and change what the user can: other bots' files, records, the store; and leave files for its next game"
            }
            Self::Processes => {
                "a bot can see other processes, and stop or kill those of the same user"
            }
            Self::Network => "a bot can dial other programs and other machines",
            Self::Ipc => {
                "a bot can share memory with another, and leave it behind for its next game"
            }
            Self::Disk => "a bot can fill the disk with its private files",
            Self::Landlock => {
                "an error in the view of the files has nothing else behind it; a bot can write any file into its socket's folder"
            }
            Self::SystemCalls => {
                "a bot can use every system call: ptrace, keyrings, io_uring, namespaces of its own"
            }
            Self::Memory => {
                "a bot can take the machine's memory; with a memory limit only what is not shared is watched"
            }
            Self::ProcessCount => "a bot can start processes until the machine has no more",
            Self::Cpu => "a bot can use every core",
            Self::Ending => "a process that leaves its bot's group can outlive the game",
            Self::Freezer => "a bot can think while its opponent is to move",
            Self::PageCache => {
                "what a bot has read of the system's files stays in memory, and by the time that reading takes its next process can tell what this one knew"
            }
        }
    }

    /// The remedy, so that the wall holds.
    fn remedy(self) -> &'static str {
        match self {
            Self::Files | Self::Processes | Self::Network | Self::Ipc | Self::Disk => {
                "Install bubblewrap, or allow user namespaces (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns; in a container: --security-opt seccomp=unconfined, or a privileged one)"
            }
            Self::Landlock => {
                "Use a kernel of version 5.13 or later with `landlock` among those of lsm="
            }
            Self::SystemCalls => "Use a kernel with CONFIG_SECCOMP_FILTER",
            Self::Memory | Self::ProcessCount | Self::Cpu => {
                "Delegate a cgroup with the controllers memory, pids and cpu: `systemd-run --user --scope -p Delegate=yes -- arena …`; with cgroup version 1 run as root"
            }
            Self::PageCache => {
                "Delegate a cgroup with the controller memory: `systemd-run --user --scope -p Delegate=yes -- arena …`, with Linux 5.19 or later; with cgroup version 1 run as root"
            }
            Self::Ending | Self::Freezer => {
                "Delegate a cgroup: `systemd-run --user --scope -p Delegate=yes -- arena …`"
            }
        }
    }
}

impl fmt::Display for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// The tool that the namespaces of a sandbox are made with.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Outer {
    /// No namespaces.
    #[default]
    None,
    /// By this crate.
    Own,
    /// By the program `bwrap`.
    Bubblewrap,
}

impl fmt::Display for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "no namespaces",
            Self::Own => "own namespaces",
            Self::Bubblewrap => "bubblewrap",
        })
    }
}

/// The interface of cgroups that limits memory and processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CgroupVersion {
    /// Version 1: a hierarchy for each controller.
    V1,
    /// Version 2: one hierarchy.
    V2,
}

/// The walls that hold, and how they are built.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Walls {
    /// The tool that the namespaces are made with.
    pub outer: Outer,
    /// The version of landlock's interface, 0 without it.
    pub landlock: u8,
    /// The version of the cgroups that are used, if any.
    pub cgroup: Option<CgroupVersion>,
    /// The walls that hold.
    pub held: BTreeSet<Wall>,
    /// Reasons why others could not be built, in the system's words, where it said something.
    pub reasons: BTreeMap<Wall, String>,
}

/// A wall that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// The wall.
    pub wall: Wall,
    /// The damage that a bot can do without it.
    pub consequence: String,
    /// The thing to install or to delegate.
    pub remedy: String,
    /// Reason why it could not be built, in the system's words.
    pub reason: Option<String>,
}

impl Walls {
    /// True if this wall holds.
    #[must_use]
    pub fn hold(&self, wall: Wall) -> bool {
        self.held.contains(&wall)
    }

    /// True if nothing is missing.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        Wall::ALL.iter().all(|wall| self.hold(*wall))
    }

    /// The walls that do not hold.
    #[must_use]
    pub fn missing(&self) -> Vec<Missing> {
        Wall::ALL
            .into_iter()
            .filter(|wall| !self.hold(*wall))
            .map(|wall| Missing {
                wall,
                consequence: wall.consequence().to_owned(),
                remedy: wall.remedy().to_owned(),
                reason: self.reasons.get(&wall).cloned(),
            })
            .collect()
    }
}

impl fmt::Display for Walls {
    /// Short words for the header of a run.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.held.is_empty() {
            return f.write_str("off");
        }
        write!(f, "{}", self.outer)?;
        if self.hold(Wall::Landlock) {
            write!(f, ", landlock {}", self.landlock)?;
        }
        if self.hold(Wall::SystemCalls) {
            f.write_str(", seccomp")?;
        }
        match self.cgroup {
            Some(CgroupVersion::V1) => f.write_str(", cgroup v1")?,
            Some(CgroupVersion::V2) => f.write_str(", cgroup v2")?,
            None => {}
        }
        let missing: Vec<String> = Wall::ALL
            .into_iter()
            .filter(|wall| !self.hold(*wall))
            .map(|wall| wall.to_string())
            .collect();
        if missing.is_empty() {
            f.write_str("; nothing missing")
        } else {
            write!(f, "; missing: {}", missing.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_with_what_it_means_and_what_to_do() {
        let mut walls = Walls {
            outer: Outer::Own,
            landlock: 6,
            cgroup: None,
            held: Wall::ALL.into_iter().collect(),
            reasons: BTreeMap::new(),
        };
        assert!(walls.is_whole());
        assert_eq!(
            walls.to_string(),
            "own namespaces, landlock 6, seccomp; nothing missing"
        );
        walls.held.remove(&Wall::Memory);
        let reason = "permission denied".to_owned();
        walls.reasons.insert(Wall::Memory, reason.clone());
        assert!(!walls.is_whole());
        assert_eq!(
            walls.to_string(),
            "own namespaces, landlock 6, seccomp; missing: memory"
        );
        let missing = walls.missing();
        assert_eq!(missing.len(), 1);
        assert_eq!(missing[0].reason, Some(reason));
        assert!(missing[0].remedy.contains("Delegate"));
    }

    #[test]
    fn walls_can_be_kept_in_a_record_and_read_again() {
        let walls = Walls {
            outer: Outer::Bubblewrap,
            landlock: 7,
            cgroup: Some(CgroupVersion::V1),
            held: [Wall::Files, Wall::SystemCalls].into(),
            reasons: [(Wall::Cpu, "no controller".to_owned())].into(),
        };
        let text = serde_json::to_string(&walls).expect("it is plain data");
        assert!(text.contains("\"system-calls\""), "{text}");
        let read: Walls = serde_json::from_str(&text).expect("it was written by us");
        assert_eq!(read, walls);
    }

    #[test]
    fn every_wall_is_in_the_list_once_and_in_order() {
        let sorted: BTreeSet<Wall> = Wall::ALL.into_iter().collect();
        assert!(sorted.iter().eq(Wall::ALL.iter()));
    }
}
