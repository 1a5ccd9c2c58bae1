//! Requests to bots for people: hints and evaluations. A request is values alone, so that another
//! process can answer it, whose memory and time are bounded and which games do not wait for.

use std::sync::Arc;

use arena_contest::EntryExplanation;
use arena_play::{HintError, SeatQuestion};
use arena_review::{ExpectedScore, explain_seat, line};
use referee_core::{PerSeat, Record, Seat};
use referee_games::game;
use serde::{Deserialize, Serialize};

use crate::expectation::{self, ChooseBot};

/// A line has so many moves.
const LINE: usize = 6;

/// A request to a bot.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdviceRequest {
    /// The move that it would play.
    Hint(SeatQuestion),
    /// The share of the points that each seat can expect, as this one can know it.
    Estimate(SeatQuestion),
    /// The share of the points that each seat could expect before each move of this record.
    Course(String),
    /// The moves with which it would go on after so many moves of this record, in every seat.
    Line {
        /// The record.
        record: String,
        /// The number of moves that are played.
        after: usize,
    },
    /// What the moves of one seat were worth, by what it knew.
    Explanation {
        /// The record.
        record: String,
        /// The seat.
        seat: u8,
    },
}

/// The answer of the bot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// Its answer, as a message.
    Hint {
        /// Its name.
        bot: String,
        /// The message.
        answer: Vec<u8>,
    },
    /// Shares of the points, a seat each.
    Estimate {
        /// Its name.
        bot: String,
        /// The shares.
        shares: Vec<ExpectedScore>,
    },
    /// The same before each move, and at last what the seats got.
    Course {
        /// Its name; none where positions were searched by random playouts.
        bot: Option<String>,
        /// The shares.
        plies: Vec<Vec<ExpectedScore>>,
    },
    /// The next moves, each with the seat that plays it.
    Line {
        /// Its name.
        bot: String,
        /// The moves, in the notation of the game.
        moves: Vec<(Seat, String)>,
    },
    /// What the moves of one seat were worth.
    Explanation(EntryExplanation),
}

/// Reason why there is no advice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoAdvice {
    /// No bot is there for this game.
    #[error("there is no bot for this game")]
    NoBot,
    /// The bot has failed, or has used up its time or memory.
    #[error("{0}")]
    Failed(String),
}

/// Answers requests. It may block, and is called on threads of the lowest priority.
pub type Adviser = Arc<dyn Fn(&AdviceRequest) -> Result<Advice, NoAdvice> + Send + Sync>;

/// Answers a request in this process: hints and lines are those of `hinter`'s bots,
/// estimates those of `analyst`'s.
///
/// # Errors
///
/// [`NoAdvice`].
pub fn advise(
    request: &AdviceRequest,
    hinter: &ChooseBot,
    analyst: &ChooseBot,
) -> Result<Advice, NoAdvice> {
    let failed = |error: &dyn std::error::Error| NoAdvice::Failed(error.to_string());
    let of_bot = |error| match error {
        HintError::Bot(error) => failed(&*error),
        HintError::NotAsked => failed(&error),
    };
    let bot_for = |question: &SeatQuestion, choose: &ChooseBot| {
        let info = question.info().ok_or(NoAdvice::NoBot)?;
        choose(info).ok_or(NoAdvice::NoBot)
    };
    match request {
        AdviceRequest::Hint(question) => {
            let (bot, player) = bot_for(question, hinter)?;
            let answer = question.answer(&*player).map_err(of_bot)?.to_vec();
            Ok(Advice::Hint { bot, answer })
        }
        AdviceRequest::Estimate(question) => {
            let (bot, player) = bot_for(question, analyst)?;
            let shares = question.estimate(&*player).map_err(of_bot)?;
            let shares = shares.as_slice().to_vec();
            Ok(Advice::Estimate { bot, shares })
        }
        AdviceRequest::Course(record) => {
            let record = Record::parse(record).map_err(|error| failed(&error))?;
            let course =
                expectation::evaluated(&record, analyst).map_err(|error| failed(&error))?;
            let plies = course.plies.iter();
            let plies = plies.map(|shares: &PerSeat<_>| shares.as_slice().to_vec());
            Ok(Advice::Course {
                plies: plies.collect(),
                bot: course.by,
            })
        }
        AdviceRequest::Line { record, after } => {
            let record = Record::parse(record).map_err(|error| failed(&error))?;
            let kind = game(&record.header.game).ok_or(NoAdvice::NoBot)?;
            let (bot, player) = hinter(kind.info()).ok_or(NoAdvice::NoBot)?;
            let moves = line(&record, *after, &*player, LINE).map_err(|error| failed(&error))?;
            Ok(Advice::Line { bot, moves })
        }
        AdviceRequest::Explanation { record, seat } => {
            let record = Record::parse(record).map_err(|error| failed(&error))?;
            let info = game(&record.header.game).ok_or(NoAdvice::NoBot)?.info();
            let (bot, analyst) = analyst(info).ok_or(NoAdvice::NoBot)?;
            let judge = (bot, &*analyst);
            let explained = explain_seat(&record, Seat::new(*seat), judge, 1);
            let (moves, explanation) = explained.map_err(|error| failed(&error))?;
            Ok(Advice::Explanation(EntryExplanation { moves, explanation }))
        }
    }
}
