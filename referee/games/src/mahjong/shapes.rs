//! What can be made of the tiles of one suit: for every suit of at most 14
//! tiles, how many tiles some melds and a pair still lack, and what melds it
//! consists of where it is complete. Suits don't mix in a meld, so a hand's
//! value and distance are sums over three of these.

use std::{collections::HashMap, sync::LazyLock};

use super::{
    hand::{LARGEST, SuitCounts},
    tile::{COPIES, RANKS},
};

/// The most melds of a hand, and one more for none.
const MELDS: usize = 5;

/// What can be made of the tiles of one suit.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    /// By the number of melds: the tiles that they lack, at least.
    bare: [u8; MELDS],
    /// By the number of melds: the tiles that they and a pair lack.
    paired: [u8; MELDS],
    /// What it is as it stands.
    pub(super) complete: Complete,
}

/// What the tiles of one suit are when they are all used: bits, for what some
/// reading of them is. None is set where they are not melds and at most a pair.
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
    const ALL: Self = Self(15);

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) const fn has(self, what: Self) -> bool {
        self.0 & what.0 != 0
    }
}

/// Builds the table, where it has not been built yet. It takes some tens of
/// milliseconds, so a program that goes by the clock wants it done early.
pub fn prepare() {
    LazyLock::force(&TABLE);
}

/// The table; what it says of a suit is found by the suit's [`Id`].
#[inline]
pub(super) fn table() -> &'static Table {
    &TABLE
}

static TABLE: LazyLock<Table> = LazyLock::new(Table::build);

/// What is known about every suit of at most 14 tiles. There are 405,350 of
/// them but only 159 shapes, and only 180 shapes of two suits, so all that can
/// be put together is put together in advance.
pub(super) struct Table {
    places: Places,
    /// By the suit's place: its shape.
    ids: Vec<Id>,
    /// By the shape.
    shapes: Vec<Shape>,
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
pub(super) struct Id(u8);

/// The shape of two suits together.
#[derive(Clone, Copy)]
pub(super) struct BothId(u8);

impl Table {
    #[inline]
    pub(super) fn id(&self, suit: SuitCounts) -> Id {
        self.ids[self.places.of(suit)]
    }

    /// The shape of a suit with one tile more, by the tile's rank; those of
    /// ranks for which `room` says that there is no more are left out.
    #[inline]
    pub(super) fn ids_with(
        &self,
        suit: SuitCounts,
        room: impl Fn(u8) -> bool,
    ) -> impl Iterator<Item = (u8, Id)> {
        let (low, high) = Places::parts(suit);
        (1..=RANKS)
            .filter(move |&rank| room(rank))
            .map(move |rank| {
                let step = STEPS[usize::from(rank - 1)];
                let at = if rank <= 4 {
                    self.places.at(low + step, high)
                } else {
                    self.places.at(low, high + step)
                };
                (rank, self.ids[at])
            })
    }

    #[inline]
    pub(super) fn shape(&self, id: Id) -> &Shape {
        &self.shapes[usize::from(id.0)]
    }

    /// What four melds and a pair within two suits lack.
    #[inline]
    pub(super) fn lacking(&self, one: Id, other: Id) -> u8 {
        self.lacking[self.shapes.len() * usize::from(one.0) + usize::from(other.0)]
    }

    /// The shape of two suits together.
    #[inline]
    pub(super) fn both(&self, one: Id, other: Id) -> BothId {
        self.both[self.shapes.len() * usize::from(one.0) + usize::from(other.0)]
    }

