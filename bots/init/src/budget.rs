//! The amount of output that may still go through.

use std::time::{Duration, Instant};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// So many bytes at once, and as many again in each hour.
pub(crate) struct LogBudget {
    most: u64,
    left: u64,
    /// Until when what is left was counted.
    counted: Instant,
}

impl LogBudget {
    pub(crate) fn new(most: u64, now: Instant) -> Self {
        Self {
            most,
            left: most,
            counted: now,
        }
    }

    /// Takes so many bytes, all or none.
    pub(crate) fn take(&mut self, bytes: usize, now: Instant) -> bool {
        let since = now.saturating_duration_since(self.counted);
        let earned = u128::from(self.most) * since.as_millis() / HOUR.as_millis();
        if let Some(earned) = u64::try_from(earned).ok().filter(|earned| *earned > 0) {
            self.left = self.left.saturating_add(earned).min(self.most);
            self.counted = now;
        }
        let bytes = bytes as u64;
        let is_enough = bytes <= self.left;
        if is_enough {
            self.left -= bytes;
        }
        is_enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_brings_as_much_again_and_never_more() {
        let begin = Instant::now();
        let mut budget = LogBudget::new(3600, begin);
        assert!(budget.take(3000, begin));
        assert!(!budget.take(601, begin));
        assert!(budget.take(600, begin));
        assert!(!budget.take(1, begin));
        // Time in small steps counts too.
        for tenth in 1..=100 {
            let now = begin + Duration::from_millis(100) * tenth;
            assert!(!budget.take(11, now));
        }
        let later = begin + Duration::from_secs(10);
        assert!(budget.take(10, later));
        assert!(!budget.take(1, later));
        let much_later = begin + 10 * HOUR;
        assert!(!budget.take(3601, much_later));
        assert!(budget.take(3600, much_later));
    }

    #[test]
    fn nothing_is_a_budget_too() {
        let begin = Instant::now();
        let mut budget = LogBudget::new(0, begin);
        assert!(!budget.take(1, begin + HOUR));
        assert!(budget.take(0, begin));
    }
}
