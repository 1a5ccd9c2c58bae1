//! How often a bot was excused for a late answer, and whether that can be chance.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use referee_core::{Foul, ThinkingTime};

/// Whose probability is below this is no chance.
const CHANCE: f64 = 1e-6;

/// The answers of one bot that were close to their limits, and how many of them were excused.
#[derive(Debug, Default)]
pub struct Excuses(Mutex<Counts>);

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// How many took nine tenths of their limit or more.
    near: u32,
    /// How many of these would have been late without an excuse.
    excused: u32,
}

impl Excuses {
    /// How many answers were excused.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.counts().excused
    }

    /// One more answer. `stalled` tells the share of time in which the referee was delayed.
    /// Gives the foul where the excuses of this bot can't be chance.
    pub(crate) fn answered(
        &self,
        thought: ThinkingTime,
        limit: Duration,
        stalled: impl FnOnce() -> f64,
    ) -> Option<Foul> {
        let all = thought.counted + thought.excused;
        // Nearly always it is quick, and nothing is counted.
        if all < limit.mul_f64(0.9) {
            return None;
        }
        let mut counts = self.counts();
        counts.near += 1;
        if thought.excused.is_zero() {
            return None;
        }
        counts.excused += 1;
        let Counts { near, excused } = *counts;
        drop(counts);
        let stalled = stalled();
        (chance(near, excused, stalled) < CHANCE).then(|| Foul::Interfered {
            detail: format!(
                "{excused} of its {near} answers near the limit were late while the referee \
                 was delayed, which it was {:.2} % of the time",
                100.0 * stalled
            ),
        })
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An upper bound of the probability that at least `excused` of `near` independent moments
/// are within stalls: Chernoff's bound of the Poisson distribution's tail, `e^-m (e m / k)^k`
/// for `k > m` (Mitzenmacher and Upfal, Probability and Computing, theorem 5.4).
fn chance(near: u32, excused: u32, stalled: f64) -> f64 {
    let mean = f64::from(near) * stalled;
    let excused = f64::from(excused);
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

    #[test]
    fn whoever_is_late_only_when_the_referee_is_has_caused_it() {
        let excuses = Excuses::default();
        let fouls = (0..10).map(|_| excuses.answered(EXCUSED, LIMIT, || 0.017));
        let excused = fouls.take_while(Option::is_none).count();
        assert!((3..6).contains(&excused), "{excused}");
    }

    #[test]
    fn chance_is_no_foul() {
        let excuses = Excuses::default();
        for n in 0..10_000 {
            let thought = match n % 50 {
                0 => EXCUSED,
                _ => Duration::from_millis(2999).into(),
            };
            let foul = excuses.answered(thought, LIMIT, || 0.02);
            assert_eq!(foul, None, "after {n}");
        }
        assert_eq!(excuses.count(), 200);
    }

    #[test]
    fn quick_answers_are_not_counted() {
        let excuses = Excuses::default();
        let quick = Duration::from_secs(1).into();
        for _ in 0..1000 {
            assert_eq!(excuses.answered(quick, LIMIT, || 0.01), None);
        }
        assert_eq!(excuses.counts().near, 0);
    }

    #[test]
    fn the_bound_is_above_the_tail() {
        // P(X >= 5) for a mean of 1 is 0.00366.
        let bound = chance(100, 5, 0.01);
        assert!(bound > 0.00366 && bound < 0.02, "{bound}");
        assert!(chance(100, 1, 0.5) >= 1.0);
    }
}
