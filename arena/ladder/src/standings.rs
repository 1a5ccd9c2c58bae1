//! Standings: the table of a tournament, computed from all of its results.

use std::{
    cmp::{Ordering, Reverse},
    collections::BTreeMap,
};

use serde::{Deserialize, Serialize};

use crate::{
    Entrant, GroupCount, HalfPoints,
    bradley_terry::{self, PairGroups},
    elo::{Comparison, Estimate, NoEstimate, Z95, enough_groups},
    group::{PARTS_OF_A_GAME, parts_of_a_half, places_among},
    luce::{NoFit, PRIOR},
    plackett_luce,
};

/// The table of a tournament.
///
/// House bots that fill seats are left out of every game: places are those among the
/// entrants, and points are scaled to a full table, so that nobody gains from playing
/// against house bots. Games with one entrant only are not counted. Games with an
/// entrant that is left out count in the row of that entrant only, which has neither
/// rank nor rating.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standings {
    /// Number of seats of the game.
    pub seats: u8,
    /// Number of games that count.
    pub games: u64,
    /// Number of groups that count.
    pub groups: u64,
    /// One row for each entrant, in order of [`RankBy`], the best first; then those that
    /// have not played, then those that are left out.
    pub rows: Vec<EntrantRow>,
    /// Every pair that has met, in order of their numbers.
    pub pairs: Vec<Meeting>,
}

/// The order of the table. Ties are broken by the other of the two; rows that are level in both
/// share a rank and stand in order of the entrants' numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RankBy {
    /// The score: for tournaments in which all play equally often against the same
    /// opponents.
    #[default]
    Score,
    /// The rating: for tournaments in which opponents differ, as in a ladder, or the
    /// lengths of matches, as with a test that stops them.
    Rating,
}

/// The results of one entrant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntrantRow {
    /// Its place in the table, from 1; those who share one have the same. None before its
    /// first game, and if it is left out.
    pub rank: Option<u32>,
    /// The entrant.
    pub entrant: Entrant,
    /// Games played.
    pub games: u64,
    /// Groups played.
    pub groups: u64,
    /// Games in which it was first alone.
    pub wins: u64,
    /// Games in which it shared the first place.
    pub draws: u64,
    /// All others.
    pub losses: u64,
    /// Its points, scaled to full tables and rounded to half points.
    pub points: HalfPoints,
    /// Its points divided by the points that it could have won, from 0 to 1. None
    /// without a game.
    pub score: Option<f64>,
    /// Number of times that it was first, second … among the entrants, shared places included.
    pub places: Vec<u64>,
    /// Its mean place, scaled to full tables: the last of three counts as the last of
    /// four. None without a game.
    pub mean_place: Option<f64>,
    /// Its score less the score of an opponent, on average over opponents and games, in
    /// the game's own unit; its score alone after
    /// [`with_scores_as_leads`](Standings::with_scores_as_leads).
    pub margin: Option<Estimate>,
    /// Its rating in Elo, with mean 0 over the main field (see
    /// [`Fit`](crate::luce::Fit)), with the prior [`PRIOR`]: by
    /// [`bradley_terry`] for two seats and by [`plackett_luce`] for more.
    pub rating: Option<Estimate>,
}

/// The results of a pair in the games that both played, as seen by the first. The one
/// with the better place has won; games of two that both lost are draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Meeting {
    /// The entrant with the lower number.
    pub first: Entrant,
    /// The other.
    pub second: Entrant,
    /// Groups played together.
    pub groups: u64,
    /// Games in which the first was ahead.
    pub wins: u64,
    /// Games in which they shared a place.
    pub draws: u64,
    /// Games in which the first was behind.
    pub losses: u64,
    /// In how many groups the first won 0, 1, 2 … half points from the second: for
    /// groups of two games LL, LD, DD or WL, WD, WW. None if groups differ in their
    /// number of games.
    pub counts: Option<Vec<u64>>,
    /// The comparison of their strengths by these counts; None without counts.
    pub comparison: Option<Comparison>,
}

