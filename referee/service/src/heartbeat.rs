//! The delay of the referee itself. Every runtime thread that judges time sets a timer again
//! and again and measures how late it is woken, so that no bot loses by a delay of ours.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until};

use crate::stops::Stops;

/// From one beat to the next.
pub(crate) const BEAT: Duration = Duration::from_millis(5);
/// Longest delay of a timer on a thread that is not held up.
const USUAL: Duration = Duration::from_millis(2);
/// Number of stalls that are remembered.
const MEMORY: usize = 4096;

/// One thread's stalls. Cheap to clone; all clones are the same.
#[derive(Clone, Debug)]
pub struct Heartbeat(Arc<SharedBeats>);

#[derive(Debug)]
struct SharedBeats {
    /// The number of the beat that is waited for.
    beat: AtomicU64,
    beats: Mutex<Beats>,
    /// The stops of the whole process, where it is known whether a stall was one.
    stops: Option<Stops>,
}

#[derive(Debug)]
struct Beats {
    began: Instant,
    due: Option<Instant>,
    stalls: VecDeque<LateBeat>,
    worst: Duration,
    stalled: Duration,
}

/// A time in which the thread did not do what was due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LateBeat {
    /// The number of the beat that was late.
    pub(crate) beat: u64,
    /// Moment at which it was due.
    pub(crate) from: Instant,
    /// Moment at which it came; now, if it has not come yet.
    pub(crate) to: Instant,
}

impl LateBeat {
    /// Duration of it within these moments.
    pub(crate) fn within(&self, since: Instant, until: Instant) -> Duration {
        let (from, to) = (self.from.max(since), self.to.min(until));
        to.saturating_duration_since(from)
    }
}

impl Default for Heartbeat {
    fn default() -> Self {
        Self::new(None)
    }
}

impl Heartbeat {
    /// One that tells stops of this process, where somebody watches for them.
    pub(crate) fn new(stops: Option<Stops>) -> Self {
        Self(Arc::new(SharedBeats {
            stops,
            beat: AtomicU64::new(0),
            beats: Mutex::new(Beats {
                began: Instant::now(),
                due: None,
                stalls: VecDeque::new(),
                worst: Duration::ZERO,
                stalled: Duration::ZERO,
            }),
        }))
    }

    /// Beats for ever, on the thread that it is spawned on.
    pub async fn beat(self) {
        loop {
            let due = Instant::now() + BEAT;
            self.0.beats.lock().due = Some(due);
            sleep_until(due).await;
            let to = Instant::now();
            let delay = to.duration_since(due);
            if delay > USUAL {
                let beat = self.number();
                let mut beats = self.0.beats.lock();
                beats.worst = beats.worst.max(delay);
                beats.stalled += delay;
                if beats.stalls.len() == MEMORY {
                    beats.stalls.pop_front();
                }
                let from = due;
                beats.stalls.push_back(LateBeat { beat, from, to });
            }
            self.0.beat.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The number of the beat that is waited for.
    pub(crate) fn number(&self) -> u64 {
        self.0.beat.load(Ordering::Relaxed)
    }

    /// The stalls of this thread that did not end before that moment, in order; the last one
    /// may go on.
    pub(crate) fn stalls_since(&self, since: Instant) -> Vec<LateBeat> {
        let beats = self.0.beats.lock();
        let to = Instant::now();
        let ongoing = beats.due.filter(|due| to > *due + USUAL);
        let ongoing = ongoing.map(|from| LateBeat {
            beat: self.number(),
            from,
            to,
        });
        let ended = beats.stalls.iter().rev();
        let mut stalls: Vec<LateBeat> = ended
            .take_while(|stall| stall.to >= since)
            .copied()
            .collect();
        stalls.reverse();
        stalls.extend(ongoing);
        stalls
    }

    /// The number of the stop of this process that a stall was, if it was one.
    pub(crate) async fn stop(&self, stall: &LateBeat) -> Option<u64> {
        self.0.stops.as_ref()?.of(stall).await
    }

    /// The longest delay of this thread since that moment; a delay that goes on counts up
    /// to now.
    #[must_use]
    pub fn worst_since(&self, since: Instant) -> Duration {
        let stalls = self.stalls_since(since).into_iter();
        let delays = stalls.map(|stall| stall.to.duration_since(stall.from));
        delays.max().unwrap_or(Duration::ZERO)
    }

    /// The longest delay so far.
    #[must_use]
    pub fn worst(&self) -> Duration {
        self.0.beats.lock().worst
    }

    /// The share of the time in which this thread was stalled, from 0 to 1.
    pub(crate) fn stalled_share(&self) -> f64 {
        let beats = self.0.beats.lock();
        let all = beats.began.elapsed().as_secs_f64().max(BEAT.as_secs_f64());
        (beats.stalled.as_secs_f64() / all).min(1.0)
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
            let waited_for = heart.number();
            tokio::time::sleep(2 * BEAT).await;
            assert!(heart.worst_since(before) >= Duration::from_millis(70));
            assert!(heart.worst() >= Duration::from_millis(70));
            let stalls = heart.stalls_since(before);
            assert!(stalls.iter().any(|stall| stall.beat == waited_for));
            assert!(heart.stalled_share() > 0.0);
        });
    }
}
