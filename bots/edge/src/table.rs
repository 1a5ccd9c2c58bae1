//! The transposition table: what earlier searches found out about positions. Threads share it
//! without locks. An entry is two words, of which the first is the position's hash combined with
//! the second by exclusive or, so that an entry of which two threads wrote a word each is no
//! position's (R. Hyatt and T. Mann, "A lock-less transposition table implementation", ICGA
//! Journal 25(1), 2002).

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use crate::board::Discs;

/// No score is higher; all squares are the winner's.
pub(crate) const MAX: i32 = 64;
/// In place of a square: none.
pub(crate) const NO_SQUARE: u8 = 64;

/// Entries in a bucket: a cache line.
const WAYS: usize = 4;

#[derive(Default)]
#[repr(align(64))]
struct BoundsBucket([(AtomicU64, AtomicU64); WAYS]);

/// A table of fixed size.
pub(crate) struct BoundsTable {
    buckets: Vec<BoundsBucket>,
    age: AtomicU8,
    /// True if entries are kept.
    keeps: bool,
}

/// Bounds of a position's value in discs from a search to this depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ValueBounds {
    pub(crate) lower: i8,
    pub(crate) upper: i8,
    pub(crate) depth: u8,
    /// The level of selectivity; a higher one cuts less.
    pub(crate) selectivity: u8,
    /// The best move, and the best one before it; [`NO_SQUARE`] for none.
    pub(crate) moves: [u8; 2],
}

impl ValueBounds {
    fn pack(self, age: u8) -> u64 {
        u64::from_le_bytes([
            self.lower.cast_unsigned(),
            self.upper.cast_unsigned(),
            self.depth,
            self.selectivity,
            self.moves[0],
            self.moves[1],
            age,
            0,
        ])
    }

    fn unpack(word: u64) -> (Self, u8) {
        let [lower, upper, depth, selectivity, first, second, age, _] = word.to_le_bytes();
        let entry = Self {
            lower: lower.cast_signed(),
            upper: upper.cast_signed(),
            depth,
            selectivity,
            moves: [first, second],
        };
        (entry, age)
    }

    /// True if it is from a search at least as deep and as careful.
    #[inline(always)]
    pub(crate) const fn is_enough(&self, depth: u32, selectivity: u8) -> bool {
        self.depth as u32 >= depth && self.selectivity >= selectivity
    }
}