impl Standings {
    /// The standings of a tournament with this many entrants after these groups.
    ///
    /// Impossible groups are ignored: with another number of places in the lineup than
    /// `seats`, with more than four entrants, with an entrant twice or one that does not
    /// exist, with a game in which a place is not in 1 to `seats`, or with a count above
    /// 2^32.
    #[must_use]
    pub fn of(seats: u8, entrants: u32, tallies: &[GroupCount], left_out: &[Entrant]) -> Self {
        let seats = usize::from(seats);
        let mut sums = vec![
            Sum {
                places: vec![0; seats],
                ..Sum::default()
            };
            entrants as usize
        ];
        for entrant in left_out {
            if let Some(sum) = sums.get_mut(entrant.index()) {
                sum.left_out = true;
            }
        }
        let (mut games, mut groups) = (0, 0);
        let mut pairs: BTreeMap<[Entrant; 2], Between> = BTreeMap::new();
        let mut rated = Vec::new();
        for tally in tallies {
            let Some(played) = ValidGroup::of(seats, sums.len(), tally) else {
                continue;
            };
            let void = played
                .who
                .iter()
                .any(|&(_, who)| sums[who.index()].left_out);
            for &(at, who) in &played.who {
                let sum = &mut sums[who.index()];
                if !void || sum.left_out {
                    sum.add(at, &played, tally);
                }
            }
            if !void {
                games += tally.groups * played.games.len() as u64;
                groups += tally.groups;
                rated.push(tally);
                for (n, &(at, first)) in played.who.iter().enumerate() {
                    for &(against, second) in &played.who[n + 1..] {
                        let between = pairs.entry([first, second]).or_default();
                        between.add(at, against, played.games, tally.groups);
                    }
                }
            }
        }
        let ratings = match seats {
            2 => pairwise(sums.len(), &pairs),
            _ => plackett_luce::fit(sums.len(), rated, PRIOR).map(|fit| fit.ratings),
        };
        // With a prior there is always a fit.
        let ratings = ratings.unwrap_or_else(|_| vec![None; sums.len()]);
        let rows = Entrant::all(entrants).zip(sums).zip(ratings);
        let rows: Vec<EntrantRow> = rows
            .map(|((entrant, sum), rating)| sum.row(entrant, rating, seats))
            .collect();
        // Until here a rank only says that the entrant can have one.
        let standings = Self {
            seats: seats as u8,
            games,
            groups,
            rows,
            pairs: pairs.into_iter().map(Between::meeting).collect(),
        };
        standings.ranked_by(RankBy::Score)
    }

    /// The same table in another order; [`of`](Self::of) ranks by score.
    #[must_use]
    pub fn ranked_by(mut self, by: RankBy) -> Self {
        self.rows.sort_by_key(|row| row.entrant);
        self.rank_by_key(|row| order(row, by));
        self
    }

    /// The same table for a game of two whose scores are leads: each score is the
    /// difference already, and the other seat's is its negative.
    #[must_use]
    pub fn with_scores_as_leads(mut self) -> Self {
        for margin in self.rows.iter_mut().filter_map(|row| row.margin.as_mut()) {
            margin.value /= 2.0;
            margin.error = margin.error.map(|error| error / 2.0);
        }
        self
    }

    /// Orders the rows by something else, those with the least key first; rows that are
    /// level in it stay in order. Those that are level in score and rating, too, share a rank.
    pub fn rank_by_key<K: Ord>(&mut self, key: impl Fn(&EntrantRow) -> K) {
        self.rows.sort_by_key(&key);
        let mut before: Option<(u32, _)> = None;
        for (place, row) in (1..).zip(&mut self.rows) {
            if row.rank.is_some() {
                let level = (key(row), figures(row));
                let shared = before.as_ref().filter(|(_, of)| *of == level);
                let rank = shared.map_or(place, |(rank, _)| *rank);
                row.rank = Some(rank);
                before = Some((rank, level));
            }
        }
    }

    /// The pair of a match between two entrants.
    #[must_use]
    pub fn duel(&self) -> Option<&Meeting> {
        match (self.seats, &self.rows[..], &self.pairs[..]) {
            (2, [_, _], [pair]) => Some(pair),
            _ => None,
        }
    }
}

