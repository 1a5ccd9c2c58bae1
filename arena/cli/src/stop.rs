//! How a run is stopped from outside: once to finish what runs, twice to cut it
//! off.

use std::time::Duration;

use tokio::{
    signal::unix::{SignalKind, signal},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

/// How the program ends when it was stopped before the end.
const INTERRUPTED: i32 = 130;

/// How often a person has asked to stop: once is to finish what runs, twice is
/// to cut it off.
#[derive(Clone)]
pub(crate) struct Stop {
    once: CancellationToken,
    twice: CancellationToken,
}

impl Stop {
    /// Listens for SIGINT and SIGTERM; when both have been asked for, the next ends
    /// the process. Whoever sends SIGTERM does not wait for
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
                    _ = terminate.recv() => grace.filter(|_| ends.is_none()),
                    () = over(ends) => {
                        ends = None;
                        told.twice.cancel();
                        continue;
                    }
                };
                match grace {
                    _ if told.twice.is_cancelled() => std::process::exit(INTERRUPTED),
                    // Whoever asks for a stop in time has it, whatever was asked before.
                    Some(grace) => {
                        ends = Some(Instant::now() + grace);
                        tell(&format!("what still runs after {grace:?} is cut off"));
                    }
                    None if told.once.is_cancelled() => told.twice.cancel(),
                    None => tell("once more cuts them off"),
                }
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

fn tell(how: &str) {
    anstream::eprintln!("\narena: finishing the games that are running; {how}");
}

/// Waits until then; where there is no such moment, for ever.
async fn over(then: Option<Instant>) {
    match then {
        Some(then) => sleep_until(then).await,
        None => std::future::pending().await,
    }
}
