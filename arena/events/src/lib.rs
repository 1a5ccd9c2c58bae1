//! What the `arena` program tells other programs: a type for every line that it prints as
//! JSON, and the JSON Schema of them.
//!
//! This is plain data. It plays nothing, prints nothing, has no words for people, and knows
//! no other crate of the workspace. `docs/events.md` says what comes when.
//!
//! The names are the same everywhere: `game` is a game's name as users type it
//! (`connect-four`), bots are meant by name, `seat` counts from 0 and `rank` from 1,
//! `group` is the number of a deal, `points` are those of whole games, `score` is a share
//! from 0 to 1. The end of a name says the unit: `_us` microseconds, `_bytes` bytes,
//! `_unix_ms` milliseconds since 1970. A missing value is absent, never null.

#![forbid(unsafe_code)]

pub mod bot;
pub mod check;
pub mod exam;
pub mod figures;
pub mod game;
pub mod replay;
pub mod run;
pub mod schedule;
pub mod standings;
pub mod tournament;

use std::fmt;

use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the format. It becomes larger when something is removed, renamed or means
/// something else; it stays when events, fields or values are added.
pub const VERSION: u32 = 1;

/// One line of the stream: one JSON object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// [`VERSION`].
    pub version: u32,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened, or what was found. `type` says which.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// Games are about to be played.
    RunStarted(run::RunStartedEvent),
    /// A game has begun.
    GameStarted(game::GameStartedEvent),
    /// A move of a game that runs.
    Move(game::MoveEvent),
    /// A game is over.
    Game(game::GameEvent),
    /// The first foul of a bot.
    Foul(game::FoulEvent),
    /// A bot takes no further part.
    BotSetAside(game::BotSetAsideEvent),
    /// No more games are begun.
    Stopping(run::StoppingEvent),
    /// A run is over.
    RunEnded(run::RunEndedEvent),
    /// What the results say.
    Standings(standings::StandingsEvent),
    /// What was counted and measured beside the results.
    Figures(figures::FiguresEvent),
    /// What a tournament would play.
    Schedule(schedule::ScheduleEvent),
    /// A tournament that is in the store.
    Tournament(tournament::TournamentEvent),
    /// What came of the proof of a tournament.
    Verified(tournament::VerifiedEvent),
    /// A version of a bot that is registered.
    Bot(bot::BotEvent),
    /// Whether a registered bot plays a game.
    BotChecked(bot::BotCheckedEvent),
    /// A game of an exam.
    ExamGame(exam::ExamGameEvent),
    /// A group of games of an exam is over.
    ExamGroup(exam::ExamGroupEvent),
    /// A case of an exam is over.
    ExamCase(exam::ExamCaseEvent),
    /// An exam is over.
    Exam(exam::ExamEvent),
    /// A bot is about to be checked.
    CheckStarted(check::CheckStartedEvent),
    /// A stage of a check is over.
    CheckStage(check::CheckStageEvent),
    /// Something that is wrong with a bot.
    Finding(check::FindingEvent),
    /// A bot has been checked.
    CheckEnded(check::CheckEndedEvent),
    /// Something that could be wrong with a bot.
    PossibleFinding(check::PossibleFindingEvent),
    /// What a referee said to a bot that misbehaves on purpose.
    Villain(check::VillainEvent),
    /// A referee has been checked.
    RefereeChecked(check::RefereeCheckedEvent),
    /// A check of this machine.
    Selftest(check::SelftestEvent),
    /// What came of playing a record again.
    Replayed(replay::ReplayedEvent),
    /// A move and what it was worth.
    Explained(replay::ExplainedEvent),
    /// A game is explained.
    Explanation(replay::ExplanationEvent),
    /// What another bot answers in a game that was played.
    RerunAnswer(replay::RerunAnswerEvent),
    /// A seat of a game has been put to another bot.
    Rerun(replay::RerunEvent),
}

impl From<Event> for Line {
    /// The line of this version.
    fn from(event: Event) -> Self {
        Self {
            version: VERSION,
            event,
        }
    }
}

impl fmt::Display for Line {
    /// One JSON object, without a line break.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

/// The JSON Schema of [`Line`], as it is written.
#[must_use]
pub fn schema() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with_transform(RecursiveTransform(without_null));
    settings.into_generator().into_root_schema_for::<Line>()
}

/// Removes null from the schema of an `Option`: a missing value is absent.
fn without_null(schema: &mut Schema) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|one| one != "null");
        if let [one] = &types[..] {
            let one = one.clone();
            schema.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(either)) = schema.get("anyOf")
        && let [Value::Object(some), null] = &either[..]
        && null["type"] == "null"
    {
        let some = some.clone();
        schema.remove("anyOf");
        schema.ensure_object().extend(some);
    }
}
