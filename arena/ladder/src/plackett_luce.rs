//! Plackett-Luce: ratings from games of more than two.
//!
//! A game gives an order of its players: the first is chosen from all, the second from
//! the rest, and so on. House bots are left out first. Players that share a place count
//! as all orders that they could have, in equal parts; for two that is half a win each,
//! as in [`bradley_terry`](crate::bradley_terry). The prior is the same too.
//!
//! Plackett, "The Analysis of Permutations", 1975.

use std::collections::{BTreeMap, BTreeSet};

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng as _, SeedableRng as _},
};
use statrs::distribution::{ContinuousCDF as _, Normal};

use crate::{
    GroupCount,
    luce::{Choices, Fit, Likeliest, NoFit},
};

/// The number of bootstrap samples for the error bars.
pub const REPLICATES: usize = 200;

/// Larger tables are not rated.
pub const MOST_SEATS: usize = 4;

/// A game is divided into this many parts, so that every order of players that share a
/// place is a whole number of parts.
const PARTS: u32 = 12;

/// With more rare results than this (fewer than [`FEW`] groups each), their groups are put
/// into this many random batches, and batches are drawn instead of groups.
const BATCHES: usize = 1024;

/// From this many groups with the same result on, the sum of their Poisson variables is
/// drawn at once.
const FEW: u64 = 16;

/// The joint ratings of this many players. For each player, `prior` draws against an
/// average player are added: [`PRIOR`](crate::luce::PRIOR) is the usual number, and 0
/// gives the maximum likelihood.
///
/// The error bars are a bootstrap over groups. In a sample the weight of a group is a
/// Poisson variable with mean 1 (Hanley and MacGibbon 2006), and one step of Newton's
/// method gives the ratings of the sample (the score bootstrap, Kline and Santos 2012).
/// The random numbers are the same every time.
///
/// Groups with an entrant twice or with one that does not exist are ignored, and so are
/// games without a place for everybody.
///
/// # Errors
///
/// The prior is negative or too large, or it is 0 and the likelihood has no maximum.
pub fn fit<'a>(
    players: usize,
    tallies: impl IntoIterator<Item = &'a GroupCount>,
    prior: f64,
) -> Result<Fit, NoFit> {
    let rows = tallies
        .into_iter()
        .filter_map(|tally| ChoiceCounts::of(players, tally));
    let rows = merged(rows.collect());
    let mut groups = vec![0; players];
    let mut tables: BTreeMap<&[usize], Vec<f64>> = BTreeMap::new();
    let mut varied = BTreeSet::new();
    for alike in rows.chunk_by(|a, b| a.players == b.players) {
        // Groups with the same result are one row.
        if alike.len() == 1 && alike[0].groups > 1 {
            continue;
        }
        for row in alike {
            for &player in &row.players {
                groups[player] = row.groups.saturating_add(groups[player]);
            }
            for (set, parts) in row.parts.chunks_exact(row.players.len()).enumerate() {
                for a in members(set, row.players.len()).filter(|&a| parts[a] > 0) {
                    let others = members(set, row.players.len());
                    varied.extend(others.map(|b| (row.players[a], row.players[b])));
                }
            }
        }
    }
    for row in &rows {
        let table = tables.entry(&row.players);
        let table = table.or_insert_with(|| vec![0.0; row.parts.len()]);
        for (sum, &parts) in table.iter_mut().zip(&row.parts) {
            *sum += row.groups as f64 * f64::from(parts) / f64::from(PARTS);
        }
    }
    let mut sets: BTreeMap<Members, [f64; MOST_SEATS]> = BTreeMap::new();
    for (seated, table) in &tables {
        for (set, chosen) in table.chunks_exact(seated.len()).enumerate() {
            if chosen.iter().all(|&times| times == 0.0) {
                continue;
            }
            let mut at = [None; MOST_SEATS];
            let those = members(set, seated.len()).zip(&mut at);
            those.for_each(|(a, at)| *at = Some(seated[a]));
            let sums = sets.entry(at).or_default().iter_mut();
            for (sum, a) in sums.zip(members(set, seated.len())) {
                *sum += chosen[a];
            }
        }
    }
    let sets = sets.into_iter().map(|(at, chosen)| {
        let set: Vec<usize> = at.into_iter().flatten().collect();
        let chosen = chosen[..set.len()].to_vec();
        (set, chosen)
    });
    let choices = Choices {
        players,
        sets: sets.collect(),
        varied,
    };
    let all = rows
        .iter()
        .fold(0, |all, row| row.groups.saturating_add(all));
    let likeliest = choices.fit(prior)?;
    let variances = bootstrap(&choices, &likeliest, &rows)?;
    Ok(likeliest.into_fit(&groups, all, &variances))
}

