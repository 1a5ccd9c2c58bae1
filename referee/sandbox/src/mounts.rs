//! Builds the view of the files in a mount namespace of its own.

use std::{
    ffi::OsStr,
    fs, io,
    os::unix::{ffi::OsStrExt as _, fs::symlink},
    path::{Path, PathBuf},
};

use nix::{
    mount::{MntFlags, MsFlags, mount, umount2},
    sched::{CloneFlags, unshare},
    sys::statvfs::{FsFlags, statvfs},
    unistd::pivot_root,
};

use crate::{plan::Plan, view::Entry, walls::Wall};

/// Where the new root is while it is built, and where the old one is meanwhile.
const NEW: &str = "/new";
const OLD: &str = "/old";

/// Files of `/proc` that change or tell something of the whole machine.
const PROC_READ_ONLY: &[&str] = &["sys", "sysrq-trigger", "irq", "bus", "fs"];
const PROC_MASKED: &[&str] = &[
    "kcore",
    "keys",
    "key-users",
    "kallsyms",
    "timer_list",
    "sched_debug",
    "latency_stats",
    "scsi",
    "acpi",
];

/// Gives this process a mount namespace in which it sees what the plan says.
///
/// # Errors
/// Where the system refuses; the message says what.
pub(crate) fn enter(plan: &Plan) -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNS).map_err(|error| said("a mount namespace", error))?;
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(NOTHING, "/", NOTHING, private, NOTHING)
        .map_err(|error| said("private mounts", error))?;
    if !plan.has(Wall::Files) {
        if plan.has_pid_namespace() {
            proc(Path::new("/proc"))?;
        }
        return Ok(());
    }

    // A new file system that the old root is moved into, so that nothing is in the way.
    tmpfs(Path::new("/tmp"), "size=1m,nr_inodes=64,mode=755")?;
    fs::create_dir("/tmp/new")?;
    fs::create_dir("/tmp/old")?;
    pivot_root("/tmp", "/tmp/old").map_err(|error| said("a new root", error))?;
    std::env::set_current_dir("/")?;
    tmpfs(Path::new(NEW), "size=1m,mode=755")?;
    for entry in &plan.view {
        add(entry, plan).map_err(|error| {
            let path = entry.path().display();
            io::Error::new(error.kind(), format!("{path}: {error}"))
        })?;
    }
    make_read_only(plan)?;

    umount2(OLD, MntFlags::MNT_DETACH).map_err(|error| said("no old root", error))?;
    std::env::set_current_dir(NEW)?;
    pivot_root(".", ".").map_err(|error| said("the root", error))?;
    umount2(".", MntFlags::MNT_DETACH).map_err(|error| said("no outer root", error))?;
    std::env::set_current_dir("/")
}

const NOTHING: Option<&str> = None;

fn add(entry: &Entry, plan: &Plan) -> io::Result<()> {
    let target = below(NEW, entry.path());
    match entry {
        Entry::Folder(_) => fs::create_dir_all(&target),
        Entry::Link { target: to, .. } => {
            create_parent(&target)?;
            symlink(to, &target)
        }
        Entry::ReadOnly(path) | Entry::Device(path) => bind(path, &target),
        Entry::Socket { outside, .. } => bind(outside, &target),
        Entry::Private { path, size, files } => {
            fs::create_dir_all(&target)?;
            if path == Path::new("/dev/shm") && !plan.has(Wall::Ipc) {
                return bind(path, &target);
            }
            let limits = if plan.has(Wall::Disk) {
                format!("size={size},nr_inodes={files},mode=700")
            } else {
                "mode=700".to_owned()
            };
            tmpfs(&target, &limits)
        }
        Entry::Mask { folder: true, .. } => tmpfs(&target, "size=4k,nr_inodes=64,mode=755"),
        Entry::Mask { folder: false, .. } => bind(Path::new("/dev/null"), &target),
        Entry::Proc => {
            fs::create_dir_all(&target)?;
            if plan.has_pid_namespace() {
                proc(&target)
            } else {
                bind(Path::new("/proc"), &target)
            }
        }
    }
}

fn tmpfs(target: &Path, limits: &str) -> io::Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), target, Some("tmpfs"), flags, Some(limits))
        .map_err(|error| said("a file system in memory", error))
}

/// A `/proc` of this pid namespace, in which the machine cannot be changed.
fn proc(target: &Path) -> io::Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), target, Some("proc"), flags, NOTHING)
        .map_err(|error| said("a /proc of its own", error))?;
    protect_proc(target)
}

/// Does to bubblewrap's `/proc` what is done to our own: bubblewrap leaves out what it
/// believes to be safe from a user without capabilities, and root's is not.
///
/// # Errors
/// Where the system refuses.
pub(crate) fn restrict_proc(plan: &Plan) -> io::Result<()> {
    if plan.has_pid_namespace() {
        protect_proc(Path::new("/proc"))?;
    }
    Ok(())
}

