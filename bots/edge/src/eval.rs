//! The value of a position without a search: the sum of the weights of what its features show and
//! of how many moves either side has.

use crate::{
    board::Discs,
    cpu::Cpu,
    pattern::Features,
    weights::{DISC, MOVES, PatternWeights},
};

/// No evaluation is better than this, in discs: a won game may be.
pub(crate) const BEST_GUESS: i32 = 63;

/// A board with its features.
#[derive(Clone, Copy)]
pub(crate) struct FeaturedBoard {
    pub(crate) board: Discs,
    pub(crate) features: Features,
}

impl FeaturedBoard {
    pub(crate) fn new(board: Discs) -> Self {
        Self {
            board,
            features: Features::of(board),
        }
    }

    /// After this move, which turns these discs, as the other side sees it.
    #[inline(always)]
    pub(crate) fn after(&self, square: usize, flips: u64) -> Self {
        Self {
            board: self.board.after(1 << square, flips),
            features: self.features.after(square, flips),
        }
    }

    #[inline(always)]
    pub(crate) fn passed(&self) -> Self {
        Self {
            board: self.board.pass(),
            features: self.features.passed(),
        }
    }

    /// In units of 1/[`DISC`] of a disc, for the side to move.
    #[inline(always)]
    pub(crate) fn fine_value(&self, cpu: impl Cpu, weights: &PatternWeights) -> i32 {
        let Discs { own, other } = self.board;
        let empties = self.board.empties();
        let stage = weights.stage(empties);
        let own_moves = cpu.moves(own, other).count_ones() as usize;
        let other_moves = cpu.moves(other, own).count_ones() as usize;
        let mut value = i32::from(stage.empties[PatternWeights::within_stage(empties)])
            + i32::from(stage.own_moves[own_moves.min(MOVES - 1)])
            + i32::from(stage.other_moves[other_moves.min(MOVES - 1)]);
        for number in self.features.numbers() {
            value += stage.pattern(number);
        }
        value
    }

    /// In discs, for the side to move.
    #[inline(always)]
    pub(crate) fn value(&self, cpu: impl Cpu, weights: &PatternWeights) -> i32 {
        let fine = self.fine_value(cpu, weights);
        ((fine + DISC / 2) >> DISC.trailing_zeros()).clamp(-BEST_GUESS, BEST_GUESS)
    }
}
