//! Schedules: who plays whom next, computed from the results so far.

mod bracket;
mod elimination;
mod gauntlet;
mod in_rounds;
mod ladder;
mod listed;
mod match_up;
mod matching;
mod pairing;
mod remark;
mod round_robin;
mod set_aside;
mod swiss;
mod tables;

use std::collections::BTreeMap;
use std::ops::Range;

pub use remark::{Decider, Remark, SetAsideReason, TieBreak};
use serde::{Deserialize, Serialize};

use self::bracket::Bracket;
use self::elimination::Elimination;
use self::in_rounds::InRounds;
use self::ladder::Ladder;
pub use self::ladder::{LadderEntrant, LadderRound};
use self::listed::Listed;
use self::match_up::{Length, MatchRules};
use self::swiss::Swiss;
use crate::sprt::BadSprt;
use crate::{Entrant, Group, GroupScore, HalfPoints, Lineup, MatchId, Seatings, Sprt};

/// Most deals that a match may have, so that no sum of points overflows.
pub const MOST_DEALS: u64 = 10_000_000;

/// Most matches that the rounds of a Swiss or a ladder may have.
pub const MOST_MATCHES: u64 = 1_000_000;

/// Most deals that a schedule with an end may have: more than a machine plays in years.
pub const MOST_PLANNED: u64 = 1_000_000_000_000;

/// The most entrants of any shape.
pub const MOST_ENTRANTS: u32 = 4_000;

/// Number of rounds that a ladder without an end shows; they are the last ones.
pub const KEPT_ROUNDS: usize = 100;

/// A schedule is a pure fold: its state depends on its arguments and on the set of
/// recorded scores, not on their order. So a tournament is resumed by recording its
/// scores again.
pub trait Schedule: Send {
    /// The next group to be played; each is named once. None if more scores are needed
    /// first, and if nothing is left.
    fn next(&mut self) -> Option<Group>;

    /// Records the score of a group that [`next`](Self::next) has named. A score that was
    /// recorded before, or that belongs to a match that is over, changes nothing.
    ///
    /// # Errors
    ///
    /// [`NotScheduled`] if the schedule has not named this group.
    fn record(&mut self, score: &GroupScore) -> Result<(), NotScheduled>;

    /// True if nothing is left to be played.
    fn is_over(&self) -> bool;

    /// The numbers that matches have so far, those of forgotten rounds left out.
    fn numbers(&self) -> Range<u32>;

    /// The stage of a match: what is to be played of it. A number that no match has is
    /// [`MatchStage::Over`] if it is below those of [`numbers`](Self::numbers), and else
    /// [`MatchStage::Pending`].
    fn stage(&self, id: MatchId) -> MatchStage;

    /// Most groups that will count at the end, as far as is known now: deals that break a tie are
    /// added one at a time. None if there is no end.
    fn planned(&self) -> Option<u64>;

    /// The rounds with their matches, and what is known of future rounds. Without an end,
    /// only the last [`KEPT_ROUNDS`].
    fn rounds(&self) -> Vec<Round>;

    /// Its state as JSON, for [`restored`].
    fn state(&self) -> String;

    /// Groups that do not count, such as those that were started before a test stopped
    /// their match: in order, every number that such a group can have, played or not.
    fn uncounted(&self) -> Vec<Range<u64>>;

    /// Of the matches that are not over the numbers from the first group on that has no score, in
    /// order. Every group that is neither here nor among the [`uncounted`](Self::uncounted) counts.
    fn open(&self) -> Vec<Range<u64>>;

    /// The entrants that take no further part, and why.
    fn set_aside(&self) -> Vec<SetAside>;

    /// The final order, the best first, if the schedule defines it (Swiss, elimination);
    /// None if standings do.
    fn ranking(&self) -> Option<Vec<Ranked>>;

    /// Remarks that a reader should also know, such as a rematch that no pairing could avoid.
    fn remarks(&self) -> Vec<Remark>;
}

