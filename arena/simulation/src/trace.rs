//! Events of a simulation, in order.

use std::{
    collections::VecDeque,
    fmt::{self, Display},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};

/// Number of lines that are kept; the hash is of all of them.
const MOST_LINES: usize = 20_000;

/// A list of events with their simulated time. All clones are the same list.
#[derive(Clone, Default)]
pub struct Trace {
    told: Arc<Mutex<TraceLines>>,
}

#[derive(Default)]
struct TraceLines {
    lines: VecDeque<String>,
    dropped: u64,
    hash: Sha256,
    /// The time between the steps of the simulation.
    now: Duration,
}

impl Trace {
    /// Adds an event. What it says must not depend on real time, addresses in memory or
    /// the order of a hash map.
    pub fn tell(&self, who: &str, what: impl Display) {
        let within = turmoil::in_simulation().then(turmoil::sim_elapsed);
        let mut told = self.told.lock();
        let now = within.flatten().unwrap_or(told.now);
        let line = format!("{:>12.6} {who}: {what}", now.as_secs_f64());
        told.hash.update(&line);
        told.hash.update("\n");
        if told.lines.len() == MOST_LINES {
            told.lines.pop_front();
            told.dropped += 1;
        }
        told.lines.push_back(line);
    }

    /// The SHA-256 of all events, in hexadecimal.
    #[must_use]
    pub fn hash(&self) -> String {
        hex::encode(self.told.lock().hash.clone().finalize())
    }

    /// Number of events.
    #[must_use]
    pub fn len(&self) -> u64 {
        let told = self.told.lock();
        told.dropped + told.lines.len() as u64
    }

    /// True if nothing has happened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The time of events that are told between two steps.
    pub(crate) fn set_now(&self, now: Duration) {
        self.told.lock().now = now;
    }
}

/// One line for each event.
impl Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = self.told.lock();
        if told.dropped > 0 {
            writeln!(f, "({} earlier events are left out)", told.dropped)?;
        }
        for line in &told.lines {
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace")
            .field("events", &self.len())
            .finish()
    }
}
