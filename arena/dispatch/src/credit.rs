//! Amount of work that a worker may have at once: little at first, and more with each game that it
//! reports. A worker that reports nothing holds up little, and less the next time.

use std::{collections::BTreeMap, time::Duration};

use arena_tournament::Lapse;
use parking_lot::Mutex;
use tokio::time::Instant;

/// So many games a worker may have that has reported none.
const FIRST: u64 = 64;
/// For each game that counts it may have so many more.
const GROWTH: u64 = 2;
/// From here on nothing is counted any more.
const ENOUGH: u64 = 1 << 16;
/// A worker that renews its leases and reports nothing is given no work for the time of a lease,
/// then for twice that, and so on: at most for that time doubled so often.
const MOST_DOUBLED: u32 = 6;

/// Credit of each worker, by its name.
#[derive(Default)]
pub(crate) struct Credits(Mutex<BTreeMap<String, Credit>>);

struct Credit {
    /// Number of games that it may have.
    games: u64,
    /// Number of times that it has reported nothing for too long, since it reported a game.
    lapses: u32,
    /// It is given no work before.
    waits_until: Option<Instant>,
}

/// Work that a worker may be given now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Allowed {
    /// Whatever it asks for.
    Everything,
    /// A chunk of at most so many games. A worker that has none may get a larger one that there is
    /// already, where there is no other.
    Games {
        /// Largest number of games.
        most: u64,
        /// True if it has none.
        has_none: bool,
    },
    /// Nothing: it has as much as it may have. Until then, where it is known.
    Nothing(Option<Instant>),
}

impl Default for Credit {
    fn default() -> Self {
        Self {
            games: FIRST,
            lapses: 0,
            waits_until: None,
        }
    }
}

impl Credits {
    /// Work that a worker may be given. `held` counts the games that it has.
    pub(crate) fn allowed(&self, worker: &str, held: impl FnOnce() -> u64) -> Allowed {
        let (games, waits_until) = match self.0.lock().get(worker) {
            Some(credit) => (credit.games, credit.waits_until),
            None => (FIRST, None),
        };
        if let Some(until) = waits_until
            && Instant::now() < until
        {
            return Allowed::Nothing(Some(until));
        }
        if games >= ENOUGH {
            return Allowed::Everything;
        }
        let held = held();
        match games.saturating_sub(held) {
            0 => Allowed::Nothing(None),
            most => Allowed::Games {
                most,
                has_none: held == 0,
            },
        }
    }

    /// Takes down that so many games of a worker count. True where it may have more now.
    pub(crate) fn counted(&self, worker: &str, games: u64) -> bool {
        let mut credits = self.0.lock();
        let credit = credits.entry(worker.to_owned()).or_default();
        credit.lapses = 0;
        credit.waits_until = None;
        let more = GROWTH.saturating_mul(games);
        let before = credit.games;
        credit.games = before.saturating_add(more).min(ENOUGH);
        before < ENOUGH
    }

    /// Takes down that a worker has lost leases of a lapse. `lease` is how long a lease lasts.
    pub(crate) fn lapsed(&self, worker: &str, lapse: Lapse, lease: Duration) {
        let mut credits = self.0.lock();
        let credit = credits.entry(worker.to_owned()).or_default();
        match lapse {
            // Its machine may be off, or the network.
            Lapse::NotRenewed => credit.games = (credit.games / 2).max(1),
            Lapse::NothingReported => {
                credit.games = 1;
                let pause = lease * 2_u32.pow(credit.lapses.min(MOST_DOUBLED));
                credit.lapses += 1;
                credit.waits_until = Some(Instant::now() + pause);
            }
        }
    }

    /// Forgets workers that are as new.
    pub(crate) fn tidy(&self, is_known: impl Fn(&str) -> bool) {
        let now = Instant::now();
        self.0.lock().retain(|worker, credit| {
            is_known(worker) || credit.waits_until.is_some_and(|until| now < until)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(60);

    /// So many games, for a worker that has none.
    const fn games(most: u64) -> Allowed {
        Allowed::Games {
            most,
            has_none: true,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_worker_has_little_at_first_and_more_with_each_game_that_counts() {
        let credits = Credits::default();
        let allowed = |held| credits.allowed("one", || held);
        assert_eq!(allowed(0), games(FIRST));
        assert_eq!(
            allowed(FIRST - 1),
            Allowed::Games {
                most: 1,
                has_none: false
            }
        );
        assert_eq!(allowed(FIRST), Allowed::Nothing(None));
        assert!(credits.counted("one", FIRST));
        assert_eq!(allowed(0), games(3 * FIRST));
        credits.counted("one", ENOUGH);
        assert_eq!(allowed(u64::MAX), Allowed::Everything);
        assert!(!credits.counted("one", 1));
        // Others have earned nothing by that.
        assert_eq!(credits.allowed("two", || 0), games(FIRST));
    }

    #[tokio::test(start_paused = true)]
    async fn who_reports_nothing_waits_longer_each_time_until_a_game_counts() {
        let credits = Credits::default();
        let allowed = || credits.allowed("one", || 0);
        for doubled in [1, 2, 4, 8, 16, 32, 64, 64] {
            credits.lapsed("one", Lapse::NothingReported, LEASE);
            let pause = LEASE * doubled;
            assert_eq!(allowed(), Allowed::Nothing(Some(Instant::now() + pause)));
            tokio::time::advance(pause).await;
            assert_eq!(allowed(), games(1));
        }
        credits.lapsed("one", Lapse::NothingReported, LEASE);
        credits.counted("one", 1);
        assert_eq!(allowed(), games(3));
    }

    #[tokio::test(start_paused = true)]
    async fn whose_network_fails_has_less_and_waits_for_nothing() {
        let credits = Credits::default();
        for most in [FIRST / 2, FIRST / 4] {
            credits.lapsed("one", Lapse::NotRenewed, LEASE);
            assert_eq!(credits.allowed("one", || 0), games(most));
        }
    }
}
