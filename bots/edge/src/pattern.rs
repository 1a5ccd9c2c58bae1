//! The patterns that the evaluation looks at: sets of squares near edges and corners, and
//! lines, each in all its images under the symmetries of the board. One image is a
//! [`Feature`]; what lies on it is a number with a digit of -1, 0 or 1 a square.
//!
//! The idea is that of Logistello (M. Buro, "Improving heuristic mini-max search by supervised
//! learning", Artificial Intelligence 134, 2002). With digits that are 0 for an empty square
//! and of opposite sign for the two sides, a change of sides only negates all numbers, and a
//! move adds a fixed vector for each square that changes.

use crate::{board::Discs, square::Squares};

/// A set of squares, before its images.
pub struct Pattern {
    /// Its name in tables.
    pub name: &'static str,
    /// The squares of the first image, the least significant digit first.
    squares: &'static [u8],
    /// The digits as a symmetry of the board that maps the pattern to itself exchanges them:
    /// digit k of the mirrored number is digit `mirror[k]` of the number. Empty if none does.
    mirror: &'static [u8],
    /// Number of its images.
    images: usize,
}

impl Pattern {
    /// Number of its squares.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.squares.len()
    }

    /// True if it has no squares.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.squares.is_empty()
    }

    /// Number of numbers that it can show: three to the power of its squares.
    #[must_use]
    pub const fn numbers(&self) -> usize {
        3usize.pow(self.squares.len() as u32)
    }

    /// The number that a board shows where this one shows `number`, if a symmetry maps the
    /// pattern to itself; both weigh the same. Numbers are counted from 0 here, the empty
    /// pattern is in the middle.
    #[must_use]
    pub fn mirrored(&self, number: usize) -> usize {
        if self.mirror.is_empty() {
            return number;
        }
        let digit = |at: u8| number / 3usize.pow(at.into()) % 3;
        (0..)
            .zip(self.mirror)
            .map(|(at, &from)| digit(from) * 3usize.pow(at))
            .sum()
    }
}

/// All patterns. A change of this list is a new [`SET`], and needs new weights.
pub const PATTERNS: [Pattern; 11] = [
    Pattern {
        name: "corner 3x3",
        squares: &[0, 1, 2, 8, 9, 10, 16, 17, 18],
        mirror: &[0, 3, 6, 1, 4, 7, 2, 5, 8],
        images: 4,
    },
    Pattern {
        name: "edge and X",
        squares: &[0, 1, 2, 3, 4, 5, 6, 7, 9, 14],
        mirror: &[7, 6, 5, 4, 3, 2, 1, 0, 9, 8],
        images: 4,
    },
    Pattern {
        name: "corner 2x5",
        squares: &[0, 1, 2, 3, 4, 8, 9, 10, 11, 12],
        mirror: &[],
        images: 8,
    },
    Pattern {
        name: "triangle",
        squares: &[0, 1, 2, 3, 8, 9, 10, 16, 17, 24],
        mirror: &[0, 4, 7, 9, 1, 5, 8, 2, 6, 3],
        images: 4,
    },
    Pattern {
        name: "row 2",
        squares: &[8, 9, 10, 11, 12, 13, 14, 15],
        mirror: REVERSED,
        images: 4,
    },
    Pattern {
        name: "row 3",
        squares: &[16, 17, 18, 19, 20, 21, 22, 23],
        mirror: REVERSED,
        images: 4,
    },
    Pattern {
        name: "row 4",
        squares: &[24, 25, 26, 27, 28, 29, 30, 31],
        mirror: REVERSED,
        images: 4,
    },
    Pattern {
        name: "diagonal 8",
        squares: &[0, 9, 18, 27, 36, 45, 54, 63],
        mirror: REVERSED,
        images: 2,
    },
    Pattern {
        name: "diagonal 7",
        squares: &[1, 10, 19, 28, 37, 46, 55],
        mirror: &[6, 5, 4, 3, 2, 1, 0],
        images: 4,
    },
    Pattern {
        name: "diagonal 6",
        squares: &[2, 11, 20, 29, 38, 47],
        mirror: &[5, 4, 3, 2, 1, 0],
        images: 4,
    },
    Pattern {
        name: "diagonal 5",
        squares: &[3, 12, 21, 30, 39],
        mirror: &[4, 3, 2, 1, 0],
        images: 4,
    },
];
const REVERSED: &[u8] = &[7, 6, 5, 4, 3, 2, 1, 0];

