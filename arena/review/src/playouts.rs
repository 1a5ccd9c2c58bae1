//! Value of a position of a finished game where a bot plays on in every seat, in this process. Each
//! copy of it knows what its seat was sent.

use std::time::Duration;

use arena_events::replay::ExpectedScore;
use bytes::Bytes;
use referee_core::{Dice, Foul, GameKind, Outcome, PerSeat, Seat};
use referee_games::{Judgement, Next, Question, SeatReply, Sitting, answer, past};

use crate::{
    error::ReviewError,
    search::{Deed, share},
};

/// A bot that plays in this process. It is handed in, since no library knows a bot.
pub trait InProcessBot: Send + Sync {
    /// Takes a seat of a game. `path` is that of the game's gRPC method, `start` the
    /// first call that the seat was sent.
    ///
    /// # Errors
    ///
    /// The bot does not play this game, or can't read the call.
    fn sit(&self, path: &str, start: &Bytes) -> Result<Box<dyn InProcessSeat>, BotError>;
}

/// A bot in a seat of one game.
pub trait InProcessSeat {
    /// Takes a call, and gives the answer where it is a question.
    ///
    /// # Errors
    ///
    /// The bot can't read the call, or fails.
    fn hear(&mut self, call: &Bytes) -> Result<Option<Bytes>, BotError>;

    /// Takes a question, which stays unanswered: nothing is asked of the seat after it. For each
    /// legal answer, in the referee's order, the bot says what the seat can expect, as a share of
    /// the points; none where it has no such estimates.
    ///
    /// # Errors
    ///
    /// The bot can't read the call, or fails.
    fn values(&mut self, _call: &Bytes) -> Result<Option<Vec<f64>>, BotError> {
        Ok(None)
    }

    /// The same of each seat, in the order of seats, before the answer and as far as this seat
    /// knows. In a game of two only [`values`](Self::values) is asked for.
    ///
    /// # Errors
    ///
    /// The bot can't read the call, or fails.
    fn shares(&mut self, _call: &Bytes) -> Result<Option<Vec<f64>>, BotError> {
        Ok(None)
    }
}

/// The score that each seat can expect by the estimates of the bot in this one, which is asked. The
/// question stays unanswered. What one of two can't expect the other can.
///
/// # Errors
///
/// The bot fails, or has no estimates.
pub fn expected(
    bot: &mut dyn InProcessSeat,
    call: &Bytes,
    seat: Seat,
    seats: u8,
) -> Result<PerSeat<ExpectedScore>, BotError> {
    let shares = if seats == 2 {
        let values = bot.values(call)?;
        let best = values.map(|values| values.into_iter().fold(0.0, f64::max));
        best.map(|best| {
            let of = |one: Seat| if one == seat { best } else { 1.0 - best };
            Seat::all(2).map(of).collect()
        })
    } else {
        bot.shares(call)?
    };
    let shares: Vec<f64> = shares.ok_or("it has no estimates")?;
    if shares.len() != usize::from(seats) {
        return Err(format!("it has {} estimates for {seats} seats", shares.len()).into());
    }
    Ok(PerSeat::new(seats, |one: Seat| ExpectedScore {
        score: shares[one.index()],
        error: 0.0,
    }))
}

/// Failure of a bot in this process.
pub type BotError = Box<dyn std::error::Error + Send + Sync>;

/// The players that play on, by seat; none in a seat that never started.
type PlayoutSeats = PerSeat<Option<Box<dyn InProcessSeat>>>;

/// One answer in so many is any legal one, each equally likely: a bot that always does the
/// same would play the same game again.
const RANDOM_ONE_IN: u32 = 10;

/// A bot that plays on in every seat.
pub(crate) struct Playouts<'a> {
    pub(crate) bot: &'a dyn InProcessBot,
    pub(crate) kind: &'static dyn GameKind,
}

/// A position, and what each seat had been sent by then, with its answers.
pub(crate) struct PlayoutPosition<'a> {
    pub(crate) sitting: &'a Sitting,
    pub(crate) sent: &'a PerSeat<Vec<Bytes>>,
    pub(crate) seat: Seat,
}

