//! The name of a cgroup, and of a container, says who made it, so that those of an arena that is
//! gone can be told from those of one that runs.

use std::{fs, io, os::unix::fs::MetadataExt as _};

use crate::proc;

/// The process that made something. Its number alone would not do: numbers are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Creator {
    /// The pid namespace that the number is of.
    namespace: u64,
    process: u32,
    /// Time of its start, in clock ticks since the start of the machine.
    start: u64,
}

const PREFIX: &str = "arena";

impl Creator {
    /// This process.
    ///
    /// # Errors
    /// Where `/proc` can't be read.
    pub fn this_process() -> io::Result<Self> {
        let namespace = fs::metadata("/proc/self/ns/pid")?.ino();
        let process = std::process::id();
        let start = start_of(process)?;
        let start = start.ok_or_else(|| io::Error::other("could not read /proc/self/stat"))?;
        Ok(Self {
            namespace,
            process,
            start,
        })
    }

    /// The name of one of the things that it made.
    #[must_use]
    pub fn name(&self, which: &str) -> String {
        let Self {
            namespace,
            process,
            start,
        } = self;
        format!("{PREFIX}-{namespace}-{process}-{start}-{which}")
    }

    /// The creator of what has this name, if it is one of ours.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let mut parts = name.split('-');
        if parts.next() != Some(PREFIX) {
            return None;
        }
        let namespace = parts.next()?.parse().ok()?;
        let process = parts.next()?.parse().ok()?;
        let start = parts.next()?.parse().ok()?;
        parts.next()?;
        Some(Self {
            namespace,
            process,
            start,
        })
    }

    /// True if the asking process can tell that the creator has ended. Where it could not ask,
    /// it can't tell.
    #[must_use]
    pub fn is_gone(&self, asking: &Self) -> bool {
        let start = || start_of(self.process);
        self.namespace == asking.namespace && start().is_ok_and(|start| start != Some(self.start))
    }
}

/// Time of a process's start. Nothing if there is none, or one that has ended already.
///
/// # Errors
/// It could not be asked for.
fn start_of(process: u32) -> io::Result<Option<u64>> {
    let Some(stat) = proc::stat(process)? else {
        return Ok(None);
    };
    let mut fields = stat.split(' ');
    if matches!(fields.next(), Some("Z" | "X")) {
        return Ok(None);
    }
    // The first one here is the third of proc_pid_stat(5), the start is the 22nd.
    Ok(fields.nth(18).and_then(|start| start.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_who_has_made_it() {
        let creator = Creator::this_process().expect("this is Linux");
        assert_eq!(Creator::of(&creator.name("7")), Some(creator));
        assert!(!creator.is_gone(&creator));
        for other in ["arena", "arena-1-2-3", "user.slice", "arena-x-2-3-4"] {
            assert_eq!(Creator::of(other), None, "{other}");
        }
    }

    #[test]
    fn a_number_that_is_used_again_is_another_process() {
        let asking = Creator::this_process().expect("this is Linux");
        let before = Creator {
            start: asking.start - 1,
            ..asking
        };
        assert!(before.is_gone(&asking));
        let elsewhere = Creator {
            namespace: asking.namespace + 1,
            ..before
        };
        assert!(!elsewhere.is_gone(&asking), "its number says nothing here");
    }
}
