//! The archive that some bots are in.

use std::sync::LazyLock;

use arena_store::NewArchive;
use referee_bots::archive::ArchiveHash;
use sha2::{Digest as _, Sha256};

use crate::chance::Chance;

/// More than two messages of the arena, so that a connection may break in the middle.
const BYTES: usize = 600_000;

/// Its bytes, and what it is called. Here the name is the hash of the packed bytes, since
/// nothing is packed.
static ARCHIVE: LazyLock<(Vec<u8>, ArchiveHash)> = LazyLock::new(|| {
    let mut chance = Chance::new(600);
    let bytes: Vec<u8> = (0..BYTES.div_ceil(32))
        .flat_map(|_| chance.bytes())
        .collect();
    let hash = hash(&bytes);
    (bytes, hash)
});

/// Its packed bytes.
pub(crate) fn bytes() -> &'static [u8] {
    &ARCHIVE.0
}

/// The SPEC of a bot in it.
pub(crate) fn spec(bot: &str) -> String {
    format!("packed:{}:exec:./{bot}", ARCHIVE.1)
}

/// Facts about it that the store gets.
pub(crate) fn new() -> NewArchive {
    NewArchive {
        hash: ARCHIVE.1.to_string(),
        size: bytes().len() as u64,
        packed_by: "somebody@simulated".to_owned(),
        packed_unix_ms: 0,
    }
}

/// Name of an archive with these bytes: their hash.
pub(crate) fn hash(bytes: &[u8]) -> ArchiveHash {
    ArchiveHash::new(Sha256::digest(bytes).into())
}
