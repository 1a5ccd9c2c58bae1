//! Holds a process still while none of its games waits for it, so that no bot thinks while
//! others move, or takes a core from them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use referee_sandbox::Freezer;
use tokio::time::Instant;

/// A process is held still when it has not been asked for so long. Bots that answer at once
/// are asked again before, and it costs them nothing.
const PAUSE: Duration = Duration::from_millis(2);

/// The control that holds one process still.
#[derive(Debug)]
pub(crate) struct Still {
    freezer: Freezer,
    state: Mutex<PauseState>,
}

#[derive(Debug, Default)]
struct PauseState {
    /// Number of games that the process plays, and of those that need nothing of it now.
    games: u64,
    resting: u64,
    /// Since when all of them need nothing.
    since: Option<Instant>,
    /// True if somebody waits for the pause to be over.
    is_timed: bool,
    is_frozen: bool,
    /// It is being stopped: it is not held still any more.
    is_released: bool,
}

/// A game's part in whether a process is held still.
#[derive(Debug)]
pub(crate) struct Resting {
    still: Option<Arc<Still>>,
    is_resting: AtomicBool,
}

impl Still {
    pub(crate) fn new(freezer: Freezer) -> Self {
        Self {
            freezer,
            state: Mutex::default(),
        }
    }

    /// Lets it go on for good.
    pub(crate) fn release(&self) {
        let mut state = self.state.lock();
        state.is_released = true;
        self.thaw(&mut state);
    }

    fn changed(self: &Arc<Self>, state: &mut PauseState) {
        if state.resting < state.games || state.games == 0 {
            state.since = None;
            self.thaw(state);
            return;
        }
        state.since = Some(Instant::now());
        if !state.is_timed && !state.is_released {
            state.is_timed = true;
            tokio::spawn(self.clone().freeze_later());
        }
    }

    /// Freezes it when the pause is over, if it has rested all the time.
    async fn freeze_later(self: Arc<Self>) {
        loop {
            let until = {
                let mut state = self.state.lock();
                match state.since {
                    Some(since) if !state.is_released => {
                        let until = since + PAUSE;
                        if until <= Instant::now() {
                            state.is_timed = false;
                            self.freeze(&mut state);
                            return;
                        }
                        until
                    }
                    _ => {
                        state.is_timed = false;
                        return;
                    }
                }
            };
            tokio::time::sleep_until(until).await;
        }
    }

    fn freeze(&self, state: &mut PauseState) {
        if !state.is_frozen {
            // One that has just ended has no cgroup.
            state.is_frozen = self.freezer.freeze().is_ok();
        }
    }

    fn thaw(&self, state: &mut PauseState) {
        if state.is_frozen {
            state.is_frozen = false;
            if let Err(error) = self.freezer.thaw() {
                tracing::debug!(%error, "a process could not be thawed: it has ended");
            }
        }
    }
}

impl Resting {
    /// A game begins in a process, which is not held still at first.
    pub(crate) fn of(still: Option<Arc<Still>>) -> Self {
        if let Some(still) = &still {
            let mut state = still.state.lock();
            state.games += 1;
            still.changed(&mut state);
        }
        Self {
            still,
            is_resting: AtomicBool::new(false),
        }
    }

    /// The game needs nothing of it until [`wakes`](Self::wakes).
    pub(crate) fn rests(&self) {
        if let Some(still) = &self.still
            && !self.is_resting.swap(true, Ordering::Relaxed)
        {
            let mut state = still.state.lock();
            state.resting += 1;
            still.changed(&mut state);
        }
    }

    /// The game is about to ask it something.
    pub(crate) fn wakes(&self) {
        if let Some(still) = &self.still
            && self.is_resting.swap(false, Ordering::Relaxed)
        {
            let mut state = still.state.lock();
            state.resting -= 1;
            still.changed(&mut state);
        }
    }
}

impl Drop for Resting {
    fn drop(&mut self) {
        if let Some(still) = &self.still {
            let mut state = still.state.lock();
            state.games -= 1;
            state.resting -= u64::from(*self.is_resting.get_mut());
            // The rest of its games may all be resting; they say so with their next answer.
            if state.resting < state.games || state.games == 0 {
                state.since = None;
                still.thaw(&mut state);
            }
        }
    }
}
