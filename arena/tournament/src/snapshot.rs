//! A run as it stands: everything that people and programs are told of it is computed
//! here, from its results alone.

use std::{cmp::Reverse, collections::BTreeMap, ops::Range};

use arena_events::standings::GameCounts;
use arena_ladder::{
    Entrant, Schedule, ScheduleShape, Seatings, Sprt,
    schedule::{Ranked, SetAside},
    sprt::Decision,
    standings::{Meeting, RankBy, Standings},
};
use arena_store::{BegunGame, Counter, Course, FirstFoul, GameEnding};
use referee_core::{FoulKind, GameKind, Root};
use referee_worker::Buckets;

use crate::{
    Definition, Plan, Results, TournamentError,
    totals::{DistinctGames, PartCounts, Totals},
};

/// A run as it stands.
pub struct Snapshot {
    /// The definition of what is played.
    pub definition: Definition,
    /// The game.
    pub kind: &'static dyn GameKind,
    /// The bots' names, by number.
    pub names: Vec<String>,
    /// The table.
    pub standings: Standings,
    /// The schedule after all scores. None where what it leaves to chance is not
    /// known here.
    pub schedule: Option<Box<dyn Schedule>>,
    /// The final places, where the schedule itself decides them.
    pub ranking: Option<Vec<Ranked>>,
    /// The bots that take no further part.
    pub set_aside: Vec<SetAside>,
    /// Numbers of groups and games: planned, counted and not counted.
    pub count: GameCounts,
    /// Number of deals that lack games and can still count, and the games that they have.
    pub half_played: (u64, u64),
    /// The figures that were counted beside the results.
    pub figures: RunFigures,
    /// For each pair of the standings how far its test has come.
    pub tests: Vec<Option<TestProgress>>,
    /// Purse of each bot after all games, where scores are payments: purses rank the table then.
    pub purses: BTreeMap<Entrant, i64>,
    /// Warnings for a reader of the table.
    pub warnings: Vec<Warning>,
    /// The groups that count, in parts in order of their numbers.
    pub(crate) parts: PartCounts,
}

/// The figures that were counted beside the results.
#[derive(Clone, Debug, Default)]
pub struct RunFigures {
    /// Of each bot, by number.
    pub bots: Vec<FiguresOfBot>,
    /// Number of games by ending.
    pub ended: BTreeMap<GameEnding, u64>,
    /// Times that chunks waited for a worker.
    pub queue: Buckets,
    /// Times that commits of the store took.
    pub commit: Buckets,
    /// The referee's worst delay in each second.
    pub late: Buckets,
    /// Half points by seat.
    pub seats: BTreeMap<usize, u64>,
}

/// The figures of one bot.
#[derive(Clone, Debug, Default)]
pub struct FiguresOfBot {
    /// From a question to its answer.
    pub thinking: Buckets,
    /// Number of its fouls by kind.
    pub fouls: BTreeMap<FoulKind, u64>,
    /// Number of its answers that were late but for a delay of the referee.
    pub excused: u64,
    /// Number of its games by seat.
    pub seats: BTreeMap<usize, u64>,
}

/// The progress of a test of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TestProgress {
    /// The log-likelihood ratio.
    pub llr: f64,
    /// At or below the first H0 is accepted, at or above the second H1.
    pub bounds: (f64, f64),
    /// The hypothesis that was accepted, if one was.
    pub decision: Option<Decision>,
}

/// A warning for a reader of the table.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// A bot has committed fouls.
    Fouls {
        /// Number of its fouls.
        count: u64,
        /// Number of its games: with as many fouls each had one.
        games: u64,
        /// The first one of the bot.
        first: FirstFoul,
    },
    /// Most games went like another one, so that error bars are too small.
    RepeatedGames {
        /// All games with a move.
        games: u64,
        /// Number of these that differ.
        distinct: u64,
    },
    /// Answers were late but for a delay of the referee.
    RefereeDelay {
        /// For each bot that it helped how many of its answers.
        excused: Vec<(Entrant, u64)>,
    },
    /// Bots sat in one seat more often than in another, so that the seat may have
    /// decided.
    UnequalSeats {
        /// For each such bot its games by seat.
        bots: Vec<(Entrant, Vec<u64>)>,
    },
}

