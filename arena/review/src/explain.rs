//! The move that turned a game: each position of it is played on from, and the expected
//! scores are compared.

use arena_events::replay::ExpectedScore;
use bytes::Bytes;
use referee_core::{Dice, FoulKind, PerSeat, Record, Root, Seat};
use referee_games::{Judgement, Mismatch, Retraced, SeatReply, Sitting, game, past, retrace};

use crate::{
    error::ReviewError,
    parallel::in_parallel,
    playouts::{InProcessBot, Playouts, Position},
    search::{self, Deed, SEARCHES, share},
};

/// A move whose loss is this many times as large as its standard error was no
/// accident: with two means of 8 searches each that is as rare as 1 in 1,500
/// (Student's distribution, 14 degrees of freedom).
const SURE: f64 = 4.0;
/// A move that cost less of the points than this turned nothing.
const LEAST: f64 = 0.05;
/// The move that seems to have turned the game is searched with so many times more playouts.
const CLOSER: u32 = 4;

/// How a game is explained.
#[derive(Clone, Copy)]
pub struct ExplainOptions<'a> {
    /// A bot that plays on in every seat; without one positions are searched with all hands
    /// open.
    pub bot: Option<&'a dyn InProcessBot>,
    /// How many playouts each move gets; a search makes [`SEARCHES`] times as many.
    pub playouts: u32,
    /// Decides all chance: the same root finds the same.
    pub root: &'a Root,
    /// How many threads are used. It changes nothing in the result.
    pub threads: usize,
}

/// A game that is explained.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Each move, in order.
    pub moves: Vec<ExplainedMove>,
    /// Which of `moves`, from 0, turned the game; none where no single move did.
    pub turning_point: Option<usize>,
}

/// A move and what it was worth. Scores are shares of the points: 1 is the first place alone.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedMove {
    /// Which move of the game, from 1.
    pub number: usize,
    /// Who moved.
    pub seat: Seat,
    /// The move in the game's notation; none where there was a foul.
    pub notation: Option<String>,
    /// The foul of this seat.
    pub foul: Option<FoulKind>,
    /// What the seat could expect after it.
    pub expects: ExpectedScore,
    /// A better move, and what the seat could have expected after it.
    pub better: Option<(String, ExpectedScore)>,
}

impl ExplainedMove {
    /// How much less its seat can expect than after the better move; at least 0.
    #[must_use]
    pub fn loss(&self) -> f64 {
        let better = self.better.as_ref();
        better.map_or(0.0, |(_, better)| {
            (better.score - self.expects.score).max(0.0)
        })
    }

    /// The standard error of [`loss`](Self::loss), where there is a better move.
    #[must_use]
    pub fn loss_error(&self) -> Option<f64> {
        let (_, better) = self.better.as_ref()?;
        Some(self.expects.error.hypot(better.error))
    }

    /// Whether the loss is no accident, and not too small to matter.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        let error = self.loss_error();
        error.is_some_and(|error| self.loss() >= LEAST && self.loss() > SURE * error)
    }
}

/// Finds for each move of a record what its seat could expect after it and what a better move
/// was worth, and which move turned the game.
///
/// # Errors
///
/// [`ReviewError::Mismatch`] where the record does not replay, [`ReviewError::Bot`] where the
/// bot fails.
pub fn explain(record: &Record, options: &ExplainOptions<'_>) -> Result<Explanation, ReviewError> {
    let plies = plies(record)?;
    let kind = game(&record.header.game).expect("it has just been replayed");
    let explainer = Explainer {
        playouts: options.bot.map(|bot| Playouts { bot, kind }),
        root: options.root,
    };
    let mut judged = explainer.judge(plies, options.playouts, options.threads)?;
    let outcome = record.result.verdict.outcome();
    // The winner did not lose by any move.
    let lost = |seat| outcome.is_none_or(|outcome| share(outcome, seat) < 1.0);
    let worst = judged
        .iter_mut()
        .enumerate()
        .filter(|(_, (_, one))| lost(one.seat) && one.loss() > 0.0)
        .max_by(|(_, (_, one)), (_, (_, other))| one.loss().total_cmp(&other.loss()));
    let mut turning_point = None;
    if let Some((at, (ply, one))) = worst {
        let playouts = options.playouts.saturating_mul(CLOSER);
        explainer.look_closer(ply, one, playouts)?;
        turning_point = one.is_loss().then_some(at);
    }
    Ok(Explanation {
        moves: judged.into_iter().map(|(_, one)| one).collect(),
        turning_point,
    })
}

