//! An archive as a folder. Its bytes may be anybody's: it is refused unless it is exactly such
//! an archive as [`pack_folder`](super::pack_folder) writes.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read},
    os::unix::fs::{OpenOptionsExt as _, symlink},
    path::Path,
};

use referee_core::printable;
use sha2::{Digest as _, Sha256};
use tar::{Archive, Entry, EntryType};

use super::{
    ArchiveHash, LONGEST_PATH, MOST_BYTES, MOST_ENTRIES, MOST_PACKED_BYTES,
    links::{Links, stays_inside},
    tree,
};

/// Longest distance that unpacking may look back, as a power of two: what the packer's level
/// uses, and some.
const WINDOW: u32 = 23;

/// Reason why bytes are no archive.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// It is not an archive that we write.
    #[error("the archive is invalid: {0}")]
    Invalid(String),
    /// It is another archive than was asked for.
    #[error(
        "the archive is not the one that was asked for: its hash is {found}, expected {expected}"
    )]
    OtherHash {
        /// The hash that was asked for.
        expected: ArchiveHash,
        /// The hash of what came.
        found: ArchiveHash,
    },
    /// This machine can't write it.
    #[error("could not unpack the archive: {0}")]
    Io(#[from] io::Error),
}

/// The kind of an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    Folder,
    File,
    Link,
}

/// Unpacks an archive into a new folder, which is read-only then. Gives how many bytes its tar
/// file has. If it fails, nothing is left.
///
/// # Errors
///
/// [`UnpackError`]: it is not the archive with this hash, or no archive that we write.
pub fn unpack_archive(
    bytes: &[u8],
    expected: &ArchiveHash,
    into: &Path,
) -> Result<u64, UnpackError> {
    fs::create_dir(into)?;
    let unpacked = unpack(bytes, expected, into);
    if unpacked.is_err() {
        // The first error says more.
        let _ = tree::remove(into);
    }
    unpacked
}

/// The hash of an archive, and how many bytes its tar file has. Nothing is unpacked.
///
/// # Errors
///
/// [`UnpackError::Invalid`]: the bytes are not packed as we pack them, or too many.
pub fn hash_archive(bytes: &[u8]) -> Result<(ArchiveHash, u64), UnpackError> {
    let mut hashing = hashing(bytes)?;
    io::copy(&mut hashing, &mut io::sink()).map_err(unread)?;
    hashing.end()
}

/// The tar file of an archive.
fn hashing(bytes: &[u8]) -> Result<HashingReader<impl Read>, UnpackError> {
    if bytes.len() as u64 > MOST_PACKED_BYTES {
        let most = MOST_PACKED_BYTES >> 20;
        return Err(invalid(format!("it has more than {most} MiB")));
    }
    let mut decoder = zstd::Decoder::new(bytes)?;
    decoder.window_log_max(WINDOW)?;
    Ok(HashingReader {
        // One more, so that too many are seen.
        from: decoder.take(MOST_BYTES + 1),
        hash: Sha256::new(),
        size: 0,
    })
}

fn unpack(bytes: &[u8], expected: &ArchiveHash, into: &Path) -> Result<u64, UnpackError> {
    let mut archive = Archive::new(hashing(bytes)?);
    let mut unpacking = Unpacking {
        into,
        kinds: BTreeMap::new(),
        links: Links::new(),
        long_path: None,
        long_target: None,
    };
    for entry in archive.entries().map_err(unread)?.raw(true) {
        unpacking.take(entry.map_err(unread)?)?;
    }
    let mut hashing = archive.into_inner();
    // Its last block is part of what was hashed.
    io::copy(&mut hashing, &mut io::sink()).map_err(unread)?;
    let (found, size) = hashing.end()?;
    if found != *expected {
        let expected = *expected;
        return Err(UnpackError::OtherHash { expected, found });
    }
    unpacking.finish()?;
    Ok(size)
}

struct Unpacking<'p> {
    into: &'p Path,
    /// The entries that are there already.
    kinds: BTreeMap<String, EntryKind>,
    links: Links,
    /// The path of the next entry where it is long, as tar has it.
    long_path: Option<String>,
    /// The target of the next entry's link where it is long, as tar has it.
    long_target: Option<String>,
}