impl Snapshot {
    /// Reads it off results.
    ///
    /// # Errors
    ///
    /// The results can't be read, or are not of this definition.
    pub async fn of<R: Results>(
        results: &R,
        definition: &Definition,
        names: Vec<String>,
        root: Option<&Root>,
    ) -> Result<Self, TournamentError> {
        let entrants = names.len();
        let kind = definition.kind()?;
        let seats = kind.info().seats;
        let (mut totals, counters, first_fouls) = tokio::try_join!(
            Totals::of(results, definition, entrants, root),
            results.counters(),
            results.first_fouls(),
        )?;
        let figures = RunFigures::of(&counters, entrants)?;
        let told: u64 = figures.ended.values().sum();
        let games_in_group = definition.seatings.games(seats.into()) as u64;
        // Games of a game with secrets are not told of before their group is complete.
        let begun = match kind.has_secrets() || told > totals.groups * games_in_group {
            false => Vec::new(),
            true => results.begun(&totals.unsettled()).await?,
        };
        let begun_courses: Vec<Course> = begun.iter().filter_map(|game| game.course).collect();
        let distinct = totals.distinct(results, &begun_courses).await?;
        let Totals {
            schedule,
            groups: complete,
            mut parts,
            mark,
            ..
        } = totals;
        let schedule_of = schedule.as_deref();
        let uncounted = schedule_of.map_or_else(Vec::new, Schedule::uncounted);
        let set_aside = schedule_of.map_or_else(Vec::new, Schedule::set_aside);
        let annulled = set_aside.iter().filter(|aside| aside.annulled);
        let annulled: Vec<Entrant> = annulled.map(|aside| aside.entrant).collect();
        let mut excluded = match uncounted.is_empty() {
            true => Vec::new(),
            false => results.complete_groups_within(&uncounted).await?,
        };
        // While it is being played more may have come between the two questions.
        excluded.retain(|group| Some(group.mark) <= mark);
        parts.subtract(&excluded);
        let mut standings = Standings::of(seats, entrants as u32, &parts.all(), &annulled);
        if kind.info().score_is_lead {
            standings = standings.with_scores_as_leads();
        }
        let mut standings = standings.ranked_by(rank_by(definition));
        let purse = i64::from(kind.info().purse);
        let mut purses = match purse {
            0 => BTreeMap::new(),
            _ => results.payments(),
        };
        if !purses.is_empty() {
            for purse_of in purses.values_mut() {
                *purse_of += purse;
            }
            standings.rank_by_key(|row| Reverse(purses.get(&row.entrant).copied()));
        }
        let begun = BegunGame::by_group(&begun);
        let incomplete_games = begun.values().map(|seatings| seatings.len() as u64).sum();
        let count = GameCounts {
            planned_groups: schedule_of.and_then(Schedule::planned),
            groups: standings.groups,
            games: standings.games,
            half_groups: begun.len() as u64,
            half_games: incomplete_games,
            excluded_groups: excluded.len() as u64,
            distinct_games: distinct.of_all,
            stored_games: complete * games_in_group + incomplete_games,
        };
        let test = |pair: &Meeting| TestProgress::of(definition.sprt.as_ref()?, pair);
        let tests = standings.pairs.iter().map(test).collect();
        Ok(Self {
            warnings: warnings(&figures, distinct, first_fouls, definition, seats.into()),
            definition: definition.clone(),
            kind,
            names,
            ranking: schedule_of.and_then(Schedule::ranking),
            standings,
            set_aside,
            count,
            half_played: half_played(&begun, &uncounted),
            figures,
            tests,
            purses,
            schedule,
            parts,
        })
    }

    /// Reads the run of a plan off its results.
    ///
    /// # Errors
    ///
    /// As [`of`](Self::of).
    pub async fn of_plan<R: Results>(results: &R, plan: &Plan) -> Result<Self, TournamentError> {
        let names = plan.names().map(str::to_owned).collect();
        Self::of(results, &plan.definition, names, Some(&plan.root)).await
    }

    /// The name of a bot.
    #[must_use]
    pub fn name(&self, entrant: Entrant) -> &str {
        &self.names[entrant.index()]
    }

    /// True if a bot has committed a foul.
    #[must_use]
    pub fn has_fouls(&self) -> bool {
        let mut bots = self.figures.bots.iter();
        bots.any(|bot| bot.fouls.values().any(|count| *count > 0))
    }

    /// The bots whose every game was lost because they did not start.
    #[must_use]
    pub fn never_started(&self) -> Vec<Entrant> {
        let figures = self.figures.bots.iter().enumerate();
        figures
            .filter(|(_, bot)| {
                let starts = bot.fouls.iter().filter(|(kind, _)| kind.is_start());
                let starts: u64 = starts.map(|(_, count)| count).sum();
                bot.games() > 0 && starts == bot.games()
            })
            .map(|(number, _)| Entrant::new(number as u32))
            .collect()
    }
}

impl FiguresOfBot {
    fn games(&self) -> u64 {
        self.seats.values().sum()
    }
}

/// The order of the table. Where opponents or lengths of matches differ, a score says little.
const fn rank_by(definition: &Definition) -> RankBy {
    match definition.shape {
        ScheduleShape::Ladder { .. } => RankBy::Rating,
        _ if definition.sprt.is_some() => RankBy::Rating,
        _ => RankBy::Score,
    }
}