impl PlayoutPosition<'_> {
    /// The question of the seat.
    fn asked(&self) -> Question {
        let asked = self.sitting.pending();
        let asked = asked
            .into_iter()
            .find(|question| question.seat == self.seat);
        asked.expect("the seat is asked")
    }
}

impl Playouts<'_> {
    /// The bot's answer here, of those that are legal; none where it would be a foul.
    pub(crate) fn answer(&self, at: &PlayoutPosition<'_>) -> Result<Option<usize>, ReviewError> {
        let mut bot = self.seated(at, at.seat)?.expect("the seat is in play");
        let asked = at.asked();
        let heard = hear(&mut *bot, &asked.call)?;
        let Judgement::Accepted { notation, .. } =
            at.sitting.fork().hear(at.seat, heard, Duration::ZERO)
        else {
            return Ok(None);
        };
        let legal = at.sitting.legal(at.seat);
        Ok(legal.iter().position(|(one, _)| *one == notation))
    }

    /// The score that the seat can expect after each legal answer, by the bot's own estimate.
    pub(crate) fn values(&self, at: &PlayoutPosition<'_>) -> Result<Vec<f64>, ReviewError> {
        let mut bot = self.seated(at, at.seat)?.expect("the seat is in play");
        let values = bot.values(&at.asked().call).map_err(ReviewError::Bot)?;
        let legal = at.sitting.legal(at.seat).len();
        match values {
            Some(values) if values.len() == legal => Ok(values),
            Some(values) => Err(ReviewError::Bot(
                format!("it has {} estimates for {legal} answers", values.len()).into(),
            )),
            None => Err(ReviewError::Bot("it has no estimates".into())),
        }
    }

    /// The score that each seat can expect, by the bot's own estimate in the seat that is asked.
    pub(crate) fn expected(
        &self,
        at: &PlayoutPosition<'_>,
    ) -> Result<PerSeat<ExpectedScore>, ReviewError> {
        let mut bot = self.seated(at, at.seat)?.expect("the seat is in play");
        let seats = self.kind.info().seats;
        expected(&mut *bot, &at.asked().call, at.seat, seats).map_err(ReviewError::Bot)
    }

    /// The score that the seat can expect where it does this: the mean of so many playouts.
    pub(crate) fn estimate(
        &self,
        at: &PlayoutPosition<'_>,
        deed: Deed,
        playouts: u32,
        dice: &mut Dice,
    ) -> Result<ExpectedScore, ReviewError> {
        let mut sum = 0.0;
        for _ in 0..playouts {
            sum += share(&self.playout(at, deed, dice)?, at.seat);
        }
        let playouts = f64::from(playouts);
        // No variance of what lies between 0 and 1 is above mean · (1 - mean) (Bhatia
        // and Davis, "A better bound on the variance", 2000); one more of each, so that
        // what came out the same each time is not taken for certain.
        let mean = (sum + 1.0) / (playouts + 2.0);
        Ok(ExpectedScore {
            score: sum / playouts,
            error: (mean * (1.0 - mean) / playouts).sqrt(),
        })
    }

    fn playout(
        &self,
        at: &PlayoutPosition<'_>,
        deed: Deed,
        dice: &mut Dice,
    ) -> Result<Outcome, ReviewError> {
        let mut sitting = at.sitting.fork();
        let seats = at.sent.iter().map(|(seat, _)| self.seated(at, seat));
        let mut bots: PlayoutSeats = seats.collect::<Result<Vec<_>, _>>()?.into();
        for question in sitting.pending() {
            let heard = match deed {
                Deed::Answers(which) if question.seat == at.seat => {
                    given(&sitting, &question, which, &mut bots)?
                }
                Deed::Fouls if question.seat == at.seat => SeatReply::Foul(Foul::HungUp),
                _ => answered(&question, &mut bots)?,
            };
            sitting.hear(question.seat, heard, Duration::ZERO);
        }
        loop {
            match sitting.advance() {
                Next::Tell(calls) => tell(calls, &mut bots)?,
                Next::Ask(questions) => {
                    for question in questions {
                        let heard = if dice.below(RANDOM_ONE_IN) == 0 {
                            let legal = sitting.legal(question.seat).len() as u32;
                            let which = dice.below(legal.max(1)) as usize;
                            given(&sitting, &question, which, &mut bots)?
                        } else {
                            answered(&question, &mut bots)?
                        };
                        sitting.hear(question.seat, heard, Duration::ZERO);
                    }
                }
                Next::Over(finished) => {
                    let verdict = finished.record.result.verdict;
                    let outcome = verdict.outcome().cloned();
                    return Ok(outcome.expect("a game that is played out has an outcome"));
                }
            }
        }
    }

    /// The next moves, at most so many, where the bot plays on in every seat, in the order in which it
    /// is asked. It ends before where the game does, or where a seat's move would be a foul.
    pub(crate) fn line(
        &self,
        at: &PlayoutPosition<'_>,
        most: usize,
    ) -> Result<Vec<(Seat, String)>, ReviewError> {
        let mut sitting = at.sitting.fork();
        let seats = at.sent.iter().map(|(seat, _)| self.seated(at, seat));
        let mut bots: PlayoutSeats = seats.collect::<Result<Vec<_>, _>>()?.into();
        let mut line = Vec::new();
        let mut questions = sitting.pending();
        while line.len() < most {
            for question in questions {
                let heard = answered(&question, &mut bots)?;
                match sitting.hear(question.seat, heard, Duration::ZERO) {
                    Judgement::Accepted { notation, .. } => line.push((question.seat, notation)),
                    Judgement::Ready(_) => {}
                    Judgement::Fouled(_) => return Ok(line),
                }
            }
            questions = loop {
                match sitting.advance() {
                    Next::Tell(calls) => tell(calls, &mut bots)?,
                    Next::Ask(questions) => break questions,
                    Next::Over(_) => return Ok(line),
                }
            };
        }
        line.truncate(most);
        Ok(line)
    }

    /// The bot in a seat that has heard everything so far; none in a seat that never
    /// started.
    fn seated(
        &self,
        at: &PlayoutPosition<'_>,
        seat: Seat,
    ) -> Result<Option<Box<dyn InProcessSeat>>, ReviewError> {
        let mut sent = at.sent[seat].iter();
        let Some(start) = sent.next() else {
            return Ok(None);
        };
        let mut bot = self
            .bot
            .sit(self.kind.path(), start)
            .map_err(ReviewError::Bot)?;
        for call in sent {
            bot.hear(call).map_err(ReviewError::Bot)?;
        }
        Ok(Some(bot))
    }
}

