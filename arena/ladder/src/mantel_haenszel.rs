//! The test of Cochran, Mantel and Haenszel: whether something happens more often in one
//! of two conditions, over strata that differ in how often it happens at all.
//!
//! In each stratum the number of events under the first condition has, given all totals,
//! the hypergeometric distribution. The test compares the sum over the strata with its
//! distribution.
//!
//! N. Mantel and W. Haenszel, "Statistical aspects of the analysis of data from
//! retrospective studies of disease", 1959; the exact form is in A. Agresti,
//! "Categorical Data Analysis", 3rd edition, 2013, sections 6.4 and 16.5. The risk ratio is
//! that of S. Greenland and J. M. Robins, "Estimation of a common effect parameter from
//! sparse follow-up data", 1985.

use serde::{Deserialize, Serialize};
use statrs::function::erf::erfc;

/// The smallest p-value that is given. Smaller ones are given as this one.
pub const LEAST_P_VALUE: f64 = 1e-100;

/// Up to this variance the p-value is exact. Above it, it comes from the normal
/// distribution, which is within a factor of 2 down to a p-value of 1e-6.
const MOST_EXACT: f64 = 1000.0;

/// Counts are cut off here: above it, not every whole number is a 64-bit float.
const MOST_TRIALS: u64 = 1 << 50;

/// A 2×2 table: trials and events under both conditions. More events than trials count
/// as that many, and counts above 2^50 as 2^50.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Stratum {
    /// Trials under the tested condition.
    pub trials: u64,
    /// Events in them.
    pub events: u64,
    /// Trials under the other one.
    pub other_trials: u64,
    /// Events in them.
    pub other_events: u64,
}

/// The result of the test for the strata that have trials under both conditions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StratifiedTest {
    /// Trials under the tested condition.
    pub trials: u64,
    /// Events in them.
    pub observed: u64,
    /// Number of events that would be expected if the condition made no difference.
    pub expected: f64,
    /// The risk ratio that all strata have in common: events are so many times as frequent under
    /// the tested condition. None if there are no events under the other one.
    pub risk_ratio: Option<f64>,
    /// The probability of at least as many events as were observed if the condition
    /// made no difference: from [`LEAST_P_VALUE`] to 1.
    pub p_value: f64,
}

impl StratifiedTest {
    /// Tests whether events are more frequent under the tested condition than under the
    /// other one. The order of the strata does not matter.
    ///
    /// None if no stratum has trials under both conditions.
    #[must_use]
    pub fn of(strata: &[Stratum]) -> Option<Self> {
        let both = strata
            .iter()
            .filter(|at| at.trials > 0 && at.other_trials > 0);
        let mut tables: Vec<Stratum> = both.map(Stratum::clipped).collect();
        if tables.is_empty() {
            return None;
        }
        // So that sums are rounded in the same way in every order.
        tables.sort_unstable();
        let sum = |f: fn(&Stratum) -> f64| -> f64 { tables.iter().map(f).sum() };
        let count = |f: fn(&Stratum) -> u64| -> u64 {
            tables
                .iter()
                .fold(0, |sum: u64, at| sum.saturating_add(f(at)))
        };
        let observed = count(|at| at.events);
        let (expected, variance) = (sum(Stratum::mean), sum(Stratum::variance));
        let p_value = if variance <= MOST_EXACT {
            upper_tail(&tables, observed)
        } else {
            let z = (observed as f64 - expected - 0.5) / variance.sqrt();
            erfc(z / std::f64::consts::SQRT_2) / 2.0
        };
        let others = sum(|at| at.other_events as f64 * (at.trials as f64 / at.total()));
        let own = sum(|at| at.events as f64 * (at.other_trials as f64 / at.total()));
        Some(Self {
            trials: count(|at| at.trials),
            observed,
            expected,
            risk_ratio: (others > 0.0).then(|| own / others),
            p_value: p_value.clamp(LEAST_P_VALUE, 1.0),
        })
    }
}

impl Stratum {
    fn clipped(&self) -> Self {
        let trials = self.trials.min(MOST_TRIALS);
        let other_trials = self.other_trials.min(MOST_TRIALS);
        Self {
            trials,
            events: self.events.min(trials),
            other_trials,
            other_events: self.other_events.min(other_trials),
        }
    }

    fn total(&self) -> f64 {
        self.trials as f64 + self.other_trials as f64
    }

    /// The share of trials that are events under either condition.
    fn share(&self) -> f64 {
        (self.events as f64 + self.other_events as f64) / self.total()
    }

    /// The mean of the events under the tested condition.
    fn mean(&self) -> f64 {
        self.trials as f64 * self.share()
    }

    /// Their variance. There are at least two trials.
    fn variance(&self) -> f64 {
        let others = self.other_trials as f64 / (self.total() - 1.0);
        self.mean() * (1.0 - self.share()) * others
    }

    /// The distribution of the events under the tested condition.
    fn distribution(&self) -> SumDistribution {
        let [trials, others] = [self.trials, self.other_trials].map(|n| n as f64);
        let events = self.events as f64 + self.other_events as f64;
        let least = (events - others).max(0.0);
        let most = events.min(trials);
        // P(k + 1) / P(k), which needs no factorials.
        let rise = |k: f64| (events - k) * (trials - k) / ((k + 1.0) * (others - events + k + 1.0));
        let mode = ((events + 1.0) * (trials + 1.0) / (self.total() + 2.0)).floor();
        let mode = mode.clamp(least, most);
        let mut below = Vec::new();
        let (mut k, mut part) = (mode, 1.0);
        while k > least {
            k -= 1.0;
            part /= rise(k);
            if part < LEAST_P_VALUE {
                break;
            }
            below.push(part);
        }
        let first = mode as u64 - below.len() as u64;
        let mut parts: Vec<f64> = below.into_iter().rev().chain([1.0]).collect();
        (k, part) = (mode, 1.0);
        while k < most {
            part *= rise(k);
            if part < LEAST_P_VALUE {
                break;
            }
            parts.push(part);
            k += 1.0;
        }
        let whole: f64 = parts.iter().sum();
        for part in &mut parts {
            *part /= whole;
        }
        SumDistribution { first, parts }
    }
}

/// The probabilities of `first`, `first + 1` and so on. What is less probable than
/// [`LEAST_P_VALUE`] is left out at both ends.
struct SumDistribution {
    first: u64,
    parts: Vec<f64>,
}

impl SumDistribution {
    /// The distribution of the sum of the two.
    fn plus(&self, other: &Self) -> Self {
        let mut parts = vec![0.0; self.parts.len() + other.parts.len() - 1];
        for (at, here) in self.parts.iter().enumerate() {
            for (sum, there) in parts[at..].iter_mut().zip(&other.parts) {
                *sum += here * there;
            }
        }
        let possible = |part: &f64| *part >= LEAST_P_VALUE;
        let from = parts.iter().position(possible).unwrap_or(0);
        let to = parts.iter().rposition(possible).unwrap_or(from);
        Self {
            first: self.first + other.first + from as u64,
            parts: parts[from..=to].to_vec(),
        }
    }
}

/// The probability that the events of all strata together are at least so many.
fn upper_tail(tables: &[Stratum], observed: u64) -> f64 {
    let nothing = SumDistribution {
        first: 0,
        parts: vec![1.0],
    };
    let sum = tables
        .iter()
        .fold(nothing, |sum, at| sum.plus(&at.distribution()));
    let below = usize::try_from(observed.saturating_sub(sum.first)).unwrap_or(usize::MAX);
    // The smallest first, so that they are not lost beside the large ones.
    sum.parts.iter().skip(below).rev().sum()
}
