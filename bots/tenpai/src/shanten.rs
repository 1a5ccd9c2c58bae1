//! The other seat as the bot `shanten` plays it: the discards that leave the hand nearest to a win in any
//! two suits, among them those after which most unseen tiles bring it nearer still, among them the largest
//! tile. It takes every win.

use crate::{
    shapes::{RanksShapeId, Shapes, shapes},
    tile::{COPIES, RANKS, Ranks, SUITS, Tile, Tiles},
    value::faan,
};

/// A seat that plays as the bot `shanten` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shanten {
    /// Its hand: 13 tiles.
    pub hand: Tiles,
    /// The tiles that it has not seen.
    unseen: Tiles,
}

/// A suit of a hand, as far as the distance to a win depends on it.
#[derive(Clone, Copy)]
struct HandSuit {
    id: RanksShapeId,
    pairs: u8,
    singles: u8,
}

impl HandSuit {
    fn of(shapes: &Shapes, ranks: Ranks) -> Self {
        let singles = ranks.odd().count_ones() as u8;
        Self {
            id: shapes.id(ranks),
            pairs: (ranks.size() - singles) / 2,
            singles,
        }
    }

    /// The suit with one tile more or less, if it was this one.
    fn toggled(self, shapes: &Shapes, after: Ranks, is_more: bool, was_odd: bool) -> Self {
        let id = shapes.id(after);
        let (pairs, singles) = match (is_more, was_odd) {
            (true, true) => (self.pairs + 1, self.singles - 1),
            (true, false) => (self.pairs, self.singles + 1),
            (false, true) => (self.pairs, self.singles - 1),
            (false, false) => (self.pairs - 1, self.singles + 1),
        };
        Self { id, pairs, singles }
    }

    /// Number of tiles lacking for melds or seven pairs in both suits.
    #[inline]
    fn lacking(self, shapes: &Shapes, other: Self) -> u8 {
        let missing = 7 - (self.pairs + other.pairs).min(7);
        let pairs = missing + missing.saturating_sub(self.singles + other.singles);
        shapes.lacking_of_two(self.id, other.id).min(pairs)
    }
}

/// The other two suits.
const OTHERS: [[usize; 2]; SUITS] = [[1, 2], [0, 2], [0, 1]];

/// All suits of a hand.
struct HandSuits<'a> {
    shapes: &'a Shapes,
    hand: Tiles,
    parts: [HandSuit; SUITS],
    /// By suit: what the other two lack.
    without: [u8; SUITS],
}

impl<'a> HandSuits<'a> {
    fn of(shapes: &'a Shapes, hand: Tiles) -> Self {
        let parts = hand.suits.map(|ranks| HandSuit::of(shapes, ranks));
        let [one, two, three] = parts;
        Self {
            shapes,
            hand,
            parts,
            without: [
                two.lacking(shapes, three),
                one.lacking(shapes, three),
                one.lacking(shapes, two),
            ],
        }
    }

    /// Number of tiles that the hand lacks if the suit is this one.
    #[inline]
    fn lacking(&self, suit: usize, part: HandSuit) -> u8 {
        let [one, other] = OTHERS[suit];
        let one = part.lacking(self.shapes, self.parts[one]);
        let other = part.lacking(self.shapes, self.parts[other]);
        one.min(other).min(self.without[suit])
    }

    /// Number of these tiles that bring the hand nearer to a win than so many.
    fn accepted(&self, lacking: u8, unseen: &Tiles) -> u32 {
        let mut sum = 0;
        for suit in 0..SUITS {
            let ranks = self.hand.suits[suit];
            for rank in 0..RANKS {
                let copies = unseen.suits[suit].of(rank);
                if copies == 0 || ranks.of(rank) == COPIES {
                    continue;
                }
                let was_odd = ranks.of(rank) % 2 == 1;
                let part = self.parts[suit];
                let more = part.toggled(self.shapes, ranks.with(rank), true, was_odd);
                let is_nearer = self.lacking(suit, more) < lacking;
                sum += u32::from(copies) * u32::from(is_nearer);
            }
        }
        sum
    }
}

