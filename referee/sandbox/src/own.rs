//! Files of its own for a program in a sandbox: copies in memory of what it sees beside the
//! system, and texts of what the machine says. What another process reads or locks of the same
//! files can then not be seen, and nothing is left of what this one did with them.

use std::{
    collections::BTreeSet,
    fs::{self, File, FileTimes, Metadata, OpenOptions, Permissions},
    io::{self, Read as _, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    sync::Arc,
};

use nix::{
    mount::{MntFlags, umount2},
    sys::stat::{Mode, umask},
};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::{
    machine::{self, PROC_TEXTS},
    mounts::{bind_here, read_only, remount, tmpfs},
    plan::StartPlan,
    view::ViewEntry,
};

/// The folder where the copies are made: in the program's private folder.
const STAGING: &str = "/tmp/.arena-own-files";

/// Most that is copied for one process. It is memory of the process.
const MOST: Size = Size {
    bytes: 64 << 20,
    files: 10_000,
};

/// Number of bytes that are copied at once: most files whole.
const BUFFER: usize = 128 << 10;

/// Room for the texts of the machine.
const TEXTS: Size = Size {
    bytes: 16 << 20,
    files: 10_000,
};

/// What has been found too large for a copy. To find that out takes a look at thousands of files,
/// and each start of a program would do so again.
#[derive(Clone, Debug, Default)]
pub(crate) struct TooLarge(Arc<Mutex<BTreeSet<PathBuf>>>);

impl TooLarge {
    pub(crate) fn known(&self) -> BTreeSet<PathBuf> {
        self.0.lock().clone()
    }

    pub(crate) fn add(&self, paths: Vec<PathBuf>) {
        self.0.lock().extend(paths);
    }
}

/// What has no copy, and is shared with whoever else sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SharedFiles {
    /// All of it.
    pub(crate) all: Vec<PathBuf>,
    /// What is too large by itself, whatever else the program sees.
    pub(crate) too_large: Vec<PathBuf>,
}

/// Puts copies in the place of what the program sees, as far as they are not too large. Gives
/// what was too large.
///
/// # Errors
/// Where the system refuses.
pub(crate) fn replace(plan: &StartPlan) -> io::Result<SharedFiles> {
    let staging = Path::new(STAGING);
    fs::create_dir(staging)?;
    let (bytes, files) = (MOST.bytes + TEXTS.bytes, MOST.files + TEXTS.files);
    tmpfs(staging, &format!("size={bytes},nr_inodes={files},mode=755"))?;
    let shared = replace_each(plan, staging)?;
    // What was put somewhere stays there.
    umount2(staging, MntFlags::MNT_DETACH)?;
    fs::remove_dir(staging)?;
    Ok(shared)
}

