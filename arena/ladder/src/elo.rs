//! Elo: the difference in strength of two entrants, from the groups that they played.
//!
//! The formulas are those of fastchess
//! (<https://github.com/Disservin/fastchess>, `app/src/matchmaking/elo`).

use std::f64::consts::LN_10;

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF as _, Normal};

/// Elo per natural unit of strength.
pub const ELO_SCALE: f64 = 400.0 / LN_10;

/// Normalised Elo per standard deviation of a game's score.
pub const NELO_SCALE: f64 = 800.0 / LN_10;

/// An error bar needs at least this many groups.
pub const ENOUGH_GROUPS: u64 = 10;

/// Half the width of a 95 % interval, in standard errors.
pub const Z95: f64 = 1.959963984540054;

/// A figure and its error bar.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Half the width of its 95 % interval, or why there is none. In JSON it is the
    /// number or the object of [`NoEstimate`].
    #[serde(with = "OrWhy")]
    pub error: Result<f64, NoEstimate>,
}

/// Reason why results give no figure, or no error bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "unknown", rename_all = "snake_case")]
pub enum NoEstimate {
    /// There are fewer groups than an error bar needs. For a rating only groups
    /// whose results vary count.
    TooFewGroups {
        /// Number of groups that there are.
        has: u64,
        /// Number of groups that it needs.
        needs: u64,
    },
    /// All groups had the same result, so nothing tells how much results vary.
    NoVariance,
    /// No difference in strength is large enough to explain that every game was won.
    EveryGameWon,
    /// No difference in strength is large enough to explain that every game was lost.
    EveryGameLost,
    /// The 95 % interval of the score reaches 0 or 1, where no Elo is finite.
    Unbounded,
    /// No chain of results leads to the main field and back (see
    /// [`Fit`](crate::luce::Fit)).
    NotComparable,
}

/// The comparison of a pair by its games, as seen by the first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Number of groups that they have played.
    pub groups: u64,
    /// The share of points that the first has won, from 0 to 1.
    pub score: f64,
    /// Half the width of its 95 % interval.
    #[serde(with = "OrWhy")]
    pub score_error: Result<f64, NoEstimate>,
    /// By how much the first is stronger. There is no figure if one has won everything.
    #[serde(with = "OrWhy")]
    pub elo: Result<Estimate, NoEstimate>,
    /// The same in normalised Elo: (score - 1/2) / (standard deviation of a game's
    /// score), times [`NELO_SCALE`]. There is no figure if all groups had the same
    /// result and it was not even.
    #[serde(with = "OrWhy")]
    pub nelo: Result<Estimate, NoEstimate>,
    /// The likelihood of superiority: the probability that the first is the
    /// stronger one.
    #[serde(with = "OrWhy")]
    pub los: Result<f64, NoEstimate>,
    /// The share of even groups: for single games, of draws.
    pub draw_ratio: f64,
}

impl Comparison {
    /// Compares by groups: in `counts[h]` of them the first won `h` half points.
    /// Five counts are groups of two games (LL, LD, DD or WL, WD, WW),
    /// three are single games (L, D, W); groups of `n` games have 2n + 1.
    ///
    /// None without a group, and with an even number of counts.
    #[must_use]
    pub fn of(counts: &[u64]) -> Option<Self> {
        let (games, odd) = (counts.len().saturating_sub(1) / 2, counts.len() % 2 == 1);
        let groups = counts
            .iter()
            .try_fold(0_u64, |sum, &n| sum.checked_add(n))?;
        if games == 0 || !odd || groups == 0 {
            return None;
        }
        let most = (2 * games) as f64;
        // Over whole numbers, so that scores of 0, 1/2 and 1 are exact.
        let over = |f: &dyn Fn(f64) -> f64| -> f64 {
            let each = counts.iter().enumerate();
            each.map(|(half, &n)| n as f64 * f(half as f64))
                .sum::<f64>()
                / groups as f64
        };
        let mean = over(&|half| half);
        let score = mean / most;
        let spread = over(&|half| (half - mean).powi(2)).sqrt() / most;
        let standard_error = spread / (groups as f64).sqrt();
        let outcomes = counts.iter().filter(|&&n| n > 0).count();
        let enough = enough_groups(groups).and(match outcomes {
            1 => Err(NoEstimate::NoVariance),
            _ => Ok(()),
        });

        let [low, high] = [-Z95, Z95].map(|z| elo_of(score + z * standard_error));
        let infinite = if score < 0.5 {
            NoEstimate::EveryGameLost
        } else {
            NoEstimate::EveryGameWon
        };
        let elo = elo_of(score).ok_or(infinite).map(|value| Estimate {
            value,
            error: enough.and_then(|()| {
                let ends = low.zip(high).ok_or(NoEstimate::Unbounded);
                ends.map(|(low, high)| (high - low) / 2.0)
            }),
        });
        let by_game = spread * (games as f64).sqrt();
        let nelo = if spread > 0.0 {
            Ok((score - 0.5) / by_game * NELO_SCALE)
        } else if score == 0.5 {
            Ok(0.0)
        } else {
            Err(elo.err().unwrap_or(NoEstimate::NoVariance))
        };
        let nelo = nelo.map(|value| Estimate {
            value,
            error: enough.map(|()| Z95 * standard_error / by_game * NELO_SCALE),
        });
        Some(Self {
            groups,
            score,
            score_error: enough.map(|()| Z95 * standard_error),
            elo,
            nelo,
            los: enough.map(|()| Normal::standard().cdf((score - 0.5) / standard_error)),
            draw_ratio: counts[games] as f64 / groups as f64,
        })
    }
}

/// Checks that this many groups are enough for an error bar.
pub(crate) const fn enough_groups(has: u64) -> Result<(), NoEstimate> {
    let needs = ENOUGH_GROUPS;
    if has < needs {
        return Err(NoEstimate::TooFewGroups { has, needs });
    }
    Ok(())
}

/// The expected score, from 0 to 1, of the one who is stronger by this much.
#[must_use]
pub fn score_of(elo: f64) -> f64 {
    1.0 / (1.0 + (-elo / ELO_SCALE).exp())
}

/// The difference in strength with this expected score. None for scores that are not
/// between 0 and 1, where no finite difference exists.
#[must_use]
pub fn elo_of(score: f64) -> Option<f64> {
    (score > 0.0 && score < 1.0).then(|| ELO_SCALE * (score / (1.0 - score)).ln())
}

/// The JSON of a figure that may be missing: the figure itself or the object of
/// [`NoEstimate`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "Result", untagged)]
enum OrWhy<T, E> {
    Ok(T),
    Err(E),
}
