//! The transposition table: what the search has found out about positions. Threads share it without
//! locks: an entry is two words, of which the first is the position's hash combined with the second
//! by exclusive or, so that an entry of which two threads wrote a word each is no position's (R. Hyatt
//! and T. Mann, "A lock-less transposition table implementation", ICGA Journal 25(1), 2002).

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// The relation of the true score to a stored one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// It is at least this.
    Lower,
    /// It is at most this.
    Upper,
    /// It is this.
    Exact,
}

/// A position's score, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScoredPosition {
    pub(crate) score: i16,
    /// The index of the best cell, or [`NO_CELL`].
    pub(crate) cell: u8,
    /// The depth of the search behind it, in plies.
    pub(crate) depth: u8,
    pub(crate) bound: Bound,
}

/// No cell has this index.
pub(crate) const NO_CELL: u8 = u8::MAX;

impl ScoredPosition {
    /// As a word, which is never 0.
    const fn pack(self, age: u8) -> u64 {
        let [low, high] = self.score.to_le_bytes();
        let bound = match self.bound {
            Bound::Lower => 1,
            Bound::Upper => 2,
            Bound::Exact => 3,
        };
        u64::from_le_bytes([low, high, self.cell, self.depth, bound, age, 0, 0])
    }

    /// And its age; none if nothing was written.
    const fn unpack(word: u64) -> Option<(Self, u8)> {
        let [low, high, cell, depth, bound, age, _, _] = word.to_le_bytes();
        let bound = match bound {
            1 => Bound::Lower,
            2 => Bound::Upper,
            3 => Bound::Exact,
            _ => return None,
        };
        let entry = Self {
            score: i16::from_le_bytes([low, high]),
            cell,
            depth,
            bound,
        };
        Some((entry, age))
    }
}

/// Entries that share an address: a line of the processor's cache.
const BUCKET: usize = 4;

#[derive(Default)]
#[repr(align(64))]
struct ScoreBucket([(AtomicU64, AtomicU64); BUCKET]);

/// A table of fixed size. A position is told by a 64-bit hash.
pub(crate) struct ScoreTable {
    buckets: Vec<ScoreBucket>,
    age: AtomicU8,
}

impl ScoreTable {
    /// A table of so many MiB, at least one bucket, rounded down to a power of two.
    pub(crate) fn new(mebibytes: usize) -> Self {
        let buckets = (mebibytes << 20) / size_of::<ScoreBucket>();
        let buckets = 1 << buckets.max(1).ilog2();
        Self {
            buckets: (0..buckets).map(|_| ScoreBucket::default()).collect(),
            age: AtomicU8::new(0),
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.buckets.fill_with(ScoreBucket::default);
        *self.age.get_mut() = 0;
    }

    /// A new search begins: what is in the table is the first to be replaced.
    pub(crate) fn grow_older(&self) {
        self.age.fetch_add(1, Relaxed);
    }

    #[inline]
    fn bucket(&self, key: u64) -> &[(AtomicU64, AtomicU64); BUCKET] {
        &self.buckets[key as usize & (self.buckets.len() - 1)].0
    }

    #[inline]
    pub(crate) fn get(&self, key: u64) -> Option<ScoredPosition> {
        for (check, word) in self.bucket(key) {
            let word = word.load(Relaxed);
            if check.load(Relaxed) ^ word == key {
                return ScoredPosition::unpack(word).map(|(entry, _)| entry);
            }
        }
        None
    }

    pub(crate) fn put(&self, key: u64, score: i16, cell: u8, depth: u8, bound: Bound) {
        let age = self.age.load(Relaxed);
        let bucket = self.bucket(key);
        let mut target = &bucket[0];
        let mut least = i32::MAX;
        let mut cell = cell;
        for slot in bucket {
            let word = slot.1.load(Relaxed);
            let Some((entry, its_age)) = ScoredPosition::unpack(word) else {
                if least > -1 {
                    (target, least) = (slot, -1);
                }
                continue;
            };
            if slot.0.load(Relaxed) ^ word == key {
                target = slot;
                if cell == NO_CELL {
                    cell = entry.cell;
                }
                break;
            }
            let worth = i32::from(entry.depth) + 256 * i32::from(its_age == age);
            if worth < least {
                (target, least) = (slot, worth);
            }
        }
        let entry = ScoredPosition {
            score,
            cell,
            depth,
            bound,
        };
        let word = entry.pack(age);
        target.0.store(key ^ word, Relaxed);
        target.1.store(word, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_bucket_loses_what_is_old_and_shallow() {
        let table = ScoreTable::new(0);
        for key in 1..=4 {
            table.put(key, 7, 3, 10 + key as u8, Bound::Exact);
        }
        table.put(5, 7, 3, 1, Bound::Exact);
        assert_eq!(table.get(1), None);
        assert!((2..=5).all(|key| table.get(key).is_some()));
        table.grow_older();
        table.put(6, 7, 3, 0, Bound::Exact);
        assert_eq!(table.get(5), None);
    }

    #[test]
    fn a_table_is_not_larger_than_it_was_asked_to_be() {
        assert_eq!(size_of::<ScoreBucket>(), 64);
        for mebibytes in 1..=33 {
            let bytes = size_of_val(&*ScoreTable::new(mebibytes).buckets);
            assert!(bytes <= mebibytes << 20 && bytes > mebibytes << 19);
        }
    }

    #[test]
    fn a_new_result_without_a_cell_keeps_the_old_cell() {
        let table = ScoreTable::new(1);
        table.put(9, 1, 42, 3, Bound::Lower);
        table.put(9, 2, NO_CELL, 4, Bound::Upper);
        let entry = table.get(9).unwrap();
        assert_eq!((entry.score, entry.cell), (2, 42));
    }
}
