//! Fields 1 to 9 of every message, written and read apart from the game's own:
//! a message is its envelope followed by what the game appends.

use std::time::Duration;

use arena_proto::arena::v1::{
    AnswerEnvelope, CallEnvelope, Ending, FoulKind as ProtoFoul, GameOver, GameStart, Ready,
    SeatResult, call_envelope::Call,
};
use bytes::Bytes;
use prost::Message as _;
use referee_core::{FoulKind, GameKind, Malformed, Outcome, Seat, Seed, Table, Verdict};

use crate::sitting::{BEHAVIOR_VERSION, Fixture};

/// Question 0: `GameStart`.
pub(crate) fn start(
    fixture: &Fixture,
    table: &dyn Table,
    seat: Seat,
    budget: Option<Duration>,
) -> Bytes {
    let info = table.info();
    let start = GameStart {
        game_id: told_game_id(fixture.kind, &fixture.seed, &fixture.game_id),
        game: info.name.to_owned(),
        seat: seat.index() as u32,
        seats: info.seats.into(),
        move_limit: duration(fixture.limits.per_move),
        budget: budget.and_then(duration),
        bot_seed: fixture.seed.for_bot(seat),
        rules_version: info.rules_version,
        behavior_version: BEHAVIOR_VERSION,
    };
    let envelope = CallEnvelope {
        number: Some(0),
        limit: duration(fixture.limits.start),
        past_answer: None,
        call: Some(Call::Start(start)),
    };
    let mut out = envelope.encode_to_vec();
    table.write_start(seat, &mut out);
    out.into()
}

/// The name of a game that its bots are told. In a game with secrets it must not say which deal
/// it belongs to: a process that has played another seating of the deal may have left something
/// behind under a name that says so.
#[must_use]
pub fn told_game_id(kind: &dyn GameKind, seed: &Seed, game_id: &str) -> String {
    if kind.has_secrets() {
        seed.name_for_bots(game_id)
    } else {
        game_id.to_owned()
    }
}

/// The question that the table asks this seat now.
pub(crate) fn question(table: &dyn Table, seat: Seat, number: u32, limit: Duration) -> Bytes {
    let envelope = CallEnvelope {
        number: Some(number),
        limit: duration(limit),
        past_answer: None,
        call: None,
    };
    // Room for a message of the usual size, so that the buffer does not grow.
    let mut out = Vec::with_capacity(256);
    envelope.encode(&mut out).expect("a vector has room");
    table.write_call(seat, &mut out);
    out.into()
}

/// A question with its past answer, as it is sent on a stream that was opened after the
/// answer.
#[must_use]
pub fn past(call: &Bytes, answer: &Bytes) -> Bytes {
    let envelope = CallEnvelope {
        past_answer: Some(answer.clone()),
        ..CallEnvelope::default()
    };
    // Protobuf allows two messages to be written one after the other.
    let mut out = call.to_vec();
    envelope.encode(&mut out).expect("a vector has room");
    out.into()
}

/// The notice that the table sends this seat now.
pub(crate) fn notice(table: &dyn Table, seat: Seat) -> Bytes {
    let mut out = Vec::new();
    table.write_call(seat, &mut out);
    out.into()
}

/// Tells that another seat has forfeited and has this place.
#[must_use]
pub fn forfeit(seat: Seat, foul: FoulKind, place: u8) -> Bytes {
    let forfeit = arena_proto::arena::v1::Forfeit {
        seat: seat.index() as u32,
        foul: foul_kind(foul).into(),
        place: place.into(),
    };
    notice_envelope(Call::Forfeit(forfeit))
}

/// The last call: `GameOver`.
pub(crate) fn over(verdict: &Verdict, outcome: &Outcome) -> Bytes {
    notice_envelope(Call::Over(GameOver {
        results: results(verdict),
        ending: ending(verdict).into(),
        reason: outcome.reason.clone(),
    }))
}

