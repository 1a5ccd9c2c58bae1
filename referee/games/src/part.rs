//! One seat's part in a finished game, which can be played by another bot: the calls
//! that the seat got, and how the referee would judge other answers.

use std::time::Duration;

use bytes::Bytes;
use referee_core::{Foul, GameKind, Limits, Record, Seat, ThinkingTime};

use crate::{
    Judgement, Mismatch, Question, RecordedReply, Retraced, SeatReply, Sitting, envelope, game,
    verify,
};

/// A seat's part of a finished game: what it was sent, and nothing else about the other seats.
pub struct SeatPart {
    /// The game.
    pub kind: &'static dyn GameKind,
    /// The limits that its calls name.
    pub limits: Limits,
    /// Its calls, in order.
    pub cues: Vec<Cue>,
}

/// One call of a part.
pub enum Cue {
    /// A notice.
    Told(Bytes),
    /// A question.
    Asked(Box<PartQuestion>),
}

/// A question of a part.
pub struct PartQuestion {
    /// The question, byte for byte.
    pub question: Question,
    /// The answer of the seat.
    pub said: RecordedReply,
    /// The number of this move in the whole game, from 1; `None` for question 0.
    pub ply: Option<usize>,
    sitting: Sitting,
}

impl SeatPart {
    /// The part of a seat. With another move limit its calls name that limit and no
    /// budget; otherwise they are those of the record, byte for byte.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] if the record is not what the rules give.
    pub fn of(record: &Record, seat: Seat, per_move: Option<Duration>) -> Result<Self, Mismatch> {
        let mut cues = Vec::new();
        let mut plies = 0;
        let collect = |step: Retraced<'_>| match step {
            Retraced::Told { seat: to, call } if to == seat => {
                cues.push(Cue::Told(call.clone()));
            }
            Retraced::Asked {
                sitting,
                question,
                said,
            } => {
                plies += usize::from(question.number > 0);
                if question.seat == seat {
                    cues.push(Cue::Asked(Box::new(PartQuestion {
                        question: question.clone(),
                        said: said.clone(),
                        ply: (question.number > 0).then_some(plies),
                        sitting: sitting.fork(),
                    })));
                }
            }
            _ => {}
        };
        let mut limits = record.header.limits;
        match per_move {
            None => {
                crate::retrace(record, collect)?;
            }
            Some(per_move) => {
                verify(record)?;
                crate::retrace_within(record, per_move, collect)?;
                limits.per_move = per_move;
                limits.budget = None;
            }
        }
        let name = &record.header.game;
        let kind = game(name).ok_or_else(|| Mismatch::unknown(name))?;
        Ok(Self { kind, limits, cues })
    }
}

impl PartQuestion {
    /// The judgement that the referee would have given on this answer.
    ///
    /// # Errors
    ///
    /// The foul that this answer is.
    pub fn judge(
        &self,
        heard: SeatReply,
        thought: impl Into<ThinkingTime>,
    ) -> Result<Judgement, Foul> {
        let seat = self.question.seat;
        let mut sitting = self.sitting.fork();
        match sitting.hear(seat, heard, thought) {
            Judgement::Fouled(_) => Err(sitting.into_last_foul()),
            judgement => Ok(judgement),
        }
    }

    /// The question with its past answer, as it is sent on a stream that was opened
    /// later; `None` if the answer was a foul.
    #[must_use]
    pub fn past(&self) -> Option<Bytes> {
        let stood = self.ply.is_none() || self.said.notation.is_some();
        match &self.said.heard {
            SeatReply::Answer(answer) if stood => Some(envelope::past(&self.question.call, answer)),
            _ => None,
        }
    }
}
