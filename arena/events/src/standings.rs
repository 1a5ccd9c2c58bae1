//! Standings: what the results of a run say.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    game::{BotSetAsideEvent, FoulEvidence},
    run::RunBot,
    schedule::ScheduleRound,
    tournament::TournamentState,
};

/// What the results say, at the end of a run or when it was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StandingsEvent {
    /// The tournament's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tournament: Option<String>,
    /// The game's name.
    pub game: String,
    /// The state of the tournament.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<TournamentState>,
    /// How many seats the game has.
    pub seats: u8,
    /// SHA-256 of the root that decides every deal, in hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_commitment: Option<String>,
    /// The root, where all games have been played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Whether the root was typed, so that the same deals are played again. Absent in a
    /// match, where `run_started` says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reproduction: Option<bool>,
    /// The bots that take part.
    pub bots: Vec<RunBot>,
    /// How much has been played.
    pub counts: GameCounts,
    /// A row for each bot, best first; last those that have not played or are annulled.
    pub rows: Vec<StandingsRow>,
    /// Every two bots that have met.
    pub pairs: Vec<PairRow>,
    /// The final order, best first, where the schedule decides it. Otherwise the rows do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranking: Option<Vec<RankedBot>>,
    /// Who takes no further part.
    pub set_aside: Vec<BotSetAsideEvent>,
    /// Decisions of the schedule that a reader would not expect.
    pub remarks: Vec<ScheduleRemark>,
    /// What makes the results less sure than they look.
    pub warnings: Vec<RunWarning>,
    /// The schedule's rounds. Absent in a match, and where the schedule is not known
    /// before the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<Vec<ScheduleRound>>,
}

/// How much has been played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GameCounts {
    /// Groups that are to be played, as far as is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_groups: Option<u64>,
    /// Groups that count.
    pub groups: u64,
    /// Their games.
    pub games: u64,
    /// Groups that have been played from some seatings and not from all. They do not count
    /// in a tournament.
    pub half_groups: u64,
    /// Their games.
    pub half_games: u64,
    /// Whole groups that count for nobody: they were begun before their match was decided,
    /// or a player of theirs is set aside.
    pub excluded_groups: u64,
    /// Games that went differently from each other, of all that are stored.
    pub distinct_games: u64,
    /// All games that have been played, whether they count or not.
    pub stored_games: u64,
}

/// What one bot has done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StandingsRow {
    /// Its rank, from 1. Absent before its first game, and where its games are annulled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Its name.
    pub bot: String,
    /// How many games it has played.
    pub games: u64,
    /// Of how many groups.
    pub groups: u64,
    /// Games in which it was first alone.
    pub wins: u64,
    /// Games in which it shared the first place.
    pub draws: u64,
    /// All other games.
    pub losses: u64,
    /// Points: of a game for two 1 for a win and 0.5 for a draw, of a game for four 3, 2, 1
    /// and 0 by place. Those who share places share their points.
    pub points: f64,
    /// The share of the points that could be won, from 0 to 1. Absent before its first game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// How often it took each place, from the first; a shared place counts in full for each.
    pub places: Vec<u64>,
    /// Its mean place, from 1. Absent before its first game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_place: Option<f64>,
    /// Its rating in Elo, 0 on average.
    pub elo: Estimated,
    /// By how much a game's score was above the mean of the others', in the game's own unit.
    /// Absent where scores say no more than places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<Estimated>,
    /// What it owns after all games. Absent where scores are not payments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purse: Option<i64>,
}

/// A figure and its error bar, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimated {
    /// The figure. Absent where none can be given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Half the width of its 95 % interval. Absent where none can be given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// Why the value or its error is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingEstimate>,
}

/// Why there is no figure, or no error bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MissingEstimate {
    /// There are too few groups.
    TooFewGroups {
        /// How many there are.
        has: u64,
        /// How many are needed.
        needs: u64,
    },
    /// Every game was lost: no finite difference explains it.
    EveryGameLost,
    /// Every game was won: no finite difference explains it.
    EveryGameWon,
    /// All groups brought the same.
    NoVariance,
    /// The 95 % interval of the score reaches 0 or 1, where no Elo is finite.
    Unbounded,
    /// No game has been played.
    NotPlayed,
    /// No chain of games leads to the others.
    NotConnected,
}

