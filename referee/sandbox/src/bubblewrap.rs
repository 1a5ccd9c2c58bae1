//! The same view and the same namespaces, in the words of `bwrap`.

use std::{
    env,
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use crate::{
    plan::StartPlan,
    view::{ViewEntry, is_executable},
    walls::Wall,
};

/// The name that the user has inside, as a number.
pub(crate) const USER: u32 = 1000;

/// The path of bubblewrap, if it is installed.
pub(crate) fn installed() -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join("bwrap"))
        .find(|file| is_executable(file))
}

/// The arguments that bubblewrap reads, each ended by a zero, up to the command.
pub(crate) fn arguments(plan: &StartPlan) -> Vec<u8> {
    let mut words = ArgumentList::default();
    words.add(["--die-with-parent", "--unshare-user", "--unshare-uts"]);
    words.add(["--uid", &USER.to_string(), "--gid", &USER.to_string()]);
    words.add(["--hostname", "bot"]);
    // The init limits its file systems by it, and gives it up.
    words.add(["--cap-add", "CAP_SYS_ADMIN"]);
    if plan.has(Wall::Processes) {
        words.add(["--unshare-pid", "--as-pid-1"]);
    }
    if plan.has(Wall::Network) {
        words.add(["--unshare-net"]);
    }
    if plan.has(Wall::Ipc) {
        words.add(["--unshare-ipc"]);
    }
    if !plan.has(Wall::Files) {
        words.add(["--dev-bind", "/", "/"]);
        if plan.has(Wall::Processes) {
            words.add(["--proc", "/proc"]);
        }
        return words.0;
    }
    let mut read_only = Vec::new();
    for entry in &plan.view {
        add(entry, plan, &mut words, &mut read_only);
    }
    read_only.push(Path::new("/"));
    for path in read_only {
        words.add([OsStr::new("--remount-ro"), path.as_os_str()]);
    }
    words.0
}

fn add<'a>(
    entry: &'a ViewEntry,
    plan: &StartPlan,
    words: &mut ArgumentList,
    read_only: &mut Vec<&'a Path>,
) {
    let path = entry.path().as_os_str();
    let word = OsStr::new;
    match entry {
        ViewEntry::Folder(_) => words.add([word("--dir"), path]),
        ViewEntry::Link { target, .. } => words.add([word("--symlink"), target.as_os_str(), path]),
        ViewEntry::ReadOnly(_) | ViewEntry::Own(_) | ViewEntry::Machine(_) => {
            words.add([word("--ro-bind"), path, path]);
        }
        ViewEntry::Socket { outside, .. } => {
            words.add([word("--bind"), outside.as_os_str(), path]);
        }
        ViewEntry::Device(_) => words.add([word("--dev-bind"), path, path]),
        ViewEntry::Private { size, .. } => {
            if path == "/dev/shm" && !plan.has(Wall::Ipc) {
                words.add([word("--bind"), path, path]);
                return;
            }
            words.add(["--perms", "0700"]);
            if plan.has(Wall::Disk) {
                words.add(["--size", &size.to_string()]);
            }
            words.add([word("--tmpfs"), path]);
        }
        ViewEntry::Mask { path: mask, folder } => {
            if *folder {
                words.add([word("--tmpfs"), path]);
                read_only.push(mask);
            } else {
                words.add([word("--ro-bind"), word("/dev/null"), path]);
            }
        }
        ViewEntry::Proc if plan.has(Wall::Processes) => words.add([word("--proc"), path]),
        ViewEntry::Proc => words.add(["--bind", "/proc", "/proc"]),
    }
}

#[derive(Default)]
struct ArgumentList(Vec<u8>);

impl ArgumentList {
    fn add<const N: usize>(&mut self, words: [impl Into<OsString>; N]) {
        for word in words {
            self.0.extend_from_slice(word.into().as_bytes());
            self.0.push(0);
        }
    }
}
