//! Checks: of a bot, of a referee, and of this machine.

use std::{borrow::Cow, collections::BTreeMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    game::{FoulEvidence, FoulName},
    run::RunLimits,
};

/// A bot is about to be checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckStartedEvent {
    /// How the bot is started or reached, as a SPEC.
    pub spec: String,
    /// The names of the games that it must play. Absent: those that it serves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub games: Option<Vec<String>>,
    /// What the bot is allowed.
    pub limits: RunLimits,
    /// Whether the stages that take long are left out.
    pub quick: bool,
    /// Whether warnings make a bot unfit.
    pub strict: bool,
    /// The folder of the records and logs. Absent where none are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<String>,
}

/// A stage of a check is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckStageEvent {
    /// The game's name. Absent where the stage is of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game: Option<String>,
    /// Which stage.
    pub stage: CheckStage,
    /// What came of it: the worst of its findings.
    pub result: StageResult,
    /// What was found.
    pub findings: Vec<FindingName>,
    /// Why it was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<SkipCause>,
    /// What the bot says of itself, in the stage `start`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<ReadyAnswer>,
    /// How often each call was put to it, in the stage `calls`; 0 for one that was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<BTreeMap<String, u64>>,
    /// What was counted and measured.
    pub figures: BTreeMap<StageFigure, u64>,
}

/// A stage of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckStage {
    /// It is started and sent GameStart.
    Start,
    /// Health, reflection, and a service that it does not have.
    Discovery,
    /// Games from each seat, from the usual beginning.
    WholeGames,
    /// The first moves from other beginnings.
    FirstMoves,
    /// Which calls were put to it.
    Calls,
    /// Games that go on in another stream.
    Resumed,
    /// Fields and notices that it can't know.
    NewFields,
    /// Several games at once.
    AtOnce,
    /// How close to the limit it answers.
    Deadlines,
    /// Streams that are cancelled.
    Cancelled,
    /// Whether its memory grows.
    Memory,
    /// Whether it ends when it is told to.
    Stop,
    /// How much it prints.
    Output,
}

/// What came of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StageResult {
    /// Nothing was found.
    Ok,
    /// There are warnings.
    Warning,
    /// There are faults.
    Fault,
    /// It was skipped.
    Skipped,
}

/// Why a stage was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkipCause {
    /// The arena did not start the bot.
    NotStartedByArena,
    /// The bot was too slow to be ready for another game.
    SlowInAnotherGame,
    /// The game has no other beginnings.
    NoOtherBeginnings,
    /// The bot does not say that it can be resumed.
    CanNotResume,
    /// The bot says that it plays one game at a time.
    OneGameAtATime,
    /// The bot was asked nothing.
    AskedNothing,
    /// It was not requested.
    NotRequested,
    /// Too few games could be played to tell growth from warming up.
    TooFewGames,
    /// Memory grew, and the bot's runtime may not have collected its garbage yet: growth can't be
    /// told from garbage.
    HeapNotCollected,
    /// The process had ended.
    ProcessEnded,
    /// A foul ended it.
    CutShortByFoul,
    /// The bot committed a foul in a whole game.
    FoulInWholeGame,
    /// The bot can't be reached any more, and the arena can't start it again.
    BotGone,
}

/// What a bot says of itself in Ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadyAnswer {
    /// Its name.
    pub bot: String,
    /// Its version.
    pub version: String,
    /// How many games a process plays at once. Absent where it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_games: Option<u64>,
    /// Whether it can be resumed in the middle of a game.
    pub can_resume: bool,
}

/// What is counted or measured in a stage.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum StageFigure {
    /// Until it was ready, in microseconds.
    ReadyUs,
    /// Games that were played.
    Games,
    /// Games that were asked for.
    WantedGames,
    /// Games that were cut short.
    CutGames,
    /// After how long they were, in microseconds.
    CutAfterUs,
    /// Beginnings, or positions, that were tried.
    Beginnings,
    /// How many of them the bot refused, as it says it would.
    Refused,
    /// Games that were played at once.
    GamesAtOnce,
    /// Games at once that the bot says it can play.
    MaxGames,
    /// The median of its answers, in microseconds.
    MedianUs,
    /// Its slowest answer, in microseconds.
    SlowestUs,
    /// The limit of a move, in microseconds.
    LimitUs,
    /// A shorter limit that was tried, in microseconds.
    ShortLimitUs,
    /// Its answers under the shorter limit, in microseconds.
    UnderShortLimitUs,
    /// Streams that were cancelled.
    Streams,
    /// Its memory at first, in bytes.
    FirstBytes,
    /// Its memory at last, in bytes.
    LastBytes,
    /// From SIGTERM to its end, in microseconds.
    EndedAfterUs,
    /// Processes that it left behind.
    LeftProcesses,
    /// The most that one process printed, in bytes.
    PrintedBytes,
}

/// Something that is wrong with a bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FindingEvent {
    /// What.
    pub id: FindingName,
    /// How bad it is.
    pub severity: FindingSeverity,
    /// The names of the games in which it was found. Empty where it is of the program.
    pub games: Vec<String>,
    /// What was seen instead of what was expected.
    pub actual: String,
    /// The number of the question that it failed at, from 0, which is GameStart. Absent where
    /// it was asked nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<u32>,
    /// The name of that call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// What the bot knew of the position then: the board, its hand, as text. Absent where it
    /// was asked for no move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// The last lines that it had printed by then. Absent where it had printed nothing, or
    /// where the arena does not start it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last_output: Vec<String>,
    /// What its author may have overlooked, where that can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<FindingHint>,
    /// Where that can be seen: a record or a log, or what the bot printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
}

