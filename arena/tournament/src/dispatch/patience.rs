//! The time for which a request for work is held before it is answered that there is none, and the
//! waiting for a store.

use std::{pin::Pin, time::Duration};

use tokio::{sync::futures::Notified, time::Instant};

use crate::TournamentError;

/// After how long the store is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// Does something with the store until the store can: there may be no room on its disk, or its
/// server is away. It is for workers in this process, which have nobody else who would try
/// again.
///
/// # Errors
///
/// Those of the call that don't pass by themselves.
pub async fn persist<T, F>(mut call: impl FnMut() -> F + Send) -> Result<T, TournamentError>
where
    F: Future<Output = Result<T, TournamentError>> + Send,
    T: Send,
{
    loop {
        match call().await {
            Err(TournamentError::Store(error)) if error.may_pass() => {
                let waits_for = error.cure().words();
                tracing::warn!(%error, waits_for, "the store is tried again");
                tokio::time::sleep(AGAIN).await;
            }
            result => return result,
        }
    }
}

/// The time for which a request for work is held before it is answered that there is none.
#[derive(Clone, Copy, Debug)]
pub struct HoldTime(Instant);

impl HoldTime {
    /// From now on, for a part of the time of a lease: the answer comes before anybody takes
    /// the arena for lost.
    #[must_use]
    pub fn new(lease: Duration) -> Self {
        Self(Instant::now() + lease / 4)
    }

    /// True if the request has been held for long enough.
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

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::atomic::{AtomicU32, Ordering},
    };

    use arena_store::StoreError;

    use super::*;

    fn failing(kind: io::ErrorKind) -> TournamentError {
        StoreError::from(io::Error::from(kind)).into()
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_without_room_is_tried_again_until_there_is_room() {
        let tries = AtomicU32::new(0);
        let persisted = persist(|| async {
            match tries.fetch_add(1, Ordering::Relaxed) {
                0..100 => Err(failing(io::ErrorKind::StorageFull)),
                tries => Ok(tries),
            }
        });
        assert_eq!(persisted.await.unwrap(), 100);
    }

    #[tokio::test(start_paused = true)]
    async fn what_does_not_pass_by_itself_is_not_tried_again() {
        let tries = AtomicU32::new(0);
        let persisted = persist(|| async {
            tries.fetch_add(1, Ordering::Relaxed);
            Err::<(), _>(StoreError::Damaged("a test".to_owned()).into())
        });
        let error = persisted.await.unwrap_err();
        assert_eq!(error.to_string(), "the store is damaged: a test");
        assert_eq!(tries.into_inner(), 1);
    }
}
