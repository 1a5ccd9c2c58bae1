//! Calls and statements of the store that fail, and pass when they are tried again.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use arena_store::{FaultMoment, StatementFault, StatementFaults, StoreError};
use parking_lot::Mutex;

use crate::{
    chance::Chance,
    scenario::{FAULTS, StorageFaults},
    watch::Watch,
};

/// One call in so many fails.
const ONE_IN: u64 = 30;

/// The faults of a store. All clones draw from the same source.
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

    /// True if a claim is lost, as with a server that was restarted.
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
        let mut chance = self.chance.lock();
        chance.one_in(one_in) && self.watch.now() < FAULTS
    }
}

/// Which statements fail. Nobody else's do while people use the store.
pub(crate) fn statements(faults: StorageFaults, watch: Watch) -> Arc<StatementFaults> {
    let number = AtomicU64::new(0);
    Arc::new(move |sql| {
        // When a transaction is rolled back that was dropped, no seed decides.
        if watch.is_spared() || matches!(sql, "ROLLBACK" | "BEGIN") {
            return None;
        }
        let number = number.fetch_add(1, Ordering::Relaxed);
        watch.count("statement");
        let writes = !sql.starts_with("SELECT") && !sql.starts_with("BEGIN");
        let is_full = |(begin, end)| (begin..end).contains(&watch.now());
        let moment = match faults.statement {
            Some((failing, moment)) if failing == number => {
                watch.count("statement failed");
                moment
            }
            _ if writes && faults.full.is_some_and(is_full) => {
                watch.count("disk full");
                FaultMoment::Ends
            }
            _ => return None,
        };
        watch.tell("store", &format!("{moment:?} fails: {sql:.40}"));
        Some(StatementFault {
            moment,
            // What SQLite says when the disk is full.
            code: "13",
        })
    })
}
