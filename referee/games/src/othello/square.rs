//! Squares and sets of them.

use std::{fmt, str::FromStr};

/// One of the 64 squares, a1 (top left) to h8 (bottom right).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square(u8);

impl Square {
    /// Number of squares on a side.
    pub const SIDE: u8 = 8;
    /// Number of squares.
    pub const COUNT: u8 = Self::SIDE * Self::SIDE;

    /// The square with this index, where there is one: row by row from a1.
    #[must_use]
    pub const fn new(index: u8) -> Option<Self> {
        if index < Self::COUNT {
            Some(Self(index))
        } else {
            None
        }
    }

    /// The square in this row and column, both from 0, where there is one.
    #[must_use]
    pub const fn at(row: u8, column: u8) -> Option<Self> {
        if row < Self::SIDE && column < Self::SIDE {
            Some(Self(row * Self::SIDE + column))
        } else {
            None
        }
    }

    /// All of them, row by row.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        (0..Self::COUNT).map(Self)
    }

    /// Its index, row by row from a1.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Its row, from 0 at the top.
    #[must_use]
    pub const fn row(self) -> u8 {
        self.0 / Self::SIDE
    }

    /// Its column, from 0 at the left.
    #[must_use]
    pub const fn column(self) -> u8 {
        self.0 % Self::SIDE
    }

    /// The set of this square alone.
    #[must_use]
    pub const fn bit(self) -> u64 {
        1 << self.0
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = char::from(b'a' + self.column());
        write!(f, "{column}{}", self.row() + 1)
    }
}

impl FromStr for Square {
    type Err = String;

    /// Reads `a1` to `h8`, in capitals too.
    fn from_str(text: &str) -> Result<Self, String> {
        let square = match text.as_bytes() {
            [column, row] => Self::at(
                row.wrapping_sub(b'1'),
                column.to_ascii_lowercase().wrapping_sub(b'a'),
            ),
            _ => None,
        };
        square.ok_or_else(|| format!("expected a square of a1 to h8, found \"{text}\""))
    }
}

/// The squares of a set, row by row; bit i of a set is the square with index i.
pub fn squares_of(mut set: u64) -> impl Iterator<Item = Square> + Clone {
    std::iter::from_fn(move || {
        let index = set.trailing_zeros();
        set &= set.checked_sub(1)?;
        Some(Square(index as u8))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notation_reads_back() {
        for square in Square::all() {
            let text = square.to_string();
            assert_eq!(text.parse(), Ok(square));
            assert_eq!(text.to_uppercase().parse(), Ok(square));
            assert_eq!(Square::at(square.row(), square.column()), Some(square));
        }
        assert_eq!(Square(0).to_string(), "a1");
        assert_eq!(Square(7).to_string(), "h1");
        assert_eq!(Square(56).to_string(), "a8");
    }

    #[test]
    fn what_is_no_square_is_told() {
        for text in ["", "a", "a0", "a9", "i1", "`1", "a11", "1a", "é"] {
            assert_eq!(
                text.parse::<Square>(),
                Err(format!("expected a square of a1 to h8, found \"{text}\""))
            );
        }
    }

    #[test]
    fn a_set_goes_row_by_row() {
        let squares: Vec<String> = squares_of(1 << 63 | 1 << 8 | 1 | 1 << 7)
            .map(|square| square.to_string())
            .collect();
        assert_eq!(squares, ["a1", "h1", "a2", "h8"]);
    }
}
