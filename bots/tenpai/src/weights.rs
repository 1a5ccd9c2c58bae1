//! All that was learned, in one file.

use crate::{
    network::{Network, WEIGHTS},
    opponent::{CLASSES, Habits, TURNS},
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
        Self::read(include_bytes!("../weights.bin")).expect("a test reads them")
    }

    /// Reads the networks against a passive and against a racing opponent, then the habits: two
    /// bytes for each number.
    ///
    /// # Errors
    ///
    /// [`WeightsError`] if there are more or fewer.
    pub fn read(bytes: &[u8]) -> Result<Self, WeightsError> {
        if bytes.len() != BYTES {
            return Err(WeightsError {
                expected: BYTES,
                found: bytes.len(),
            });
        }
        let numbers: Vec<i16> = bytes
            .chunks_exact(2)
            .map(|pair| i16::from_le_bytes([pair[0], pair[1]]))
            .collect();
        let (passive, rest) = numbers.split_at(WEIGHTS);
        let (racing, rest) = rest.split_at(WEIGHTS);
        let take = |from: usize, count: usize, unit: f32| {
            let numbers = rest[from..from + count].iter();
            numbers.map(|&number| f32::from(number) / unit).collect()
        };
        Ok(Self {
            passive: Network::new(passive),
            racing: Network::new(racing),
            habits: Habits {
                likelihood: take(0, CLASSES, FIXED),
                danger: take(CLASSES, CLASSES, FIXED),
                self_draw: take(2 * CLASSES, TURNS, FIXED),
                loss: take(2 * CLASSES + TURNS, TURNS, POINTS),
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
            scaled(&habits.danger, FIXED),
            scaled(&habits.self_draw, FIXED),
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
        assert!(Weights::read(&[0; 10]).is_err());
    }
}
