//! Signals that ask a program to end: once to finish the games that are running, twice to cut them
//! off.

use std::{io, time::Duration};

use referee_worker::Stop;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    time::{Instant, sleep_until},
};

use crate::{End, text::tell};

/// The signals that ask a program to end.
#[derive(Debug)]
pub struct EndSignals {
    interrupt: Signal,
    terminate: Signal,
    /// None where it is ignored, or has come.
    hangup: Option<Signal>,
}

/// A request to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndSignal {
    /// Ctrl-C (SIGINT).
    Interrupt,
    /// SIGTERM; or SIGHUP: the terminal is gone, or the session is over.
    Terminate,
}

impl EndSignals {
    /// Begins to listen. Where SIGHUP was ignored when this program started, as by nohup, it stays
    /// ignored.
    ///
    /// # Errors
    ///
    /// The system does not tell of signals.
    pub fn listen() -> io::Result<Self> {
        let hangup = match ignores_hangup() {
            true => None,
            false => Some(signal(SignalKind::hangup())?),
        };
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup,
        })
    }

    /// Waits for the next one. Nothing is lost where nobody waits until it comes.
    pub async fn next(&mut self) -> EndSignal {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => EndSignal::Interrupt,
            _ = self.terminate.recv() => EndSignal::Terminate,
            _ = hangup => {
                // The system tells of one end of a session, and so does the shell: it is one request.
                self.hangup = None;
                EndSignal::Terminate
            }
        }
    }
}

/// True if this process ignores SIGHUP (proc_pid_status(5), SigIgn).
fn ignores_hangup() -> bool {
    #[expect(
        clippy::disallowed_methods,
        reason = "a short file of the system, about this process"
    )]
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // The lowest bit is of signal 1.
    ignored.is_some_and(|mask| (mask >> (nix::libc::SIGHUP - 1)) & 1 == 1)
}

/// Listens for [`EndSignals`]. When both finishing and cutting off have been asked
/// for, the next signal ends the process. Whoever sends SIGTERM does not wait without
/// limit: `grace` after it, what still runs is cut off.
pub fn on_signals(grace: Option<Duration>) -> anyhow::Result<Stop> {
    let stop = Stop::default();
    let mut signals = EndSignals::listen()?;
    let asked = stop.clone();
    tokio::spawn(async move {
        let mut ends = None;
        loop {
            let grace = tokio::select! {
                signal = signals.next() => match signal {
                    EndSignal::Interrupt => None,
                    EndSignal::Terminate => grace.filter(|_| ends.is_none()),
                },
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
                    finishing(&format!("what still runs after {grace:?} is cut off"));
                }
                None if asked.is_finishing() => asked.cut_off(),
                None => finishing("once more cuts them off"),
            }
            asked.finish();
        }
    });
    Ok(stop)
}

/// Listens for [`EndSignals`]; the first of them asks that everything is cut off.
pub fn at_once_on_signals() -> anyhow::Result<Stop> {
    let stop = Stop::default();
    let mut signals = EndSignals::listen()?;
    let asked = stop.clone();
    tokio::spawn(async move {
        signals.next().await;
        asked.cut_off();
    });
    Ok(stop)
}

fn finishing(how: &str) {
    tell(&format!("\nfinishing the games that are running; {how}"));
}

/// Waits until that moment; without one, without end.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
