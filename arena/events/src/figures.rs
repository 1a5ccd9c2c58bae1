//! Figures: what was counted and measured beside the results.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::game::FoulName;

/// What was counted and measured in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FiguresEvent {
    /// The tournament's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tournament: Option<String>,
    /// What was counted of each bot.
    pub bots: Vec<BotFigures>,
    /// How games ended.
    pub endings: EndingCounts,
    /// The points that each seat has brought, by seat.
    pub points_by_seat: Vec<f64>,
    /// How long work waited for a worker.
    pub queue_wait: TimeFigures,
    /// How long it took to store results.
    pub store_commit: TimeFigures,
    /// The referee's worst delay in each second.
    pub referee_delay: TimeFigures,
}

/// What was counted of one bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BotFigures {
    /// Its name.
    pub bot: String,
    /// How long its answers took.
    pub thinking: TimeFigures,
    /// How often it committed each foul.
    pub fouls: BTreeMap<FoulName, u64>,
    /// How many of its answers were late but for a delay of the referee.
    pub excused_answers: u64,
    /// How many games it played in each seat, by seat.
    pub games_by_seat: Vec<u64>,
}

/// How many games ended in which way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EndingCounts {
    /// By the rules, with one winner.
    pub rules: u64,
    /// By the rules, with a shared first place.
    pub draws: u64,
    /// By a foul: how many games had it as their first foul.
    pub fouls: BTreeMap<FoulName, u64>,
}

/// A summary of measured times. Without any, only the count is present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimeFigures {
    /// How many times were measured.
    pub count: u64,
    /// The median, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_us: Option<u64>,
    /// The 99th percentile, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<u64>,
    /// The largest, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_us: Option<u64>,
}
