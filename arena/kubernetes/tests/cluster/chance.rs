//! Random numbers from a seed (SplitMix64).

/// A source of random numbers that a seed decides.
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to below `n`.
    pub(crate) const fn below(&mut self, n: u64) -> u64 {
        self.number() % n
    }

    /// From `least` to `most`, both of which are possible.
    pub(crate) const fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    /// True in so many of 1,000 cases.
    pub(crate) const fn permille(&mut self, rate: u64) -> bool {
        self.below(1000) < rate
    }

    /// Another source, which does not follow this one.
    pub(crate) const fn fork(&mut self) -> Self {
        Self(self.number())
    }

    /// One of these.
    pub(crate) fn pick<'a, T>(&mut self, among: &'a [T]) -> Option<&'a T> {
        match among.len() {
            0 => None,
            len => Some(&among[self.below(len as u64) as usize]),
        }
    }
}
