//! Plackett-Luce: ratings of many from games of several.
//!
//! A game says in which order its players came in: the first is chosen from all,
//! the next from the rest, and so on. Places without a player that counts are
//! left out first. Those who share a place count as each of the orders that they
//! might have come in, in equal parts; for two that is half a win each, as in
//! [`bradley_terry`](crate::bradley_terry), and the prior is the same too.
//!
//! Plackett, "The Analysis of Permutations", 1975.

use std::{cmp::Ordering, collections::BTreeMap};

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng as _, SeedableRng as _},
};
use statrs::distribution::{ContinuousCDF as _, Normal};

use crate::{
    Tally,
    luce::{Choices, Fit, Likeliest, Matrix, NoFit, flows},
};

/// How often the groups are drawn again for the error bars.
pub const REPLICATES: usize = 200;

/// A table of more is not rated: the sets of those who are left would be too many.
pub const MOST_SEATS: usize = 8;

/// The joint ratings of so many players, with `prior` drawn games against an
/// average player added for each; [`PRIOR`](crate::luce::PRIOR) where there is no
/// reason for another, and 0 for maximum likelihood alone.
///
/// The error bars are a bootstrap over groups: each counts as often as a Poisson
/// variable says (Hanley and MacGibbon 2006), with the same draws every time, and
/// one step of Newton's method leads from the ratings to those of the new sample.
///
/// Ignored are groups with an entrant twice or with one that there is not, and
/// games that do not say everybody's place.
///
/// # Errors
///
/// The prior is negative or too large, or it is 0 and there is no likeliest
/// rating.
pub fn fit<'a>(
    players: usize,
    tallies: impl IntoIterator<Item = &'a Tally>,
    prior: f64,
) -> Result<Fit, NoFit> {
    let rows = tallies
        .into_iter()
        .filter_map(|tally| Row::of(players, tally));
    let rows = merged(rows.collect());
    let mut groups = vec![0; players];
    let mut tables: BTreeMap<&[usize], Vec<f64>> = BTreeMap::new();
    for row in &rows {
        for &player in &row.players {
            groups[player] = row.groups.saturating_add(groups[player]);
        }
        let table = tables.entry(&row.players);
        let table = table.or_insert_with(|| vec![0.0; row.chosen.len()]);
        for (sum, chosen) in table.iter_mut().zip(&row.chosen) {
            *sum += row.groups as f64 * chosen;
        }
    }
    let mut sets: BTreeMap<Vec<usize>, Vec<f64>> = BTreeMap::new();
    for (at_table, table) in &tables {
        for (members, chosen) in sets_of(at_table.len(), table) {
            let set = members.iter().map(|&a| at_table[a]).collect();
            let sums = sets.entry(set).or_insert_with(|| vec![0.0; members.len()]);
            for (sum, &a) in sums.iter_mut().zip(&members) {
                *sum += chosen[a];
            }
        }
    }
    let choices = Choices {
        players,
        sets: sets.into_iter().collect(),
    };
    let all = rows
        .iter()
        .fold(0, |all, row| row.groups.saturating_add(all));
    let likeliest = choices.fit(prior)?;
    let variances = bootstrap(&likeliest, &rows);
    Ok(likeliest.into_fit(&groups, all, &variances))
}

/// Groups that came out the same.
struct Row {
    /// Who counts, in order of their numbers.
    players: Vec<usize>,
    /// How often each of them was chosen in one such group, for each set that it
    /// was chosen from, by the set's bits.
    chosen: Vec<f64>,
    groups: u64,
}

