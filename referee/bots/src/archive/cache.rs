//! The archives that a machine has unpacked, in one folder that several processes may use.
//!
//! Each archive has a folder there that is called like its hash. In it are `files`, the bot's
//! folder; `listing`, what lies in that; `size`; `used`, whose time says when it was used last;
//! and `lock`, which whoever uses it holds. A folder whose name begins with `partial` is not
//! ready, or on its way out. Whoever changes the list of folders holds `lock` in the cache's own.

use std::{
    fs::{self, File, TryLockError},
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use super::{ArchiveHash, UnpackError, listing::Listing, tree, unpack_archive};
use crate::{read_input, read_input_text};

const PARTIAL: &str = "partial-";
const FILES: &str = "files";
const LISTING: &str = "listing";
const SIZE: &str = "size";
const USED: &str = "used";
const LOCK: &str = "lock";

/// The most bytes of a listing: each entry has its path and a few numbers.
const LONGEST_LISTING: u64 = (super::MOST_ENTRIES * (4 * super::LONGEST_PATH + 256)) as u64;
/// The most bytes of a size.
const LONGEST_SIZE: u64 = 32;

/// A folder with unpacked archives. Those that were used last are kept, up to a limit.
#[derive(Debug)]
pub struct ArchiveCache {
    folder: PathBuf,
    limit: u64,
}

/// An unpacked archive that stays as long as this does.
#[derive(Clone, Debug)]
pub struct UnpackedArchive(Arc<HeldArchive>);

#[derive(Debug)]
struct HeldArchive {
    hash: ArchiveHash,
    files: PathBuf,
    /// A lock that others may have too. Who wants to remove the archive needs it alone.
    _lock: File,
}

/// Reason why an archive can't be kept or found.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The bytes that were to be kept are not that archive.
    #[error(transparent)]
    Unpack(#[from] UnpackError),
    /// Somebody has changed the files of an archive while bots play with them.
    #[error(
        "the files of archive {0} were changed while bots play with them; stop those, and they \
         are unpacked again"
    )]
    Changed(ArchiveHash),
    /// The folder fails.
    #[error("could not use the folder of archives {}: {error}", folder.display())]
    Io {
        /// The folder.
        folder: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

impl ArchiveCache {
    /// The cache in this folder, which is made where there is none. It holds so many bytes
    /// of unpacked archives, or more where that many are in use. What a process has left half
    /// done that was killed is removed.
    ///
    /// # Errors
    ///
    /// The folder can't be made or read.
    pub fn open(folder: &Path, limit: u64) -> Result<Self, CacheError> {
        let opened = || {
            let mut builder = fs::DirBuilder::new();
            builder.recursive(true).mode(0o700).create(folder)?;
            let cache = Self {
                folder: folder.canonicalize()?,
                limit,
            };
            let _lock = cache.lock()?;
            cache.remove_partial()?;
            Ok(cache)
        };
        opened().map_err(|error| CacheError::Io {
            folder: folder.to_owned(),
            error,
        })
    }

    /// Path of the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// An archive that is here. One whose files somebody has changed is removed, and is not
    /// here.
    ///
    /// # Errors
    ///
    /// Its files were changed while others use them; the folder fails.
    pub fn get(&self, hash: &ArchiveHash) -> Result<Option<UnpackedArchive>, CacheError> {
        let lock = self.lock().map_err(|error| self.failed(error))?;
        self.get_locked(hash, &lock)
    }

    /// Those of these archives that are not here, each once.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn missing(
        &self,
        hashes: impl IntoIterator<Item = ArchiveHash>,
    ) -> Result<Vec<ArchiveHash>, CacheError> {
        let mut missing = Vec::new();
        for hash in hashes {
            if !missing.contains(&hash) && self.get(&hash)?.is_none() {
                missing.push(hash);
            }
        }
        Ok(missing)
    }

    /// Unpacks an archive, unless it is here. Then those that were used least lately go, until
    /// the limit holds.
    ///
    /// # Errors
    ///
    /// [`CacheError::Unpack`]: the bytes are not this archive. The folder fails.
    pub fn insert(&self, hash: &ArchiveHash, bytes: &[u8]) -> Result<UnpackedArchive, CacheError> {
        if let Some(held) = self.get(hash)? {
            return Ok(held);
        }
        let failed = |error| self.failed(error);
        let partial = self.partial().map_err(failed)?;
        let size = unpack_archive(bytes, hash, &partial.folder.join(FILES))?;
        partial.describe(size).map_err(failed)?;
        let lock = self.lock().map_err(failed)?;
        // Another process may have been quicker.
        if let Some(held) = self.get_locked(hash, &lock)? {
            return Ok(held);
        }
        let place = self.folder.join(hash.to_string());
        // A lock goes with its file: who gets the archive now takes it.
        partial.lock.unlock().map_err(failed)?;
        fs::rename(&partial.folder, place).map_err(failed)?;
        let Some(held) = self.get_locked(hash, &lock)? else {
            return Err(failed(io::Error::other("an archive vanished")));
        };
        self.evict().map_err(failed)?;
        Ok(held)
    }

    /// Holds the list of archives still, also for other processes.
    fn lock(&self) -> io::Result<File> {
        let file = File::create(self.folder.join(LOCK))?;
        file.lock()?;
        Ok(file)
    }

    fn get_locked(
        &self,
        hash: &ArchiveHash,
        _lock: &File,
    ) -> Result<Option<UnpackedArchive>, CacheError> {
        let place = self.folder.join(hash.to_string());
        if !place.exists() {
            return Ok(None);
        }
        let failed = |error| self.failed(error);
        let lock = File::create(place.join(LOCK)).map_err(failed)?;
        if !is_whole(&place) {
            return match lock.try_lock() {
                Ok(()) => {
                    self.discard(&place).map_err(failed)?;
                    Ok(None)
                }
                Err(TryLockError::WouldBlock) => Err(CacheError::Changed(*hash)),
                Err(TryLockError::Error(error)) => Err(failed(error)),
            };
        }
        lock.lock_shared().map_err(failed)?;
        let used = File::create(place.join(USED));
        used.and_then(|file| file.set_modified(SystemTime::now()))
            .map_err(failed)?;
        Ok(Some(UnpackedArchive(Arc::new(HeldArchive {
            hash: *hash,
            files: place.join(FILES),
            _lock: lock,
        }))))
    }

    /// A folder for what is being unpacked.
    fn partial(&self) -> io::Result<Partial> {
        let _lock = self.lock()?;
        let folder = tempfile::Builder::new()
            .prefix(PARTIAL)
            .tempdir_in(&self.folder)?
            .keep();
        let lock = File::create(folder.join(LOCK))?;
        lock.lock()?;
        Ok(Partial { folder, lock })
    }

    /// Removes what nobody unpacks or removes any more.
    fn remove_partial(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if !entry.file_name().to_string_lossy().starts_with(PARTIAL) {
                continue;
            }
            // Who makes one holds our lock until it has this one. Who gives one up removes it
            // without our lock, and this one may go first: then both of us remove it.
            let lock = File::options().write(true).open(entry.path().join(LOCK));
            let is_left = lock.is_err() || lock.is_ok_and(|lock| lock.try_lock().is_ok());
            if is_left {
                tree::remove(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Removes archives that nobody uses until the limit holds.
    fn evict(&self) -> io::Result<()> {
        let mut archives = Vec::new();
        let mut total: u64 = 0;
        for entry in fs::read_dir(&self.folder)? {
            let place = entry?.path();
            let name = place.file_name().and_then(|name| name.to_str());
            if name.is_none_or(|name| name.parse::<ArchiveHash>().is_err()) {
                continue;
            }
            let size = read_input_text(&place.join(SIZE), LONGEST_SIZE).ok();
            let size: u64 = size.and_then(|size| size.parse().ok()).unwrap_or(0);
            let used = fs::metadata(place.join(USED)).and_then(|data| data.modified());
            archives.push((used.unwrap_or(SystemTime::UNIX_EPOCH), place, size));
            total += size;
        }
        archives.sort();
        for (_, place, size) in archives {
            if total <= self.limit {
                break;
            }
            let lock = File::create(place.join(LOCK))?;
            if lock.try_lock().is_ok() {
                self.discard(&place)?;
                total -= size;
            }
        }
        Ok(())
    }

    /// Removes an archive that nobody uses; if we are killed, the next one goes on with it.
    fn discard(&self, place: &Path) -> io::Result<()> {
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        let leaving = self.folder.join(format!("{PARTIAL}{name}"));
        tree::remove(&leaving)?;
        fs::rename(place, &leaving)?;
        tree::remove(&leaving)
    }

    fn failed(&self, error: io::Error) -> CacheError {
        CacheError::Io {
            folder: self.folder.clone(),
            error,
        }
    }
}

impl UnpackedArchive {
    /// Its name.
    #[must_use]
    pub fn hash(&self) -> &ArchiveHash {
        &self.0.hash
    }

    /// The folder that it is unpacked in, which is read-only.
    #[must_use]
    pub fn files(&self) -> &Path {
        &self.0.files
    }
}

/// An archive that is being unpacked. It goes unless it is renamed.
struct Partial {
    folder: PathBuf,
    lock: File,
}

impl Partial {
    /// Writes beside the files what they are.
    fn describe(&self, size: u64) -> io::Result<()> {
        let listing = Listing::of(&self.folder.join(FILES))?;
        fs::write(self.folder.join(LISTING), listing.to_json()?)?;
        fs::write(self.folder.join(SIZE), size.to_string())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // What is left goes when the cache is opened the next time.
        let _ = tree::remove(&self.folder);
    }
}

/// True if its files are those that were unpacked.
fn is_whole(place: &Path) -> bool {
    let listing = read_input(&place.join(LISTING), LONGEST_LISTING);
    let listing = listing.and_then(|text| Listing::from_json(&text));
    match (listing, Listing::of(&place.join(FILES))) {
        (Ok(listing), Ok(there)) => listing == there,
        _ => false,
    }
}
