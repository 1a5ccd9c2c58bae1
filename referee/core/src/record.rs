//! A finished game as one record: JSON lines, one object a line. A header, the
//! events, the verdict, and a seal of two hashes.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    Event, JsonBounds, Limits, PerSeat, Seat, Seed, Verdict, event_line::push, is_printable,
    printable,
};

/// The name of this format in the header.
pub const FORMAT: &str = "bot-arena record";
/// The version of this format.
pub const FORMAT_VERSION: u32 = 1;

/// Bounds of a line: the set-up, or the largest answer.
pub(crate) const LINE: JsonBounds = JsonBounds {
    bytes: 1024 * 1024,
    depth: 2 * JsonBounds::SETUP.depth,
    values: 2 * JsonBounds::SETUP.values,
};
/// The most events; the longest game has less than 5,000.
const MOST_EVENTS: usize = 100_000;

/// It is enough to play the game again: every position, what each bot knew, and the
/// verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The game and its players.
    pub header: Header,
    /// All events, in order.
    pub events: Vec<Event>,
    /// The verdict and the times.
    pub result: ResultLine,
}

/// The first line of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    /// The game's name.
    pub game: String,
    /// The version of its rules.
    pub rules_version: u32,
    /// The version of the referee's behaviour.
    pub behavior_version: u32,
    /// Identifies this game within its run.
    pub game_id: String,
    /// The set-up in its full form.
    pub setup: serde_json::Value,
    /// The seed of the game.
    pub seed: Seed,
    /// The name of the player in each seat.
    pub players: PerSeat<String>,
    /// The limits.
    pub limits: Limits,
    /// The part of its budget that each seat had used in earlier games; empty if there were
    /// none.
    #[serde(rename = "spent_us", with = "crate::clock::seats_micros")]
    #[serde(default, skip_serializing_if = "no_seats")]
    pub spent: PerSeat<Duration>,
    /// The walls around the bot in each seat, in words; absent where it was not started by
    /// the referee or is trusted. Empty if that is true of all.
    #[serde(default, skip_serializing_if = "no_seats")]
    pub sandbox: PerSeat<Option<String>>,
    /// The identity of the bot in each seat, beyond its name: `sha256:HASH` of its archive or
    /// of its file, or `built-in VERSION`. Absent where it is not known. Empty if that is true
    /// of all.
    #[serde(default, skip_serializing_if = "no_seats")]
    pub identity: PerSeat<Option<String>>,
}

fn no_seats<T>(seats: &PerSeat<T>) -> bool {
    seats.seats() == 0
}

/// The line after the events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultLine {
    /// The declaration of the referee.
    pub verdict: Verdict,
    /// The total time of each seat, in microseconds.
    pub thought_us: PerSeat<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<H, R> {
    Header(H),
    Result(R),
    Seal { play: String, file: String },
}

/// A line between the header and the seal.
enum Middle {
    Event(Event),
    Result(ResultLine),
}

/// Reason why a text is not a valid record.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A line is invalid.
    #[error("line {line}: {message}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// The expected text and the found one.
        message: String,
    },
    /// A hash in the seal does not match.
    #[error("the seal is broken: the {part} hash is {found}, expected {expected}")]
    Seal {
        /// The one of the two hashes that is wrong.
        part: &'static str,
        /// The hash of the content.
        expected: String,
        /// The hash in the seal.
        found: String,
    },
}

impl Record {
    /// The moves that were accepted, in order: who moved, the move in the notation of the game, and
    /// how long the answer took.
    pub fn moves(&self) -> impl Iterator<Item = (Seat, &str, Duration)> {
        self.events.iter().filter_map(|event| match event {
            Event::Answered {
                seat,
                notation: Some(notation),
                thought,
                ..
            } => Some((*seat, notation.as_str(), *thought)),
            _ => None,
        })
    }

    /// The whole record as JSON lines. Equal records give equal texts.
    #[must_use]
    pub fn to_json_lines(&self) -> String {
        self.sealed().0
    }

    /// The whole record as JSON lines, and the [`play_hash`](Self::play_hash) that is
    /// in its seal.
    #[must_use]
    pub fn sealed(&self) -> (String, String) {
        let play = self.play_hash();
        let mut text = Vec::with_capacity(1024 + 192 * self.events.len());
        push_line(&mut text, &Line::Header(&self.header));
        for event in &self.events {
            event.write_line(&mut text);
        }
        push_line(&mut text, &Line::Result(&self.result));
        let seal = Line::Seal {
            play: play.clone(),
            file: hex::encode(Sha256::digest(&text)),
        };
        push_line(&mut text, &seal);
        (into_text(text), play)
    }

