//! The last turn of a loop that has to go on, so that others see whether it does.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio::time::Instant;

/// The time of the last turn of a loop.
#[derive(Debug)]
pub struct Pulse {
    began: Instant,
    /// Milliseconds from there to the last turn, and 1 more; 0 before the first one.
    last: AtomicU64,
}

impl Default for Pulse {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            last: AtomicU64::new(0),
        }
    }
}

impl Pulse {
    /// Takes down a turn.
    pub fn beat(&self) {
        let since = self.began.elapsed().as_millis();
        let since = u64::try_from(since).unwrap_or(u64::MAX - 1);
        self.last.store(since + 1, Ordering::Relaxed);
    }

    /// The time since the last turn; none before the first one.
    pub fn since(&self) -> Option<Duration> {
        let last = self.last.load(Ordering::Relaxed).checked_sub(1)?;
        let last = Duration::from_millis(last);
        Some(self.began.elapsed().saturating_sub(last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_time_since_the_last_turn_is_told() {
        let pulse = Pulse::default();
        assert_eq!(pulse.since(), None);
        pulse.beat();
        assert_eq!(pulse.since(), Some(Duration::ZERO));
        tokio::time::advance(Duration::from_secs(3)).await;
        assert_eq!(pulse.since(), Some(Duration::from_secs(3)));
        pulse.beat();
        assert_eq!(pulse.since(), Some(Duration::ZERO));
    }
}
