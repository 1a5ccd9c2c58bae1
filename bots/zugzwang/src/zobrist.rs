//! Hashes of positions (A. L. Zobrist, "A new hashing method with application for game
//! playing", 1970), the same for a position and its mirror image where the board is
//! symmetric.

use crate::{
    board::{Geometry, Stones},
    idea::{ConnectFourIdea, ConnectFourIdeas},
    shape::{BoardCell, BoardShape},
    word::Word,
};

/// The numbers of one board.
pub(crate) struct Zobrist {
    /// For each cell, for the even and the odd side, and the same for its mirror image.
    cells: Vec<[Hash; 2]>,
    empty: Hash,
    is_symmetric: bool,
}

/// The hash of a position and that of its mirror image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hash {
    plain: u64,
    mirrored: u64,
}

impl Hash {
    #[inline]
    fn with(self, other: Self) -> Self {
        Self {
            plain: self.plain ^ other.plain,
            mirrored: self.mirrored ^ other.mirrored,
        }
    }
}

impl Zobrist {
    pub(crate) fn new<W: Word, const S: u32>(shape: BoardShape, without: ConnectFourIdeas) -> Self {
        let forbidden = shape.forbidden().map_or(255, |cell| {
            u64::from(cell.column) * 16 + u64::from(cell.row)
        });
        let name = u64::from(shape.rows()) << 16 | u64::from(shape.columns()) << 8 | forbidden;
        let number = |cell: BoardCell, odd: bool| {
            let cell = u64::from(cell.column) * 16 + u64::from(cell.row);
            scramble(1 << 32 | cell << 1 | u64::from(odd))
        };
        let zero = Hash {
            plain: 0,
            mirrored: 0,
        };
        let mut cells = vec![[zero; 2]; W::BITS as usize];
        for column in 0..shape.columns() {
            for row in 0..shape.rows() {
                let cell = BoardCell { column, row };
                let image = BoardCell {
                    column: shape.columns() - 1 - column,
                    row,
                };
                cells[Geometry::<W, S>::index(cell) as usize] = [false, true].map(|odd| Hash {
                    plain: number(cell, odd),
                    mirrored: number(image, odd),
                });
            }
        }
        Self {
            cells,
            empty: Hash {
                plain: scramble(name),
                mirrored: scramble(name),
            },
            is_symmetric: shape.is_symmetric() && !without.has(ConnectFourIdea::Symmetry),
        }
    }

    pub(crate) fn of<W: Word>(&self, board: Stones<W>) -> Hash {
        let is_odd = board.stones() % 2 == 1;
        let sides = [(board.own, is_odd), (board.other, !is_odd)];
        sides.into_iter().fold(self.empty, |hash, (stones, odd)| {
            let stones = stones.bits();
            stones.fold(hash, |hash, index| self.with(hash, index, odd))
        })
    }

    /// After a stone of the even or the odd side here.
    #[inline]
    pub(crate) fn with(&self, hash: Hash, index: u32, odd: bool) -> Hash {
        hash.with(self.cells[index as usize][usize::from(odd)])
    }

    /// The key in the table, and whether it is that of the mirror image.
    #[inline]
    pub(crate) fn key(&self, hash: Hash) -> (u64, bool) {
        if self.is_symmetric && hash.mirrored < hash.plain {
            (hash.mirrored, true)
        } else {
            (hash.plain, false)
        }
    }
}

/// The output function of SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast splittable
/// pseudorandom number generators", OOPSLA 2014).
pub(crate) const fn scramble(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
