//! Removes the folder of a process, whatever the process has left in it: never on a thread that
//! games wait for, without following links, and within bounds.

use std::{
    ffi::OsStr,
    fs::Permissions,
    io,
    os::{
        fd::{AsFd, AsRawFd as _, OwnedFd},
        unix::{ffi::OsStrExt as _, fs::PermissionsExt as _},
    },
    path::{Path, PathBuf},
    time::Duration,
};

use nix::{
    dir::Dir,
    errno::Errno,
    fcntl::{OFlag, openat, renameat},
    sys::stat::Mode,
    unistd::{UnlinkatFlags, unlinkat},
};
use parking_lot::Mutex;
use tempfile::TempDir;
use tokio::task::spawn_blocking;

/// Longest time that the end of a process waits until its folder is gone; the rest goes on
/// without it.
const PATIENCE: Duration = Duration::from_millis(500);
/// So many files, folders and failures at most belong to one folder; what is more stays.
const MOST: u64 = 1_000_000;
/// Most files, folders and failures in a folder that is removed at once. Of larger ones one is
/// removed at a time, so that this never takes more than one core.
const FEW: u64 = 16;
/// So many names are in memory at once.
const PAGE: usize = 1000;
static LARGE: Mutex<()> = Mutex::new(());

/// A folder that belongs to a process and is removed with all that is in it.
#[derive(Debug)]
pub(super) struct OwnFolder {
    path: PathBuf,
    is_removed: bool,
}

impl OwnFolder {
    pub(super) fn new(folder: TempDir) -> Self {
        Self {
            path: folder.keep(),
            is_removed: false,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it on a thread of its own, and waits a moment for that.
    pub(super) async fn remove(mut self) {
        let path = self.path.clone();
        let removing = spawn_blocking(move || remove_folder(&path));
        self.is_removed = true;
        // It goes on where the patience has ended, and says itself what it could not do.
        let _ = tokio::time::timeout(PATIENCE, removing).await;
    }
}

impl Drop for OwnFolder {
    /// Removes the folder where nothing waits for it any more: the runtime ends, or the process
    /// did not start.
    fn drop(&mut self) {
        if !self.is_removed {
            remove_folder(&self.path);
        }
    }
}

/// Removes a folder with what is in it, and logs what is left of it.
pub(crate) fn remove_folder(path: &Path) {
    let mut removal = Removal::within(FEW);
    let mut removed = removal.remove(path);
    if removed.is_err() && removal.left == 0 {
        let _turn = LARGE.lock();
        removed = Removal::within(MOST).remove(path);
    }
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(folder = %path.display(), %error, "a bot's folder could not be removed");
        }
        _ => {}
    }
}

/// The removal of one folder. It is done in the folder itself: what lies deeper is first
/// moved up, so that neither depth nor the length of a path matters.
struct Removal {
    /// Number of files, folders and failures that it may still meet.
    left: u64,
    /// Number of folders that have been moved up.
    moved: u64,
}

impl Removal {
    const fn within(most: u64) -> Self {
        Self {
            left: most,
            moved: 0,
        }
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        let top = open(nix::fcntl::AT_FDCWD, path)?;
        self.empty(&top, None)?;
        std::fs::remove_dir(path)
    }

    /// Removes what is in a folder. Folders in it are removed too, or where there is a `top`
    /// moved up there.
    fn empty(&mut self, folder: &OwnedFd, top: Option<&OwnedFd>) -> io::Result<()> {
        let mut failed = None;
        loop {
            let names = names(folder)?;
            let mut progress = false;
            for name in &names {
                self.left = self.left.checked_sub(1).ok_or_else(too_many)?;
                match self.remove_entry(folder, name, top) {
                    Ok(()) => progress = true,
                    Err(error) if self.left == 0 => return Err(error),
                    Err(error) => failed = Some(error),
                }
            }
            match (failed.take(), progress) {
                _ if names.is_empty() => return Ok(()),
                (Some(error), false) => return Err(error),
                _ => {}
            }
        }
    }

