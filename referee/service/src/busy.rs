//! The time that a thread is kept busy by the connections of one bot, so that no bot is
//! excused by a delay that it caused itself.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use hyper::rt::Executor;
use parking_lot::Mutex;

use crate::heartbeat::{Heartbeat, LateBeat};

/// Less than this between two beats of the thread is not remembered.
const NOTABLE: Duration = Duration::from_millis(1);
/// Number of times between two beats that are remembered.
const MEMORY: usize = 256;
/// A bot that has caused more than this share of a stall has caused the stall.
const OWN_SHARE: u32 = 4;

/// The time that one thread has spent on the connections of one bot.
#[derive(Debug)]
pub(crate) struct BusyTime {
    heartbeat: Heartbeat,
    state: Mutex<BusyHistory>,
}

#[derive(Debug, Default)]
struct BusyHistory {
    /// The beat that was waited for when time was added last.
    beat: u64,
    /// Time that was added while it was waited for.
    busy: Duration,
    before: VecDeque<(u64, Duration)>,
}

impl BusyTime {
    /// None so far, on the thread of this heartbeat.
    pub(crate) fn new(heartbeat: Heartbeat) -> Self {
        Self {
            heartbeat,
            state: Mutex::default(),
        }
    }

    fn add(&self, time: Duration) {
        let beat = self.heartbeat.number();
        let mut state = self.state.lock();
        if state.beat != beat {
            if state.busy >= NOTABLE {
                if state.before.len() == MEMORY {
                    state.before.pop_front();
                }
                let ended = (state.beat, state.busy);
                state.before.push_back(ended);
            }
            state.beat = beat;
            state.busy = Duration::ZERO;
        }
        state.busy += time;
    }

    /// The time that was spent on this bot while that beat was waited for.
    fn during(&self, beat: u64) -> Duration {
        let state = self.state.lock();
        if state.beat == beat {
            return state.busy;
        }
        let found = state.before.iter().rev().find(|(of, _)| *of == beat);
        found.map_or(Duration::ZERO, |(_, busy)| *busy)
    }

    /// The part of this bot's delay that a stall may excuse: nothing if the bot has caused
    /// the stall, else the stall within these moments without what was spent on the bot.
    pub(crate) fn excused(
        &self,
        stall: &LateBeat,
        since: tokio::time::Instant,
        until: tokio::time::Instant,
    ) -> Duration {
        let own = self.during(stall.beat);
        if own * OWN_SHARE > stall.to.duration_since(stall.from) {
            return Duration::ZERO;
        }
        stall.within(since, until).saturating_sub(own)
    }
}

/// Spawns the tasks of a connection and adds the time that they take to the bot's.
#[derive(Clone)]
pub(crate) struct TimedExecutor(pub(crate) Arc<BusyTime>);

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Executor<Task> for TimedExecutor {
    fn execute(&self, task: Task) {
        let busy = self.0.clone();
        tokio::spawn(Timed { task, busy });
    }
}

struct Timed {
    task: Task,
    busy: Arc<BusyTime>,
}

impl Future for Timed {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let began = Instant::now();
        let polled = self.task.as_mut().poll(cx);
        self.busy.add(began.elapsed());
        polled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_excuses_who_has_not_caused_it() {
        let busy = BusyTime::new(Heartbeat::default());
        let from = tokio::time::Instant::now();
        let to = from + Duration::from_millis(100);
        let stall = LateBeat { beat: 0, from, to };
        let excused = || busy.excused(&stall, from, to);
        assert_eq!(excused(), Duration::from_millis(100));
        busy.add(Duration::from_millis(10));
        assert_eq!(excused(), Duration::from_millis(90));
        let late = from + Duration::from_millis(60);
        assert_eq!(busy.excused(&stall, late, to), Duration::from_millis(30));
        busy.add(Duration::from_millis(20));
        assert_eq!(excused(), Duration::ZERO);
    }

    #[tokio::test(flavor = "current_thread")]
    async fn each_beat_has_its_own_time() {
        let heartbeat = Heartbeat::default();
        let busy = BusyTime::new(heartbeat.clone());
        tokio::spawn(heartbeat.clone().beat());
        busy.add(Duration::from_millis(7));
        while heartbeat.number() == 0 {
            tokio::task::yield_now().await;
        }
        busy.add(Duration::from_millis(2));
        assert_eq!(busy.during(0), Duration::from_millis(7));
        assert_eq!(busy.during(heartbeat.number()), Duration::from_millis(2));
        assert_eq!(busy.during(99), Duration::ZERO);
    }
}
