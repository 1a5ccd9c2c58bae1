//! Number of tiles of one suit that are lacking for melds and a pair, for every suit of at most 14
//! tiles.
//!
//! There are 405,350 such suits, but they lack tiles in only some 160 different ways. So a byte
//! for each suit names its shape, and small tables say what two shapes lack together.

use std::{collections::HashMap, sync::LazyLock};

use crate::tile::{COPIES, RANKS, Ranks};

/// The numbers of melds that a hand may have in a suit: 0 to 4.
const MELDS: usize = 5;
/// The most tiles of a suit.
pub(crate) const LARGEST: u8 = 14;
/// The parts that a suit may be of a hand: some melds, or fewer and a pair.
pub(crate) const PARTS: usize = 2 * (MELDS - 1);
/// More than any suit lacks.
const NEVER: u8 = 50;

/// The readings of a suit whose tiles are all in melds and at most one pair.
pub(crate) mod reading {
    /// Some melds and at most one pair.
    pub(crate) const MELDS: u8 = 1;
    /// The melds are triplets.
    pub(crate) const TRIPLETS: u8 = 2;
    /// The melds are triplets, and all tiles are 2, 5 or 8.
    pub(crate) const MIDDLES: u8 = 4;
    /// Every meld and the pair has a terminal.
    pub(crate) const TERMINALS: u8 = 8;
    pub(super) const ALL: u8 = 15;
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct RanksShape {
    /// By the number of melds: the tiles that they lack, at least.
    bare: [u8; MELDS],
    /// The same with a pair.
    paired: [u8; MELDS],
    /// The readings if nothing is left over.
    readings: u8,
}

impl RanksShape {
    const UNKNOWN: Self = Self {
        bare: [NEVER; MELDS],
        paired: [NEVER; MELDS],
        readings: 0,
    };

    /// The least of both, where the other one lacks this many tiles more.
    fn least(mut self, other: &Self, more: u8) -> Self {
        for melds in 0..MELDS {
            self.bare[melds] = self.bare[melds].min(other.bare[melds] + more).min(NEVER);
            self.paired[melds] = self.paired[melds]
                .min(other.paired[melds] + more)
                .min(NEVER);
        }
        self
    }

    /// See [`Shapes::parts`].
    fn parts(&self) -> [u8; PARTS] {
        let mut all = self.bare[1..].iter().chain(&self.paired);
        std::array::from_fn(|_| *all.next().expect("more than that"))
    }

    /// Number of tiles lacking for four melds and a pair in these two suits.
    fn lacking(&self, other: &Self) -> u8 {
        let ways = (0..MELDS).map(|melds| {
            let rest = MELDS - 1 - melds;
            (self.bare[melds] + other.paired[rest]).min(self.paired[melds] + other.bare[rest])
        });
        ways.min().unwrap_or(NEVER)
    }
}

/// Finds the place of a suit in a list of all suits of at most 14 tiles. The lists of the four
/// low ranks are sorted by size, so those that fit to given high ranks are the first ones.
struct RanksPlaces {
    /// By the five high ranks: the place of the first suit that has them.
    first: Vec<u32>,
    /// By the four low ranks: their place among all such, by size.
    low: Vec<u16>,
    /// The low ranks in that order.
    lows: Vec<u32>,
    /// Number of low ranks that have at most so many tiles.
    up_to: [usize; LARGEST as usize + 1],
}

const LOW_BITS: u32 = 12;

impl RanksPlaces {
    fn new() -> Self {
        let exists = |ranks: &Ranks| (0..RANKS).all(|rank| ranks.of(rank) <= COPIES);
        let mut lows: Vec<u32> = (0..1 << LOW_BITS)
            .filter(|&low| exists(&Ranks(low)) && Ranks(low).size() <= LARGEST)
            .collect();
        lows.sort_by_key(|&low| Ranks(low).size());
        let mut low = vec![0; 1 << LOW_BITS];
        let mut up_to = [0; LARGEST as usize + 1];
        for (place, &ranks) in lows.iter().enumerate() {
            low[ranks as usize] = place as u16;
            for count in &mut up_to[usize::from(Ranks(ranks).size())..] {
                *count += 1;
            }
        }
        let mut first = vec![0; 1 << (3 * RANKS as u32 - LOW_BITS)];
        let mut next = 0;
        for high in 0..first.len() as u32 {
            let ranks = Ranks(high);
            if exists(&ranks) && ranks.size() <= LARGEST {
                first[high as usize] = next;
                next += up_to[usize::from(LARGEST - ranks.size())] as u32;
            }
        }
        Self {
            first,
            low,
            lows,
            up_to,
        }
    }

