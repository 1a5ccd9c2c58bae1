//! Any processor.

use super::{Cpu, LineMasks, RAYS};

/// Any processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

impl Cpu for Portable {
    #[inline(always)]
    fn moves(self, own: u64, other: u64) -> u64 {
        // A run along a row must not go on in the next row.
        let inner = other & 0x7e7e_7e7e_7e7e_7e7e;
        let ends = behind_runs(own, inner, 1)
            | behind_runs(own, inner, 7)
            | behind_runs(own, inner, 9)
            | behind_runs(own, other, 8);
        ends & !(own | other)
    }

    #[inline(always)]
    fn flips(self, square: usize, own: u64, other: u64) -> u64 {
        let LineMasks { up, down } = &RAYS[square];
        let mut flips = 0;
        for direction in 0..4 {
            // The square where a run of the other side's discs ends; the run is
            // enclosed if an own disc lies there.
            let ray = up[direction];
            let stop = ray & !other;
            let end = stop & stop.wrapping_neg() & own;
            flips |= end.wrapping_sub(u64::from(end != 0)) & ray;

            let ray = down[direction];
            let stop = (ray & !other) | 1;
            let end = 1 << 63 >> stop.leading_zeros() & own & ray;
            flips |= end.wrapping_neg() << 1 & ray;
        }
        flips
    }

    #[inline(always)]
    fn run<R>(self, work: impl FnOnce() -> R) -> R {
        work()
    }
}

/// The squares next to a run of `through` that begins beside a disc of `own`, in either
/// direction along this shift: a parallel prefix (Kogge and Stone) over runs of at most six.
#[inline(always)]
fn behind_runs(own: u64, through: u64, shift: u32) -> u64 {
    let mut left = through & own << shift;
    let mut right = through & own >> shift;
    left |= through & left << shift;
    right |= through & right >> shift;
    let pairs_left = through & through << shift;
    let pairs_right = pairs_left >> shift;
    left |= pairs_left & left << (2 * shift);
    right |= pairs_right & right >> (2 * shift);
    left |= pairs_left & left << (2 * shift);
    right |= pairs_right & right >> (2 * shift);
    left << shift | right >> shift
}
