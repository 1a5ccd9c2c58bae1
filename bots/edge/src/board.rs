//! The discs as the side to move sees them: two words of 64 bits.

use std::{fmt, str::FromStr};

use crate::{
    cpu::{Cpu, Portable},
    square::{Square, Squares},
};

/// A board. Bit i of a set is the square with index i: a1 is bit 0, h1 bit 7, h8 bit 63.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Discs {
    /// The discs of the side to move.
    pub own: u64,
    /// The other side's.
    pub other: u64,
}

impl Discs {
    /// The beginning, as Black sees it: d5 and e4 black, d4 and e5 white.
    pub const START: Self = Self {
        own: 1 << 35 | 1 << 28,
        other: 1 << 27 | 1 << 36,
    };

    /// The squares without a disc.
    #[must_use]
    #[inline(always)]
    pub const fn empty(self) -> u64 {
        !(self.own | self.other)
    }

    /// Number of squares without a disc.
    #[must_use]
    #[inline(always)]
    pub const fn empties(self) -> u32 {
        self.empty().count_ones()
    }

    /// The squares where the side to move may place a disc.
    #[must_use]
    pub fn moves(self) -> u64 {
        Portable.moves(self.own, self.other)
    }

    /// After a disc on this square as the other side sees it, if that is a legal move.
    #[must_use]
    pub fn play(self, square: Square) -> Option<Self> {
        let flips = Portable.flips(square.index(), self.own, self.other);
        (flips != 0 && self.empty() & square.bit() != 0).then(|| self.after(square.bit(), flips))
    }

    /// After this move, which turns these discs, as the other side sees it.
    #[inline(always)]
    pub(crate) const fn after(self, bit: u64, flips: u64) -> Self {
        Self {
            own: self.other ^ flips,
            other: self.own ^ (flips | bit),
        }
    }

    /// After a pass: the same board as the other side sees it.
    #[must_use]
    #[inline(always)]
    pub const fn pass(self) -> Self {
        Self {
            own: self.other,
            other: self.own,
        }
    }

    /// True if neither side has a move.
    #[must_use]
    pub fn is_over(self) -> bool {
        self.moves() == 0 && self.pass().moves() == 0
    }

    /// The score in discs of a game that is over, for the side to move: the difference of
    /// discs, empty squares given to the winner.
    #[must_use]
    #[inline(always)]
    pub const fn final_score(self) -> i32 {
        let difference = self.own.count_ones() as i32 - self.other.count_ones() as i32;
        difference + difference.signum() * self.empties() as i32
    }

    /// Number of lines of this many plies that begin here. A pass is a ply, and a game that is over
    /// before counts as one line.
    #[must_use]
    pub fn perft(self, plies: u32) -> u64 {
        crate::with_best_cpu!(cpu => perft(cpu, self, plies))
    }

    /// The eight images of the board under the symmetries of the square.
    #[must_use]
    pub fn images(self) -> [Self; 8] {
        let mut images = [self; 8];
        for (number, image) in images.iter_mut().enumerate() {
            for set in [&mut image.own, &mut image.other] {
                if number & 1 != 0 {
                    *set = set.swap_bytes();
                }
                if number & 2 != 0 {
                    *set = set.reverse_bits().swap_bytes();
                }
                if number & 4 != 0 {
                    *set = transpose(*set);
                }
            }
        }
        images
    }
}

impl fmt::Display for Discs {
    /// 64 characters row by row from a1, X for the side to move, O for the other side, `-`
    /// for an empty square, and then ` X`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for square in Squares(!0) {
            f.write_str(match square.bit() {
                bit if self.own & bit != 0 => "X",
                bit if self.other & bit != 0 => "O",
                _ => "-",
            })?;
        }
        f.write_str(" X")
    }
}

impl FromStr for Discs {
    type Err = NotABoard;

