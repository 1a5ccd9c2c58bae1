//! The last squares of a game: up to six, without a table and almost without ordering.
//!
//! All that is ordered is parity: a square in a region with an odd number of empty squares
//! goes first, since who plays there also plays last there. Regions are the quarters of the
//! board.

use super::{ThreadSearch, WORST};
use crate::{
    board::Discs,
    cpu::Cpu,
    square::{Square, Squares},
};

/// The bit of each square's quarter.
const QUARTERS: [u8; 64] = {
    let mut quarters = [0; 64];
    let mut square = 0;
    while square < 64 {
        quarters[square] = 1 << (square / 32 * 2 + square % 8 / 4);
        square += 1;
    }
    quarters
};
/// The squares of the quarters in a set; none in the sets from 16 on, of [`Parity::UNKNOWN`].
const ODD: [u64; 32] = {
    let mut odd = [0; 32];
    let mut set = 0;
    while set < 16 {
        let mut square = 0;
        while square < 64 {
            if set & QUARTERS[square] as usize != 0 {
                odd[set] |= 1 << square;
            }
            square += 1;
        }
        set += 1;
    }
    odd
};
/// The squares beside each one, where a run can begin.
const NEIGHBOURS: [u64; 64] = {
    let mut neighbours = [0; 64];
    let mut square = 0;
    while square < 64 {
        let bit = 1u64 << square;
        let sides = (bit & 0x7f7f_7f7f_7f7f_7f7f) << 1 | (bit & 0xfefe_fefe_fefe_fefe) >> 1;
        let rows = sides | bit;
        neighbours[square] = sides | rows << 8 | rows >> 8;
        square += 1;
    }
    neighbours
};

/// The quarters that have an odd number of empty squares.
#[derive(Clone, Copy)]
pub(super) struct Parity(u8);

impl Parity {
    /// No quarter has, whatever is played.
    pub(super) const UNKNOWN: Self = Self(16);

    #[inline(always)]
    pub(super) fn of(empty: u64) -> Self {
        let mut parity = 0;
        for (quarter, odd) in (0..4).zip([ODD[1], ODD[2], ODD[4], ODD[8]]) {
            parity |= ((empty & odd).count_ones() as u8 & 1) << quarter;
        }
        Self(parity)
    }

    /// The squares of odd quarters.
    #[inline(always)]
    pub(super) const fn odd(self) -> u64 {
        ODD[self.0 as usize & 31]
    }

    #[inline(always)]
    pub(super) const fn after(self, square: usize) -> Self {
        Self(self.0 ^ QUARTERS[square & 63])
    }
}

