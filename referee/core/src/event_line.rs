//! One event of a record as one line of JSON: written, and read again where it is as it was
//! written. Any other line is left to serde, which knows every spelling of an event.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde::Serialize;

use crate::{Event, Seat, clock::micros};

/// The part of a line that is still to be read.
struct Rest<'a>(&'a str);

impl Event {
    /// Appends this event as one line of JSON: the line that serde writes, in less
    /// than half of the time.
    pub(crate) fn write_line(&self, out: &mut Vec<u8>) {
        match self {
            Self::Told { seat, call } => {
                push(out, r#"{"type":"told","seat":"#, seat);
                push_bytes(out, r#","call":""#, call);
            }
            Self::Asked { seat, number, call } => {
                push(out, r#"{"type":"asked","seat":"#, seat);
                push(out, r#","number":"#, number);
                push_bytes(out, r#","call":""#, call);
            }
            Self::Answered {
                seat,
                number,
                answer,
                notation,
                thought,
                excused,
            } => {
                push(out, r#"{"type":"answered","seat":"#, seat);
                push(out, r#","number":"#, number);
                push_bytes(out, r#","answer":""#, answer);
                if let Some(notation) = notation {
                    push(out, r#","move":"#, notation);
                }
                push(out, r#","thought_us":"#, &micros::whole(*thought));
                if !excused.is_zero() {
                    push(out, r#","excused_us":"#, &micros::whole(*excused));
                }
            }
            Self::Fouled {
                seat,
                foul,
                thought,
            } => {
                push(out, r#"{"type":"fouled","seat":"#, seat);
                push(out, r#","foul":"#, foul);
                push(out, r#","thought_us":"#, &micros::whole(*thought));
            }
        }
        out.extend_from_slice(b"}\n");
    }

    /// Reads a line as [`write_line`](Self::write_line) writes it, without collecting it first as
    /// serde does. None for every other line, also for a foul, which is rare. What this reads,
    /// serde reads as the same event.
    pub(crate) fn read_line(line: &str) -> Option<Self> {
        let mut rest = Rest(line);
        rest.pass(r#"{"type":"#)?;
        let kind = rest.text()?;
        rest.pass(r#","seat":"#)?;
        let seat = Seat::new(rest.number()?.try_into().ok()?);
        let event = match kind {
            "told" => {
                rest.pass(r#","call":"#)?;
                let call = rest.bytes()?;
                Self::Told { seat, call }
            }
            "asked" => {
                rest.pass(r#","number":"#)?;
                let number = rest.number()?.try_into().ok()?;
                rest.pass(r#","call":"#)?;
                let call = rest.bytes()?;
                Self::Asked { seat, number, call }
            }
            "answered" => {
                rest.pass(r#","number":"#)?;
                let number = rest.number()?.try_into().ok()?;
                rest.pass(r#","answer":"#)?;
                let answer = rest.bytes()?;
                let notation = match rest.pass(r#","move":"#) {
                    Some(()) => Some(rest.text()?.to_owned()),
                    None => None,
                };
                rest.pass(r#","thought_us":"#)?;
                let thought = Duration::from_micros(rest.number()?);
                let excused = match rest.pass(r#","excused_us":"#) {
                    Some(()) => Duration::from_micros(rest.number()?),
                    None => Duration::ZERO,
                };
                Self::Answered {
                    seat,
                    number,
                    answer,
                    notation,
                    thought,
                    excused,
                }
            }
            _ => return None,
        };
        (rest.0 == "}\n").then_some(event)
    }
}

impl<'a> Rest<'a> {
    /// Goes past this text.
    fn pass(&mut self, text: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(text)?;
        Some(())
    }

    /// A whole number that is not negative. JSON has no leading zeros.
    fn number(&mut self) -> Option<u64> {
        let digits = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = self.0.split_at(digits);
        if digits > 1 && number.starts_with('0') {
            return None;
        }
        self.0 = rest;
        number.parse().ok()
    }

    /// A string without escapes, and without control characters, which have to be escaped.
    fn text(&mut self) -> Option<&'a str> {
        let inside = self.0.strip_prefix('"')?;
        let special = |byte: u8| matches!(byte, b'"' | b'\\' | ..0x20);
        let end = inside.bytes().position(special)?;
        let (text, rest) = inside.split_at(end);
        self.0 = rest.strip_prefix('"')?;
        Some(text)
    }

    /// A string that is base64.
    fn bytes(&mut self) -> Option<Bytes> {
        let text = self.text()?;
        let padding = text.bytes().rev().take_while(|byte| *byte == b'=').count();
        let length = (text.len() / 4 * 3).checked_sub(padding)?;
        // Bytes that fill their memory exactly are handed over as they are.
        let mut bytes = vec![0; length];
        let read = STANDARD.decode_slice(text, &mut bytes).ok()?;
        (read == length).then(|| Bytes::from(bytes))
    }
}

/// Appends this text, then the value as JSON.
pub(crate) fn push(out: &mut Vec<u8>, before: &str, value: &impl Serialize) {
    out.extend_from_slice(before.as_bytes());
    serde_json::to_writer(out, value).expect("memory takes it, and all keys of maps are text");
}

/// Appends this text, which ends with a quotation mark, then the bytes as base64.
fn push_bytes(out: &mut Vec<u8>, before: &str, bytes: &[u8]) {
    out.extend_from_slice(before.as_bytes());
    let begin = out.len();
    out.resize(begin + bytes.len().div_ceil(3) * 4, b'"');
    STANDARD
        .encode_slice(bytes, &mut out[begin..])
        .expect("it is as long as that");
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::select};

    use super::*;
    use crate::{Foul, record::LINE};

    /// Numbers as they may stand in a line, and what is none.
    const NUMBERS: [&str; 12] = [
        "0",
        "7",
        "255",
        "256",
        "00",
        "-0",
        "1.0",
        "1e2",
        "4294967296",
        "18446744073709551616",
        "",
        " 7",
    ];
    /// Strings as they may stand in a line, and what is none: not all are base64.
    const TEXTS: [&str; 14] = [
        r#""""#,
        r#""AAEC""#,
        r#""AA==""#,
        r#""AAE=""#,
        r#""AB==""#,
        r#""AA=A""#,
        r#""A""#,
        r#""====""#,
        r#""A=====""#,
        r#""AAE\u003d""#,
        "\"AA\tA\"",
        r#""♣""#,
        "null",
        r#""AAEC"#,
    ];

    /// Events of every type, with and without what may be absent.
    fn events() -> Vec<Event> {
        let seat = Seat::new(1);
        vec![
            Event::Told {
                seat,
                call: Bytes::from_static(b"\xff\x00"),
            },
            Event::Fouled {
                seat,
                foul: Foul::HungUp,
                thought: Duration::from_micros(5),
            },
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
                excused: Duration::ZERO,
            },
            Event::Answered {
                seat,
                number: 7,
                answer: Bytes::new(),
                notation: Some("d4 → ♣3".to_owned()),
                thought: Duration::from_secs(1),
                excused: Duration::from_millis(3),
            },
            Event::Answered {
                seat,
                number: 7,
                answer: Bytes::new(),
                notation: Some("(3, 4)".to_owned()),
                thought: Duration::from_secs(1),
                excused: Duration::ZERO,
            },
            Event::Answered {
                seat,
                number: 7,
                answer: Bytes::new(),
                notation: None,
                thought: Duration::ZERO,
                excused: Duration::ZERO,
            },
        ]
    }

    fn line_of(event: &Event) -> String {
        let mut line = Vec::new();
        event.write_line(&mut line);
        String::from_utf8(line).unwrap()
    }

    /// The event that serde reads in a line that is within the bounds of records.
    fn by_serde(line: &str) -> Option<Event> {
        LINE.read(line.as_bytes()).ok()
    }

    /// True if a line is read by hand; then it is checked that serde reads the same.
    fn is_read(line: &str) -> bool {
        let read = Event::read_line(line);
        if read.is_some() {
            assert_eq!(read, by_serde(line), "{line}");
        }
        read.is_some()
    }

    #[test]
    fn the_lines_written_by_hand_are_those_of_serde() {
        for event in events() {
            let line = line_of(&event);
            assert_eq!(line, serde_json::to_string(&event).unwrap() + "\n");
            assert_eq!(by_serde(&line).unwrap(), event);
        }
    }

    #[test]
    fn only_fouls_and_escapes_are_left_to_serde() {
        for event in events() {
            let line = line_of(&event);
            let is_left = matches!(event, Event::Fouled { .. }) || line.contains('\\');
            assert_eq!(Event::read_line(&line), (!is_left).then_some(event));
        }
    }

    #[test]
    fn what_is_read_by_hand_serde_reads_the_same() {
        let mut read = 0;
        for ((seat, number), text) in (NUMBERS.into_iter())
            .flat_map(|seat| NUMBERS.map(|number| (seat, number)))
            .flat_map(|numbers| TEXTS.map(|text| (numbers, text)))
        {
            for line in [
                format!(r#"{{"type":"told","seat":{seat},"call":{text}}}"#),
                format!(r#"{{"type":"asked","seat":{seat},"number":{number},"call":{text}}}"#),
                format!(
                    r#"{{"type":"answered","seat":{seat},"number":{number},"answer":{text},"thought_us":{number}}}"#
                ),
                format!(
                    r#"{{"type":"answered","seat":{seat},"number":0,"answer":"","move":{text},"thought_us":{number},"excused_us":{number}}}"#
                ),
            ] {
                read += u32::from(is_read(&(line.clone() + "\n")));
                // A line within a record ends with one end of line.
                assert!(!is_read(&line) && !is_read(&(line + "\n\n")));
            }
        }
        assert!(read > 100, "{read}");
    }

    #[test]
    fn another_spelling_of_an_event_is_left_to_serde() {
        for line in [
            r#"{"seat":1,"type":"told","call":""}"#,
            r#"{"type":"told","call":"","seat":1}"#,
            r#"{"type":"told", "seat":1,"call":""}"#,
            r#" {"type":"told","seat":1,"call":""}"#,
            r#"{"type":"told","seat":1,"call":"","more":[0]}"#,
            r#"["told",1,""]"#,
            r#"{"type":"answered","seat":1,"number":0,"answer":"","move":null,"thought_us":0}"#,
        ] {
            let line = line.to_owned() + "\n";
            assert!(by_serde(&line).is_some() && !is_read(&line), "{line}");
        }
        for line in [
            r#"{"type":"told","seat":1,"call":"","seat":1}"#,
            r#"{"type":"told","seat":1,"call":"","type":"told"}"#,
            r#"{"type":"told","seat":1,"call":""}}"#,
            r#"{"type":"told","seat":1}"#,
            r#"{"type":"heard","seat":1,"call":""}"#,
        ] {
            let line = line.to_owned() + "\n";
            assert!(by_serde(&line).is_none() && !is_read(&line), "{line}");
        }
    }

    /// A line with some of its characters replaced, taken out or doubled.
    fn changed(line: &str, changes: &[(usize, Option<char>)]) -> String {
        let mut line: Vec<char> = line.chars().collect();
        for (at, by) in changes {
            let at = at % line.len();
            match by {
                Some('+') => line.insert(at, line[at]),
                Some(by) => line[at] = *by,
                None if line.len() > 1 => _ = line.remove(at),
                None => {}
            }
        }
        line.into_iter().collect()
    }

    proptest! {
        #[test]
        fn a_changed_line_is_read_as_serde_reads_it(
            event in select(events()),
            changes in prop::collection::vec(
                (any::<usize>(), prop::option::of(select("+0179=A \\\"{},:\n\u{7}♣".chars().collect::<Vec<_>>()))),
                0..4,
            ),
        ) {
            is_read(&changed(&line_of(&event), &changes));
        }
    }
}
