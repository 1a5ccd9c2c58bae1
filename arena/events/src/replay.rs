//! Replays: records that are proved, explained, or put to another bot.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::game::FoulEvidence;

/// The result of playing a record again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayedEvent {
    /// The record's file. Absent where it lies in a store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
    /// The game's name in its run. Absent where the record can't be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_id: Option<String>,
    /// Whether the game that it describes is what its moves lead to.
    pub proved: bool,
    /// The name of what is played. Absent where it is not proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game: Option<String>,
    /// SHA-256 of what was played, in hexadecimal digits. Absent where it is not proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub play_hash: Option<String>,
    /// Where it differs, or why it can't be read. Absent where it is proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A move and what it was worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedEvent {
    /// Which move of the game, from 1.
    pub number: u64,
    /// Who moved: the seat, from 0.
    pub seat: u8,
    /// The player's name.
    pub player: String,
    /// The move in the game's notation. Absent where it was a foul.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notation: Option<String>,
    /// What the seat could expect after it.
    pub expects: ExpectedScore,
    /// A better move. Absent where none was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub better: Option<BetterMove>,
}

/// A share of the points that is to be expected.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExpectedScore {
    /// The mean, from 0 to 1, which is the first place alone.
    pub score: f64,
    /// Its standard error.
    pub error: f64,
}

/// A better move than the one that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BetterMove {
    /// The move in the game's notation.
    pub notation: String,
    /// What the seat could have expected after it.
    pub expects: ExpectedScore,
}

/// A game is explained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplanationEvent {
    /// The move that turned the game, looked at again with more playouts. Absent where no
    /// single move turned it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turning_point: Option<ExplainedEvent>,
    /// The standard error of the difference between the two moves of the turning point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference_error: Option<f64>,
    /// The SPEC of the bot that judged the moves. Absent where they were searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bot: Option<String>,
    /// How many playouts each move had, by the bot in every seat or in a search. Absent where the
    /// bot has estimates of its own, whose errors are given as 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub playouts: Option<u64>,
}

/// What another bot answers in a game that was played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RerunAnswerEvent {
    /// Which move of the game, from 1.
    pub number: u64,
    /// The move that was made. Absent where it was a foul.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub played: Option<String>,
    /// The bot's move. Absent where it is a foul.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notation: Option<String>,
    /// The bot's foul. Absent where it moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foul: Option<FoulEvidence>,
    /// Whether both are the same.
    pub same: bool,
    /// How long the bot thought, in microseconds.
    pub thought_us: u64,
    /// The time that it had, in microseconds.
    pub limit_us: u64,
}

/// A seat of a game has been put to another bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RerunEvent {
    /// The bot's name.
    pub bot: String,
    /// The seat, from 0.
    pub seat: u8,
    /// How it ended.
    pub end: RerunOutcome,
    /// How many moves the bot was asked for.
    pub asked: u64,
    /// How many of them were the same.
    pub same: u64,
    /// How many were fouls.
    pub fouls: u64,
    /// The number of the first move that was not the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_difference: Option<u64>,
}

/// How a rerun ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RerunOutcome {
    /// The bot was asked for every move.
    Completed,
    /// The bot gave another answer and can't be resumed in the middle of a game.
    CanNotResume,
    /// The bot did not start.
    NotStarted {
        /// Why.
        foul: FoulEvidence,
    },
}
