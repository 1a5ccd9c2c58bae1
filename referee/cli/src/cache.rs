//! The folder where archives of bots are unpacked.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use etcetera::BaseStrategy as _;
use referee_bots::archive::ArchiveCache;

use crate::usage;

/// Where archives are unpacked.
#[derive(Args, Clone, Debug)]
pub struct CacheArgs {
    /// Where archives of bots are unpacked [default: bot-arena/archives in your folder of
    /// caches, as in ~/.cache].
    #[arg(long = "cache", env = "ARENA_CACHE", value_name = "DIR")]
    folder: Option<PathBuf>,
    /// How much space unpacked archives may take, in MiB. Those that were used least lately
    /// are removed.
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = 4096,
        value_parser = clap::value_parser!(u64).range(1..=1 << 24)
    )]
    cache_limit: u64,
}

impl CacheArgs {
    /// True if a folder was named.
    #[must_use]
    pub const fn is_named(&self) -> bool {
        self.folder.is_some()
    }

    /// Opens the folder, and makes it where there is none.
    ///
    /// # Errors
    ///
    /// The folder can't be used.
    pub fn open(&self) -> anyhow::Result<ArchiveCache> {
        let folder = match &self.folder {
            Some(folder) => folder.clone(),
            None => etcetera::choose_base_strategy()
                .context("could not find your folder of caches; --cache DIR names another")?
                .cache_dir()
                .join("bot-arena/archives"),
        };
        ArchiveCache::open(&folder, self.cache_limit << 20)
            .or_else(|error| usage(format!("--cache: {error}")))
    }
}