fn protect_proc(target: &Path) -> io::Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    let read_only = flags | MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
    for name in PROC_READ_ONLY {
        let path = target.join(name);
        if path.exists() {
            bind_here(&path, &path)?;
            mount(NOTHING, &path, NOTHING, read_only, NOTHING)?;
        }
    }
    let null = [below(OLD, Path::new("/dev/null")), "/dev/null".into()];
    let null = null.iter().find(|path| path.exists());
    for name in PROC_MASKED {
        let path = target.join(name);
        if path.is_dir() {
            tmpfs(&path, "size=4k,nr_inodes=2,mode=755")?;
        } else if let Some(null) = null
            && path.exists()
        {
            bind_here(null, &path)?;
        }
    }
    Ok(())
}

/// Shows the machine's file or folder at a place in the new root.
fn bind(path: &Path, target: &Path) -> io::Result<()> {
    let source = below(OLD, path);
    if source.is_dir() {
        fs::create_dir_all(target)?;
    } else if !target.exists() {
        create_parent(target)?;
        fs::write(target, "")?;
    }
    bind_here(&source, target)
}

fn bind_here(source: &Path, target: &Path) -> io::Result<()> {
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    mount(Some(source), target, NOTHING, flags, NOTHING)
        .map_err(|error| said(&format!("to show {}", source.display()), error))
}

/// Makes all that is mounted read-only, but for what is the program's own.
fn make_read_only(plan: &Plan) -> io::Result<()> {
    let written: Vec<PathBuf> = plan
        .view
        .iter()
        .filter(|entry| {
            matches!(
                entry,
                Entry::Private { .. } | Entry::Socket { .. } | Entry::Device(_)
            )
        })
        .map(|entry| below(NEW, entry.path()))
        .collect();
    let mounts = fs::read("/old/proc/self/mountinfo")?;
    for mounted in mount_points(&mounts) {
        let Ok(inside) = mounted.strip_prefix(NEW) else {
            continue;
        };
        if inside.starts_with("proc") {
            continue;
        }
        // The flags that a mount has may be locked: they stay.
        let flags = statvfs(&mounted)?.flags();
        let kept = [
            (FsFlags::ST_NOEXEC, MsFlags::MS_NOEXEC),
            (FsFlags::ST_NOATIME, MsFlags::MS_NOATIME),
            (FsFlags::ST_NODIRATIME, MsFlags::MS_NODIRATIME),
            (FsFlags::ST_RELATIME, MsFlags::MS_RELATIME),
            (FsFlags::ST_RDONLY, MsFlags::MS_RDONLY),
            (FsFlags::ST_NODEV, MsFlags::MS_NODEV),
        ];
        let mut new = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_NOSUID;
        for (has, keep) in kept {
            if flags.contains(has) {
                new |= keep;
            }
        }
        if !written.contains(&mounted) {
            new |= MsFlags::MS_RDONLY;
        }
        let is_device = inside.parent() == Some(Path::new("dev")) && !mounted.is_dir();
        if !is_device {
            new |= MsFlags::MS_NODEV;
        }
        mount(NOTHING, &mounted, NOTHING, new, NOTHING).map_err(|error| {
            let what = format!("{} read-only", inside.display());
            said(&what, error)
        })?;
    }
    Ok(())
}

/// The mount points of a `mountinfo`, in which spaces and the like are octal.
pub(crate) fn mount_points(mountinfo: &[u8]) -> impl Iterator<Item = PathBuf> {
    mountinfo
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(4))
        .map(unescape)
}

pub(crate) fn unescape(text: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let octal = after
            .get(..3)
            .filter(|_| *first == b'\\')
            .and_then(|digits| str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match octal {
            Some(byte) => {
                path.push(byte);
                rest = &after[3..];
            }
            None => {
                path.push(*first);
                rest = after;
            }
        }
    }
    PathBuf::from(OsStr::from_bytes(&path))
}

fn below(root: &str, path: &Path) -> PathBuf {
    Path::new(root).join(path.strip_prefix("/").unwrap_or(path))
}

fn create_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

fn said(what: &str, error: nix::Error) -> io::Error {
    let error = io::Error::from(error);
    io::Error::new(error.kind(), format!("could not have {what}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_with_spaces_are_read() {
        let text = b"22 1 8:1 / / rw - ext4 /dev/sda rw\n\
            23 22 0:20 / /mnt/my\\040disk rw,nosuid shared:1 - tmpfs tmpfs rw\n";
        let found: Vec<PathBuf> = mount_points(text).collect();
        assert_eq!(found, [Path::new("/"), Path::new("/mnt/my disk")]);
    }
}