/// The discards of a hand of 14 tiles that leave it nearest to a win, with what it lacks then.
struct Nearest {
    shapes: &'static Shapes,
    hand: Tiles,
    tiles: [Tile; 14],
    count: usize,
    lacking: u8,
}

impl Nearest {
    fn of(hand: Tiles) -> Self {
        let shapes = shapes();
        let parts = HandSuits::of(shapes, hand);
        let mut nearest = Self {
            shapes,
            hand,
            tiles: [Tile::of(0, 0); 14],
            count: 0,
            lacking: u8::MAX,
        };
        for tile in hand.kinds() {
            let suit = tile.suit();
            let ranks = hand.suits[suit];
            let was_odd = ranks.of(tile.rank()) % 2 == 1;
            let part = parts.parts[suit];
            let less = part.toggled(shapes, ranks.without(tile.rank()), false, was_odd);
            let lacking = parts.lacking(suit, less);
            if lacking < nearest.lacking {
                (nearest.lacking, nearest.count) = (lacking, 0);
            }
            if lacking == nearest.lacking {
                nearest.tiles[nearest.count] = tile;
                nearest.count += 1;
            }
        }
        nearest
    }

    fn tiles(&self) -> &[Tile] {
        &self.tiles[..self.count]
    }

    /// Number of these tiles that bring the hand nearer still after this discard, and the tile.
    fn rank(&self, tile: Tile, unseen: &Tiles) -> (u32, Tile) {
        let parts = HandSuits::of(self.shapes, self.hand.without(tile));
        (parts.accepted(self.lacking, unseen), tile)
    }

    /// The one that it discards.
    fn chosen(&self, unseen: &Tiles) -> Tile {
        if let [only] = self.tiles() {
            return *only;
        }
        let ranks = self.tiles().iter().map(|&tile| self.rank(tile, unseen));
        ranks.max().expect("a hand has tiles").1
    }

    /// True if that is this one.
    fn is_chosen(&self, tile: Tile, unseen: &Tiles) -> bool {
        let mut others = self.tiles().iter().filter(|&&other| other != tile);
        self.tiles().contains(&tile)
            && (self.count == 1 || {
                let rank = self.rank(tile, unseen);
                others.all(|&other| self.rank(other, unseen) < rank)
            })
    }
}

impl Shanten {
    /// With these 13 tiles.
    ///
    /// # Panics
    ///
    /// If there are five of a tile.
    #[must_use]
    pub fn new(dealt: &[Tile]) -> Self {
        Self {
            hand: dealt.iter().copied().collect(),
            unseen: dealt.iter().copied().fold(Tiles::FULL, Tiles::without),
        }
    }

    /// The faan that it wins with this tile, if it wins.
    #[must_use]
    pub fn wins(&self, tile: Tile) -> Option<u32> {
        let has_room = self.hand.count(tile) < COPIES;
        has_room
            .then(|| faan(&self.hand.with(tile), false))
            .flatten()
    }

    /// Sees the discard of the other seat.
    ///
    /// # Panics
    ///
    /// If it has seen four of it.
    pub fn sees(&mut self, tile: Tile) {
        self.unseen = self.unseen.without(tile);
    }

    /// Draws a tile with which it does not win, and discards one.
    ///
    /// # Panics
    ///
    /// If it has seen four of the drawn tile.
    pub fn discard(&mut self, drawn: Tile) -> Tile {
        self.unseen = self.unseen.without(drawn);
        let hand = self.hand.with(drawn);
        let tile = Nearest::of(hand).chosen(&self.unseen);
        self.hand = hand.without(tile);
        tile
    }

    /// Draws a tile with which it does not win, and discards this one, if that is what it would discard;
    /// otherwise nothing changes.
    pub(crate) fn discards(&mut self, drawn: Tile, tile: Tile) -> bool {
        let (hand, unseen) = (self.hand.with(drawn), self.unseen.without(drawn));
        let discards = Nearest::of(hand).is_chosen(tile, &unseen);
        if discards {
            (self.hand, self.unseen) = (hand.without(tile), unseen);
        }
        discards
    }
}
