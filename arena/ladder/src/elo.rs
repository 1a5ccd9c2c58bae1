//! Elo: what the groups that two have played say about their strengths.
//!
//! The formulas are those of fastchess
//! (<https://github.com/Disservin/fastchess>, `app/src/matchmaking/elo`).

use std::f64::consts::LN_10;

use serde::Serialize;
use statrs::distribution::{ContinuousCDF as _, Normal};

/// How many Elo one natural unit of strength is.
pub const ELO_SCALE: f64 = 400.0 / LN_10;

/// How many normalised Elo one standard deviation of a game's score is.
pub const NELO_SCALE: f64 = 800.0 / LN_10;

/// Fewer groups than these have no error bar.
pub const ENOUGH_GROUPS: u64 = 10;

/// Half the width of a 95 % interval, in standard errors.
pub const Z95: f64 = 1.959963984540054;

/// A figure and how far off it may be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Half the width of its 95 % interval. None: not enough games to say, be it
    /// that there are fewer than [`ENOUGH_GROUPS`] groups or that all of them
    /// came out the same.
    pub error: Option<f64>,
}

/// Two who have played each other, seen from the first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// How many groups they have played.
    pub groups: u64,
    /// The share of points that the first has won, from 0 to 1.
    pub score: f64,
    /// By how much the first is stronger. None where one has won everything.
    pub elo: Option<Estimate>,
    /// The same in normalised Elo: the score above one half in units of its
    /// spread from game to game. None where all groups came out the same, unless
    /// they came out even.
    pub nelo: Option<Estimate>,
    /// The likelihood of superiority: how likely it is that the first is the
    /// stronger one. None: not enough games to say.
    pub los: Option<f64>,
    /// The share of groups that came out even: for single games, of draws.
    pub draw_ratio: f64,
}

impl Comparison {
    /// What these groups say: `counts[h]` of them brought the first `h` half
    /// points. Five counts are groups of two games (LL, LD, DD or WL, WD, WW),
    /// three are single games (L, D, W); groups of `n` games have 2n + 1.
    ///
    /// None without a group, or with an even number of counts.
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
        // Over whole numbers, so that what is even or certain is so exactly.
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
        let enough = groups >= ENOUGH_GROUPS && counts.iter().filter(|&&n| n > 0).count() > 1;

        let [low, high] = [-Z95, Z95].map(|z| elo_of(score + z * standard_error));
        let elo = elo_of(score).map(|value| Estimate {
            value,
            error: low
                .zip(high)
                .map(|(low, high)| (high - low) / 2.0)
                .filter(|_| enough),
        });
        let by_game = spread * (games as f64).sqrt();
        let nelo = if spread > 0.0 {
            Some((score - 0.5) / by_game * NELO_SCALE)
        } else {
            (score == 0.5).then_some(0.0)
        };
        let nelo = nelo.map(|value| Estimate {
            value,
            error: enough.then(|| Z95 * standard_error / by_game * NELO_SCALE),
        });
        Some(Self {
            groups,
            score,
            elo,
            nelo,
            los: enough.then(|| Normal::standard().cdf((score - 0.5) / standard_error)),
            draw_ratio: counts[games] as f64 / groups as f64,
        })
    }
}

/// The score, from 0 to 1, that is to be expected of one who is stronger by this.
#[must_use]
pub fn score_of(elo: f64) -> f64 {
    1.0 / (1.0 + (-elo / ELO_SCALE).exp())
}

/// By how much one is stronger of whom this score, from 0 to 1, is to be
/// expected. None where no difference is enough: for all, for nothing, and for
/// what is no score.
#[must_use]
pub fn elo_of(score: f64) -> Option<f64> {
    (score > 0.0 && score < 1.0).then(|| ELO_SCALE * (score / (1.0 - score)).ln())
}