/// The sort key, the best first.
fn order(row: &EntrantRow, by: RankBy) -> impl Ord + use<> {
    let [score, rating] = figures(row);
    let [first, second] = match by {
        RankBy::Score => [score, rating],
        RankBy::Rating => [rating, score],
    };
    let left_out = row.rank.is_none() && row.games > 0;
    (left_out, Reverse(first), Reverse(second))
}

/// The score and the rating, as they are compared: ratings in whole millionths, so that
/// rounding errors break no ties, and every machine has the same order.
fn figures(row: &EntrantRow) -> [Option<i64>; 2] {
    let score = row.score.map(|score| score.to_bits().cast_signed());
    let rating = row.rating.map(|rating| (rating.value * 1e6).round() as i64);
    [score, rating]
}

/// A group that is possible.
struct ValidGroup<'a> {
    /// The entrants, in order of their numbers, with their indices in the lineup.
    who: Vec<(usize, Entrant)>,
    games: &'a [Vec<u8>],
    /// For each game the place of each entrant among the entrants, in order of the
    /// lineup.
    places: Vec<Vec<Option<u8>>>,
    /// The half points of each place of the lineup.
    halves: Vec<u64>,
    /// Number of parts that a half point is worth.
    parts: u64,
}

impl<'a> ValidGroup<'a> {
    fn of(seats: usize, entrants: usize, tally: &'a GroupCount) -> Option<Self> {
        let lineup = tally.lineup.iter().enumerate();
        let who = lineup.filter_map(|(at, &who)| Some((at, who?)));
        let mut who: Vec<(usize, Entrant)> = who.collect();
        who.sort_unstable_by_key(|&(_, who)| who);
        let twice = who.windows(2).any(|two| two[0].1 == two[1].1);
        let known = who.last()?.1.index() < entrants;
        let sized = tally.lineup.len() == seats && tally.margins.len() == seats;
        let placed = |places: &Vec<u8>| {
            let real = |&place: &u8| (1..=seats).contains(&usize::from(place));
            places.len() == seats && places.iter().all(real)
        };
        let counted = (1..=1 << 32).contains(&tally.groups) && !tally.places.is_empty();
        if twice || !known || !sized || !counted || !tally.places.iter().all(placed) {
            return None;
        }
        let parts = parts_of_a_half(&tally.lineup)?;
        let mut halves = vec![0; seats];
        for places in &tally.places {
            for (sum, half) in halves
                .iter_mut()
                .zip(HalfPoints::among(&tally.lineup, places))
            {
                *sum += u64::from(half.0);
            }
        }
        Some(Self {
            who,
            games: &tally.places,
            places: (tally.places.iter())
                .map(|places| places_among(&tally.lineup, places))
                .collect(),
            halves,
            parts,
        })
    }
}

/// Sums over the groups of an entrant.
#[derive(Clone, Default)]
struct Sum {
    left_out: bool,
    games: u64,
    groups: u64,
    wins: u64,
    draws: u64,
    /// The parts that it won, and twice the number of entrants ahead of it, in parts.
    parts: u64,
    ahead: u64,
    places: Vec<u64>,
    /// Sums over groups of the margin against one opponent, in sixths, of the number of
    /// games, and of their products. As whole numbers they do not depend on the order.
    margin: i128,
    margin_squared: i128,
    margin_games: i128,
    games_squared: i128,
}

impl Sum {
    fn add(&mut self, at: usize, played: &ValidGroup<'_>, tally: &GroupCount) {
        let groups = tally.groups;
        self.groups += groups;
        self.games += groups * played.games.len() as u64;
        self.parts += groups * played.halves[at] * played.parts;
        for places in &played.places {
            let Some(place) = places[at] else { continue };
            self.places[usize::from(place) - 1] += groups;
            self.ahead += groups * u64::from(place - 1) * 2 * played.parts;
            if place == 1 {
                let first = places.iter().filter(|&&place| place == Some(1));
                let alone = first.count() == 1;
                *(if alone {
                    &mut self.wins
                } else {
                    &mut self.draws
                }) += groups;
            }
        }
        let (times, games) = (i128::from(groups), played.games.len() as i128);
        let (margin, parts) = (tally.margins[at], i128::from(played.parts));
        for (sum, more, each) in [
            (&mut self.margin, margin.sum, parts),
            (&mut self.margin_squared, margin.squares, parts * parts),
            (&mut self.margin_games, margin.sum, parts * games),
            (&mut self.games_squared, times, games * games),
        ] {
            *sum = sum.saturating_add(more.saturating_mul(each));
        }
    }

