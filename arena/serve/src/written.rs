//! Files that are written for people.

use std::path::Path;

use anyhow::Context as _;
use arena_terminal::report;
use referee_cli::{End, usage};

/// Writes a new file, and says so.
pub(crate) fn write_new(path: &Path, bytes: &[u8], force: bool) -> anyhow::Result<End> {
    if path.exists() && !force {
        return usage(format!(
            "{} is there already; give another name, or --force",
            path.display()
        ));
    }
    std::fs::write(path, bytes).with_context(|| format!("could not write {}", path.display()))?;
    report::note(&format!(
        "written: {} ({} KiB)",
        path.display(),
        bytes.len().div_ceil(1024)
    ));
    Ok(End::Done)
}
