//! Tiles and hands.

use std::iter;

use rand::{Rng, RngExt as _};

/// Number of kinds of tiles.
pub const KINDS: usize = 27;
/// Number of tiles of a kind.
pub const COPIES: u8 = 4;
/// Number of ranks of a suit.
pub(crate) const RANKS: usize = 9;
/// Number of suits.
pub(crate) const SUITS: usize = 3;

/// A kind of tile, from 0 to 26: the ranks 1 to 9 of characters, of bamboos and of dots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tile(u8);

impl Tile {
    /// The kind of this index; none from 27.
    #[must_use]
    pub const fn new(index: usize) -> Option<Self> {
        if index < KINDS {
            Some(Self(index as u8))
        } else {
            None
        }
    }

    /// All kinds, in order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..KINDS as u8).map(Self)
    }

    /// Its place among all kinds, from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) const fn of(suit: usize, rank: usize) -> Self {
        Self((suit * RANKS + rank) as u8)
    }

    /// 0 to 2.
    pub(crate) const fn suit(self) -> usize {
        self.index() / RANKS
    }

    /// 0 to 8.
    pub(crate) const fn rank(self) -> usize {
        self.index() % RANKS
    }
}

/// Number of tiles of each rank of a suit: an octal digit each, rank 0 the lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Ranks(pub(crate) u32);

impl Ranks {
    pub(crate) const fn of(self, rank: usize) -> u8 {
        (self.0 >> (3 * rank) & 7) as u8
    }

    pub(crate) const fn with(self, rank: usize) -> Self {
        Self(self.0 + (1 << (3 * rank)))
    }

    pub(crate) const fn without(self, rank: usize) -> Self {
        Self(self.0 - (1 << (3 * rank)))
    }

    /// Those of these ranks; each digit of a mask is 0 or 7.
    pub(crate) const fn and(self, mask: Self) -> Self {
        Self(self.0 & mask.0)
    }

    /// Number of tiles.
    pub(crate) const fn size(self) -> u8 {
        let (ones, twos, fours) = (self.odd(), self.0 >> 1 & 0o111_111_111, self.fours());
        (ones.count_ones() + 2 * twos.count_ones() + 4 * fours) as u8
    }

    /// Number of ranks with four tiles. Only 4 has the third bit.
    pub(crate) const fn fours(self) -> u32 {
        (self.0 & 0o444_444_444).count_ones()
    }

    /// One bit for each rank that there is an odd number of.
    pub(crate) const fn odd(self) -> u32 {
        self.0 & 0o111_111_111
    }
}

/// Some tiles, at most four of a kind: a hand, or the tiles that are unseen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tiles {
    pub(crate) suits: [Ranks; SUITS],
}

impl Tiles {
    /// No tiles.
    pub const EMPTY: Self = Self {
        suits: [Ranks(0); SUITS],
    };
    /// All 108 tiles.
    pub const FULL: Self = Self {
        suits: [Ranks(0o444_444_444); SUITS],
    };

    /// Number of tiles of this kind.
    #[must_use]
    pub const fn count(&self, tile: Tile) -> u8 {
        self.suits[tile.suit()].of(tile.rank())
    }

    /// Number of tiles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.suits.iter().map(|suit| usize::from(suit.size())).sum()
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::EMPTY
    }

    /// With one tile more.
    ///
    /// # Panics
    ///
    /// If there are four of it.
    #[must_use]
    pub fn with(mut self, tile: Tile) -> Self {
        assert!(self.count(tile) < COPIES, "a fifth tile of a kind");
        let suit = &mut self.suits[tile.suit()];
        *suit = suit.with(tile.rank());
        self
    }

    /// With one tile less.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[must_use]
    pub fn without(mut self, tile: Tile) -> Self {
        assert!(self.count(tile) > 0, "no such tile");
        let suit = &mut self.suits[tile.suit()];
        *suit = suit.without(tile.rank());
        self
    }

    /// The kinds that it holds, each once, in order.
    pub fn kinds(&self) -> impl Iterator<Item = Tile> + use<> {
        let hand = *self;
        Tile::all().filter(move |&tile| hand.count(tile) > 0)
    }

    /// All its tiles, in order.
    pub fn tiles(&self) -> impl Iterator<Item = Tile> + use<> {
        let hand = *self;
        let copies = move |tile| iter::repeat_n(tile, usize::from(hand.count(tile)));
        hand.kinds().flat_map(copies)
    }
}

/// Puts tiles into a random order.
pub fn shuffle<T>(items: &mut [T], rng: &mut impl Rng) {
    for at in (1..items.len()).rev() {
        items.swap(at, rng.random_range(0..=at));
    }
}

impl FromIterator<Tile> for Tiles {
    fn from_iter<I: IntoIterator<Item = Tile>>(tiles: I) -> Self {
        tiles.into_iter().fold(Self::EMPTY, Self::with)
    }
}