/// The group was not named by the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("group {0} is not in the schedule")]
pub struct NotScheduled(pub u64);

/// A round of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Its name: "round 3", "semi-finals", "losers' round 2".
    pub name: String,
    /// Its matches.
    pub matches: Vec<Match>,
}

/// The state of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Match {
    /// Its number.
    pub id: MatchId,
    /// The players, known or not yet known, in order of the lineup.
    pub players: Vec<Participant>,
    /// Number of its groups that count so far.
    pub groups: u64,
    /// Most groups that it has.
    pub most: u64,
    /// The half points of each in the groups that count.
    pub points: Vec<HalfPoints>,
    /// True if it is decided.
    pub over: bool,
}

/// The stage of a match: what is to be played of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatchStage {
    /// Its players are not known yet.
    Pending,
    /// It can be played.
    Open {
        /// The players.
        lineup: Lineup,
        /// The numbers that its groups have, as far as is known now.
        groups: Range<u64>,
        /// Number of these that have no score.
        left: u64,
    },
    /// It is decided, or nobody has to play it.
    Over,
}

/// A place in a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Participant {
    /// This entrant.
    Entrant(Entrant),
    /// A house bot that fills the seat and does not count.
    Filler,
    /// Nobody: the other one advances without a game.
    Bye,
    /// Not known yet, with a description: "winner of match 3".
    Pending(String),
}

/// An entrant that takes no further part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetAside {
    /// The entrant.
    pub entrant: Entrant,
    /// Reason why it is set aside.
    pub why: SetAsideReason,
    /// True if none of its games count.
    pub annulled: bool,
}

/// A place in the final order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// The place, from 1; entrants that share a place have the same number.
    pub place: u32,
    /// The entrant.
    pub entrant: Entrant,
    /// The points that the schedule ranks by.
    pub points: f64,
    /// The figures that order it among entrants with equal points, in this order.
    pub ties: Vec<(TieBreak, f64)>,
}

/// The arguments of every schedule: who takes part, and how long a match is.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Number of entrants.
    pub entrants: u32,
    /// Number of seats of the game: 2 or 4.
    pub seats: u8,
    /// From which seatings each deal is played.
    pub seatings: Seatings,
    /// Number of deals of a match. In an elimination a match can end earlier, and ties add deals.
    pub deals: u64,
    /// The test that can stop a match of two before its last deal.
    pub sprt: Option<Sprt>,
    /// The rule by which an entrant that fails deals is set aside.
    pub set_aside: SetAsideRule,
    /// Of entrants that were readmitted the number of failed deals that are not held against them.
    /// In the shapes whose pairings follow from results this must be empty.
    pub readmitted: BTreeMap<Entrant, u64>,
    /// The seed of the schedule's random decisions. The same seed and the same scores
    /// give the same schedule.
    pub chance: [u8; 32],
}

/// After how many failed deals an entrant is set aside. An entrant fails a deal if it
/// loses every game of it by a foul of its own.
///
/// In a round robin and in a gauntlet the entrant is then annulled: none of its games
/// count. In other shapes its results stand. It loses its current match (in games of four
/// it plays it to the end) and plays no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SetAsideRule {
    /// The number of deals that it did not start.
    pub starts: u32,
    /// The number of deals failed in any way, or a fifth of the entrant's scheduled deals
    /// if that is more. In an elimination the scheduled deals are those of an entrant
    /// that wins every match; in a ladder without an end, those of the rounds so far.
    pub fouls: u32,
}

impl Default for SetAsideRule {
    fn default() -> Self {
        Self {
            starts: 3,
            fouls: 10,
        }
    }
}

