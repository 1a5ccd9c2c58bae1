//! Chance. The generator and the way numbers are drawn are part of the version of the
//! rules: a seed always gives the same deal, and the test below checks that.

use rand_chacha::{
    ChaCha20Rng,
    rand_core::{Rng, SeedableRng},
};

use crate::Seed;

/// The only source of chance that a game has: ChaCha20 (20 rounds, RFC 8439's
/// block function with a 64-bit counter), seeded with the game's 32 bytes,
/// read as little-endian 32-bit words.
pub struct Dice(ChaCha20Rng);

impl Dice {
    /// The dice of this seed.
    #[must_use]
    pub fn new(seed: &Seed) -> Self {
        Self(ChaCha20Rng::from_seed(*seed.bytes()))
    }

    /// A number of `0..bound`, each equally likely: words are drawn until one is below
    /// the largest multiple of `bound` that fits into a word; the result is its
    /// remainder by `bound`.
    ///
    /// # Panics
    ///
    /// Where `bound` is 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        assert!(bound > 0, "there is no number below 0");
        let whole = (1_u64 << 32) / u64::from(bound) * u64::from(bound);
        loop {
            let word = self.0.next_u32();
            if u64::from(word) < whole {
                return word % bound;
            }
        }
    }

    /// Shuffles by the method of Fisher and Yates, from the end: for i = n-1 down to 1
    /// the items at i and at [`below`](Self::below)(i + 1) are swapped.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let bound = u32::try_from(i + 1).expect("fewer than 2^32 items");
            items.swap(i, self.below(bound) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dice(byte: u8) -> Dice {
        Dice::new(&Seed::new([byte; 32]))
    }

    /// The first words of ChaCha20 with an all-zero key and nonce, as RFC 8439
    /// prints them (appendix A.1, test vector 1: `76 b8 e0 ad a0 f1 3d 90`).
    #[test]
    fn the_generator_is_chacha20_of_the_rfc() {
        let mut dice = dice(0);
        assert_eq!(dice.0.next_u32(), 0xade0_b876);
        assert_eq!(dice.0.next_u32(), 0x903d_f1a0);
    }

    #[test]
    fn draws_are_uniform() {
        let mut dice = dice(1);
        let mut seen = [0_u32; 12];
        for _ in 0..120_000 {
            seen[dice.below(12) as usize] += 1;
        }
        // Four standard errors of a binomial count: 4 * sqrt(120000 * 11/144).
        assert!(seen.iter().all(|&n| n.abs_diff(10_000) < 384), "{seen:?}");
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<u8> = (0..108).collect();
        dice(2).shuffle(&mut items);
        assert_ne!(items, (0..108).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..108).collect::<Vec<_>>());
    }

    /// Computed with another implementation of ChaCha20. If this fails, old seeds give
    /// other games: do not change the numbers.
    #[test]
    fn the_first_draws_stay_the_same_for_ever() {
        let mut dice = dice(3);
        let draws: Vec<u32> = (0..12).map(|i| dice.below(9 + i)).collect();
        assert_eq!(draws, GOLDEN_DRAWS);
        let mut items: Vec<u8> = (0..16).collect();
        dice.shuffle(&mut items);
        assert_eq!(items, GOLDEN_SHUFFLE);
    }

    const GOLDEN_DRAWS: [u32; 12] = [4, 7, 8, 10, 10, 11, 1, 14, 9, 6, 16, 9];
    const GOLDEN_SHUFFLE: [u8; 16] = [5, 9, 7, 8, 10, 2, 11, 4, 6, 13, 0, 15, 1, 12, 3, 14];
}