impl Row {
    fn of(players: usize, tally: &Tally) -> Option<Self> {
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
            chosen: vec![0.0; count << count],
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
            // Of those who share the place, any that are still left, with all
            // behind; every subset of the same size as often.
            let level = those(&|other| place(other) == place(at));
            let behind = those(&|other| place(other) > place(at));
            let mut left = level;
            while left > 0 {
                let set = left | behind;
                if left & (1 << at) != 0 && !set.is_power_of_two() {
                    let size = left.count_ones();
                    let ways = choose(level.count_ones(), size);
                    self.chosen[set * seats.len() + at] += 1.0 / (ways * f64::from(size));
                }
                left = (left - 1) & level;
            }
        }
    }

    /// The first derivatives of the likelihood of one such group, and the second
    /// ones negated, row by row.
    fn derivatives(&self, at: &Likeliest) -> (Vec<f64>, Vec<f64>) {
        let count = self.players.len();
        let (mut slopes, mut curves) = (vec![0.0; count], vec![0.0; count * count]);
        for (members, chosen) in sets_of(count, &self.chosen) {
            let theta = members.iter().map(|&a| at.theta[self.players[a]]);
            let chosen: Vec<f64> = members.iter().map(|&a| chosen[a]).collect();
            flows(
                &mut theta.collect::<Vec<_>>(),
                &chosen,
                |a, b, flow, curve| {
                    let (a, b) = (members[a], members[b]);
                    slopes[a] += flow;
                    slopes[b] -= flow;
                    curves[a * count + a] += curve;
                    curves[b * count + b] += curve;
                    curves[a * count + b] -= curve;
                    curves[b * count + a] -= curve;
                },
            );
        }
        (slopes, curves)
    }
}

/// The rows in an order of their own, those alike as one, so that the order in
/// which the groups came changes nothing, not even by rounding.
fn merged(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_unstable_by(|a, b| {
        let chosen = || {
            let mut both = a.chosen.iter().zip(&b.chosen);
            both.find_map(|(a, b)| Some(a.total_cmp(b)).filter(|order| order.is_ne()))
        };
        a.players
            .cmp(&b.players)
            .then_with(|| chosen().unwrap_or(Ordering::Equal))
    });
    rows.dedup_by(|row, kept| {
        let alike = row.players == kept.players && row.chosen == kept.chosen;
        if alike {
            kept.groups = kept.groups.saturating_add(row.groups);
        }
        alike
    });
    rows
}

/// The sets that somebody was chosen from: their members and how often each of
/// the table was.
fn sets_of(count: usize, chosen: &[f64]) -> impl Iterator<Item = (Vec<usize>, &[f64])> {
    let sets = chosen.chunks_exact(count).enumerate();
    let sets = sets.filter(|(_, chosen)| chosen.iter().any(|&times| times > 0.0));
    sets.map(move |(set, chosen)| {
        let members = (0..count).filter(|at| set & (1 << at) != 0);
        (members.collect(), chosen)
    })
}

/// The variances of the centred strengths.
fn bootstrap(at: &Likeliest, rows: &[Row]) -> Vec<f64> {
    let players = at.theta.len();
    let derivatives: Vec<_> = rows.iter().map(|row| row.derivatives(at)).collect();
    let mut chance = ChaCha8Rng::from_seed(*b"the same draws for the same data");
    let (mut sums, mut squares) = (vec![0.0; players], vec![0.0; players]);
    let mut done = 0.0;
    for _ in 0..REPLICATES {
        let (mut gradient, mut information) = at.of_prior();
        for (row, (slopes, curve)) in rows.iter().zip(&derivatives) {
            let times = resampled(row.groups, &mut chance);
            if times == 0.0 {
                continue;
            }
            for (a, &i) in row.players.iter().enumerate() {
                gradient[i] += times * slopes[a];
                for (b, &j) in row.players.iter().enumerate() {
                    *information.at(i, j) += times * curve[a * row.players.len() + b];
                }
            }
        }
        let Some(mut step) = Matrix::factor(information).map(|factor| factor.solve(gradient))
        else {
            continue;
        };
        at.centred(&mut step);
        done += 1.0;
        for (i, step) in step.into_iter().enumerate() {
            sums[i] += step;
            squares[i] += step * step;
        }
    }
    let each = sums.iter().zip(squares);
    each.map(|(sum, square)| (square - sum * sum / done).max(0.0) / (done - 1.0))
        .collect()
}

/// How often groups that came out the same count in a new sample: a Poisson
/// variable whose mean is their number; from 16 on, its normal approximation.
fn resampled(groups: u64, chance: &mut ChaCha8Rng) -> f64 {
    /// The chances of at most 0, 1, 2 … in units of 2^-32, for the mean 1.
    const AT_MOST: [u32; 12] = [
        1580030168, 3160060337, 3950075421, 4213413783, 4279248373, 4292415291, 4294609777,
        4294923276, 4294962463, 4294966817, 4294967252, 4294967292,
    ];
    if groups < 16 {
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

/// In how many ways `k` are chosen from `n`.
fn choose(n: u32, k: u32) -> f64 {
    (0..k).fold(1.0, |ways, i| ways * f64::from(n - i) / f64::from(i + 1))
}
