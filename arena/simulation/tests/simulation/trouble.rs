//! Calls of the store that fail, and pass when they are tried again.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use arena_store::StoreError;

use crate::{
    chance::Chance,
    scenario::{FAULTS, StorageFaults},
    watch::Watch,
};

/// One call in so many fails.
const ONE_IN: u64 = 30;

/// What goes wrong with a store. All clones draw from the same source.
#[derive(Clone)]
pub(crate) struct Trouble {
    pub(crate) faults: StorageFaults,
    watch: Watch,
    chance: Arc<Mutex<Chance>>,
}

impl Trouble {
    pub(crate) fn new(faults: StorageFaults, watch: Watch, seed: u64) -> Self {
        Self {
            faults,
            watch,
            chance: Arc::new(Mutex::new(Chance::new(seed))),
        }
    }

    /// Fails now and then, where the store does.
    pub(crate) fn strike(&self, what: &'static str) -> Result<(), StoreError> {
        if !self.faults.fails || !self.is_now(ONE_IN) {
            return Ok(());
        }
        self.watch.tell("store", &format!("{what} fails"));
        self.watch.count("store failed");
        let full = io::Error::new(io::ErrorKind::StorageFull, "simulated: the disk is full");
        Err(StoreError::Io(Arc::new(full)))
    }

    /// Whether a claim is lost, as with a server that was restarted.
    pub(crate) fn loses_claim(&self) -> bool {
        self.faults.fails && self.is_now(ONE_IN)
    }

    /// Changes a byte now and then.
    pub(crate) fn spoil(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        if self.faults.spoils_archives
            && self.is_now(2)
            && let Some(byte) = bytes.last_mut()
        {
            *byte ^= 1;
            self.watch.tell("store", "a byte of the archive is wrong");
        }
        bytes
    }

    fn is_now(&self, one_in: u64) -> bool {
        let mut chance = self.chance.lock().unwrap_or_else(PoisonError::into_inner);
        chance.one_in(one_in) && self.watch.now() < FAULTS
    }
}