    /// Reads 64 squares row by row from a1 (X, O and `-`), a space, and the side to move.
    fn from_str(text: &str) -> Result<Self, NotABoard> {
        let (squares, turn) = text.split_once(' ').ok_or(NotABoard::Turn)?;
        if squares.len() != 64 {
            return Err(NotABoard::Length(squares.len()));
        }
        let mut board = Self { own: 0, other: 0 };
        for (index, square) in squares.chars().enumerate() {
            match square {
                'X' => board.own |= 1 << index,
                'O' => board.other |= 1 << index,
                '-' => {}
                other => return Err(NotABoard::Square(other)),
            }
        }
        match turn {
            "X" => Ok(board),
            "O" => Ok(board.pass()),
            _ => Err(NotABoard::Turn),
        }
    }
}

/// Reason why a text is no board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotABoard {
    /// It has too few squares or too many.
    #[error("expected 64 squares, found {0}")]
    Length(usize),
    /// A square is none of X, O and `-`.
    #[error("expected X, O or - for a square, found '{0}'")]
    Square(char),
    /// The side to move is missing.
    #[error("expected a space and the side to move, X or O, after the squares")]
    Turn,
}

fn perft<C: Cpu>(cpu: C, board: Discs, plies: u32) -> u64 {
    cpu.run(
        #[inline(always)]
        || {
            let moves = cpu.moves(board.own, board.other);
            if plies == 0 {
                return 1;
            }
            if moves == 0 {
                let passed = board.pass();
                return if cpu.moves(passed.own, passed.other) == 0 {
                    1
                } else {
                    perft(cpu, passed, plies - 1)
                };
            }
            if plies == 1 {
                return moves.count_ones().into();
            }
            Squares(moves)
                .map(|square| {
                    let flips = cpu.flips(square.index(), board.own, board.other);
                    perft(cpu, board.after(square.bit(), flips), plies - 1)
                })
                .sum()
        },
    )
}

/// Rows become columns: exchanges of blocks of 1, 2 and 4 squares along the diagonal.
fn transpose(mut set: u64) -> u64 {
    for (shift, mask) in [
        (7, 0x00aa_00aa_00aa_00aa),
        (14, 0x0000_cccc_0000_cccc),
        (28, 0x0000_0000_f0f0_f0f0),
    ] {
        let change = (set ^ set >> shift) & mask;
        set ^= change ^ change << shift;
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_as_others_count_them() {
        let counts = [4, 12, 56, 244, 1396, 8200, 55092, 390_216, 3_005_288];
        for (plies, count) in (1..).zip(counts) {
            assert_eq!(Discs::START.perft(plies), count);
            if plies < 8 {
                assert_eq!(super::perft(Portable, Discs::START, plies), count);
            }
        }
    }

    #[test]
    fn images_have_the_same_lines() {
        let board = Discs::START.play("d3".parse().unwrap()).unwrap();
        let board = board.play("c5".parse().unwrap()).unwrap();
        let images = board.images();
        for image in images {
            assert_eq!(image.perft(6), board.perft(6));
            assert_eq!(images.iter().filter(|other| **other == image).count(), 1);
        }
    }

    #[test]
    fn boards_read_back() {
        let text = "--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X";
        let board: Discs = text.parse().unwrap();
        assert_eq!(board.to_string(), text);
        assert_eq!(board.empties(), 14);
        assert_eq!("X".parse::<Discs>(), Err(NotABoard::Turn));
        assert_eq!("X X".parse::<Discs>(), Err(NotABoard::Length(1)));
        let wrong = text.replace("--X", "-?X");
        assert_eq!(wrong.parse::<Discs>(), Err(NotABoard::Square('?')));
    }

    #[test]
    fn only_legal_moves_can_be_played() {
        for square in Squares(!0) {
            let legal = Discs::START.moves() & square.bit() != 0;
            assert_eq!(Discs::START.play(square).is_some(), legal, "{square}");
        }
    }
}
