//! What came of an entry, as the store keeps it and its owner is shown it.

use arena_events::exam::ExamVerdict;
use arena_store::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ladder::LadderState;

/// What came of an entry so far, in few words: lists have it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryOutcome {
    /// Why there is no score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// The cases of its exam that were passed, and of how many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<(u32, u32)>,
    /// How often our own failure has let it be judged anew.
    #[serde(default)]
    pub again: u32,
    /// The last failure of our own, for organisers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ours: Option<String>,
}

/// All that builds and games said of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryDetails {
    /// What the build has printed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub log: String,
    /// What a check of the bot has found, before its exam.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<EntryFinding>,
    /// The games of its exam.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub games: Vec<PlayedGame>,
}

/// Something that is wrong with a bot, as `arena check` says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EntryFinding {
    /// Its name, as in `docs/check.md`.
    pub name: String,
    /// True if the bot is not fit to enter; false for what will cost it games or somebody's time.
    pub is_fault: bool,
    /// What was seen.
    pub seen: String,
    /// What is expected of a bot.
    pub expected: String,
    /// What to do.
    pub fix: String,
}

impl EntryOutcome {
    /// What the store keeps of an entry.
    pub(crate) fn of(entry: &Entry) -> Self {
        let outcome = entry.outcome.clone().unwrap_or_default();
        serde_json::from_value(outcome).unwrap_or_default()
    }
}

/// As the store keeps it.
pub(crate) fn kept(what: &impl Serialize) -> Value {
    serde_json::to_value(what).expect("it is JSON")
}

/// What an entry has reached in a round of the league, or in the final.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntryShare {
    /// The entry.
    pub entry: u64,
    /// Its share of the points, in percent.
    pub percent: f64,
    /// Number of its games.
    pub games: u64,
}

/// What came of a round of the league, or of the final.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MeetingResult {
    /// The share of each entry, where everybody met everybody.
    Shares(Vec<EntryShare>),
    /// What is known of a ladder after this round.
    Ladder(LadderState),
}

/// Why an entry has no score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// In a word, as verdicts are.
    pub verdict: String,
    /// What was expected.
    pub words: String,
}

/// A game of an exam.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayedGame {
    /// The tournament that it belongs to.
    pub tournament: String,
    /// Its deal.
    pub group: u64,
    /// Its seating.
    pub seating: u32,
    /// Part of the exam: the number of the group, or of the case.
    pub part: u32,
    /// The opponent.
    pub opponent: String,
    /// The seat of the entry.
    pub seat: u8,
    /// How it ended for the entry.
    pub verdict: ExamVerdict,
    /// Its points.
    pub points: i64,
    /// Number of moves.
    pub plies: u32,
    /// The foul of the entry, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foul: Option<String>,
}
