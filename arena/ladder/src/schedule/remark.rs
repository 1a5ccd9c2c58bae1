//! What a schedule reports beside its results, as data: who prints it makes the
//! words.

use serde::{Deserialize, Serialize};

use crate::Entrant;

/// What a reader of the results should know about how they came about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "remark", rename_all = "snake_case")]
pub enum Remark {
    /// Two meet again, since every pairing of the round had a rematch.
    Rematch {
        /// The round, as [`Round::name`](super::Round::name).
        round: String,
        /// The two.
        players: [Entrant; 2],
    },
    /// An entrant that had a bye has another one, since every pairing of the round
    /// gave somebody a second bye.
    SecondBye {
        /// The round, as [`Round::name`](super::Round::name).
        round: String,
        /// Who has it.
        entrant: Entrant,
    },
    /// Two that had as many points in a match of an elimination had to be ordered.
    Tie {
        /// The round, as [`Round::name`](super::Round::name).
        round: String,
        /// Who is ahead of the other now.
        ahead: Entrant,
        /// The other.
        behind: Entrant,
        /// What decided.
        decided_by: Decider,
    },
}

/// What orders two with as many points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decider {
    /// The sum of the score differences of their games.
    Margins,
    /// The seeding, since the margins were equal too.
    Seeding,
}

/// Why an entrant takes no further part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum SetAsideReason {
    /// It started no game of some deals.
    #[error("did not start in {deals} {}", noun(*deals))]
    NoStart {
        /// How many.
        deals: u64,
    },
    /// It lost every game of some deals by fouls of its own.
    #[error("failed {deals} {}", noun(*deals))]
    Failed {
        /// How many.
        deals: u64,
    },
}

/// A figure that orders those who have as many points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TieBreak {
    /// The sum of the points of one's opponents; a bye counts as one's own points.
    Buchholz,
    /// The sum of the points of the opponents that one has beaten, and half of the
    /// points of those that one has drawn.
    SonnebornBerger,
    /// The points of single games.
    GamePoints,
    /// The mean of the points of one's opponents.
    OpponentsMeanPoints,
}

impl Remark {
    /// In words, with the names that `name` gives.
    #[must_use]
    pub fn words<'a>(&self, name: impl Fn(Entrant) -> &'a str) -> String {
        match self {
            Self::Rematch { round, players } => {
                let [first, second] = players.map(name);
                format!("{round}: {first} and {second} meet again, since no pairing was without")
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
                    Decider::Margins => "the margins were for",
                    Decider::Seeding => "so were the margins, and the better seed is",
                };
                format!("{round}: {ahead} and {behind} were level on points; {by} {ahead}")
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