    /// What four melds and a pair within three suits lack.
    #[inline]
    pub(super) fn lacking_of_three(&self, both: BothId, third: Id) -> u8 {
        self.lacking_of_three[self.shapes.len() * usize::from(both.0) + usize::from(third.0)]
    }
}

/// What one tile more of a rank adds to its part.
const STEPS: [usize; RANKS as usize] = [1, 5, 25, 125, 1, 5, 25, 125, 625];

/// How many ways there are to hold tiles of four ranks, and of five.
const LOWS: usize = 625;
const HIGHS: usize = 3125;

/// Numbers the suits of at most 14 tiles without gaps. A suit is cut into the
/// ranks 1 to 4 and 5 to 9. The low parts are sorted by how many tiles they
/// have, so those that go with a high part are the first of them.
struct Places {
    /// By the low part read as a number of base 5.
    low: [u16; LOWS],
    /// By the high part: where those with this one begin.
    high: [u32; HIGHS],
    len: usize,
}

impl Places {
    fn new() -> Self {
        let mut by_size: Vec<usize> = (0..LOWS).collect();
        by_size.sort_by_key(|&low| size(low));
        let mut low = [0; LOWS];
        for (at, &part) in by_size.iter().enumerate() {
            low[part] = at as u16;
        }
        let mut high = [0; HIGHS];
        let mut len = 0;
        for (part, start) in high.iter_mut().enumerate() {
            *start = len as u32;
            len += by_size.iter().filter(|&&low| fits(low, part)).count();
        }
        Self { low, high, len }
    }

    #[inline]
    fn of(&self, suit: SuitCounts) -> usize {
        let (low, high) = Self::parts(suit);
        self.at(low, high)
    }

    #[inline]
    const fn parts(suit: SuitCounts) -> (usize, usize) {
        // Octal digits to base 5, two at a time and then four at a time: a
        // field of 8h + l becomes 5h + l, one of 64h + l becomes 25h + l.
        let twos = suit.0 - 3 * (suit.0 >> 3 & 0o007_070_707);
        let fours = twos - 39 * (twos >> 6 & 0o000_770_077);
        let low = fours & 0o7777;
        let high = (fours >> 12 & 0o7777) + 625 * (fours >> 24);
        (low as usize, high as usize)
    }

    #[inline]
    const fn at(&self, low: usize, high: usize) -> usize {
        self.high[high] as usize + self.low[low] as usize
    }
}

/// How many tiles a part holds.
fn size(part: usize) -> u8 {
    (0..5).map(|at| digit(part, at)).sum()
}

fn fits(low: usize, high: usize) -> bool {
    size(low) + size(high) <= LARGEST
}

const fn digit(part: usize, at: u32) -> u8 {
    (part / 5_usize.pow(at) % 5) as u8
}

/// More than any suit lacks.
const NEVER: u8 = 100;

impl Table {
    /// What a suit lacks of a target is what the target has beyond the tiles
    /// that both share. So first every suit that is part of a target is given
    /// what it lacks of it, going down from the targets a tile at a time, and
    /// then every suit takes the best of its parts, going up.
    fn build() -> Self {
        let places = Places::new();
        let mut shapes = vec![
            Shape {
                bare: [NEVER; MELDS],
                paired: [NEVER; MELDS],
                complete: Complete(0),
            };
            places.len
        ];
        Target::default().visit(0, &mut |target| {
            let shape = &mut shapes[places.of(target.tiles)];
            let lacks = if target.pair {
                &mut shape.paired
            } else {
                &mut shape.bare
            };
            lacks[target.melds] = 0;
            shape.complete.0 |= target.reading.0;
        });
        let sizes: Vec<u8> = (0..HIGHS).map(size).collect();
        let parts = |low: usize, high: usize| sizes[low] + sizes[high] <= LARGEST;
        for high in (0..HIGHS).rev() {
            for low in (0..LOWS).rev().filter(|&low| parts(low, high)) {
                if sizes[low] + sizes[high] == LARGEST {
                    continue;
                }
                let at = places.at(low, high);
                for rank in 0..u32::from(RANKS) {
                    let more = match rank {
                        0..4 if digit(low, rank) < COPIES => {
                            places.at(low + 5_usize.pow(rank), high)
                        }
                        4.. if digit(high, rank - 4) < COPIES => {
                            places.at(low, high + 5_usize.pow(rank - 4))
                        }
                        _ => continue,
                    };
                    let more = shapes[more];
                    shapes[at].improve(&more, 1);
                }
            }
        }
        let mut ids = vec![Id(0); places.len];
        let mut found = HashMap::new();
        let mut different = Vec::new();
        for high in 0..HIGHS {
            for low in (0..LOWS).filter(|&low| parts(low, high)) {
                let at = places.at(low, high);
                for rank in 0..u32::from(RANKS) {
                    let less = match rank {
                        0..4 if digit(low, rank) > 0 => places.at(low - 5_usize.pow(rank), high),
                        4.. if digit(high, rank - 4) > 0 => {
                            places.at(low, high - 5_usize.pow(rank - 4))
                        }
                        _ => continue,
                    };
                    let less = shapes[less];
                    shapes[at].improve(&less, 0);
                }
                ids[at] = *found.entry(shapes[at]).or_insert_with(|| {
                    different.push(shapes[at]);
                    Id(u8::try_from(different.len() - 1).expect("there are 159"))
                });
            }
        }
        Self::put_together(places, ids, different)
    }