impl BoundsTable {
    /// A table of at most this size, and at least of one bucket; one that keeps nothing knows
    /// nothing.
    pub(crate) fn new(bytes: usize, keeps: bool) -> Self {
        let buckets = (bytes / size_of::<BoundsBucket>()).max(1);
        let buckets = 1 << buckets.ilog2();
        Self {
            buckets: (0..buckets).map(|_| BoundsBucket::default()).collect(),
            age: AtomicU8::new(1),
            keeps,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.buckets.fill_with(BoundsBucket::default);
        *self.age.get_mut() = 1;
    }

    /// A new search begins: what is from earlier ones is replaced first.
    pub(crate) fn grow_older(&self) {
        // An age of zero is that of entries which were never written.
        let age = self.age.load(Relaxed);
        self.age
            .store(if age == u8::MAX { 1 } else { age + 1 }, Relaxed);
    }

    #[inline(always)]
    fn bucket(&self, hash: u64) -> &[(AtomicU64, AtomicU64); WAYS] {
        // The number of buckets is a power of two.
        &self.buckets[hash as usize & (self.buckets.len() - 1)].0
    }

    #[inline(always)]
    pub(crate) fn get(&self, hash: u64) -> Option<ValueBounds> {
        for (check, word) in self.bucket(hash) {
            let word = word.load(Relaxed);
            if check.load(Relaxed) ^ word == hash && word != 0 {
                return Some(ValueBounds::unpack(word).0);
            }
        }
        None
    }

    /// Keeps what a search between these bounds found. What is known of the same position at
    /// the same depth gets narrower; shallower results and those of earlier searches go.
    pub(crate) fn put(&self, hash: u64, search: NodeResult) {
        if !self.keeps {
            return;
        }
        let NodeResult {
            depth,
            selectivity,
            alpha,
            beta,
            value,
            square,
        } = search;
        let age = self.age.load(Relaxed);
        let lower = if value > alpha { value } else { -MAX };
        let upper = if value < beta { value } else { MAX };
        let mut entry = ValueBounds {
            lower: lower as i8,
            upper: upper as i8,
            depth: depth as u8,
            selectivity,
            moves: [NO_SQUARE; 2],
        };
        if value > alpha || alpha == -MAX {
            entry.moves[0] = square;
        }
        let bucket = self.bucket(hash);
        let mut target = &bucket[0];
        let mut least = u32::MAX;
        for slot in bucket {
            let word = slot.1.load(Relaxed);
            if slot.0.load(Relaxed) ^ word == hash && word != 0 {
                let (old, _) = ValueBounds::unpack(word);
                if (old.depth, old.selectivity) == (entry.depth, selectivity) {
                    entry.lower = entry.lower.max(old.lower);
                    entry.upper = entry.upper.min(old.upper);
                    if entry.lower > entry.upper {
                        // Found with what other entries said before; only the last one is sure.
                        (entry.lower, entry.upper) = (lower as i8, upper as i8);
                    }
                }
                match entry.moves[0] {
                    NO_SQUARE => entry.moves = old.moves,
                    best if best == old.moves[0] => entry.moves[1] = old.moves[1],
                    _ => entry.moves[1] = old.moves[0],
                }
                target = slot;
                break;
            }
            let (old, its_age) = ValueBounds::unpack(word);
            let worth = u32::from(its_age == age) << 16
                | u32::from(old.depth) << 8
                | u32::from(old.selectivity);
            if worth < least {
                least = worth;
                target = slot;
            }
        }
        let word = entry.pack(age);
        target.0.store(hash ^ word, Relaxed);
        target.1.store(word, Relaxed);
    }
}

/// The result of the search of one position.
#[derive(Clone, Copy)]
pub(crate) struct NodeResult {
    pub(crate) depth: u32,
    pub(crate) selectivity: u8,
    pub(crate) alpha: i32,
    pub(crate) beta: i32,
    pub(crate) value: i32,
    pub(crate) square: u8,
}

/// A hash of a board: the two halves of a product of 128 bits, as in wyhash, mixed once more.
#[inline(always)]
pub(crate) fn hash_of(board: Discs) -> u64 {
    let a = board.own ^ 0x9e37_79b9_7f4a_7c15;
    let b = board.other ^ 0xe703_7ed1_a0b4_28db;
    let product = u128::from(a) * u128::from(b.rotate_left(23) ^ 0x8ebc_6af0_9c88_c6e3);
    let mixed = product as u64 ^ (product >> 64) as u64;
    let mixed = (mixed ^ a.rotate_left(32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ mixed >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUND: NodeResult = NodeResult {
        depth: 5,
        selectivity: 1,
        alpha: 3,
        beta: 4,
        value: 4,
        square: 19,
    };

    #[test]
    fn bounds_get_narrower_and_moves_are_kept() {
        let table = BoundsTable::new(1 << 12, true);
        table.put(7, FOUND);
        let entry = table.get(7).unwrap();
        assert_eq!((entry.lower, entry.upper), (4, 64));
        assert_eq!(entry.moves, [19, NO_SQUARE]);
        table.put(
            7,
            NodeResult {
                alpha: 8,
                beta: 9,
                value: 8,
                square: 20,
                ..FOUND
            },
        );
        let entry = table.get(7).unwrap();
        assert_eq!((entry.lower, entry.upper), (4, 8));
        assert_eq!(entry.moves, [19, NO_SQUARE]);
        table.put(
            7,
            NodeResult {
                depth: 6,
                square: 21,
                ..FOUND
            },
        );
        let entry = table.get(7).unwrap();
        assert_eq!((entry.lower, entry.upper, entry.depth), (4, 64, 6));
        assert_eq!(entry.moves, [21, 19]);
    }

    #[test]
    fn the_shallowest_of_earlier_searches_goes_first() {
        let table = BoundsTable::new(64, true);
        for (hash, depth) in [(1, 9), (2, 3), (3, 8), (4, 2)] {
            table.put(hash, NodeResult { depth, ..FOUND });
        }
        table.put(5, NodeResult { depth: 1, ..FOUND });
        assert!(table.get(4).is_none());
        table.grow_older();
        table.put(6, NodeResult { depth: 1, ..FOUND });
        table.put(7, NodeResult { depth: 1, ..FOUND });
        assert!(table.get(5).is_none());
        assert!(table.get(2).is_none());
        assert!(table.get(1).is_some() && table.get(3).is_some() && table.get(6).is_some());
    }
}
