//! Standings: what all results of a tournament say, in one table.

use std::{
    cmp::{Ordering, Reverse},
    collections::BTreeMap,
};

use serde::{Deserialize, Serialize};

use crate::{
    Entrant, GroupCount, HalfPoints,
    bradley_terry::{self, Pair},
    elo::{Comparison, Estimate, NoEstimate, Z95, enough_groups},
    group::{PARTS_OF_A_GAME, parts_of_a_half, places_among},
    luce::{NoFit, PRIOR},
    plackett_luce,
};

/// The table of a tournament.
///
/// What a house bot filled a seat for is counted for nobody: those that count are
/// ranked among themselves, and what they win from each other is scaled to a full
/// table, so that it is nobody's gain to sit with house bots. Games of one with
/// house bots alone count for nobody. Games with an entrant that is left
/// out count for nobody else: they are in its own row alone, which has neither
/// rank nor rating.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standings {
    /// How many seats the game has.
    pub seats: u8,
    /// How many games count.
    pub games: u64,
    /// How many groups count.
    pub groups: u64,
    /// One for each entrant, best first, as [`RankBy`] says; who has not played,
    /// and then who is left out, at the end.
    pub rows: Vec<StandingsRow>,
    /// Every two who have met, by their numbers.
    pub pairs: Vec<Meeting>,
}

/// What the table is in order of. Who is level in that is in order of the other,
/// and then of its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RankBy {
    /// The score: where everybody has played as much against the same.
    #[default]
    Score,
    /// The rating: where opponents differ, as in a ladder, in which good ones meet
    /// good ones; or where matches differ in length, as those that a test stops.
    Rating,
}

/// What one entrant has done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StandingsRow {
    /// Its place in the table, from 1. None for who is left out.
    pub rank: Option<u32>,
    /// Who.
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
    /// What it has won, at full tables: rounded where it shared a place at a table
    /// of three.
    pub points: HalfPoints,
    /// The same as a share of what could be won, from 0 to 1. None without a
    /// game.
    pub score: Option<f64>,
    /// How often it was first, second … of those that count, shared or not.
    pub places: Vec<u64>,
    /// Its mean place at full tables: the last of three is as one who is last of
    /// four. None without a game.
    pub mean_place: Option<f64>,
    /// By how much it was above each other, in points of the game and a game.
    pub margin: Option<Estimate>,
    /// Its rating in Elo, 0 on average over those who can be compared (see
    /// [`Fit`](crate::luce::Fit)), with the prior [`PRIOR`]: by
    /// [`bradley_terry`] for two seats and by [`plackett_luce`] for more.
    pub rating: Option<Estimate>,
}

/// What two have done at the same tables, seen from the first. Who came in
/// before the other has won; in games of two, who both lost are level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Meeting {
    /// The one with the lower number.
    pub first: Entrant,
    /// The other.
    pub second: Entrant,
    /// Groups played together.
    pub groups: u64,
    /// Games in which the first was ahead.
    pub wins: u64,
    /// Games in which they were level.
    pub draws: u64,
    /// Games in which the first was behind.
    pub losses: u64,
    /// How many groups brought the first 0, 1, 2 … half points against the
    /// second: for groups of two games LL, LD, DD or WL, WD, WW. None if not all
    /// had as many games.
    pub counts: Option<Vec<u64>>,
    /// What these say about their strengths. None if there are none.
    pub comparison: Option<Comparison>,
}

