//! What must hold in every game of the list.

use std::time::Duration;

use bytes::Bytes;
use referee_core::{Dice, Event, FoulKind, Limits, PerSeat, Seat, Seed};
use referee_games::{Fixture, GAMES, Heard, Hearing, Next, Sitting, forfeit};

#[test]
fn a_seat_is_sent_the_same_bytes_whatever_it_can_not_see() {
    for game in GAMES {
        for i in 0..100_u8 {
            let mut bytes = [0; 32];
            bytes[0] = i;
            if let Err(why) = game.prove(&Seed::new(bytes), left) {
                panic!("{} with seed {i}: {why}", game.info().name);
            }
        }
    }
}

/// A seat's own record of a running game is what it was sent and what it
/// answered, to the byte, and a header that no deal can change.
#[test]
fn a_seat_keeps_of_a_running_game_what_it_was_sent_and_nothing_more() {
    for kind in GAMES {
        let seats = kind.info().seats;
        for number in 0..10_u8 {
            let seed = Seed::new([number; 32]);
            let mut sitting = Sitting::new(Fixture {
                kind: *kind,
                game_id: "running".to_owned(),
                setup: serde_json::Value::Null,
                seed,
                players: PerSeat::new(seats, |seat| format!("bot {seat}")),
                limits: Limits::default(),
                spent: PerSeat::default(),
            })
            .unwrap();
            let mut sent = PerSeat::new(seats, |_| Vec::new());
            let mut dice = Dice::new(&seed);
            loop {
                match sitting.advance() {
                    Next::Tell(calls) => {
                        for (seat, call) in calls {
                            sent[seat].push(call);
                        }
                    }
                    Next::Ask(questions) => {
                        for question in questions {
                            let seat = question.seat;
                            sent[seat].push(question.call.clone());
                            let mut answer = vec![8, question.number as u8];
                            if question.number > 127 {
                                let low = question.number as u8 | 0x80;
                                answer = vec![8, low, (question.number >> 7) as u8];
                            }
                            if question.number == 0 {
                                answer.extend([18, 0]);
                            } else {
                                let legal = sitting.legal(seat);
                                let pick = dice.below(legal.len() as u32) as usize;
                                answer.extend(&legal[pick].1);
                            }
                            let answer = Bytes::from(answer);
                            let heard = Heard::Answer(answer.clone());
                            let hearing = sitting.hear(seat, heard, Duration::ZERO);
                            assert!(!matches!(hearing, Hearing::Fouled(_)), "{hearing:?}");
                            sent[seat].push(answer);
                        }
                    }
                    Next::Over(_) => break,
                }
                for seat in Seat::all(seats) {
                    check_own(&sitting.kept_by(seat), seat, &sent[seat]);
                }
            }
        }
    }
}

fn check_own(record: &str, seat: Seat, sent: &[Bytes]) {
    let mut lines = record.lines();
    let header: serde_json::Value =
        serde_json::from_str(lines.next().expect("a header")).expect("JSON");
    let fields: Vec<_> = header.as_object().expect("an object").keys().collect();
    assert_eq!(
        fields,
        [
            "format",
            "format_version",
            "game",
            "game_id",
            "limits",
            "players",
            "rules_version",
            "seat",
            "type"
        ]
    );
    let events: Vec<Bytes> = lines
        .map(|line| match serde_json::from_str(line).expect("an event") {
            Event::Told { seat: s, call } | Event::Asked { seat: s, call, .. } if s == seat => call,
            Event::Answered {
                seat: s, answer, ..
            } if s == seat => answer,
            event => panic!("seat {seat} keeps {event:?}"),
        })
        .collect();
    assert_eq!(events, sent);
}

/// Games with hidden hands are those that must be played by fresh processes.
#[test]
fn secrets_are_where_they_are() {
    for kind in GAMES {
        let hidden = ["mahjong", "big_two"].contains(&kind.info().name);
        assert_eq!(kind.has_secrets(), hidden, "{}", kind.info().name);
    }
}

/// Tells of a seat that has left as the referee does.
fn left(seat: Seat, place: u8) -> Vec<u8> {
    forfeit(seat, FoulKind::Crashed, place).to_vec()
}

#[test]
fn names_are_those_of_files_and_are_found() {
    for game in GAMES {
        let name = game.info().name;
        assert!(
            name.chars().all(|c| c.is_ascii_lowercase() || c == '_'),
            "{name}"
        );
        assert!(referee_games::game(name).is_some());
        assert!(referee_games::game(&name.replace('_', "-")).is_some());
        assert_eq!(
            game.path(),
            format!("/games.{name}.v1.{}Bot/Play", camel(name))
        );
    }
}

fn camel(name: &str) -> String {
    name.split('_')
        .map(|word| word[..1].to_uppercase() + &word[1..])
        .collect()
}