/// The number of the list of patterns, as weights name it.
pub const SET: u32 = 1;
/// Number of features: all images of all patterns.
pub const FEATURES: usize = 46;
/// With some that are always zero, to fill vectors.
const LANES: usize = 48;
/// Number of weights that a stage has for patterns, one for each number of each pattern.
pub const NUMBERS: usize = OFFSETS[PATTERNS.len()];

/// The places at which the numbers of each pattern begin among all of them, and at which the last
/// ones end.
pub const OFFSETS: [usize; PATTERNS.len() + 1] = {
    let mut offsets = [0; PATTERNS.len() + 1];
    let mut pattern = 0;
    while pattern < PATTERNS.len() {
        offsets[pattern + 1] = offsets[pattern] + PATTERNS[pattern].numbers();
        pattern += 1;
    }
    offsets
};

/// The place of the number zero of each feature among all numbers.
pub(crate) const CENTRES: [u32; FEATURES] = {
    let mut centres = [0; FEATURES];
    let mut feature = 0;
    while feature < FEATURES {
        let pattern = IMAGES[feature].0;
        centres[feature] = (OFFSETS[pattern] + PATTERNS[pattern].numbers() / 2) as u32;
        feature += 1;
    }
    centres
};

/// The change of the features by a disc of the side to move on each square.
static DISCS: [Features; 64] = discs();

/// For each feature its pattern and its squares.
const IMAGES: [(usize, [u8; 10]); FEATURES] = images();

/// The numbers of all features as the side to move sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(32))]
pub(crate) struct Features([i16; LANES]);

impl Features {
    /// Those of a board.
    pub(crate) fn of(board: Discs) -> Self {
        let mut features = [0; LANES];
        for (set, sign) in [(board.own, 1), (board.other, -1)] {
            for square in Squares(set) {
                for (sum, disc) in features.iter_mut().zip(DISCS[square.index()].0) {
                    *sum += sign * disc;
                }
            }
        }
        Self(features)
    }

    /// After a move that turns these discs, as the other side sees them.
    #[inline(always)]
    pub(crate) fn after(&self, square: usize, flips: u64) -> Self {
        // A disc that is turned changes its digit by two. Sums stay small enough: each is
        // that of a board.
        let mut turned = [0i16; LANES];
        for flip in Squares(flips) {
            let disc = &DISCS[flip.index()].0;
            for lane in 0..LANES {
                turned[lane] = turned[lane].wrapping_add(disc[lane]);
            }
        }
        let disc = &DISCS[square & 63].0;
        let mut after = [0; LANES];
        for lane in 0..LANES {
            let own = self.0[lane].wrapping_add(disc[lane]);
            after[lane] = 0i16
                .wrapping_sub(own)
                .wrapping_sub(turned[lane])
                .wrapping_sub(turned[lane]);
        }
        Self(after)
    }

    /// After a pass, as the other side sees them.
    #[inline(always)]
    pub(crate) fn passed(&self) -> Self {
        Self(self.0.map(i16::wrapping_neg))
    }

    /// The place of each feature's number among all numbers.
    #[inline(always)]
    pub(crate) fn numbers(&self) -> impl Iterator<Item = usize> {
        CENTRES
            .iter()
            .zip(&self.0)
            .map(|(&centre, &number)| centre.wrapping_add_signed(number.into()) as usize)
    }
}

