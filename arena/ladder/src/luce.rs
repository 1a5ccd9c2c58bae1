//! Luce's choice axiom, which Bradley-Terry and Plackett-Luce share: of several
//! players each is chosen with a probability in proportion to its strength. A game of
//! two is a choice of the winner; a ranking is a choice of the first from all, then of
//! the second from the rest, and so on.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::elo::{ELO_SCALE, Estimate, NoEstimate, Z95, enough_groups};

/// The default prior: one draw against an average player is added for each player.
pub const PRIOR: f64 = 1.0;

/// The ratings of several players, fitted together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// The rating of each player in Elo, with mean 0 over the main field. None for a
    /// player without a game.
    ///
    /// Let player A point to player B if A was not behind B in some game. The main field
    /// is the largest set of players in which each can be reached from each; if there is
    /// none, it is all players with a game. Two or more groups between the same players
    /// that all had the same result make no arrow, since they do not tell how large a
    /// difference is.
    ///
    /// A player of the main field with at least
    /// [`ENOUGH_GROUPS`](crate::elo::ENOUGH_GROUPS) groups whose results vary has an
    /// error bar. The ratings of the others depend on the prior, and have none.
    pub ratings: Vec<Option<Estimate>>,
    /// The log-likelihood of the results, without the prior.
    pub log_likelihood: f64,
}

impl Fit {
    /// The ratings in natural units: the logarithms of the strengths.
    #[must_use]
    pub fn natural(&self) -> Vec<Option<f64>> {
        let ratings = self.ratings.iter();
        ratings
            .map(|rating| rating.map(|r| r.value / ELO_SCALE))
            .collect()
    }
}

/// Reason why there are no ratings.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NoFit {
    /// The prior is out of range.
    #[error("a prior must be a number of games from 0 to 1000, not {0}")]
    Prior(f64),
    /// Without a prior the likelihood has no maximum: some players were never behind
    /// any of the others, so their strength would be infinite.
    #[error("without a prior, some have won everything against the others or never met them")]
    Separated,
    /// The search did not converge, because of rounding errors.
    #[error("the search for the maximum likelihood did not converge")]
    Endless,
}

/// The choices that the results consist of.
pub(crate) struct Choices {
    /// Number of players.
    pub(crate) players: usize,
    /// Sets of players, and how often each player was chosen from the set.
    pub(crate) sets: Vec<(Vec<usize>, Vec<f64>)>,
    /// Pairs (A, B) in which A was not behind B, in groups whose results vary.
    pub(crate) varied: BTreeSet<(usize, usize)>,
}

/// The maximum likelihood strengths.
pub(crate) struct Likeliest {
    /// The logarithm of the strength of each player.
    pub(crate) theta: Vec<f64>,
    /// For each player: true if it has a game.
    pub(crate) present: Vec<bool>,
    pub(crate) log_likelihood: f64,
    prior: f64,
    /// For each player: true if it is in the main field; false for all if that is empty.
    main_field: Vec<bool>,
    /// For each player: whether it has won or lost every game; None if it has done neither.
    extremes: Vec<Option<NoEstimate>>,
}

