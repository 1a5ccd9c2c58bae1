//! A position: the shape of the board and the stones, as the side to move sees them.

use crate::{
    board::{Geometry, Stones},
    shape::{BoardCell, BoardShape, LARGEST},
    word::{U192, Word},
};

/// Bits of a column of the layout that every board fits in.
const WIDEST: u32 = LARGEST as u32 + 1;

/// A position. Whose turn it is has no name: stones are the mover's own or the other
/// side's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectFourPosition {
    shape: BoardShape,
    board: Stones<U192>,
}

/// Reason why a stone can't be where it was wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PositionError {
    /// There is no such column, or it is full.
    #[error("expected a column that has room, found {0}")]
    NoRoom(u8),
    /// The game is over.
    #[error("the game is over")]
    Over,
    /// The cell is not on the board, forbidden, taken twice, or has a free cell below it.
    #[error("no stone can lie on {0:?}")]
    Floating(BoardCell),
}

impl ConnectFourPosition {
    /// The empty board.
    #[must_use]
    pub const fn new(shape: BoardShape) -> Self {
        Self {
            shape,
            board: Stones::EMPTY,
        }
    }

    /// After these columns, counted from 0, have been played in turn.
    ///
    /// # Errors
    ///
    /// A column has no room, or the game was over before the last of them.
    pub fn after(shape: BoardShape, columns: &[u8]) -> Result<Self, PositionError> {
        let mut position = Self::new(shape);
        for &column in columns {
            position.play(column)?;
        }
        Ok(position)
    }

    /// The position with exactly these stones: the mover's own and the other side's, in
    /// any order.
    ///
    /// # Errors
    ///
    /// [`PositionError::Floating`] names a cell on which no stone can lie.
    pub fn with_stones(
        shape: BoardShape,
        own: &[BoardCell],
        other: &[BoardCell],
    ) -> Result<Self, PositionError> {
        let geometry = geometry(shape);
        let mut position = Self::new(shape);
        for (cells, stones) in [
            (own, &mut position.board.own),
            (other, &mut position.board.other),
        ] {
            for &cell in cells {
                let on_board = cell.column < shape.columns() && cell.row < shape.rows();
                let bit = U192::bit(if on_board {
                    index(cell)
                } else {
                    U192::BITS - 1
                });
                if !on_board || !bit.meets(geometry.cells) || bit.meets(*stones) {
                    return Err(PositionError::Floating(cell));
                }
                *stones |= bit;
            }
        }
        let taken = geometry.taken(position.board);
        let both = position.board.own & position.board.other;
        // A taken cell is in the air if the cell below it is free.
        let held = (taken.up(1) | geometry.bottom) & (position.board.own | position.board.other);
        let wrong = both | (position.board.own | position.board.other) & !held;
        match wrong.bits().next() {
            Some(index) => Err(PositionError::Floating(Geometry::<U192, WIDEST>::cell(
                index,
            ))),
            None => Ok(position),
        }
    }

    /// Drops a stone of the side to move.
    ///
    /// # Errors
    ///
    /// The column has no room, or the game is over.
    pub fn play(&mut self, column: u8) -> Result<(), PositionError> {
        if self.is_won() {
            return Err(PositionError::Over);
        }
        let cell = self.landing(column).ok_or(PositionError::NoRoom(column))?;
        self.board = self.board.after(U192::bit(index(cell)));
        Ok(())
    }

    /// The board.
    #[must_use]
    pub const fn shape(&self) -> BoardShape {
        self.shape
    }

    /// Number of stones on the board.
    #[must_use]
    pub fn stones(&self) -> u32 {
        self.board.stones()
    }

    /// The cell on which the next stone of this column lands; none if there is no room or no such
    /// column.
    #[must_use]
    pub fn landing(&self, column: u8) -> Option<BoardCell> {
        let geometry = geometry(self.shape);
        geometry
            .landings(geometry.taken(self.board))
            .bits()
            .map(Geometry::<U192, WIDEST>::cell)
            .find(|cell| cell.column == column)
    }

    /// The columns that have room, from the left.
    #[must_use]
    pub fn columns(&self) -> Vec<u8> {
        let geometry = geometry(self.shape);
        let landings = geometry.landings(geometry.taken(self.board));
        landings
            .bits()
            .map(|index| Geometry::<U192, WIDEST>::cell(index).column)
            .collect()
    }

    /// True if the side that moved last has four in a line.
    #[must_use]
    pub fn is_won(&self) -> bool {
        Geometry::<U192, WIDEST>::has_line(self.board.other)
    }

    /// True if no column has room.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.stones() == self.shape.room()
    }

    /// The owner of the stone on this cell: `Some(true)` for the side to move, `None` if there is
    /// no stone.
    #[must_use]
    pub fn stone(&self, cell: BoardCell) -> Option<bool> {
        if cell.column >= self.shape.columns() || cell.row >= self.shape.rows() {
            return None;
        }
        let bit = U192::bit(index(cell));
        if bit.meets(self.board.own) {
            Some(true)
        } else {
            bit.meets(self.board.other).then_some(false)
        }
    }

    /// The stones in another layout.
    pub(crate) fn board<W: Word, const S: u32>(&self) -> Stones<W> {
        let convert = |stones: U192| {
            stones.bits().fold(W::EMPTY, |all, index| {
                let cell = Geometry::<U192, WIDEST>::cell(index);
                all | W::bit(Geometry::<W, S>::index(cell))
            })
        };
        Stones {
            own: convert(self.board.own),
            other: convert(self.board.other),
        }
    }
}

fn geometry(shape: BoardShape) -> Geometry<U192, WIDEST> {
    Geometry::new(shape)
}

fn index(cell: BoardCell) -> u32 {
    Geometry::<U192, WIDEST>::index(cell)
}
