//! All that was learned, in one file.

use std::borrow::Cow;

use crate::{
    network::{Layout, PassiveNetwork, RacingNetwork, Stored as _},
    opponent::{Habits, READINGS, THROWS, TURNS},
    reader::{self, Reader},
};

/// The networks and what is known of opponents.
#[derive(Clone, Debug)]
pub struct Weights {
    pub(crate) passive: PassiveNetwork,
    pub(crate) racing: RacingNetwork,
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

/// How many numbers each part of the file has, in order: the networks against a passive and against a
/// racing opponent, both readers of [`Habits`], and the points of a win by turn.
const PARTS: [usize; 5] = [
    Layout::PASSIVE.weights,
    Layout::RACING.weights,
    reader::weights(READINGS),
    reader::weights(THROWS),
    TURNS,
];
/// How many bytes each of them takes.
const BYTES: [usize; 5] = [
    Layout::PASSIVE.bytes,
    Layout::RACING.bytes,
    2 * PARTS[2],
    2 * PARTS[3],
    2 * PARTS[4],
];
/// How many bytes weights take.
const ALL: usize = BYTES[0] + BYTES[1] + BYTES[2] + BYTES[3] + BYTES[4];
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

    /// Reads the networks against a passive and against a racing opponent, then the habits: a byte for
    /// each number of a row of the second network, and two for each of the others.
    ///
    /// # Errors
    ///
    /// [`WeightsError`] if there are more or fewer.
    pub fn read(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self, WeightsError> {
        let bytes = bytes.into();
        if bytes.len() != ALL {
            return Err(WeightsError {
                expected: ALL,
                found: bytes.len(),
            });
        }
        let mut place = 0;
        let mut parts = BYTES.into_iter().map(|bytes_here| {
            let from = place;
            place += bytes_here;
            match &bytes {
                Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[from..place]),
                Cow::Owned(bytes) => Cow::Owned(bytes[from..place].to_vec()),
            }
        });
        let mut part = || parts.next().expect("as many as are read here");
        Ok(Self {
            passive: PassiveNetwork::new(part()),
            racing: RacingNetwork::new(part()),
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
    /// number that is too large is written as the largest.
    ///
    /// # Panics
    ///
    /// If a part has more or fewer numbers.
    #[must_use]
    pub fn to_bytes(parts: [&[f32]; 5]) -> Vec<u8> {
        assert_eq!(parts.map(<[f32]>::len), PARTS, "the numbers of each part");
        let [passive, racing, hand, throws, points] = parts;
        let mut bytes = Vec::with_capacity(ALL);
        PassiveNetwork::store(passive, &mut bytes);
        RacingNetwork::store(racing, &mut bytes);
        for &number in hand.iter().chain(throws) {
            i16::store(number, &mut bytes);
        }
        for point in points {
            bytes.extend(((point * POINTS).round() as i16).to_le_bytes());
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