    fn row(self, entrant: Entrant, rating: Option<Estimate>, seats: usize) -> EntrantRow {
        let others = seats.saturating_sub(1).max(1) as f64;
        let mean = |sum: f64| (self.games > 0).then(|| sum / self.games as f64);
        let whole = PARTS_OF_A_GAME as f64;
        let halves = u128::from(self.parts) * 2 * seats.saturating_sub(1) as u128;
        let whole_parts = u128::from(PARTS_OF_A_GAME);
        let halves = (halves + whole_parts / 2) / whole_parts;
        EntrantRow {
            rank: (!self.left_out && self.games > 0).then_some(0),
            entrant,
            games: self.games,
            groups: self.groups,
            wins: self.wins,
            draws: self.draws,
            losses: self.games - self.wins - self.draws,
            points: HalfPoints(u32::try_from(halves).unwrap_or(u32::MAX)),
            score: mean(self.parts as f64 / whole),
            mean_place: mean(self.ahead as f64 / whole * others).map(|ahead| 1.0 + ahead),
            margin: mean(self.margin as f64).map(|value| Estimate {
                value: value / (whole / 2.0),
                error: self.margin_error(value).map(|error| error / (whole / 2.0)),
            }),
            rating,
            places: self.places,
        }
    }

    /// The error of the mean margin of a game, with groups as the sample: the ratio
    /// estimator of Cochran, "Sampling Techniques", 1977, with the residuals
    /// `margin - games * mean`.
    fn margin_error(&self, mean: f64) -> Result<f64, NoEstimate> {
        let squares = self.margin_squared as f64 - 2.0 * mean * self.margin_games as f64
            + mean * mean * self.games_squared as f64;
        let groups = self.groups as f64;
        let deviation = (squares.max(0.0) * groups / (groups - 1.0)).sqrt();
        let error = Z95 * deviation / self.games as f64;
        enough_groups(self.groups)?;
        if error > 1e-7 * (1.0 + mean.abs()) {
            Ok(error)
        } else {
            Err(NoEstimate::NoVariance)
        }
    }
}

/// Sums over the games of a pair.
#[derive(Default)]
struct Between {
    wins: u64,
    draws: u64,
    losses: u64,
    /// For each number of games of a group, the groups by the half points of the first.
    counts: BTreeMap<usize, Vec<u64>>,
}

impl Between {
    fn add(&mut self, first: usize, second: usize, games: &[Vec<u8>], groups: u64) {
        let mut half = 0;
        for places in games {
            let (sum, won) = match places[first].cmp(&places[second]) {
                Ordering::Less => (&mut self.wins, 2),
                Ordering::Equal => (&mut self.draws, 1),
                Ordering::Greater => (&mut self.losses, 0),
            };
            *sum += groups;
            half += won;
        }
        let counts = self.counts.entry(games.len());
        counts.or_insert_with(|| vec![0; 2 * games.len() + 1])[half] += groups;
    }

    fn meeting(([first, second], between): ([Entrant; 2], Self)) -> Meeting {
        let groups = between.counts.values().flatten().sum();
        let mut sizes = between.counts.into_values();
        let counts = sizes.next().filter(|_| sizes.next().is_none());
        Meeting {
            first,
            second,
            groups,
            wins: between.wins,
            draws: between.draws,
            losses: between.losses,
            comparison: counts.as_deref().and_then(Comparison::of),
            counts,
        }
    }
}

fn pairwise(
    entrants: usize,
    pairs: &BTreeMap<[Entrant; 2], Between>,
) -> Result<Vec<Option<Estimate>>, NoFit> {
    let pairs = pairs.iter().flat_map(|(players, between)| {
        let players = players.map(Entrant::index);
        let sizes = between.counts.values();
        sizes.map(move |counts| PairGroups { players, counts })
    });
    let pairs: Vec<PairGroups<'_>> = pairs.collect();
    bradley_terry::fit(entrants, &pairs, PRIOR).map(|fit| fit.ratings)
}
