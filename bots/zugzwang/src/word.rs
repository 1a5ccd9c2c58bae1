//! The words that hold one bit for each cell: 128 bits where they are enough,
//! 192 where they are not.

use std::{
    fmt::Debug,
    ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, Not},
};

/// A set of cells, as bits.
pub(crate) trait Word:
    Copy
    + Debug
    + Eq
    + BitAnd<Output = Self>
    + BitAndAssign
    + BitOr<Output = Self>
    + BitOrAssign
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Send
    + 'static
{
    /// No bit.
    const EMPTY: Self;
    /// Number of its bits.
    const BITS: u32;

    /// This bit alone.
    fn bit(index: u32) -> Self;
    /// All bits move up by `n`, less than 64.
    fn up(self, n: u32) -> Self;
    /// All bits move down by `n`, less than 64.
    fn down(self, n: u32) -> Self;
    /// The sum of both as numbers.
    fn plus(self, other: Self) -> Self;
    /// The number less one; it is not 0.
    fn less_one(self) -> Self;
    /// Number of bits that are set.
    fn count(self) -> u32;
    /// The index of the lowest bit; there is one.
    fn lowest(self) -> u32;
    /// All bits but the lowest; there is one.
    fn without_lowest(self) -> Self;

    #[inline]
    fn is_empty(self) -> bool {
        self == Self::EMPTY
    }

    #[inline]
    fn meets(self, other: Self) -> bool {
        !(self & other).is_empty()
    }

    /// True if at least two bits are set.
    #[inline]
    fn has_two(self) -> bool {
        !self.is_empty() && !self.without_lowest().is_empty()
    }

    /// The indices of the set bits, the lowest first.
    #[inline]
    fn bits(mut self) -> impl Iterator<Item = u32> {
        std::iter::from_fn(move || {
            if self.is_empty() {
                return None;
            }
            let index = self.lowest();
            self = self.without_lowest();
            Some(index)
        })
    }
}

impl Word for u128 {
    const EMPTY: Self = 0;
    const BITS: u32 = Self::BITS;

    #[inline]
    fn bit(index: u32) -> Self {
        1 << index
    }

    #[inline]
    fn up(self, n: u32) -> Self {
        self << n
    }

    #[inline]
    fn down(self, n: u32) -> Self {
        self >> n
    }

    #[inline]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline]
    fn less_one(self) -> Self {
        self - 1
    }

    #[inline]
    fn count(self) -> u32 {
        self.count_ones()
    }

    #[inline]
    fn lowest(self) -> u32 {
        self.trailing_zeros()
    }

    #[inline]
    fn without_lowest(self) -> Self {
        self & (self - 1)
    }
}

/// 192 bits, the lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct U192([u64; 3]);

impl U192 {
    #[inline]
    fn zip(self, other: Self, with: impl Fn(u64, u64) -> u64) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Self([with(a, x), with(b, y), with(c, z)])
    }
}

impl BitAnd for U192 {
    type Output = Self;

    #[inline]
    fn bitand(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }
}

impl BitOr for U192 {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }
}

impl BitXor for U192 {
    type Output = Self;

    #[inline]
    fn bitxor(self, other: Self) -> Self {
        self.zip(other, |a, b| a ^ b)
    }
}

impl Not for U192 {
    type Output = Self;

    #[inline]
    fn not(self) -> Self {
        Self(self.0.map(|part| !part))
    }
}

impl BitAndAssign for U192 {
    #[inline]
    fn bitand_assign(&mut self, other: Self) {
        *self = *self & other;
    }
}

impl BitOrAssign for U192 {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

impl Word for U192 {
    const EMPTY: Self = Self([0; 3]);
    const BITS: u32 = 192;

    #[inline]
    fn bit(index: u32) -> Self {
        let mut parts = [0; 3];
        parts[(index / 64) as usize] = 1 << (index % 64);
        Self(parts)
    }

    #[inline]
    fn up(self, n: u32) -> Self {
        let [a, b, c] = self.0;
        Self([
            a << n,
            b << n | a >> 1 >> (63 - n),
            c << n | b >> 1 >> (63 - n),
        ])
    }

    #[inline]
    fn down(self, n: u32) -> Self {
        let [a, b, c] = self.0;
        Self([
            a >> n | b << 1 << (63 - n),
            b >> n | c << 1 << (63 - n),
            c >> n,
        ])
    }

    #[inline]
    fn plus(self, other: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        let (low, carry) = a.overflowing_add(x);
        let (middle, carry_of_sum) = b.overflowing_add(y);
        let (middle, carry_of_carry) = middle.overflowing_add(carry.into());
        let carry = u64::from(carry_of_sum | carry_of_carry);
        Self([low, middle, c.wrapping_add(z).wrapping_add(carry)])
    }

    #[inline]
    fn less_one(self) -> Self {
        self.plus(Self([u64::MAX; 3]))
    }

    #[inline]
    fn count(self) -> u32 {
        self.0.iter().map(|part| part.count_ones()).sum()
    }

    #[inline]
    fn lowest(self) -> u32 {
        match self.0 {
            [0, 0, c] => 128 + c.trailing_zeros(),
            [0, b, _] => 64 + b.trailing_zeros(),
            [a, _, _] => a.trailing_zeros(),
        }
    }

    #[inline]
    fn without_lowest(self) -> Self {
        Self(match self.0 {
            [0, 0, c] => [0, 0, c & c.wrapping_sub(1)],
            [0, b, c] => [0, b & b.wrapping_sub(1), c],
            [a, b, c] => [a & a.wrapping_sub(1), b, c],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits below 128 behave the same in both words.
    #[test]
    fn both_words_agree() {
        let wide = |low: u128| U192([low as u64, (low >> 64) as u64, 0]);
        let mut number: u128 = 1;
        for _ in 0..200 {
            number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835) | 1;
            let other = number.rotate_left(17) >> 45;
            let low = number >> 44;
            for n in [0, 1, 9, 13, 14, 42] {
                assert_eq!(wide(low).up(n), wide(low.up(n)));
                assert_eq!(wide(number).down(n), wide(number.down(n)));
            }
            assert_eq!(wide(low).plus(wide(other)), wide(low.plus(other)));
            assert_eq!(wide(number).less_one(), wide(number.less_one()));
            assert_eq!(wide(number).count(), number.count());
            assert_eq!(wide(low << 3).lowest(), (low << 3).lowest());
            assert!(wide(number).bits().eq(number.bits()));
            assert_eq!(!wide(number) & wide(other), wide(!number & other));
        }
    }

    #[test]
    fn bits_pass_from_part_to_part() {
        assert_eq!(U192::bit(127).up(1), U192::bit(128));
        assert_eq!(U192::bit(128).down(42), U192::bit(86));
        assert_eq!(U192::bit(128).less_one().count(), 128);
        assert_eq!(U192::bit(128).less_one().plus(U192::bit(0)), U192::bit(128));
        assert_eq!(U192::bit(190).lowest(), 190);
    }
}
