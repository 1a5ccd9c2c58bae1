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
pub struct RootProgress<T>(Mutex<Progress<T>>);

#[derive(Debug)]
struct Progress<T> {
    finished: usize,
    found: T,
    /// The best that one of them has found in the search under way, and its value.
    so_far: Option<(i32, T)>,
}

impl<T: Clone> RootProgress<T> {
    /// Nothing has been searched, and this is known.
    #[must_use]
    pub const fn new(known: T) -> Self {
        Self(Mutex::new(Progress {
            finished: 0,
            found: known,
            so_far: None,
        }))
    }

    /// Number of searches that one of them has finished, and the result of the last one.
    #[must_use]
    pub fn now(&self) -> (usize, T) {
        let now = self.0.lock();
        (now.finished, now.found.clone())
    }

    /// The search that began after so many has found this. Whether it was the first to finish; if not,
    /// nothing changes.
    pub fn finish(&self, before: usize, found: T) -> bool {
        let mut now = self.0.lock();
        let is_first = now.finished == before;
        if is_first {
            *now = Progress {
                finished: before + 1,
                found,
                so_far: None,
            };
        }
        is_first
    }

    /// The search that began after so many goes on, and has found this with this value.
    pub fn find(&self, before: usize, value: i32, found: T) {
        let mut now = self.0.lock();
        let is_better = now.so_far.as_ref().is_none_or(|best| value > best.0);
        if now.finished == before && is_better {
            now.so_far = Some((value, found));
        }
    }

    /// The best that one of them has found in the search that began after so many and goes on.
    #[must_use]
    pub fn so_far(&self, before: usize) -> Option<T> {
        let now = self.0.lock();
        let best = now.so_far.as_ref().filter(|_| now.finished == before);
        best.map(|(_, found)| found.clone())
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

    #[test]
    fn the_best_of_a_search_that_goes_on_is_known_to_all() {
        let progress = RootProgress::new("nothing");
        assert_eq!(progress.so_far(0), None);
        progress.find(0, 5, "good");
        progress.find(0, 4, "less good");
        progress.find(1, 9, "of another search");
        assert_eq!(progress.so_far(0), Some("good"));
        assert!(progress.finish(0, "one"));
        assert_eq!(progress.so_far(0), None);
        assert_eq!(progress.so_far(1), None);
    }
}
