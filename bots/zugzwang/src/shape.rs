//! The size of a board and its forbidden cell.

/// The most rows or columns that a board may have.
pub const LARGEST: u8 = 12;

/// A cell. The leftmost column and the bottom row are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BoardCell {
    /// From 0 at the left.
    pub column: u8,
    /// From 0 at the bottom.
    pub row: u8,
}

/// The size of a board and the cell that takes no stone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BoardShape {
    rows: u8,
    columns: u8,
    forbidden: Option<BoardCell>,
}

/// Reason why there is no such board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoardShapeError {
    /// A side is 0 or too long.
    #[error("expected 1 to {LARGEST} rows and columns, found {rows} rows and {columns} columns")]
    Size {
        /// The number of rows.
        rows: u8,
        /// The number of columns.
        columns: u8,
    },
    /// The forbidden cell is not on the board.
    #[error("expected a forbidden cell on the board, found {0:?}")]
    Forbidden(BoardCell),
}

impl BoardShape {
    /// A board of so many rows and columns, perhaps with a forbidden cell.
    ///
    /// # Errors
    ///
    /// A side is not in 1 to [`LARGEST`], or the forbidden cell is not on the board.
    pub fn new(
        rows: u8,
        columns: u8,
        forbidden: Option<BoardCell>,
    ) -> Result<Self, BoardShapeError> {
        let sides = 1..=LARGEST;
        if !sides.contains(&rows) || !sides.contains(&columns) {
            return Err(BoardShapeError::Size { rows, columns });
        }
        if let Some(cell) = forbidden
            && (cell.row >= rows || cell.column >= columns)
        {
            return Err(BoardShapeError::Forbidden(cell));
        }
        Ok(Self {
            rows,
            columns,
            forbidden,
        })
    }

    /// Number of rows.
    #[must_use]
    pub const fn rows(self) -> u8 {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub const fn columns(self) -> u8 {
        self.columns
    }

    /// The cell that takes no stone.
    #[must_use]
    pub const fn forbidden(self) -> Option<BoardCell> {
        self.forbidden
    }

    /// True if the board is its own mirror image, left and right exchanged.
    #[must_use]
    pub const fn is_symmetric(self) -> bool {
        match self.forbidden {
            None => true,
            Some(cell) => 2 * cell.column + 1 == self.columns,
        }
    }

    /// Number of stones that fill the board.
    #[must_use]
    pub fn room(self) -> u32 {
        u32::from(self.rows) * u32::from(self.columns) - u32::from(self.forbidden.is_some())
    }
}
