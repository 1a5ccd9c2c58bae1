//! All that was learned, in one file.

use std::borrow::Cow;

use crate::{
    features::{ACTIVE, Suits, Threat},
    network::{Layout, PassiveNetwork, RacingNetwork, RowStorage as _, Sums, WideNetwork},
    opponent::{Habits, READINGS, THROWS, TURNS},
    reader::{self, SuitNetwork},
};

/// The networks and what is known of opponents.
#[derive(Clone, Debug)]
pub struct NetworkWeights {
    pub(crate) passive: PassiveNetwork,
    pub(crate) racing: Racing,
    pub(crate) habits: Habits,
}

/// The network against a seat that races.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a narrow network in a box would take its memory twice while it is read"
)]
pub(crate) enum Racing {
    /// The one that fits into the arcade's memory.
    Narrow(RacingNetwork),
    Wide(Box<WideNetwork>),
}

impl Racing {
    /// The worth of a hand of 13 tiles, in points, when so many tiles are left in the wall.
    #[inline]
    pub(crate) fn value(&self, suits: &Suits, left: u8, threat: &Threat, last: &mut Last) -> f32 {
        match self {
            Self::Narrow(network) => network.value(&suits.rows(left, Some(threat))),
            Self::Wide(network) => network.value_after(last, &suits.wide_rows(left, threat)),
        }
    }

    /// These suits, ready to be valued without several tiles.
    pub(crate) fn prepared(&self, suits: Suits) -> Suits {
        match self {
            Self::Narrow(_) => suits,
            Self::Wide(_) => suits.wide(),
        }
    }
}

/// The hand that the wide network valued last.
pub(crate) type Last = Sums<{ WideNetwork::FIRST }, ACTIVE>;

/// The weights are of another size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected} bytes of weights, found {found}")]
pub struct NetworkWeightsError {
    /// The size that was expected.
    pub expected: usize,
    /// The size that was found.
    pub found: usize,
}

/// Number of numbers in each part of the file, in order: the networks against a passive and against
/// a racing opponent, both readers of [`Habits`], and the points of a win by turn.
const PARTS: [usize; 5] = [
    Layout::PASSIVE.weights,
    Layout::RACING.weights,
    reader::weights(READINGS),
    reader::weights(THROWS),
    TURNS,
];
/// Number of bytes of each of them.
const BYTES: [usize; 5] = [
    Layout::PASSIVE.bytes,
    Layout::RACING.bytes,
    2 * PARTS[2],
    2 * PARTS[3],
    2 * PARTS[4],
];
/// Number of bytes of all weights.
const ALL: usize = BYTES[0] + BYTES[1] + BYTES[2] + BYTES[3] + BYTES[4];
/// The number that stands for 1 among the stored points.
const POINTS: f32 = 100.0;

impl NetworkWeights {
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

    /// The same with the wide network, for playouts and for [`MahjongEngine::estimates`](crate::MahjongEngine::estimates) that
    /// people are shown. It takes 3.2 MiB more.
    ///
    /// # Panics
    ///
    /// Never: a test reads it.
    #[must_use]
    pub fn wide() -> Self {
        let bytes: &[u8] = include_bytes!("../wide.bin");
        Self::embedded().with_wide(bytes).expect("a test reads it")
    }

    /// Reads the networks against a passive and against a racing opponent, then the habits: a byte for
    /// each number of a row of the second network, and two for each of the others.
    ///
    /// # Errors
    ///
    /// [`NetworkWeightsError`] if there are more or fewer.
    pub fn read(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self, NetworkWeightsError> {
        let bytes = of_size(bytes.into(), ALL)?;
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
            racing: Racing::Narrow(RacingNetwork::new(part())),
            habits: Habits {
                hand: SuitNetwork::new(part()),
                throws: SuitNetwork::new(part()),
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

    /// The same with this wide network against a racing opponent.
    ///
    /// # Errors
    ///
    /// [`NetworkWeightsError`] if there are more or fewer.
    pub fn with_wide(
        self,
        bytes: impl Into<Cow<'static, [u8]>>,
    ) -> Result<Self, NetworkWeightsError> {
        let bytes = of_size(bytes.into(), Layout::WIDE.bytes)?;
        Ok(Self {
            racing: Racing::Wide(Box::new(WideNetwork::new(bytes))),
            ..self
        })
    }

    /// Puts learned numbers of the wide network into the form that [`with_wide`](Self::with_wide) reads. A
    /// number that is too large is written as the largest.
    ///
    /// # Panics
    ///
    /// If there are more or fewer numbers.
    #[must_use]
    pub fn wide_to_bytes(network: &[f32]) -> Vec<u8> {
        assert_eq!(network.len(), Layout::WIDE.weights, "the numbers of it");
        let mut bytes = Vec::with_capacity(Layout::WIDE.bytes);
        WideNetwork::store(network, &mut bytes);
        bytes
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

/// These bytes, if there are so many.
fn of_size(
    bytes: Cow<'static, [u8]>,
    expected: usize,
) -> Result<Cow<'static, [u8]>, NetworkWeightsError> {
    let found = bytes.len();
    if found == expected {
        Ok(bytes)
    } else {
        Err(NetworkWeightsError { expected, found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_weights_are_read() {
        let _ = NetworkWeights::wide();
        assert!(NetworkWeights::read(vec![0; 10]).is_err());
        assert!(NetworkWeights::embedded().with_wide(vec![0; 10]).is_err());
    }
}