/// The shape of a tournament.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ScheduleShape {
    /// Every pair of entrants plays; in games of four every four entrants, of at most
    /// 16.
    RoundRobin {},
    /// The first `challengers` entrants play against each of the others, but not against
    /// each other. In games of four each challenger plays with three of the others at a
    /// time, and meets all others equally often.
    Gauntlet {
        /// Number of entrants, from the first on, that are challengers.
        #[serde(default = "one")]
        challengers: u32,
    },
    /// Rounds in which entrants with equal points meet. Points are those of matches, in
    /// games of four those of games. A bye counts as a match won in every game.
    Swiss {
        /// Number of rounds; by default as many as leave one entrant without a loss.
        #[serde(default)]
        rounds: Option<u32>,
    },
    /// The loser of a match is out; in games of four the third and the fourth.
    SingleElimination {
        /// True if the losers of the semi-finals play for the third place. In games of four the
        /// final decides that.
        #[serde(default)]
        third_place: bool,
    },
    /// An entrant that loses two matches is out. In games of four the grand final is one
    /// match between the last two of each bracket.
    DoubleElimination {},
    /// Rounds in which entrants with similar ratings meet, by default without an end.
    Ladder {
        /// Number of rounds; without a number there is no end.
        #[serde(default)]
        rounds: Option<u32>,
    },
    /// One round with these tables, which somebody else has paired.
    Listed {
        /// The entrants at each. Free seats get fillers.
        tables: Vec<Vec<Entrant>>,
    },
}

const fn one() -> u32 {
    1
}

/// Reason why a schedule is not possible.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScheduleError {
    /// Fewer than two entrants.
    #[error("a tournament needs at least 2 entrants, and there are {0}")]
    TooFewEntrants(u32),
    /// A game with neither 2 nor 4 seats.
    #[error("a game has 2 or 4 seats, not {0}")]
    Seats(u8),
    /// A number of deals out of range.
    #[error("a match has 1 to {MOST_DEALS} deals, not {0}")]
    Deals(u64),
    /// A gauntlet without challengers, or without others.
    #[error(
        "a gauntlet needs at least 1 challenger and at least 1 other entrant: \
         of {entrants} entrants {challengers} are to be challengers"
    )]
    Challengers {
        /// Number of entrants.
        entrants: u32,
        /// Number of challengers among them.
        challengers: u32,
    },
    /// A test in a game of four, or in a shape whose matches end in another way.
    #[error("a test of strength stops matches of two, in a round robin or a gauntlet only")]
    Test,
    /// The test is not valid.
    #[error(transparent)]
    BadTest(#[from] BadSprt),
    /// A readmitted entrant in a shape whose pairings follow from results.
    #[error(
        "a bot is readmitted in a round robin or a gauntlet only: in other shapes the matches after \
         it was set aside follow from its absence"
    )]
    Readmitted,
    /// A round robin with too many tables.
    #[error(
        "a round robin of {entrants} entrants at tables of four has {tables} tables, \
         more than {most}: use swiss or ladder instead",
        most = round_robin::MOST_TABLES
    )]
    Tables {
        /// Number of entrants.
        entrants: u32,
        /// Number of tables that they give.
        tables: u64,
    },
    /// A listed table with too few or too many entrants, with one twice, or with one that is not there.
    #[error("table {0} of the list can't be played by the entrants at it")]
    Table(usize),
    /// A schedule with 0 rounds.
    #[error("the number of rounds must be at least 1")]
    NoRounds,
    /// More rounds than an entrant has opponents.
    #[error(
        "a swiss of {entrants} entrants has at most {most} rounds before somebody must \
         meet an opponent again, and {rounds} were asked for"
    )]
    Rounds {
        /// Number of entrants.
        entrants: u32,
        /// Number of rounds that were asked for.
        rounds: u32,
        /// Most rounds that there may be.
        most: u32,
    },
    /// More rounds than can be planned.
    #[error(
        "with {entrants} entrants there can be at most {most} rounds, and {rounds} were asked for"
    )]
    ManyRounds {
        /// Number of entrants.
        entrants: u32,
        /// Number of rounds that were asked for.
        rounds: u32,
        /// Most rounds that there may be.
        most: u32,
    },
    /// More deals than can be planned.
    #[error("a schedule has at most {MOST_PLANNED} deals, and this one would have {0}")]
    Planned(u64),
    /// More entrants than the shape supports.
    #[error("a schedule of this shape has at most {most} entrants, not {entrants}")]
    TooManyEntrants {
        /// Number of entrants.
        entrants: u32,
        /// Most entrants that there may be.
        most: u32,
    },
}

