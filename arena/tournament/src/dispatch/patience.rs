//! How long a request for work is held before it is answered that there is none.

use std::{pin::Pin, time::Duration};

use tokio::{sync::futures::Notified, time::Instant};

/// How long a request for work is held before it is answered that there is none.
#[derive(Clone, Copy, Debug)]
pub struct Patience(Instant);

impl Patience {
    /// From now on, for a part of the time of a lease: the answer comes before anybody takes
    /// the arena for lost.
    #[must_use]
    pub fn new(lease: Duration) -> Self {
        Self(Instant::now() + lease / 4)
    }

    /// Whether the request has been held for long enough.
    #[must_use]
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.0
    }

    /// Waits until there may be new work: for a change, or until the first of the leases runs
    /// out. False when the request has been held for long enough.
    pub async fn wait(&self, changed: Pin<&mut Notified<'_>>, expiry: Option<Instant>) -> bool {
        let until = expiry.map_or(self.0, |expiry| expiry.min(self.0));
        tokio::select! {
            biased;
            () = changed => true,
            () = tokio::time::sleep_until(until) => !self.is_over(),
        }
    }
}
