//! An entry as one who looks is told of it: what the API of the page has, and what programs print.

use arena_events::{
    exam::ExamVerdict,
    replay::{ExplainedEvent, ExplanationEvent},
};
use arena_store::{Entry, EntryState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    EntryDetails, EntryFinding, ExamRules, Fault, RoundGame, Standing, Viewer, verdict_words,
};

/// An entry of a contest. What came of it is absent as long as it is not told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContestEntry {
    /// Its number within the contest.
    pub entry: u64,
    /// The contestant's number.
    pub contestant: u64,
    /// The contestant's name; organisers see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The group of the exam that it is for. Absent where there are no groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// The name of the file.
    pub file: String,
    /// The SHA-256 of the file.
    pub hash: String,
    /// When it was handed in, in milliseconds since 1970.
    pub received_unix_ms: i64,
    /// False if it came after the deadline.
    pub official: bool,
    /// True if it takes one of the places that count.
    pub counted: bool,
    /// `received`, `building`, `playing`, `judged` or `failed`.
    #[schemars(with = "String")]
    pub state: EntryState,
    /// How many entries come before it. Absent once it is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<usize>,
    /// Its points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<i64>,
    /// The cases that were passed, and how many there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<[u32; 2]>,
    /// Why it has no points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// What its build has printed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub log: String,
    /// What a check of the bot has found, before its exam.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<EntryFinding>,
    /// The games of its exam.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub games: Vec<ContestGame>,
    /// Its games in the last rounds of the league and in the final, the newest round first. A list of
    /// entries has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<RoundGame>,
}

/// A game of an exam.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContestGame {
    /// Its number within the entry, from 1.
    pub game: usize,
    /// The group or case that it belongs to.
    pub part: u32,
    /// The same in words: `group 1`, the name of a case, or `start`.
    pub part_words: String,
    /// The opponent.
    pub opponent: String,
    /// The seat of the entry, from 0.
    pub seat: u8,
    /// How it ended for the entry.
    pub verdict: ExamVerdict,
    /// The same in words.
    pub words: String,
    /// Its points.
    pub points: i64,
    /// How many moves were made.
    pub plies: u32,
    /// What the entry did wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foul: Option<String>,
}

/// A game of an entry, explained by what its seat knew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EntryExplanation {
    /// The moves of the entry, each with what it was worth.
    pub moves: Vec<ExplainedEvent>,
    /// The move that turned the game, and who judged it.
    #[serde(flatten)]
    pub explanation: ExplanationEvent,
}

impl Standing {
    /// An entry, as far as one who looks may see what came of it. `details` are what
    /// [`details`](Self::details) gives the same one.
    #[must_use]
    pub fn told(&self, entry: &Entry, details: EntryDetails, viewer: Viewer) -> ContestEntry {
        let outcome = self.outcome(entry, viewer);
        let is_told = outcome.is_some();
        let outcome = outcome.unwrap_or_default();
        let games = (1..).zip(details.games).map(|(number, game)| ContestGame {
            game: number,
            part: game.part,
            part_words: self.part_words(game.part),
            opponent: game.opponent,
            seat: game.seat,
            verdict: game.verdict,
            words: verdict_words(game.verdict).to_owned(),
            points: game.points,
            plies: game.plies,
            foul: game.foul,
        });
        ContestEntry {
            entry: entry.number,
            contestant: entry.contestant,
            name: (viewer == Viewer::Organiser).then(|| self.name_of(entry.contestant, viewer)),
            group: (entry.part > 0).then_some(entry.part),
            file: entry.file.clone(),
            hash: entry.hash.clone(),
            received_unix_ms: entry.received_unix_ms,
            official: entry.place.official,
            counted: entry.place.counted,
            state: entry.state,
            ahead: (!entry.state.is_final()).then(|| self.ahead(entry)),
            score: entry.score.filter(|_| is_told),
            passed: outcome.passed.map(|(passed, of)| [passed, of]),
            fault: outcome.fault,
            log: details.log,
            findings: details.findings,
            games: games.collect(),
            rounds: Vec::new(),
        }
    }

    /// A part of the exam, in words.
    fn part_words(&self, part: u32) -> String {
        match &self.rules.exam {
            ExamRules::Groups { .. } => format!("group {part}"),
            ExamRules::Cases(cases) => {
                let case = cases.get((part as usize).wrapping_sub(1));
                case.map_or_else(String::new, |case| case.name.clone())
            }
            ExamRules::None {} => "start".to_owned(),
        }
    }
}