/// The schedule of this shape for these entrants.
///
/// The number of a group is `match * stride + index in the match`. The stride is the
/// number of deals of a match, in an elimination twice that number, for deals that break
/// ties. So a group's number, and with it its deal, depends only on its position in the
/// schedule.
///
/// # Errors
///
/// [`ScheduleError`] if the shape is not possible with this field.
pub fn schedule(field: &Field, shape: &ScheduleShape) -> Result<Box<dyn Schedule>, ScheduleError> {
    let schedule = unbounded(field, shape)?;
    match schedule.planned() {
        Some(planned) if planned > MOST_PLANNED => Err(ScheduleError::Planned(planned)),
        _ => Ok(schedule),
    }
}

/// Raised whenever what a schedule's state has or means changes: states of another version are of no use.
pub const STATE_VERSION: u32 = 1;

/// A schedule of this shape in the [`state`](Schedule::state) that was written: the same as one that was told
/// the same scores.
///
/// # Errors
///
/// The state is not of this shape, or of another [`STATE_VERSION`].
pub fn restored(
    shape: &ScheduleShape,
    state: &str,
) -> Result<Box<dyn Schedule>, serde_json::Error> {
    Ok(match shape {
        ScheduleShape::RoundRobin {}
        | ScheduleShape::Gauntlet { .. }
        | ScheduleShape::Listed { .. } => Box::new(serde_json::from_str::<Listed>(state)?),
        ScheduleShape::Swiss { .. } => Box::new(serde_json::from_str::<InRounds<Swiss>>(state)?),
        ScheduleShape::Ladder { .. } => Box::new(serde_json::from_str::<InRounds<Ladder>>(state)?),
        ScheduleShape::SingleElimination { .. } | ScheduleShape::DoubleElimination {} => {
            Box::new(serde_json::from_str::<Elimination>(state)?)
        }
    })
}

fn state(schedule: &impl Serialize) -> String {
    serde_json::to_string(schedule).expect("the keys of its maps are numbers")
}