    /// SHA-256 of the game, its rules' version, the set-up, the seed, and every event
    /// without its time. Two games with the same messages and answers have the same
    /// hash, however fast they were.
    #[must_use]
    pub fn play_hash(&self) -> String {
        let mut hash = Sha256::new();
        let Header {
            game,
            rules_version,
            setup,
            seed,
            ..
        } = &self.header;
        hash.update(format!("{game}\n{rules_version}\n{setup}\n"));
        hash.update(seed.bytes());
        for event in &self.events {
            event.hash_into(&mut hash);
        }
        hex::encode(hash.finalize())
    }

    /// The same game with every text [`printable`], as a record that somebody else wrote
    /// may be shown. Its play hash is the same.
    #[must_use]
    pub fn printable(mut self) -> Self {
        let mut texts = vec![&mut self.header.game, &mut self.header.game_id];
        texts.extend(self.header.players.iter_mut().map(|(_, name)| name));
        let walls = self.header.sandbox.iter_mut();
        texts.extend(walls.filter_map(|(_, words)| words.as_mut()));
        let identities = self.header.identity.iter_mut();
        texts.extend(identities.filter_map(|(_, words)| words.as_mut()));
        texts.extend(self.events.iter_mut().filter_map(|event| match event {
            Event::Answered { notation, .. } => notation.as_mut(),
            Event::Fouled { foul, .. } => foul.text_mut(),
            Event::Told { .. } | Event::Asked { .. } => None,
        }));
        texts.extend(self.result.verdict.texts_mut());
        for text in texts {
            if !text.chars().all(is_printable) {
                *text = printable(text);
            }
        }
        self
    }

    /// Reads a record and checks its seal.
    ///
    /// # Errors
    ///
    /// [`RecordError`] names the invalid line, or the hash that does not match.
    pub fn parse(text: &str) -> Result<Self, RecordError> {
        let (record, _) = Self::parse_sealed(text)?;
        Ok(record)
    }

    /// Reads a record and checks its seal. Gives also the [`play_hash`](Self::play_hash),
    /// which was computed for that.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse).
    pub fn parse_sealed(text: &str) -> Result<(Self, String), RecordError> {
        let mut lines = text.split_inclusive('\n').enumerate().peekable();
        let Some((_, first)) = lines.next() else {
            return Err(wrong(1, "expected a header, found the end of the file"));
        };
        let Line::Header(header) = read(0, first)? else {
            return Err(wrong(1, "expected a header"));
        };
        let seats = header.players.as_slice().len();
        if !(1..=usize::from(u8::MAX)).contains(&seats)
            || ![0, seats].contains(&header.spent.as_slice().len())
        {
            return Err(wrong(
                1,
                "expected 1 to 255 players, and what each has spent or nothing of it",
            ));
        }
        if header.format != FORMAT || header.format_version != FORMAT_VERSION {
            return Err(wrong(
                1,
                &format!(
                    "expected format \"{FORMAT}\" version {FORMAT_VERSION}, found \"{}\" version {}",
                    header.format, header.format_version
                ),
            ));
        }
        let mut events = Vec::new();
        let mut sealed = first.len();
        let (at, result) = loop {
            let Some((at, line)) = lines.next() else {
                return Err(wrong(
                    events.len() + 2,
                    "the record ends in the middle of the game",
                ));
            };
            sealed += line.len();
            let event = match middle(at, line)? {
                Middle::Event(event) => event,
                Middle::Result(result) if is_of_seats(&result, seats) => break (at, result),
                Middle::Result(_) => {
                    return Err(wrong(
                        at + 1,
                        "expected times, places and scores for each player",
                    ));
                }
            };
            if seat_of(&event).index() >= seats {
                return Err(wrong(at + 1, "no such seat in this game"));
            }
            if events.len() == MOST_EVENTS {
                return Err(wrong(
                    at + 1,
                    &format!("expected at most {MOST_EVENTS} events"),
                ));
            }
            events.push(event);
        };
        let Some((_, last)) = lines.next() else {
            return Err(wrong(
                at + 2,
                "expected the seal, found the end of the file",
            ));
        };
        let Line::Seal { play, file } = read(at + 1, last)? else {
            return Err(wrong(at + 2, "expected the seal"));
        };
        if lines.next().is_some() {
            return Err(wrong(at + 3, "expected the end of the file after the seal"));
        }
        let record = Self {
            header,
            events,
            result,
        };
        let played = record.play_hash();
        let text_hash = hex::encode(Sha256::digest(&text[..sealed]));
        for (part, expected, found) in [("file", &text_hash, file), ("play", &played, play)] {
            if *expected != found {
                return Err(RecordError::Seal {
                    part,
                    expected: expected.clone(),
                    found: printable(&found),
                });
            }
        }
        Ok((record, played))
    }
}

