//! Bots that travel: a bot's folder as one archive with a name that follows from its content,
//! and the folder in which a machine keeps those that it plays with.
//!
//! An archive is a tar file, packed with zstd. The same folder gives the same tar file on every
//! machine, so the SHA-256 of that file names the bot's files.

mod cache;
mod hash;
mod links;
mod listing;
mod pack;
mod tree;
mod unpack;

pub use cache::{ArchiveCache, CacheError, UnpackedArchive};
pub use hash::{ArchiveHash, ArchiveHashError};
pub use pack::{LEFT_OUT, PackError, Packed, PackedSources, pack_file, pack_folder, pack_sources};
pub use unpack::{UnpackError, hash_archive, unpack_archive};

/// The most files, folders and links in an archive. A bot with an environment of its own has
/// thousands; more of them is a folder that was not meant.
pub const MOST_ENTRIES: usize = 20_000;

/// The most bytes of the tar file. The largest bots are networks with their weights; this much
/// fits into the memory of any machine that plays.
pub const MOST_BYTES: u64 = 512 << 20;

/// The most bytes of the packed archive, which lies in the store and goes over the network.
pub const MOST_PACKED_BYTES: u64 = 128 << 20;

/// The longest path in an archive, in bytes. Linux allows 4096 with the folder that it is
/// unpacked in.
pub const LONGEST_PATH: usize = 1024;
