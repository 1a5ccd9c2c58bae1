//! All that was learned, in one file.

use std::borrow::Cow;

use crate::{
    features::{PASSIVE_ROWS, RACING_ROWS},
    network::{FIXED, Layout, Network},
    opponent::{Habits, READINGS, THROWS, TURNS},
    reader::{self, Reader},
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

/// The numbers of each part of the file, in order: the networks against a passive and against a
/// racing opponent, both readers of [`Habits`], and the points of a win by turn.
const PARTS: [usize; 5] = [
    Layout::of(PASSIVE_ROWS).weights,
    Layout::of(RACING_ROWS).weights,
    reader::weights(READINGS),
    reader::weights(THROWS),
    TURNS,
];
/// How many bytes weights take.
const BYTES: usize = 2 * (PARTS[0] + PARTS[1] + PARTS[2] + PARTS[3] + PARTS[4]);
/// What 1 is among the stored points.
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
        let mut place = 0;
        let mut parts = PARTS.into_iter().map(|numbers| {
            let from = place;
            place += 2 * numbers;
            match &bytes {
                Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[from..place]),
                Cow::Owned(bytes) => Cow::Owned(bytes[from..place].to_vec()),
            }
        });
        let mut part = || parts.next().expect("as many as are read here");
        Ok(Self {
            passive: Network::new(part()),
            racing: Network::new(part()),
            habits: Habits {
                hand: Reader::new(part()),
                throws: Reader::new(part()),
                loss: {
                    let points = part();
                    std::array::from_fn(|turn| {
                        let bytes = [points[2 * turn], points[2 * turn + 1]];
                        f32::from(i16::from_le_bytes(bytes)) / POINTS
                    })
                },
            },
        })
    }

    /// Puts learned numbers, by part of the file, into the form that [`read`](Self::read) reads. A
    /// weight beyond 8 is written as 8.
    ///
    /// # Panics
    ///
    /// If a part has more or fewer numbers.
    #[must_use]
    pub fn to_bytes(parts: [&[f32]; 5]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(BYTES);
        for (at, part) in parts.into_iter().enumerate() {
            assert_eq!(part.len(), PARTS[at], "the numbers of part {at}");
            let unit = if at == 4 { POINTS } else { FIXED };
            let fixed = |number: &f32| ((number * unit).round() as i16).to_le_bytes();
            bytes.extend(part.iter().flat_map(fixed));
        }
        bytes
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
