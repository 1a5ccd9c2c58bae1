//! Schedules: rounds and their matches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a tournament would play.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleEvent {
    /// The tournament's name.
    pub tournament: String,
    /// The game's name.
    pub game: String,
    /// The names of those who take part.
    pub bots: Vec<String>,
    /// How many groups are played at most. Absent where there is no end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_groups: Option<u64>,
    /// How many games these have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_games: Option<u64>,
    /// Whether a match that is tied is played on, beyond what is planned.
    pub breaks_ties: bool,
    /// Whether chance decides who meets whom, so that the real schedule is another one.
    pub left_to_chance: bool,
    /// The rounds, as far as they are known.
    pub rounds: Vec<ScheduleRound>,
}

/// A round of a schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleRound {
    /// What the schedule calls it, such as `round 3` or `semi-finals`.
    pub name: String,
    /// Its matches.
    pub matches: Vec<ScheduleMatch>,
}

/// A match as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleMatch {
    /// Its number in the schedule, from 0.
    #[serde(rename = "match")]
    pub number: u32,
    /// Who plays.
    pub players: Vec<MatchPlayer>,
    /// How many of its groups count so far.
    pub groups: u64,
    /// How many it has at most.
    pub max_groups: u64,
    /// The points of each player in these groups, in order of the players.
    pub points: Vec<f64>,
    /// Whether it is decided.
    pub over: bool,
}

/// A player of a match, or where it will come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MatchPlayer {
    /// It is known who.
    Bot {
        /// Its name.
        name: String,
    },
    /// A built-in bot that does not count.
    Filler,
    /// Nobody: the other goes on without a game.
    Bye,
    /// Not known yet.
    Pending {
        /// Where it will come from: `winner of match 3`.
        from: String,
    },
}
