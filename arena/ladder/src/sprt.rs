//! The sequential probability ratio test (SPRT), which stops a match as soon as the
//! results decide.
//!
//! The log-likelihood ratio is the exact one of the multinomial distribution: the
//! maximum likelihood under H1 against that under H0.
//! Michel Van den Bergh, "The generalized SPRT" and "Normalized Elo"
//! (<https://www.cantate.be/Fishtest/>).

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::elo::{NELO_SCALE, score_of};

/// A test of H0 (the first is `elo0` stronger) against H1 (it is `elo1`
/// stronger).
///
/// As text it is `elo0=0 elo1=10 alpha=0.05 beta=0.05 model=normalized`, in any
/// order, separated by spaces or commas; only `elo0` and `elo1` are required.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sprt {
    /// The difference under H0.
    pub elo0: f64,
    /// The difference under H1.
    pub elo1: f64,
    /// The probability that H1 is accepted although H0 is true.
    #[serde(default = "five_percent")]
    pub alpha: f64,
    /// The probability that H0 is accepted although H1 is true.
    #[serde(default = "five_percent")]
    pub beta: f64,
    /// The unit of the differences.
    #[serde(default)]
    pub model: Model,
}

/// The unit of a difference in strength.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Normalised Elo, which does not depend on how many games are drawn.
    #[default]
    Normalized,
    /// Elo on the logistic curve.
    Logistic,
}

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// The first is not stronger by `elo1`.
    AcceptH0,
    /// The first is stronger by more than `elo0`.
    AcceptH1,
}

