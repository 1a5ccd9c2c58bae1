//! Games: how one began, its moves, how it ended, and what bots did wrong.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which game of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GameKey {
    /// The tournament's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tournament: Option<String>,
    /// The match's number in the schedule, from 0.
    #[serde(rename = "match")]
    pub match_number: u32,
    /// The number of the deal. All games of one deal are one group.
    pub group: u64,
    /// Which of the deal's seatings, from 0.
    pub seating: u32,
    /// Its name, which its record has too.
    pub game_id: String,
}

/// A game that is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GameEvent {
    /// Which.
    #[serde(flatten)]
    pub key: GameKey,
    /// Who sat where: a name for each seat.
    pub players: Vec<String>,
    /// The seats of players that only fill a place and do not count.
    pub fillers: Vec<u8>,
    /// Each seat's place, from 1; those who share one have the same. Absent where the game
    /// is void: the system failed, and it counts for nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<Vec<u8>>,
    /// Each seat's score in the game's own unit. Absent where nothing was counted: the game is
    /// void, or a foul ended it and the game has no score for that. `places` say who won.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scores: Option<Vec<i32>>,
    /// What ended it, as the game says; of a void game how the system failed.
    pub reason: String,
    /// What was done wrong, in the order in which it was judged.
    pub fouls: Vec<GameFoul>,
    /// How many moves were made.
    pub plies: u64,
    /// What each seat thought in all, in microseconds.
    pub thought_us: Vec<u64>,
    /// SHA-256 of what was played, in hexadecimal digits.
    pub play_hash: String,
    /// The file of its record. Absent where it lies in the store, or none is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
}

/// A foul and the seat that committed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GameFoul {
    /// The seat, from 0.
    pub seat: u8,
    /// What it did.
    #[serde(flatten)]
    pub foul: FoulEvidence,
}

/// The first foul of a bot in a run, told at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoulEvent {
    /// In which game.
    #[serde(flatten)]
    pub key: GameKey,
    /// The bot's name.
    pub bot: String,
    /// Where it sat, from 0.
    pub seat: u8,
    /// What it did.
    #[serde(flatten)]
    pub foul: FoulEvidence,
    /// The file of the game's record. Absent where it lies in the store, or none is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
}

/// What a bot did wrong, with the evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FoulEvidence {
    /// It could not be started, or nothing answers at its address.
    Unreachable {
        /// What was tried and what came back.
        detail: String,
    },
    /// It did not answer Ready.
    NoStart {
        /// What came instead.
        detail: String,
    },
    /// It does not play this game.
    Unsupported {
        /// What it said.
        detail: String,
    },
    /// Its process ended or its connection broke.
    Crashed {
        /// How.
        detail: String,
    },
    /// It closed the stream before the game was over.
    HungUp,
    /// A person gave up. It ends a seat's part as a foul does, and is none.
    Resigned,
    /// It ended the stream with an error.
    ErrorStatus {
        /// The gRPC status code.
        code: i32,
        /// The status message.
        detail: String,
    },
    /// Its answer can't be read.
    Malformed {
        /// What is wrong with it.
        detail: String,
    },
    /// Its answer names another question.
    WrongNumber {
        /// The question's number.
        expected: u32,
        /// The answer's.
        got: u32,
    },
    /// It answered without a question.
    Unsolicited {
        /// How much, in bytes.
        answer_bytes: u64,
    },
    /// Its answer is too large.
    Oversized {
        /// What is allowed, in bytes.
        limit_bytes: u64,
    },
    /// It sent more than any answer needs.
    Flooded {
        /// What it sent.
        detail: String,
    },
    /// It was late just when the referee was delayed, too often for chance.
    Interfered {
        /// How often.
        detail: String,
    },
    /// Its process used too much memory.
    MemoryExceeded {
        /// The most that was seen, in bytes.
        peak_bytes: u64,
        /// What is allowed, in bytes.
        limit_bytes: u64,
    },
    /// Its move is against the rules.
    Illegal {
        /// The rule.
        detail: String,
    },
    /// It did not answer in time.
    Late {
        /// The time that it had, in microseconds.
        limit_us: u64,
    },
}

/// What a bot did wrong, without the evidence: the kinds of [`FoulEvidence`].
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[expect(
    missing_docs,
    reason = "the variants of FoulEvidence say what they are"
)]
pub enum FoulName {
    Unreachable,
    NoStart,
    Unsupported,
    Crashed,
    HungUp,
    Resigned,
    ErrorStatus,
    Malformed,
    WrongNumber,
    Unsolicited,
    Oversized,
    Flooded,
    Interfered,
    MemoryExceeded,
    Illegal,
    Late,
}

/// Nothing answers at the address of a bot that has played: its games wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BotAwayEvent {
    /// Its name.
    pub bot: String,
    /// What was found at its address.
    pub detail: String,
    /// Longest time for which its games wait, in microseconds.
    pub left_us: u64,
}

/// A bot that was away has answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BotBackEvent {
    /// Its name.
    pub bot: String,
    /// The time that it was away, in microseconds.
    pub away_us: u64,
}

/// A bot takes no further part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BotSetAsideEvent {
    /// Its name.
    pub bot: String,
    /// Why.
    pub reason: SetAsideCause,
    /// Whether its games count for nobody.
    pub annulled: bool,
}

/// Why a bot takes no further part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SetAsideCause {
    /// It did not start.
    NotStarted {
        /// In how many deals.
        deals: u64,
    },
    /// It lost every game of a deal by its own foul.
    Failed {
        /// How many such deals.
        deals: u64,
    },
}

/// A game has begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GameStartedEvent {
    /// Which.
    #[serde(flatten)]
    pub key: GameKey,
    /// Who sits where: a name for each seat.
    pub players: Vec<String>,
}

/// A move of a game that runs. Withheld where the deal is still to be played from other
/// seats and the game has secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MoveEvent {
    /// The game's name.
    pub game_id: String,
    /// Who moved: the seat, from 0.
    pub seat: u8,
    /// Which move of the game, from 1.
    pub number: u64,
    /// The move in the game's notation.
    pub notation: String,
    /// How long it took, in microseconds.
    pub thought_us: u64,
}