/// The players of a table, in order of their numbers.
type Members = [Option<usize>; MOST_SEATS];

/// The choices in groups with the same players and the same result.
struct ChoiceCounts {
    /// The players, in order of their numbers.
    players: Vec<usize>,
    /// Number of times that each of them was chosen from each set in one such group, in [`PARTS`]
    /// of a game. The index of a set has a bit for each player.
    parts: Vec<u32>,
    groups: u64,
}

impl ChoiceCounts {
    fn of(players: usize, tally: &GroupCount) -> Option<Self> {
        let seats = tally.lineup.iter().zip(0..);
        let seats = seats.filter_map(|(&who, at)| Some((who?.index(), at)));
        let mut seats: Vec<(usize, usize)> = seats.collect();
        seats.sort_unstable();
        let twice = seats.windows(2).any(|pair| pair[0].0 == pair[1].0);
        let known = seats.last()?.0 < players;
        let count = seats.len();
        if twice || !known || !(2..=MOST_SEATS).contains(&count) || tally.groups == 0 {
            return None;
        }
        let mut row = Self {
            players: seats.iter().map(|&(who, _)| who).collect(),
            parts: vec![0; count << count],
            groups: tally.groups,
        };
        for places in &tally.places {
            if places.len() == tally.lineup.len() {
                row.add(&seats, places);
            }
        }
        Some(row)
    }

    /// Adds a game.
    fn add(&mut self, seats: &[(usize, usize)], places: &[u8]) {
        let place = |member: usize| places[seats[member].1];
        let those = |with: &dyn Fn(usize) -> bool| -> usize {
            (0..seats.len())
                .filter(|&at| with(at))
                .map(|at| 1 << at)
                .sum()
        };
        for at in 0..seats.len() {
            // Each subset of the players that share this place is left at some moment,
            // together with all players behind; subsets of the same size are equally
            // frequent.
            let level = those(&|other| place(other) == place(at));
            let behind = those(&|other| place(other) > place(at));
            let mut left = level;
            while left > 0 {
                let set = left | behind;
                if left & (1 << at) != 0 && !set.is_power_of_two() {
                    let size = left.count_ones();
                    let ways = choose(level.count_ones(), size);
                    self.parts[set * seats.len() + at] += PARTS / (ways * size);
                }
                left = (left - 1) & level;
            }
        }
    }

    /// The first derivatives of the log-likelihood of one such group.
    fn slopes(&self, at: &Likeliest) -> [f64; MOST_SEATS] {
        let count = self.players.len();
        let mut slopes = [0.0; MOST_SEATS];
        for (set, parts) in self.parts.chunks_exact(count).enumerate() {
            let all: u32 = parts.iter().sum();
            if all == 0 {
                continue;
            }
            let theta = |a: usize| at.theta[self.players[a]];
            let most = members(set, count)
                .map(theta)
                .fold(f64::NEG_INFINITY, f64::max);
            let mut strengths = [0.0; MOST_SEATS];
            for a in members(set, count) {
                strengths[a] = (theta(a) - most).exp();
            }
            let expected = f64::from(all) / strengths.iter().sum::<f64>();
            for a in members(set, count) {
                slopes[a] += f64::from(parts[a]) - expected * strengths[a];
            }
        }
        slopes.map(|slope| slope / f64::from(PARTS))
    }
}

