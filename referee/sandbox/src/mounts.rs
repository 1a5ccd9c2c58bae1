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

use crate::{machine::PROC_TEXTS, plan::StartPlan, view::ViewEntry, walls::Wall};

/// The place of the new root while it is built, and of the old one meanwhile.
const NEW: &str = "/new";
const OLD: &str = "/old";

/// The entries of `/proc` that a program finds beside processes. All else tells what the whole
/// machine does, so that it is a message from one program to another, or changes it.
const PROC_KEPT: &[&str] = &[
    "filesystems",
    "mounts",
    "net",
    "self",
    "sys",
    "sysvipc",
    "thread-self",
    "version",
];

/// Files of `/proc/sys` that count what all programs have open.
const PROC_SYS_MASKED: &[&str] = &[
    "fs/aio-nr",
    "fs/dentry-state",
    "fs/file-nr",
    "fs/inode-nr",
    "fs/inode-state",
    "fs/quota",
    "kernel/pty/nr",
    "kernel/random/entropy_avail",
];

/// Gives this process a mount namespace in which it sees what the plan says.
///
/// # Errors
/// Where the system refuses; the message says what.
#[expect(
    clippy::disallowed_methods,
    reason = "the process is the sandbox's own"
)]
pub(crate) fn enter(plan: &StartPlan) -> io::Result<()> {
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

fn add(entry: &ViewEntry, plan: &StartPlan) -> io::Result<()> {
    let target = below(NEW, entry.path());
    match entry {
        ViewEntry::Folder(_) => fs::create_dir_all(&target),
        ViewEntry::Link { target: to, .. } => {
            create_parent(&target)?;
            symlink(to, &target)
        }
        ViewEntry::ReadOnly(path)
        | ViewEntry::Own(path)
        | ViewEntry::Machine(path)
        | ViewEntry::Device(path) => bind(path, &target),
        ViewEntry::Socket { outside, .. } => bind(outside, &target),
        ViewEntry::Private { path, size, files } => {
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
        ViewEntry::Mask { folder: true, .. } => tmpfs(&target, "size=4k,nr_inodes=64,mode=755"),
        ViewEntry::Mask { folder: false, .. } => bind(Path::new("/dev/null"), &target),
        ViewEntry::Proc => {
            fs::create_dir_all(&target)?;
            if plan.has_pid_namespace() {
                proc(&target)
            } else {
                bind(Path::new("/proc"), &target)
            }
        }
    }
}

pub(crate) fn tmpfs(target: &Path, limits: &str) -> io::Result<()> {
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
pub(crate) fn restrict_proc(plan: &StartPlan) -> io::Result<()> {
    if plan.has_pid_namespace() {
        protect_proc(Path::new("/proc"))?;
    }
    Ok(())
}

fn protect_proc(target: &Path) -> io::Result<()> {
    let flags = read_only() | MsFlags::MS_NOEXEC;
    let settings = target.join("sys");
    if settings.exists() {
        bind_here(&settings, &settings)?;
        remount(&settings, flags)?;
    }
    let names = fs::read_dir(target)?.map(|entry| Ok(entry?.file_name()));
    for name in names.collect::<io::Result<Vec<_>>>()? {
        let is_process = name.as_bytes().first().is_some_and(u8::is_ascii_digit);
        let is_one_of = |names: &[&str]| names.iter().any(|known| name == OsStr::new(known));
        let path = target.join(&name);
        // Texts are put in the place of some.
        if is_process || path.is_symlink() || name == "sys" || is_one_of(PROC_TEXTS) {
            continue;
        }
        if is_one_of(PROC_KEPT) {
            // Its rights are the same for everybody who sees it.
            bind_here(&path, &path)?;
            remount(&path, flags)?;
        } else {
            mask(&path)?;
        }
    }
    for name in PROC_SYS_MASKED {
        let path = settings.join(name);
        if path.exists() {
            mask(&path)?;
        }
    }
    Ok(())
}

/// Puts an empty folder, or nothing that can be read, in the place of something.
fn mask(path: &Path) -> io::Result<()> {
    let null = [below(OLD, Path::new("/dev/null")), "/dev/null".into()];
    if path.is_dir() {
        tmpfs(path, "size=4k,nr_inodes=2,mode=755")?;
        return remount(path, read_only());
    }
    let Some(null) = null.iter().find(|path| path.exists()) else {
        return Ok(());
    };
    bind_here(null, path)?;
    // Whoever owns the device could change its rights and times, which everybody sees.
    remount(path, MsFlags::MS_NOSUID | MsFlags::MS_RDONLY)
}

/// The flags of something that is looked at only.
pub(crate) fn read_only() -> MsFlags {
    MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_RDONLY
}

/// Gives a mount other flags.
pub(crate) fn remount(path: &Path, flags: MsFlags) -> io::Result<()> {
    let flags = flags | MsFlags::MS_BIND | MsFlags::MS_REMOUNT;
    mount(NOTHING, path, NOTHING, flags, NOTHING)
        .map_err(|error| said(&format!("{} read-only", path.display()), error))
}

/// Makes bubblewrap's devices read-only, as our own are. A device can be written all the same;
/// its rights and its times, which everybody sees, can't.
///
/// # Errors
/// Where the system refuses.
pub(crate) fn restrict_devices(plan: &StartPlan) -> io::Result<()> {
    for entry in &plan.view {
        if let ViewEntry::Device(path) = entry {
            remount(path, kept_flags(path)? | MsFlags::MS_RDONLY)?;
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

pub(crate) fn bind_here(source: &Path, target: &Path) -> io::Result<()> {
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    mount(Some(source), target, NOTHING, flags, NOTHING)
        .map_err(|error| said(&format!("to show {}", source.display()), error))
}

/// Makes all that is mounted read-only, but for what is the program's own.
fn make_read_only(plan: &StartPlan) -> io::Result<()> {
    let written: Vec<PathBuf> = plan
        .view
        .iter()
        .filter(|entry| matches!(entry, ViewEntry::Private { .. } | ViewEntry::Socket { .. }))
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
        let mut new = kept_flags(&mounted)?;
        if !written.contains(&mounted) {
            new |= MsFlags::MS_RDONLY;
        }
        let is_device = inside.parent() == Some(Path::new("dev")) && !mounted.is_dir();
        if !is_device {
            new |= MsFlags::MS_NODEV;
        }
        remount(&mounted, new)?;
    }
    Ok(())
}

/// The flags that a mount has may be locked: they stay.
fn kept_flags(mounted: &Path) -> io::Result<MsFlags> {
    let flags = statvfs(mounted)?.flags();
    let kept = [
        (FsFlags::ST_NOEXEC, MsFlags::MS_NOEXEC),
        (FsFlags::ST_NOATIME, MsFlags::MS_NOATIME),
        (FsFlags::ST_NODIRATIME, MsFlags::MS_NODIRATIME),
        (FsFlags::ST_RELATIME, MsFlags::MS_RELATIME),
        (FsFlags::ST_RDONLY, MsFlags::MS_RDONLY),
        (FsFlags::ST_NODEV, MsFlags::MS_NODEV),
    ];
    let kept = kept.into_iter().filter(|(has, _)| flags.contains(*has));
    Ok(kept.fold(MsFlags::MS_NOSUID, |all, (_, keep)| all | keep))
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
