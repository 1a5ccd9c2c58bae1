//! Combinations: which sets of cards can be played, and what beats them.

use std::fmt;

use super::card::{Cards, JOKER_STRENGTH, Order, Rank};

/// The longest straight flush: from the ace to the king.
pub(super) const LONGEST: u8 = 13;

/// The kind of a combination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CombinationKind {
    /// One card.
    Single,
    /// Two of a rank.
    Pair,
    /// Three of a rank.
    Three,
    /// Four of a rank; it reverses the order.
    Four,
    /// Three or more of a suit with consecutive faces.
    StraightFlush,
}

/// A set of cards that can be played.
///
/// The cards alone say what it is. Jokers without a natural card are a single
/// or a pair. One natural card with jokers is of its rank. Two natural cards or
/// more are of one rank, or they are not and then of one suit; and a straight
/// flush is as long as it has cards, whatever its jokers stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Combination {
    kind: CombinationKind,
    cards: Cards,
}

impl Combination {
    /// The combination of these cards, if they can be played.
    #[must_use]
    pub fn of(cards: Cards) -> Option<Self> {
        let naturals = cards.naturals();
        let (Some(low), Some(high)) = (naturals.first(), naturals.last()) else {
            return match cards.len() {
                1 => Some(CombinationKind::Single),
                2 => Some(CombinationKind::Pair),
                _ => None,
            }
            .map(|kind| Self { kind, cards });
        };
        let kind = if low.rank() == high.rank() {
            match cards.len() {
                1 => CombinationKind::Single,
                2 => CombinationKind::Pair,
                3 => CombinationKind::Three,
                4 => CombinationKind::Four,
                _ => return None,
            }
        } else {
            if !(3..=LONGEST).contains(&cards.len()) {
                return None;
            }
            let suit = low.suit()?;
            if !Cards::of_suit(suit).contains_all(naturals) {
                return None;
            }
            // Jokers that are not needed inside go to an end; there is always room.
            let faces = naturals.faces_of(suit);
            let span = 16 - faces.leading_zeros() - faces.trailing_zeros();
            if span > u32::from(cards.len()) {
                return None;
            }
            CombinationKind::StraightFlush
        };
        Some(Self { kind, cards })
    }

    /// The kind of combination.
    #[must_use]
    pub const fn kind(self) -> CombinationKind {
        self.kind
    }

    /// The cards of this combination.
    #[must_use]
    pub const fn cards(self) -> Cards {
        self.cards
    }

    /// Number of cards.
    #[must_use]
    pub const fn length(self) -> u8 {
        self.cards.len()
    }

    /// The key by which combinations are compared: how high its weakest natural card is
    /// in this order, 0 to 12; 13 if it has only jokers.
    #[must_use]
    pub fn key(self, order: Order) -> u8 {
        key(self.cards, order)
    }

    /// True if it beats another combination: it has the same kind and length and a
    /// higher key.
    #[must_use]
    pub fn beats(self, other: Self, order: Order) -> bool {
        self.kind == other.kind
            && self.length() == other.length()
            && self.key(order) > other.key(order)
    }

    /// True if it reverses the order.
    #[must_use]
    pub fn reverses(self) -> bool {
        self.kind == CombinationKind::Four
    }

    /// The rank of its weakest natural card, where it has one.
    #[must_use]
    pub fn key_rank(self, order: Order) -> Option<Rank> {
        weakest(self.cards, order)
    }
}

/// `pair`, `straight flush of 4 cards`.
impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            CombinationKind::Single => "single",
            CombinationKind::Pair => "pair",
            CombinationKind::Three => "three of a kind",
            CombinationKind::Four => "four of a kind",
            CombinationKind::StraightFlush => {
                return write!(f, "straight flush of {} cards", self.length());
            }
        };
        f.write_str(what)
    }
}

/// The key of cards that are a combination.
pub(super) fn key(cards: Cards, order: Order) -> u8 {
    weakest(cards, order).map_or(JOKER_STRENGTH, |rank| order.strength(rank))
}

fn weakest(cards: Cards, order: Order) -> Option<Rank> {
    let naturals = cards.naturals();
    match order {
        Order::Normal => naturals.first(),
        Order::Reversed => naturals.last(),
    }?
    .rank()
}
