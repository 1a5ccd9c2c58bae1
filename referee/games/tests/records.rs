//! Records of games that were played without bots or streams: they read back,
//! play again, and whatever is done to them, nothing panics.

use std::time::Duration;

use arena_proto::arena::v1::{AnswerEnvelope, Ready};
use prost::Message as _;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use referee_core::{Foul, Limits, PerSeat, Record, Seat, Seed, Verdict};
use referee_games::{
    Fixture, GAMES, Judgement, Next, Question, SeatReply, Sitting, replay, verify,
};

/// Plays a random game; `spoil` may put something else in an answer's place.
fn play(number: u8, mut spoil: impl FnMut(&Question, SeatReply) -> SeatReply) -> Record {
    let kind = GAMES[0];
    let mut sitting = Sitting::new(Fixture {
        kind,
        game_id: "test".to_owned(),
        setup: serde_json::Value::Null,
        seed: Seed::new([number; 32]),
        players: PerSeat::new(kind.info().seats, |seat| format!("bot {seat}")),
        limits: Limits::default(),
        spent: PerSeat::default(),
    })
    .expect("a game can begin like this");
    let mut rng = StdRng::seed_from_u64(number.into());
    loop {
        match sitting.advance() {
            Next::Tell(_) => {}
            Next::Over(finished) => return finished.record,
            Next::Ask(questions) => {
                for question in questions {
                    let answer = answer(&sitting, &question, &mut rng);
                    let heard = spoil(&question, SeatReply::Answer(answer.into()));
                    let thought = Duration::from_micros(rng.random_range(1..1_000_000));
                    sitting.hear(question.seat, heard, thought);
                }
            }
        }
    }
}

/// Ready, or any legal move, as a bot would send it.
fn answer(sitting: &Sitting, question: &Question, rng: &mut StdRng) -> Vec<u8> {
    let ready = (question.number == 0).then(Ready::default);
    let envelope = AnswerEnvelope {
        number: Some(question.number),
        ready,
    };
    let mut message = envelope.encode_to_vec();
    if question.number > 0 {
        let mut legal = sitting.legal(question.seat);
        let (_, own) = legal.swap_remove(rng.random_range(0..legal.len()));
        message.extend(own);
    }
    message
}

fn proved(record: &Record) -> Result<(), String> {
    let text = record.to_json_lines();
    let read = Record::parse(&text).map_err(|error| error.to_string())?;
    assert_eq!(&read, record);
    assert_eq!(read.to_json_lines(), text);
    proved_both_ways(&read)
}

/// With scenes and without the same is found.
fn proved_both_ways(record: &Record) -> Result<(), String> {
    let replayed = replay(record, |_| {}).map(drop);
    assert_eq!(replayed, verify(record));
    replayed.map_err(|error| error.to_string())
}

#[test]
fn a_record_reads_back_and_plays_again() {
    for number in 0..50 {
        let record = play(number, |_, heard| heard);
        assert_eq!(proved(&record), Ok(()));
        let Verdict::Finished { fouls, .. } = &record.result.verdict else {
            panic!("it was played");
        };
        assert_eq!(fouls, &[]);
    }
}

#[test]
fn so_does_one_that_ended_by_a_foul() {
    let fouls: [fn() -> SeatReply; 5] = [
        || SeatReply::Foul(Foul::HungUp),
        || SeatReply::Answer(b"\xff\xff"[..].into()),
        || {
            SeatReply::Answer(
                AnswerEnvelope {
                    number: Some(99),
                    ready: None,
                }
                .encode_to_vec()
                .into(),
            )
        },
        || SeatReply::Answer(vec![0; 70_000].into()),
        || {
            SeatReply::Foul(Foul::Crashed {
                detail: "killed by SIGSEGV".to_owned(),
            })
        },
    ];
    for (at, foul) in fouls.iter().enumerate() {
        for asked in [0, 1, 4] {
            let record = play(at as u8, |question, heard| {
                if question.number == asked && question.seat == Seat::new(1) {
                    foul()
                } else {
                    heard
                }
            });
            assert_eq!(proved(&record), Ok(()), "foul {at} at question {asked}");
            let fouled = record.result.verdict.foul(Seat::new(1)).unwrap();
            assert_eq!(fouled.kind().is_start(), asked == 0, "{fouled}");
        }
    }
}