    #[inline]
    fn of(&self, ranks: Ranks) -> usize {
        let low = self.low[(ranks.0 & ((1 << LOW_BITS) - 1)) as usize];
        self.first[(ranks.0 >> LOW_BITS) as usize] as usize + usize::from(low)
    }

    /// All suits, each after those that it contains.
    fn all(&self) -> Vec<Ranks> {
        let mut all = Vec::new();
        for high in 0..self.first.len() as u32 {
            let ranks = Ranks(high);
            if (0..RANKS).any(|rank| ranks.of(rank) > COPIES) || ranks.size() > LARGEST {
                continue;
            }
            let fit = self.up_to[usize::from(LARGEST - ranks.size())];
            let with = |low: &u32| Ranks(high << LOW_BITS | low);
            all.extend(self.lows[..fit].iter().map(with));
        }
        all
    }
}

/// The shape of a suit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RanksShapeId(u8);

impl RanksShapeId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// All tables.
pub(crate) struct Shapes {
    places: RanksPlaces,
    ids: Vec<u8>,
    readings: Vec<u8>,
    /// By a shape: what four melds and a pair lack in this suit alone.
    one: Vec<u8>,
    /// By two shapes: what they lack in both suits.
    two: Vec<u8>,
    /// By a shape: what each of the parts lacks.
    parts: Vec<[u8; PARTS]>,
    terminals: Terminals,
}

static SHAPES: LazyLock<Shapes> = LazyLock::new(Shapes::build);

/// The tables; they are built at the first call.
#[inline]
pub(crate) fn shapes() -> &'static Shapes {
    &SHAPES
}

/// Different shapes, each with a number.
struct Interned {
    numbers: HashMap<RanksShape, u16>,
    shapes: Vec<RanksShape>,
}

impl Interned {
    fn number(&mut self, shape: RanksShape) -> u16 {
        *self.numbers.entry(shape).or_insert_with(|| {
            self.shapes.push(shape);
            (self.shapes.len() - 1) as u16
        })
    }

    fn of(&self, number: u16) -> &RanksShape {
        &self.shapes[usize::from(number)]
    }
}

impl Shapes {
    /// Every combination of melds and a pair lacks nothing. A suit that is part of another one
    /// lacks one tile more than that; a suit that contains another one lacks no more than that.
    fn build() -> Self {
        let places = RanksPlaces::new();
        let all = places.all();
        let mut interned = Interned {
            numbers: HashMap::new(),
            shapes: Vec::new(),
        };
        let mut numbers = vec![interned.number(RanksShape::UNKNOWN); all.len()];
        visit(
            Ranks(0),
            0,
            false,
            reading::ALL,
            0,
            &mut |target, melds, pair, readings| {
                let at = places.of(target);
                let mut shape = *interned.of(numbers[at]);
                let lacks = if pair {
                    &mut shape.paired
                } else {
                    &mut shape.bare
                };
                lacks[melds] = 0;
                shape.readings |= readings;
                numbers[at] = interned.number(shape);
            },
        );
        for &suit in all.iter().rev() {
            let at = places.of(suit);
            let mut shape = *interned.of(numbers[at]);
            if suit.size() < LARGEST {
                for rank in (0..RANKS).filter(|&rank| suit.of(rank) < COPIES) {
                    let more = interned.of(numbers[places.of(suit.with(rank))]);
                    shape = shape.least(more, 1);
                }
            }
            numbers[at] = interned.number(shape);
        }
        for &suit in &all {
            let at = places.of(suit);
            let mut shape = *interned.of(numbers[at]);
            for rank in (0..RANKS).filter(|&rank| suit.of(rank) > 0) {
                let less = interned.of(numbers[places.of(suit.without(rank))]);
                shape = shape.least(less, 0);
            }
            numbers[at] = interned.number(shape);
        }
        Self::put_together(places, &numbers, &interned)
    }

