//! Whole games in which the bytes decide what each seat answers.

use std::time::Duration;

use bytes::Bytes;
use referee_core::{Foul, Limits, PerSeat, Record, Seed};
use referee_games::{Fixture, GAMES, Next, Question, SeatReply, Sitting, answer, ready, replay};

/// Plays a game, and then its record again.
pub(crate) fn answers(data: &[u8]) {
    let record = played(data);
    let text = record.to_json_lines();
    let read = Record::parse(&text).expect("a record that we wrote reads back");
    assert!(
        read == record,
        "a record that we wrote reads back as it was"
    );
    replay(&read, |_| {}).expect("a record that we wrote plays again");
}

/// The record of a game. The first bytes say which game, how it begins, and its seed; each
/// further one how a question is answered, and what follows it where the answer is raw.
///
/// # Panics
///
/// The referee does not stand these answers.
#[must_use]
pub fn played(data: &[u8]) -> Record {
    let mut script = Script(data);
    let kind = GAMES[usize::from(script.byte()) % GAMES.len()];
    let trials = kind.trials();
    let trial = &trials[usize::from(script.byte()) % trials.len()];
    let fixture = Fixture {
        kind,
        game_id: "fuzz".to_owned(),
        setup: serde_json::from_str(trial.setup).expect("a trial is JSON"),
        seed: Seed::new([script.byte(); 32]),
        players: PerSeat::new(kind.info().seats, |seat| format!("bot {seat}")),
        limits: Limits::default(),
        spent: PerSeat::default(),
    };
    let mut sitting = Sitting::new(fixture).expect("a trial is a set-up");
    loop {
        match sitting.advance() {
            Next::Tell(_) => {}
            Next::Ask(questions) => {
                for question in questions {
                    let reply = script.reply(&sitting, &question);
                    let thought = Duration::from_micros(script.byte().into());
                    sitting.hear(question.seat, reply, thought);
                }
            }
            Next::Over(finished) => return finished.record,
        }
    }
}

/// The bytes that are left; when there are none, zeros.
struct Script<'a>(&'a [u8]);

impl Script<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    fn bytes(&mut self) -> Vec<u8> {
        let length = usize::from(self.byte()).min(self.0.len());
        let (these, rest) = self.0.split_at(length);
        self.0 = rest;
        these.to_vec()
    }

    fn reply(&mut self, sitting: &Sitting, question: &Question) -> SeatReply {
        let how = self.byte();
        match how {
            // Nearly always legal, so that a game gets somewhere.
            0..240 if question.number == 0 => SeatReply::Answer(ready()),
            0..240 => {
                let legal = sitting.legal(question.seat);
                let own = &legal[usize::from(how) % legal.len()].1;
                SeatReply::Answer(answer(question.number, own))
            }
            240..250 => SeatReply::Answer(answer(question.number, &self.bytes())),
            250..253 => SeatReply::Answer(Bytes::from(self.bytes())),
            253 => SeatReply::Nothing,
            254 => SeatReply::Foul(Foul::HungUp),
            255 => {
                // A legal answer with one byte changed.
                let legal = sitting.legal(question.seat);
                let mut own = legal.first().map_or(Vec::new(), |(_, own)| own.clone());
                let at = usize::from(self.byte());
                let flip = self.byte();
                if let Some(byte) = own.get_mut(at) {
                    *byte ^= flip;
                }
                SeatReply::Answer(answer(question.number, &own))
            }
        }
    }
}