/// Number of deals that lack games and can still count, and the games that they have. The games
/// that deals of a decided match lack are not played.
fn half_played(begun: &BTreeMap<u64, Vec<u32>>, uncounted: &[Range<u64>]) -> (u64, u64) {
    let open = begun
        .iter()
        .filter(|(group, _)| !uncounted.iter().any(|range| range.contains(group)));
    open.fold((0, 0), |(deals, games), (_, seatings)| {
        (deals + 1, games + seatings.len() as u64)
    })
}

impl TestProgress {
    /// The progress of the test after the deals of two; none without counts.
    #[must_use]
    pub fn of(sprt: &Sprt, pair: &Meeting) -> Option<Self> {
        let counts = pair.counts.as_deref()?;
        Some(Self {
            llr: sprt.llr(counts)?,
            bounds: sprt.bounds(),
            decision: sprt.decide(counts),
        })
    }
}

impl RunFigures {
    /// Sorts counters by what they count.
    fn of(
        counters: &[(Option<Entrant>, Counter, i64)],
        entrants: usize,
    ) -> Result<Self, TournamentError> {
        let mut figures = Self {
            bots: vec![FiguresOfBot::default(); entrants],
            ..Self::default()
        };
        for (who, counter, count) in counters {
            let count = u64::try_from(*count).map_err(|_| {
                TournamentError::Inconsistent(format!("the counter {counter} is {count}"))
            })?;
            let bot = who.and_then(|who| figures.bots.get_mut(who.index()));
            match (counter, bot) {
                (Counter::Thinking(bucket), Some(bot)) => bot.thinking.add(*bucket, count),
                (Counter::Foul(kind), Some(bot)) => *bot.fouls.entry(*kind).or_insert(0) += count,
                (Counter::Seat(seat), Some(bot)) => {
                    *bot.seats.entry(seat.index()).or_insert(0) += count;
                }
                (Counter::Ended(ending), None) => {
                    *figures.ended.entry(*ending).or_insert(0) += count;
                }
                (Counter::Excused, Some(bot)) => bot.excused += count,
                (Counter::QueueWait(bucket), None) => figures.queue.add(*bucket, count),
                (Counter::CommitTime(bucket), None) => figures.commit.add(*bucket, count),
                (Counter::RefereeDelay(bucket), None) => figures.late.add(*bucket, count),
                (Counter::HalfPoints(seat), None) => {
                    *figures.seats.entry(seat.index()).or_insert(0) += count;
                }
                // Fouls of fillers, and what other versions count.
                _ => {}
            }
        }
        Ok(figures)
    }
}

fn warnings(
    figures: &RunFigures,
    distinct: DistinctGames,
    first_fouls: Vec<FirstFoul>,
    definition: &Definition,
    seats: usize,
) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = first_fouls
        .into_iter()
        .map(|first| {
            let bot = &figures.bots[first.entrant.index()];
            Warning::Fouls {
                count: bot.fouls.values().sum(),
                games: bot.games(),
                first,
            }
        })
        .collect();
    let (games, distinct) = (distinct.with_moves, distinct.of_those_with_moves);
    // Half of them are to be expected: a bot that moves as its seed says does the same
    // from either side.
    if games >= 4 && 2 * distinct < games {
        warnings.push(Warning::RepeatedGames { games, distinct });
    }
    let excused = figures.bots.iter().enumerate();
    let excused: Vec<(Entrant, u64)> = excused
        .filter(|(_, figure)| figure.excused > 0)
        .map(|(bot, figure)| (Entrant::new(bot as u32), figure.excused))
        .collect();
    if !excused.is_empty() {
        warnings.push(Warning::RefereeDelay { excused });
    }
    let uneven = figures.bots.iter().enumerate().filter_map(|(bot, figure)| {
        let fair = figure.games() as f64 / seats as f64;
        let by_seat = by_seat(&figure.seats, seats);
        let most = by_seat.iter().max().copied().unwrap_or(0) as f64;
        // What a stop in the middle of a deal leaves does not matter.
        let matters = most - fair > 2.0 && most > 1.1 * fair;
        matters.then(|| (Entrant::new(bot as u32), by_seat))
    });
    let bots: Vec<(Entrant, Vec<u64>)> = uneven.collect();
    let on_purpose = definition.seatings == Seatings::Fixed;
    if !bots.is_empty() && !on_purpose {
        warnings.push(Warning::UnequalSeats { bots });
    }
    warnings
}

/// Counts by seat, with 0 for seats without a count.
pub(crate) fn by_seat(counts: &BTreeMap<usize, u64>, seats: usize) -> Vec<u64> {
    (0..seats)
        .map(|seat| counts.get(&seat).copied().unwrap_or(0))
        .collect()
}
