//! The number of times that a bot was excused for a late answer, and whether that can be chance.
//!
//! Delays of a busy machine come by chance, as often as they come. Stops of this process
//! ([`crate::stops`]) do not: somebody sends a signal. That may be a person, but hardly again
//! and again while the same bot's time runs out.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use parking_lot::Mutex;
use referee_core::{Foul, ThinkingTime};
use tokio::time::Instant;

/// An event whose probability is below this is no chance.
const CHANCE: f64 = 1e-6;
/// In this share of the answers of a bot people may stop the referee: three such answers in
/// a row, or five among a hundred, are no chance.
const STOPS: f64 = 1e-3;

/// The answers of one bot that were close to their limits, and how many of them were excused.
#[derive(Debug, Default)]
pub struct Excuses {
    answers: AtomicU64,
    counts: Mutex<Counts>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Number of answers that took nine tenths of their limit or more.
    near: u64,
    /// Number of answers that would have been late without an excuse.
    excused: u64,
    /// Number of different delays among these, other than stops: one may excuse a bot in many
    /// games.
    delays: u64,
    /// The last of them.
    last: Option<Excuse>,
    /// Number of different stops that excused an answer.
    stops: u64,
    /// The number of the last one.
    last_stop: u64,
}

/// The excuse for an answer: the referee could do nothing from one moment to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Excuse {
    pub(crate) from: Instant,
    pub(crate) to: Instant,
    /// The number of the stop of this process that it was, if it was one. Later stops have
    /// greater numbers.
    pub(crate) stop: Option<u64>,
}

impl Excuse {
    fn is_at_the_time_of(&self, other: &Self) -> bool {
        self.from < other.to && other.from < self.to
    }
}

impl Excuses {
    /// Number of answers that were excused.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.lock().excused
    }

    /// One more answer, and what excuses it. `stalled` tells the share of time in which the
    /// referee was delayed. Gives the foul where the excuses of this bot can't be chance.
    pub(crate) fn answered(
        &self,
        thought: ThinkingTime,
        limit: Duration,
        excuse: Option<Excuse>,
        stalled: impl FnOnce() -> f64,
    ) -> Option<Foul> {
        let answers = self.answers.fetch_add(1, Ordering::Relaxed) + 1;
        let all = thought.counted + thought.excused;
        // Nearly always it is quick, and nothing else is counted.
        if all < limit.mul_f64(0.9) {
            return None;
        }
        let mut counts = self.counts.lock();
        counts.near += 1;
        let excuse = excuse?;
        counts.excused += 1;
        if let Some(stop) = excuse.stop {
            if stop <= counts.last_stop {
                return None;
            }
            counts.last_stop = stop;
            counts.stops += 1;
            let stops = counts.stops;
            return (chance(answers, stops, STOPS) < CHANCE).then(|| Foul::Interfered {
                detail: format!(
                    "{stops} of its {answers} answers were late while the referee's process was \
                     stopped (by a signal or a debugger)"
                ),
            });
        }
        if (counts.last).is_some_and(|last| last.is_at_the_time_of(&excuse)) {
            return None;
        }
        counts.last = Some(excuse);
        counts.delays += 1;
        let Counts { near, delays, .. } = *counts;
        drop(counts);
        let stalled = stalled();
        (chance(near, delays, stalled) < CHANCE).then(|| Foul::Interfered {
            detail: format!(
                "{delays} of its {near} answers near the limit were late while the referee \
                 was delayed, which it was {:.2} % of the time",
                100.0 * stalled
            ),
        })
    }
}