impl Choices {
    /// Newton's method: the likelihood is concave in the logarithms.
    ///
    /// Hunter, "MM algorithms for generalized Bradley-Terry models", 2004, has
    /// the likelihood and when its maximum exists.
    pub(crate) fn fit(&self, prior: f64) -> Result<Likeliest, NoFit> {
        if !(0.0..=1000.0).contains(&prior) {
            return Err(NoFit::Prior(prior));
        }
        let players = self.players;
        let mut present = vec![false; players];
        let mut not_behind = vec![false; players * players];
        for (set, chosen) in &self.sets {
            for (&player, &times) in set.iter().zip(chosen) {
                present[player] = true;
                for &other in set.iter().filter(|_| times > 0.0) {
                    not_behind[player * players + other] = true;
                }
            }
        }
        if prior == 0.0 && largest_component(&not_behind, &present) != present {
            return Err(NoFit::Separated);
        }
        let extremes = extremes(&not_behind, players);
        let mut not_behind = vec![false; players * players];
        for &(player, other) in &self.varied {
            not_behind[player * players + other] = true;
        }
        let main_field = largest_component(&not_behind, &present);
        let mut likeliest = Likeliest {
            theta: vec![0.0; players],
            log_likelihood: self.log_likelihood(&vec![0.0; players]),
            present,
            prior,
            main_field,
            extremes,
        };
        if self.sets.is_empty() {
            return Ok(likeliest);
        }
        let with_prior = |theta: &[f64], likelihood: f64| {
            let drawn = |&theta: &f64| 0.5 * theta - softplus(theta);
            likelihood + prior * theta.iter().map(drawn).sum::<f64>()
        };
        let mut last = f64::INFINITY;
        for _ in 0..100 {
            let (gradient, information) = self.derivatives(&likeliest);
            let step = information.factor().ok_or(NoFit::Endless)?.solve(gradient);
            let longest = step.iter().fold(0.0_f64, |most, step| most.max(step.abs()));
            let here = with_prior(&likeliest.theta, likeliest.log_likelihood);
            // A long step may overshoot. A step of at most one half does not, since the
            // third derivatives are small compared with the second (Bach,
            // "Self-concordant analysis for logistic regression", 2010).
            let mut part = 1.0_f64.min(4.0 / longest);
            loop {
                let ahead = likeliest.theta.iter().zip(&step);
                let there: Vec<f64> = ahead.map(|(theta, step)| theta + part * step).collect();
                let likelihood = self.log_likelihood(&there);
                if part * longest <= 0.5 || with_prior(&there, likelihood) >= here {
                    likeliest.theta = there;
                    likeliest.log_likelihood = likelihood;
                    break;
                }
                part /= 2.0;
            }
            // The next step would be about the square of this one. If steps do not
            // shrink like that, only rounding errors are left.
            if longest < 1e-7 || (longest < 1e-3 && longest >= last) {
                return Ok(likeliest);
            }
            last = longest;
        }
        Err(NoFit::Endless)
    }

    fn log_likelihood(&self, theta: &[f64]) -> f64 {
        let each = self.sets.iter().map(|(set, chosen)| {
            let most = set
                .iter()
                .fold(f64::NEG_INFINITY, |most, &i| most.max(theta[i]));
            let sum: f64 = set.iter().map(|&i| (theta[i] - most).exp()).sum();
            let all = most + sum.ln();
            let each = set.iter().zip(chosen);
            each.map(|(&i, times)| times * (theta[i] - all))
                .sum::<f64>()
        });
        each.sum()
    }

    fn derivatives(&self, at: &Likeliest) -> (Vec<f64>, Matrix) {
        let (mut gradient, mut information) = at.of_prior();
        let mut shares = Vec::new();
        for (set, chosen) in &self.sets {
            shares.clear();
            shares.extend(set.iter().map(|&i| at.theta[i]));
            flows(&mut shares, chosen, |a, b, flow, curve| {
                let (i, j) = (set[a], set[b]);
                gradient[i] += flow;
                gradient[j] -= flow;
                *information.at(i, i) += curve;
                *information.at(j, j) += curve;
                *information.at(i, j) -= curve;
                *information.at(j, i) -= curve;
            });
        }
        (gradient, information)
    }

    /// The information matrix: minus the second derivatives at the maximum.
    pub(crate) fn information(&self, at: &Likeliest) -> Matrix {
        self.derivatives(at).1
    }
}

