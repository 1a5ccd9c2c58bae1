//! Packed bots whose containers somebody else has started, without the bots: each is handed over to
//! its host before its first game.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use parking_lot::Mutex;
use referee::{HandOverError, HostedBot};
use referee_bots::{BotAddress, archive::ArchiveHash};

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

/// A bot whose host waits for it.
struct WaitedFor<'a> {
    bot: LeasedBot,
    at: &'a BotAddress,
    hash: ArchiveHash,
}

impl BotPool {
    /// The bots of a chunk that have hosts which wait for them, each once.
    fn waited_for(&self, lease: &Lease) -> Vec<WaitedFor<'_>> {
        let state = self.hosts.state.lock();
        let mut names = BTreeSet::new();
        let bots = lease.bots.iter().filter_map(|bot| {
            let hash = *bot.entry.launcher().archive()?;
            let at = self.context().address(&bot.entry)?;
            let name = &bot.entry.name;
            let waits = !state.handed.contains(name) && names.insert(name);
            waits.then(|| WaitedFor {
                bot: bot.clone(),
                at,
                hash,
            })
        });
        bots.collect()
    }

    /// The archives of a chunk's bots that are to be handed over and are not here.
    pub(crate) fn missing_for_hosts(&self, lease: &Lease) -> Vec<ArchiveHash> {
        let waited_for = self.waited_for(lease);
        let mut state = self.hosts.state.lock();
        let missing: BTreeSet<ArchiveHash> = (waited_for.iter())
            .map(|one| one.hash)
            .filter(|hash| !state.here.contains_key(hash))
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
        let waited_for = self.waited_for(lease);
        for WaitedFor { bot, at, hash } in &waited_for {
            let (entry, address) = (&bot.entry, &at.address);
            let archive = self.hosts.state.lock().here.get(hash).cloned();
            let failed = |error| WorkError::Host {
                name: entry.name.clone(),
                error,
            };
            let archive = archive.ok_or_else(|| failed(HandOverError::absent(address)))?;
            let hosted = HostedBot {
                spec: entry.spec.clone(),
                archive,
            };
            let dial = self.context().dial_of(entry);
            let over = dial.hand_over(address, hosted, bot.options.start_limit);
            over.await.map_err(failed)?;
            tracing::info!(name = entry.name, archive = %hash.short(), "the bot was handed over");
            self.hosts.state.lock().handed.insert(entry.name.clone());
        }
        let mut state = self.hosts.state.lock();
        for WaitedFor { hash, .. } in waited_for {
            state.awaited.remove(&hash);
            state.here.remove(&hash);
        }
        Ok(())
    }
}