/// The rows in a fixed order, equal ones merged, so that the order of the groups changes
/// nothing, not even by rounding.
fn merged(mut rows: Vec<ChoiceCounts>) -> Vec<ChoiceCounts> {
    rows.sort_unstable_by(|a, b| (&a.players, &a.parts).cmp(&(&b.players, &b.parts)));
    rows.dedup_by(|row, kept| {
        let alike = row.players == kept.players && row.parts == kept.parts;
        if alike {
            kept.groups = kept.groups.saturating_add(row.groups);
        }
        alike
    });
    rows
}

/// The variances of the centred strengths.
fn bootstrap(choices: &Choices, at: &Likeliest, rows: &[ChoiceCounts]) -> Result<Vec<f64>, NoFit> {
    let players = at.theta.len();
    let (prior, _) = at.of_prior();
    let information = choices.information(at).factor().ok_or(NoFit::Endless)?;
    let mut chance = ChaCha8Rng::from_seed(*b"the same draws for the same data");
    let samples = samples(at, rows, &mut chance);
    let (mut sums, mut squares) = (vec![0.0; players], vec![0.0; players]);
    for _ in 0..REPLICATES {
        let mut gradient = prior.clone();
        for (groups, slopes) in &samples {
            let times = resampled(*groups, &mut chance);
            for (sum, slope) in gradient.iter_mut().zip(slopes) {
                *sum += times * slope;
            }
        }
        let mut step = information.solve(gradient);
        at.centred(&mut step);
        for (i, step) in step.into_iter().enumerate() {
            sums[i] += step;
            squares[i] += step * step;
        }
    }
    let count = REPLICATES as f64;
    let each = sums.iter().zip(squares);
    let variance = |(sum, square)| f64::max(square - sum * sum / count, 0.0) / (count - 1.0);
    Ok(each.map(variance).collect())
}

/// The items to draw from: the number of groups of a kind, and the first derivatives of
/// one of them.
fn samples(at: &Likeliest, rows: &[ChoiceCounts], chance: &mut ChaCha8Rng) -> Vec<(u64, Vec<f64>)> {
    let rare = |row: &&ChoiceCounts| row.groups < FEW;
    let batched = rows.iter().filter(rare).count() > BATCHES;
    let none = || (1, vec![0.0; at.theta.len()]);
    let mut samples = Vec::new();
    if batched {
        samples.resize_with(BATCHES, none);
    }
    for row in rows {
        let slopes = row.slopes(at);
        let add = |to: &mut [f64]| {
            for (&player, slope) in row.players.iter().zip(slopes) {
                to[player] += slope;
            }
        };
        if batched && rare(&row) {
            for _ in 0..row.groups {
                add(&mut samples[chance.next_u32() as usize % BATCHES].1);
            }
        } else {
            let (_, mut kind) = none();
            add(&mut kind);
            samples.push((row.groups, kind));
        }
    }
    samples
}

/// The weight of some groups with the same result in a sample: a Poisson variable whose
/// mean is their number; from [`FEW`] on, its normal approximation.
fn resampled(groups: u64, chance: &mut ChaCha8Rng) -> f64 {
    /// The probabilities of at most 0, 1, 2 …, for the mean 1, in units of 2^-32.
    const AT_MOST: [u32; 12] = [
        1580030168, 3160060337, 3950075421, 4213413783, 4279248373, 4292415291, 4294609777,
        4294923276, 4294962463, 4294966817, 4294967252, 4294967292,
    ];
    if groups < FEW {
        let one = |word: u32| {
            AT_MOST
                .iter()
                .take_while(|&&at_most| word >= at_most)
                .count()
        };
        return (0..groups).map(|_| one(chance.next_u32()) as f64).sum();
    }
    let uniform = (f64::from(chance.next_u32()) + 0.5) / 2_f64.powi(32);
    let mean = groups as f64;
    (mean + mean.sqrt() * Normal::standard().inverse_cdf(uniform))
        .round()
        .max(0.0)
}

/// The members of a set: the bits that are 1.
fn members(set: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..count).filter(move |at| set & (1 << at) != 0)
}

/// The binomial coefficient `n` over `k`.
fn choose(n: u32, k: u32) -> u32 {
    (0..k).fold(1, |ways, i| ways * (n - i) / (i + 1))
}