/// A move of the record.
struct Ply {
    /// From 1.
    number: usize,
    seat: Seat,
    notation: Option<String>,
    foul: Option<FoulKind>,
    /// What could have been answered.
    legal: Vec<String>,
    deed: Deed,
    /// The game when it was asked for.
    sitting: Sitting,
    /// What each seat had been sent by then, with its answers.
    sent: PerSeat<Vec<Bytes>>,
}

/// How moves are judged.
struct Explainer<'a> {
    /// None where positions are searched.
    playouts: Option<Playouts<'a>>,
    root: &'a Root,
}

impl Explainer<'_> {
    /// Judges every move, on several threads; what is found depends on the root alone.
    fn judge(
        &self,
        plies: Vec<Ply>,
        playouts: u32,
        threads: usize,
    ) -> Result<Vec<(Ply, ExplainedMove)>, ReviewError> {
        in_parallel(plies, threads, |ply| self.judge_one(ply, playouts))
            .into_iter()
            .collect()
    }

    fn judge_one(&self, ply: Ply, playouts: u32) -> Result<(Ply, ExplainedMove), ReviewError> {
        let mut dice = Dice::new(&self.root.seed("explain", ply.number as u64));
        let expects = self.estimate(&ply, ply.deed, playouts, &mut dice)?;
        let best = if ply.legal.len() > 1 || ply.deed == Deed::Fouls {
            self.best(&ply, playouts, &mut dice)?
        } else {
            None
        };
        let better = match best {
            Some(best) if ply.deed != Deed::Answers(best) => {
                let score = self.estimate(&ply, Deed::Answers(best), playouts, &mut dice)?;
                Some((ply.legal[best].clone(), score))
            }
            _ => None,
        };
        let one = ExplainedMove {
            number: ply.number,
            seat: ply.seat,
            notation: ply.notation.clone(),
            foul: ply.foul,
            expects,
            better,
        };
        Ok((ply, one))
    }

    /// Judges a move again, with more playouts and other chance: it was picked as the worst
    /// of many, so its loss may be an accident.
    fn look_closer(
        &self,
        ply: &Ply,
        one: &mut ExplainedMove,
        playouts: u32,
    ) -> Result<(), ReviewError> {
        let Some((notation, better)) = &mut one.better else {
            return Ok(());
        };
        let best = ply.legal.iter().position(|legal| legal == notation);
        let best = Deed::Answers(best.expect("a better move is legal"));
        let mut dice = Dice::new(&self.root.seed("closer", ply.number as u64));
        one.expects = self.estimate(ply, ply.deed, playouts, &mut dice)?;
        *better = self.estimate(ply, best, playouts, &mut dice)?;
        Ok(())
    }

    fn estimate(
        &self,
        ply: &Ply,
        deed: Deed,
        playouts: u32,
        dice: &mut Dice,
    ) -> Result<ExpectedScore, ReviewError> {
        let table = ply.sitting.table();
        match &self.playouts {
            Some(bot) => bot.estimate(&ply.position(), deed, playouts, dice),
            None => Ok(search::estimate(table, ply.seat, deed, playouts, dice)),
        }
    }

    /// What should have been answered. A search for it is one of its own, so that what
    /// the answer seems to be worth is not the reason why it was picked.
    fn best(
        &self,
        ply: &Ply,
        playouts: u32,
        dice: &mut Dice,
    ) -> Result<Option<usize>, ReviewError> {
        match &self.playouts {
            Some(bot) => bot.answer(&ply.position()),
            None => Ok(Some(search::best(
                ply.sitting.table(),
                ply.seat,
                ply.legal.len(),
                playouts.saturating_mul(SEARCHES) / 2,
                dice,
            ))),
        }
    }
}

impl Ply {
    const fn position(&self) -> Position<'_> {
        Position {
            sitting: &self.sitting,
            sent: &self.sent,
            seat: self.seat,
        }
    }
}

/// The moves of a record, each with the game as it was.
fn plies(record: &Record) -> Result<Vec<Ply>, Mismatch> {
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
