//! The end of a game, exactly: fastest first (the moves after which the other side has the
//! fewest), parity, stable discs, and a table of its own that is small enough for the cache.

use super::{
    ThreadSearch, WORST,
    last::Parity,
    order::{Moves, end_cost},
};
use crate::{
    board::Discs,
    cpu::Cpu,
    idea::OthelloIdea,
    square::Squares,
    table::{MAX, NO_SQUARE, hash_of},
};

/// With so many empty squares and fewer, moves are not sorted.
const UNSORTED: u32 = 6;
/// Number of entries of the small table.
const ENTRIES: usize = 1 << 14;

/// The small table: what was found last at each place, whatever it was.
pub(crate) struct Ends(Vec<EndPosition>);

#[derive(Clone, Copy)]
struct EndPosition {
    board: Discs,
    lower: i8,
    upper: i8,
    square: u8,
}

impl Ends {
    pub(crate) fn new() -> Self {
        // A board without discs is never asked for.
        let none = EndPosition {
            board: Discs { own: 0, other: 0 },
            lower: -MAX as i8,
            upper: MAX as i8,
            square: NO_SQUARE,
        };
        Self(vec![none; ENTRIES])
    }
}

impl<C: Cpu> ThreadSearch<'_, C> {
    /// The value of the end of the game: above alpha, and then at least what is
    /// returned, or not, and then at most that.
    pub(super) fn end(&mut self, board: Discs, alpha: i32, empties: u32) -> i32 {
        let parity = self.parity(board.empty());
        match empties {
            0 => board.final_score(),
            1..=4 => self.few_left(board, alpha),
            5..=UNSORTED => self.few(board, alpha, parity, empties),
            _ => self.sorted(board, alpha, parity, empties),
        }
    }

    /// With four empty squares or fewer.
    fn few_left(&mut self, board: Discs, alpha: i32) -> i32 {
        let empties = board.empties();
        if empties == 4 {
            return self.last_four(board, alpha, self.parity(board.empty()));
        }
        self.nodes += 1;
        let moves = self.cpu.moves(board.own, board.other);
        if moves == 0 {
            let passed = board.pass();
            return if self.cpu.moves(passed.own, passed.other) == 0 {
                board.final_score()
            } else {
                -self.few_left(passed, -alpha - 1)
            };
        }
        let mut best = WORST;
        for square in Squares(moves) {
            let flips = self.cpu.flips(square.index(), board.own, board.other);
            let next = board.after(square.bit(), flips);
            best = best.max(-self.few_left(next, -alpha - 1));
            if best > alpha {
                break;
            }
        }
        best
    }

    fn sorted(&mut self, board: Discs, alpha: i32, parity: Parity, empties: u32) -> i32 {
        let cpu = self.cpu;
        cpu.run(
            #[inline(always)]
            || {
                if !self.enter() {
                    return alpha;
                }
                if let Some(bound) = self.stability_bound(board, alpha, empties) {
                    return bound;
                }
                let place = (hash_of(board) >> 40) as usize & (ENTRIES - 1);
                let known = self.ends.0[place];
                let mut first = NO_SQUARE;
                if known.board == board {
                    let (lower, upper) = (i32::from(known.lower), i32::from(known.upper));
                    if lower > alpha {
                        return lower;
                    }
                    if upper <= alpha {
                        return upper;
                    }
                    first = known.square;
                }
                let set = cpu.moves(board.own, board.other);
                if set == 0 {
                    let passed = board.pass();
                    return if cpu.moves(passed.own, passed.other) == 0 {
                        board.final_score()
                    } else {
                        -self.sorted(passed, -alpha - 1, parity, empties)
                    };
                }
                let mut moves = Moves::new();
                for square in Squares(set) {
                    let index = square.index();
                    let flips = cpu.flips(index, board.own, board.other);
                    let cost = if index == usize::from(first) {
                        i32::MIN
                    } else if self.is_without(OthelloIdea::Ordering) {
                        0
                    } else {
                        end_cost(cpu, board.after(square.bit(), flips), square, parity.odd())
                    };
                    moves.push(square, flips, cost);
                }
                let mut best = WORST;
                let mut best_square = NO_SQUARE;
                while let Some((square, flips)) = moves.next() {
                    let next = board.after(square.bit(), flips);
                    let parity = parity.after(square.index());
                    let value = if empties - 1 <= UNSORTED {
                        -self.few(next, -alpha - 1, parity, empties - 1)
                    } else {
                        -self.sorted(next, -alpha - 1, parity, empties - 1)
                    };
                    if value > best {
                        best = value;
                        best_square = square.index() as u8;
                        if value > alpha {
                            break;
                        }
                    }
                }
                if !self.stopped && !self.is_without(OthelloIdea::Table) {
                    let (mut lower, mut upper) = (-MAX as i8, MAX as i8);
                    if known.board == board {
                        (lower, upper) = (known.lower, known.upper);
                    }
                    if best > alpha {
                        lower = best as i8;
                    } else {
                        upper = best as i8;
                    }
                    self.ends.0[place] = EndPosition {
                        board,
                        lower,
                        upper,
                        square: best_square,
                    };
                }
                best
            },
        )
    }
}
