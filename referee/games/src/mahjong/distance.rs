//! The distance of a hand from winning (shanten), and the tiles that lower it. Exact: a
//! fifth tile of a kind is never counted.

use super::{
    hand::{Hand, LARGEST, SuitCounts},
    shapes::{BothId, SuitShapeId, SuitTable, table},
    tile::{COPIES, MahjongSuit, TileSet},
    value::MissingSuit,
};

/// The definition of a winning hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goal {
    /// The rule on a missing suit: whether at most two suits may be kept.
    pub missing_suit: MissingSuit,
    /// True if seven pairs win too; four alike are two pairs.
    pub seven_pairs: bool,
}

impl Goal {
    /// The target that follows from the rule about the missing suit.
    #[must_use]
    pub const fn new(missing_suit: MissingSuit) -> Self {
        Self {
            missing_suit,
            seven_pairs: true,
        }
    }

    /// The smallest number of tiles that the hand lacks for a winning hand of existing
    /// tiles, minus 1: -1 has won, 0 is ready.
    #[must_use]
    #[inline]
    pub fn distance(self, hand: &Hand) -> i8 {
        let table = table();
        let [c, b, d] = hand.suits().map(|suit| SuitData::of(table, suit));
        self.rest(table, c, b).lacks(table, d) as i8 - 1
    }

    /// The tiles that lower the distance of a hand with room for one more tile. A ready
    /// hand wins with these tiles.
    #[must_use]
    pub fn accepts(self, hand: &Hand) -> TileSet {
        if hand.len() >= usize::from(LARGEST) {
            return TileSet::EMPTY;
        }
        let mut accepted = 0;
        let table = table();
        let suits = hand.suits();
        let [c, b, d] = suits.map(|suit| SuitData::of(table, suit));
        let before = self.rest(table, c, b).lacks(table, d);
        for (suit, one, other) in [
            (MahjongSuit::Characters, b, d),
            (MahjongSuit::Bamboos, c, d),
            (MahjongSuit::Dots, c, b),
        ] {
            let rest = self.rest(table, one, other);
            let counts = suits[suit as usize];
            let pairs = Pairs::of(counts);
            for (rank, id) in table.ids_with(counts, |rank| counts.of(rank) < COPIES) {
                let pairs = pairs.with(counts.of(rank));
                let more = SuitData { id, pairs };
                // Without a branch, since a processor could not predict it.
                let lower = rest.lacks(table, more) < before;
                accepted |= u32::from(lower) << (9 * suit as u32 + u32::from(rank) - 1);
            }
        }
        TileSet::from_bits(accepted)
    }

    #[inline]
    fn rest(self, table: &SuitTable, one: SuitData, other: SuitData) -> OtherSuits {
        OtherSuits {
            goal: self,
            one,
            other,
            both: table.both(one.id, other.id),
            without: match self.missing_suit {
                MissingSuit::Free => u8::MAX,
                MissingSuit::Required => self.lacks_of_two(table, one, other),
            },
        }
    }

    #[inline]
    fn lacks_of_two(self, table: &SuitTable, one: SuitData, other: SuitData) -> u8 {
        let melds = table.lacking(one.id, other.id);
        self.or_pairs(melds, one.pairs.and(other.pairs))
    }

    #[inline]
    fn or_pairs(self, melds: u8, pairs: Pairs) -> u8 {
        if self.seven_pairs {
            melds.min(pairs.lacking())
        } else {
            melds
        }
    }
}

/// The data of one suit for the distance.
#[derive(Clone, Copy)]
struct SuitData {
    id: SuitShapeId,
    pairs: Pairs,
}

impl SuitData {
    #[inline]
    fn of(table: &SuitTable, suit: SuitCounts) -> Self {
        Self {
            id: table.id(suit),
            pairs: Pairs::of(suit),
        }
    }
}

/// Two suits of a hand, to which the third is added.
struct OtherSuits {
    goal: Goal,
    one: SuitData,
    other: SuitData,
    both: BothId,
    /// Number of tiles that these two lack if the third is given up, where that is asked.
    without: u8,
}

impl OtherSuits {
    #[inline]
    fn lacks(&self, table: &SuitTable, third: SuitData) -> u8 {
        let goal = self.goal;
        match goal.missing_suit {
            MissingSuit::Free => goal.or_pairs(
                table.lacking_of_three(self.both, third.id),
                self.one.pairs.and(self.other.pairs).and(third.pairs),
            ),
            MissingSuit::Required => self
                .without
                .min(goal.lacks_of_two(table, self.one, third))
                .min(goal.lacks_of_two(table, self.other, third)),
        }
    }
}

/// Pairs and single tiles of a hand, counted for seven pairs.
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

    /// With one tile more, of which there were `held`.
    #[inline]
    const fn with(self, held: u8) -> Self {
        if held % 2 == 1 {
            Self {
                pairs: self.pairs + 1,
                singles: self.singles - 1,
            }
        } else {
            Self {
                pairs: self.pairs,
                singles: self.singles + 1,
            }
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