    fn put_together(places: RanksPlaces, numbers: &[u16], interned: &Interned) -> Self {
        let mut used = vec![None; interned.shapes.len()];
        let mut shapes: Vec<RanksShape> = Vec::new();
        let ids = numbers
            .iter()
            .map(|&number| {
                *used[usize::from(number)].get_or_insert_with(|| {
                    shapes.push(*interned.of(number));
                    u8::try_from(shapes.len() - 1).expect("fewer than 256 shapes")
                })
            })
            .collect();
        let two = shapes
            .iter()
            .flat_map(|one| shapes.iter().map(|other| one.lacking(other)))
            .collect();
        Self {
            places,
            ids,
            readings: shapes.iter().map(|shape| shape.readings).collect(),
            one: shapes.iter().map(|shape| shape.paired[MELDS - 1]).collect(),
            two,
            parts: shapes.iter().map(RanksShape::parts).collect(),
            terminals: Terminals::build(),
        }
    }

    #[inline]
    pub(crate) fn id(&self, suit: Ranks) -> RanksShapeId {
        RanksShapeId(self.ids[self.places.of(suit)])
    }

    /// The readings of a suit if nothing is left over.
    #[inline]
    pub(crate) fn readings(&self, id: RanksShapeId) -> u8 {
        self.readings[usize::from(id.0)]
    }

    /// Number of tiles lacking for four melds and a pair in this suit alone.
    #[inline]
    pub(crate) fn lacking(&self, id: RanksShapeId) -> u8 {
        self.one[usize::from(id.0)]
    }

    /// Number of tiles lacking for four melds and a pair in two suits.
    #[inline]
    pub(crate) fn lacking_of_two(&self, one: RanksShapeId, other: RanksShapeId) -> u8 {
        self.two[self.one.len() * usize::from(one.0) + usize::from(other.0)]
    }

    /// The same by the other suit.
    #[inline]
    pub(crate) fn lacking_with(&self, one: RanksShapeId) -> &[u8] {
        let count = self.one.len();
        &self.two[count * usize::from(one.0)..][..count]
    }

    /// Number of tiles lacking in a suit for each part that it may be of a hand: one to four melds,
    /// then none to three melds and a pair.
    #[inline]
    pub(crate) fn parts(&self, id: RanksShapeId) -> &[u8; PARTS] {
        &self.parts[usize::from(id.0)]
    }

    #[inline]
    pub(crate) fn terminals(&self) -> &Terminals {
        &self.terminals
    }
}

/// Visits all melds of a suit with at most one pair. `next` is the first meld that may still be
/// added: the triplets of the nine ranks, then the seven sequences.
fn visit(
    tiles: Ranks,
    melds: usize,
    pair: bool,
    readings: u8,
    next: usize,
    visitor: &mut impl FnMut(Ranks, usize, bool, u8),
) {
    visitor(tiles, melds, pair, readings);
    if !pair {
        for rank in 0..RANKS {
            if let Some((paired, readings)) = add(tiles, &[rank; 2], readings) {
                visitor(paired, melds, true, readings);
            }
        }
    }
    if melds + 1 == MELDS {
        return;
    }
    for meld in next..RANKS + 7 {
        let more = if meld < RANKS {
            add(tiles, &[meld; 3], readings)
        } else {
            let rank = meld - RANKS;
            let readings = readings & (reading::MELDS | reading::TERMINALS);
            add(tiles, &[rank, rank + 1, rank + 2], readings)
        };
        if let Some((more, readings)) = more {
            visit(more, melds + 1, pair, readings, meld, visitor);
        }
    }
}

/// With these ranks, if the tiles exist, and the readings that remain.
fn add(mut tiles: Ranks, ranks: &[usize], mut readings: u8) -> Option<(Ranks, u8)> {
    for &rank in ranks {
        if tiles.of(rank) == COPIES {
            return None;
        }
        tiles = tiles.with(rank);
    }
    if !ranks.iter().any(|rank| [0, RANKS - 1].contains(rank)) {
        readings &= !reading::TERMINALS;
    }
    if !ranks.iter().all(|rank| [1, 4, 7].contains(rank)) {
        readings &= !reading::MIDDLES;
    }
    Some((tiles, readings))
}

