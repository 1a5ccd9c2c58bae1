//! Requests to stop work, from outside.

use tokio_util::sync::CancellationToken;

/// A request to stop: to finish the games that are running, or to cut them off. All
/// clones are one request.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    finish: CancellationToken,
    cut_off: CancellationToken,
}

impl Stop {
    /// Asks that no further game begins.
    pub fn finish(&self) {
        self.finish.cancel();
    }

    /// Asks that running games are cut off.
    pub fn cut_off(&self) {
        self.finish.cancel();
        self.cut_off.cancel();
    }

    /// True if no further game is to begin.
    #[must_use]
    pub fn is_finishing(&self) -> bool {
        self.finish.is_cancelled()
    }

    /// True if running games are to be cut off.
    #[must_use]
    pub fn is_cut_off(&self) -> bool {
        self.cut_off.is_cancelled()
    }

    /// Waits until no further game is to begin.
    pub async fn finishing(&self) {
        self.finish.cancelled().await;
    }

    /// Waits until running games are to be cut off.
    pub async fn cutting_off(&self) {
        self.cut_off.cancelled().await;
    }
}