impl Unpacking<'_> {
    fn take<R: Read>(&mut self, mut entry: Entry<'_, R>) -> Result<(), UnpackError> {
        match entry.header().entry_type() {
            EntryType::GNULongName => {
                self.long_path = Some(long(&mut entry)?);
                return Ok(());
            }
            EntryType::GNULongLink => {
                self.long_target = Some(long(&mut entry)?);
                return Ok(());
            }
            _ => {}
        }
        let own = entry.path_bytes().into_owned();
        let path = match self.long_path.take() {
            Some(path) => path,
            None => utf8(own)?,
        };
        let kind = match entry.header().entry_type() {
            EntryType::Directory => EntryKind::Folder,
            EntryType::Regular => EntryKind::File,
            EntryType::Symlink => EntryKind::Link,
            other => {
                return Err(refused(
                    &path,
                    &format!("expected a file, a folder or a link, found {other:?}"),
                ));
            }
        };
        self.check(&path, kind)?;
        let mode = entry.header().mode().map_err(unread)?;
        let target = self.long_target.take();
        if mode & !0o777 != 0 {
            return Err(refused(&path, "it has a setuid, setgid or sticky bit"));
        }
        let file = self.into.join(&path);
        match kind {
            EntryKind::Folder => fs::create_dir(&file)?,
            EntryKind::File => {
                let is_program = mode & 0o111 != 0;
                let mut file = File::options()
                    .write(true)
                    .create_new(true)
                    .mode(if is_program { 0o700 } else { 0o600 })
                    .open(&file)?;
                io::copy(&mut entry, &mut file).map_err(|error| of_copy(&path, error))?;
            }
            EntryKind::Link => {
                let target = match (target, entry.link_name_bytes()) {
                    (Some(target), _) => target,
                    (None, Some(target)) => utf8(target.into_owned())?,
                    (None, None) => return Err(refused(&path, "it is a link to nothing")),
                };
                // Links are made when all else is there, so that nothing goes through them.
                self.links.insert(path, target);
            }
        }
        Ok(())
    }

    /// Checks that an entry may have this path.
    fn check(&mut self, path: &str, kind: EntryKind) -> Result<(), UnpackError> {
        if path.is_empty() || path.len() > LONGEST_PATH {
            let why = format!("a path has 1 to {LONGEST_PATH} bytes");
            return Err(refused(path, &why));
        }
        let is_name = |name: &str| !name.is_empty() && name != "." && name != "..";
        if !path.split('/').all(is_name) || path.contains('\0') {
            let why = "expected a path of names, without \"..\" and not from the root";
            return Err(refused(path, why));
        }
        if let Some((folder, _)) = path.rsplit_once('/')
            && self.kinds.get(folder) != Some(&EntryKind::Folder)
        {
            return Err(refused(path, "no folder that it lies in comes before it"));
        }
        if self.kinds.len() == MOST_ENTRIES {
            return Err(invalid(format!("it has more than {MOST_ENTRIES} entries")));
        }
        if self.kinds.insert(path.to_owned(), kind).is_some() {
            return Err(refused(path, "it is there twice"));
        }
        Ok(())
    }

    /// Makes the links, and then all of it read-only.
    fn finish(self) -> Result<(), UnpackError> {
        for (path, target) in &self.links {
            stays_inside(&self.links, path).map_err(|why| refused(path, why))?;
            symlink(target, self.into.join(path))?;
        }
        Ok(tree::make_read_only(self.into)?)
    }
}

/// A long path, which tar has in an entry of its own.
fn long<R: Read>(entry: &mut Entry<'_, R>) -> Result<String, UnpackError> {
    let mut bytes = Vec::new();
    let most = LONGEST_PATH as u64 + 1;
    entry
        .take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(unread)?;
    if bytes.pop() != Some(0) || bytes.len() > LONGEST_PATH {
        return Err(invalid(format!(
            "a path has more than {LONGEST_PATH} bytes"
        )));
    }
    utf8(bytes)
}

fn utf8(bytes: Vec<u8>) -> Result<String, UnpackError> {
    String::from_utf8(bytes).map_err(|_| invalid("a path is not UTF-8".to_owned()))
}

/// Hashes what is read.
struct HashingReader<R> {
    from: R,
    hash: Sha256,
    size: u64,
}

impl<R> HashingReader<R> {
    /// The hash of all that was read, and how many bytes that was.
    fn end(self) -> Result<(ArchiveHash, u64), UnpackError> {
        if self.size > MOST_BYTES {
            return Err(too_large());
        }
        let hash = ArchiveHash::new(self.hash.finalize().into());
        Ok((hash, self.size))
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(bytes)?;
        self.hash.update(&bytes[..read]);
        self.size += read as u64;
        if self.size > MOST_BYTES {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, TOO_LARGE));
        }
        Ok(read)
    }
}

const TOO_LARGE: &str = "it unpacks to more than 512 MiB";

fn too_large() -> UnpackError {
    invalid(TOO_LARGE.to_owned())
}

/// An error of a copy: what is read is the archive's fault, what is written is not.
fn of_copy(path: &str, error: io::Error) -> UnpackError {
    use io::ErrorKind as Of;
    match error.kind() {
        Of::StorageFull | Of::QuotaExceeded | Of::PermissionDenied => UnpackError::Io(error),
        Of::FileTooLarge => too_large(),
        _ => refused(path, &error.to_string()),
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is what map_err hands over"
)]
fn unread(error: io::Error) -> UnpackError {
    invalid(printable(&error.to_string()))
}

fn refused(path: &str, why: &str) -> UnpackError {
    invalid(format!("{}: {why}", printable(path)))
}

fn invalid(why: String) -> UnpackError {
    UnpackError::Invalid(why)
}
