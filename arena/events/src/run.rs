//! A run from its start to its end: what is to be played, by whom, under which limits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Games are about to be played. First of all events of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunStartedEvent {
    /// What plays them.
    pub command: RunCommand,
    /// The tournament's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tournament: Option<String>,
    /// The game's name.
    pub game: String,
    /// The version of the game's rules.
    pub rules_version: u32,
    /// Who meets whom in a tournament.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<RunShape>,
    /// How many deals a match has at most.
    pub deals: u64,
    /// From which seatings each deal is played.
    pub seatings: RunSeatings,
    /// How many groups are to be played at most. Absent where there is no end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_groups: Option<u64>,
    /// How many games these have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_games: Option<u64>,
    /// How many games are there from earlier runs of a tournament that is resumed.
    pub stored_games: u64,
    /// How many set-ups the deals take in turn. Which ones is told when all is over,
    /// since a set-up may be a whole deal.
    pub setup_count: u64,
    /// What each bot is allowed.
    pub limits: RunLimits,
    /// Who plays. In a match and an exam the first is bot 0 of the groups.
    pub bots: Vec<RunBot>,
    /// The SPEC of the bot that fills empty seats. It does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filler: Option<String>,
    /// SHA-256 of the root that decides every deal, in hexadecimal digits. Absent where
    /// each part of an exam has a root of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_commitment: Option<String>,
    /// Whether the root was typed, so that the same deals are played again.
    pub reproduction: bool,
    /// The test that stops a match between two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sprt: Option<RunSprt>,
    /// After how long no more games are begun, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit_us: Option<u64>,
    /// How it is prevented that a bot knows a deal from an earlier seating.
    pub isolation: RunIsolation,
    /// The walls around bots that are somebody's programs. Absent where there is no such bot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<RunSandbox>,
    /// The folder of the records and logs. Absent where records lie in the store, or none
    /// are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<String>,
    /// What an exam examines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exam: Option<ExamPlan>,
}

/// What plays games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunCommand {
    /// `arena match`.
    Match,
    /// `arena tournament run` and `resume`.
    Tournament,
    /// `arena exam`.
    Exam,
    /// `arena demo`.
    Demo,
}

/// Who meets whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum RunShape {
    /// Everybody meets everybody.
    RoundRobin,
    /// The first bots meet each of the others.
    Gauntlet {
        /// How many of the first bots do.
        challengers: u32,
    },
    /// In each round those with as many points meet.
    Swiss {
        /// How many rounds. Absent: as many as leave one bot that has won them all.
        #[serde(skip_serializing_if = "Option::is_none")]
        rounds: Option<u32>,
    },
    /// A bot that loses a match is out.
    SingleElimination {
        /// Whether the losers of the semi-finals play for the third place.
        third_place: bool,
    },
    /// A bot that loses two matches is out.
    DoubleElimination,
    /// In each round those with similar ratings meet.
    Ladder {
        /// How many rounds. Absent: without an end.
        #[serde(skip_serializing_if = "Option::is_none")]
        rounds: Option<u32>,
    },
    /// One round in which those meet whom its file lists.
    Listed,
}

/// From which seatings a deal is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunSeatings {
    /// Each bot sits once in each seat: 2 seatings for two bots, 4 for four.
    Rotations,
    /// Every order of the bots: 24 seatings for four.
    All,
}

/// What a bot is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunLimits {
    /// From the start to Ready, in microseconds.
    pub start_us: u64,
    /// For one move, in microseconds. An answer at exactly this time is late.
    pub move_us: u64,
    /// For all moves of a game, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_us: Option<u64>,
    /// The largest answer, in bytes.
    pub answer_bytes: u64,
    /// What a process may use beyond what it had at its start, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

/// A bot that takes part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunBot {
    /// Its name, by which all other events mean it.
    pub name: String,
    /// Which version of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How to start or reach it, as a SPEC.
    pub spec: String,
    /// Who owns it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
}

/// A sequential probability ratio test: H0 says that the first bot is `elo0` stronger, H1
/// that it is `elo1` stronger.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunSprt {
    /// The difference under H0, in Elo of the model.
    pub elo0: f64,
    /// The difference under H1, in Elo of the model.
    pub elo1: f64,
    /// How often H1 may be accepted where H0 is true, from 0 to 1.
    pub alpha: f64,
    /// How often H0 may be accepted where H1 is true, from 0 to 1.
    pub beta: f64,
    /// Which Elo.
    pub model: EloModel,
}

/// Which Elo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EloModel {
    /// In units of the spread of the results: it does not depend on how many are draws.
    Normalized,
    /// By the logistic curve.
    Logistic,
}

/// How it is prevented that a bot knows a deal from an earlier seating of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunIsolation {
    /// The game has no secrets, so nothing need be prevented.
    NotNeeded,
    /// Fresh processes play each seating, and nothing outlives them.
    Full,
    /// Fresh processes play each seating. The walls around a bot are less than whole, and
    /// what it writes to disk or shares with others may outlive them.
    FreshProcesses,
    /// A bot runs outside the arena's control, so each game has a deal of its own.
    OwnDeals,
}

/// The walls around bots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunSandbox {
    /// What holds, in words: `bubblewrap, landlock 7, seccomp, cgroup v1; nothing missing`, or
    /// `off`.
    pub walls: String,
    /// The walls that do not hold.
    pub missing: Vec<MissingWall>,
}

/// A wall that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingWall {
    /// Its name.
    pub wall: String,
    /// What a bot can do without it.
    pub consequence: String,
    /// What to install or to delegate.
    pub remedy: String,
    /// Why it could not be built, in the system's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What an exam examines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExamPlan {
    /// The names of its parts, in order.
    pub parts: Vec<String>,
    /// Whether the exam's limits of time and memory are enforced.
    pub enforced: bool,
}

/// No more games are begun; those that run are finished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoppingEvent {
    /// Why.
    pub reason: StopCause,
}

/// Why no more games are begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// Somebody asked for it, by a signal or otherwise.
    Asked,
    /// The run's time is used up.
    TimeUp,
}

/// A run is over. Last of all its events but the standings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunEndedEvent {
    /// How it ended.
    pub end: RunOutcome,
    /// How many games this run has played and counted.
    pub games: u64,
    /// How many games were begun before the match was decided, and do not count.
    pub excluded_games: u64,
    /// How many deals were played from some seatings and not from all.
    pub half_deals: u64,
    /// The names of the bots that never started a game.
    pub never_started: Vec<String>,
    /// The root, by which the same deals can be played again. Absent while deals are
    /// secret, and where it was read from a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// The set-ups that the deals took in turn, each as the game defines it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setups: Option<Vec<Value>>,
    /// The folder of the records and logs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<String>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// All games were played.
    Completed,
    /// The test decided the match.
    Decided,
    /// Somebody stopped it.
    Stopped,
    /// Its time was used up.
    TimedOut,
    /// A bot did not start, so it was given up.
    NotStarted,
}

/// What `run.json` in the folder of a run says: how it began and, once it is over, how it
/// ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunFile {
    /// [`VERSION`](crate::VERSION).
    pub version: u32,
    /// When it began, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began_unix_ms: Option<i64>,
    /// How it began.
    pub started: RunStartedEvent,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<RunEndedEvent>,
}