/// The result of each seat as a message: one entry for each seat, none if the game is
/// void.
#[must_use]
pub fn results(verdict: &Verdict) -> Vec<SeatResult> {
    let Some(outcome) = verdict.outcome() else {
        return Vec::new();
    };
    outcome
        .places
        .iter()
        .map(|(seat, &place)| SeatResult {
            place: place.into(),
            score: outcome.scores[seat].into(),
            foul: verdict.foul(seat).map(|foul| foul_kind(foul.kind()).into()),
        })
        .collect()
}

/// The end of the game, as a message.
#[must_use]
pub fn ending(verdict: &Verdict) -> Ending {
    match verdict {
        Verdict::Void { .. } => Ending::Void,
        Verdict::Finished { fouls, .. } if fouls.is_empty() => Ending::Played,
        Verdict::Finished { fouls, .. }
            if (fouls.iter()).all(|foul| foul.foul.kind() == FoulKind::Resigned) =>
        {
            Ending::Resigned
        }
        Verdict::Finished { .. } => Ending::Foul,
    }
}

/// The whole message of a bot for one of the game's answers.
#[must_use]
pub fn answer(number: u32, own: &[u8]) -> Bytes {
    let envelope = AnswerEnvelope {
        number: Some(number),
        ready: None,
    };
    let mut out = envelope.encode_to_vec();
    out.extend_from_slice(own);
    out.into()
}

/// The answer to question 0 of a player without name, version or limits.
#[must_use]
pub fn ready() -> Bytes {
    let envelope = AnswerEnvelope {
        number: Some(0),
        ready: Some(Ready::default()),
    };
    envelope.encode_to_vec().into()
}

/// The number and the `Ready` in an answer's envelope.
pub(crate) fn read(answer: &[u8]) -> Result<(u32, Option<Ready>), Malformed> {
    let envelope = AnswerEnvelope::decode(answer).map_err(|error| Malformed(error.to_string()))?;
    let number = envelope
        .number
        .ok_or_else(|| Malformed("the answer does not say which question it answers".to_owned()))?;
    Ok((number, envelope.ready))
}

/// The kind of a foul as a message.
#[must_use]
pub fn foul_kind(foul: FoulKind) -> ProtoFoul {
    match foul {
        FoulKind::Unreachable => ProtoFoul::Unreachable,
        FoulKind::NoStart => ProtoFoul::NoStart,
        FoulKind::Unsupported => ProtoFoul::Unsupported,
        FoulKind::Crashed => ProtoFoul::Crashed,
        FoulKind::HungUp => ProtoFoul::HungUp,
        FoulKind::Resigned => ProtoFoul::Resigned,
        FoulKind::ErrorStatus => ProtoFoul::ErrorStatus,
        FoulKind::Malformed => ProtoFoul::Malformed,
        FoulKind::WrongNumber => ProtoFoul::WrongNumber,
        FoulKind::Unsolicited => ProtoFoul::Unsolicited,
        FoulKind::Oversized => ProtoFoul::Oversized,
        FoulKind::MemoryExceeded => ProtoFoul::MemoryExceeded,
        FoulKind::Illegal => ProtoFoul::Illegal,
        FoulKind::Late => ProtoFoul::Late,
        FoulKind::Flooded => ProtoFoul::Flooded,
        FoulKind::Interfered => ProtoFoul::Interfered,
    }
}

fn notice_envelope(call: Call) -> Bytes {
    let envelope = CallEnvelope {
        number: None,
        limit: None,
        past_answer: None,
        call: Some(call),
    };
    envelope.encode_to_vec().into()
}

/// A duration as a message; `None` if it is too long.
fn duration(time: Duration) -> Option<prost_types::Duration> {
    time.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_foul_and_no_other_is_in_the_protocol() {
        let numbers = FoulKind::ALL.map(|kind| i32::from(foul_kind(kind)));
        let mut sorted = numbers.to_vec();
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(1..=FoulKind::ALL.len() as i32));
        assert!(ProtoFoul::try_from(FoulKind::ALL.len() as i32 + 1).is_err());
    }
}