/// The mistake in a test, to follow "could not use the test: ".
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BadSprt {
    /// A difference that is too large.
    #[error("{name} must lie between -{MOST_ELO} and {MOST_ELO}, not {value}")]
    Elo {
        /// Name of the difference.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// The two are not in order.
    #[error("elo0 must be less than elo1, not {elo0} and {elo1}")]
    Order {
        /// The difference under H0.
        elo0: f64,
        /// The difference under H1.
        elo1: f64,
    },
    /// An error rate out of range.
    #[error("{name} must lie above 0 and below 0.5, not {value}")]
    Rate {
        /// Name of the error rate.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// A required part of the text is missing.
    #[error("{0} is missing; expected such as elo0=0 elo1=10")]
    Missing(&'static str),
    /// A word that says nothing we know.
    #[error("expected elo0=, elo1=, alpha=, beta= or model=, not {0:?}")]
    Word(String),
    /// The same thing said twice.
    #[error("{0}= is there twice")]
    Twice(&'static str),
    /// A value that is no number.
    #[error("expected a number after {name}=, not {value:?}")]
    Number {
        /// Name of the value.
        name: &'static str,
        /// The text that stands there.
        value: String,
    },
    /// A model that there is not.
    #[error("expected model=normalized or model=logistic, not {0:?}")]
    Model(String),
}

/// The largest difference that can be tested for, either way.
pub const MOST_ELO: f64 = 500.0;

/// The number that stands for a count of 0, so that every outcome stays possible.
const NONE_YET: f64 = 1e-3;

impl Sprt {
    /// Checks that the test can be carried out.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn validate(&self) -> Result<(), BadSprt> {
        for (name, value) in [("elo0", self.elo0), ("elo1", self.elo1)] {
            if !(-MOST_ELO..=MOST_ELO).contains(&value) {
                return Err(BadSprt::Elo { name, value });
            }
        }
        if self.elo0 >= self.elo1 {
            let Self { elo0, elo1, .. } = *self;
            return Err(BadSprt::Order { elo0, elo1 });
        }
        for (name, value) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !(f64::MIN_POSITIVE..0.5).contains(&value) {
                return Err(BadSprt::Rate { name, value });
            }
        }
        Ok(())
    }

    /// The bounds of the log-likelihood ratio: at or below the first H0 is accepted, at
    /// or above the second H1 (Wald 1945).
    #[must_use]
    pub fn bounds(&self) -> (f64, f64) {
        let Self { alpha, beta, .. } = self;
        ((beta / (1.0 - alpha)).ln(), ((1.0 - beta) / alpha).ln())
    }

    /// The log-likelihood ratio of H1 to H0 after these groups: in `counts[h]` of them
    /// the first won `h` half points. Five counts are groups of two games (LL, LD, DD or
    /// WL, WD, WW), three are single games (L, D, W).
    ///
    /// None without a group, with an even number of counts, and if the test is not valid.
    #[must_use]
    pub fn llr(&self, counts: &[u64]) -> Option<f64> {
        let games = counts.len().saturating_sub(1) / 2;
        let odd = counts.len() == 2 * games + 1;
        if games == 0 || !odd || counts.iter().all(|&n| n == 0) || self.validate().is_err() {
            return None;
        }
        let counts = counts.iter().map(|&n| (n as f64).max(NONE_YET));
        let groups: f64 = counts.clone().sum();
        let seen: Vec<OutcomeShare> = counts
            .enumerate()
            .map(|(half, n)| OutcomeShare {
                score: half as f64 / (2 * games) as f64,
                share: n / groups,
            })
            .collect();
        let under = |elo: f64| match self.model {
            Model::Logistic => likeliest_at_score(&seen, score_of(elo)),
            Model::Normalized => likeliest_at_t(&seen, elo / NELO_SCALE * (games as f64).sqrt()),
        };
        let (h0, h1) = (under(self.elo0)?, under(self.elo1)?);
        let each = seen.iter().zip(h0.iter().zip(&h1));
        let mean: f64 = each
            .map(|(seen, (p0, p1))| seen.share * (p1 / p0).ln())
            .sum();
        Some(groups * mean).filter(|llr| llr.is_finite())
    }

    /// The decision after these groups, counted as for [`llr`](Self::llr). None while the
    /// test is undecided.
    #[must_use]
    pub fn decide(&self, counts: &[u64]) -> Option<Decision> {
        let llr = self.llr(counts)?;
        // In whole billionths, so that rounding errors decide nothing.
        let key = |x: f64| (x * 1e9).round();
        let (lower, upper) = self.bounds();
        if key(llr) <= key(lower) {
            Some(Decision::AcceptH0)
        } else if key(llr) >= key(upper) {
            Some(Decision::AcceptH1)
        } else {
            None
        }
    }
}

impl FromStr for Sprt {
    type Err = BadSprt;

    fn from_str(text: &str) -> Result<Self, BadSprt> {
        const NAMES: [&str; 4] = ["elo0", "elo1", "alpha", "beta"];
        let mut numbers = [None; 4];
        let mut model = None;
        let words = text.split(|c: char| c == ',' || c.is_whitespace());
        for word in words.filter(|word| !word.is_empty()) {
            let unknown = || BadSprt::Word(word.to_owned());
            let (name, value) = word.split_once('=').ok_or_else(unknown)?;
            if name == "model" {
                let read = match value {
                    "normalized" => Model::Normalized,
                    "logistic" => Model::Logistic,
                    _ => return Err(BadSprt::Model(value.to_owned())),
                };
                if model.replace(read).is_some() {
                    return Err(BadSprt::Twice("model"));
                }
                continue;
            }
            let at = NAMES.iter().position(|&known| known == name);
            let at = at.ok_or_else(unknown)?;
            let read = value.parse().map_err(|_| BadSprt::Number {
                name: NAMES[at],
                value: value.to_owned(),
            })?;
            if numbers[at].replace(read).is_some() {
                return Err(BadSprt::Twice(NAMES[at]));
            }
        }
        let [elo0, elo1, alpha, beta] = numbers;
        let sprt = Self {
            elo0: elo0.ok_or(BadSprt::Missing("elo0"))?,
            elo1: elo1.ok_or(BadSprt::Missing("elo1"))?,
            alpha: alpha.unwrap_or(five_percent()),
            beta: beta.unwrap_or(five_percent()),
            model: model.unwrap_or_default(),
        };
        sprt.validate()?;
        Ok(sprt)
    }
}

impl fmt::Display for Sprt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            elo0,
            elo1,
            alpha,
            beta,
            model,
        } = self;
        let model = match model {
            Model::Normalized => "normalized",
            Model::Logistic => "logistic",
        };
        write!(
            f,
            "elo0={elo0} elo1={elo1} alpha={alpha} beta={beta} model={model}"
        )
    }
}

/// An outcome of a group, and the share of the groups that had it.
#[derive(Clone, Copy)]
struct OutcomeShare {
    /// From 0 to 1.
    score: f64,
    share: f64,
}

