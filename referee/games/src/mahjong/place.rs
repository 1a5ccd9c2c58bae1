//! A number for every suit of at most 14 tiles, without gaps, so that a table of them
//! is as short as possible.

use super::{
    hand::{LARGEST, SuitCounts},
    tile::RANKS,
};

/// Number of ways to hold tiles of the ranks 1 to 4, and 5 to 9.
const LOWS: usize = 625;
const HIGHS: usize = 3125;

/// The value of one tile of a rank in its part.
const WORTH: [usize; RANKS as usize] = [1, 5, 25, 125, 1, 5, 25, 125, 625];

/// The tiles of a suit, cut into the ranks 1 to 4 and 5 to 9, each part read as
/// a number of base 5.
#[derive(Clone, Copy)]
pub(super) struct RankParts {
    low: usize,
    high: usize,
}

impl RankParts {
    #[inline]
    pub(super) const fn of(suit: SuitCounts) -> Self {
        // Octal digits to base 5, two at a time and then four at a time: a
        // field of 8h + l becomes 5h + l, one of 64h + l becomes 25h + l.
        let twos = suit.0 - 3 * (suit.0 >> 3 & 0o007_070_707);
        let fours = twos - 39 * (twos >> 6 & 0o000_770_077);
        Self {
            low: (fours & 0o7777) as usize,
            high: ((fours >> 12 & 0o7777) + 625 * (fours >> 24)) as usize,
        }
    }

    pub(super) const fn count(self, rank: u8) -> u8 {
        let part = if rank <= 4 { self.low } else { self.high };
        (part / WORTH[rank as usize - 1] % 5) as u8
    }

    /// Number of tiles.
    pub(super) fn size(self) -> u8 {
        (1..=RANKS).map(|rank| self.count(rank)).sum()
    }

    /// With one more, where there are fewer than four.
    #[inline]
    pub(super) const fn with(mut self, rank: u8) -> Self {
        *self.part(rank) += WORTH[rank as usize - 1];
        self
    }

    /// With one less, where there is one.
    pub(super) const fn without(mut self, rank: u8) -> Self {
        *self.part(rank) -= WORTH[rank as usize - 1];
        self
    }

    #[inline]
    const fn part(&mut self, rank: u8) -> &mut usize {
        if rank <= 4 {
            &mut self.low
        } else {
            &mut self.high
        }
    }
}

/// Numbers the suits. The low parts are sorted by how many tiles they have, so
/// those that go with a high part are the first of them.
pub(super) struct SuitPlaces {
    /// By the low part: where it comes among all.
    low: [u16; LOWS],
    /// By the high part: where those with this one begin, and how many low
    /// parts go with it.
    high: [(u32, u32); HIGHS],
}

impl SuitPlaces {
    pub(super) fn new() -> Self {
        let mut sizes = [0; LOWS];
        for (low, size) in sizes.iter_mut().enumerate() {
            *size = RankParts { low, high: 0 }.size();
        }
        let mut by_size: Vec<usize> = (0..LOWS).collect();
        by_size.sort_by_key(|&low| sizes[low]);
        let mut low = [0; LOWS];
        for (at, &part) in by_size.iter().enumerate() {
            low[part] = at as u16;
        }
        let mut high = [(0, 0); HIGHS];
        let mut next = 0;
        for (part, place) in high.iter_mut().enumerate() {
            let size = RankParts { low: 0, high: part }.size();
            let fit = sizes.iter().filter(|&&low| low + size <= LARGEST).count();
            *place = (next, fit as u32);
            next += fit as u32;
        }
        Self { low, high }
    }

    /// Number of suits.
    pub(super) const fn len(&self) -> usize {
        let (last, fit) = self.high[HIGHS - 1];
        (last + fit) as usize
    }

    /// All of them; one that has more tiles than another comes after it.
    pub(super) fn all(&self) -> impl DoubleEndedIterator<Item = RankParts> {
        (0..HIGHS).flat_map(move |high| {
            (0..LOWS)
                .filter(move |&low| u32::from(self.low[low]) < self.high[high].1)
                .map(move |low| RankParts { low, high })
        })
    }

    #[inline]
    pub(super) const fn of(&self, parts: RankParts) -> usize {
        self.high[parts.high].0 as usize + self.low[parts.low] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suit_has_a_place_of_its_own() {
        let places = SuitPlaces::new();
        assert_eq!(places.len(), 405_350);
        let mut taken = vec![false; places.len()];
        for parts in places.all() {
            assert!(parts.size() <= LARGEST);
            let octal = (1..=RANKS)
                .rev()
                .fold(0, |octal, rank| octal << 3 | u32::from(parts.count(rank)));
            let at = places.of(RankParts::of(SuitCounts(octal)));
            assert!(!std::mem::replace(&mut taken[at], true));
        }
        assert!(taken.into_iter().all(|taken| taken));
    }
}
