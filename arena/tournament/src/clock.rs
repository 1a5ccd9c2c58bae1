//! The time of day, which is handed in: a simulation gives each machine a clock of its own.

use std::{fmt, sync::Arc, time::SystemTime};

use crate::unix_ms;

/// A clock of the time of day. It may be wrong and may jump, as such clocks do.
#[derive(Clone)]
pub struct WallClock(Arc<dyn Fn() -> SystemTime + Send + Sync>);

impl WallClock {
    /// A clock that shows what `now` gives. `now` must not block.
    #[must_use]
    pub fn new(now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// The clock of the machine.
    #[must_use]
    pub fn system() -> Self {
        Self::new(SystemTime::now)
    }

    /// The time that it shows.
    #[must_use]
    pub fn now(&self) -> SystemTime {
        (self.0)()
    }

    /// The time that it shows, in milliseconds since 1970.
    #[must_use]
    pub fn unix_ms(&self) -> i64 {
        unix_ms(self.now())
    }
}

impl Default for WallClock {
    fn default() -> Self {
        Self::system()
    }
}

impl fmt::Debug for WallClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WallClock").field(&self.now()).finish()
    }
}
