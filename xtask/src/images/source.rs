//! The commit that images are built of.

use std::env;

use crate::shell::{Result, capture, command};

/// The commit and its time.
pub(super) struct Source {
    /// Its hash; with `-dirty` where files differ from it.
    pub(super) revision: String,
    /// The time of the commit, in seconds since 1970: the time of all files in images.
    pub(super) epoch: u64,
}

impl Source {
    /// The commit that is checked out. `SOURCE_DATE_EPOCH` sets another time.
    ///
    /// # Errors
    /// This is not a clone, or the time is not a number.
    pub(super) fn read() -> Result<Self> {
        let git = |words: &str| capture(command("git").args(words.split(' ')));
        let mut revision = git("rev-parse HEAD")?.trim().to_owned();
        if !git("status --porcelain")?.is_empty() {
            revision.push_str("-dirty");
        }
        let epoch = match env::var("SOURCE_DATE_EPOCH") {
            Ok(epoch) => epoch,
            Err(_) => git("log -1 --format=%ct")?,
        };
        let epoch = epoch.trim();
        let epoch = epoch
            .parse()
            .map_err(|_| format!("SOURCE_DATE_EPOCH: expected seconds, got `{epoch}`"))?;
        Ok(Self { revision, epoch })
    }
}
