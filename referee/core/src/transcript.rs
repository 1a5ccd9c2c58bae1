//! What was said in a game: each message that each seat was sent, and each
//! answer with its time.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::{Foul, Seat, clock::micros};

/// One thing that was said, or done instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A seat was told something.
    Told {
        /// Who.
        seat: Seat,
        /// The whole message.
        #[serde(with = "text")]
        call: Bytes,
    },
    /// A seat was asked something.
    Asked {
        /// Who.
        seat: Seat,
        /// The question's number in this seat's stream, from 0.
        number: u32,
        /// The whole message.
        #[serde(with = "text")]
        call: Bytes,
    },
    /// A seat answered.
    Answered {
        /// Who.
        seat: Seat,
        /// The number of the question that it was asked.
        number: u32,
        /// The whole message.
        #[serde(with = "text")]
        answer: Bytes,
        /// What it means in the game's notation; absent where it was a foul or
        /// no move.
        #[serde(rename = "move", default, skip_serializing_if = "Option::is_none")]
        notation: Option<String>,
        /// From handing over the question to reading the answer.
        #[serde(rename = "thought_us", with = "micros")]
        thought: Duration,
    },
    /// A seat committed a foul, by its last answer or instead of one.
    Fouled {
        /// Who.
        seat: Seat,
        /// What.
        foul: Foul,
        /// From handing over the question to knowing of it.
        #[serde(rename = "thought_us", with = "micros")]
        thought: Duration,
    },
}

/// All that was said in a game, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    events: Vec<Event>,
}

impl Transcript {
    /// Adds what came next.
    pub fn push(&mut self, event: Event) {
        self.events.push(event);
    }

    /// All of it.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Hands over all of it.
    #[must_use]
    pub fn into_events(self) -> Vec<Event> {
        self.events
    }
}

impl Event {
    /// Adds what this event says, without its time, to a hash: a byte for the
    /// type, a byte for the seat, the number (4 bytes, little-endian) where
    /// there is one, and the message or the foul with its length (8 bytes,
    /// little-endian) before it.
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

    /// Appends this event as one line of JSON. The two that a game is made of
    /// are written by hand: a referee writes hundreds of thousands a second.
    pub(crate) fn write_line(&self, out: &mut String) {
        use std::fmt::Write as _;
        match self {
            Self::Asked { seat, number, call } => {
                let _ = write!(
                    out,
                    r#"{{"type":"asked","seat":{seat},"number":{number},"call":""#
                );
                STANDARD.encode_string(call, out);
                out.push_str("\"}\n");
            }
            Self::Answered {
                seat,
                number,
                answer,
                notation,
                thought,
            } => {
                let _ = write!(
                    out,
                    r#"{{"type":"answered","seat":{seat},"number":{number},"answer":""#
                );
                STANDARD.encode_string(answer, out);
                out.push('"');
                if let Some(notation) = notation {
                    out.push_str(r#","move":"#);
                    let plain = |byte: u8| matches!(byte, b' '..=b'~') && !b"\"\\".contains(&byte);
                    if notation.bytes().all(plain) {
                        out.push('"');
                        out.push_str(notation);
                        out.push('"');
                    } else {
                        out.push_str(&serde_json::Value::from(notation.as_str()).to_string());
                    }
                }
                let _ = writeln!(out, r#","thought_us":{}}}"#, micros::whole(*thought));
            }
            other => {
                out.push_str(&serde_json::to_string(other).unwrap_or_default());
                out.push('\n');
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_written_by_hand_are_those_of_serde() {
        let seat = Seat::new(1);
        for event in [
            Event::Asked {
                seat,
                number: 7,
                call: Bytes::from_static(b"\x08\x01?"),
            },
            Event::Answered {
                seat,
                number: 7,
                answer: Bytes::from_static(b"\x08"),
                notation: Some("say \"a\"".to_owned()),
                thought: Duration::from_micros(12),
            },
            Event::Answered {
                seat,
                number: 7,
                answer: Bytes::new(),
                notation: Some("d4 → ♣3".to_owned()),
                thought: Duration::from_secs(1),
            },
            Event::Answered {
                seat,
                number: 7,
                answer: Bytes::new(),
                notation: Some("(3, 4)".to_owned()),
                thought: Duration::from_secs(1),
            },
            Event::Answered {
                seat,
                number: 7,
                answer: Bytes::new(),
                notation: None,
                thought: Duration::ZERO,
            },
        ] {
            let mut line = String::new();
            event.write_line(&mut line);
            assert_eq!(line, serde_json::to_string(&event).unwrap() + "\n");
            assert_eq!(serde_json::from_str::<Event>(&line).unwrap(), event);
        }
    }
}
