//! A table of what the tiles of one suit can form: for every suit of at most 14 tiles,
//! how many tiles it lacks for some melds and a pair, and the kinds of its melds if it
//! is complete. A meld has only one suit, so a hand's value and distance are sums over
//! three entries.

use std::{collections::HashMap, sync::LazyLock};

use super::{
    hand::{LARGEST, SuitCounts},
    place::{RankParts, SuitPlaces},
    target::{Complete, MeldReading},
    tile::{COPIES, RANKS},
};

/// The most melds of a hand, and one more for none.
pub(super) const MELDS: usize = 5;

/// The shape of one suit: the melds that can be made of its tiles.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct SuitShape {
    /// By the number of melds: the tiles that they lack, at least.
    bare: [u8; MELDS],
    /// By the number of melds: the tiles that they and a pair lack.
    paired: [u8; MELDS],
    /// The complete readings that it has.
    pub(super) complete: Complete,
}

/// Builds the table, if it has not been built yet. It takes some tens of milliseconds,
/// so a program with a time limit should do it early.
pub fn prepare() {
    LazyLock::force(&TABLE);
}

/// The table; its entries are found by a suit's [`SuitShapeId`].
#[inline]
pub(super) fn table() -> &'static SuitTable {
    &TABLE
}

static TABLE: LazyLock<SuitTable> = LazyLock::new(SuitTable::build);

/// The data of every suit of at most 14 tiles. There are 405,350 of them but only 159
/// shapes, and only 180 shapes of two suits, so all combinations are computed in
/// advance.
pub(super) struct SuitTable {
    places: SuitPlaces,
    /// By the suit's place: its shape.
    ids: Vec<SuitShapeId>,
    /// By the shape.
    shapes: Vec<SuitShape>,
    /// By two shapes: what four melds and a pair within both lack.
    lacking: Vec<u8>,
    /// By two shapes: that of both.
    both: Vec<BothId>,
    /// By a shape of two suits and one of a third: what four melds and a pair
    /// within all lack.
    lacking_of_three: Vec<u8>,
}

/// The shape of a suit.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct SuitShapeId(u8);

/// The shape of two suits together.
#[derive(Clone, Copy)]
pub(super) struct BothId(u8);

impl SuitTable {
    #[inline]
    pub(super) fn id(&self, suit: SuitCounts) -> SuitShapeId {
        self.ids[self.places.of(RankParts::of(suit))]
    }

    /// The shape of a suit with one tile more, by the tile's rank; those of
    /// ranks for which `room` says that there is no more are left out.
    #[inline]
    pub(super) fn ids_with(
        &self,
        suit: SuitCounts,
        room: impl Fn(u8) -> bool,
    ) -> impl Iterator<Item = (u8, SuitShapeId)> {
        let parts = RankParts::of(suit);
        (1..=RANKS)
            .filter(move |&rank| room(rank))
            .map(move |rank| (rank, self.ids[self.places.of(parts.with(rank))]))
    }

    #[inline]
    pub(super) fn shape(&self, id: SuitShapeId) -> &SuitShape {
        &self.shapes[usize::from(id.0)]
    }

    /// Number of tiles that four melds and a pair within two suits lack.
    #[inline]
    pub(super) fn lacking(&self, one: SuitShapeId, other: SuitShapeId) -> u8 {
        self.lacking[self.shapes.len() * usize::from(one.0) + usize::from(other.0)]
    }

    /// The shape of two suits together.
    #[inline]
    pub(super) fn both(&self, one: SuitShapeId, other: SuitShapeId) -> BothId {
        self.both[self.shapes.len() * usize::from(one.0) + usize::from(other.0)]
    }

    /// Number of tiles that four melds and a pair within three suits lack.
    #[inline]
    pub(super) fn lacking_of_three(&self, both: BothId, third: SuitShapeId) -> u8 {
        self.lacking_of_three[self.shapes.len() * usize::from(both.0) + usize::from(third.0)]
    }
}

/// More than any suit lacks.
const NEVER: u8 = 100;