/// Two that have met, seen from the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairRow {
    /// The name of the first.
    pub first: String,
    /// The name of the second.
    pub second: String,
    /// How many groups they have played with each other.
    pub groups: u64,
    /// Games in which the first was ahead.
    pub wins: u64,
    /// Games in which they were level.
    pub draws: u64,
    /// Games in which the first was behind.
    pub losses: u64,
    /// What that says about their strengths. Absent where not all groups have as many
    /// games, and without a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<PairComparison>,
    /// How far the test has come. Absent without a test and before its first group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<PairTest>,
}

/// What the groups of two say about their strengths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairComparison {
    /// The share of the points that the first has won, from 0 to 1.
    pub score: f64,
    /// By how much the first is stronger, in Elo.
    pub elo: Estimated,
    /// The same in normalised Elo, which does not depend on how many games are draws.
    pub nelo: Estimated,
    /// How likely it is that the first is the stronger one, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub los: Option<f64>,
    /// The share of groups that came out even, from 0 to 1.
    pub draw_ratio: f64,
    /// How many groups brought the first 0, 0.5, 1 … points: five counts for groups of two
    /// games (LL, LD, DD or WL, WD, WW), three for single games (L, D, W).
    pub group_counts: Vec<u64>,
}

/// How far a sequential test has come.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairTest {
    /// The log-likelihood ratio of H1 to H0.
    pub llr: f64,
    /// H0 is accepted where the ratio is not above this.
    pub lower: f64,
    /// H1 is accepted where the ratio is not below this.
    pub upper: f64,
    /// What was accepted. Absent while it is undecided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<AcceptedHypothesis>,
}

/// What a test has accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AcceptedHypothesis {
    /// The first bot is not `elo1` stronger.
    H0,
    /// The first bot is stronger than by `elo0`.
    H1,
}

/// A place in the schedule's order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankedBot {
    /// The rank, from 1; those who share one have the same.
    pub rank: u32,
    /// The bot's name.
    pub bot: String,
    /// What it is ranked by: in a Swiss of two the points of matches.
    pub points: f64,
    /// How ties were broken, the first that matters first.
    pub ties: Vec<BrokenTie>,
}

/// A figure that breaks ties.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BrokenTie {
    /// Which figure.
    pub by: TieBreakName,
    /// The bot's.
    pub value: f64,
}

/// Which figure breaks ties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TieBreakName {
    /// The sum of the opponents' points.
    Buchholz,
    /// The sum of the points of those who were beaten and half of those who were level.
    SonnebornBerger,
    /// The points of all games.
    GamePoints,
    /// The mean of the opponents' points.
    OpponentsMeanPoints,
}

/// A decision of a schedule that a reader would not expect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ScheduleRemark {
    /// Two meet again, since every pairing had such a match.
    Rematch {
        /// The round's name.
        round: String,
        /// The name of one.
        first: String,
        /// The name of the other.
        second: String,
    },
    /// A bot has a bye again.
    SecondBye {
        /// The round's name.
        round: String,
        /// The bot's name.
        bot: String,
    },
    /// Two were level on points in a match that one of them had to lose.
    BrokenTie {
        /// The round's name.
        round: String,
        /// The name of the one that went on.
        ahead: String,
        /// The name of the other.
        behind: String,
        /// Whether the margins decided. Otherwise these were level too, and the better seed
        /// went on.
        by_margin: bool,
    },
}

/// What makes the results less sure than they look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RunWarning {
    /// A bot committed fouls.
    Fouls {
        /// Its name.
        bot: String,
        /// How many.
        fouls: u64,
        /// How many games it has played: with as many fouls each of them had one.
        games: u64,
        /// The group of the first.
        group: u64,
        /// The seating of the first.
        seating: u32,
        /// What the first was.
        first: FoulEvidence,
    },
    /// The bots repeat themselves, so the sample is smaller than it looks.
    RepeatedGames {
        /// How many games there are.
        games: u64,
        /// How many of them went differently from each other.
        distinct: u64,
    },
    /// Answers of a bot were late but for a delay of the referee.
    RefereeLate {
        /// The bot's name.
        bot: String,
        /// How many answers.
        excused_answers: u64,
    },
    /// A bot sat more often in one seat than in another.
    UnequalSeats {
        /// Its name.
        bot: String,
        /// How many games it played in each seat, by seat.
        games_by_seat: Vec<u64>,
    },
    /// Deals were not played from every seating.
    HalfPlayed {
        /// How many deals.
        deals: u64,
        /// The games that they have.
        games: u64,
    },
    /// What the schedule leaves to chance is not known before the end, so all whole groups
    /// are counted, also those that will be excluded.
    ScheduleUnknown,
}
