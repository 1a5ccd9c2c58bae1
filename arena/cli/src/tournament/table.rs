//! What came of a tournament so far: everything that people and programs are
//! told of it is read off the store here.

use std::collections::BTreeMap;

use anyhow::Context as _;
use arena_ladder::{
    Entrant, Schedule, ScheduleShape, Sprt,
    schedule::{Ranked, SetAside},
    sprt::Decision,
    standings::{Meeting, RankBy, Standings},
};
use arena_store::{Counter, FirstFoul, ScoredGroup, Store, Tournament, TournamentId};
use serde::Serialize;

use super::{Definition, buckets::Buckets, chance};
use crate::tally::plural;

/// A tournament as it stands.
pub(crate) struct Table {
    pub(crate) tournament: Tournament,
    pub(crate) definition: Definition,
    pub(crate) names: Vec<String>,
    pub(crate) standings: Standings,
    /// The schedule after all scores; none where it can't be made, because what
    /// it leaves to chance is not known here.
    pub(crate) schedule: Option<Box<dyn Schedule>>,
    pub(crate) ranking: Option<Vec<Ranked>>,
    pub(crate) set_aside: Vec<SetAside>,
    pub(crate) count: Count,
    pub(crate) figures: Figures,
    /// For each pair of the standings how far its test has come.
    pub(crate) tests: Vec<Option<Test>>,
    first_fouls: Vec<FirstFoul>,
}

/// How many games there are of which kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Count {
    /// Groups that are to be played, as far as can be known.
    pub(crate) planned: Option<u64>,
    /// Groups that count.
    pub(crate) groups: u64,
    /// Their games.
    pub(crate) games: u64,
    /// Groups of which some games are missing, which do not count yet.
    pub(crate) half: u64,
    /// The games that these have.
    pub(crate) half_games: u64,
    /// Whole groups that count for nobody: their match was decided before.
    pub(crate) in_vain: u64,
    /// Games that went differently from each other, of all that are stored.
    pub(crate) distinct: u64,
    /// All games that are stored.
    pub(crate) stored: u64,
}

/// What was counted beside the results.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) bots: Vec<Figure>,
    /// How games ended.
    pub(crate) ended: BTreeMap<String, u64>,
    /// Games that were played again for a delay of ours.
    pub(crate) voided: u64,
    /// How long work waited for a worker.
    pub(crate) queue: Buckets,
    /// How long a commit took.
    pub(crate) commit: Buckets,
    /// The referee's worst delay in each second.
    pub(crate) late: Buckets,
    /// Half points by seat.
    pub(crate) seats: BTreeMap<usize, u64>,
}

/// What was counted of one bot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figure {
    /// From a question to its answer.
    pub(crate) ask: Buckets,
    /// How often it committed which foul.
    pub(crate) fouls: BTreeMap<String, u64>,
    /// How often it sat where.
    pub(crate) seats: BTreeMap<usize, u64>,
}

/// How far a test of two has come.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Test {
    pub(crate) llr: f64,
    pub(crate) bounds: (f64, f64),
    pub(crate) decision: Option<Decision>,
}