impl Standings {
    /// The standings after these groups, of a tournament with so many entrants.
    ///
    /// What can't have happened is ignored: groups with a lineup of another size
    /// than the game has seats or of more than four, with an entrant twice or with one that there is
    /// not, with a game that does not give everybody a place from 1 to `seats`,
    /// or more than 2^32 at once.
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
        // With a prior there is a fit; were there none, there would be no ratings.
        let ratings = ratings.unwrap_or_else(|_| vec![None; sums.len()]);
        let rows = Entrant::all(entrants).zip(sums).zip(ratings);
        let rows: Vec<StandingsRow> = rows
            .map(|((entrant, sum), rating)| sum.row(entrant, rating, seats))
            .collect();
        // So far a rank says who is ranked at all.
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
        self.rows.sort_by_key(|row| order(row, by));
        for (rank, row) in (1..).zip(&mut self.rows) {
            row.rank = row.rank.map(|_| rank);
        }
        self
    }

    /// The one pair of a match between two.
    #[must_use]
    pub fn duel(&self) -> Option<&Meeting> {
        match (self.seats, &self.rows[..], &self.pairs[..]) {
            (2, [_, _], [pair]) => Some(pair),
            _ => None,
        }
    }
}

/// Best first. Ratings are compared as whole millionths, so that rounding breaks
/// no ties, on whatever machine.
fn order(row: &StandingsRow, by: RankBy) -> impl Ord + use<> {
    let score = row.score.map(f64::to_bits);
    let rating = row.rating.map(|rating| (rating.value * 1e6).round() as i64);
    let score = score.map(u64::cast_signed);
    let [first, second] = match by {
        RankBy::Score => [score, rating],
        RankBy::Rating => [rating, score],
    };
    (
        row.rank.is_none(),
        Reverse(first),
        Reverse(second),
        row.entrant,
    )
}

/// A group that can have happened.
struct ValidGroup<'a> {
    /// Who counts, in order of their numbers, and where in the lineup.
    who: Vec<(usize, Entrant)>,
    games: &'a [Vec<u8>],
    /// For each game the place of each in the lineup among those that count.
    places: Vec<Vec<Option<u8>>>,
    /// What each place of the lineup has won, in half points.
    halves: Vec<u64>,
    /// How many parts a half point is.
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

/// What an entrant's groups add up to.
#[derive(Clone, Default)]
struct Sum {
    left_out: bool,
    games: u64,
    groups: u64,
    wins: u64,
    draws: u64,
    /// What it has won, and how many were ahead of it, twice, in parts.
    parts: u64,
    ahead: u64,
    places: Vec<u64>,
    /// Over groups: margins in sixths of one by each other, games, and their
    /// products; whole, so that the order of groups changes nothing.
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
        let margin = i128::from(tally.margins[at]) * i128::from(played.parts);
        for (sum, product) in [
            (&mut self.margin, margin),
            (&mut self.margin_squared, margin * margin),
            (&mut self.margin_games, margin * games),
            (&mut self.games_squared, games * games),
        ] {
            *sum = sum.saturating_add(times.saturating_mul(product));
        }
    }

    fn row(self, entrant: Entrant, rating: Option<Estimate>, seats: usize) -> StandingsRow {
        let others = seats.saturating_sub(1).max(1) as f64;
        let mean = |sum: f64| (self.games > 0).then(|| sum / self.games as f64);
        let whole = PARTS_OF_A_GAME as f64;
        let halves = u128::from(self.parts) * 2 * seats.saturating_sub(1) as u128;
        let whole_parts = u128::from(PARTS_OF_A_GAME);
        let halves = (halves + whole_parts / 2) / whole_parts;
        StandingsRow {
            rank: (!self.left_out).then_some(0),
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

    /// The error of a mean margin a game, where groups are the sample: what each
    /// has beyond its games times the mean (Cochran, "Sampling Techniques",
    /// 1977, on ratios).
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

/// What two have done.
#[derive(Default)]
struct Between {
    wins: u64,
    draws: u64,
    losses: u64,
    /// The groups by the half points of the first, apart by how many games they
    /// had.
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
        sizes.map(move |counts| Pair { players, counts })
    });
    let pairs: Vec<Pair<'_>> = pairs.collect();
    bradley_terry::fit(entrants, &pairs, PRIOR).map(|fit| fit.ratings)
}
