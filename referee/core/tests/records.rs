//! The format of records, byte for byte: what was written once can be read and
//! checked for ever. Another text would be another version of the format.

use std::time::Duration;

use bytes::Bytes;
use referee_core::{
    Event, FORMAT, FORMAT_VERSION, Foul, Header, Limits, Outcome, PerSeat, Record, ResultLine,
    Seat, SeatFoul, SeatHeader, Seed, Verdict,
};

/// Written by the first version of this crate.
const TEXT: &str = include_str!("record.jsonl");
const PLAY: &str = "ff2a466ab81b302498427de567577f7a77cc56c4f2253ad2b36b5b0b6dac5a10";

/// Every kind of line, with texts that JSON has to escape.
fn record() -> Record {
    let (first, second) = (Seat::new(0), Seat::new(1));
    let crashed = Foul::Crashed {
        detail: "killed\n\tby \"SIGSEGV\" \\ \u{7f} ♣".to_owned(),
    };
    let late = Foul::Late {
        limit: Duration::from_millis(3000),
    };
    Record {
        header: Header {
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            game: "bids".to_owned(),
            rules_version: 3,
            behavior_version: 1,
            game_id: "m1-0".to_owned(),
            setup: serde_json::json!({ "rows": 9, "board": ["..", "♣\""], "a": null }),
            seed: Seed::new([0xa7; 32]),
            players: vec!["one".to_owned(), "\"two\"".to_owned()].into(),
            limits: Limits {
                budget: Some(Duration::from_secs(60)),
                ..Limits::default()
            },
            spent: vec![Duration::from_micros(1), Duration::ZERO].into(),
            sandbox: PerSeat::default(),
            identity: PerSeat::default(),
        },
        events: vec![
            Event::Asked {
                seat: first,
                number: 0,
                call: Bytes::from_static(b"\x00\xff\xfe?>"),
            },
            Event::Answered {
                seat: first,
                number: 0,
                answer: Bytes::new(),
                notation: None,
                thought: Duration::ZERO,
                excused: Duration::ZERO,
            },
            Event::Told {
                seat: second,
                call: Bytes::from_static(b"told"),
            },
            Event::Asked {
                seat: second,
                number: u32::MAX,
                call: Bytes::new(),
            },
            Event::Answered {
                seat: second,
                number: u32::MAX,
                answer: Bytes::from_static(b"\x08"),
                notation: Some("(3, 4)".to_owned()),
                thought: Duration::from_micros(1_234_567),
                excused: Duration::ZERO,
            },
            Event::Answered {
                seat: second,
                number: 2,
                answer: Bytes::from_static(b"\x08\x01"),
                notation: Some("say \"a\" \\ ♣3\n".to_owned()),
                thought: Duration::from_secs(3600),
                excused: Duration::ZERO,
            },
            Event::Fouled {
                seat: first,
                foul: crashed.clone(),
                thought: Duration::from_micros(17),
            },
            Event::Fouled {
                seat: second,
                foul: late.clone(),
                thought: Duration::from_millis(3001),
            },
        ],
        result: ResultLine {
            verdict: Verdict::Finished {
                outcome: Outcome::of_two([1, 2], [7, -7], "both \"forfeited\"".to_owned()),
                fouls: vec![
                    SeatFoul {
                        seat: first,
                        foul: crashed,
                    },
                    SeatFoul {
                        seat: second,
                        foul: late,
                    },
                ],
            },
            thought_us: vec![17, 4_235_567].into(),
        },
    }
}

#[test]
fn a_record_is_the_same_text_with_the_same_hashes_for_ever() {
    let record = record();
    let (text, play) = record.sealed();
    assert_eq!(text, TEXT);
    assert_eq!(record.to_json_lines(), TEXT);
    assert_eq!((play.as_str(), record.play_hash().as_str()), (PLAY, PLAY));
    assert_eq!(Record::parse(TEXT).unwrap(), record);
    let sealed = Record::parse_sealed(TEXT).unwrap();
    assert_eq!(sealed, (record, PLAY.to_owned()));
}

#[test]
fn the_walls_around_bots_are_in_the_header() {
    let mut record = record();
    let play = record.play_hash();
    record.header.sandbox = vec![Some("own \"namespaces\"\u{7}".to_owned()), None].into();
    let text = record.to_json_lines();
    assert!(text.contains(r#""spent_us":[1,0],"sandbox":["own \"namespaces\"\u0007",null]}"#));
    assert_eq!(Record::parse(&text).unwrap(), record);
    assert_eq!(record.play_hash(), play, "they change no game");
    let shown = record.printable().header.sandbox;
    assert_eq!(
        shown[Seat::new(0)].as_deref(),
        Some("own \"namespaces\"\\u{7}")
    );
}

#[test]
fn a_void_game_has_a_record_too() {
    let mut record = record();
    record.header.setup = serde_json::Value::Null;
    record.header.limits = Limits::default();
    record.header.spent = PerSeat::default();
    record.events.clear();
    record.result.verdict = Verdict::Void {
        reason: "it was cut off".to_owned(),
    };
    let text = record.to_json_lines();
    let lines = [
        r#"{"type":"header","format":"bot-arena record","format_version":1,"game":"bids","rules_version":3,"behavior_version":1,"game_id":"m1-0","setup":null,"seed":"a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7","players":["one","\"two\""],"limits":{"start_us":10000000,"move_us":3000000,"answer_bytes":65536}}"#,
        r#"{"type":"result","verdict":{"void":{"reason":"it was cut off"}},"thought_us":[17,4235567]}"#,
        r#"{"type":"seal","play":"31c4cc646092ed5d0049d6175df5ca6aaece4e4f0ce9a55a79d8c84ddb9e286d","file":"547cfa97d2fc7dc339c1fe398fc0e6a3a99e33d76834a2a7ecf45ea3de18016a"}"#,
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), lines);
    assert_eq!(Record::parse(&text).unwrap(), record);
}

/// The lines of its own events are those of the whole record.
#[test]
fn what_a_seat_may_keep_is_its_part_of_the_record() {
    let record = record();
    let seat = Seat::new(1);
    let header = SeatHeader {
        format: FORMAT,
        format_version: FORMAT_VERSION,
        game: &record.header.game,
        rules_version: 3,
        game_id: "m1-0",
        players: &record.header.players,
        limits: &record.header.limits,
        seat,
    };
    let kept = header.to_json_lines(&record.events);
    let (first, events) = kept.split_once('\n').unwrap();
    assert_eq!(
        first,
        r#"{"type":"seat_header","format":"bot-arena record","format_version":1,"game":"bids","rules_version":3,"game_id":"m1-0","players":["one","\"two\""],"limits":{"start_us":10000000,"move_us":3000000,"budget_us":60000000,"answer_bytes":65536},"seat":1}"#
    );
    let own = TEXT.lines().filter(|line| line.contains(r#""seat":1,"#));
    let own: Vec<_> = own.filter(|line| !line.contains("verdict")).collect();
    assert_eq!(events.lines().collect::<Vec<_>>(), own);
}
