//! What threads that search the same position tell each other: how far they have come, and which
//! moves are being searched, so that the others look at something else first (T. Kerrigan,
//! "Simplified ABDADA", after J.-C. Weill, "The ABDADA distributed minimax-search algorithm",
//! ICCA Journal 19(1), 1996). The table of positions is all else that they share.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use super::Search;
use crate::{board::Board, cpu::Cpu, table::hash_of};

/// Searches of this depth and deeper leave moves that another thread searches for later.
const TEAM_DEPTH: u32 = 5;
/// How many moves can be marked; of two with the same place, the last one is.
const PLACES: usize = 1 << 12;

/// The threads of one search.
pub(crate) struct Team {
    /// How many searches at the root one of them has finished.
    pub(super) finished: AtomicUsize,
    /// By place, the mark of a move that is being searched.
    busy: Vec<AtomicU64>,
}

impl Team {
    pub(crate) fn new() -> Self {
        Self {
            finished: AtomicUsize::new(0),
            busy: (0..PLACES).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    fn place(&self, mark: u64) -> &AtomicU64 {
        &self.busy[(mark >> 48) as usize & (PLACES - 1)]
    }
}

impl<C: Cpu> Search<'_, C> {
    /// Whether to search the move that leads to this position now, as all threads are told; not
    /// if it can wait and another thread searches it.
    #[inline(always)]
    pub(super) fn claims(&self, next: Board, depth: u32, can_wait: bool) -> bool {
        let Some(team) = self.team.filter(|_| depth >= TEAM_DEPTH) else {
            return true;
        };
        let mark = mark(next, depth);
        let place = team.place(mark);
        if can_wait && place.load(Relaxed) == mark {
            return false;
        }
        place.store(mark, Relaxed);
        true
    }

    /// A move that it claimed has been searched.
    #[inline(always)]
    pub(super) fn releases(&self, next: Board, depth: u32) {
        if let Some(team) = self.team.filter(|_| depth >= TEAM_DEPTH) {
            let mark = mark(next, depth);
            let place = team.place(mark);
            if place.load(Relaxed) == mark {
                place.store(0, Relaxed);
            }
        }
    }
}

/// What a move is marked by: the board after it and the depth of its search.
fn mark(next: Board, depth: u32) -> u64 {
    hash_of(next) ^ u64::from(depth).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