impl Likeliest {
    /// The prior's part of the first derivatives and of the information matrix. Without
    /// a prior the matrix is singular, since only differences of strengths matter; then
    /// this adds a constant that makes it regular.
    pub(crate) fn of_prior(&self) -> (Vec<f64>, Matrix) {
        let players = self.theta.len();
        let mut information = Matrix::zero(players);
        let win = self.theta.iter().map(|&theta| 1.0 / (1.0 + (-theta).exp()));
        let win: Vec<f64> = win.collect();
        for (i, &win) in win.iter().enumerate() {
            let alone = f64::from(u8::from(!self.present[i]));
            *information.at(i, i) += self.prior * win * (1.0 - win) + alone;
        }
        if self.prior == 0.0 {
            for cell in &mut information.cells {
                *cell += 1.0 / players as f64;
            }
        }
        let gradient = win.iter().map(|win| self.prior * (0.5 - win)).collect();
        (gradient, information)
    }

    /// The players over whom the mean rating is 0: the main field, or all players with a
    /// game if it is empty. Ratings that depend on the prior would shift the mean.
    pub(crate) fn centre(&self) -> &[bool] {
        if self.main_field.contains(&true) {
            &self.main_field
        } else {
            &self.present
        }
    }

    /// Subtracts the mean over the [`centre`](Self::centre).
    pub(crate) fn centred(&self, values: &mut [f64]) {
        let present = values.iter().zip(self.centre()).filter(|&(_, &here)| here);
        let (sum, count) = present.fold((0.0, 0), |(sum, n), (value, _)| (sum + value, n + 1));
        for value in values {
            *value -= sum / f64::from(count.max(1));
        }
    }

    /// Ratings with error bars, given for each player the number of its groups whose
    /// results vary, the number of all groups, and the variances of the centred
    /// strengths with groups as the sample. Since the strengths were fitted to the same
    /// `G` groups, variances are multiplied by G / (G - players + 1).
    pub(crate) fn into_fit(mut self, groups: &[u64], all: u64, variances: &[f64]) -> Fit {
        let mut theta = std::mem::take(&mut self.theta);
        self.centred(&mut theta);
        let fitted = self.present.iter().filter(|&&here| here).count().max(1) as u64 - 1;
        let raised = all as f64 / all.saturating_sub(fitted) as f64;
        let ratings = theta.iter().enumerate().map(|(i, theta)| {
            let error = Z95 * (variances[i] * raised).sqrt();
            self.present[i].then(|| Estimate {
                value: ELO_SCALE * theta,
                error: match self.extremes[i] {
                    _ if self.main_field[i] => enough_groups(groups[i]).and_then(|()| {
                        if !error.is_finite() {
                            Err(NoEstimate::TooFewGroups {
                                has: all,
                                needs: fitted + 1,
                            })
                        } else if error > 1e-9 {
                            Ok(ELO_SCALE * error)
                        } else {
                            Err(NoEstimate::NoVariance)
                        }
                    }),
                    Some(extreme) => Err(extreme),
                    None if groups[i] == 0 => Err(NoEstimate::NoVariance),
                    None => Err(NoEstimate::NotComparable),
                },
            })
        });
        Fit {
            ratings: ratings.collect(),
            log_likelihood: self.log_likelihood,
        }
    }
}

/// A symmetric matrix.
pub(crate) struct Matrix {
    size: usize,
    cells: Vec<f64>,
}

/// The Cholesky factor of a matrix: the lower triangle L with L Lᵀ = M.
pub(crate) struct Factor(Matrix);

impl Matrix {
    fn zero(size: usize) -> Self {
        Self {
            size,
            cells: vec![0.0; size * size],
        }
    }

    fn at(&mut self, row: usize, column: usize) -> &mut f64 {
        &mut self.cells[row * self.size + column]
    }

    /// The Cholesky factor; None unless the matrix is positive definite.
    pub(crate) fn factor(mut self) -> Option<Factor> {
        for i in 0..self.size {
            let (above, rest) = self.cells.split_at_mut(i * self.size);
            let row = &mut rest[..self.size];
            for (j, earlier) in above.chunks_exact(self.size).enumerate() {
                row[j] = (row[j] - dot(&row[..j], &earlier[..j])) / earlier[j];
            }
            let square = row[i] - dot(&row[..i], &row[..i]);
            if !(square > 0.0 && square.is_finite()) {
                return None;
            }
            row[i] = square.sqrt();
        }
        Some(Factor(self))
    }
}

