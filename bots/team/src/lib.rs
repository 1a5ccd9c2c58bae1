//! The messages between threads that search the same position: how far they have come, and which
//! moves are being searched, so that the others look at something else first (T. Kerrigan,
//! "Simplified ABDADA", after J.-C. Weill, "The ABDADA distributed minimax-search algorithm", ICCA
//! Journal 19(1), 1996). The table of positions is all else that they share.

#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use parking_lot::Mutex;

/// Number of moves that can be marked; of two with the same place, the last one is.
const PLACES: usize = 1 << 12;

/// The threads of one search.
#[derive(Debug)]
pub struct Team {
    /// Number of searches at the root that one of them has finished.
    finished: AtomicUsize,
    /// By place, the mark of a move that is being searched.
    busy: Vec<AtomicU64>,
}

impl Default for Team {
    fn default() -> Self {
        Self::new()
    }
}

impl Team {
    /// Threads that have not begun.
    #[must_use]
    pub fn new() -> Self {
        Self {
            finished: AtomicUsize::new(0),
            busy: (0..PLACES).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// One of them has finished so many searches at the root.
    #[inline]
    pub fn announce(&self, finished: usize) {
        self.finished.fetch_max(finished, Relaxed);
    }

    /// Number of searches at the root that one of them has finished.
    #[inline]
    #[must_use]
    pub fn finished(&self) -> usize {
        self.finished.load(Relaxed)
    }

    #[inline]
    fn place(&self, mark: u64) -> &AtomicU64 {
        &self.busy[(mark >> 48) as usize & (PLACES - 1)]
    }

    /// True if the move with this mark is to be searched now, as all threads are told; not if it
    /// can wait and another thread searches it.
    #[inline]
    #[must_use]
    pub fn claims(&self, mark: u64, can_wait: bool) -> bool {
        let place = self.place(mark);
        if can_wait && place.load(Relaxed) == mark {
            return false;
        }
        place.store(mark, Relaxed);
        true
    }

    /// A move that a thread claimed has been searched.
    #[inline]
    pub fn releases(&self, mark: u64) {
        let place = self.place(mark);
        if place.load(Relaxed) == mark {
            place.store(0, Relaxed);
        }
    }
}

/// The progress of the threads of a search at the root.
#[derive(Debug)]
pub struct RootProgress<T>(Mutex<(usize, T)>);

impl<T: Clone> RootProgress<T> {
    /// Nothing has been searched, and this is known.
    #[must_use]
    pub const fn new(known: T) -> Self {
        Self(Mutex::new((0, known)))
    }

    /// Number of searches that one of them has finished, and the result of the last one.
    #[must_use]
    pub fn now(&self) -> (usize, T) {
        self.0.lock().clone()
    }

    /// The search that began after so many has found this. Whether it was the first to finish; if not,
    /// nothing changes.
    pub fn finish(&self, before: usize, found: T) -> bool {
        let mut now = self.0.lock();
        let is_first = now.0 == before;
        if is_first {
            *now = (before + 1, found);
        }
        is_first
    }
}

/// The mark of a move: the hash of the position after it and the depth of its search.
#[inline]
#[must_use]
pub fn mark(hash: u64, depth: u32) -> u64 {
    hash ^ u64::from(depth).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_that_is_searched_waits_until_it_was_searched_or_can_wait_no_longer() {
        let team = Team::new();
        let [one, deeper] = [mark(7 << 50, 5), mark(7 << 50, 6)];
        assert!(team.claims(one, true));
        assert!(!team.claims(one, true));
        assert!(team.claims(deeper, true), "another depth");
        assert!(team.claims(one, false));
        team.releases(one);
        assert!(team.claims(one, true));
        team.announce(3);
        team.announce(2);
        assert_eq!(team.finished(), 3);
    }

    #[test]
    fn only_the_first_to_finish_says_what_was_found() {
        let progress = RootProgress::new("nothing");
        assert!(progress.finish(0, "one"));
        assert!(!progress.finish(0, "late"));
        assert_eq!(progress.now(), (1, "one"));
        assert!(progress.finish(1, "two"));
        assert_eq!(progress.now(), (2, "two"));
    }
}