fn replace_each(plan: &StartPlan, staging: &Path) -> io::Result<SharedFiles> {
    let mut left = MOST;
    let mut buffer = vec![0; BUFFER];
    let mut shared = SharedFiles::default();
    let mut done: Vec<&Path> = Vec::new();
    for (number, entry) in plan.view.iter().enumerate() {
        let copy = staging.join(number.to_string());
        match entry {
            // It is in the copy of a folder above it.
            ViewEntry::Own(path) if done.iter().any(|above| path.starts_with(above)) => {}
            ViewEntry::Own(path) => {
                let size = match plan.too_large.contains(path) {
                    true => None,
                    false => Size::of(path)?,
                };
                if size.is_none() {
                    shared.too_large.push(path.clone());
                }
                let Some(rest) = size.and_then(|size| left.checked_sub(size)) else {
                    shared.all.push(path.clone());
                    continue;
                };
                left = rest;
                // The copy has the very rights of what it is a copy of.
                let mask = umask(Mode::empty());
                let copied = copy_tree(path, &copy, &mut buffer);
                umask(mask);
                copied?;
                put(&copy, path)?;
                done.push(path);
            }
            ViewEntry::Machine(path) => {
                fs::create_dir(&copy)?;
                machine::write_texts(path, &copy)?;
                put(&copy, path)?;
            }
            ViewEntry::Proc if plan.has_pid_namespace() => {
                for name in PROC_TEXTS {
                    let (file, copy) = (entry.path().join(name), copy.join(name));
                    if file.exists() {
                        machine::write_text(&file, &copy)?;
                        put(&copy, &file)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(shared)
}

/// Shows a copy in the place of what it is a copy of.
fn put(copy: &Path, path: &Path) -> io::Result<()> {
    bind_here(copy, path)?;
    remount(path, read_only())
}

/// The size of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    bytes: u64,
    files: u64,
}

impl Size {
    /// The size of a tree; none where it is more than is copied.
    fn of(path: &Path) -> io::Result<Option<Self>> {
        let rest = MOST.without(path)?;
        Ok(rest.and_then(|rest| MOST.checked_sub(rest)))
    }

    fn checked_sub(self, other: Self) -> Option<Self> {
        Some(Self {
            bytes: self.bytes.checked_sub(other.bytes)?,
            files: self.files.checked_sub(other.files)?,
        })
    }

    /// The rest of this when a tree is taken out of it; none where that is too large.
    fn without(self, path: &Path) -> io::Result<Option<Self>> {
        let data = fs::symlink_metadata(path)?;
        let mut left = self;
        // Whole pages are taken.
        let bytes = if data.is_file() {
            data.len().next_multiple_of(4096)
        } else {
            0
        };
        let (Some(bytes), Some(files)) = (left.bytes.checked_sub(bytes), left.files.checked_sub(1))
        else {
            return Ok(None);
        };
        left = Self { bytes, files };
        if data.is_dir() {
            for entry in readable(fs::read_dir(path))?.into_iter().flatten() {
                match left.without(&entry?.path())? {
                    Some(rest) => left = rest,
                    None => return Ok(None),
                }
            }
        }
        Ok(Some(left))
    }
}

/// Copies a file, a link or a folder with all that is in it: contents, rights and times, which
/// tell some runtimes whether what they have compiled is current. What may not be read can't be
/// read in the copy either; sockets and devices are left out. `buffer` is what is read at once.
fn copy_tree(from: &Path, to: &Path, buffer: &mut [u8]) -> io::Result<()> {
    let data = fs::symlink_metadata(from)?;
    if data.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if data.is_dir() {
        fs::create_dir(to)?;
        let entries = readable(fs::read_dir(from))?;
        let mode = mode(&data, entries.is_some());
        for entry in entries.into_iter().flatten() {
            let entry = entry?;
            copy_tree(&entry.path(), &to.join(entry.file_name()), buffer)?;
        }
        File::open(to)?.set_times(times(&data)?)?;
        return fs::set_permissions(to, Permissions::from_mode(mode));
    }
    if data.is_file() {
        let from = readable(File::open(from))?;
        let mut to = create(to, mode(&data, from.is_some()))?;
        if let Some(mut from) = from {
            copy_contents(&mut from, &mut to, data.len(), buffer)?;
        }
        return to.set_times(times(&data)?);
    }
    if data.rdev() == NULL {
        // Something that is masked.
        create(to, 0o644)?;
    }
    Ok(())
}

/// Copies a file of so many bytes. Runtimes have thousands of small files: by way of a buffer each
/// takes fewer calls than by [`fs::copy`].
fn copy_contents(from: &mut File, to: &mut File, len: u64, buffer: &mut [u8]) -> io::Result<()> {
    let mut left = len;
    while left > 0 {
        let read = match from.read(buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        to.write_all(&buffer[..read])?;
        left = left.saturating_sub(read as u64);
    }
    Ok(())
}

fn create(path: &Path, mode: u32) -> io::Result<File> {
    let mut new = OpenOptions::new();
    new.write(true).create_new(true).mode(mode).open(path)
}

/// The number of `/dev/null`.
const NULL: u64 = nix::libc::makedev(1, 3);

fn times(data: &Metadata) -> io::Result<FileTimes> {
    Ok(FileTimes::new().set_modified(data.modified()?))
}

/// The rights of a copy.
fn mode(data: &Metadata, may_be_read: bool) -> u32 {
    if may_be_read { data.mode() & 0o777 } else { 0 }
}

/// None for what may not be read.
fn readable<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn a_copy_has_the_contents_the_links_the_rights_and_the_times() {
        let folder = tempfile::tempdir().expect("a folder");
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("lib")).expect("a folder");
        let program = from.join("lib/bot");
        fs::write(&program, "text").expect("a file");
        fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("its mode");
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        let opened = File::open(&program).expect("it is there");
        opened.set_modified(then).expect("its time");
        symlink("lib/bot", from.join("bot")).expect("a link");
        copy_tree(&from, &to, &mut [0; 3]).expect("it can be copied");
        let copy = to.join("bot");
        assert_eq!(fs::read_to_string(&copy).expect("it is there"), "text");
        assert_eq!(fs::read_link(&copy).expect("a link"), Path::new("lib/bot"));
        let data = fs::metadata(&copy).expect("it is there");
        assert_eq!(data.mode() & 0o777, 0o755);
        assert_eq!(data.modified().expect("it has one"), then);
    }

    #[test]
    fn what_is_too_large_in_bytes_or_in_files_is_not_copied() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["one", "two"] {
            fs::write(folder.path().join(name), [0; 5000]).expect("a file");
        }
        let size = |bytes, files| Size { bytes, files };
        let left = |most: Size| most.without(folder.path()).expect("it can be read");
        assert_eq!(left(size(16_384, 3)), Some(size(0, 0)));
        assert_eq!(left(size(16_383, 3)), None);
        assert_eq!(left(size(16_384, 2)), None);
        let found = Size::of(folder.path()).expect("it can be read");
        assert_eq!(found, Some(size(16_384, 3)));
    }
}
