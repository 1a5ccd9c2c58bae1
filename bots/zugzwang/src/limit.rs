//! The limits of a search.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

/// The limits of a search, which ends at the first of them. Without one it goes on until the game
/// is decided.
#[derive(Default)]
pub struct Limit<'a> {
    pub(crate) nodes: Option<u64>,
    pub(crate) depth: Option<u8>,
    pub(crate) time: Option<(Duration, Box<dyn Fn() -> Duration + 'a>)>,
    pub(crate) stop: Option<&'a AtomicBool>,
}

impl<'a> Limit<'a> {
    /// After so many positions, never one more; four positions of the search for forced wins
    /// count as one. The same search then gives the same answer.
    #[must_use]
    pub fn nodes(nodes: u64) -> Self {
        Self {
            nodes: Some(nodes),
            ..Self::default()
        }
    }

    /// After so many plies of depth.
    #[must_use]
    pub fn depth(plies: u8) -> Self {
        Self {
            depth: Some(plies),
            ..Self::default()
        }
    }

    /// A limit of time: the search ends when this much has passed from now.
    #[must_use]
    pub fn time(time: Duration) -> Self {
        let begin = Instant::now();
        Self::clock(time, move || begin.elapsed())
    }

    /// A limit by a clock: the search ends when it shows so much. It is asked every few hundred
    /// positions, some 0.2 ms.
    #[must_use]
    pub fn clock(end: Duration, clock: impl Fn() -> Duration + 'a) -> Self {
        Self {
            time: Some((end, Box::new(clock))),
            ..Self::default()
        }
    }

    /// A limit by a flag: the search ends when another thread sets it. It is looked at as often as
    /// a clock.
    #[must_use]
    pub fn flag(stop: &'a AtomicBool) -> Self {
        Self {
            stop: Some(stop),
            ..Self::default()
        }
    }

    /// And after so many positions.
    #[must_use]
    pub const fn and_nodes(mut self, nodes: u64) -> Self {
        self.nodes = Some(nodes);
        self
    }

    /// The most positions that may be looked at.
    pub(crate) fn most_nodes(&self) -> u64 {
        self.nodes.unwrap_or(u64::MAX)
    }

    /// True if its clock or its flag says to stop.
    pub(crate) fn is_out_of_time(&self) -> bool {
        (self.time.as_ref()).is_some_and(|(end, clock)| clock() >= *end)
            || self.stop.is_some_and(|stop| stop.load(Relaxed))
    }
}
