//! The division of a search's moves among several threads, if there are any.

use search_team::mark;

use super::ThreadSearch;
use crate::{board::Discs, cpu::Cpu, table::hash_of};

/// Searches of this depth and deeper leave moves that another thread searches for later.
const TEAM_DEPTH: u32 = 5;

impl<C: Cpu> ThreadSearch<'_, C> {
    /// True if the move that leads to this position is to be searched now; not if it can wait and
    /// another thread searches it.
    #[inline(always)]
    pub(super) fn claims(&self, next: Discs, depth: u32, can_wait: bool) -> bool {
        let Some(team) = self.team.filter(|_| depth >= TEAM_DEPTH) else {
            return true;
        };
        team.claims(mark(hash_of(next), depth), can_wait)
    }

    /// A move that it claimed has been searched.
    #[inline(always)]
    pub(super) fn releases(&self, next: Discs, depth: u32) {
        if let Some(team) = self.team.filter(|_| depth >= TEAM_DEPTH) {
            team.releases(mark(hash_of(next), depth));
        }
    }
}
