//! The distances of all hands: suits are counted by their entry in the table, and
//! combined by threes.

use std::{collections::HashMap, ops::Add};

use super::{
    hand::SuitCounts,
    shapes::{SuitShape, SuitShapeId, table},
};

/// The numbers of hands, by how many tiles they lack.
type LackCounts = [u128; 8];

/// The counts of a suit that matter besides its shape, when there are pairs.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct SuitSummary {
    tiles: u8,
    /// Four of a kind are two pairs.
    pairs: u8,
    distinct: u8,
    kinds: u8,
}

impl Add for SuitSummary {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            tiles: self.tiles + other.tiles,
            pairs: self.pairs + other.pairs,
            distinct: self.distinct + other.distinct,
            kinds: self.kinds + other.kinds,
        }
    }
}

impl SuitSummary {
    /// Number of tiles that seven pairs lack, of which four alike are two.
    const fn lacks_pairs(self) -> u8 {
        let (lacks, singles) = (7 - self.pairs, self.tiles - 2 * self.pairs);
        lacks + lacks.saturating_sub(singles)
    }

    const fn lacks_distinct_pairs(self) -> u8 {
        7 - self.distinct + 7_u8.saturating_sub(self.kinds)
    }
}

/// Every suit of at most this many tiles with the number of ways to draw it.
fn suits(most: u8, keep: fn(SuitSummary) -> SuitSummary) -> Vec<(SuitShapeId, SuitSummary, u128)> {
    let mut classes = HashMap::new();
    let mut counts = [0_u8; 9];
    loop {
        let tiles: u8 = counts.iter().sum();
        if tiles <= most {
            let octal = counts
                .iter()
                .rev()
                .fold(0, |octal, &count| octal << 3 | u32::from(count));
            let seen = keep(SuitSummary {
                tiles,
                pairs: counts.iter().map(|count| count / 2).sum(),
                distinct: counts.iter().filter(|count| **count >= 2).count() as u8,
                kinds: counts.iter().filter(|count| **count >= 1).count() as u8,
            });
            let ways: u128 = counts
                .iter()
                .map(|&count| [1, 4, 6, 4, 1][usize::from(count)])
                .product();
            *classes
                .entry((table().id(SuitCounts(octal)), seen))
                .or_insert(0) += ways;
        }
        // Counts with nine digits and skips numbers with too many tiles.
        let Some(at) = (0..9).find(|&at| counts[at] < 4 && counts[at..].iter().sum::<u8>() < most)
        else {
            return classes
                .into_iter()
                .map(|((id, seen), ways)| (id, seen, ways))
                .collect();
        };
        counts[..at].fill(0);
        counts[at] += 1;
    }
}

/// Within any suits; `pairs` says what seven pairs lack.
fn any_suits(
    tiles: u8,
    keep: fn(SuitSummary) -> SuitSummary,
    pairs: fn(SuitSummary) -> u8,
) -> LackCounts {
    let one = suits(tiles, keep);
    let mut two: HashMap<(SuitShape, SuitSummary), u128> = HashMap::new();
    for &(id, seen, ways) in &one {
        for &(other, more, other_ways) in &one {
            if seen.tiles + more.tiles <= tiles {
                let both = table().shape(id).and(table().shape(other));
                *two.entry((both, seen + more)).or_insert(0) += ways * other_ways;
            }
        }
    }
    let mut found = [0; 8];
    for ((both, seen), ways) in two {
        for &(id, more, other_ways) in &one {
            if seen.tiles + more.tiles == tiles {
                let lacks = both.lacking(table().shape(id)).min(pairs(seen + more));
                found[usize::from(lacks)] += ways * other_ways;
            }
        }
    }
    found
}

/// Within the two suits that are nearest.
fn two_suits(
    tiles: u8,
    keep: fn(SuitSummary) -> SuitSummary,
    pairs: fn(SuitSummary) -> u8,
) -> LackCounts {
    let mut by_size = vec![Vec::new(); usize::from(tiles) + 1];
    for class in suits(tiles, keep) {
        by_size[usize::from(class.1.tiles)].push(class);
    }
    let lacks = |one: (SuitShapeId, SuitSummary), other: (SuitShapeId, SuitSummary)| {
        table().lacking(one.0, other.0).min(pairs(one.1 + other.1))
    };
    let mut found = [0; 8];
    for c in 0..=tiles {
        for b in c..=tiles - c {
            let Some(d) = (tiles - c).checked_sub(b).filter(|&d| d >= b) else {
                continue;
            };
            // In how many orders three suits can have these sizes.
            let orders = match (c == b, b == d) {
                (true, true) => 1,
                (false, false) => 6,
                _ => 3,
            };
            for &(c, c_seen, c_ways) in &by_size[usize::from(c)] {
                for &(b, b_seen, b_ways) in &by_size[usize::from(b)] {
                    let cb = lacks((c, c_seen), (b, b_seen));
                    for &(d, d_seen, d_ways) in &by_size[usize::from(d)] {
                        let cd = lacks((c, c_seen), (d, d_seen));
                        let bd = lacks((b, b_seen), (d, d_seen));
                        found[usize::from(cb.min(cd).min(bd))] += orders * c_ways * b_ways * d_ways;
                    }
                }
            }
        }
    }
    found
}