/// The maximum likelihood shares with this mean score, given the observed ones.
fn likeliest_at_score(seen: &[OutcomeShare], mean: f64) -> Option<Vec<f64>> {
    let pull: Vec<f64> = seen.iter().map(|at| at.score - mean).collect();
    tilted(seen, &pull)
}

/// The maximum likelihood shares whose mean score is 1/2 + `t` standard deviations,
/// given the observed ones. The condition is not linear. Each step solves for its
/// tangent at the last shares, until they converge. The first shares have only groups
/// that were won or lost completely, which can meet every condition.
fn likeliest_at_t(seen: &[OutcomeShare], t: f64) -> Option<Vec<f64>> {
    const ROUNDS: usize = 1000;
    let won = 0.5 + 0.5 * t / (1.0 + t * t).sqrt();
    let mut shares = vec![0.0; seen.len()];
    *shares.first_mut()? = 1.0 - won;
    *shares.last_mut()? = won;
    let mut last = f64::INFINITY;
    for _ in 0..ROUNDS {
        let over = |f: &dyn Fn(f64) -> f64| -> f64 {
            let each = seen.iter().zip(&shares);
            each.map(|(at, share)| share * f(at.score)).sum()
        };
        let mean = over(&|score| score);
        let deviation = over(&|score| (score - mean).powi(2)).sqrt();
        let pull: Vec<f64> = seen
            .iter()
            .map(|at| {
                let away = (at.score - mean) / deviation;
                at.score - 0.5 - t * deviation * (1.0 + away * away) / 2.0
            })
            .collect();
        let next = tilted(seen, &pull)?;
        let moved = next.iter().zip(&shares).map(|(new, old)| (new - old).abs());
        let moved = moved.fold(0.0, f64::max);
        shares = next;
        // With a tiny share, rounding errors keep changing the last digits.
        if moved < 1e-12 || (moved < 1e-6 && moved >= last) {
            return Some(shares);
        }
        last = moved;
    }
    None
}

/// The maximum likelihood shares with mean `pull` 0: the observed shares divided by
/// 1 + x·pull, where x is the Lagrange multiplier of the condition (Owen, "Empirical
/// Likelihood", 2001). None if no shares meet the condition.
fn tilted(seen: &[OutcomeShare], pull: &[f64]) -> Option<Vec<f64>> {
    let least = pull.iter().copied().fold(f64::INFINITY, f64::min);
    let most = pull.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !(least < 0.0 && most > 0.0) {
        return None;
    }
    // x is between -1/most and -1/least, where the sum falls from +∞ to -∞. With a
    // tiny share it is close to one end, so the unknown is the distance from the
    // nearer end. Changing the sign of all pulls swaps the ends.
    let half = (-1.0 / least + 1.0 / most) / 2.0;
    let sum = |end: f64, sign: f64, away: f64| -> (f64, f64) {
        let each = seen.iter().zip(pull).map(|(at, pull)| {
            let part = sign * pull / divisor(end, sign * pull, away);
            (at.share * part, at.share * part * part)
        });
        each.fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 - part.1))
    };
    let (end, sign) = if sum(most, 1.0, half).0 <= 0.0 {
        (most, 1.0)
    } else {
        (-least, -1.0)
    };
    let (mut low, mut high) = (0.0, half);
    let mut away = half / 2.0;
    for _ in 0..200 {
        let (sum, slope) = sum(end, sign, away);
        if sum > 0.0 {
            low = away;
        } else {
            high = away;
        }
        // Newton's step for away·sum, which is nearly straight at the end.
        let step = away - away * sum / (sum + away * slope);
        let next = if step > low && step < high {
            step
        } else {
            f64::midpoint(low, high)
        };
        let moved = (next - away).abs();
        away = next;
        if moved <= 1e-15 * away {
            break;
        }
    }
    let each = seen.iter().zip(pull);
    Some(
        each.map(|(at, pull)| at.share / divisor(end, sign * pull, away))
            .collect(),
    )
}

/// 1 + x·pull for the x that lies `away` above -1/end, without the loss of
/// digits where it is near 0.
fn divisor(end: f64, pull: f64, away: f64) -> f64 {
    (end - pull) / end + away * pull
}

const fn five_percent() -> f64 {
    0.05
}
