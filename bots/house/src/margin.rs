//! The part of the time limit that an engine keeps so that its answer arrives in time: it learns
//! from what its answers were late by, and from how long its thread had to wait for a core.

use std::{fs, time::Duration};

/// The time kept for the way there and back before anything is known of it.
const FIRST: Duration = Duration::from_millis(50);
/// The least time that is kept.
const LEAST: Duration = Duration::from_millis(10);
/// The margin leaves this part of the time for the search, however late answers were.
const LEAST_PART: u32 = 8;
/// So many mean waits are kept: the search may wait at its end, the thread that writes the answer
/// waits again, and a wait may be twice as long as the mean.
const WAITS: u32 = 6;

/// The part of the limit that is kept.
pub(crate) struct Margin {
    kept: Duration,
}

/// The scheduling of a thread so far.
#[derive(Clone, Copy)]
pub(crate) struct Waited {
    /// The time that it was ready to run and had no core.
    waited: Duration,
    /// Number of times that it got one.
    slices: u64,
}

impl Margin {
    pub(crate) const fn new() -> Self {
        Self { kept: FIRST }
    }

    /// The time for a search where an answer may take so long.
    pub(crate) fn within(&self, limit: Duration) -> Duration {
        limit.saturating_sub(self.kept).max(limit / LEAST_PART)
    }

    /// A search took so much longer than it was allowed, and its thread waited so long for a core in the
    /// mean.
    pub(crate) fn learn(&mut self, late: Duration, wait: Duration) {
        let needed = (2 * late).max(LEAST + WAITS * wait);
        // It falls slowly: a machine that was busy is likely to be busy again.
        self.kept = needed.max(self.kept * 15 / 16);
    }
}

impl Waited {
    /// Of this thread, as Linux counts it; none where it can't be known.
    #[expect(clippy::disallowed_methods, reason = "the kernel tells it")]
    pub(crate) fn now() -> Option<Self> {
        Self::read(&fs::read_to_string("/proc/thread-self/schedstat").ok()?)
    }

    /// Nanoseconds on a core, nanoseconds of waiting for one, and how often it got one.
    fn read(text: &str) -> Option<Self> {
        let mut numbers = text.split_ascii_whitespace().skip(1).map(str::parse);
        Some(Self {
            waited: Duration::from_nanos(numbers.next()?.ok()?),
            slices: numbers.next()?.ok()?,
        })
    }

    /// The mean wait for a core since then.
    pub(crate) fn mean_since(self, began: Self) -> Duration {
        let slices = self.slices.saturating_sub(began.slices).max(1);
        let waited = self.waited.saturating_sub(began.waited);
        waited / u32::try_from(slices).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_follows_how_late_answers_were() {
        let second = Duration::from_secs(1);
        let mut margin = Margin::new();
        assert_eq!(margin.within(second), second - FIRST);
        margin.learn(Duration::from_millis(60), Duration::ZERO);
        assert_eq!(margin.within(second), Duration::from_millis(880));
        for _ in 0..80 {
            margin.learn(Duration::ZERO, Duration::ZERO);
        }
        assert_eq!(margin.within(second), second - LEAST);
        assert_eq!(margin.within(LEAST), LEAST / LEAST_PART);
    }

    #[test]
    fn the_margin_follows_the_waits_for_a_core() {
        let mut margin = Margin::new();
        for _ in 0..80 {
            margin.learn(Duration::ZERO, Duration::from_millis(4));
        }
        assert_eq!(margin.kept, Duration::from_millis(34));
    }

    #[test]
    fn what_linux_counts_is_read() {
        let began = Waited::read("5000000 1000000 7\n").unwrap();
        let ended = Waited::read("9000000 9000000 9\n").unwrap();
        assert_eq!(ended.mean_since(began), Duration::from_millis(4));
        assert!(Waited::read("").is_none());
        assert!(Waited::read("1 x 2").is_none());
    }
}
