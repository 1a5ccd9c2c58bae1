//! The time that a bot may search for an answer: the limit of the question less a margin, or a part
//! of the budget for all answers of a game where there is one.

use std::time::{Duration, Instant};

use bot_kit::GameStart;

use crate::margin::{Margin, Waited};

/// The time of a bot in one game.
pub(crate) struct BotClock {
    margin: Margin,
    move_limit: Duration,
    /// The rest of the budget.
    budget: Option<Duration>,
}

/// A search that goes on, and how long it may take.
#[derive(Clone, Copy)]
pub(crate) struct Allowance {
    began: Instant,
    waited: Option<Waited>,
    /// The time for the search.
    pub(crate) allowed: Duration,
}

impl Allowance {
    /// The same, with no more time than this.
    pub(crate) fn at_most(self, time: Duration) -> Self {
        let allowed = self.allowed.min(time);
        Self { allowed, ..self }
    }

    /// The time at which the search has to end.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.began.checked_add(self.allowed)
    }

    /// The time since it began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}

impl BotClock {
    /// That of the game that begins so.
    pub(crate) fn new(start: &GameStart) -> Self {
        let time = |given: Option<_>| given.and_then(|given| Duration::try_from(given).ok());
        Self {
            move_limit: time(start.move_limit).unwrap_or(Duration::MAX),
            budget: time(start.budget),
            ..Self::without_budget()
        }
    }

    /// One that counts no budget.
    pub(crate) const fn without_budget() -> Self {
        Self {
            margin: Margin::new(),
            move_limit: Duration::MAX,
            budget: None,
        }
    }

    /// A question with this limit begins, and about so many answers are left, this one among them. It ends
    /// with [`end`](Self::end) on the same thread.
    pub(crate) fn begin(&mut self, limit: Duration, answers: u32) -> Allowance {
        let (began, waited) = (Instant::now(), Waited::now());
        let mut allowed = self.margin.within(limit);
        if let Some(budget) = &mut self.budget {
            // A limit that is less than that of a move is what the referee counts as left.
            if limit < self.move_limit {
                *budget = limit;
            }
            allowed = allowed.min(self.margin.within(*budget / answers.max(1)));
        }
        Allowance {
            began,
            waited,
            allowed,
        }
    }

    /// The answer is found.
    pub(crate) fn end(&mut self, allowance: Allowance) {
        let elapsed = allowance.elapsed();
        let wait = match (allowance.waited, Waited::now()) {
            (Some(began), Some(ended)) => ended.mean_since(began),
            _ => Duration::ZERO,
        };
        let late = elapsed.saturating_sub(allowance.allowed);
        self.margin.learn(late, wait);
        if let Some(budget) = &mut self.budget {
            *budget = budget.saturating_sub(elapsed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn clock(budget: Option<Duration>) -> BotClock {
        let time = |time: Duration| time.try_into().unwrap();
        BotClock::new(&GameStart {
            move_limit: Some(time(SECOND)),
            budget: budget.map(time),
            ..GameStart::default()
        })
    }

    #[test]
    fn without_a_budget_all_of_the_limit_is_used() {
        let time = clock(None).begin(SECOND, 30);
        assert!(time.allowed > SECOND * 9 / 10);
        assert_eq!(time.at_most(SECOND / 2).allowed, SECOND / 2);
    }

    #[test]
    fn a_budget_lasts_for_all_answers() {
        let mut clock = clock(Some(10 * SECOND));
        let mut left = 10 * SECOND;
        let mut used = Duration::ZERO;
        for answers in (1..=30).rev() {
            let time = clock.begin(SECOND.min(left), answers);
            assert!(time.allowed > Duration::ZERO);
            assert!(time.allowed <= left / answers, "{answers}");
            clock.budget = clock.budget.map(|budget| budget - time.allowed);
            left -= time.allowed;
            used += time.allowed;
        }
        // The margin is learned from real answers only, so it stays as large as at first.
        assert!(used > 7 * SECOND, "{used:?}");
    }

    #[test]
    fn what_the_referee_counts_as_left_stands() {
        let mut clock = clock(Some(10 * SECOND));
        let time = clock.begin(SECOND / 5, 4);
        assert!(time.allowed <= SECOND / 20);
        assert_eq!(clock.budget, Some(SECOND / 5));
    }
}
