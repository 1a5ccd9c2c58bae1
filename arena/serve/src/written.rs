//! Files that are written for people.

use std::path::Path;

use arena_terminal::{OutputFile, report};
use referee_cli::End;

/// Writes a file and says so; one that is there is written over only with `force`.
pub(crate) fn write_new(path: &Path, bytes: &[u8], force: bool) -> anyhow::Result<End> {
    OutputFile::open(path, force)?.write_whole(bytes)?;
    report::note(&format!(
        "written: {} ({} KiB)",
        path.display(),
        bytes.len().div_ceil(1024)
    ));
    Ok(End::Done)
}
