//! The archives of bots: where they are unpacked on this machine, and how they get there.

use std::{sync::Arc, time::SystemTime};

use anyhow::Context as _;
use arena_store::{NewArchive, Store};
use arena_tournament::unix_ms;
use referee_bots::{
    Entry,
    archive::{ArchiveCache, ArchiveHash, Packed, UnpackedArchive},
};
use referee_cli::CacheArgs;
use referee_core::printable;

use crate::usage;

/// Time that an archive stays in the store that no bot names, in milliseconds: who registers a bot
/// adds its archive first.
const UNUSED: i64 = 60 * 60 * 1000;

/// Archives that are here, and stay as long as this does.
#[derive(Clone, Debug)]
pub(crate) struct Archives {
    pub(crate) cache: Arc<ArchiveCache>,
    _held: Vec<UnpackedArchive>,
}

impl Archives {
    /// Unpacks an archive that was just packed.
    pub(crate) fn unpack(
        cache: &CacheArgs,
        packed: &Packed,
    ) -> anyhow::Result<(Archives, UnpackedArchive)> {
        let cache = Arc::new(cache.open()?);
        let held = cache.insert(&packed.hash, &packed.bytes)?;
        let archives = Archives {
            cache,
            _held: vec![held.clone()],
        };
        Ok((archives, held))
    }

    /// Gets the archives of these bots out of the store. None if no bot is in one.
    pub(crate) async fn fetch<'e>(
        cache: &CacheArgs,
        store: &Store,
        bots: impl IntoIterator<Item = &'e Entry>,
    ) -> anyhow::Result<Option<Archives>> {
        let packed = bots.into_iter().filter_map(|bot| {
            let hash = bot.launcher().archive()?;
            Some((bot, *hash))
        });
        let packed: Vec<(&Entry, ArchiveHash)> = packed.collect();
        if packed.is_empty() {
            return Ok(None);
        }
        let cache = Arc::new(cache.open()?);
        let mut held = Vec::new();
        for (bot, hash) in packed {
            if let Some(archive) = cache.get(&hash)? {
                held.push(archive);
                continue;
            }
            let Some(bytes) = store.archive_bytes(&hash.to_string()).await? else {
                return usage(format!(
                    "{}: archive {} is not in {}; register it again with `arena bots add NAME \
                     --dir FOLDER`, from the same files",
                    bot.name,
                    hash.short(),
                    store.location()
                ));
            };
            let archive = cache.insert(&hash, &bytes);
            held.push(archive.with_context(|| format!("could not unpack {}", bot.name))?);
        }
        Ok(Some(Archives { cache, _held: held }))
    }
}

/// Puts an archive into the store.
pub(crate) async fn keep(store: &Store, packed: &Packed) -> anyhow::Result<()> {
    let new = NewArchive {
        hash: packed.hash.to_string(),
        size: packed.size,
        packed_by: who(),
        packed_unix_ms: unix_ms(SystemTime::now()),
    };
    store.add_archive(&new, &packed.bytes).await?;
    Ok(())
}

/// Removes from the store what no bot and no tournament names any more.
pub(crate) async fn remove_unused(store: &Store) -> anyhow::Result<()> {
    let now = unix_ms(SystemTime::now());
    store.remove_unused_archives(now - UNUSED).await?;
    Ok(())
}

/// The user who runs this, as user@host.
pub(crate) fn who() -> String {
    let of = |name: &str| std::env::var(name).ok().filter(|user| !user.is_empty());
    let user = of("USER").or_else(|| of("LOGNAME"));
    let user = user.unwrap_or_else(|| nix::unistd::Uid::effective().to_string());
    let host = nix::unistd::gethostname().map_or_else(
        |_| "localhost".to_owned(),
        |host| host.to_string_lossy().into_owned(),
    );
    let most = |text: String| text.chars().take(150).collect::<String>();
    printable(&format!("{}@{}", most(user), most(host)))
}

/// A number of bytes in words.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..10_240 => format!("{count} bytes"),
        10_240..10_485_760 => format!("{} KiB", count >> 10),
        _ => format!("{} MiB", count >> 20),
    }
}
