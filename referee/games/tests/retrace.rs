//! A record is gone through again, and at every moment of it the game can be
//! played on in another way.

use std::time::Duration;

use arena_proto::arena::v1::{AnswerEnvelope, CallEnvelope, Ready, call_envelope::Call};
use bytes::Bytes;
use prost::Message as _;
use referee_core::{
    Dice, Event, Foul, GameKind, Limits, Outcome, PerSeat, Record, Seat, Seed, TableStep,
};
use referee_games::{
    Cue, Fixture, GAMES, Judgement, Next, Question, Retraced, SeatPart, SeatReply, Sitting, replay,
    retrace, retrace_within,
};

/// Plays a random game; `spoil` may put something else in an answer's place.
fn play(
    kind: &'static dyn GameKind,
    number: u8,
    mut spoil: impl FnMut(&Question, SeatReply) -> SeatReply,
) -> Record {
    let seed = Seed::new([number; 32]);
    let mut sitting = Sitting::new(Fixture {
        kind,
        game_id: "test".to_owned(),
        setup: serde_json::Value::Null,
        seed,
        players: PerSeat::new(kind.info().seats, |seat| format!("bot {seat}")),
        limits: Limits::default(),
        spent: PerSeat::default(),
    })
    .expect("a game can begin like this");
    let mut dice = Dice::new(&seed);
    loop {
        match sitting.advance() {
            Next::Tell(_) => {}
            Next::Over(finished) => return finished.record,
            Next::Ask(questions) => {
                for question in questions {
                    let mut answer = AnswerEnvelope {
                        number: Some(question.number),
                        ready: (question.number == 0).then(Ready::default),
                    }
                    .encode_to_vec();
                    if question.number > 0 {
                        let legal = sitting.legal(question.seat);
                        answer.extend(&legal[dice.below(legal.len() as u32) as usize].1);
                    }
                    let heard = spoil(&question, SeatReply::Answer(answer.into()));
                    let thought = Duration::from_micros(dice.below(1_000_000).into());
                    sitting.hear(question.seat, heard, thought);
                }
            }
        }
    }
}

/// All that a seat was sent, in order.
fn sent(record: &Record, to: Seat) -> Vec<Bytes> {
    let events = record.events.iter().filter_map(|event| match event {
        Event::Told { seat, call } | Event::Asked { seat, call, .. } if *seat == to => {
            Some(call.clone())
        }
        _ => None,
    });
    events.collect()
}

