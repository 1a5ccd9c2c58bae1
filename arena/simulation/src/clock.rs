//! The time of day as a simulated machine has it: wrong, drifting, and jumping.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, SystemTime},
};

use arena_tournament::WallClock;

/// When every simulation begins: the first of January 2026.
const EPOCH: Duration = Duration::from_secs(1_767_225_600);

/// The clock of the time of day of one machine. It goes on with each step of the
/// simulation, also while the machine is off. All clones are the same clock.
#[derive(Clone, Debug, Default)]
pub struct HostClock {
    shared: Arc<ClockState>,
}

#[derive(Debug, Default)]
struct ClockState {
    /// Time that it shows, in microseconds since 1970.
    shows_us: AtomicI64,
    ahead_us: AtomicI64,
    drift_ppm: AtomicI64,
}

impl HostClock {
    /// A clock that is ahead by so many microseconds, and gains so many more each second.
    #[must_use]
    pub fn new(ahead_us: i64, drift_ppm: i64) -> Self {
        let clock = Self::default();
        clock.shared.ahead_us.store(ahead_us, Ordering::Relaxed);
        clock.shared.drift_ppm.store(drift_ppm, Ordering::Relaxed);
        clock.advance_to(Duration::ZERO);
        clock
    }

    /// Time that it shows.
    #[must_use]
    pub fn now(&self) -> SystemTime {
        let us = self.shared.shows_us.load(Ordering::Relaxed);
        SystemTime::UNIX_EPOCH + Duration::from_micros(us.max(0).unsigned_abs())
    }

    /// Moves it by so many milliseconds, also back.
    pub fn jump(&self, by_ms: i64) {
        let us = by_ms.saturating_mul(1000);
        self.shared.ahead_us.fetch_add(us, Ordering::Relaxed);
        self.shared.shows_us.fetch_add(us, Ordering::Relaxed);
    }

    /// The same clock for the code of tournaments.
    #[must_use]
    pub fn wall_clock(&self) -> WallClock {
        let clock = self.clone();
        WallClock::new(move || clock.now())
    }

    /// Shows the time after so much simulated time.
    pub(crate) fn advance_to(&self, elapsed: Duration) {
        let elapsed_us = i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX);
        let drift = self.shared.drift_ppm.load(Ordering::Relaxed);
        let shows = i64::try_from(EPOCH.as_micros())
            .unwrap_or(i64::MAX)
            .saturating_add(elapsed_us)
            .saturating_add(elapsed_us.saturating_mul(drift) / 1_000_000)
            .saturating_add(self.shared.ahead_us.load(Ordering::Relaxed));
        self.shared.shows_us.store(shows, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_off_drifts_and_jumps() {
        let clock = HostClock::new(-2_000_000, 100);
        let at = |clock: &HostClock| {
            let since = clock.now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
            since.as_millis().cast_signed() - EPOCH.as_millis().cast_signed()
        };
        assert_eq!(at(&clock), -2000);
        clock.advance_to(Duration::from_secs(100));
        assert_eq!(at(&clock), 98_010);
        clock.jump(-50_000);
        assert_eq!(at(&clock), 48_010);
        assert_eq!(clock.wall_clock().now(), clock.now());
        clock.advance_to(Duration::from_secs(101));
        assert_eq!(at(&clock), 49_010);
    }
}
