//! The result of a game: what the rules say, and what the referee declares.

use serde::{Deserialize, Serialize};

use crate::{Foul, PerSeat, Seat, Words};

/// The result of a game that is over, as the rules say it. The rules give the reason as data,
/// and a record has it in English.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome<R = String> {
    /// Each seat's place from 1, the best; seats that share one have the same.
    pub places: PerSeat<u8>,
    /// Each seat's score, in the unit of the game.
    pub scores: PerSeat<i32>,
    /// Reason why the game ended.
    pub reason: R,
}

impl<R> Outcome<R> {
    /// The outcome of a game of two.
    #[must_use]
    pub fn of_two(places: [u8; 2], scores: [i32; 2], reason: R) -> Self {
        Self {
            places: places.to_vec().into(),
            scores: scores.to_vec().into(),
            reason,
        }
    }
}

impl<R: Into<Words>> Outcome<R> {
    /// The outcome as a record has it, and the reason in each language.
    pub(crate) fn in_words(self) -> (Outcome, Words) {
        let words = self.reason.into();
        let outcome = Outcome {
            places: self.places,
            scores: self.scores,
            reason: words.english.clone(),
        };
        (outcome, words)
    }
}

/// A foul and who committed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatFoul {
    /// The seat.
    pub seat: Seat,
    /// The foul that it committed.
    pub foul: Foul,
}

/// The declaration of the referee on a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The game counts.
    Finished {
        /// Places and scores.
        outcome: Outcome,
        /// All fouls, in the order in which they were judged.
        fouls: Vec<SeatFoul>,
    },
    /// The referee failed: the game counts for nobody and is played again.
    Void {
        /// Reason why the referee failed.
        reason: String,
    },
}

impl Verdict {
    /// The foul of a seat, if it committed one.
    #[must_use]
    pub fn foul(&self, seat: Seat) -> Option<&Foul> {
        match self {
            Self::Finished { fouls, .. } => fouls
                .iter()
                .find(|foul| foul.seat == seat)
                .map(|foul| &foul.foul),
            Self::Void { .. } => None,
        }
    }

    /// The texts in it.
    pub(crate) fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Finished { outcome, fouls } => {
                let fouls = fouls.iter_mut();
                let fouls = fouls.filter_map(|foul| foul.foul.text_mut());
                fouls.chain([&mut outcome.reason]).collect()
            }
            Self::Void { reason } => vec![reason],
        }
    }

    /// The outcome, if the game counts.
    #[must_use]
    pub const fn outcome(&self) -> Option<&Outcome> {
        match self {
            Self::Finished { outcome, .. } => Some(outcome),
            Self::Void { .. } => None,
        }
    }
}