impl<C: Cpu> ThreadSearch<'_, C> {
    /// The value with five or more empty squares, above alpha or not.
    pub(super) fn few(&mut self, board: Discs, alpha: i32, parity: Parity, empties: u32) -> i32 {
        let cpu = self.cpu;
        cpu.run(
            #[inline(always)]
            || {
                self.nodes += 1;
                if let Some(bound) = self.stability_bound(board, alpha, empties) {
                    return bound;
                }
                let moves = cpu.moves(board.own, board.other);
                if moves == 0 {
                    let passed = board.pass();
                    return if cpu.moves(passed.own, passed.other) == 0 {
                        board.final_score()
                    } else {
                        -self.few(passed, -alpha - 1, parity, empties)
                    };
                }
                let mut best = WORST;
                for set in [moves & parity.odd(), moves & !parity.odd()] {
                    for square in Squares(set) {
                        let index = square.index();
                        let flips = cpu.flips(index, board.own, board.other);
                        let next = board.after(square.bit(), flips);
                        let parity = parity.after(index);
                        let value = if empties == 5 {
                            -self.last_four(next, -alpha - 1, parity)
                        } else {
                            -self.few(next, -alpha - 1, parity, empties - 1)
                        };
                        if value > best {
                            best = value;
                            if value > alpha {
                                return value;
                            }
                        }
                    }
                }
                best
            },
        )
    }

    /// The value with four empty squares, above alpha or not.
    pub(super) fn last_four(&mut self, board: Discs, alpha: i32, parity: Parity) -> i32 {
        let cpu = self.cpu;
        cpu.run(
            #[inline(always)]
            || {
                self.nodes += 1;
                if let Some(bound) = self.stability_bound(board, alpha, 4) {
                    return bound;
                }
                let mut best = WORST;
                let empty = board.empty();
                for set in [empty & parity.odd(), empty & !parity.odd()] {
                    for square in Squares(set) {
                        let Some(next) = self.try_square(board, square) else {
                            continue;
                        };
                        let parity = parity.after(square.index());
                        best = best.max(-self.last_three(next, -alpha - 1, parity));
                        if best > alpha {
                            return best;
                        }
                    }
                }
                if best == WORST {
                    let passed = board.pass();
                    return if cpu.moves(passed.own, passed.other) == 0 {
                        board.final_score()
                    } else {
                        -self.last_four(passed, -alpha - 1, parity)
                    };
                }
                best
            },
        )
    }

    /// The same with three.
    fn last_three(&mut self, board: Discs, alpha: i32, parity: Parity) -> i32 {
        let cpu = self.cpu;
        cpu.run(
            #[inline(always)]
            || {
                let empty = board.empty();
                let odd = empty & parity.odd();
                // One alone in its quarter goes first; otherwise all are alike.
                let first = if odd == 0 { empty } else { odd };
                let first = Square::first_of(first);
                let rest = empty & !first.bit();
                let second = Square::first_of(rest);
                let third = Square::first_of(rest & (rest - 1));
                let value = self.three_in_order(board, alpha, [first, second, third]);
                if value != WORST {
                    return value;
                }
                let value = self.three_in_order(board.pass(), -alpha - 1, [first, second, third]);
                if value != WORST {
                    return -value;
                }
                board.final_score()
            },
        )
    }

    /// [`WORST`] if the side to move has no move.
    #[inline(always)]
    fn three_in_order(&mut self, board: Discs, alpha: i32, squares: [Square; 3]) -> i32 {
        self.nodes += 1;
        let [a, b, c] = squares;
        let mut best = WORST;
        for (square, others) in [(a, [b, c]), (b, [a, c]), (c, [a, b])] {
            if let Some(next) = self.try_square(board, square) {
                best = best.max(-self.last_two(next, -alpha - 1, others));
                if best > alpha {
                    return best;
                }
            }
        }
        best
    }

    /// The same with two.
    #[inline(always)]
    fn last_two(&mut self, board: Discs, alpha: i32, [a, b]: [Square; 2]) -> i32 {
        self.nodes += 1;
        let mut best = WORST;
        if let Some(next) = self.try_square(board, a) {
            best = -self.last_one(next, b);
            if best > alpha {
                return best;
            }
        }
        if let Some(next) = self.try_square(board, b) {
            best = best.max(-self.last_one(next, a));
        }
        if best != WORST {
            return best;
        }
        let passed = board.pass();
        if let Some(next) = self.try_square(passed, a) {
            best = -self.last_one(next, b);
            if best > -alpha - 1 {
                return -best;
            }
        }
        if let Some(next) = self.try_square(passed, b) {
            best = best.max(-self.last_one(next, a));
        }
        if best == WORST {
            board.final_score()
        } else {
            -best
        }
    }

    /// The value with one empty square.
    #[inline(always)]
    fn last_one(&mut self, board: Discs, square: Square) -> i32 {
        self.nodes += 1;
        let own = board.own.count_ones() as i32;
        let index = square.index();
        let turned = self.cpu.flips(index, board.own, board.other);
        if turned != 0 {
            return 2 * (own + 1 + turned.count_ones() as i32) - 64;
        }
        let turned = self.cpu.flips(index, board.other, board.own);
        if turned != 0 {
            return 2 * (own - turned.count_ones() as i32) - 64;
        }
        // The empty square is the winner's: 63 discs can't be shared equally.
        let discs = 2 * own - 63;
        discs + discs.signum()
    }

    /// After a disc on this empty square, if that is a legal move.
    #[inline(always)]
    fn try_square(&mut self, board: Discs, square: Square) -> Option<Discs> {
        if NEIGHBOURS[square.index()] & board.other == 0 {
            return None;
        }
        let flips = self.cpu.flips(square.index(), board.own, board.other);
        (flips != 0).then(|| board.after(square.bit(), flips))
    }
}
