//! All that was learned, in one file.

use std::borrow::Cow;

use crate::{
    network::{Network, WEIGHTS},
    opponent::{CLASSES, HOLDINGS, Habits, READINGS, TURNS},
};

/// The networks and what is known of opponents.
#[derive(Clone, Debug)]
pub struct Weights {
    pub(crate) passive: Network,
    pub(crate) racing: Network,
    pub(crate) habits: Habits,
}

/// The weights are of another size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected} bytes of weights, found {found}")]
pub struct WeightsError {
    /// The size that was expected.
    pub expected: usize,
    /// The size that was found.
    pub found: usize,
}

/// How many bytes weights take.
const BYTES: usize = 2 * (2 * WEIGHTS) + 2 * Habits::NUMBERS;
/// What 1 is among the stored numbers of the habits; points are stored in hundredths of that.
const FIXED: f32 = 2000.0;
const POINTS: f32 = 100.0;

impl Weights {
    /// Those that belong to the engine.
    ///
    /// # Panics
    ///
    /// Never: a test reads them.
    #[must_use]
    pub fn embedded() -> Self {
        let bytes: &[u8] = include_bytes!("../weights.bin");
        Self::read(bytes).expect("a test reads them")
    }

    /// Reads the networks against a passive and against a racing opponent, then the habits: two
    /// bytes for each number.
    ///
    /// # Errors
    ///
    /// [`WeightsError`] if there are more or fewer.
    pub fn read(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self, WeightsError> {
        let bytes = bytes.into();
        if bytes.len() != BYTES {
            return Err(WeightsError {
                expected: BYTES,
                found: bytes.len(),
            });
        }
        let part = |from: usize, to: usize| match &bytes {
            Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[from..to]),
            Cow::Owned(bytes) => Cow::Owned(bytes[from..to].to_vec()),
        };
        let (racing, habits) = (2 * WEIGHTS, 4 * WEIGHTS);
        let mut rest = bytes[habits..].chunks_exact(2);
        let mut take = |count: usize, unit: f32| -> Vec<f32> {
            let number = |pair: &[u8]| f32::from(i16::from_le_bytes([pair[0], pair[1]])) / unit;
            rest.by_ref().take(count).map(number).collect()
        };
        Ok(Self {
            passive: Network::new(part(0, racing)),
            racing: Network::new(part(racing, habits)),
            habits: Habits {
                likelihood: take(CLASSES, FIXED),
                throws: take(READINGS, FIXED),
                danger: take(READINGS, FIXED),
                held: take(HOLDINGS, FIXED),
                loss: take(TURNS, POINTS),
            },
        })
    }

    /// Puts learned numbers into the form that [`read`](Self::read) reads. A weight beyond 8 is
    /// written as 8.
    #[must_use]
    pub fn to_bytes(passive: &[f32], racing: &[f32], habits: &Habits) -> Vec<u8> {
        let scaled = |numbers: &[f32], unit: f32| -> Vec<u8> {
            let fixed = |number: &f32| ((number * unit).round() as i16).to_le_bytes();
            numbers.iter().flat_map(fixed).collect()
        };
        [
            scaled(passive, crate::network::FIXED),
            scaled(racing, crate::network::FIXED),
            scaled(&habits.likelihood, FIXED),
            scaled(&habits.throws, FIXED),
            scaled(&habits.danger, FIXED),
            scaled(&habits.held, FIXED),
            scaled(&habits.loss, POINTS),
        ]
        .concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_weights_are_read() {
        let _ = Weights::embedded();
        assert!(Weights::read(vec![0; 10]).is_err());
    }
}
