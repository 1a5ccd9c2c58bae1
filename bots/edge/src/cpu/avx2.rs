//! Processors with AVX2: the four axes of the board are the four lanes of a vector. The idea
//! is that of Toshihiko Okuhara's page on bitboard techniques; the code is our own.
#![expect(
    unsafe_code,
    reason = "what needs AVX2 may be called only where the processor has it; a value of Avx2 is the proof"
)]

use std::arch::x86_64::{
    __m256i, _mm_cvtsi128_si64, _mm_or_si128, _mm_unpackhi_epi64, _mm256_add_epi64,
    _mm256_and_si256, _mm256_andnot_si256, _mm256_castsi256_si128, _mm256_cmpeq_epi64,
    _mm256_extracti128_si256, _mm256_or_si256, _mm256_set1_epi64x, _mm256_setr_epi64x,
    _mm256_setzero_si256, _mm256_sllv_epi64, _mm256_srlv_epi64, _mm256_sub_epi64,
};

use super::{Cpu, RAYS};

/// A processor with AVX2, BMI and population counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// This processor, if it is one.
    pub(crate) fn detect() -> Option<Self> {
        let all = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        all.then_some(Self(()))
    }
}

impl Cpu for Avx2 {
    #[inline(always)]
    fn moves(self, own: u64, other: u64) -> u64 {
        // SAFETY: a value of this type exists only where the processor has these features.
        unsafe { moves(own, other) }
    }

    #[inline(always)]
    fn flips(self, square: usize, own: u64, other: u64) -> u64 {
        // SAFETY: as above.
        unsafe { flips(square, own, other) }
    }

    #[inline(always)]
    fn run<R>(self, work: impl FnOnce() -> R) -> R {
        // SAFETY: as above.
        unsafe { run(work) }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// The shifts along the four axes, in the order of the rays.
#[inline]
#[target_feature(enable = "avx2")]
fn shifts() -> __m256i {
    _mm256_setr_epi64x(1, 7, 8, 9)
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn moves(own: u64, other: u64) -> u64 {
    // A run along a row must not go on in the next row; along a column it may.
    const INNER: i64 = 0x7e7e_7e7e_7e7e_7e7e;
    let shift = shifts();
    let twice = _mm256_setr_epi64x(2, 14, 16, 18);
    let discs = _mm256_set1_epi64x(own.cast_signed());
    let through = _mm256_and_si256(
        _mm256_set1_epi64x(other.cast_signed()),
        _mm256_setr_epi64x(INNER, INNER, -1, INNER),
    );
    let mut left = _mm256_and_si256(through, _mm256_sllv_epi64(discs, shift));
    let mut right = _mm256_and_si256(through, _mm256_srlv_epi64(discs, shift));
    let pairs_left = _mm256_and_si256(through, _mm256_sllv_epi64(through, shift));
    let pairs_right = _mm256_srlv_epi64(pairs_left, shift);
    left = _mm256_or_si256(
        left,
        _mm256_and_si256(through, _mm256_sllv_epi64(left, shift)),
    );
    right = _mm256_or_si256(
        right,
        _mm256_and_si256(through, _mm256_srlv_epi64(right, shift)),
    );
    for _ in 0..2 {
        left = _mm256_or_si256(
            left,
            _mm256_and_si256(pairs_left, _mm256_sllv_epi64(left, twice)),
        );
        right = _mm256_or_si256(
            right,
            _mm256_and_si256(pairs_right, _mm256_srlv_epi64(right, twice)),
        );
    }
    let ends = _mm256_or_si256(
        _mm256_sllv_epi64(left, shift),
        _mm256_srlv_epi64(right, shift),
    );
    any_lane(ends) & !(own | other)
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn flips(square: usize, own: u64, other: u64) -> u64 {
    let rays = &RAYS[square];
    let own = _mm256_set1_epi64x(own.cast_signed());
    let other = _mm256_set1_epi64x(other.cast_signed());
    let zero = _mm256_setzero_si256();

    // Towards higher indices: where the run ends is the lowest bit that is not the other
    // side's, and the run is what lies below it.
    let ray = vector(rays.up);
    let stop = _mm256_andnot_si256(other, ray);
    let end = _mm256_and_si256(_mm256_and_si256(stop, _mm256_sub_epi64(zero, stop)), own);
    let open = _mm256_cmpeq_epi64(end, zero);
    // An end less one; zero stays zero.
    let below = _mm256_sub_epi64(_mm256_add_epi64(end, _mm256_cmpeq_epi64(zero, zero)), open);
    let up = _mm256_and_si256(below, ray);

    // Towards lower indices the end is the highest bit: fill from it downwards.
    let ray = vector(rays.down);
    let shift = shifts();
    let mut fill = _mm256_andnot_si256(other, ray);
    fill = _mm256_or_si256(fill, _mm256_srlv_epi64(fill, shift));
    fill = _mm256_or_si256(
        fill,
        _mm256_srlv_epi64(fill, _mm256_setr_epi64x(2, 14, 16, 18)),
    );
    fill = _mm256_or_si256(
        fill,
        _mm256_srlv_epi64(fill, _mm256_setr_epi64x(4, 28, 32, 36)),
    );
    let end = _mm256_and_si256(
        _mm256_andnot_si256(_mm256_srlv_epi64(fill, shift), fill),
        own,
    );
    let open = _mm256_cmpeq_epi64(_mm256_and_si256(end, ray), zero);
    let down = _mm256_andnot_si256(open, _mm256_andnot_si256(fill, ray));

    any_lane(_mm256_or_si256(up, down))
}

#[inline]
#[target_feature(enable = "avx2")]
fn vector(lanes: [u64; 4]) -> __m256i {
    let [a, b, c, d] = lanes.map(u64::cast_signed);
    _mm256_setr_epi64x(a, b, c, d)
}

/// The bits that are set in any lane.
#[inline]
#[target_feature(enable = "avx2")]
fn any_lane(lanes: __m256i) -> u64 {
    let two = _mm_or_si128(
        _mm256_castsi256_si128(lanes),
        _mm256_extracti128_si256::<1>(lanes),
    );
    _mm_cvtsi128_si64(_mm_or_si128(two, _mm_unpackhi_epi64(two, two))).cast_unsigned()
}