/// Number of tiles of a suit that are lacking for melds and a pair that all have a terminal.
pub(crate) struct Terminals {
    /// By the counts of the low and of the high half.
    ids: Vec<u16>,
    one: Vec<u8>,
    two: Vec<u8>,
}

/// The shape of a suit for melds with terminals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TerminalId(u16);

/// The different counts of three ranks.
const HALVES: usize = 125;

impl Terminals {
    fn build() -> Self {
        let halves: Vec<RanksShape> = (0..HALVES).map(half).collect();
        let mut numbers = HashMap::new();
        let mut shapes: Vec<RanksShape> = Vec::new();
        let mut ids = Vec::with_capacity(HALVES * HALVES);
        for low in &halves {
            for high in &halves {
                let shape = both(low, high);
                ids.push(*numbers.entry(shape).or_insert_with(|| {
                    shapes.push(shape);
                    (shapes.len() - 1) as u16
                }));
            }
        }
        let two = shapes
            .iter()
            .flat_map(|one| shapes.iter().map(|other| one.lacking(other)))
            .collect();
        Self {
            ids,
            one: shapes.iter().map(|shape| shape.paired[MELDS - 1]).collect(),
            two,
        }
    }

    #[inline]
    pub(crate) fn id(&self, suit: Ranks) -> TerminalId {
        let count = |rank| usize::from(suit.of(rank));
        let low = count(0) + 5 * count(1) + 25 * count(2);
        let high = count(8) + 5 * count(7) + 25 * count(6);
        TerminalId(self.ids[HALVES * low + high])
    }

    #[inline]
    pub(crate) fn lacking(&self, id: TerminalId) -> u8 {
        self.one[usize::from(id.0)]
    }

    #[inline]
    pub(crate) fn lacking_of_two(&self, one: TerminalId, other: TerminalId) -> u8 {
        self.two[self.one.len() * usize::from(one.0) + usize::from(other.0)]
    }
}

/// Number of tiles lacking in three ranks, the terminal, its neighbour and the one after that: for
/// a triplet of the terminal, for sequences, and for a pair of the terminal.
fn half(counts: usize) -> RanksShape {
    let have = [counts % 5, counts / 5 % 5, counts / 25];
    let mut shape = RanksShape::UNKNOWN;
    for triplets in 0..=1 {
        for sequences in 0..=4 - triplets {
            for pair in [false, true] {
                let need = [
                    3 * triplets + sequences + 2 * usize::from(pair),
                    sequences,
                    sequences,
                ];
                if need[0] > usize::from(COPIES) {
                    continue;
                }
                let lacks: usize = (0..3).map(|at| need[at].saturating_sub(have[at])).sum();
                let melds = triplets + sequences;
                let known = if pair {
                    &mut shape.paired[melds]
                } else {
                    &mut shape.bare[melds]
                };
                *known = (*known).min(lacks as u8);
            }
        }
    }
    shape
}

/// Number of tiles lacking for the melds of two halves of a suit, more than 9 as 9.
fn both(low: &RanksShape, high: &RanksShape) -> RanksShape {
    let mut both = RanksShape::UNKNOWN;
    for melds in 0..MELDS {
        for rest in 0..MELDS - melds {
            let sum = melds + rest;
            both.bare[sum] = both.bare[sum].min(low.bare[melds] + high.bare[rest]);
            both.paired[sum] = both.paired[sum]
                .min(low.bare[melds] + high.paired[rest])
                .min(low.paired[melds] + high.bare[rest]);
        }
    }
    for lacks in both.bare.iter_mut().chain(&mut both.paired) {
        *lacks = (*lacks).min(9);
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_few_shapes() {
        let shapes = shapes();
        assert_eq!(shapes.ids.len(), 405_350);
        assert_eq!(shapes.one.len(), 159);
        assert!(shapes.terminals.one.len() < 500);
    }
}
