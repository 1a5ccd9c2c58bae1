//! Packed bots whose containers somebody else has started, without the bots: each is handed over to
//! its host before its first game.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use parking_lot::Mutex;
use referee::{HandOverError, HostedBot};
use referee_bots::archive::ArchiveHash;

use crate::{
    BotPool, WorkError,
    lease::{Lease, LeasedBot},
};

/// The hosts of a worker.
#[derive(Default)]
pub(crate) struct Hosts {
    state: Mutex<HostsState>,
    /// Held while bots are handed over.
    handing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct HostsState {
    /// The archives that were asked for and have not been handed over.
    awaited: BTreeSet<ArchiveHash>,
    /// Those of them that have come.
    here: BTreeMap<ArchiveHash, Bytes>,
    /// The names of the bots that have been handed over.
    handed: BTreeSet<String>,
}

impl BotPool {
    /// The bots of a chunk that have hosts which wait for them, with their archives.
    fn waiting(&self, lease: &Lease) -> Vec<(LeasedBot, ArchiveHash)> {
        let state = self.hosts.state.lock();
        let bots = lease.bots.iter().filter_map(|bot| {
            let archive = *bot.entry.launcher().archive()?;
            self.context().address(&bot.entry)?;
            (!state.handed.contains(&bot.entry.name)).then(|| (bot.clone(), archive))
        });
        bots.collect()
    }

    /// The archives of a chunk's bots that are to be handed over and are not here.
    pub(crate) fn missing_for_hosts(&self, lease: &Lease) -> Vec<ArchiveHash> {
        let waiting = self.waiting(lease);
        let mut state = self.hosts.state.lock();
        let missing: BTreeSet<ArchiveHash> = (waiting.into_iter())
            .map(|(_, archive)| archive)
            .filter(|archive| !state.here.contains_key(archive))
            .collect();
        state.awaited.extend(&missing);
        missing.into_iter().collect()
    }

    /// Keeps an archive that is to be handed over; gives it back where it is not.
    pub(crate) fn keep_for_hosts(&self, hash: ArchiveHash, packed: Vec<u8>) -> Option<Vec<u8>> {
        let mut state = self.hosts.state.lock();
        if !state.awaited.contains(&hash) {
            return Some(packed);
        }
        state.here.insert(hash, packed.into());
        None
    }

    /// Hands the bots of a chunk over to their hosts, as far as they have not been, and waits for
    /// each as long as it may take to start.
    pub(crate) async fn hand_over_to_hosts(&self, lease: &Lease) -> Result<(), WorkError> {
        let _one_at_a_time = self.hosts.handing.lock().await;
        let waiting = self.waiting(lease);
        for (bot, hash) in &waiting {
            let (entry, context) = (&bot.entry, self.context());
            if self.hosts.state.lock().handed.contains(&entry.name) {
                // It is in this chunk twice.
                continue;
            }
            let Some(at) = context.address(entry) else {
                continue;
            };
            let archive = self.hosts.state.lock().here.get(hash).cloned();
            let failed = |error| WorkError::Host {
                name: entry.name.clone(),
                error,
            };
            let archive = archive.ok_or_else(|| failed(HandOverError::absent(&at.address)))?;
            let hosted = HostedBot {
                spec: entry.spec.clone(),
                archive,
            };
            let dial = context.dial_of(entry);
            let over = dial.hand_over(&at.address, hosted, bot.options.start_limit);
            over.await.map_err(failed)?;
            tracing::info!(name = entry.name, archive = %hash.short(), "the bot was handed over");
            self.hosts.state.lock().handed.insert(entry.name.clone());
        }
        let mut state = self.hosts.state.lock();
        for (_, hash) in waiting {
            state.awaited.remove(&hash);
            state.here.remove(&hash);
        }
        Ok(())
    }
}