/// Tells the bots what is told to their seats.
fn tell(
    calls: impl IntoIterator<Item = (Seat, Bytes)>,
    bots: &mut PlayoutSeats,
) -> Result<(), ReviewError> {
    for (seat, call) in calls {
        if let Some(bot) = &mut bots[seat] {
            bot.hear(&call).map_err(ReviewError::Bot)?;
        }
    }
    Ok(())
}

/// A bot's answer. One that fails says nothing about the position, so nothing is said of it.
fn hear(bot: &mut dyn InProcessSeat, call: &Bytes) -> Result<SeatReply, ReviewError> {
    let answer = bot.hear(call).map_err(ReviewError::Bot)?;
    Ok(answer.map_or(SeatReply::Foul(Foul::HungUp), SeatReply::Answer))
}

/// The answer of the bot that is asked.
fn answered(question: &Question, bots: &mut PlayoutSeats) -> Result<SeatReply, ReviewError> {
    match bots[question.seat].as_mut() {
        Some(bot) => hear(&mut **bot, &question.call),
        None => Ok(SeatReply::Foul(Foul::HungUp)),
    }
}

/// An answer that the bot has not chosen; the bot is told of it.
fn given(
    sitting: &Sitting,
    question: &Question,
    which: usize,
    bots: &mut PlayoutSeats,
) -> Result<SeatReply, ReviewError> {
    let legal = sitting.legal(question.seat);
    let (Some((_, own)), Some(bot)) = (legal.get(which), &mut bots[question.seat]) else {
        return Ok(SeatReply::Foul(Foul::HungUp));
    };
    let answer = answer(question.number, own);
    bot.hear(&past(&question.call, &answer))
        .map_err(ReviewError::Bot)?;
    Ok(SeatReply::Answer(answer))
}