const fn tiles_alone(seen: SuitSummary) -> SuitSummary {
    SuitSummary {
        pairs: 0,
        distinct: 0,
        kinds: 0,
        ..seen
    }
}

const fn with_pairs(seen: SuitSummary) -> SuitSummary {
    SuitSummary {
        distinct: 0,
        kinds: 0,
        ..seen
    }
}

const fn with_distinct_pairs(seen: SuitSummary) -> SuitSummary {
    SuitSummary { pairs: 0, ..seen }
}

const fn no_pairs(_: SuitSummary) -> u8 {
    u8::MAX
}

/// All hands of 13 tiles, C(108, 13), and of 14.
const HANDS: [u128; 2] = [20_592_957_740_312_160, 139_737_927_523_546_800];

/// Counted by two other programs. By distance from 0.
const ANY_SUITS: [u128; 7] = [
    19_874_623_572_864,
    948_393_170_387_184,
    7_139_794_329_296_880,
    10_201_641_432_371_712,
    2_197_032_839_424_000,
    85_932_567_429_120,
    288_777_830_400,
];
const ANY_SUITS_OR_DISTINCT_PAIRS: [u128; 7] = [
    21_030_238_012_032,
    1_014_191_947_592_688,
    7_705_175_269_757_424,
    10_155_897_766_909_440,
    1_677_012_885_374_976,
    19_649_632_665_600,
    0,
];
const TWO_SUITS: [u128; 7] = [
    3_140_557_259_616,
    183_580_573_262_664,
    2_221_262_273_904_144,
    8_232_780_886_687_944,
    8_819_881_220_549_088,
    1_109_721_733_519_104,
    22_590_495_129_600,
];
const ANY_SUITS_OR_PAIRS: [u128; 7] = [
    21_129_283_963_488,
    1_015_779_742_258_176,
    7_709_428_385_138_688,
    10_152_100_433_166_336,
    1_674_905_652_559_872,
    19_614_243_225_600,
    0,
];
const TWO_SUITS_OR_PAIRS: [u128; 7] = [
    3_280_138_573_728,
    197_191_142_605_152,
    2_465_799_129_079_296,
    9_181_857_292_295_040,
    8_383_544_907_109_344,
    361_285_130_649_600,
    0,
];

fn check(found: LackCounts, hands: u128, expected: &[u128; 7]) {
    assert_eq!(found.iter().sum::<u128>(), hands);
    assert_eq!(&found[1..], expected);
}

#[test]
fn hands_of_13_by_their_distance_within_any_suits() {
    check(any_suits(13, tiles_alone, no_pairs), HANDS[0], &ANY_SUITS);
    check(
        any_suits(13, with_pairs, SuitSummary::lacks_pairs),
        HANDS[0],
        &ANY_SUITS_OR_PAIRS,
    );
    check(
        any_suits(13, with_distinct_pairs, SuitSummary::lacks_distinct_pairs),
        HANDS[0],
        &ANY_SUITS_OR_DISTINCT_PAIRS,
    );
}

#[test]
fn hands_of_13_by_their_distance_within_two_suits() {
    check(two_suits(13, tiles_alone, no_pairs), HANDS[0], &TWO_SUITS);
    check(
        two_suits(13, with_pairs, SuitSummary::lacks_pairs),
        HANDS[0],
        &TWO_SUITS_OR_PAIRS,
    );
}

#[test]
fn hands_of_14_that_are_complete_as_dealt() {
    let any = any_suits(14, tiles_alone, no_pairs);
    assert_eq!(any.iter().sum::<u128>(), HANDS[1]);
    assert_eq!(any[0], 7_140_498_565_560);
    let pairs = any_suits(14, with_distinct_pairs, SuitSummary::lacks_distinct_pairs);
    assert_eq!(pairs[0], 7_388_130_231_096);
    let two = two_suits(14, tiles_alone, no_pairs);
    assert_eq!(two.iter().sum::<u128>(), HANDS[1]);
    assert_eq!(two[0], 1_151_855_065_656);
}
