//! What is handed in: a file as it is, or the sources in a folder as an archive.

use std::path::Path;

use arena_contest::LARGEST_UPLOAD;
use referee_bots::{archive::pack_sources, read_input};
use referee_core::printable;

use crate::{report, usage};

/// The bytes of an entry, and the name of their file.
pub(super) struct Upload {
    pub(super) file: String,
    pub(super) bytes: Vec<u8>,
}

impl Upload {
    /// Reads a file, or packs a folder. `token` is the file of a token, which is not packed.
    pub(super) fn read(path: &Path, token: Option<&Path>) -> anyhow::Result<Self> {
        if !path.is_dir() {
            let bytes = read_input(path, LARGEST_UPLOAD);
            let bytes = bytes.or_else(|error| usage(format!("{}: {error}", path.display())))?;
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            return Ok(Self {
                file: file.into_owned(),
                bytes,
            });
        }
        let packed = pack_sources(path, LARGEST_UPLOAD, token);
        let packed = packed.or_else(|error| usage(error.to_string()))?;
        if !packed.left_out.is_empty() {
            let without = printable(&packed.left_out.join(", "));
            report::note(&format!("left out of {}: {without}", path.display()));
        }
        // A path such as `.` has no name.
        let real = path.canonicalize()?;
        let name = real.file_name().unwrap_or_else(|| "bot".as_ref());
        Ok(Self {
            file: format!("{}.tar.gz", name.to_string_lossy()),
            bytes: packed.bytes,
        })
    }
}
