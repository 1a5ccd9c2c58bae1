//! A hand: how many it holds of each kind.

use std::fmt;

use super::tile::{COPIES, MahjongSuit, Tile, print};

/// The most tiles that a hand holds: 13 and the one that was drawn.
pub(super) const LARGEST: u8 = 14;

/// At most 14 tiles, at most four of a kind.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Hand {
    suits: [SuitCounts; 3],
    len: u8,
}

/// Number of tiles of each rank of a suit: an octal digit each, rank 1 the
/// lowest.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct SuitCounts(pub(super) u32);

impl SuitCounts {
    pub(super) const fn of(self, rank: u8) -> u8 {
        (self.0 >> (3 * (rank - 1)) & 7) as u8
    }

    /// With one more.
    pub(super) const fn with(self, rank: u8) -> Self {
        Self(self.0 + (1 << (3 * (rank - 1))))
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Number of ranks with four tiles. Only 4 has the third bit.
    pub(super) const fn fours(self) -> u32 {
        (self.0 & 0o444_444_444).count_ones()
    }

    /// Number of ranks with an odd number of tiles.
    pub(super) const fn odd(self) -> u32 {
        (self.0 & 0o111_111_111).count_ones()
    }

    /// Number of pairs; four alike are two.
    pub(super) const fn pairs(self) -> u32 {
        (self.0 & 0o222_222_222).count_ones() + 2 * self.fours()
    }
}

impl Hand {
    /// No tiles.
    pub const EMPTY: Self = Self {
        suits: [SuitCounts(0); 3],
        len: 0,
    };

    /// These tiles, unless they are more than 14 or more than four of a kind.
    #[must_use]
    pub fn of(tiles: &[Tile]) -> Option<Self> {
        let mut hand = Self::EMPTY;
        for &tile in tiles {
            if !hand.has_room(tile) {
                return None;
            }
            hand.add(tile);
        }
        Some(hand)
    }

    /// Number of tiles.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// True if there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of tiles of this kind.
    #[must_use]
    pub const fn count(&self, tile: Tile) -> u8 {
        self.suit(tile.suit()).of(tile.rank())
    }

    /// True if there is one of this kind.
    #[must_use]
    pub const fn contains(&self, tile: Tile) -> bool {
        self.count(tile) > 0
    }

    /// True if one more of this kind can be added.
    #[must_use]
    pub const fn has_room(&self, tile: Tile) -> bool {
        self.len < LARGEST && self.count(tile) < COPIES
    }

    /// Adds a tile.
    ///
    /// # Panics
    ///
    /// Where there is no [room](Self::has_room) for it.
    pub fn add(&mut self, tile: Tile) {
        assert!(self.has_room(tile), "no room for {tile} in {self}");
        let suit = &mut self.suits[tile.suit() as usize];
        *suit = suit.with(tile.rank());
        self.len += 1;
    }

    /// Takes a tile away.
    ///
    /// # Panics
    ///
    /// Where there is none.
    pub fn remove(&mut self, tile: Tile) {
        assert!(self.contains(tile), "no {tile} in {self}");
        self.suits[tile.suit() as usize].0 -= 1 << (3 * (tile.rank() - 1));
        self.len -= 1;
    }

    /// With one tile more, as [`add`](Self::add) does it.
    ///
    /// # Panics
    ///
    /// Where there is no [room](Self::has_room) for it.
    #[must_use]
    pub fn with(mut self, tile: Tile) -> Self {
        self.add(tile);
        self
    }

    /// With one tile less, as [`remove`](Self::remove) does it.
    ///
    /// # Panics
    ///
    /// Where there is none.
    #[must_use]
    pub fn without(mut self, tile: Tile) -> Self {
        self.remove(tile);
        self
    }

    /// The kinds that it holds, each once, in order.
    pub fn kinds(&self) -> impl Iterator<Item = Tile> {
        let hand = *self;
        Tile::all().filter(move |&tile| hand.contains(tile))
    }

    /// Its tiles, in order.
    pub fn tiles(&self) -> impl Iterator<Item = Tile> {
        let hand = *self;
        Tile::all().flat_map(move |tile| std::iter::repeat_n(tile, hand.count(tile).into()))
    }

    pub(super) const fn suit(&self, suit: MahjongSuit) -> SuitCounts {
        self.suits[suit as usize]
    }

    pub(super) const fn suits(&self) -> [SuitCounts; 3] {
        self.suits
    }
}

impl fmt::Display for Hand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(&self.tiles().collect::<Vec<_>>()))
    }
}

impl fmt::Debug for Hand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
