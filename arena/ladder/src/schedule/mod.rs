//! Schedules: who plays whom next, as a fold over results.

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

use std::ops::Range;

pub use remark::{Decider, Remark, SetAsideReason, TieBreak};
use serde::{Deserialize, Serialize};

use self::bracket::Bracket;
use self::elimination::Elimination;
use self::in_rounds::InRounds;
use self::ladder::Ladder;
use self::listed::Listed;
use self::match_up::{Length, MatchRules};
use self::swiss::Swiss;
use crate::sprt::BadSprt;
use crate::{Entrant, Group, GroupScore, HalfPoints, MatchId, Seatings, Sprt};

/// How many deals a match may have: so many that no sum of points overflows.
pub const MOST_DEALS: u64 = 10_000_000;

/// How many rounds a ladder without an end shows: the last ones.
pub const KEPT_ROUNDS: usize = 100;

/// A schedule is a pure fold: what it says next follows from what it was made
/// with and from the scores that it has been told, in whatever order these came.
/// So a tournament is resumed by telling the scores again.
pub trait Schedule: Send {
    /// The next group to be played, each once. None where more results must come
    /// first, and where nothing is left.
    fn next(&mut self) -> Option<Group>;

    /// Takes the score of a group that [`next`](Self::next) has named; one that
    /// it has taken before changes nothing, nor does one of a match that is over.
    ///
    /// # Errors
    ///
    /// [`NotScheduled`] where the schedule has named no such group.
    fn record(&mut self, score: &GroupScore) -> Result<(), NotScheduled>;

    /// Whether nothing is left to be played.
    fn is_over(&self) -> bool;

    /// How many groups will have counted at the end, at most, as far as can be known
    /// now: the deals that break a tie come in only one at a time. None where there
    /// is no end.
    fn planned(&self) -> Option<u64>;

    /// The rounds so far, with their matches; of those to come what is known. Where
    /// there is no end, the last [`KEPT_ROUNDS`] only.
    fn rounds(&self) -> Vec<Round>;

    /// Groups that count for nobody, such as those begun before a test had stopped
    /// its match: in order, every number that they may have, played or not.
    fn uncounted(&self) -> Vec<Range<u64>>;

    /// Who takes no further part, and why.
    fn set_aside(&self) -> Vec<SetAside>;

    /// Who came where, best first, where the schedule itself decides it (Swiss,
    /// elimination). None where standings do.
    fn ranking(&self) -> Option<Vec<Ranked>>;

    /// What a reader should know besides: a rematch that no pairing could avoid, a
    /// tie that the seeding broke.
    fn remarks(&self) -> Vec<Remark>;
}

/// A group that no schedule has named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("group {0} is not in the schedule")]
pub struct NotScheduled(pub u64);

/// A round of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// What it is called: "round 3", "semi-finals", "losers' round 2".
    pub name: String,
    /// Its matches.
    pub matches: Vec<Match>,
}

/// A match as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Match {
    /// Which.
    pub id: MatchId,
    /// Who plays, or where they will come from, in order of the lineup.
    pub players: Vec<Participant>,
    /// How many of its groups have been counted.
    pub groups: u64,
    /// How many it has at most.
    pub most: u64,
    /// What each has won in those that count.
    pub points: Vec<HalfPoints>,
    /// Whether it is decided.
    pub over: bool,
}

/// A place in a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Participant {
    /// It is known who.
    Entrant(Entrant),
    /// A house bot that does not count.
    Filler,
    /// Nobody: the other goes on without a game.
    Bye,
    /// Not known yet: "winner of match 3".
    Pending(String),
}

/// An entrant that takes no further part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetAside {
    /// Who.
    pub entrant: Entrant,
    /// Why.
    pub why: SetAsideReason,
    /// Whether its games count for nobody.
    pub annulled: bool,
}

/// A place in the final order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// The place, from 1; those who share one have the same.
    pub place: u32,
    /// Who.
    pub entrant: Entrant,
    /// What it was ranked by, in points of the schedule's own.
    pub points: f64,
    /// What orders it among those with as many points, the first that differs.
    pub ties: Vec<(TieBreak, f64)>,
}

/// Who takes part, and how much each match is.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// How many entrants there are.
    pub entrants: u32,
    /// How many seats the game has: 2 or 4.
    pub seats: u8,
    /// From which seatings each deal is played.
    pub seatings: Seatings,
    /// How many deals a match has; in an elimination, at most before a tie is
    /// broken.
    pub deals: u64,
    /// What stops a match of two before it has had all its deals.
    pub sprt: Option<Sprt>,
    /// When an entrant that fails is set aside.
    pub set_aside: SetAsideRule,
    /// Decides what the schedule leaves to chance. The same chance and the same
    /// scores give the same schedule.
    pub chance: [u8; 32],
}

