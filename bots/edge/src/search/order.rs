//! The order in which moves are looked at.

use crate::{board::Discs, cpu::Cpu, square::Square};

/// No position has more moves.
const MOST: usize = 34;
const CORNERS: u64 = 0x8100_0000_0000_0081;

/// The moves of a position with what each seems to cost: cheap ones first.
pub(super) struct Moves {
    moves: [(u64, i32, u8); MOST],
    len: usize,
    next: usize,
}

impl Moves {
    #[inline(always)]
    pub(super) const fn new() -> Self {
        Self {
            moves: [(0, 0, 0); MOST],
            len: 0,
            next: 0,
        }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, square: Square, flips: u64, cost: i32) {
        if self.len < MOST {
            self.moves[self.len] = (flips, cost, square.index() as u8);
            self.len += 1;
        }
    }

    /// The cheapest move that is left and the discs that it turns.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<(Square, u64)> {
        let left = self.moves[..self.len.min(MOST)].get_mut(self.next..)?;
        let mut cheapest = 0;
        let mut least = left.first()?.1;
        for (at, &(_, cost, _)) in left.iter().enumerate().skip(1) {
            if cost < least {
                (cheapest, least) = (at, cost);
            }
        }
        left.swap(0, cheapest);
        self.next += 1;
        let (flips, _, square) = left[0];
        Some((Square::first_of(1 << (square & 63)), flips))
    }

    /// Leaves the move that was given last for later: it comes again after all others.
    pub(super) fn leave(&mut self) {
        self.next -= 1;
        self.moves[self.next].1 = LATER;
    }

    /// True if the move that was given last had been left for later.
    pub(super) const fn was_left(&self) -> bool {
        self.moves[self.next - 1].1 == LATER
    }
}

/// The cost of a move that is left for later.
const LATER: i32 = i32::MAX;

/// The cost of a move at the end of a game: mostly how many moves it leaves the other side, of
/// which corners count three times. `next` is the board after it, `odd` the squares of quarters
/// with an odd number of empty squares.
#[inline(always)]
pub(super) fn end_cost(cpu: impl Cpu, next: Discs, square: Square, odd: u64) -> i32 {
    let moves = cpu.moves(next.own, next.other);
    let mobility = moves.count_ones() + 2 * (moves & CORNERS).count_ones();
    let parity = i32::from(square.bit() & odd != 0);
    16 * mobility.cast_signed() - 8 * parity
}
