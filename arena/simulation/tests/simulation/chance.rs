//! Random choices from a seed.

use std::time::Duration;

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng as _, SeedableRng as _},
};

/// A source of random numbers that a seed decides.
pub(crate) struct Chance(ChaCha8Rng);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// From 0 to below `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0.next_u64() % n
    }

    /// True in one of `n` cases.
    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A time of whole milliseconds from `least` to below `most`, both in seconds.
    pub(crate) fn seconds(&mut self, least: u64, most: u64) -> Duration {
        let span = Duration::from_secs(most - least).as_millis() as u64;
        Duration::from_secs(least) + Duration::from_millis(self.below(span))
    }

    pub(crate) fn bytes(&mut self) -> [u8; 32] {
        let mut bytes = [0; 32];
        self.0.fill_bytes(&mut bytes);
        bytes
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0.next_u64()
    }
}