/// The schedule, however many deals it has.
fn unbounded(field: &Field, shape: &ScheduleShape) -> Result<Box<dyn Schedule>, ScheduleError> {
    let length = length(field, shape)?;
    let entrants = field.entrants;
    if !shape.is_listed() && !field.readmitted.is_empty() {
        return Err(ScheduleError::Readmitted);
    }
    let two = field.seats == 2;
    Ok(match shape.clone() {
        ScheduleShape::RoundRobin {} => {
            let tables = round_robin::count_tables(entrants);
            let rounds = if two {
                round_robin::pairs(entrants)
            } else if tables <= round_robin::MOST_TABLES {
                round_robin::tables(entrants)
            } else {
                return Err(ScheduleError::Tables { entrants, tables });
            };
            Box::new(Listed::new(field, MatchRules::new(field, length), rounds))
        }
        ScheduleShape::Gauntlet { challengers } => {
            if challengers == 0 || challengers >= entrants {
                return Err(ScheduleError::Challengers {
                    entrants,
                    challengers,
                });
            }
            let rounds = if two {
                gauntlet::pairs(entrants, challengers)
            } else {
                gauntlet::tables(entrants, challengers)
            };
            Box::new(Listed::new(field, MatchRules::new(field, length), rounds))
        }
        ScheduleShape::Swiss { rounds: Some(0) } | ScheduleShape::Ladder { rounds: Some(0) } => {
            return Err(ScheduleError::NoRounds);
        }
        ScheduleShape::Swiss { rounds } => {
            let most = swiss::most_rounds(entrants);
            let rounds =
                rounds.unwrap_or_else(|| swiss::rounds_for_one_winner(entrants, field.seats));
            if two && rounds > most {
                return Err(ScheduleError::Rounds {
                    entrants,
                    rounds,
                    most,
                });
            }
            check_rounds(field, rounds)?;
            let rules = MatchRules::new(field, length);
            let pairing = Swiss::new(field, &rules);
            Box::new(InRounds::new(field, rules, Some(rounds), pairing))
        }
        ScheduleShape::SingleElimination { third_place } => {
            let seats = usize::from(field.seats);
            let bracket = Bracket::single(entrants as usize, seats, third_place);
            Box::new(Elimination::new(field, elimination_rules(field), bracket))
        }
        ScheduleShape::DoubleElimination {} => {
            let bracket = Bracket::double(entrants as usize, usize::from(field.seats));
            Box::new(Elimination::new(field, elimination_rules(field), bracket))
        }
        ScheduleShape::Ladder { rounds } => {
            check_rounds(field, rounds.unwrap_or(0))?;
            let rules = MatchRules::new(field, length);
            Box::new(InRounds::new(field, rules, rounds, Ladder::new(field)))
        }
        ScheduleShape::Listed { tables } => {
            let round = (0..).zip(tables).map(|(at, table)| {
                let known = table.iter().all(|one| one.index() < entrants as usize);
                let once = (1..table.len()).all(|n| !table[..n].contains(&table[n]));
                if !known || !once || !(2..=usize::from(field.seats)).contains(&table.len()) {
                    return Err(ScheduleError::Table(at));
                }
                let lineup = table.into_iter().map(Some).collect();
                Ok(round_robin::filled(lineup, field.seats.into()))
            });
            let round = round.collect::<Result<_, _>>()?;
            let rounds = vec![round];
            Box::new(Listed::new(field, MatchRules::new(field, length), rounds))
        }
    })
}

impl ScheduleShape {
    /// True if all matches are known at the start.
    const fn is_listed(&self) -> bool {
        matches!(
            self,
            Self::RoundRobin {} | Self::Gauntlet { .. } | Self::Listed { .. }
        )
    }
}

/// Checks the field, and returns what ends a match. For eliminations see [`elimination_rules`].
fn length(field: &Field, shape: &ScheduleShape) -> Result<Length, ScheduleError> {
    if field.entrants < 2 {
        return Err(ScheduleError::TooFewEntrants(field.entrants));
    }
    if !matches!(field.seats, 2 | 4) {
        return Err(ScheduleError::Seats(field.seats));
    }
    if !(1..=MOST_DEALS).contains(&field.deals) {
        return Err(ScheduleError::Deals(field.deals));
    }
    let most = match shape {
        ScheduleShape::RoundRobin {} | ScheduleShape::Gauntlet { .. } => 1_000,
        ScheduleShape::Swiss { .. } => swiss::MOST_ENTRANTS,
        _ => MOST_ENTRANTS,
    };
    let length = match field.sprt {
        None => Length::Full,
        Some(sprt) if field.seats == 2 && shape.is_listed() => {
            sprt.validate()?;
            Length::Test(sprt)
        }
        Some(_) => return Err(ScheduleError::Test),
    };
    let entrants = field.entrants;
    if entrants > most {
        return Err(ScheduleError::TooManyEntrants { entrants, most });
    }
    Ok(length)
}

/// Checks that so many rounds have no more matches than can be planned.
fn check_rounds(field: &Field, rounds: u32) -> Result<(), ScheduleError> {
    let entrants = field.entrants;
    let in_round = u64::from(entrants.div_ceil(u32::from(field.seats)));
    let most = u32::try_from(MOST_MATCHES / in_round).unwrap_or(u32::MAX);
    if rounds > most {
        return Err(ScheduleError::ManyRounds {
            entrants,
            rounds,
            most,
        });
    }
    Ok(())
}

fn elimination_rules(field: &Field) -> MatchRules {
    let length = match field.seats {
        2 => Length::BestOf,
        _ => Length::Full,
    };
    MatchRules::new(field, length)
}
