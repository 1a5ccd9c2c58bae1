//! What a position of a finished game is worth where a bot of the house plays on
//! in every seat, in this process. Each of them knows what its seat was sent.

use std::time::Duration;

use anyhow::Context as _;
use bytes::Bytes;
use house_bots::{Bot, Seated};
use referee_core::{Dice, Foul, GameKind, Outcome, PerSeat, Seat};
use referee_games::{Judgement, Next, Question, SeatReply, Sitting, answer, past};

use super::search::{Does, Estimate, share};

/// One answer in so many is any legal one, each equally likely: bots that always do
/// the same would play the same game again.
const STRAYS: u32 = 10;

/// A bot of the house that plays on.
pub(super) struct House {
    pub(super) bot: Bot,
    pub(super) kind: &'static dyn GameKind,
}

/// A position, and what each seat had been sent by then, with its answers.
pub(super) struct Position<'a> {
    pub(super) sitting: &'a Sitting,
    pub(super) sent: &'a PerSeat<Vec<Bytes>>,
    pub(super) seat: Seat,
}

impl House {
    /// What the bot would answer here, of what is legal; none where that would be a
    /// foul.
    pub(super) fn answer(&self, at: &Position<'_>) -> anyhow::Result<Option<usize>> {
        let bot = self.seated(at, at.seat)?;
        let mut bot = bot.context("the seat is in play")?;
        let asked = at.sitting.pending();
        let asked = asked.iter().find(|question| question.seat == at.seat);
        let asked = asked.context("the seat is asked")?;
        let heard = hear(&mut bot, &asked.call);
        let Judgement::Accepted { notation, .. } =
            at.sitting.fork().hear(at.seat, heard, Duration::ZERO)
        else {
            return Ok(None);
        };
        let legal = at.sitting.legal(at.seat);
        Ok(legal.iter().position(|(one, _)| *one == notation))
    }

    /// What the seat can expect where it does this: the mean of so many playouts.
    pub(super) fn estimate(
        &self,
        at: &Position<'_>,
        does: Does,
        playouts: u32,
        dice: &mut Dice,
    ) -> anyhow::Result<Estimate> {
        let mut sum = 0.0;
        for _ in 0..playouts {
            sum += share(&self.playout(at, does, dice)?, at.seat);
        }
        let playouts = f64::from(playouts);
        // No variance of what lies between 0 and 1 is above mean · (1 - mean) (Bhatia
        // and Davis, "A better bound on the variance", 2000); one more of each, so that
        // what came out the same each time is not taken for certain.
        let mean = (sum + 1.0) / (playouts + 2.0);
        Ok(Estimate {
            mean: sum / playouts,
            error: (mean * (1.0 - mean) / playouts).sqrt(),
        })
    }

    fn playout(&self, at: &Position<'_>, does: Does, dice: &mut Dice) -> anyhow::Result<Outcome> {
        let mut sitting = at.sitting.fork();
        let seats = at.sent.iter().map(|(seat, _)| self.seated(at, seat));
        let mut bots: PerSeat<Option<Seated>> = seats.collect::<anyhow::Result<Vec<_>>>()?.into();
        for question in sitting.pending() {
            let heard = match does {
                Does::Answers(which) if question.seat == at.seat => {
                    given(&sitting, &question, which, &mut bots)
                }
                Does::Fouls if question.seat == at.seat => SeatReply::Foul(Foul::HungUp),
                _ => answered(&question, &mut bots),
            };
            sitting.hear(question.seat, heard, Duration::ZERO);
        }
        loop {
            match sitting.advance() {
                Next::Tell(calls) => {
                    for (seat, call) in calls {
                        if let Some(bot) = &mut bots[seat] {
                            bot.hear(&call)?;
                        }
                    }
                }
                Next::Ask(questions) => {
                    for question in questions {
                        let heard = if dice.below(STRAYS) == 0 {
                            let legal = sitting.legal(question.seat).len() as u32;
                            let which = dice.below(legal.max(1)) as usize;
                            given(&sitting, &question, which, &mut bots)
                        } else {
                            answered(&question, &mut bots)
                        };
                        sitting.hear(question.seat, heard, Duration::ZERO);
                    }
                }
                Next::Over(finished) => {
                    let verdict = finished.record.result.verdict;
                    let outcome = verdict.outcome().cloned();
                    return outcome.context("a game that is played out has an outcome");
                }
            }
        }
    }

    /// The bot in a seat that has heard everything so far; none in a seat that never
    /// started.
    fn seated(&self, at: &Position<'_>, seat: Seat) -> anyhow::Result<Option<Seated>> {
        let mut sent = at.sent[seat].iter();
        let Some(start) = sent.next() else {
            return Ok(None);
        };
        let mut bot = self.bot.sit(self.kind.path(), start)?;
        for call in sent {
            bot.hear(call)?;
        }
        Ok(Some(bot))
    }
}

/// What a bot answers.
fn hear(bot: &mut Seated, call: &Bytes) -> SeatReply {
    match bot.hear(call) {
        Ok(Some(answer)) => SeatReply::Answer(answer),
        Ok(None) | Err(_) => SeatReply::Foul(Foul::HungUp),
    }
}

/// What the bot that is asked answers.
fn answered(question: &Question, bots: &mut PerSeat<Option<Seated>>) -> SeatReply {
    let bot = bots[question.seat].as_mut();
    bot.map_or(SeatReply::Foul(Foul::HungUp), |bot| {
        hear(bot, &question.call)
    })
}

/// An answer that the bot has not chosen, and is told of.
fn given(
    sitting: &Sitting,
    question: &Question,
    which: usize,
    bots: &mut PerSeat<Option<Seated>>,
) -> SeatReply {
    let legal = sitting.legal(question.seat);
    let (Some((_, own)), Some(bot)) = (legal.get(which), &mut bots[question.seat]) else {
        return SeatReply::Foul(Foul::HungUp);
    };
    let answer = answer(question.number, own);
    match bot.hear(&past(&question.call, &answer)) {
        Ok(_) => SeatReply::Answer(answer),
        Err(_) => SeatReply::Foul(Foul::HungUp),
    }
}