impl Table {
    /// Reads it off the store.
    pub(crate) async fn of(store: &Store, tournament: &Tournament) -> anyhow::Result<Self> {
        let id = tournament.id;
        let definition = Definition::of(tournament)?;
        let entrants = tournament.entrants.len();
        let seats = definition.kind()?.info().seats;
        let mut count = Count::default();
        let schedule = match &tournament.root {
            None => None,
            Some(root) => {
                let mut schedule = definition.schedule(entrants, chance(root))?;
                let mut scores = scores(store, id).await?;
                let mut ahead = Ahead::of(&scores);
                while !scores.is_empty()
                    && let Some(group) = schedule.next()
                    && ahead.is_near(group.number)
                {
                    if let Some(scored) = scores.remove(&group.number) {
                        schedule.record(&scored.score)?;
                    }
                }
                Some(schedule)
            }
        };
        let schedule_of = schedule.as_deref();
        let uncounted = schedule_of.map_or_else(Vec::new, Schedule::uncounted);
        let set_aside = schedule_of.map_or_else(Vec::new, Schedule::set_aside);
        let annulled: Vec<Entrant> = set_aside
            .iter()
            .filter(|aside| aside.annulled)
            .map(|aside| aside.entrant)
            .collect();
        let groups = |tallies: &[arena_ladder::GroupCount]| -> u64 {
            tallies.iter().map(|tally| tally.groups).sum()
        };
        let all = store.group_counts(id, &[]).await?;
        let whole = groups(&all);
        let tallies = if uncounted.is_empty() {
            all
        } else {
            store.group_counts(id, &uncounted).await?
        };
        // Where opponents or lengths of matches differ, a score says little.
        let by = match definition.shape {
            ScheduleShape::Ladder { .. } => RankBy::Rating,
            _ if definition.sprt.is_some() => RankBy::Rating,
            _ => RankBy::Score,
        };
        let standings = Standings::of(seats, u32::try_from(entrants)?, &tallies, &annulled);
        let standings = standings.ranked_by(by);
        let figures = Figures::of(&store.counters(id).await?, entrants)?;
        count.stored = figures.ended.values().sum();
        count.planned = schedule_of.and_then(Schedule::planned);
        count.groups = standings.groups;
        count.games = standings.games;
        let a_group = definition.seatings.games(seats.into()) as u64;
        count.half_games = count.stored.saturating_sub(whole * a_group);
        if count.half_games > 0 {
            count.half = store.incomplete_groups(id).await?.len() as u64;
        }
        // While it is being played more may have come between the two questions.
        count.in_vain = whole.saturating_sub(groups(&tallies));
        count.distinct = store.distinct_games(id).await?;
        let tests = match definition.sprt {
            Some(sprt) => standings
                .pairs
                .iter()
                .map(|pair| Test::of(&sprt, pair))
                .collect(),
            None => vec![None; standings.pairs.len()],
        };
        Ok(Self {
            names: tournament
                .entrants
                .iter()
                .map(|entrant| entrant.name.clone())
                .collect(),
            ranking: schedule_of.and_then(Schedule::ranking),
            tournament: tournament.clone(),
            definition,
            standings,
            set_aside,
            count,
            figures,
            tests,
            first_fouls: store.first_fouls(id).await?,
            schedule,
        })
    }

    /// What it is called.
    pub(crate) fn name(&self, entrant: Entrant) -> &str {
        &self.names[entrant.index()]
    }

    /// What a reader should know besides.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = self
            .set_aside
            .iter()
            .map(|aside| {
                let none = if aside.annulled {
                    "; its games count for nobody else"
                } else {
                    ""
                };
                format!(
                    "{} is set aside: {}{none}",
                    self.name(aside.entrant),
                    aside.why
                )
            })
            .collect();
        for first in &self.first_fouls {
            let fouls: u64 = self.figures.bots[first.entrant.index()]
                .fouls
                .values()
                .sum();
            warnings.push(format!(
                "{} committed {}, the first in group {}, seating {}: {}",
                self.name(first.entrant),
                plural(fouls as u32, "foul"),
                first.group,
                first.seating,
                first.foul
            ));
        }
        let Count {
            distinct, stored, ..
        } = self.count;
        // Half of them are to be expected: a bot that moves as its seed says does
        // the same from either side.
        if stored >= 4 && 2 * distinct < stored {
            warnings.push(format!(
                "the sample is {}, but only {distinct} distinct: these bots repeat themselves, so \
                 the error bars are too small",
                plural(stored as u32, "game")
            ));
        }
        if self.figures.voided > 0 {
            warnings.push(format!(
                "the referee was late: {} had to be played again",
                plural(self.figures.voided as u32, "game")
            ));
        }
        warnings.extend(self.unequal_seats());
        warnings
    }

    /// Says of whom it matters where it sat.
    fn unequal_seats(&self) -> Option<String> {
        let uneven: Vec<String> = self
            .figures
            .bots
            .iter()
            .enumerate()
            .filter_map(|(bot, figure)| {
                let games: u64 = figure.seats.values().sum();
                let seats = usize::from(self.standings.seats);
                let fair = games as f64 / seats as f64;
                let most = figure.seats.values().max().copied().unwrap_or_default() as f64;
                // What a stop in the middle of a deal leaves is no matter.
                let matters = most - fair > 2.0 && most > 1.1 * fair;
                let counts: Vec<String> = (0..seats)
                    .map(|seat| {
                        figure
                            .seats
                            .get(&seat)
                            .copied()
                            .unwrap_or_default()
                            .to_string()
                    })
                    .collect();
                matters.then(|| format!("{} {}", self.names[bot], counts.join("-")))
            })
            .collect();
        (!uneven.is_empty()).then(|| {
            format!(
                "unequal seats, so who sat where may have decided (games by seat): {}",
                uneven.join(", ")
            )
        })
    }

    /// What the schedule has to say, with names.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let Some(schedule) = &self.schedule else {
            return Vec::new();
        };
        let remarks = schedule.remarks().into_iter();
        remarks
            .map(|remark| remark.words(|entrant| self.name(entrant)))
            .collect()
    }
}

