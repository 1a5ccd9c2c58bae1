//! Exams: one bot, its games, its marks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::game::FoulEvidence;

/// A game of an exam.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExamGameEvent {
    /// The part of the exam that it belongs to.
    pub part: String,
    /// The opponent's name.
    pub opponent: String,
    /// Where the examined bot sat, from 0.
    pub seat: u8,
    /// How the game ended for the examined bot.
    pub verdict: ExamVerdict,
    /// What it brought, in the exam's own unit.
    pub marks: i64,
    /// What ended the game, as the game says; of a void game how the system failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the examined bot did wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foul: Option<FoulEvidence>,
    /// How many moves were made.
    pub plies: u64,
    /// What the examined bot thought in all, in microseconds.
    pub thought_us: u64,
    /// SHA-256 of what was played, in hexadecimal digits.
    pub play_hash: String,
    /// The file of its record. Absent where none is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
}

/// How a game ended for the examined bot, as the exam's rules name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExamVerdict {
    /// It was first alone.
    Win,
    /// It shared the first place.
    Draw,
    /// It was not first.
    Loss,
    /// It lost by an illegal move.
    IllegalMove,
    /// It lost on time.
    TimeLimitExceeded,
    /// It lost by using too much memory.
    MemoryLimitExceeded,
    /// It lost by an answer that was too large.
    OutputLimitExceeded,
    /// It lost by any other foul.
    RuntimeError,
    /// The system failed: the game counts for nothing.
    SystemError,
}

/// A group of games of an exam is over; in `exam` the same of each part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExamGroupEvent {
    /// Its name.
    pub part: String,
    /// How many games were played.
    pub games: u64,
    /// What they brought, in the exam's own unit.
    pub marks: i64,
    /// The most that they can bring. Absent where there is no such limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_marks: Option<i64>,
}

/// A case of an exam is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExamCaseEvent {
    /// Its name.
    pub part: String,
    /// How it ended.
    pub end: ExamCaseEnd,
    /// What its games brought, in the exam's own unit.
    pub marks: i64,
    /// What is needed to pass.
    pub min_marks: i64,
    /// How many games were played.
    pub games: u64,
    /// What the bot thought in all, in microseconds.
    pub thought_us: u64,
    /// What it may think in all, in microseconds.
    pub budget_us: u64,
    /// The most memory that it used beyond what it had at its start, in bytes. Absent where
    /// the arena did not start it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// What it may use, in bytes.
    pub memory_limit_bytes: u64,
    /// Whether time and memory are enforced.
    pub enforced: bool,
}

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExamCaseEnd {
    /// With enough marks.
    Passed,
    /// With too few marks.
    Failed,
    /// The bot used too much memory.
    TooMuchMemory,
    /// It was stopped before all games were played.
    Stopped,
}

/// An exam is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExamEvent {
    /// The game that was examined.
    pub game: String,
    /// The examined bot's name.
    pub bot: String,
    /// Its marks in each part.
    pub parts: Vec<ExamGroupEvent>,
    /// All its marks.
    pub marks: i64,
    /// The most marks that can be reached. Absent where there is no such limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_marks: Option<i64>,
    /// How many cases were passed. Absent in an exam without cases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed_cases: Option<u64>,
    /// Everybody's best, in order. Absent where no scoreboard is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scoreboard: Option<Vec<ExamRank>>,
}

/// A rank in the scoreboard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExamRank {
    /// The rank, from 1; those who share one have the same.
    pub rank: u64,
    /// The bot's name.
    pub bot: String,
    /// The sum of its best marks of each part.
    pub marks: i64,
    /// How many parts it has tried.
    pub parts: u64,
}
