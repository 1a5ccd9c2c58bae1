//! Entrants.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A bot of a tournament, by its index in the list of entrants. Where a schedule
/// seeds, a lower number is a better seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Entrant(u32);

impl Entrant {
    /// The entrant with this number.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Its number, from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// All entrants of a tournament, in order.
    pub fn all(entrants: u32) -> impl ExactSizeIterator<Item = Self> + Clone {
        (0..entrants).map(Self)
    }
}

impl fmt::Display for Entrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
