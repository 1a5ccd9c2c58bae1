//! The state that the games of one process share.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;

/// The time that it keeps thinking about a cancelled game.
const BUSY_TIME: Duration = Duration::from_secs(60);
/// Less than the 1 s that the referee waits for a stream's end.
const ROOM_WAIT: Duration = Duration::from_millis(500);
/// In how many threads: enough to be seen on a busy machine.
const BUSY_THREADS: usize = 4;

/// The games of one process.
#[derive(Default)]
pub(crate) struct RunningGames {
    state: Mutex<GameNumbers>,
    asked: AtomicBool,
    thinks_on: AtomicBool,
}

#[derive(Default)]
struct GameNumbers {
    /// Those that run, or are taken to: by their numbers.
    running: BTreeSet<u64>,
    begun: u64,
    kept: Vec<Vec<u8>>,
}

/// A game that runs.
pub(crate) struct RunningGame {
    games: Arc<RunningGames>,
    number: u64,
    /// It counts as running until `over` is called, even when it is dropped.
    clings: bool,
}

impl RunningGames {
    /// Begins another one.
    pub(crate) fn begin(self: &Arc<Self>, clings: bool) -> RunningGame {
        let mut state = self.state.lock();
        state.begun += 1;
        let number = state.begun;
        state.running.insert(number);
        RunningGame {
            games: self.clone(),
            number,
            clings,
        }
    }

    /// Number of games that run.
    pub(crate) fn running(&self) -> usize {
        self.state.lock().running.len()
    }

    /// True if fewer run than this, now or in a moment: a stream's end takes one to be noticed.
    pub(crate) async fn has_room(&self, most: usize) -> bool {
        let began = Instant::now();
        while self.running() >= most {
            if began.elapsed() >= ROOM_WAIT {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        true
    }

    /// True if a game has asked this before.
    pub(crate) fn was_asked(&self) -> bool {
        self.asked.swap(true, Ordering::Relaxed)
    }

    /// Keeps this many bytes until the process ends, and writes to each of them.
    pub(crate) fn keep(&self, bytes: usize) {
        self.state.lock().kept.push(vec![1; bytes]);
    }

    /// Keeps the cores busy for a while, once.
    pub(crate) fn think_on(&self) {
        if self.thinks_on.swap(true, Ordering::Relaxed) {
            return;
        }
        for _ in 0..BUSY_THREADS {
            std::thread::spawn(|| {
                let began = Instant::now();
                while began.elapsed() < BUSY_TIME {
                    std::hint::spin_loop();
                }
            });
        }
    }
}

impl RunningGame {
    /// True if no other game that runs has begun after it.
    pub(crate) fn is_newest(&self) -> bool {
        self.games.state.lock().running.last() == Some(&self.number)
    }

    /// It is over.
    pub(crate) fn over(&self) {
        self.games.state.lock().running.remove(&self.number);
    }
}

impl Drop for RunningGame {
    fn drop(&mut self) {
        if !self.clings {
            self.over();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_runs_until_it_is_dropped_or_over() {
        let games = Arc::new(RunningGames::default());
        let first = games.begin(false);
        let second = games.begin(false);
        assert_eq!(games.running(), 2);
        assert!(second.is_newest() && !first.is_newest());
        second.over();
        assert!(first.is_newest() && !second.is_newest());
        drop(first);
        assert_eq!(games.running(), 0);
    }

    #[test]
    fn a_game_that_clings_runs_until_it_is_over() {
        let games = Arc::new(RunningGames::default());
        drop(games.begin(true));
        assert_eq!(games.running(), 1);
        games.begin(true).over();
        assert_eq!(games.running(), 1);
    }
}
