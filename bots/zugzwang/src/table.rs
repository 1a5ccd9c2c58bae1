//! The transposition table: what the search has found out about positions.

/// What a stored score says of the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// It is at least this.
    Lower,
    /// It is at most this.
    Upper,
    /// It is this.
    Exact,
}

/// What is known of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    key: u64,
    pub(crate) score: i16,
    /// The index of the best cell, or [`NO_CELL`].
    pub(crate) cell: u8,
    /// The depth of the search behind it, in plies.
    pub(crate) depth: u8,
    pub(crate) bound: Bound,
    age: u8,
}

/// No cell has this index.
pub(crate) const NO_CELL: u8 = u8::MAX;

const VACANT: Entry = Entry {
    key: 0,
    score: 0,
    cell: NO_CELL,
    depth: 0,
    bound: Bound::Lower,
    age: 0,
};

/// Entries that share an address: a line of the processor's cache.
const BUCKET: usize = 4;

/// A table of fixed size. A position is told by a 64-bit hash.
pub(crate) struct Table {
    buckets: Vec<[Entry; BUCKET]>,
    age: u8,
}

impl Table {
    /// A table of so many MiB, at least one bucket, rounded down to a power of two.
    pub(crate) fn new(mebibytes: usize) -> Self {
        let buckets = (mebibytes << 20) / size_of::<[Entry; BUCKET]>();
        let buckets = 1 << buckets.max(1).ilog2();
        Self {
            buckets: vec![[VACANT; BUCKET]; buckets],
            age: 0,
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.buckets.fill([VACANT; BUCKET]);
        self.age = 0;
    }

    /// A new search begins: what is in the table is the first to be replaced.
    pub(crate) fn grow_older(&mut self) {
        self.age = self.age.wrapping_add(1);
    }

    #[inline]
    fn address(&self, key: u64) -> usize {
        key as usize & (self.buckets.len() - 1)
    }

    #[inline]
    pub(crate) fn get(&self, key: u64) -> Option<Entry> {
        let bucket = &self.buckets[self.address(key)];
        bucket.iter().find(|entry| entry.key == key).copied()
    }

    pub(crate) fn put(&mut self, key: u64, score: i16, cell: u8, depth: u8, bound: Bound) {
        let age = self.age;
        let address = self.address(key);
        let bucket = &mut self.buckets[address];
        let worth = |entry: &Entry| {
            let same_age = i32::from(entry.age == age);
            i32::from(entry.depth) + 256 * same_age
        };
        let same = bucket.iter().position(|entry| entry.key == key);
        let place = same.unwrap_or_else(|| {
            let least = (0..BUCKET).min_by_key(|&place| worth(&bucket[place]));
            least.expect("a bucket has entries")
        });
        let cell = match same {
            Some(_) if cell == NO_CELL => bucket[place].cell,
            _ => cell,
        };
        bucket[place] = Entry {
            key,
            score,
            cell,
            depth,
            bound,
            age,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_bucket_loses_what_is_old_and_shallow() {
        let mut table = Table::new(0);
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
        assert_eq!(size_of::<[Entry; BUCKET]>(), 64);
        for mebibytes in 1..=33 {
            let bytes = size_of_val(&*Table::new(mebibytes).buckets);
            assert!(bytes <= mebibytes << 20 && bytes > mebibytes << 19);
        }
    }

    #[test]
    fn a_new_result_without_a_cell_keeps_the_old_cell() {
        let mut table = Table::new(1);
        table.put(9, 1, 42, 3, Bound::Lower);
        table.put(9, 2, NO_CELL, 4, Bound::Upper);
        let entry = table.get(9).unwrap();
        assert_eq!((entry.score, entry.cell), (2, 42));
    }
}