impl Factor {
    /// Solves M x = `x`.
    pub(crate) fn solve(&self, mut x: Vec<f64>) -> Vec<f64> {
        let rows = || self.0.cells.chunks_exact(self.0.size).enumerate();
        for (i, row) in rows() {
            x[i] = (x[i] - dot(&row[..i], &x[..i])) / row[i];
        }
        for (i, row) in rows().rev() {
            let (before, at) = x.split_at_mut(i);
            at[0] /= row[i];
            for (x, cell) in before.iter_mut().zip(row) {
                *x -= at[0] * cell;
            }
        }
        x
    }

    /// The whole inverse, row by row.
    pub(crate) fn inverse(&self) -> Vec<Vec<f64>> {
        let unit = |i| {
            let mut unit = vec![0.0; self.0.size];
            unit[i] = 1.0;
            unit
        };
        (0..self.0.size).map(|i| self.solve(unit(i))).collect()
    }
}

/// For a set with these logarithms of strengths, where `c_a` and `c_b` say how often
/// two players were chosen, `c` how often any was, and `p_a`, `p_b` are their
/// probabilities: calls `each(a, b, c_a p_b - c_b p_a, c p_a p_b)` for every pair. The
/// third argument is the pair's part of the first derivative by the strength of `a`, the
/// fourth minus the mixed second derivative. Pair by pair, nearly certain choices lose
/// no digits.
fn flows(theta: &mut [f64], chosen: &[f64], mut each: impl FnMut(usize, usize, f64, f64)) {
    let most = theta.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for theta in &mut *theta {
        *theta = (*theta - most).exp();
        sum += *theta;
    }
    let times: f64 = chosen.iter().sum();
    for b in 1..theta.len() {
        let share = theta[b] / sum;
        for a in 0..b {
            let other = theta[a] / sum;
            each(
                a,
                b,
                chosen[a] * share - chosen[b] * other,
                times * share * other,
            );
        }
    }
}

/// ln(1 + e^x).
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// The dot product, in four sums, so that the compiler can vectorise it.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a, b) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest = a.remainder().iter().zip(b.remainder());
    let rest: f64 = rest.map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// For each player: whether it was ahead of all others, or behind all others, in every game.
fn extremes(not_behind: &[bool], players: usize) -> Vec<Option<NoEstimate>> {
    let others = |player| (0..players).filter(move |&other| other != player);
    let extreme = |player| {
        if !others(player).any(|other| not_behind[other * players + player]) {
            Some(NoEstimate::EveryGameWon)
        } else if !others(player).any(|other| not_behind[player * players + other]) {
            Some(NoEstimate::EveryGameLost)
        } else {
            None
        }
    };
    (0..players).map(extreme).collect()
}

/// The largest strongly connected set of two or more present players; of several with
/// the same size, the one with the lowest number.
fn largest_component(not_behind: &[bool], present: &[bool]) -> Vec<bool> {
    let players = present.len();
    let reach = |from: usize, edge: &dyn Fn(usize, usize) -> bool| {
        let mut reached = vec![false; players];
        reached[from] = true;
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            for (to, reached) in reached.iter_mut().enumerate() {
                if !*reached && edge(at, to) {
                    *reached = true;
                    open.push(to);
                }
            }
        }
        reached
    };
    let mut largest = (1, vec![false; players]);
    let mut seen = vec![false; players];
    for from in 0..players {
        if seen[from] || !present[from] {
            continue;
        }
        let down = reach(from, &|a, b| not_behind[a * players + b]);
        let up = reach(from, &|a, b| not_behind[b * players + a]);
        let component: Vec<bool> = down.iter().zip(up).map(|(&down, up)| down && up).collect();
        for (seen, &here) in seen.iter_mut().zip(&component) {
            *seen |= here;
        }
        let size = component.iter().filter(|&&here| here).count();
        if size > largest.0 {
            largest = (size, component);
        }
    }
    largest.1
}
