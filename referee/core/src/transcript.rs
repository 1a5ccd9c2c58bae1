//! The transcript of a game: each message that each seat was sent, and each answer with
//! its time.

use std::time::Duration;

use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::{Foul, Seat, clock::micros};

/// One event of a game: a message, an answer or a foul.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A seat was sent a notice.
    Told {
        /// The seat.
        seat: Seat,
        /// The whole message.
        #[serde(with = "text")]
        call: Bytes,
    },
    /// A seat was asked a question.
    Asked {
        /// The seat.
        seat: Seat,
        /// The question's number in this seat's stream, from 0.
        number: u32,
        /// The whole message.
        #[serde(with = "text")]
        call: Bytes,
    },
    /// A seat answered.
    Answered {
        /// The seat.
        seat: Seat,
        /// The number of the question that it was asked.
        number: u32,
        /// The whole message.
        #[serde(with = "text")]
        answer: Bytes,
        /// The move in the notation of the game; absent if it was a foul or no move.
        #[serde(rename = "move", default, skip_serializing_if = "Option::is_none")]
        notation: Option<String>,
        /// The time from handing the question to the transport to reading the answer, less
        /// what is excused.
        #[serde(rename = "thought_us", with = "micros")]
        thought: Duration,
        /// A delay of the referee's own that would have made the answer late.
        #[serde(rename = "excused_us", with = "micros")]
        #[serde(default, skip_serializing_if = "Duration::is_zero")]
        excused: Duration,
    },
    /// A seat committed a foul, by its last answer or instead of one.
    Fouled {
        /// The seat.
        seat: Seat,
        /// The foul.
        foul: Foul,
        /// The time from handing the question to the transport to detecting the foul.
        #[serde(rename = "thought_us", with = "micros")]
        thought: Duration,
    },
}

/// All events of a game, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    events: Vec<Event>,
}

impl Transcript {
    /// Appends an event.
    pub fn push(&mut self, event: Event) {
        self.events.push(event);
    }

    /// All events.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// All events, by value.
    #[must_use]
    pub fn into_events(self) -> Vec<Event> {
        self.events
    }
}

impl Event {
    /// Adds this event without its time to a hash: a byte for the type, a byte for the
    /// seat, the number of the question (4 bytes, little-endian) if there is one, the
    /// length of the message (8 bytes, little-endian), and the message. A foul counts
    /// as a message that is the name of its kind.
    pub(crate) fn hash_into(&self, hash: &mut Sha256) {
        let (tag, seat, number, bytes): (u8, Seat, Option<u32>, &[u8]) = match self {
            Self::Told { seat, call } => (1, *seat, None, call),
            Self::Asked { seat, number, call } => (2, *seat, Some(*number), call),
            Self::Answered {
                seat,
                number,
                answer,
                ..
            } => (3, *seat, Some(*number), answer),
            Self::Fouled { seat, foul, .. } => {
                let words = foul.kind().words();
                (4, *seat, None, words.as_bytes())
            }
        };
        hash.update([tag, seat.index() as u8]);
        if let Some(number) = number {
            hash.update(number.to_le_bytes());
        }
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
}

/// Bytes as base64 (RFC 4648, with padding).
mod text {
    use base64::Engine as _;

    use super::{Bytes, Deserialize, Deserializer, STANDARD, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &Bytes, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Bytes, D::Error> {
        let text = String::deserialize(d)?;
        STANDARD
            .decode(text)
            .map(Bytes::from)
            .map_err(serde::de::Error::custom)
    }
}
