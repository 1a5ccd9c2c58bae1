//! Simulated time that a call of a store takes.

use std::time::Duration;

use parking_lot::Mutex;
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng as _, SeedableRng as _},
};

/// Draws how much simulated time a call takes.
#[derive(Debug)]
pub struct Pace {
    longest: Duration,
    slow: Option<Slow>,
    chance: Mutex<ChaCha8Rng>,
}

/// Calls that take much longer than others.
#[derive(Clone, Copy, Debug)]
struct Slow {
    one_in: u64,
    longest: Duration,
    until: Duration,
}

impl Pace {
    /// Calls that take up to `longest`.
    #[must_use]
    pub fn new(longest: Duration, seed: u64) -> Self {
        Self {
            longest,
            slow: None,
            chance: Mutex::new(ChaCha8Rng::seed_from_u64(seed)),
        }
    }

    /// The same, but one call in so many takes up to `longest`, until so much time of the
    /// simulation has passed.
    #[must_use]
    pub fn with_slow_calls(self, one_in: u64, longest: Duration, until: Duration) -> Self {
        let slow = Slow {
            one_in: one_in.max(1),
            longest,
            until,
        };
        Self {
            slow: Some(slow),
            ..self
        }
    }

    /// Lets the time pass. It must be called on a simulated host, unless every call takes no
    /// time.
    pub async fn pass(&self) {
        let time = self.draw();
        if time > Duration::ZERO {
            tokio::time::sleep(time).await;
        }
    }

    fn draw(&self) -> Duration {
        let mut chance = self.chance.lock();
        let mut up_to = |most: Duration| {
            let most = u64::try_from(most.as_millis()).unwrap_or(u64::MAX);
            Duration::from_millis(chance.next_u64() % most.saturating_add(1))
        };
        let usual = up_to(self.longest);
        let Some(slow) = self.slow else {
            return usual;
        };
        let elapsed = turmoil::in_simulation().then(turmoil::sim_elapsed);
        let is_over = elapsed.flatten().is_some_and(|now| now >= slow.until);
        let longer = up_to(slow.longest);
        let is_slow = chance.next_u64().is_multiple_of(slow.one_in);
        match is_slow && !is_over {
            true => longer,
            false => usual,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_call_in_some_takes_much_longer() {
        let usual = Duration::from_millis(20);
        let pace = Pace::new(usual, 1).with_slow_calls(10, 100 * usual, Duration::MAX);
        let drawn: Vec<Duration> = (0..1000).map(|_| pace.draw()).collect();
        let slow = drawn.iter().filter(|time| **time > usual).count();
        assert!((50..200).contains(&slow), "{slow}");
        assert!(drawn.iter().all(|time| *time <= 100 * usual));
        let pace = Pace::new(usual, 1);
        assert!((0..1000).all(|_| pace.draw() <= usual));
    }
}