    fn put_together(places: Places, ids: Vec<Id>, shapes: Vec<Shape>) -> Self {
        let pairs = || {
            shapes
                .iter()
                .flat_map(|one| shapes.iter().map(move |two| (one, two)))
        };
        let mut found = HashMap::new();
        let mut different = Vec::new();
        let both = pairs()
            .map(|(one, two)| {
                // What is complete is asked of single suits alone.
                let complete = Complete(0);
                let both = Shape {
                    complete,
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

impl Shape {
    /// What four melds and a pair within two suits lack.
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

    /// What two suits together lack.
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

    /// Takes what another suit lacks, and this many tiles more, where that is
    /// less.
    fn improve(&mut self, other: &Self, more: u8) {
        for melds in 0..MELDS {
            self.bare[melds] = self.bare[melds].min(other.bare[melds] + more);
            self.paired[melds] = self.paired[melds].min(other.paired[melds] + more);
        }
    }
}

/// Melds of one suit and at most one pair: one reading of the tiles that they
/// consist of.
#[derive(Clone, Copy)]
struct Target {
    tiles: SuitCounts,
    melds: usize,
    pair: bool,
    reading: Complete,
}

impl Default for Target {
    fn default() -> Self {
        Self {
            tiles: SuitCounts(0),
            melds: 0,
            pair: false,
            reading: Complete::ALL,
        }
    }
}

impl Target {
    /// Visits this one and all that have more, of tiles that exist. `next` is
    /// the first of the melds that may still be added, so that none comes
    /// twice: the triplets of the nine ranks, then the seven sequences.
    fn visit(self, next: u8, visitor: &mut impl FnMut(&Self)) {
        visitor(&self);
        if !self.pair {
            for rank in 1..=RANKS {
                if let Some(mut paired) = self.with(&[rank; 2], Complete::ALL) {
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
                self.with(&[meld + 1; 3], Complete::ALL)
            } else {
                let rank = meld - RANKS + 1;
                let only = Complete(Complete::MELDS.0 | Complete::TERMINALS.0);
                self.with(&[rank, rank + 1, rank + 2], only)
            };
            if let Some(mut more) = more {
                more.melds += 1;
                more.visit(meld, visitor);
            }
        }
    }

    /// With these ranks more, if they exist.
    fn with(mut self, ranks: &[u8], reading: Complete) -> Option<Self> {
        for &rank in ranks {
            if self.tiles.of(rank) == COPIES {
                return None;
            }
            self.tiles = self.tiles.with(rank);
        }
        let terminal = ranks.iter().any(|rank| [1, RANKS].contains(rank));
        let middle = ranks.iter().all(|rank| [2, 5, 8].contains(rank));
        self.reading = self.reading.and(reading);
        if !terminal {
            self.reading.0 &= !Complete::TERMINALS.0;
        }
        if !middle {
            self.reading.0 &= !Complete::TWO_FIVE_EIGHT.0;
        }
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suit_has_a_place_of_its_own() {
        let places = Places::new();
        assert_eq!(places.len, 405_350);
        let mut taken = vec![false; places.len];
        for high in 0..HIGHS {
            for low in (0..LOWS).filter(|&low| fits(low, high)) {
                let octal = (0..9).rev().fold(0, |octal, at| {
                    let count = if at < 4 {
                        digit(low, at)
                    } else {
                        digit(high, at - 4)
                    };
                    octal << 3 | u32::from(count)
                });
                let at = places.of(SuitCounts(octal));
                assert!(!std::mem::replace(&mut taken[at], true));
            }
        }
    }

    #[test]
    fn there_are_few_shapes() {
        let shapes = table().shapes.len();
        assert_eq!(shapes, 159);
        assert_eq!(table().lacking_of_three.len(), 180 * shapes);
    }
}
