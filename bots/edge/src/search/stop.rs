//! The end of a search before it is done.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Instant,
};

/// Number of nodes at most between two looks at the clock: some tenths of a millisecond.
const BATCH: u64 = 2048;

/// The conditions that end a search.
pub(crate) struct StopConditions<'a> {
    pub(crate) deadline: Option<Instant>,
    /// Of one thread.
    pub(crate) nodes: Option<u64>,
    /// Either ends it: that of the threads of the search, and that of who asked for it.
    pub(crate) flags: [&'a AtomicBool; 2],
}

impl StopConditions<'_> {
    pub(crate) fn is_due(&self, nodes: u64) -> bool {
        self.nodes.is_some_and(|limit| nodes >= limit)
            || self.flags.iter().any(|flag| flag.load(Relaxed))
            || self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline)
    }

    pub(crate) fn next_look(&self, nodes: u64) -> u64 {
        let next = nodes + BATCH;
        self.nodes
            .map_or(next, |limit| limit.clamp(nodes + 1, next))
    }
}
