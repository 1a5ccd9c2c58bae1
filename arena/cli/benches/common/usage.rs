//! What processes have used.

use std::{fs, path::Path, time::Duration};

use nix::sys::resource::{UsageWho, getrusage};

/// CPU time that all processes that have ended took.
pub(crate) fn children() -> Duration {
    used(UsageWho::RUSAGE_CHILDREN)
}

/// CPU time that this process has taken.
pub(crate) fn own() -> Duration {
    used(UsageWho::RUSAGE_SELF)
}

fn used(who: UsageWho) -> Duration {
    let usage = getrusage(who).expect("usage is there");
    let part = |time: nix::sys::time::TimeVal| {
        Duration::new(time.tv_sec() as u64, 1000 * time.tv_usec() as u32)
    };
    part(usage.user_time()) + part(usage.system_time())
}

/// Number of bytes of the store in this folder, with the files beside it.
pub(crate) fn bytes(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).expect("the folder").flatten();
    let stored = files.filter(|file| {
        let name = file.file_name();
        name.to_string_lossy().starts_with("arena.sqlite")
    });
    stored
        .filter_map(|file| file.metadata().ok())
        .map(|about| about.len())
        .sum()
}