/// The header of the record that one seat may have while the game goes on. It has
/// neither the seed nor the set-up, which may be a whole deal.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename = "seat_header")]
pub struct SeatHeader<'a> {
    /// [`FORMAT`].
    pub format: &'a str,
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    /// The game's name.
    pub game: &'a str,
    /// The version of its rules.
    pub rules_version: u32,
    /// Identifies this game within its run.
    pub game_id: &'a str,
    /// The name of the player in each seat.
    pub players: &'a PerSeat<String>,
    /// The limits.
    pub limits: &'a Limits,
    /// The seat that the record is for.
    pub seat: Seat,
}

impl SeatHeader<'_> {
    /// The record so far as JSON lines: this header, then the events of this seat.
    #[must_use]
    pub fn to_json_lines(&self, events: &[Event]) -> String {
        let mut text = Vec::new();
        push(&mut text, "", self);
        text.push(b'\n');
        for event in events.iter().filter(|event| seat_of(event) == self.seat) {
            event.write_line(&mut text);
        }
        into_text(text)
    }
}

fn seat_of(event: &Event) -> Seat {
    match event {
        Event::Told { seat, .. }
        | Event::Asked { seat, .. }
        | Event::Answered { seat, .. }
        | Event::Fouled { seat, .. } => *seat,
    }
}

fn push_line(text: &mut Vec<u8>, line: &Line<&Header, &ResultLine>) {
    push(text, "", line);
    text.push(b'\n');
}

fn into_text(json: Vec<u8>) -> String {
    String::from_utf8(json).expect("JSON is UTF-8")
}

/// True if a result is one of a game with so many seats.
fn is_of_seats(result: &ResultLine, seats: usize) -> bool {
    let verdict = match &result.verdict {
        Verdict::Void { .. } => true,
        Verdict::Finished { outcome, fouls } => {
            outcome.places.as_slice().len() == seats
                && outcome.scores.as_slice().len() == seats
                && fouls.iter().all(|foul| foul.seat.index() < seats)
        }
    };
    verdict && result.thought_us.as_slice().len() == seats
}

fn bounded(at: usize, line: &str) -> Result<(), RecordError> {
    let checked = LINE.check(line.as_bytes());
    checked.map_err(|error| wrong(at + 1, &error.to_string()))
}

fn read(at: usize, line: &str) -> Result<Line<Header, ResultLine>, RecordError> {
    bounded(at, line)?;
    read_bounded(at, line)
}

fn read_bounded(at: usize, line: &str) -> Result<Line<Header, ResultLine>, RecordError> {
    serde_json::from_str(line).map_err(|error| wrong(at + 1, &error.to_string()))
}

/// Reads a line that is an event or the result.
fn middle(at: usize, line: &str) -> Result<Middle, RecordError> {
    if line.len() <= LINE.bytes
        && let Some(event) = Event::read_line(line)
    {
        return Ok(Middle::Event(event));
    }
    bounded(at, line)?;
    let event_error = match serde_json::from_str::<Event>(line) {
        Ok(event) => return Ok(Middle::Event(event)),
        Err(error) => error,
    };
    match read_bounded(at, line) {
        Ok(Line::Result(result)) => Ok(Middle::Result(result)),
        Ok(_) => Err(wrong(at + 1, "expected an event or the result")),
        // It is neither an event nor a result: report the error of what it looks like.
        Err(error) if line.contains(r#""type":"result""#) => Err(error),
        Err(_) => Err(wrong(at + 1, &event_error.to_string())),
    }
}

fn wrong(line: usize, message: &str) -> RecordError {
    RecordError::Line {
        line,
        // It may quote what was found.
        message: printable(message),
    }
}
