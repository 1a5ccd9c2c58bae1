//! Tournaments in a store: the list of them, and the proof of one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A tournament that is in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TournamentEvent {
    /// Its name.
    pub tournament: String,
    /// The game's name.
    pub game: String,
    /// Its state.
    pub state: TournamentState,
    /// When it was made, in milliseconds since 1970 (UTC).
    pub created_unix_ms: i64,
    /// How many games of it have been played.
    pub games: u64,
}

/// The state of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TournamentState {
    /// Nothing has been played.
    Created,
    /// It is being played.
    Running,
    /// It waits for an arena that plays all tournaments of the store (`arena serve`).
    Queued,
    /// A person has paused it.
    Paused,
    /// It was stopped, and can be resumed.
    Stopped,
    /// The arena that played it was killed; it can be resumed.
    Interrupted,
    /// It has ended.
    Over,
    /// It was ended before its end, and can't be resumed.
    Cancelled,
}

/// The result of verifying a tournament.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerifiedEvent {
    /// The tournament's name.
    pub tournament: String,
    /// Its state.
    pub state: TournamentState,
    /// SHA-256 of its root, in hexadecimal digits.
    pub root_commitment: String,
    /// Whether no fault was found.
    pub proved: bool,
    /// How many games were played again.
    pub games: u64,
    /// The faults that were found.
    pub faults: Vec<TournamentFault>,
}

/// A fault that was found in a tournament.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TournamentFault {
    /// The group. Absent where the fault is not in a single one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<u64>,
    /// The seating in the group, from 0. Absent where the fault is not in a single one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seating: Option<u32>,
    /// What it is.
    #[serde(flatten)]
    pub fault: FaultKind,
}

/// What the fault is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FaultKind {
    /// The root is not the one that was committed to.
    WrongRoot,
    /// The store's counts are not the sums of its games.
    WrongCounts,
    /// The group has another lineup or match than the schedule says.
    OutOfSchedule,
    /// The schedule does not have the group.
    NotScheduled,
    /// The group was not played.
    NotPlayed,
    /// The group's score is not the sum of its games.
    WrongScore,
    /// A seating of the group was not played.
    MissingGame,
    /// The game has no record.
    NoRecord,
    /// The game's record can't be read.
    UnreadableRecord {
        /// Why not.
        error: String,
    },
    /// The game's record can't be played again.
    DoesNotReplay {
        /// Where it differs.
        error: String,
    },
    /// The game's seed does not come from the root.
    WrongSeed,
    /// It is another game, or was played with other limits.
    WrongGameOrLimits,
    /// The record is of another game of the tournament.
    WrongGameId {
        /// The name of that game.
        game_id: String,
    },
    /// It was played with another set-up.
    WrongSetup,
    /// The players sat in other seats than the schedule says.
    WrongSeating,
    /// Another player sat in a seat.
    WrongPlayer {
        /// The seat, from 0.
        seat: u8,
        /// Who the record says it was.
        player: String,
    },
    /// Another bot of this name played than entered: its files were others.
    WrongIdentity {
        /// The seat, from 0.
        seat: u8,
        /// Which bot entered: `sha256:HASH` of its files, or `built-in VERSION`.
        entered: String,
        /// Which bot the record says it was. Absent where it does not say.
        #[serde(skip_serializing_if = "Option::is_none")]
        played: Option<String>,
    },
    /// The record is of a void game.
    VoidGame,
    /// The store has another result than the record.
    WrongResult,
    /// The store has other counters than the record.
    WrongCounters,
    /// The record has places, scores or times that no such game can have.
    ImpossibleResult,
}

/// For people.
impl std::fmt::Display for FaultKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FaultKind::WrongRoot => f.write_str("the root is not the one that was committed to"),
            FaultKind::WrongCounts => f.write_str("the table is not what the games add up to"),
            FaultKind::OutOfSchedule => f.write_str("the schedule asked for it between other bots"),
            FaultKind::NotScheduled => f.write_str("the schedule never asked for it"),
            FaultKind::NotPlayed => f.write_str("it was not played"),
            FaultKind::WrongScore => f.write_str("its score is not what its games add up to"),
            FaultKind::MissingGame => f.write_str("there is no such game"),
            FaultKind::NoRecord => f.write_str("it has no record"),
            FaultKind::UnreadableRecord { error } => write!(f, "its record: {error}"),
            FaultKind::DoesNotReplay { error } => write!(f, "its record does not replay: {error}"),
            FaultKind::WrongSeed => f.write_str("its seed is not the root's"),
            FaultKind::WrongGameOrLimits => {
                f.write_str("it was played as another game or with other limits")
            }
            FaultKind::WrongGameId { game_id } => write!(f, "its record is of game {game_id}"),
            FaultKind::WrongSetup => f.write_str("it was played with another set-up"),
            FaultKind::WrongSeating => f.write_str("others sat there than the schedule says"),
            FaultKind::WrongPlayer { seat, player } => write!(f, "seat {seat} was {player}"),
            FaultKind::WrongIdentity {
                seat,
                entered,
                played,
            } => {
                let played = played.as_deref().unwrap_or("not known");
                write!(
                    f,
                    "the bot in seat {seat} is another one than entered: {played}, not {entered}"
                )
            }
            FaultKind::VoidGame => f.write_str("its record is of a void game"),
            FaultKind::WrongResult => {
                f.write_str("the store counts another result than its record has")
            }
            FaultKind::ImpossibleResult => f.write_str(
                "its record has places, scores or times that no game with these limits can have",
            ),
            FaultKind::WrongCounters => f.write_str("its counters are not what its record says"),
        }
    }
}
