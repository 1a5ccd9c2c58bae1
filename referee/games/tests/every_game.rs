//! Properties that must hold in every game of the list.

use std::time::Duration;

use bytes::Bytes;
use referee_core::{
    AnswerRefusal, Dice, Event, FoulKind, GameKind, Limits, PerSeat, Seat, Seed, TableStep, Words,
};
use referee_games::{Fixture, GAMES, Judgement, Next, SeatReply, Sitting, answer, forfeit, ready};

#[test]
fn a_seat_is_sent_the_same_bytes_whatever_it_can_not_see() {
    for game in &GAMES {
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
    for kind in &GAMES {
        let seats = kind.info().seats;
        for number in 0..10_u8 {
            let seed = Seed::new([number; 32]);
            let mut sitting = standard(*kind, seed);
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
                            let heard = SeatReply::Answer(answer.clone());
                            let judgement = sitting.hear(seat, heard, Duration::ZERO);
                            assert!(!matches!(judgement, Judgement::Fouled(_)), "{judgement:?}");
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
    for kind in &GAMES {
        let hidden = ["mahjong", "big_two"].contains(&kind.info().name);
        assert_eq!(kind.has_secrets(), hidden, "{}", kind.info().name);
    }
}

/// Limits of what is believed of a game that was played elsewhere: no score outside, and no more
/// answers.
#[test]
fn no_game_has_a_score_or_more_questions_than_it_says() {
    for kind in &GAMES {
        let info = kind.info();
        let seats = info.seats;
        let setups = kind.trials().iter().map(|trial| trial.setup);
        for (number, setup) in setups.cycle().take(200).enumerate() {
            let setup = serde_json::from_str(setup).unwrap();
            let mut bytes = [0; 32];
            bytes[..8].copy_from_slice(&(number as u64).to_le_bytes());
            let seed = Seed::new(bytes);
            let mut dice = Dice::new(&seed);
            let mut sitting = sitting(*kind, kind.setup(&setup).unwrap(), seed);
            // In every other game a seat leaves it somewhere, or several do.
            let leaves = [0, 3, 0, 40][number % 4];
            let mut questions = 0;
            let record = loop {
                match sitting.advance() {
                    Next::Tell(_) => {}
                    Next::Over(finished) => break finished.record,
                    Next::Ask(asked) => {
                        for question in asked {
                            questions += u32::from(question.number > 0);
                            let heard = if question.number == 0 {
                                SeatReply::Answer(ready())
                            } else if leaves > 0 && dice.below(leaves) == 0 {
                                SeatReply::Nothing
                            } else {
                                let legal = sitting.legal(question.seat);
                                let pick = dice.below(legal.len() as u32) as usize;
                                SeatReply::Answer(answer(question.number, &legal[pick].1))
                            };
                            sitting.hear(question.seat, heard, Duration::ZERO);
                        }
                    }
                }
            };
            let name = info.name;
            assert!(questions <= info.most_questions, "{name}: {questions}");
            let outcome = record.result.verdict.outcome().unwrap();
            let (least, most) = info.scores;
            for seat in Seat::all(seats) {
                let score = outcome.scores[seat];
                assert!((least..=most).contains(&score), "{name}: {score}");
            }
        }
    }
}

/// Tells of a seat that has left as the referee does.
fn left(seat: Seat, place: u8) -> Vec<u8> {
    forfeit(seat, FoulKind::Crashed, place).to_vec()
}

#[test]
fn names_are_those_of_files_and_are_found() {
    for game in &GAMES {
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

/// Any answer of a bot, and anything that it is sent by a program that is no referee of ours, is
/// read or refused.
#[test]
fn no_bytes_make_a_table_or_a_watcher_panic() {
    for kind in &GAMES {
        // How many spoilt calls were refused, how many spoilt answers were good.
        let (mut refused, mut good) = (0, 0);
        for number in 0..20_u8 {
            let seed = Seed::new([number; 32]);
            let mut dice = Dice::new(&seed);
            let mut table = kind.deal(&serde_json::Value::Null, &seed).unwrap();
            let mut heard = PerSeat::new(kind.info().seats, |seat| {
                let mut start = Vec::new();
                table.write_start(seat, &mut start);
                vec![start]
            });
            loop {
                let step = table.step();
                let (TableStep::Tell(seats) | TableStep::Ask(seats)) = &step else {
                    break;
                };
                for &seat in seats {
                    let mut call = Vec::new();
                    table.write_call(seat, &mut call);
                    if dice.below(4) == 0 {
                        let mut calls = heard[seat].clone();
                        calls.push(call.clone());
                        assert!(watches(*kind, seat, calls.clone()));
                        let at = match dice.below(2) {
                            0 => calls.len() - 1,
                            _ => dice.below(calls.len() as u32) as usize,
                        };
                        spoil(&mut calls[at], &mut dice);
                        refused += u32::from(!watches(*kind, seat, calls));
                    }
                    // A watcher that is asked is told its answer below.
                    heard[seat].push(call);
                }
                let TableStep::Ask(seats) = step else {
                    continue;
                };
                for seat in seats {
                    let legal = table.legal(seat);
                    let (_, answer) = &legal[dice.below(legal.len() as u32) as usize];
                    let spoilt = (0..4).find_map(|_| {
                        let mut spoilt = answer.clone();
                        spoil(&mut spoilt, &mut dice);
                        table.answer(seat, &spoilt).is_ok().then_some(spoilt)
                    });
                    good += u32::from(spoilt.is_some());
                    let answer = spoilt.unwrap_or_else(|| {
                        table.answer(seat, answer).unwrap();
                        answer.clone()
                    });
                    heard[seat].push(answer);
                }
                table.resolve();
            }
        }
        let name = kind.info().name;
        assert!(refused > 0 && good > 0, "{name}: {refused}, {good}");
    }
}

/// Follows a seat's calls and answers and says whether all could be read.
fn watches(kind: &dyn GameKind, seat: Seat, calls: Vec<Vec<u8>>) -> bool {
    let mut calls = calls.into_iter();
    let start = calls.next().expect("a start");
    let Ok(mut watch) = kind.watch(seat, &start) else {
        return false;
    };
    while let Some(call) = calls.next() {
        let heard = watch.hear(&call);
        let legal = watch.legal();
        let _ = watch.scene();
        match heard {
            Err(_) => return false,
            Ok(true) => {
                assert!(legal.len() < 1_000);
                if let Some(answer) = calls.next()
                    && watch.answered(&answer).is_err()
                {
                    return false;
                }
            }
            Ok(false) => {}
        }
    }
    true
}

/// Changes some bytes, cuts some off or adds some.
fn spoil(bytes: &mut Vec<u8>, dice: &mut Dice) {
    for _ in 0..=dice.below(3) {
        let byte = dice.below(256) as u8;
        let at = dice.below(bytes.len() as u32 + 1) as usize;
        match dice.below(4) {
            0 => bytes.insert(at, byte),
            1 => bytes.truncate(at),
            _ if at < bytes.len() => bytes[at] = byte,
            _ => bytes.push(byte),
        }
    }
}

/// The answer of a seat is told to its watcher before the referee has judged it; a foul must stay
/// a foul and not end the program that would send it.
#[test]
fn an_answer_that_is_illegal_changes_nothing_of_what_a_seat_knows() {
    for (name, answers) in [
        // Points (73, 73), (0, 0) and (-1, -1).
        (
            "connect_four",
            &[
                &[82, 4, 8, 73, 16, 73][..],
                &[82, 4, 8, 0, 16, 0],
                &[
                    82, 22, 8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 16, 255, 255, 255,
                    255, 255, 255, 255, 255, 255, 1,
                ],
            ][..],
        ),
        // a1 and e5.
        ("othello", &[&[82, 4, 8, 0, 16, 0], &[82, 4, 8, 4, 16, 4]]),
    ] {
        let kind = referee_games::game(name).unwrap();
        let mut table = kind
            .deal(&serde_json::Value::Null, &Seed::new([1; 32]))
            .unwrap();
        let seat = Seat::new(0);
        let (mut start, mut call) = (Vec::new(), Vec::new());
        table.write_start(seat, &mut start);
        table.step();
        table.write_call(seat, &mut call);
        for answer in answers {
            assert!(
                matches!(table.answer(seat, answer), Err(AnswerRefusal::Illegal(_))),
                "{name}: {answer:?}"
            );
            let mut watch = kind.watch(seat, &start).unwrap();
            watch.hear(&call).unwrap();
            let before = watch.scene();
            watch.answered(answer).unwrap();
            assert_eq!(watch.scene(), before, "{name}: {answer:?}");
        }
    }
}

/// At each question of a random game, what its seat imagines is asked the same of it, may be
/// answered in the same ways, and can be played to the end; and it is not always the real deal.
#[test]
fn a_seat_imagines_what_it_has_not_seen() {
    for kind in &GAMES {
        let seats = kind.info().seats;
        let mut others = 0;
        for number in 0..4_u8 {
            let seed = Seed::new([number; 32]);
            let mut sitting = standard(*kind, seed);
            let mut dice = Dice::new(&seed);
            // In the last two games a seat leaves: before its first question, or later.
            let leaves_at = match number {
                0 | 1 => usize::MAX,
                2 => 0,
                _ => 9,
            };
            let mut questions = 0;
            loop {
                let asked = match sitting.advance() {
                    Next::Tell(_) => continue,
                    Next::Ask(asked) => asked,
                    Next::Over(_) => break,
                };
                for question in asked {
                    let seat = question.seat;
                    let legal = sitting.legal(seat);
                    let heard = if questions == leaves_at {
                        SeatReply::Foul(referee_core::Foul::HungUp)
                    } else if question.number == 0 {
                        SeatReply::Answer(ready())
                    } else {
                        let pick = dice.below(legal.len() as u32) as usize;
                        SeatReply::Answer(answer(question.number, &legal[pick].1))
                    };
                    questions += 1;
                    if question.number > 0 && questions % 3 == 0 {
                        let imagination = sitting.imagination(seat);
                        let mut imagined = (0..40).find_map(|_| imagination.deal(&mut dice));
                        let imagined = imagined.as_mut();
                        let imagined = imagined.unwrap_or_else(|| panic!("question {questions}"));
                        assert_eq!(imagined.legal(seat), legal, "{}", kind.info().name);
                        let mut call = Vec::new();
                        imagined.write_call(seat, &mut call);
                        let mut real = Vec::new();
                        sitting.table().write_call(seat, &mut real);
                        assert_eq!(call, real, "{}", kind.info().name);
                        others += usize::from(imagined.open_scene() != open(&sitting));
                        let outcome =
                            imagined.play_out(&mut |_, legal| dice.below(legal as u32) as usize);
                        assert_eq!(outcome.places.seats(), seats);
                    }
                    sitting.hear(seat, heard, Duration::from_millis(1));
                }
            }
        }
        assert_eq!(others > 0, kind.has_secrets(), "{}", kind.info().name);
    }
}

fn open(sitting: &Sitting) -> referee_core::Scene {
    sitting.table().open_scene()
}

/// Games to the end, and games that seats leave: each ends for a reason that has words in Chinese,
/// among which only tiles have letters.
#[test]
fn every_reason_has_words_in_chinese() {
    for kind in &GAMES {
        for number in 0..40_u8 {
            let seed = Seed::new([number; 32]);
            let mut dice = Dice::new(&seed);
            let mut table = kind.deal(&serde_json::Value::Null, &seed).unwrap();
            for seat in 0..number % (kind.info().seats + 1) {
                table.forfeit(Seat::new(seat));
            }
            let outcome = table.play_out(&mut |_, legal| dice.below(legal as u32) as usize);
            let Words { english, chinese } = table.ending().unwrap();
            assert_eq!(*english, outcome.reason);
            assert!(
                !chinese.contains(|c: char| c.is_ascii_alphabetic()) || chinese.contains('番'),
                "{}: {chinese}",
                kind.info().name
            );
        }
    }
}

/// A game with the standard set-up.
fn standard(kind: &'static dyn GameKind, seed: Seed) -> Sitting {
    sitting(kind, serde_json::Value::Null, seed)
}

fn sitting(kind: &'static dyn GameKind, setup: serde_json::Value, seed: Seed) -> Sitting {
    Sitting::new(Fixture {
        kind,
        game_id: "test".to_owned(),
        setup,
        seed,
        players: PerSeat::new(kind.info().seats, |seat| format!("bot {seat}")),
        limits: Limits::default(),
        spent: PerSeat::default(),
    })
    .expect("the set-up is possible")
}
