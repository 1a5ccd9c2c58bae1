//! Places at a table.

use std::{
    fmt,
    ops::{Index, IndexMut},
};

use serde::{Deserialize, Serialize};

/// A place at a table, from 0; not the player who sits there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seat(u8);

impl Seat {
    /// The seat with this index.
    #[must_use]
    pub const fn new(index: u8) -> Self {
        Self(index)
    }

    /// Its index, from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// All seats of a table, in order.
    pub fn all(seats: u8) -> impl ExactSizeIterator<Item = Self> + Clone {
        (0..seats).map(Self)
    }

    /// The other seat of a table of two.
    #[must_use]
    pub const fn other(self) -> Self {
        Self(self.0 ^ 1)
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// One value for each seat of a table, in order of the seats.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PerSeat<T>(Vec<T>);

impl<T> PerSeat<T> {
    /// Calls `value` for each of `seats` seats.
    pub fn new(seats: u8, value: impl FnMut(Seat) -> T) -> Self {
        Self(Seat::all(seats).map(value).collect())
    }

    /// Number of seats.
    #[must_use]
    pub fn seats(&self) -> u8 {
        u8::try_from(self.0.len()).unwrap_or(u8::MAX)
    }

    /// The values in order of the seats.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Seat, &T)> {
        Seat::all(self.seats()).zip(&self.0)
    }

    /// The values in order of the seats, mutable.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (Seat, &mut T)> {
        Seat::all(self.seats()).zip(&mut self.0)
    }

    /// The values alone.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }

    /// The value of a seat, if the table has this seat.
    #[must_use]
    pub fn get(&self, seat: Seat) -> Option<&T> {
        self.0.get(seat.index())
    }
}

impl<T> From<Vec<T>> for PerSeat<T> {
    fn from(values: Vec<T>) -> Self {
        Self(values)
    }
}

impl<T> IntoIterator for PerSeat<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// # Panics
///
/// If the table does not have this seat.
impl<T> Index<Seat> for PerSeat<T> {
    type Output = T;

    fn index(&self, seat: Seat) -> &T {
        &self.0[seat.index()]
    }
}

/// # Panics
///
/// If the table does not have this seat.
impl<T> IndexMut<Seat> for PerSeat<T> {
    fn index_mut(&mut self, seat: Seat) -> &mut T {
        &mut self.0[seat.index()]
    }
}
