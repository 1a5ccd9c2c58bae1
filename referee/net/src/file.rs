//! Small files that a person hands to us: read up to a size, and recognised when they change.

use std::{
    fs::{File, Metadata},
    io::{self, Read as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::Path,
};

/// The largest file that is read: certificates of a whole bundle fit, and so do many tokens.
const LARGEST: u64 = 1024 * 1024;
/// The right of all users to read a file.
const READ_BY_OTHERS: u32 = 0o004;

/// The values that tell one version of a file from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: (i64, i64),
    /// Renaming another file over this one changes it too.
    changed: (i64, i64),
    size: u64,
    inode: u64,
}

impl Stamp {
    /// The present version; nothing if the file is not there.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let file = std::fs::metadata(path).ok()?;
        Some(Self {
            modified: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
            size: file.size(),
            inode: file.ino(),
        })
    }
}

/// The bytes of a regular file, and what the system says of it.
///
/// # Errors
///
/// It can't be read, is no regular file, or is too large.
pub(crate) fn read(path: &Path) -> io::Result<(Vec<u8>, Metadata)> {
    // Opening a pipe would wait for somebody who writes to it.
    let file = File::options()
        .read(true)
        .custom_flags(nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY)
        .open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is no regular file",
        ));
    }
    let mut bytes = Vec::new();
    if file.take(LARGEST + 1).read_to_end(&mut bytes)? as u64 > LARGEST {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it has more than {} KiB", LARGEST >> 10),
        ));
    }
    Ok((bytes, metadata))
}

/// True if every user of the machine may read a file.
pub(crate) fn is_open_to_all(file: &Metadata) -> bool {
    file.mode() & READ_BY_OTHERS != 0
}
