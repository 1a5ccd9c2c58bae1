//! Ctrl-C and SIGTERM: once to finish the games that are running, twice to cut them
//! off.

use std::time::Duration;

use referee_worker::Stop;
use tokio::{
    signal::unix::{SignalKind, signal},
    time::{Instant, sleep_until},
};

use crate::End;

/// Listens for SIGINT and SIGTERM. When both finishing and cutting off have been asked
/// for, the next signal ends the process. Whoever sends SIGTERM does not wait without
/// limit: `grace` after it, what still runs is cut off.
pub fn on_signals(grace: Option<Duration>) -> anyhow::Result<Stop> {
    let stop = Stop::default();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let asked = stop.clone();
    tokio::spawn(async move {
        let mut ends = None;
        loop {
            let grace = tokio::select! {
                _ = interrupt.recv() => None,
                _ = terminate.recv() => grace.filter(|_| ends.is_none()),
                () = at(ends) => {
                    ends = None;
                    asked.cut_off();
                    continue;
                }
            };
            match grace {
                _ if asked.is_cut_off() => std::process::exit(End::Interrupted as i32),
                // SIGTERM sets its limit, whatever was asked for before.
                Some(grace) => {
                    ends = Some(Instant::now() + grace);
                    tell(&format!("what still runs after {grace:?} is cut off"));
                }
                None if asked.is_finishing() => asked.cut_off(),
                None => tell("once more cuts them off"),
            }
            asked.finish();
        }
    });
    Ok(stop)
}

/// Listens for SIGINT and SIGTERM; the first of them asks that everything is cut off.
pub fn at_once_on_signals() -> anyhow::Result<Stop> {
    let stop = Stop::default();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let asked = stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        asked.cut_off();
    });
    Ok(stop)
}

fn tell(how: &str) {
    anstream::eprintln!("\nfinishing the games that are running; {how}");
}

/// Waits until that moment; without one, without end.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
