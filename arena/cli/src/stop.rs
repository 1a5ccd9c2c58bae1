//! How a run is stopped from outside: once to finish what runs, twice to cut it
//! off.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// How often a person has asked to stop: once is to finish what runs, twice is
/// to cut it off.
#[derive(Clone)]
pub(crate) struct Stop {
    once: CancellationToken,
    twice: CancellationToken,
}

impl Stop {
    /// Listens for SIGINT and SIGTERM.
    pub(crate) fn on_signals() -> anyhow::Result<Self> {
        let stop = Self {
            once: CancellationToken::new(),
            twice: CancellationToken::new(),
        };
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let told = stop.clone();
        tokio::spawn(async move {
            for token in [&told.once, &told.twice] {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                if !told.once.is_cancelled() {
                    anstream::eprintln!(
                        "\narena: finishing the games that are running; once more cuts them off"
                    );
                }
                token.cancel();
            }
        });
        Ok(stop)
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
