//! Remarks of a schedule besides its results, as data. Printers make the words.

use serde::{Deserialize, Serialize};

use crate::Entrant;

/// A remark on how results came about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "remark", rename_all = "snake_case")]
pub enum Remark {
    /// A pair meets again, since every pairing of the round had a rematch.
    Rematch {
        /// The round, as [`Round::name`](super::Round::name).
        round: String,
        /// The pair.
        players: [Entrant; 2],
    },
    /// An entrant has a second bye, since every pairing of the round had one.
    SecondBye {
        /// The round, as [`Round::name`](super::Round::name).
        round: String,
        /// The entrant that has it.
        entrant: Entrant,
    },
    /// Two with equal points in a match of an elimination, and what put one ahead.
    Tie {
        /// The round, as [`Round::name`](super::Round::name).
        round: String,
        /// The one that is ahead.
        ahead: Entrant,
        /// The other.
        behind: Entrant,
        /// The rule that decided.
        decided_by: Decider,
    },
}

/// The rule that decides between two with equal points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decider {
    /// The sum of the score differences of their games.
    Margins,
    /// The seeding, since the margins were equal too.
    Seeding,
}

/// Reason why an entrant takes no further part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum SetAsideReason {
    /// It started no game of this many deals.
    #[error("did not start in {deals} {}", noun(*deals))]
    NoStart {
        /// Number of deals.
        deals: u64,
    },
    /// It lost every game of this many deals by fouls of its own.
    #[error("failed {deals} {}", noun(*deals))]
    Failed {
        /// Number of deals.
        deals: u64,
    },
}

/// A figure that orders entrants with equal points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TieBreak {
    /// The sum of the opponents' points; a bye counts as the entrant's own points.
    Buchholz,
    /// The sum of the points of defeated opponents, plus half of the points of opponents
    /// with a draw; a bye counts as the entrant's own points.
    SonnebornBerger,
    /// The points of the games.
    GamePoints,
    /// The mean of the opponents' points.
    OpponentsMeanPoints,
}

impl Remark {
    /// In words, with the names that `name` gives.
    #[must_use]
    pub fn words<'a>(&self, name: impl Fn(Entrant) -> &'a str) -> String {
        match self {
            Self::Rematch { round, players } => {
                let [first, second] = players.map(name);
                format!(
                    "{round}: {first} and {second} meet again, since every pairing has a rematch"
                )
            }
            Self::SecondBye { round, entrant } => {
                format!("{round}: {} has a bye again", name(*entrant))
            }
            Self::Tie {
                round,
                ahead,
                behind,
                decided_by,
            } => {
                let (ahead, behind) = (name(*ahead), name(*behind));
                let by = match decided_by {
                    Decider::Margins => "by its margin",
                    Decider::Seeding => "by its seed, with equal margins",
                };
                format!("{round}: {ahead} and {behind} have equal points; {ahead} is ahead {by}")
            }
        }
    }
}

impl TieBreak {
    /// Its name.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Buchholz => "Buchholz",
            Self::SonnebornBerger => "Sonneborn-Berger",
            Self::GamePoints => "game points",
            Self::OpponentsMeanPoints => "opponents' mean points",
        }
    }
}

const fn noun(deals: u64) -> &'static str {
    if deals == 1 { "deal" } else { "deals" }
}
