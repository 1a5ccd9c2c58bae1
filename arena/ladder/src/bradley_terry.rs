//! Bradley-Terry: ratings from games of two.
//!
//! A draw counts as half a win for each, and so does a game that both have lost. The
//! prior adds draws against an average player, so that ratings are finite also for a
//! perfect score and for players that have no common opponents.
//!
//! Bradley and Terry, "Rank Analysis of Incomplete Block Designs", 1952.

use std::collections::{BTreeMap, BTreeSet};

use crate::luce::{Choices, Fit, Likeliest, NoFit};

/// The groups that a pair has played.
#[derive(Clone, Copy, Debug)]
pub struct PairGroups<'a> {
    /// The two players, by number from 0.
    pub players: [usize; 2],
    /// In how many groups the first won 0, 1, 2 … half points: as in
    /// [`Comparison::of`](crate::elo::Comparison::of).
    pub counts: &'a [u64],
}

/// The joint ratings of this many players. For each player, `prior` draws against an
/// average player are added: [`PRIOR`](crate::luce::PRIOR) is the usual number, and 0
/// gives the maximum likelihood.
///
/// The error bars take a group as the sample, since its games may be correlated (the
/// "sandwich" estimator of White 1980 and of Liang and Zeger 1986). Pairs of a player
/// with itself, or with a player that does not exist, are ignored.
///
/// # Errors
///
/// The prior is negative or too large, or it is 0 and the likelihood has no maximum.
pub fn fit(players: usize, pairs: &[PairGroups<'_>], prior: f64) -> Result<Fit, NoFit> {
    let pairs: Vec<PlayedPair> = pairs
        .iter()
        .filter_map(|pair| PlayedPair::of(players, pair))
        .collect();
    let mut groups = vec![0; players];
    let mut sets = Vec::with_capacity(pairs.len());
    // For each pair the number of groups, and of different results.
    let mut between: BTreeMap<[usize; 2], (u64, usize)> = BTreeMap::new();
    for met in &pairs {
        let (groups, outcomes) = between.entry(met.sorted()).or_default();
        *groups = met.groups.saturating_add(*groups);
        *outcomes += met.counts.iter().filter(|&&n| n > 0).count();
    }
    let mut varied = BTreeSet::new();
    for met in &pairs {
        sets.push((met.players.to_vec(), vec![met.won, met.games - met.won]));
        let (groups_of_both, outcomes) = between[&met.sorted()];
        if groups_of_both == 1 || outcomes > 1 {
            let [first, second] = met.players;
            varied.extend((met.won > 0.0).then_some((first, second)));
            varied.extend((met.won < met.games).then_some((second, first)));
            for player in met.players {
                groups[player] = met.groups.saturating_add(groups[player]);
            }
        }
    }
    let choices = Choices {
        players,
        sets,
        varied,
    };
    let all = pairs
        .iter()
        .fold(0, |all, met| met.groups.saturating_add(all));
    let likeliest = choices.fit(prior)?;
    let variances = variances(&choices, &likeliest, &pairs)?;
    Ok(likeliest.into_fit(&groups, all, &variances))
}

/// A pair that has played.
struct PlayedPair<'a> {
    players: [usize; 2],
    counts: &'a [u64],
    groups: u64,
    /// The games of all groups.
    games: f64,
    /// Number of them that the first won, draws as halves.
    won: f64,
}

impl<'a> PlayedPair<'a> {
    fn of(players: usize, pair: &PairGroups<'a>) -> Option<Self> {
        let [first, second] = pair.players;
        let each = pair.counts.len().saturating_sub(1) / 2;
        let groups = pair
            .counts
            .iter()
            .fold(0, |all: u64, &n| all.saturating_add(n));
        let known = first != second && first.max(second) < players;
        let counted = each > 0 && pair.counts.len() == 2 * each + 1 && groups > 0;
        let halves = pair.counts.iter().zip(0_u64..);
        let halves: f64 = halves.map(|(&n, half)| n as f64 * half as f64).sum();
        (known && counted).then_some(Self {
            players: pair.players,
            counts: pair.counts,
            groups,
            games: groups as f64 * each as f64,
            won: halves / 2.0,
        })
    }

    fn sorted(&self) -> [usize; 2] {
        let [first, second] = self.players;
        [first.min(second), first.max(second)]
    }

    /// The sum over the groups of (points of the first - expected points)².
    fn squares(&self, at: &Likeliest) -> f64 {
        let [first, second] = self.players.map(|player| at.theta[player]);
        let each = (self.counts.len() / 2) as f64;
        let expected = each / (1.0 + (second - first).exp());
        let counts = self.counts.iter().zip(0_u32..);
        counts
            .map(|(&n, half)| n as f64 * (f64::from(half) / 2.0 - expected).powi(2))
            .sum()
    }
}

fn variances(
    choices: &Choices,
    at: &Likeliest,
    pairs: &[PlayedPair<'_>],
) -> Result<Vec<f64>, NoFit> {
    let bread = choices.information(at).factor().ok_or(NoFit::Endless)?;
    let mut inverse = bread.inverse();
    // The matrix is symmetric: centring every row centres the strengths.
    let mut mean = vec![0.0; inverse.len()];
    let present = at.centre().iter().filter(|&&here| here).count() as f64;
    for (row, _) in inverse.iter().zip(at.centre()).filter(|&(_, &here)| here) {
        for (mean, cell) in mean.iter_mut().zip(row) {
            *mean += cell / present;
        }
    }
    let squares: Vec<f64> = pairs.iter().map(|met| met.squares(at)).collect();
    let each = inverse.iter_mut().map(|row| {
        for (cell, mean) in row.iter_mut().zip(&mean) {
            *cell -= mean;
        }
        let meat = pairs.iter().zip(&squares).map(|(met, squares)| {
            let [first, second] = met.players.map(|player| row[player]);
            squares * (first - second).powi(2)
        });
        meat.sum()
    });
    Ok(each.collect())
}