#[test]
fn a_foul_takes_the_seat_out_and_the_other_wins() {
    let record = play(3, |question, heard| {
        if question.number == 2 && question.seat == Seat::new(0) {
            SeatReply::Foul(Foul::HungUp)
        } else {
            heard
        }
    });
    let outcome = record.result.verdict.outcome().unwrap();
    assert_eq!(outcome.places.as_slice(), [2, 1]);
}

/// An answer at exactly the limit is late, whatever it says.
#[test]
fn the_clock_is_asked_before_anybody_looks_at_the_answer() {
    let kind = GAMES[0];
    let limits = Limits::default();
    let mut sitting = Sitting::new(Fixture {
        kind,
        game_id: String::new(),
        setup: serde_json::Value::Null,
        seed: Seed::new([1; 32]),
        players: PerSeat::new(2, |_| String::new()),
        limits,
        spent: PerSeat::default(),
    })
    .unwrap();
    let Next::Ask(questions) = sitting.advance() else {
        panic!("everybody is asked to start");
    };
    let garbage = || SeatReply::Answer(b"\xff"[..].into());
    assert_eq!(
        sitting.hear(questions[0].seat, garbage(), limits.start),
        Judgement::Fouled(referee_core::FoulKind::NoStart)
    );
    assert_eq!(
        sitting.hear(questions[1].seat, garbage(), Duration::ZERO),
        Judgement::Fouled(referee_core::FoulKind::NoStart)
    );
    let Next::Over(finished) = sitting.advance() else {
        panic!("nobody is left");
    };
    let verdict = finished.record.result.verdict;
    let words = |seat| verdict.foul(Seat::new(seat)).unwrap().to_string();
    assert!(
        words(0).contains("within the start-up limit"),
        "{}",
        words(0)
    );
    assert!(words(1).contains("can't be read"), "{}", words(1));
    // Both lose.
    assert_eq!(verdict.outcome().unwrap().places.as_slice(), [2, 2]);
}

#[test]
fn whatever_is_done_to_a_record_nothing_panics_and_no_change_is_proved() {
    let text = play(7, |_, heard| heard).to_json_lines();
    let mut rng = StdRng::seed_from_u64(7);
    for _ in 0..3_000 {
        let mut bytes = text.clone().into_bytes();
        let at = rng.random_range(0..bytes.len());
        match rng.random_range(0..4) {
            0 => bytes[at] = rng.random_range(b' '..=b'~'),
            1 => bytes.truncate(at),
            2 => drop(bytes.remove(at)),
            _ => bytes.insert(at, b"0123456789\"{}[],:\n"[rng.random_range(0..18)]),
        }
        let Ok(changed) = String::from_utf8(bytes) else {
            continue;
        };
        if changed == text {
            continue;
        }
        let proved = Record::parse(&changed)
            .map_err(|error| error.to_string())
            .and_then(|record| proved_both_ways(&record));
        // The end of the last line alone is covered by nothing.
        if changed.trim_end() != text.trim_end() {
            assert!(proved.is_err(), "proved after a change at {at}");
        }
    }
}

/// A changed record that was sealed again is found out when it is played again,
/// and numbers that no clock gives do no harm.
#[test]
fn a_change_with_a_new_seal_is_found_out_too() {
    let record = play(9, |_, heard| heard);
    let mut changed = record.clone();
    changed.header.seed = Seed::new([10; 32]);
    assert!(proved(&changed).is_err());
    let mut changed = record.clone();
    changed.result.thought_us = vec![1, 2].into();
    assert!(proved(&changed).is_err());
    let mut changed = record.clone();
    changed.events.remove(3);
    assert!(proved(&changed).is_err());
    let mut changed = record.clone();
    changed.events.swap(4, 6);
    assert!(proved(&changed).is_err());
    let mut changed = record;
    changed.header.limits.per_move = Duration::from_micros(u64::MAX);
    assert!(proved(&changed).is_err());
}