/// What the author of a bot may have overlooked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingHint {
    /// The strategy seems to keep the game in globals: its SPEC needs `keeps-globals`.
    KeepsGlobals,
}

/// Something that could be wrong with a bot: a row of the catalogue of `arena check --list`.
/// Its texts are those of `docs/check.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PossibleFindingEvent {
    /// What.
    pub id: FindingName,
    /// How bad it is.
    pub severity: FindingSeverity,
    /// What is expected of a bot.
    pub expected: Cow<'static, str>,
    /// What to do.
    pub fix: Cow<'static, str>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingSeverity {
    /// The bot can enter, but this will cost it games or somebody's time.
    Warning,
    /// The bot is not fit to enter.
    Fault,
}

/// What can be wrong with a bot; `docs/check.md` says what each one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "docs/check.md says what they are")]
pub enum FindingName {
    Unreachable,
    NoStart,
    SlowStart,
    Unsupported,
    NoReady,
    NoName,
    NoMaxGames,
    NoHealth,
    NoReflection,
    UnknownService,
    Crashed,
    HungUp,
    ErrorStatus,
    Malformed,
    WrongNumber,
    Unsolicited,
    Oversized,
    Flooded,
    MemoryExceeded,
    Illegal,
    Late,
    SecondGame,
    FirstMove,
    Resumed,
    FutureField,
    TwoGames,
    CloseToLimit,
    IgnoresLimit,
    Cancelled,
    ThinksOn,
    AfterGameOver,
    HalfClosed,
    MemoryGrows,
    IgnoresSigterm,
    Leftovers,
    TalksALot,
}

/// A bot has been checked. Comes after its findings, and not where somebody stopped it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckEndedEvent {
    /// How the bot is started or reached, as a SPEC.
    pub spec: String,
    /// Whether it is fit to enter.
    pub fit: bool,
    /// How many faults were found.
    pub faults: u64,
    /// How many warnings were found.
    pub warnings: u64,
    /// Whether warnings make a bot unfit.
    pub strict: bool,
}

/// What a referee said to a bot that misbehaves on purpose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VillainEvent {
    /// Its name in the catalogue of villains.
    pub kind: String,
    /// What it does, as the catalogue says.
    pub does: String,
    /// The foul that was expected. Absent where it commits none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<FoulName>,
    /// What the referee said, by the seat where it sat.
    pub seats: Vec<VillainSeat>,
    /// Whether the referee said what was expected in every seat, and nothing of the others.
    pub holds: bool,
}

/// What a referee said to a villain in one seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VillainSeat {
    /// The seat, from 0.
    pub seat: u8,
    /// The foul. Absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foul: Option<FoulEvidence>,
    /// The foul's code in the classic report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// What ended the game without a foul, as the game says. Absent where the game is void.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The foul that the referee saw in the other bot, which commits none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub honest_foul: Option<FoulEvidence>,
}

/// A referee has been checked. Absent where somebody stopped it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefereeCheckedEvent {
    /// How many villains it was shown.
    pub villains: u64,
    /// Whether it said what was expected of all of them.
    pub holds: bool,
    /// The names of those for which it said something else.
    pub wrong: Vec<String>,
    /// The names of those that were not tried: only a referee that starts them can judge them.
    pub not_tried: Vec<String>,
}

/// A check of this machine, or of a game played here by a bot against itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SelftestEvent {
    /// What was checked.
    #[serde(flatten)]
    pub check: SelftestCheck,
    /// Whether it is as it should be.
    pub holds: bool,
    /// How the system failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What a self-test checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "check", rename_all = "snake_case")]
pub enum SelftestCheck {
    /// How many games are played at once by default.
    Cores {
        /// The number of cores, which is this default.
        cores: u64,
    },
    /// Whether bots can listen on sockets.
    Sockets {
        /// The folder of the sockets.
        folder: String,
    },
    /// Whether a bot that outlives the arena is killed.
    Supervisor,
    /// Which walls can be built around bots.
    Sandbox(crate::run::RunSandbox),
    /// Whether the referee wakes up in time.
    Clock {
        /// The worst delay, in microseconds.
        delay_us: u64,
        /// How long the delays were measured, in microseconds.
        watched_us: u64,
    },
    /// Whether a bot against itself comes out even, and every record plays again.
    Game {
        /// The game's name.
        game: String,
        /// How many deals were played.
        deals: u64,
        /// How many games.
        games: u64,
        /// The first deal that did not come out even.
        #[serde(skip_serializing_if = "Option::is_none")]
        uneven: Option<UnevenDeal>,
        /// The first game with a foul, or whose record does not play again.
        #[serde(skip_serializing_if = "Option::is_none")]
        game_id: Option<String>,
    },
}

/// A deal in which the same bot did better in one lineup place than in another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnevenDeal {
    /// The deal's number.
    pub group: u64,
    /// For each copy of the bot its places, from 1, over the seatings.
    pub places: Vec<Vec<u8>>,
    /// For each copy of the bot the sum of its scores, in the game's own unit.
    pub scores: Vec<i64>,
}
