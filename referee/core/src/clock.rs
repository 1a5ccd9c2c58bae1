//! Time limits and the clock of a seat: arithmetic on durations that the caller
//! measured. Nothing here reads a clock.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The limits of a seat: its time and the size of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The time from opening a seat's stream to its `Ready`.
    #[serde(rename = "start_us", with = "micros")]
    pub start: Duration,
    /// The time for one question.
    #[serde(rename = "move_us", with = "micros")]
    pub per_move: Duration,
    /// The time for all questions of a seat together, if there is such a limit. It may
    /// cover several games.
    #[serde(rename = "budget_us", with = "optional_micros")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Duration>,
    /// The largest answer, in bytes.
    pub answer_bytes: usize,
}

impl Limits {
    /// The longest that a limit may be: a year. Deadlines are moments plus limits, and
    /// such a sum must not overflow.
    pub const LONGEST: Duration = Duration::from_hours(365 * 24);
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(10),
            per_move: Duration::from_secs(3),
            budget: None,
            answer_bytes: 64 * 1024,
        }
    }
}

/// The time that a seat has used in this game, and what it used of its budget in
/// earlier games. Start-up has its own limit and does not count.
#[derive(Clone, Debug)]
pub struct Clock {
    limits: Limits,
    before: Duration,
    used: Duration,
}

/// Duration of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThinkingTime {
    /// The time that counts: from handing the question to the transport to reading the
    /// answer, less what is excused.
    pub counted: Duration,
    /// A delay of the referee's own that would have made the answer late.
    pub excused: Duration,
}

impl From<Duration> for ThinkingTime {
    fn from(counted: Duration) -> Self {
        Self {
            counted,
            excused: Duration::ZERO,
        }
    }
}

/// The verdict of the clock on an answer: in time or late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    /// It came before the limit.
    InTime,
    /// It came at the limit or after it.
    Late {
        /// The time that it had.
        limit: Duration,
    },
}

impl Clock {
    /// A clock that has not run yet.
    #[must_use]
    pub const fn new(limits: Limits) -> Self {
        Self::after(limits, Duration::ZERO)
    }

    /// A clock that has not run yet, of a seat that has used this much of its
    /// budget in earlier games.
    #[must_use]
    pub const fn after(limits: Limits, before: Duration) -> Self {
        Self {
            limits,
            before,
            used: Duration::ZERO,
        }
    }

    /// The limit of the next question: the move limit, or the rest of the budget if
    /// that is less.
    #[must_use]
    pub fn limit(&self) -> Duration {
        let per_move = self.limits.per_move;
        self.budget_left()
            .map_or(per_move, |left| per_move.min(left))
    }

    /// The rest of the budget, if there is a budget.
    #[must_use]
    pub fn budget_left(&self) -> Option<Duration> {
        self.limits
            .budget
            .map(|budget| budget.saturating_sub(self.before + self.used))
    }

    /// The time that the seat has used in this game.
    #[must_use]
    pub const fn used(&self) -> Duration {
        self.used
    }

    /// Adds `thought` to the used time and says whether it was in time. The limit is
    /// half-open: an answer at exactly the limit is late.
    pub fn charge(&mut self, thought: Duration) -> Charge {
        let limit = self.limit();
        self.used += thought;
        Self::judge(limit, thought)
    }

    /// Says whether a seat started in time. Start-up time is not added to the clock.
    #[must_use]
    pub fn charge_start(&self, waited: Duration) -> Charge {
        Self::judge(self.limits.start, waited)
    }

    fn judge(limit: Duration, thought: Duration) -> Charge {
        if thought < limit {
            Charge::InTime
        } else {
            Charge::Late { limit }
        }
    }
}

/// A duration for each seat.
pub(crate) mod seats_micros {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::PerSeat;

    pub(crate) fn serialize<S: Serializer>(
        times: &PerSeat<Duration>,
        s: S,
    ) -> Result<S::Ok, S::Error> {
        let whole = times.iter().map(|(_, time)| super::micros::whole(*time));
        whole.collect::<Vec<_>>().serialize(s)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        d: D,
    ) -> Result<PerSeat<Duration>, D::Error> {
        let whole = Vec::<u64>::deserialize(d)?;
        let times = whole.into_iter().map(Duration::from_micros);
        Ok(PerSeat::from(times.collect::<Vec<_>>()))
    }
}

/// A duration as whole microseconds.
pub(crate) mod micros {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(time: &Duration, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_u64(whole(*time))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
        u64::deserialize(d).map(Duration::from_micros)
    }

    pub(crate) fn whole(time: Duration) -> u64 {
        u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
    }
}

mod optional_micros {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::ref_option, reason = "serde hands the field over like this")]
    pub(super) fn serialize<S: Serializer>(
        time: &Option<Duration>,
        s: S,
    ) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => super::micros::serialize(time, s),
            None => s.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        d: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(d)?.map(Duration::from_micros))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const US: Duration = Duration::from_micros(1);

    fn clock(budget: Option<Duration>) -> Clock {
        Clock::new(Limits {
            per_move: 3000 * MS,
            budget,
            ..Limits::default()
        })
    }

    #[test]
    fn an_answer_at_exactly_the_limit_is_late() {
        let limit = 3000 * MS;
        assert_eq!(clock(None).charge(limit - US), Charge::InTime);
        assert_eq!(clock(None).charge(limit), Charge::Late { limit });
    }

    #[test]
    fn a_budget_shrinks_and_the_move_limit_does_not() {
        let mut clock = clock(Some(4000 * MS));
        assert_eq!(clock.limit(), 3000 * MS);
        assert_eq!(clock.charge(2500 * MS), Charge::InTime);
        assert_eq!(clock.limit(), 1500 * MS);
        assert_eq!(clock.charge(1500 * MS), Charge::Late { limit: 1500 * MS });
        assert_eq!(clock.limit(), Duration::ZERO);
        assert_eq!(
            clock.charge(Duration::ZERO),
            Charge::Late {
                limit: Duration::ZERO
            }
        );
    }

    #[test]
    fn a_budget_goes_over_several_games() {
        let limits = Limits {
            budget: Some(4000 * MS),
            ..Limits::default()
        };
        let mut clock = Clock::after(limits, 3000 * MS);
        assert_eq!(clock.limit(), 1000 * MS);
        assert_eq!(clock.charge(400 * MS), Charge::InTime);
        assert_eq!(clock.budget_left(), Some(600 * MS));
        assert_eq!(clock.used(), 400 * MS);
    }

    #[test]
    fn start_up_is_charged_to_nobody() {
        let clock = clock(None);
        assert_eq!(clock.charge_start(9999 * MS), Charge::InTime);
        assert_eq!(
            clock.charge_start(10_000 * MS),
            Charge::Late { limit: 10_000 * MS }
        );
        assert_eq!(clock.used(), Duration::ZERO);
    }
}