/// The places of the numbers that a board shows among the [`NUMBERS`] of all patterns.
#[must_use]
pub fn numbers(board: Discs) -> [u32; FEATURES] {
    let mut numbers = [0; FEATURES];
    for (number, at) in numbers.iter_mut().zip(Features::of(board).numbers()) {
        *number = at as u32;
    }
    numbers
}

/// For each number that of its mirror image or itself, whichever is lower: these weigh the
/// same.
#[must_use]
pub fn canonical() -> Vec<u32> {
    let mut canonical = Vec::with_capacity(NUMBERS);
    for (pattern, offset) in PATTERNS.iter().zip(OFFSETS) {
        canonical.extend((0..pattern.numbers()).map(|number| {
            let lower = number.min(pattern.mirrored(number));
            (offset + lower) as u32
        }));
    }
    canonical
}

const fn discs() -> [Features; 64] {
    let mut discs = [const { Features([0; LANES]) }; 64];
    let mut feature = 0;
    while feature < FEATURES {
        let (pattern, squares) = IMAGES[feature];
        let mut at = 0;
        while at < PATTERNS[pattern].len() {
            discs[squares[at] as usize].0[feature] = 3i16.pow(at as u32);
            at += 1;
        }
        feature += 1;
    }
    discs
}

const fn images() -> [(usize, [u8; 10]); FEATURES] {
    let mut images = [(0, [0; 10]); FEATURES];
    let mut count = 0;
    let mut pattern = 0;
    while pattern < PATTERNS.len() {
        let first = count;
        let mut symmetry = 0;
        while symmetry < 8 {
            let (squares, set) = image(PATTERNS[pattern].squares, symmetry);
            let mut seen = false;
            let mut earlier = first;
            while earlier < count {
                seen |= set_of(&images[earlier].1, PATTERNS[pattern].len()) == set;
                earlier += 1;
            }
            if !seen {
                images[count] = (pattern, squares);
                count += 1;
            }
            symmetry += 1;
        }
        assert!(count - first == PATTERNS[pattern].images);
        pattern += 1;
    }
    assert!(count == FEATURES);
    images
}

/// The squares under one of the eight symmetries, and their set.
const fn image(squares: &[u8], symmetry: u8) -> ([u8; 10], u64) {
    let mut image = [0; 10];
    let mut at = 0;
    while at < squares.len() {
        let (mut row, mut column) = (squares[at] / 8, squares[at] % 8);
        if symmetry & 1 != 0 {
            column = 7 - column;
        }
        if symmetry & 2 != 0 {
            row = 7 - row;
        }
        if symmetry & 4 != 0 {
            (row, column) = (column, row);
        }
        image[at] = row * 8 + column;
        at += 1;
    }
    (image, set_of(&image, squares.len()))
}

const fn set_of(squares: &[u8; 10], len: usize) -> u64 {
    let mut set = 0;
    let mut at = 0;
    while at < len {
        set |= 1 << squares[at];
        at += 1;
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_follow_the_moves() {
        let mut board = Discs::START;
        let mut features = Features::of(board);
        while let Some(square) = Squares(board.moves()).last() {
            let next = board.play(square).unwrap();
            let flips = next.own ^ board.other;
            features = features.after(square.index(), flips);
            board = next;
            assert_eq!(features, Features::of(board));
            assert_eq!(features.passed(), Features::of(board.pass()));
        }
    }

    #[test]
    fn images_of_a_board_show_the_same_numbers() {
        let canonical = canonical();
        let mut board = Discs::START;
        while let Some(square) = Squares(board.moves()).next() {
            board = board.play(square).unwrap();
            let of = |board| {
                let mut numbers = numbers(board).map(|number| canonical[number as usize]);
                numbers.sort_unstable();
                numbers
            };
            for image in board.images() {
                assert_eq!(of(image), of(board));
            }
        }
    }

    #[test]
    fn a_mirror_image_of_a_mirror_image_is_the_number() {
        for pattern in PATTERNS {
            for number in 0..pattern.numbers() {
                assert_eq!(pattern.mirrored(pattern.mirrored(number)), number);
            }
        }
    }
}
