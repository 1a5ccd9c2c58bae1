//! The move that turned a game: each position of it is played on from, and the expected
//! scores are compared.

use arena_events::replay::{BetterMove, ExpectedScore, ExplainedEvent, ExplanationEvent};
use referee_core::{Dice, FoulKind, GameKind, PerSeat, Record, Root, Seat};
use referee_games::game;

use crate::{
    error::ReviewError,
    parallel::in_parallel,
    playouts::{InProcessBot, Playouts},
    plies::{Ply, plies},
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

/// Options of an explanation.
#[derive(Clone, Copy)]
pub struct ExplainOptions<'a> {
    /// The judge of the moves.
    pub by: ExplainBy<'a>,
    /// The seat whose moves alone are judged, by what it knew; none for all.
    pub seat: Option<Seat>,
    /// Decides all chance: the same root finds the same.
    pub root: &'a Root,
    /// Number of threads that are used. It changes nothing in the result.
    pub threads: usize,
}

/// The judge of the moves of a game that is explained.
#[derive(Clone, Copy)]
pub enum ExplainBy<'a> {
    /// Searches with all hands open.
    Search {
        /// Number of playouts that a search makes for a move; there are [`SEARCHES`] searches.
        playouts: u32,
    },
    /// A bot that plays on in every seat.
    PlayingOn {
        /// The bot.
        bot: &'a dyn InProcessBot,
        /// Number of playouts for each move.
        playouts: u32,
    },
    /// The estimates of a bot, which has some for every legal answer.
    Estimates(&'a dyn InProcessBot),
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
    /// Which move of the game, from 1. Of one seat's in a game with hidden hands it is which of its
    /// moves: how often others were asked between them may tell of their hands.
    pub number: usize,
    /// The seat that moved.
    pub seat: Seat,
    /// The move in the game's notation; none where there was a foul.
    pub notation: Option<String>,
    /// The foul of this seat.
    pub foul: Option<FoulKind>,
    /// The score that the seat could expect after it.
    pub expects: ExpectedScore,
    /// A better move, and what the seat could have expected after it.
    pub better: Option<(String, ExpectedScore)>,
}

impl ExplainedMove {
    /// The move as programs are told of it.
    #[must_use]
    pub fn event(&self, player: &str) -> ExplainedEvent {
        ExplainedEvent {
            number: self.number as u64,
            seat: self.seat.index() as u8,
            player: player.to_owned(),
            notation: self.notation.clone(),
            expects: self.expects,
            better: self.better.as_ref().map(|(notation, expects)| BetterMove {
                notation: notation.clone(),
                expects: *expects,
            }),
        }
    }

    /// The score that its seat loses by it, compared with the better move; at least 0.
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

    /// True if the loss is no accident, and not too small to matter.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        let error = self.loss_error();
        error.is_some_and(|error| self.loss() >= LEAST && is_sure(self.loss(), error))
    }
}

/// True if a loss is no accident, where this is its standard error.
#[must_use]
pub fn is_sure(loss: f64, error: f64) -> bool {
    loss > SURE * error
}

/// Finds for each move of a record what its seat could expect after it and what a better move
/// was worth, and which move turned the game.
///
/// # Errors
///
/// [`ReviewError::Mismatch`] where the record does not replay, [`ReviewError::Bot`] where the
/// bot fails, or has no estimates; [`ReviewError::OpenHands`] where one seat's moves are to be judged by
/// hands that it did not know.
pub fn explain(record: &Record, options: &ExplainOptions<'_>) -> Result<Explanation, ReviewError> {
    let mut plies = plies(record)?;
    let kind = game(&record.header.game).expect("it has just been replayed");
    if let Some(seat) = options.seat {
        plies.retain(|ply| ply.seat == seat);
        if kind.has_secrets() {
            if !matches!(options.by, ExplainBy::Estimates(_)) {
                return Err(ReviewError::OpenHands);
            }
            for (number, ply) in (1..).zip(&mut plies) {
                ply.number = number;
            }
        }
    }
    let explainer = Explainer {
        by: options.by,
        kind,
        root: options.root,
    };
    let mut judged = explainer.judge(plies, options.threads)?;
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
        explainer.look_closer(ply, one)?;
        turning_point = one.is_loss().then_some(at);
    }
    Ok(Explanation {
        moves: judged.into_iter().map(|(_, one)| one).collect(),
        turning_point,
    })
}

/// The judge of moves.
struct Explainer<'a> {
    by: ExplainBy<'a>,
    kind: &'static dyn GameKind,
    root: &'a Root,
}

impl<'a> Explainer<'a> {
    /// Judges every move, on several threads; what is found depends on the root alone.
    fn judge(
        &self,
        plies: Vec<Ply>,
        threads: usize,
    ) -> Result<Vec<(Ply, ExplainedMove)>, ReviewError> {
        let judged = in_parallel(plies, threads, |ply| {
            let one = match self.by {
                ExplainBy::Estimates(bot) => by_estimates(&self.playing(bot), &ply),
                ExplainBy::Search { playouts } | ExplainBy::PlayingOn { playouts, .. } => {
                    self.by_playouts(&ply, playouts)
                }
            };
            Ok((ply, one?))
        });
        judged.into_iter().collect()
    }

