//! A test for workers that make bots lose: workers on which the same bots lose on time or crash
//! more often than on the other workers.
//!
//! Workers play different bots, and bots differ, so bots are the strata of a
//! [`StratifiedTest`]: each bot on one worker is compared with the same bot on all
//! others. The levels are those of Holm's procedure (S. Holm, "A simple sequentially
//! rejective multiple test procedure", 1979), over all workers and kinds of failures.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::mantel_haenszel::{StratifiedTest, Stratum};

/// The probability that any worker is flagged although all of them are alike.
pub const LEVEL: f64 = 0.001;

/// A failure by which a bot can lose a game through no fault of its own, where the worker is at
/// fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// It lost on time.
    Late,
    /// It ended in the middle of a game.
    Crashed,
}

/// Number of failures of a bot on a worker. Several of the same bot, worker and kind are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureCount {
    /// The bot: a number for each bot of each tournament.
    pub bot: u64,
    /// The number of the worker.
    pub worker: u64,
    /// The kind of failure that is counted.
    pub failure: Failure,
    /// Games that the bot played on the worker.
    pub games: u64,
    /// Games among them that ended with the failure.
    pub failures: u64,
}

/// The result for one worker and one kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerTest {
    /// The number of the worker.
    pub worker: u64,
    /// The kind of failure that was counted.
    pub failure: Failure,
    /// The comparison with all other workers. None if no other worker has played a game
    /// with any of this worker's bots.
    pub test: Option<StratifiedTest>,
    /// True if bots fail more often on this worker, with [`LEVEL`] for all workers together.
    pub is_flagged: bool,
}

/// Tests every worker against the others, by worker and kind. Neither the order of the
/// counts nor the numbers of bots and workers matter.
#[must_use]
pub fn test_workers(counts: &[FailureCount]) -> Vec<WorkerTest> {
    let mut of_bot: BTreeMap<(Failure, u64), Frequency> = BTreeMap::new();
    let mut of_worker: BTreeMap<(u64, Failure), BTreeMap<u64, Frequency>> = BTreeMap::new();
    for count in counts {
        let key = (count.failure, count.bot);
        of_bot.entry(key).or_default().add(count);
        let key = (count.worker, count.failure);
        let bots = of_worker.entry(key).or_default();
        bots.entry(count.bot).or_default().add(count);
    }
    let mut tests: Vec<WorkerTest> = of_worker
        .into_iter()
        .map(|((worker, failure), bots)| {
            let strata = bots.into_iter().map(|(bot, own)| {
                let all = of_bot.get(&(failure, bot)).copied().unwrap_or_default();
                Stratum {
                    trials: own.games,
                    events: own.failures,
                    other_trials: all.games.saturating_sub(own.games),
                    other_events: all.failures.saturating_sub(own.failures),
                }
            });
            WorkerTest {
                worker,
                failure,
                test: StratifiedTest::of(&strata.collect::<Vec<_>>()),
                is_flagged: false,
            }
        })
        .collect();
    let p_values: Vec<Option<f64>> = tests
        .iter()
        .map(|of| of.test.map(|test| test.p_value))
        .collect();
    for at in rejected(&p_values) {
        tests[at].is_flagged = true;
    }
    tests
}

/// Games, and how many of them ended with the failure.
#[derive(Clone, Copy, Default)]
struct Frequency {
    games: u64,
    failures: u64,
}

impl Frequency {
    fn add(&mut self, count: &FailureCount) {
        self.games = self.games.saturating_add(count.games);
        self.failures = self
            .failures
            .saturating_add(count.failures.min(count.games));
    }
}

/// Holm's procedure: the smallest p-value is compared with the level divided by the
/// number of tests, the next one with the level divided by one less, until one is larger.
fn rejected(p_values: &[Option<f64>]) -> BTreeSet<usize> {
    let each = p_values.iter().enumerate();
    let mut tests: Vec<(usize, f64)> = each.filter_map(|(at, p)| Some((at, (*p)?))).collect();
    tests.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let left = (1..=tests.len()).rev();
    let small = tests.iter().zip(left);
    small
        .take_while(|((_, p), left)| *p <= LEVEL / *left as f64)
        .map(|((at, _), _)| *at)
        .collect()
}
