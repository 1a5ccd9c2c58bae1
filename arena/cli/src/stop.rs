//! How a run is stopped from outside: once to finish what runs, twice to cut it
//! off.

use std::time::Duration;

use tokio::{
    signal::unix::{SignalKind, signal},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

/// How often a person has asked to stop: once is to finish what runs, twice is
/// to cut it off.
#[derive(Clone)]
pub(crate) struct Stop {
    once: CancellationToken,
    twice: CancellationToken,
}

impl Stop {
    /// Listens for SIGINT and SIGTERM. Whoever sends SIGTERM does not wait for
    /// ever: `grace` after it, what still runs is cut off.
    pub(crate) fn on_signals(grace: Option<Duration>) -> anyhow::Result<Self> {
        let stop = Self {
            once: CancellationToken::new(),
            twice: CancellationToken::new(),
        };
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let told = stop.clone();
        tokio::spawn(async move {
            let mut ends = None;
            loop {
                let grace = tokio::select! {
                    _ = interrupt.recv() => None,
                    _ = terminate.recv() => grace,
                    () = over(ends) => {
                        told.twice.cancel();
                        return;
                    }
                };
                if told.once.is_cancelled() {
                    told.twice.cancel();
                    return;
                }
                ends = grace.map(|grace| Instant::now() + grace);
                let how = grace.map_or_else(
                    || "once more cuts them off".to_owned(),
                    |grace| format!("what still runs after {grace:?} is cut off"),
                );
                anstream::eprintln!("\narena: finishing the games that are running; {how}");
                told.once.cancel();
            }
        });
        Ok(stop)
    }

    /// Asks for it from inside.
    pub(crate) fn ask(&self) {
        self.once.cancel();
    }

    /// Whether it has been asked for.
    pub(crate) fn is_asked(&self) -> bool {
        self.once.is_cancelled()
    }

    /// Waits until it has been asked for.
    pub(crate) async fn asked(&self) {
        self.once.cancelled().await;
    }

    /// Waits until it has been asked for twice.
    pub(crate) async fn cut_off(&self) {
        self.twice.cancelled().await;
    }
}

/// Waits until then; where there is no such moment, for ever.
async fn over(then: Option<Instant>) {
    match then {
        Some(then) => sleep_until(then).await,
        None => std::future::pending().await,
    }
}