    fn by_playouts(&self, ply: &Ply, playouts: u32) -> Result<ExplainedMove, ReviewError> {
        let mut dice = Dice::new(&self.root.seed("explain", ply.number as u64));
        let expects = self.estimate(ply, ply.deed, playouts, &mut dice)?;
        let best = if ply.legal.len() > 1 || ply.deed == Deed::Fouls {
            self.best(ply, playouts, &mut dice)?
        } else {
            None
        };
        let better = match best {
            Some(best) if ply.deed != Deed::Answers(best) => {
                let score = self.estimate(ply, Deed::Answers(best), playouts, &mut dice)?;
                Some((ply.legal[best].clone(), score))
            }
            _ => None,
        };
        Ok(explained(ply, expects, better))
    }

    /// Judges a move again, with more playouts and other chance: it was picked as the worst
    /// of many, so its loss may be an accident. Estimates stay what they are.
    fn look_closer(&self, ply: &Ply, one: &mut ExplainedMove) -> Result<(), ReviewError> {
        let (ExplainBy::Search { playouts } | ExplainBy::PlayingOn { playouts, .. }) = self.by
        else {
            return Ok(());
        };
        let Some((notation, better)) = &mut one.better else {
            return Ok(());
        };
        let playouts = playouts.saturating_mul(CLOSER);
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
        match self.by {
            ExplainBy::PlayingOn { bot, .. } => {
                self.playing(bot)
                    .estimate(&ply.position(), deed, playouts, dice)
            }
            _ => Ok(search::estimate(table, ply.seat, deed, playouts, dice)),
        }
    }

    /// The answer that should have been given. A search for it is one of its own, so that what the
    /// answer seems to be worth is not the reason why it was picked.
    fn best(
        &self,
        ply: &Ply,
        playouts: u32,
        dice: &mut Dice,
    ) -> Result<Option<usize>, ReviewError> {
        match self.by {
            ExplainBy::PlayingOn { bot, .. } => self.playing(bot).answer(&ply.position()),
            _ => Ok(Some(search::best(
                ply.sitting.table(),
                ply.seat,
                ply.legal.len(),
                playouts.saturating_mul(SEARCHES) / 2,
                dice,
            ))),
        }
    }

    fn playing(&self, bot: &'a dyn InProcessBot) -> Playouts<'a> {
        Playouts {
            bot,
            kind: self.kind,
        }
    }
}

/// Judges a move by what a bot expects of each answer. A foul has no estimate: it gets the last
/// place.
fn by_estimates(bot: &Playouts<'_>, ply: &Ply) -> Result<ExplainedMove, ReviewError> {
    let values = bot.values(&ply.position())?;
    let sure = |score| ExpectedScore { score, error: 0.0 };
    let expects = match ply.deed {
        Deed::Answers(which) => values[which],
        Deed::Fouls => 0.0,
    };
    let best = values
        .iter()
        .enumerate()
        .max_by(|(_, one), (_, other)| one.total_cmp(other));
    let better = best
        .filter(|(_, value)| **value > expects)
        .map(|(best, value)| (ply.legal[best].clone(), sure(*value)));
    Ok(explained(ply, sure(expects), better))
}

impl Explanation {
    /// Each move as programs are told of it. `players` are the names by seat.
    #[must_use]
    pub fn events(&self, players: &PerSeat<String>) -> Vec<ExplainedEvent> {
        let moves = self.moves.iter();
        moves.map(|one| one.event(&players[one.seat])).collect()
    }
}

fn explained(
    ply: &Ply,
    expects: ExpectedScore,
    better: Option<(String, ExpectedScore)>,
) -> ExplainedMove {
    ExplainedMove {
        number: ply.number,
        seat: ply.seat,
        notation: ply.notation.clone(),
        foul: ply.foul,
        expects,
        better,
    }
}

/// The moves of one seat, each with what it was worth by what the seat knew, and the one that turned the
/// game, as a bot with estimates judges them, which has this name.
///
/// # Errors
///
/// As [`explain`].
pub fn explain_seat(
    record: &Record,
    seat: Seat,
    (name, bot): (String, &dyn InProcessBot),
    threads: usize,
) -> Result<(Vec<ExplainedEvent>, ExplanationEvent), ReviewError> {
    let root: Root = "explain".parse().expect("a word is a root");
    let options = ExplainOptions {
        by: ExplainBy::Estimates(bot),
        seat: Some(seat),
        root: &root,
        threads,
    };
    let explained = explain(record, &options)?;
    let moves = explained.events(&record.header.players);
    let turning_point = explained.turning_point.map(|at| moves[at].clone());
    let explanation = ExplanationEvent {
        difference_error: turning_point.as_ref().map(|_| 0.0),
        turning_point,
        bot: Some(name),
        playouts: None,
    };
    Ok((moves, explanation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::tests::played;

    #[test]
    fn the_moves_of_one_seat_are_judged_without_hands_that_it_did_not_know() {
        let root: Root = "one seat".parse().unwrap();
        let options = ExplainOptions {
            by: ExplainBy::Search { playouts: 4 },
            seat: Some(Seat::new(1)),
            root: &root,
            threads: 1,
        };
        let record = played(game("connect_four").unwrap());
        let explanation = explain(&record, &options).unwrap();
        let mut number = 0;
        for one in &explanation.moves {
            number += 2;
            assert_eq!((one.seat, one.number), (Seat::new(1), number));
        }
        let told = explanation.events(&record.header.players);
        assert!(!told.is_empty() && told.iter().all(|one| one.player == "p1"));
        for name in ["mahjong", "big_two"] {
            let refused = explain(&played(game(name).unwrap()), &options);
            assert!(matches!(refused, Err(ReviewError::OpenHands)), "{name}");
        }
    }
}
