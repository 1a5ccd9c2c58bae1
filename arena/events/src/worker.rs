//! Workers of an arena.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A worker of an arena, and what is known of its newest process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerEvent {
    /// Its name.
    pub worker: String,
    /// Whether it works, may work, or why it may not.
    pub state: WorkerState,
    /// Why it was shut out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shut_out: Option<String>,
    /// When its token ends to be valid, in milliseconds since 1970 (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_unix_ms: Option<i64>,
    /// When it was heard of last, in milliseconds since 1970 (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen_unix_ms: Option<i64>,
    /// Its machine's name.
    pub host: String,
    /// The version of its program.
    pub program: String,
    /// How many cores its games may use.
    pub cores: u32,
    /// How many games it plays at once.
    pub games_at_once: u32,
    /// What packed bots may need.
    pub provides: Vec<String>,
    /// The walls around its bots.
    pub isolation: String,
    /// How many games it is playing.
    pub running: u32,
    /// How many of its games count, by all of its processes that are known.
    pub accepted: u64,
    /// How many of its games came too late.
    pub stale: u64,
    /// How many of its games were refused.
    pub refused: u64,
    /// Its games in the last minute.
    pub games_last_minute: u64,
    /// The worst delay of its referee in the last minute, in microseconds.
    pub worst_delay_us: u64,
    /// Where its bots fail more often than those of others, by a test.
    pub suspicions: Vec<WorkerSuspicion>,
}

/// Whether a worker works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkerState {
    /// It is connected.
    Working,
    /// It may work, and is not connected.
    Away,
    /// Its token has expired.
    Expired,
    /// A person took its right to work.
    Revoked,
    /// It reported a game that was not played so.
    ShutOut,
}

/// Bots fail on a worker more often than on others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerSuspicion {
    /// How they fail.
    pub failure: WorkerFailure,
    /// How many games were lost so.
    pub observed: u64,
    /// How many would be if it were like the others.
    pub expected: f64,
    /// The probability of so many or more if it were like the others.
    pub p_value: f64,
}

/// A way to fail that a machine can cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkerFailure {
    /// A bot was late.
    Late,
    /// A bot did not start, or crashed.
    Crashed,
}