/// How many deals an entrant may fail before it is set aside. A deal is failed
/// if every game of it was lost by a foul of the entrant's own.
///
/// In a round robin and a gauntlet it is then annulled: nothing that it took part
/// in counts. Elsewhere what it has played stands, it loses the match at hand, or in
/// games of four plays it to the end, and it takes part in no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SetAsideRule {
    /// Deals that it did not start.
    pub starts: u32,
    /// Deals failed in any way; where a fifth of its deals are more, that many. Its
    /// deals are those that the schedule has for it: in an elimination those of one
    /// who wins throughout, in a ladder without an end those of the rounds so far.
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

/// Which schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ScheduleShape {
    /// Everybody against everybody; in games of four every table of four, up to 16
    /// entrants.
    RoundRobin {},
    /// The first `challengers` entrants against each of the others, and not
    /// against each other; in games of four each with three of the others, so that
    /// it meets each as often.
    Gauntlet {
        /// How many of the first entrants challenge.
        #[serde(default = "one")]
        challengers: u32,
    },
    /// Rounds in which those with as many points meet: points for matches, or in
    /// games of four for games. A bye is worth a match that is won whole.
    Swiss {
        /// How many rounds; without it, as many as leave one who has won them all.
        #[serde(default)]
        rounds: Option<u32>,
    },
    /// Who loses a match is out; in games of four who is third or fourth is.
    SingleElimination {
        /// Whether the losers of the semi-finals play for the third place. In games
        /// of four the final itself says who is third.
        #[serde(default)]
        third_place: bool,
    },
    /// Who loses two matches is out. In games of four the grand final is one match
    /// between the last two of each bracket.
    DoubleElimination {},
    /// Rounds without an end in which those with near ratings meet.
    Ladder {
        /// How many rounds, if there is to be an end.
        #[serde(default)]
        rounds: Option<u32>,
    },
}

const fn one() -> u32 {
    1
}

/// Why there is no such schedule.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScheduleError {
    /// Nobody to play against.
    #[error("a tournament needs at least 2 entrants, and there are {0}")]
    TooFewEntrants(u32),
    /// A game of another size.
    #[error("a game has 2 or 4 seats, not {0}")]
    Seats(u8),
    /// Matches of nothing, or of too much.
    #[error("a match has 1 to {MOST_DEALS} deals, not {0}")]
    Deals(u64),
    /// A gauntlet without one of its sides.
    #[error(
        "a gauntlet needs at least 1 challenger and at least 1 other entrant: \
         of {entrants} entrants {challengers} are to be challengers"
    )]
    Challengers {
        /// How many there are in all.
        entrants: u32,
        /// How many of them challenge.
        challengers: u32,
    },
    /// A test of two bots where there are more at a table, or another end.
    #[error("a test of strength stops matches of two, in a round robin or a gauntlet only")]
    Test,
    /// A test that can't be carried out.
    #[error(transparent)]
    BadTest(#[from] BadSprt),
    /// More tables than anybody could want.
    #[error(
        "a round robin of {entrants} entrants at tables of four has {tables} tables, \
         more than {most}: use swiss or ladder instead",
        most = round_robin::MOST_TABLES
    )]
    Tables {
        /// How many entrants there are.
        entrants: u32,
        /// How many tables that makes.
        tables: u64,
    },
    /// A shape without a round.
    #[error("the number of rounds must be at least 1")]
    NoRounds,
    /// More rounds than anybody has opponents.
    #[error(
        "a swiss of {entrants} entrants has at most {most} rounds before somebody must \
         meet an opponent again, and {rounds} were asked for"
    )]
    Rounds {
        /// How many entrants there are.
        entrants: u32,
        /// How many rounds were asked for.
        rounds: u32,
        /// How many there may be.
        most: u32,
    },
    /// More than the shape is made for.
    #[error("a schedule of this shape has at most {most} entrants, not {entrants}")]
    TooManyEntrants {
        /// How many entrants there are.
        entrants: u32,
        /// How many there may be.
        most: u32,
    },
}

/// The schedule of this shape for these entrants.
///
/// A match's groups have numbers of their own from its number times a fixed
/// stride on: the deals of a match, and in an elimination as many again, in which
/// ties are broken. So a group's number, and with it its deal,
/// follows from its place in the schedule alone.
///
/// # Errors
///
/// [`ScheduleError`] where the shape does not suit the field.
pub fn schedule(field: &Field, shape: &ScheduleShape) -> Result<Box<dyn Schedule>, ScheduleError> {
    let length = length(field, shape)?;
    let entrants = field.entrants;
    let two = field.seats == 2;
    Ok(match *shape {
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
            let rules = MatchRules::new(field, length);
            Box::new(InRounds::new(field, rules, rounds, Ladder::new(field)))
        }
    })
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
    let (listed, most) = match shape {
        ScheduleShape::RoundRobin {} | ScheduleShape::Gauntlet { .. } => (true, 1_000),
        ScheduleShape::Swiss { .. } => (false, swiss::MOST_ENTRANTS),
        _ => (false, 4_000),
    };
    let length = match field.sprt {
        None => Length::Full,
        Some(sprt) if field.seats == 2 && listed => {
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

fn elimination_rules(field: &Field) -> MatchRules {
    let length = match field.seats {
        2 => Length::BestOf,
        _ => Length::Full,
    };
    MatchRules::new(field, length)
}
