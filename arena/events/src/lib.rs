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
pub mod people;
pub mod replay;
pub mod run;
pub mod schedule;
pub mod solve;
pub mod standings;
pub mod tournament;
pub mod worker;

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
#[expect(missing_docs, reason = "the types of the variants say what they are")]
pub enum Event {
    RunStarted(run::RunStartedEvent),
    GameStarted(game::GameStartedEvent),
    Move(game::MoveEvent),
    Game(game::GameEvent),
    Foul(game::FoulEvent),
    BotAway(game::BotAwayEvent),
    BotBack(game::BotBackEvent),
    BotSetAside(game::BotSetAsideEvent),
    Stopping(run::StoppingEvent),
    RunEnded(run::RunEndedEvent),
    Standings(standings::StandingsEvent),
    Figures(figures::FiguresEvent),
    Schedule(schedule::ScheduleEvent),
    Tournament(tournament::TournamentEvent),
    Verified(tournament::VerifiedEvent),
    Bot(bot::BotEvent),
    BotChecked(bot::BotCheckedEvent),
    ExamGame(exam::ExamGameEvent),
    ExamGroup(exam::ExamGroupEvent),
    ExamCase(exam::ExamCaseEvent),
    Exam(exam::ExamEvent),
    CheckStarted(check::CheckStartedEvent),
    CheckStage(check::CheckStageEvent),
    Finding(check::FindingEvent),
    CheckEnded(check::CheckEndedEvent),
    PossibleFinding(check::PossibleFindingEvent),
    Villain(check::VillainEvent),
    RefereeChecked(check::RefereeCheckedEvent),
    Selftest(check::SelftestEvent),
    Replayed(replay::ReplayedEvent),
    Explained(replay::ExplainedEvent),
    Explanation(replay::ExplanationEvent),
    RerunAnswer(replay::RerunAnswerEvent),
    Rerun(replay::RerunEvent),
    Solved(solve::SolvedEvent),
    Turn(people::TurnEvent),
    Slip(people::SlipEvent),
    Worker(worker::WorkerEvent),
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
