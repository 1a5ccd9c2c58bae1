//! Lengths of time, counted in buckets: counters that add up across runs and
//! machines, from which quantiles are read with an error of at most a sixteenth.

use std::collections::BTreeMap;

/// So many buckets to each doubling, 2 to the power of this.
const BITS: u32 = 4;
const LINEAR: u64 = 1 << BITS;

/// Number of measured times in each bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buckets(BTreeMap<u32, u64>);

/// The bucket of a time in microseconds.
#[must_use]
pub fn bucket(us: u64) -> u32 {
    if us < LINEAR {
        return us as u32;
    }
    let doublings = us.ilog2() - BITS;
    let within = (us >> doublings) - LINEAR;
    (doublings + 1) * LINEAR as u32 + within as u32
}

impl Buckets {
    /// The longest time of a bucket, in microseconds.
    #[must_use]
    pub fn longest(bucket: u32) -> u64 {
        let bucket = u64::from(bucket);
        if bucket < LINEAR {
            return bucket;
        }
        // The last ones, and numbers that are no bucket's, are beyond 64 bits.
        let doublings = (bucket / LINEAR - 1).min(u64::from(u64::BITS));
        let within = bucket % LINEAR + LINEAR;
        let end = u128::from(within + 1) << doublings;
        u64::try_from(end - 1).unwrap_or(u64::MAX)
    }

    /// Adds counts of one bucket.
    pub fn add(&mut self, bucket: u32, times: u64) {
        *self.0.entry(bucket).or_default() += times;
    }

    /// Each bucket that is not empty and how many times are in it, the shortest times first.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        self.0.iter().map(|(bucket, times)| (*bucket, *times))
    }

    /// Number of measured times in all buckets.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// The time that this share of them does not exceed, in microseconds; none
    /// where there are none.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let rank = (share * self.count() as f64).ceil().max(1.0) as u64;
        let mut before = 0;
        self.0.iter().find_map(|(bucket, times)| {
            before += times;
            (before >= rank).then(|| Self::longest(*bucket))
        })
    }

    /// The longest, in microseconds.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        self.0
            .last_key_value()
            .map(|(bucket, _)| Self::longest(*bucket))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_narrow_and_none_is_missing() {
        let mut last = 0;
        for bucket in 0..900 {
            let most = Buckets::longest(bucket);
            assert_eq!(super::bucket(most), bucket);
            if bucket > 0 {
                assert_eq!(super::bucket(last + 1), bucket);
            }
            assert!((most - last) as f64 <= 1.0_f64.max(most as f64 / 16.0));
            last = most;
        }
        assert!(bucket(u64::MAX) < 1000);
        assert_eq!(Buckets::longest(bucket(u64::MAX)), u64::MAX);
    }

    #[test]
    fn quantiles_are_read_off() {
        let mut buckets = Buckets::default();
        assert_eq!((buckets.quantile(0.5), buckets.max()), (None, None));
        for us in 1..=1000 {
            buckets.add(bucket(us), 1);
        }
        assert_eq!(buckets.count(), 1000);
        let near = |found: Option<u64>, true_one: f64| {
            let found = found.unwrap() as f64;
            assert!((found / true_one - 1.0).abs() < 0.07, "{found} {true_one}");
        };
        near(buckets.quantile(0.5), 500.0);
        near(buckets.quantile(0.99), 990.0);
        near(buckets.max(), 1000.0);
    }
}
