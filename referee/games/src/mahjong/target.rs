//! The possible readings of the tiles of one suit: melds and at most a pair, in every way.

use super::{
    hand::SuitCounts,
    shapes::MELDS,
    tile::{COPIES, RANKS},
};

/// The properties of the tiles of one suit if all are used: one bit for each property
/// that some reading has. No bit is set if they do not form melds and at most one pair.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Complete(u8);

impl Complete {
    /// Melds and at most a pair.
    pub(super) const MELDS: Self = Self(1);
    /// The melds are triplets.
    pub(super) const TRIPLETS: Self = Self(2);
    /// The melds are triplets, and nothing but 2, 5, 8 is used.
    pub(super) const TWO_FIVE_EIGHT: Self = Self(4);
    /// There is a terminal in every meld and in the pair.
    pub(super) const TERMINALS: Self = Self(8);
    pub(super) const ALL: Self = Self(15);
    /// The properties that a reading with a sequence can have.
    const OF_SEQUENCES: Self = Self(Self::MELDS.0 | Self::TERMINALS.0);

    pub(super) const NOTHING: Self = Self(0);

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The properties of one meld or pair of these ranks.
    pub(super) fn of_group(ranks: &[u8]) -> Self {
        let mut own = match ranks {
            [first, others @ ..] if others.iter().any(|rank| rank != first) => Self::OF_SEQUENCES,
            _ => Self::ALL,
        };
        if !ranks.iter().any(|rank| [1, RANKS].contains(rank)) {
            own.0 &= !Self::TERMINALS.0;
        }
        if !ranks.iter().all(|rank| [2, 5, 8].contains(rank)) {
            own.0 &= !Self::TWO_FIVE_EIGHT.0;
        }
        own
    }

    pub(super) const fn has(self, what: Self) -> bool {
        self.0 & what.0 != 0
    }
}

/// Melds of one suit and at most one pair: one reading of the tiles that they
/// consist of.
#[derive(Clone, Copy)]
pub(super) struct MeldReading {
    pub(super) tiles: SuitCounts,
    pub(super) melds: usize,
    pub(super) pair: bool,
    pub(super) reading: Complete,
}

impl MeldReading {
    /// Visits every target of existing tiles, from the empty one.
    pub(super) fn visit_all(mut visitor: impl FnMut(&Self)) {
        let none = Self {
            tiles: SuitCounts(0),
            melds: 0,
            pair: false,
            reading: Complete::ALL,
        };
        none.visit(0, &mut visitor);
    }

    /// Visits this target and all larger ones. `next` is the first meld that may still
    /// be added, so that no target comes twice: the triplets of the nine ranks, then
    /// the seven sequences.
    fn visit(self, next: u8, visitor: &mut impl FnMut(&Self)) {
        visitor(&self);
        if !self.pair {
            for rank in 1..=RANKS {
                if let Some(mut paired) = self.with(&[rank; 2]) {
                    paired.pair = true;
                    visitor(&paired);
                }
            }
        }
        if self.melds + 1 == MELDS {
            return;
        }
        for meld in next..RANKS + 7 {
            let more = if meld < RANKS {
                self.with(&[meld + 1; 3])
            } else {
                let rank = meld - RANKS + 1;
                self.with(&[rank, rank + 1, rank + 2])
            };
            if let Some(mut more) = more {
                more.melds += 1;
                more.visit(meld, visitor);
            }
        }
    }

    /// With these ranks added, if the tiles exist.
    fn with(mut self, ranks: &[u8]) -> Option<Self> {
        for &rank in ranks {
            if self.tiles.of(rank) == COPIES {
                return None;
            }
            self.tiles = self.tiles.with(rank);
        }
        self.reading = self.reading.and(Complete::of_group(ranks));
        Some(self)
    }
}