/// The same as a record is gone through again.
fn sent_again(seats: u8, walk: impl FnOnce(&mut dyn FnMut(Retraced<'_>))) -> PerSeat<Vec<Bytes>> {
    let mut sent = PerSeat::new(seats, |_| Vec::new());
    walk(&mut |step| match step {
        Retraced::Told { seat, call } => sent[seat].push(call.clone()),
        Retraced::Asked { question, .. } => sent[question.seat].push(question.call.clone()),
        Retraced::Judged { .. } => {}
    });
    sent
}

fn crash() -> SeatReply {
    SeatReply::Foul(Foul::HungUp)
}

#[test]
fn every_seat_is_sent_again_what_it_was_sent() {
    for kind in &GAMES {
        let seats = kind.info().seats;
        for number in 0..5 {
            let record = play(*kind, number, |question, heard| {
                let leaves = question.seat == Seat::new(1) && question.number == 3;
                if leaves && number > 2 { crash() } else { heard }
            });
            let again = sent_again(seats, |watch| {
                retrace(&record, watch).unwrap();
            });
            for seat in Seat::all(seats) {
                assert_eq!(again[seat], sent(&record, seat), "{}", kind.info().name);
            }
        }
    }
}

/// A question that is open is written again as it was asked.
#[test]
fn what_is_pending_is_what_was_asked() {
    for kind in &GAMES {
        let record = play(*kind, 6, |_, heard| heard);
        let mut questions = 0;
        let walked = retrace(&record, |step| {
            if let Retraced::Asked {
                sitting, question, ..
            } = step
            {
                questions += 1;
                for sitting in [sitting, &sitting.fork()] {
                    let pending = sitting.pending();
                    let same = pending.iter().find(|one| one.seat == question.seat);
                    let same = same.expect("it has not answered");
                    assert_eq!(same.call, question.call);
                    assert_eq!(same.number, question.number);
                    // All are asked to start, and then one at a time.
                    let seats = usize::from(kind.info().seats);
                    let most = if question.number == 0 { seats } else { 1 };
                    assert!(pending.len() <= most, "{pending:?}");
                }
            }
        });
        assert!(walked.is_ok() && questions > 4);
    }
}

/// With a shorter limit than the moves of the record took, only what says the
/// limit is another.
#[test]
fn another_limit_changes_nothing_but_what_is_said_of_it() {
    let limit = Duration::from_millis(1);
    for kind in &GAMES {
        let record = play(*kind, 9, |_, heard| heard);
        let again = sent_again(kind.info().seats, |watch| {
            retrace_within(&record, limit, watch).unwrap();
        });
        for seat in Seat::all(kind.info().seats) {
            let before = sent(&record, seat);
            assert_eq!(again[seat].len(), before.len());
            for (now, then) in again[seat].iter().zip(&before) {
                let [mut now, mut then] =
                    [now, then].map(|call| CallEnvelope::decode(call.clone()).unwrap());
                for (envelope, limit) in
                    [(&mut now, limit), (&mut then, Limits::default().per_move)]
                {
                    let limit = prost_types::Duration::try_from(limit).unwrap();
                    if let Some(Call::Start(start)) = &mut envelope.call {
                        assert_eq!(start.move_limit.take(), Some(limit));
                    } else if let Some(said) = envelope.limit.take() {
                        assert_eq!(said, limit);
                    }
                }
                assert_eq!(now, then);
            }
        }
    }
}

/// The answers of a record, put to a fork as choices, end as the record does; and
/// whatever a fork does, the game that it was taken from goes on as before.
#[test]
fn a_fork_plays_on_by_itself() {
    for kind in &GAMES {
        for number in 0..5 {
            let record = play(*kind, number, |_, heard| heard);
            let outcome = record.result.verdict.outcome().unwrap();
            // At every question: which of how many answers was given.
            let mut given = Vec::new();
            let mut forks = Vec::new();
            let walked = retrace(&record, |step| {
                if let Retraced::Asked {
                    sitting,
                    question,
                    said,
                } = step
                    && question.number > 0
                {
                    let legal = sitting.legal(question.seat);
                    let at = legal
                        .iter()
                        .position(|(notation, _)| Some(notation) == said.notation.as_ref());
                    given.push((question.seat, at.unwrap(), legal.len()));
                    let mut dice = Dice::new(&Seed::new([77; 32]));
                    let random = |_: Seat, many: usize| dice.below(many as u32) as usize;
                    let table = sitting.table();
                    let one = played_out(&mut *table.fork(), random);
                    let mut dice = Dice::new(&Seed::new([77; 32]));
                    let random = |_: Seat, many: usize| dice.below(many as u32) as usize;
                    assert_eq!(played_out(&mut *table.fork(), random), one);
                    forks.push((given.len() - 1, table.fork()));
                }
            });
            assert_eq!(walked.err(), None, "{}", kind.info().name);
            assert!(replay(&record, |_| {}).is_ok());
            for (from, mut fork) in forks {
                let mut rest = given[from..].iter();
                let ended = played_out(&mut *fork, |seat, many| {
                    let (asked, at, legal) = rest.next().expect("the record goes so far");
                    assert_eq!((seat, many), (*asked, *legal));
                    *at
                });
                assert_eq!(&ended, outcome, "{} from {from}", kind.info().name);
                assert_eq!(rest.next(), None);
                // It is over, and stays so.
                assert_eq!(fork.step(), TableStep::Over(ended));
            }
        }
    }
}

/// A part has its own seat's calls and no other's; the answers that were given are
/// judged as they were, and each question can be told again with its answer.
#[test]
fn a_part_is_what_one_seat_got() {
    for kind in &GAMES {
        let record = play(*kind, 4, |question, heard| {
            let leaves = question.seat == Seat::new(1) && question.number == 3;
            if leaves { crash() } else { heard }
        });
        for seat in Seat::all(kind.info().seats) {
            let part = SeatPart::of(&record, seat, None).unwrap();
            let calls: Vec<_> = part
                .cues
                .iter()
                .map(|cue| match cue {
                    Cue::Told(call) => call.clone(),
                    Cue::Asked(asked) => asked.question.call.clone(),
                })
                .collect();
            assert_eq!(calls, sent(&record, seat));
            for cue in &part.cues {
                let Cue::Asked(asked) = cue else { continue };
                let judged = asked.judge(asked.said.heard.clone(), asked.said.thought);
                let late = asked.judge(asked.said.heard.clone(), Duration::from_secs(60));
                match (&asked.said.heard, judged) {
                    (
                        SeatReply::Answer(answer),
                        Ok(Judgement::Ready(_) | Judgement::Accepted { .. }),
                    ) => {
                        assert!(late.is_err());
                        let past = CallEnvelope::decode(asked.past().unwrap()).unwrap();
                        let mut then = CallEnvelope::decode(asked.question.call.clone()).unwrap();
                        then.past_answer = Some(answer.clone());
                        assert_eq!(past, then);
                    }
                    (SeatReply::Foul(foul), Err(judged)) => {
                        assert_eq!(&judged, foul);
                        assert_eq!(asked.past(), None);
                    }
                    (heard, judged) => panic!("{heard:?} is judged {judged:?}"),
                }
            }
        }
    }
}

/// A false record is not put to anybody.
#[test]
fn a_forged_record_has_no_parts() {
    let mut record = play(GAMES[0], 4, |_, heard| heard);
    record.header.seed = Seed::new([5; 32]);
    for limit in [None, Some(Duration::from_secs(1))] {
        assert!(SeatPart::of(&record, Seat::new(0), limit).is_err());
    }
}

fn played_out(
    table: &mut dyn referee_core::Table,
    mut choose: impl FnMut(Seat, usize) -> usize,
) -> Outcome {
    table.play_out(&mut choose)
}