impl Test {
    /// What the deals of two say.
    pub(crate) fn of(sprt: &Sprt, pair: &Meeting) -> Option<Self> {
        let counts = pair.counts.as_deref()?;
        Some(Self {
            llr: sprt.llr(counts)?,
            bounds: sprt.bounds(),
            decision: sprt.decide(counts),
        })
    }
}

impl Figures {
    /// Sorts counters by what they count.
    fn of(counters: &[(Option<Entrant>, Counter, i64)], entrants: usize) -> anyhow::Result<Self> {
        let mut figures = Self {
            bots: vec![Figure::default(); entrants],
            ..Self::default()
        };
        for (who, counter, count) in counters {
            let count = u64::try_from(*count)
                .with_context(|| format!("the counter {counter} is {count}"))?;
            let bot = who.and_then(|who| figures.bots.get_mut(who.index()));
            match (counter, bot) {
                (Counter::Thinking(bucket), Some(bot)) => bot.ask.add(*bucket, count),
                (Counter::Foul(kind), Some(bot)) => {
                    let word = kind.words().replace(' ', "-");
                    *bot.fouls.entry(word).or_default() += count;
                }
                (Counter::Seat(seat), Some(bot)) => {
                    *bot.seats.entry(seat.index()).or_default() += count;
                }
                (Counter::Ended(ending), None) => {
                    *figures.ended.entry(ending.to_string()).or_default() += count;
                }
                (Counter::Voided, None) => figures.voided += count,
                (Counter::QueueWait(bucket), None) => figures.queue.add(*bucket, count),
                (Counter::CommitTime(bucket), None) => figures.commit.add(*bucket, count),
                (Counter::RefereeDelay(bucket), None) => figures.late.add(*bucket, count),
                (Counter::HalfPoints(seat), None) => {
                    *figures.seats.entry(seat.index()).or_default() += count;
                }
                // Fouls of fillers, and what other versions count.
                _ => {}
            }
        }
        Ok(figures)
    }
}

/// How far a schedule is asked for what lies beyond all that has been played: a
/// match that a test may stop can have millions of deals.
pub(super) struct Ahead {
    last: Option<u64>,
    beyond: u32,
}

impl Ahead {
    const MOST: u32 = 100_000;

    pub(super) fn of(scores: &BTreeMap<u64, ScoredGroup>) -> Self {
        Self {
            last: scores.last_key_value().map(|(number, _)| *number),
            beyond: 0,
        }
    }

    /// Whether what comes may still be of use after this group.
    pub(super) fn is_near(&mut self, number: u64) -> bool {
        self.beyond += u32::from(self.last.is_none_or(|last| number > last));
        self.beyond < Self::MOST
    }
}

/// Every complete group that the store has, by number.
pub(super) async fn scores(
    store: &Store,
    id: TournamentId,
) -> anyhow::Result<BTreeMap<u64, ScoredGroup>> {
    let mut scores = BTreeMap::new();
    let mut after = None;
    loop {
        let page = store.scores(id, after, 10_000).await?;
        let Some(last) = page.last() else {
            return Ok(scores);
        };
        after = Some(last.score.number);
        scores.extend(page.into_iter().map(|group| (group.score.number, group)));
    }
}
