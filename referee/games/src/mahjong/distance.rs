//! How far a hand is from winning (shanten), and the tiles that bring it
//! nearer. Exact: no fifth tile of a kind is ever counted on.

use super::{
    hand::{Hand, LARGEST, SuitCounts},
    shapes::{Id, Table, table},
    tile::{COPIES, RANKS, Suit, Tile, TileSet},
    value::MissingSuit,
};

/// What counts as winning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goal {
    /// Whether at most two suits may be kept.
    pub missing_suit: MissingSuit,
    /// Whether seven pairs win too; four alike are two pairs.
    pub seven_pairs: bool,
}

impl Goal {
    /// What the rules say with this about the missing suit.
    #[must_use]
    pub const fn new(missing_suit: MissingSuit) -> Self {
        Self {
            missing_suit,
            seven_pairs: true,
        }
    }

    /// The fewest tiles of some winning hand, made of tiles that exist, that
    /// the hand lacks, minus 1: -1 has won, 0 is ready.
    #[must_use]
    #[inline]
    pub fn distance(self, hand: &Hand) -> i8 {
        let (table, suits) = (table(), hand.suits());
        let ids = suits.map(|suit| table.id(suit));
        self.lacks(table, &suits, &ids) as i8 - 1
    }

    /// The tiles that lower the distance of a hand that has room for one more.
    /// Those of a ready hand are the ones that it wins with.
    #[must_use]
    pub fn accepts(self, hand: &Hand) -> TileSet {
        let mut accepted = TileSet::EMPTY;
        if hand.len() >= usize::from(LARGEST) {
            return accepted;
        }
        let (table, mut suits) = (table(), hand.suits());
        let mut ids = suits.map(|suit| table.id(suit));
        let before = self.lacks(table, &suits, &ids);
        for suit in Suit::ALL {
            let at = suit as usize;
            let (counts, id) = (suits[at], ids[at]);
            for rank in (1..=RANKS).filter(|&rank| counts.of(rank) < COPIES) {
                suits[at] = counts.with(rank);
                ids[at] = table.id(suits[at]);
                if self.lacks(table, &suits, &ids) < before
                    && let Some(tile) = Tile::new(suit, rank)
                {
                    accepted.insert(tile);
                }
            }
            (suits[at], ids[at]) = (counts, id);
        }
        accepted
    }

    #[inline]
    fn lacks(self, table: &Table, suits: &[SuitCounts; 3], ids: &[Id; 3]) -> u8 {
        let [c, b, d] = *ids;
        let melds = match self.missing_suit {
            MissingSuit::Free => {
                let [c, b, d] = [c, b, d].map(|id| table.shape(id));
                c.and(b).lacking(d)
            }
            MissingSuit::Required => {
                let (cb, cd, bd) = (
                    table.lacking(c, b),
                    table.lacking(c, d),
                    table.lacking(b, d),
                );
                cb.min(cd).min(bd)
            }
        };
        if !self.seven_pairs {
            return melds;
        }
        let [c, b, d] = suits.map(Pairs::of);
        let pairs = match self.missing_suit {
            MissingSuit::Free => c.and(b).and(d).lacking(),
            MissingSuit::Required => {
                let (cb, cd, bd) = (c.and(b), c.and(d), b.and(d));
                cb.lacking().min(cd.lacking()).min(bd.lacking())
            }
        };
        melds.min(pairs)
    }
}

/// What there is for seven pairs.
#[derive(Clone, Copy)]
struct Pairs {
    pairs: u8,
    /// Tiles that lack one for a pair.
    singles: u8,
}

impl Pairs {
    #[inline]
    const fn of(suit: SuitCounts) -> Self {
        Self {
            pairs: suit.pairs() as u8,
            singles: suit.odd() as u8,
        }
    }

    const fn and(self, other: Self) -> Self {
        Self {
            pairs: self.pairs + other.pairs,
            singles: self.singles + other.singles,
        }
    }

    /// A pair lacks one tile where there is a single for it, and else two.
    const fn lacking(self) -> u8 {
        let lacking = 7 - self.pairs;
        lacking + lacking.saturating_sub(self.singles)
    }
}