impl SuitTable {
    /// A suit lacks those tiles of a target that it does not share with it. So the
    /// first pass goes down from the targets, one tile at a time, and gives every part
    /// of a target what it lacks; the second pass goes up and gives every suit the best
    /// value of its parts.
    fn build() -> Self {
        let places = SuitPlaces::new();
        let unknown = SuitShape {
            bare: [NEVER; MELDS],
            paired: [NEVER; MELDS],
            complete: Complete::NOTHING,
        };
        let mut shapes = vec![unknown; places.len()];
        MeldReading::visit_all(|target| {
            let shape = &mut shapes[places.of(RankParts::of(target.tiles))];
            let lacks = if target.pair {
                &mut shape.paired
            } else {
                &mut shape.bare
            };
            lacks[target.melds] = 0;
            shape.complete = shape.complete.or(target.reading);
        });
        for parts in places.all().rev().filter(|parts| parts.size() < LARGEST) {
            let at = places.of(parts);
            for rank in (1..=RANKS).filter(|&rank| parts.count(rank) < COPIES) {
                let more = shapes[places.of(parts.with(rank))];
                shapes[at].improve(&more, 1);
            }
        }
        let mut ids = vec![SuitShapeId(0); places.len()];
        let mut found = HashMap::new();
        let mut different = Vec::new();
        for parts in places.all() {
            let at = places.of(parts);
            for rank in (1..=RANKS).filter(|&rank| parts.count(rank) > 0) {
                let less = shapes[places.of(parts.without(rank))];
                shapes[at].improve(&less, 0);
            }
            ids[at] = *found.entry(shapes[at]).or_insert_with(|| {
                different.push(shapes[at]);
                SuitShapeId(u8::try_from(different.len() - 1).expect("there are 159"))
            });
        }
        Self::put_together(places, ids, different)
    }

    fn put_together(places: SuitPlaces, ids: Vec<SuitShapeId>, shapes: Vec<SuitShape>) -> Self {
        let pairs = || {
            shapes
                .iter()
                .flat_map(|one| shapes.iter().map(move |two| (one, two)))
        };
        let mut found = HashMap::new();
        let mut different = Vec::new();
        let both = pairs()
            .map(|(one, two)| {
                // Complete readings are needed for single suits only.
                let both = SuitShape {
                    complete: Complete::NOTHING,
                    ..one.and(two)
                };
                *found.entry(both).or_insert_with(|| {
                    different.push(both);
                    BothId(u8::try_from(different.len() - 1).expect("there are 180"))
                })
            })
            .collect();
        let lacking = pairs().map(|(one, two)| one.lacking(two)).collect();
        let lacking_of_three = different
            .iter()
            .flat_map(|both| shapes.iter().map(|third| both.lacking(third)))
            .collect();
        Self {
            places,
            ids,
            shapes,
            lacking,
            both,
            lacking_of_three,
        }
    }
}

impl SuitShape {
    /// Number of tiles that four melds and a pair within two suits lack.
    #[inline]
    pub(super) fn lacking(&self, other: &Self) -> u8 {
        let mut least = u8::MAX;
        for melds in 0..MELDS {
            let rest = MELDS - 1 - melds;
            least = least
                .min(self.bare[melds] + other.paired[rest])
                .min(self.paired[melds] + other.bare[rest]);
        }
        least
    }

    /// The shape of two suits together, with the tiles that they lack.
    #[inline]
    pub(super) fn and(&self, other: &Self) -> Self {
        let mut both = Self {
            bare: [u8::MAX; MELDS],
            paired: [u8::MAX; MELDS],
            complete: self.complete.and(other.complete),
        };
        for melds in 0..MELDS {
            for rest in 0..MELDS - melds {
                let sum = melds + rest;
                both.bare[sum] = both.bare[sum].min(self.bare[melds] + other.bare[rest]);
                both.paired[sum] = both.paired[sum]
                    .min(self.bare[melds] + other.paired[rest])
                    .min(self.paired[melds] + other.bare[rest]);
            }
        }
        both
    }

    /// Takes what another suit lacks plus this many tiles, if that is less.
    fn improve(&mut self, other: &Self, more: u8) {
        for melds in 0..MELDS {
            self.bare[melds] = self.bare[melds].min(other.bare[melds] + more);
            self.paired[melds] = self.paired[melds].min(other.paired[melds] + more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_few_shapes() {
        let shapes = table().shapes.len();
        assert_eq!(shapes, 159);
        assert_eq!(table().lacking_of_three.len(), 180 * shapes);
    }
}