/// An upper bound of the probability that at least `excused` of `near` independent moments
/// are within stalls: Chernoff's bound of the Poisson distribution's tail, `e^-m (e m / k)^k`
/// for `k > m` (Mitzenmacher and Upfal, Probability and Computing, theorem 5.4).
fn chance(near: u64, excused: u64, stalled: f64) -> f64 {
    let mean = near as f64 * stalled;
    let excused = excused as f64;
    if excused <= mean {
        return 1.0;
    }
    (excused - mean - excused * (excused / mean).ln()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(3);
    const EXCUSED: ThinkingTime = ThinkingTime {
        counted: Duration::from_millis(2951),
        excused: Duration::from_millis(50),
    };

    /// A delay of 50 ms, so many seconds after the first.
    fn delay(began: Instant, seconds: u64, stop: Option<u64>) -> Option<Excuse> {
        let from = began + Duration::from_secs(seconds);
        let to = from + Duration::from_millis(50);
        Some(Excuse { from, to, stop })
    }

    #[test]
    fn whoever_is_late_only_when_the_referee_is_has_caused_it() {
        let (excuses, now) = (Excuses::default(), Instant::now());
        let fouls =
            (0..10).map(|n| excuses.answered(EXCUSED, LIMIT, delay(now, n, None), || 0.017));
        let excused = fouls.take_while(Option::is_none).count();
        assert!((3..6).contains(&excused), "{excused}");
    }

    #[test]
    fn chance_is_no_foul() {
        let (excuses, now) = (Excuses::default(), Instant::now());
        for n in 0..10_000 {
            let (thought, excuse) = match n % 50 {
                0 => (EXCUSED, delay(now, n, None)),
                _ => (Duration::from_millis(2999).into(), None),
            };
            let foul = excuses.answered(thought, LIMIT, excuse, || 0.02);
            assert_eq!(foul, None, "after {n}");
        }
        assert_eq!(excuses.count(), 200);
    }

    #[test]
    fn quick_answers_are_not_counted() {
        let excuses = Excuses::default();
        let quick = Duration::from_secs(1).into();
        for _ in 0..1000 {
            assert_eq!(excuses.answered(quick, LIMIT, None, || 0.01), None);
        }
        assert_eq!(excuses.counts.lock().near, 0);
    }

    /// After how many stops a bot has interfered that is excused in one of so many answers.
    fn stops_until_a_foul(every: u64, stalled: f64) -> Option<u64> {
        let (excuses, now) = (Excuses::default(), Instant::now());
        (1..=10_000 * every).find_map(|n| {
            let stops = (n % every == 0).then_some(n / every);
            let (thought, excuse) = match stops {
                Some(stop) => (EXCUSED, delay(now, 2 * n, Some(stop))),
                None => (Duration::from_secs(1).into(), None),
            };
            let foul = excuses.answered(thought, LIMIT, excuse, || stalled)?;
            assert!(matches!(foul, Foul::Interfered { .. }), "{foul}");
            stops
        })
    }

    #[test]
    fn who_is_excused_by_stops_has_interfered_however_much_of_the_time_they_are() {
        for stalled in [0.001, 0.6, 1.0] {
            assert_eq!(stops_until_a_foul(1, stalled), Some(3));
            // Only sometimes.
            assert_eq!(stops_until_a_foul(10, stalled), Some(4));
            assert_eq!(stops_until_a_foul(100, stalled), Some(10));
        }
        // A person may stop an arena now and then.
        assert_eq!(stops_until_a_foul(1000, 0.5), None);
    }

    #[test]
    fn one_delay_or_stop_that_excuses_a_bot_in_many_games_is_one() {
        let now = Instant::now();
        for stop in [None, Some(1)] {
            let excuses = Excuses::default();
            for n in 0..1000_u32 {
                // Each of the threads saw it a little later.
                let from = now + n * Duration::from_micros(10);
                let to = from + Duration::from_secs(5);
                let excuse = Some(Excuse { from, to, stop });
                assert_eq!(excuses.answered(EXCUSED, LIMIT, excuse, || 0.001), None);
            }
            assert_eq!(excuses.count(), 1000);
        }
    }

    #[test]
    fn the_bound_is_above_the_tail() {
        // P(X >= 5) for a mean of 1 is 0.00366.
        let bound = chance(100, 5, 0.01);
        assert!(bound > 0.00366 && bound < 0.02, "{bound}");
        assert!(chance(100, 1, 0.5) >= 1.0);
    }
}
