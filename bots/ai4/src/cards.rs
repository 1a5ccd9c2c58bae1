//! Sets of cards as 64 bits, with what playouts ask of them.

use std::ops::{BitAnd, BitOr, BitOrAssign, Sub, SubAssign};

const NATURALS: u64 = (1 << 52) - 1;
const EVERY_RANK: u64 = 0x1_1111_1111_1111;

/// The key of cards that are jokers only, above all ranks.
pub const JOKER_KEY: u8 = 13;

/// A set of cards. Bit `4 * rank + suit` is a natural card, with rank 0 the three and rank 12 the
/// two, and suits in the order clubs, diamonds, hearts, spades; bits 52 and 53 are the jokers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CardSet(u64);

impl CardSet {
    /// No cards.
    pub const NONE: Self = Self(0);
    /// All 54.
    pub const DECK: Self = Self((1 << 54) - 1);
    /// Both jokers.
    pub const JOKERS: Self = Self(0b11 << 52);
    /// The card that opens a round.
    pub const THREE_OF_CLUBS: Self = Self(1);

    /// The set with these bits; bits that stand for no card are dropped.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits & Self::DECK.0)
    }

    /// Its bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Number of cards.
    #[must_use]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// True if there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// True if all of these are among them.
    #[must_use]
    pub const fn contains_all(self, cards: Self) -> bool {
        cards.0 & !self.0 == 0
    }

    /// The jokers among them.
    #[must_use]
    pub const fn jokers(self) -> Self {
        Self(self.0 & Self::JOKERS.0)
    }

    /// The natural cards among them.
    #[must_use]
    pub const fn naturals(self) -> Self {
        Self(self.0 & NATURALS)
    }

    /// The suits in which a rank of 0 to 12 is there, as four bits.
    #[must_use]
    pub const fn suits_of(self, rank: u8) -> u8 {
        (self.0 >> (4 * rank)) as u8 & 0b1111
    }

    /// The card with the lowest bit, alone; none of none.
    #[must_use]
    pub const fn lowest(self) -> Self {
        Self(self.0 & self.0.wrapping_neg())
    }

    /// The card number `index` of the set, from the lowest bit, alone.
    #[must_use]
    pub const fn nth(self, index: u32) -> Self {
        let mut bits = self.0;
        let mut left = index;
        while left > 0 {
            bits &= bits.wrapping_sub(1);
            left -= 1;
        }
        Self(bits & bits.wrapping_neg())
    }

    /// Each card alone, from the lowest bit.
    pub fn each(self) -> impl Iterator<Item = Self> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let lowest = rest & rest.wrapping_neg();
            rest ^= lowest;
            (lowest != 0).then_some(Self(lowest))
        })
    }

    /// The natural cards in the order of their faces: bits 0 to 3 are the aces, then the twos, up
    /// to the kings.
    pub(crate) const fn faces(self) -> u64 {
        (self.0 << 8 | (self.0 & NATURALS) >> 44) & NATURALS
    }

    /// The inverse of [`faces`](Self::faces).
    pub(crate) const fn from_faces(faces: u64) -> Self {
        Self((faces >> 8 | faces << 44) & NATURALS)
    }

    /// The natural cards that can be part of a straight flush with so many jokers: without a joker
    /// the cards of three in a row; with them the cards that have another one of their suit no
    /// further away than the jokers bridge.
    #[must_use]
    pub const fn in_runs(self, jokers: u32) -> Self {
        let f = self.faces();
        let part = match jokers {
            0 => {
                let starts = f & f >> 4 & f >> 8;
                starts | starts << 4 | starts << 8
            }
            1 => f & (f << 4 | f >> 4 | f << 8 | f >> 8),
            _ => f & (f << 4 | f >> 4 | f << 8 | f >> 8 | f << 12 | f >> 12),
        };
        Self::from_faces(part & NATURALS)
    }

    /// The key of cards that are a combination: how high the weakest natural card is in this
    /// order, 0 to 12; [`JOKER_KEY`] without natural cards.
    #[must_use]
    pub const fn key(self, reversed: bool) -> u8 {
        let naturals = self.0 & NATURALS;
        if naturals == 0 {
            JOKER_KEY
        } else if reversed {
            12 - (63 - naturals.leading_zeros() as u8) / 4
        } else {
            naturals.trailing_zeros() as u8 / 4
        }
    }

    /// Number of these cards that are above a rank of 0 to 12 in this order, jokers included.
    #[must_use]
    pub(crate) const fn above(self, rank: u8, reversed: bool) -> u32 {
        if reversed {
            (self.0 & (((1 << (4 * rank)) - 1) | Self::JOKERS.0)).count_ones()
        } else {
            (self.0 >> (4 * rank + 4)).count_ones()
        }
    }

    /// One bit, that of clubs, for each rank that is there.
    pub(crate) const fn ranks(self) -> u64 {
        let bits = self.0 & NATURALS;
        (bits | bits >> 1 | bits >> 2 | bits >> 3) & EVERY_RANK
    }
}

impl BitOr for CardSet {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for CardSet {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl BitAnd for CardSet {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// The cards that are not in the other set.
impl Sub for CardSet {
    type Output = Self;

    fn sub(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }
}

impl SubAssign for CardSet {
    fn sub_assign(&mut self, others: Self) {
        self.0 &= !others.0;
    }
}
