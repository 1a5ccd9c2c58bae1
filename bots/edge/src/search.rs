//! The search: principal variation search to a depth in plies, in `middle.rs`, and below a few
//! empty squares the solver of `end.rs` and `last.rs`.

mod cut;
mod end;
mod last;
mod middle;
mod order;
mod root;
mod stop;
mod team;

pub(crate) use cut::EXACT;
pub use cut::probe_depth;
pub(crate) use end::Ends;
pub(crate) use root::{RootMove, SearchDepth};
pub(crate) use stop::StopConditions;

use last::Parity;
use search_team::Team;

use crate::{
    board::Discs,
    cpu::Cpu,
    idea::OthelloIdea,
    table::{BoundsTable, MAX},
    weights::PatternWeights,
};

/// Worse than any value.
const WORST: i32 = -MAX - 1;

/// The search of one thread.
pub(crate) struct ThreadSearch<'a, C: Cpu> {
    cpu: C,
    weights: &'a PatternWeights,
    table: &'a BoundsTable,
    ends: &'a mut Ends,
    stop: &'a StopConditions<'a>,
    /// The threads that search with it, if any.
    team: Option<&'a Team>,
    /// The idea that it does without.
    without: Option<OthelloIdea>,
    /// Number of lines that had been searched when this one began.
    line: usize,
    /// Positions that were looked at.
    nodes: u64,
    /// At how many nodes to look next whether to stop.
    next_look: u64,
    /// True if it stops: values that were being worked out mean nothing.
    stopped: bool,
    /// The level of selectivity, by which lines are cut; [`EXACT`] cuts none.
    selectivity: u8,
    /// Number of shallow searches under way to decide about cuts.
    cuts: u32,
}

impl<'a, C: Cpu> ThreadSearch<'a, C> {
    pub(crate) fn new(
        cpu: C,
        weights: &'a PatternWeights,
        table: &'a BoundsTable,
        ends: &'a mut Ends,
        stop: &'a StopConditions<'a>,
        team: Option<&'a Team>,
        without: Option<OthelloIdea>,
    ) -> Self {
        Self {
            cpu,
            weights,
            table,
            ends,
            stop,
            team,
            without,
            line: 0,
            nodes: 0,
            next_look: 0,
            stopped: false,
            selectivity: EXACT,
            cuts: 0,
        }
    }

    pub(crate) const fn nodes(&self) -> u64 {
        self.nodes
    }

    /// The search at the root of the line with this number begins.
    pub(crate) fn begin(&mut self, line: usize) {
        self.line = line;
        self.stopped = false;
    }

    /// Tells the other threads that so many lines have been searched.
    pub(crate) fn announce(&self, finished: usize) {
        if let Some(team) = self.team {
            team.announce(finished);
        }
    }

    /// True if another thread has finished the line.
    pub(crate) fn is_behind(&self) -> bool {
        self.team.is_some_and(|team| team.finished() > self.line)
    }

    #[inline(always)]
    fn is_without(&self, idea: OthelloIdea) -> bool {
        self.without == Some(idea)
    }

    /// The quarters that have an odd number of these empty squares.
    #[inline(always)]
    fn parity(&self, empty: u64) -> Parity {
        if self.is_without(OthelloIdea::Parity) {
            Parity::UNKNOWN
        } else {
            Parity::of(empty)
        }
    }

    /// An upper bound of the value from the other side's stable discs, where they may be enough
    /// to show that it is not above alpha.
    #[inline(always)]
    fn stability_bound(&self, board: Discs, alpha: i32, empties: u32) -> Option<i32> {
        // With more empty squares a bound this low is rarer, and the look at it was for nothing.
        if alpha < 2 * empties as i32 - 4 || self.is_without(OthelloIdea::Stability) {
            return None;
        }
        let stable = crate::stability::stable(board.other, board.own);
        let bound = MAX - 2 * stable.count_ones() as i32;
        (bound <= alpha).then_some(bound)
    }

    /// Counts a node; whether the search goes on.
    #[inline(always)]
    fn enter(&mut self) -> bool {
        self.nodes += 1;
        if self.nodes >= self.next_look {
            self.look();
        }
        !self.stopped
    }

    #[cold]
    #[inline(never)]
    fn look(&mut self) {
        self.stopped |= self.stop.is_due(self.nodes) || self.is_behind();
        self.next_look = self.stop.next_look(self.nodes);
    }
}

/// Computes the tables that searches use, so that the first one does not wait for them.
pub(crate) fn prepare() {
    cut::prepare();
    crate::stability::prepare();
}
