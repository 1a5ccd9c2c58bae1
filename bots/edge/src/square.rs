//! Squares and their names.

use std::{fmt, str::FromStr};

/// One of the 64 squares, a1 (top left, index 0) to h8 (bottom right, index 63), row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square(u8);

impl Square {
    /// The square with this index, where there is one.
    #[must_use]
    pub const fn new(index: u8) -> Option<Self> {
        if index < 64 { Some(Self(index)) } else { None }
    }

    /// Its index, row by row from a1.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The set of this square alone.
    #[must_use]
    pub const fn bit(self) -> u64 {
        1 << self.0
    }

    /// The square with the lowest index in a set that isn't empty.
    pub(crate) const fn first_of(set: u64) -> Self {
        Self(set.trailing_zeros() as u8 & 63)
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = char::from(b'a' + self.0 % 8);
        write!(f, "{column}{}", self.0 / 8 + 1)
    }
}

impl FromStr for Square {
    type Err = NotASquare;

    /// Reads `a1` to `h8`, in capitals too.
    fn from_str(text: &str) -> Result<Self, NotASquare> {
        let &[column, row] = text.as_bytes() else {
            return Err(NotASquare);
        };
        let column = column.to_ascii_lowercase().wrapping_sub(b'a');
        let row = row.wrapping_sub(b'1');
        if column < 8 && row < 8 {
            Ok(Self(row * 8 + column))
        } else {
            Err(NotASquare)
        }
    }
}

/// A text that is not the name of a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a square of a1 to h8")]
pub struct NotASquare;

/// The squares of a set, in the order of their indices; bit i of a set is the square with
/// index i.
#[derive(Clone, Copy, Debug)]
pub struct Squares(pub u64);

impl Iterator for Squares {
    type Item = Square;

    #[inline(always)]
    fn next(&mut self) -> Option<Square> {
        if self.0 == 0 {
            return None;
        }
        let square = Square::first_of(self.0);
        self.0 &= self.0 - 1;
        Some(square)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for square in Squares(!0) {
            assert_eq!(square.to_string().parse(), Ok(square));
            assert_eq!(square.to_string().to_uppercase().parse(), Ok(square));
        }
        for text in ["", "a", "a0", "a9", "i1", "a11", "1a", "é"] {
            assert_eq!(text.parse::<Square>(), Err(NotASquare));
        }
    }
}