    fn remove_entry(
        &mut self,
        folder: &OwnedFd,
        name: &Path,
        top: Option<&OwnedFd>,
    ) -> io::Result<()> {
        match unlinkat(folder, name, UnlinkatFlags::NoRemoveDir) {
            // POSIX says EPERM for a folder, Linux EISDIR.
            Err(Errno::EISDIR | Errno::EPERM) => {}
            other => return Ok(other?),
        }
        let removed = unlinkat(folder, name, UnlinkatFlags::RemoveDir);
        let Err(Errno::ENOTEMPTY | Errno::EEXIST | Errno::EACCES) = removed else {
            return Ok(removed?);
        };
        let Some(top) = top else {
            let inner = open(folder, name)?;
            self.empty(&inner, Some(folder))?;
            return Ok(unlinkat(folder, name, UnlinkatFlags::RemoveDir)?);
        };
        open(folder, name)?;
        loop {
            self.moved += 1;
            let up = format!("moved-up-{}", self.moved);
            match renameat(folder, name, top, up.as_str()) {
                // The bot has one of that name.
                Err(Errno::EEXIST | Errno::ENOTEMPTY | Errno::ENOTDIR) => {
                    self.left = self.left.checked_sub(1).ok_or_else(too_many)?;
                }
                other => return Ok(other?),
            }
        }
    }
}

/// Opens a folder, no link to one, and makes sure that it may be changed.
fn open(at: impl AsFd, name: &Path) -> io::Result<OwnedFd> {
    let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let found = openat(at, name, flags | OFlag::O_PATH, Mode::empty())?;
    let found_path = format!("/proc/self/fd/{}", found.as_raw_fd());
    std::fs::set_permissions(found_path, Permissions::from_mode(0o700))?;
    Ok(openat(&found, ".", flags | OFlag::O_RDONLY, Mode::empty())?)
}

/// Some names of what is in a folder; none where it is empty.
fn names(folder: &OwnedFd) -> io::Result<Vec<PathBuf>> {
    let again = openat(
        folder,
        ".",
        OFlag::O_RDONLY | OFlag::O_CLOEXEC,
        Mode::empty(),
    )?;
    let mut dir = Dir::from_fd(again)?;
    let names = dir.iter().filter_map(|entry| {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => return Some(Err(error.into())),
        };
        let name = entry.file_name().to_bytes();
        let is_real = name != b"." && name != b"..";
        is_real.then(|| Ok(PathBuf::from(OsStr::from_bytes(name))))
    });
    names.take(PAGE).collect()
}

fn too_many() -> io::Error {
    io::Error::other("it holds too much")
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, File},
        os::unix::fs::symlink,
    };

    use super::*;

    /// A folder with a file, a link to another folder and a tree of this depth.
    fn folder(depth: usize) -> (TempDir, TempDir) {
        let [folder, other] = [0, 1].map(|_| tempfile::tempdir().unwrap());
        fs::write(other.path().join("kept"), "").unwrap();
        symlink(other.path(), folder.path().join("link")).unwrap();
        symlink("nowhere", folder.path().join("broken")).unwrap();
        fs::create_dir(folder.path().join("moved-up-1")).unwrap();
        fs::write(folder.path().join("moved-up-1").join("file"), "").unwrap();
        fs::write(folder.path().join("moved-up-2"), "").unwrap();
        let mut deepest = open(nix::fcntl::AT_FDCWD, folder.path()).unwrap();
        for _ in 0..depth {
            for name in ["a", "b"] {
                nix::sys::stat::mkdirat(&deepest, name, Mode::S_IRWXU).unwrap();
            }
            deepest = open(&deepest, Path::new("a")).unwrap();
        }
        (folder, other)
    }

    #[test]
    fn a_folder_goes_whatever_is_in_it_and_no_link_is_followed() {
        // Deeper than a path may be long, than there are descriptors, than a stack is large.
        for depth in [0, 1, 3, 10_000] {
            let (folder, other) = folder(depth);
            let path = folder.path().to_owned();
            remove_folder(&path);
            assert!(!path.exists(), "{depth}");
            assert!(other.path().join("kept").exists());
        }
        remove_folder(Path::new("/there is no such folder"));
    }

    #[test]
    fn a_folder_that_may_not_be_read_goes_too() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir_all(inner.join("more").join("still more")).unwrap();
        for closed in [inner.join("more"), inner, folder.path().to_owned()] {
            fs::set_permissions(closed, Permissions::from_mode(0o000)).unwrap();
        }
        remove_folder(folder.path());
        assert!(!folder.path().exists());
    }

    #[test]
    fn what_is_too_much_stays() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..30 {
            File::create(folder.path().join(number.to_string())).unwrap();
        }
        let error = Removal::within(20).remove(folder.path()).unwrap_err();
        assert_eq!(error.to_string(), "it holds too much");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 10);
        Removal::within(10).remove(folder.path()).unwrap();
        assert!(!folder.path().exists());
    }
}
