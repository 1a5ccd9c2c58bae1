//! The moves of a record, each with the game as it was when it was asked for.

use bytes::Bytes;
use referee_core::{FoulKind, PerSeat, Record, Seat};
use referee_games::{Judgement, Mismatch, Retraced, SeatReply, Sitting, past, retrace};

use crate::{playouts::PlayoutPosition, search::Deed};

/// A move of the record.
pub(crate) struct Ply {
    /// From 1.
    pub(crate) number: usize,
    pub(crate) seat: Seat,
    pub(crate) notation: Option<String>,
    pub(crate) foul: Option<FoulKind>,
    /// The legal answers.
    pub(crate) legal: Vec<String>,
    pub(crate) deed: Deed,
    /// The game when it was asked for.
    pub(crate) sitting: Sitting,
    /// All that each seat had been sent by then, with its answers.
    pub(crate) sent: PerSeat<Vec<Bytes>>,
}

impl Ply {
    pub(crate) const fn position(&self) -> PlayoutPosition<'_> {
        PlayoutPosition {
            sitting: &self.sitting,
            sent: &self.sent,
            seat: self.seat,
        }
    }
}

/// The moves of a record, each with the game as it was.
///
/// # Errors
///
/// [`Mismatch`] where the record does not replay.
pub(crate) fn plies(record: &Record) -> Result<Vec<Ply>, Mismatch> {
    let mut plies: Vec<Ply> = Vec::new();
    let mut sent = PerSeat::new(record.header.players.seats(), |_| Vec::new());
    retrace(record, |step| match step {
        Retraced::Told { seat, call } => sent[seat].push(call.clone()),
        Retraced::Asked {
            sitting,
            question,
            said,
        } if question.number > 0 => {
            let legal = sitting.legal(question.seat);
            let legal: Vec<String> = legal.into_iter().map(|(notation, _)| notation).collect();
            let answered = said.notation.as_ref();
            let deed = answered
                .and_then(|answered| legal.iter().position(|one| one == answered))
                .map_or(Deed::Fouls, Deed::Answers);
            plies.push(Ply {
                number: plies.len() + 1,
                seat: question.seat,
                notation: answered.cloned(),
                foul: None,
                legal,
                deed,
                sitting: sitting.fork(),
                sent: sent.clone(),
            });
        }
        Retraced::Asked { .. } => {}
        Retraced::Judged {
            question,
            said,
            judgement,
        } => match (judgement, &said.heard, plies.last_mut()) {
            (Judgement::Ready(_), ..) => sent[question.seat].push(question.call.clone()),
            (Judgement::Accepted { .. }, SeatReply::Answer(answer), _) => {
                sent[question.seat].push(past(&question.call, answer));
            }
            (Judgement::Fouled(kind), _, Some(last)) => last.foul = Some(*kind),
            _ => {}
        },
    })?;
    Ok(plies)
}
