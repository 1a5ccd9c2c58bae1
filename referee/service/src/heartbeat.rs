//! How late the referee itself is. Every runtime thread that judges time sets a timer again
//! and again and measures how late it is woken, so that no bot loses by a delay of ours.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

/// From one beat to the next.
const BEAT: Duration = Duration::from_millis(5);
/// How late a timer may be on a thread that is not held up.
const USUAL: Duration = Duration::from_millis(2);
/// How many delays are remembered.
const MEMORY: usize = 4096;

/// One thread's delays. Cheap to clone; all clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Heartbeat(Arc<Mutex<Beats>>);

#[derive(Debug, Default)]
struct Beats {
    due: Option<Instant>,
    delays: VecDeque<(Instant, Duration)>,
    worst: Duration,
}

impl Heartbeat {
    /// Beats for ever, on the thread that it is spawned on.
    pub async fn beat(self) {
        loop {
            let due = Instant::now() + BEAT;
            self.lock().due = Some(due);
            sleep_until(due).await;
            let delay = due.elapsed();
            if delay > USUAL {
                let mut beats = self.lock();
                beats.worst = beats.worst.max(delay);
                if beats.delays.len() == MEMORY {
                    beats.delays.pop_front();
                }
                beats.delays.push_back((Instant::now(), delay));
            }
        }
    }

    /// The longest delay of this thread since that moment; a delay that goes on counts up
    /// to now.
    #[must_use]
    pub fn worst_since(&self, since: Instant) -> Duration {
        let beats = self.lock();
        let now = beats
            .due
            .map_or(Duration::ZERO, |due| Instant::now().duration_since(due));
        beats
            .delays
            .iter()
            .rev()
            .take_while(|(when, _)| *when >= since)
            .map(|(_, delay)| *delay)
            .fold(now, Duration::max)
    }

    /// The longest delay so far.
    #[must_use]
    pub fn worst(&self) -> Duration {
        self.lock().worst
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Beats> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_one_thread<F: Future>(future: F) -> F::Output {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap()
            .block_on(future)
    }

    #[test]
    fn a_thread_that_was_blocked_knows_for_how_long() {
        on_one_thread(async {
            let heart = Heartbeat::default();
            tokio::spawn(heart.clone().beat());
            tokio::time::sleep(BEAT).await;
            let before = Instant::now();
            std::thread::sleep(Duration::from_millis(80));
            // It has not beaten since, and knows.
            assert!(heart.worst_since(before) >= Duration::from_millis(70));
            tokio::time::sleep(2 * BEAT).await;
            assert!(heart.worst_since(before) >= Duration::from_millis(70));
            assert!(heart.worst() >= Duration::from_millis(70));
        });
    }
}
