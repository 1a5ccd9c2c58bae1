//! The weights of the terms of the evaluation, in the file that the program `zugzwang-train`
//! writes.

/// A weight at the beginning and at the end of a game, in 1/256 of the logarithm of the
/// odds to win. Both halves are added at once: the upper 16 bits are the end's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Weight(i32);

impl Weight {
    pub(crate) const fn new(early: i16, late: i16) -> Self {
        Self(early as i32 + ((late as i32) << 16))
    }

    pub(crate) const fn early(self) -> i32 {
        self.0 as i16 as i32
    }

    pub(crate) const fn late(self) -> i32 {
        (self.0.wrapping_add(0x8000)) >> 16
    }

    #[inline]
    pub(crate) const fn plus(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    #[inline]
    pub(crate) const fn minus(self, other: Self) -> Self {
        Self(self.0.wrapping_sub(other.0))
    }

    /// The weight of a term that is on the board so many times.
    #[inline]
    pub(crate) const fn times(self, count: u32) -> Self {
        Self(self.0.wrapping_mul(count as i32))
    }

    pub(crate) const fn negated(self) -> Self {
        Self(self.0.wrapping_neg())
    }
}

/// A weight for each term of the evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvaluationWeights(Vec<Weight>);

/// The reason why a file holds no weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationWeightsError {
    /// It does not begin with the mark of this version.
    #[error("expected weights of version 2, found another file")]
    Version,
    /// It has another length.
    #[error("expected {expected} bytes, found {found}")]
    Length {
        /// The length of a file with a weight for each term.
        expected: usize,
        /// The length of this file.
        found: usize,
    },
}

/// The first bytes of a file; the digit is the version.
const MARK: &[u8; 8] = b"zugzwan2";
static LEARNED: &[u8] = include_bytes!("../data/weights.bin");

impl EvaluationWeights {
    /// Number of terms.
    pub const TERMS: usize = crate::terms::COUNT;

    /// The weights that the crate comes with.
    ///
    /// # Panics
    ///
    /// Never: a test reads them.
    #[must_use]
    pub fn learned() -> Self {
        Self::from_bytes(LEARNED).expect("the file in the crate is one of this version")
    }

    /// Weights from pairs of values, for the beginning and for the end of a game, in
    /// logarithms of the odds to win.
    ///
    /// # Panics
    ///
    /// If there are not [`EvaluationWeights::TERMS`] pairs.
    #[must_use]
    pub fn from_values(values: &[[f32; 2]]) -> Self {
        assert_eq!(values.len(), Self::TERMS);
        let whole = |value: f32| (value * 256.0).round().clamp(-4000.0, 4000.0) as i16;
        let weights = values.iter();
        Self(
            weights
                .map(|&[early, late]| Weight::new(whole(early), whole(late)))
                .collect(),
        )
    }

    /// Reads a file: a mark of 8 bytes, then two numbers of 16 bits, the lower byte first,
    /// for each term.
    ///
    /// # Errors
    ///
    /// The mark or the length is another.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, EvaluationWeightsError> {
        let body = bytes
            .strip_prefix(MARK)
            .ok_or(EvaluationWeightsError::Version)?;
        let expected = 4 * Self::TERMS;
        if body.len() != expected {
            return Err(EvaluationWeightsError::Length {
                expected: expected + MARK.len(),
                found: bytes.len(),
            });
        }
        let weights = body.chunks_exact(4).map(|weight| {
            let half = |at: usize| i16::from_le_bytes([weight[at], weight[at + 1]]);
            Weight::new(half(0), half(2))
        });
        Ok(Self(weights.collect()))
    }

    /// The bytes that [`EvaluationWeights::from_bytes`] reads.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MARK.to_vec();
        for weight in &self.0 {
            for half in [weight.early(), weight.late()] {
                bytes.extend((half as i16).to_le_bytes());
            }
        }
        bytes
    }

    #[inline]
    pub(crate) fn of(&self, term: usize) -> Weight {
        self.0[term]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_do_not_disturb_each_other() {
        let halves = [-4000, -257, -1, 0, 1, 300, 4000];
        for early in halves {
            for late in halves {
                let weight = Weight::new(early, late);
                assert_eq!((weight.early(), weight.late()), (early.into(), late.into()));
                let sum = weight.plus(Weight::new(-5, 7));
                assert_eq!(
                    (sum.early(), sum.late()),
                    (i32::from(early) - 5, i32::from(late) + 7)
                );
                assert_eq!(sum.minus(weight), Weight::new(-5, 7));
                assert_eq!(weight.negated().late(), -i32::from(late));
            }
        }
    }

    #[test]
    fn the_file_reads_back_to_the_same_bytes() {
        assert_eq!(EvaluationWeights::learned().to_bytes(), LEARNED);
    }

    #[test]
    fn another_file_is_refused() {
        assert_eq!(
            EvaluationWeights::from_bytes(b"zugzwan1"),
            Err(EvaluationWeightsError::Version)
        );
        let short = EvaluationWeights::from_bytes(&LEARNED[..100]);
        assert!(matches!(
            short,
            Err(EvaluationWeightsError::Length { found: 100, .. })
        ));
    }
}
