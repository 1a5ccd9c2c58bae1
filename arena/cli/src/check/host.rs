//! The bot that is looked at: one process of it, started anew when it has ended.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use referee::{Memory, Probe, Process, STOP_GRACE};
use referee_core::{Foul, GameKind};

use crate::entry::{Entry, Had, Start};

pub(super) struct Host<'a> {
    entry: &'a Entry,
    start: &'a Start,
    running: Option<Running>,
    started: u64,
    death: Option<Death>,
}

/// How a process came to its end that nobody had stopped.
pub(super) struct Death {
    pub(super) foul: Foul,
    /// The game that it was ready for last.
    pub(super) after: Option<&'static dyn GameKind>,
}

/// A process that listens, and our connection to it.
pub(super) struct Running {
    pub(super) probe: Probe,
    /// Where it is ours.
    pub(super) process: Option<Arc<Process>>,
    /// From starting it until it took our connection.
    pub(super) took: Duration,
    /// The game that it was ready for last.
    ready_for: Option<&'static dyn GameKind>,
}

impl<'a> Host<'a> {
    pub(super) const fn new(entry: &'a Entry, start: &'a Start) -> Self {
        Self {
            entry,
            start,
            running: None,
            started: 0,
            death: None,
        }
    }

    /// Whether the arena starts its processes.
    pub(super) const fn is_ours(&self) -> bool {
        self.entry.is_ours_to_start()
    }

    /// The process, started where there is none.
    ///
    /// # Errors
    ///
    /// Our own failure; the inner one is the foul of a bot that can't be started
    /// or reached.
    pub(super) async fn running(&mut self) -> anyhow::Result<Result<&Running, Foul>> {
        let process = self.running.as_ref().and_then(|one| one.process.clone());
        if let Some(process) = process
            && process.has_ended()
        {
            self.bury(process.post_mortem(String::new()).await).await;
        }
        if self.running.is_none() {
            match self.begin().await? {
                Ok(running) => self.running = Some(running),
                Err(foul) => return Ok(Err(foul)),
            }
        }
        Ok(Ok(self.running.as_ref().expect("there is one now")))
    }

    async fn begin(&mut self) -> anyhow::Result<Result<Running, Foul>> {
        let within = self.start.limit;
        let began = Instant::now();
        let memory = Memory {
            limit: self.start.memory.limit,
            gauge: None,
        };
        let (process, connected) = match self.entry.had(self.start, memory, self.started)? {
            Had::There(address) => (None, Probe::connect(&address, within).await),
            Had::Started(launch) => {
                self.started += 1;
                match launch.start().await {
                    Ok(process) => {
                        let process = Arc::new(process);
                        let connected = Probe::of(process.clone(), within).await;
                        (Some(process), connected)
                    }
                    Err(foul) => return Ok(Err(foul)),
                }
            }
        };
        Ok(match connected {
            Ok(probe) => Ok(Running {
                probe,
                process,
                took: began.elapsed(),
                ready_for: None,
            }),
            Err(detail) if process.is_some() => Err(Foul::NoStart { detail }),
            Err(detail) => Err(Foul::Unreachable { detail }),
        })
    }

    /// How a process has ended that nobody had stopped, if it was noticed since the
    /// last time.
    pub(super) const fn died(&mut self) -> Option<Death> {
        self.death.take()
    }

    /// Its process was ready for this game.
    pub(super) const fn was_ready(&mut self, kind: &'static dyn GameKind) {
        if let Some(running) = &mut self.running {
            running.ready_for = Some(kind);
        }
    }

    /// The number of its process, where there is one that is ours.
    pub(super) fn process(&self) -> Option<u32> {
        Some(self.running.as_ref()?.process.as_ref()?.id())
    }

    /// Whether its process was ready for a game before.
    pub(super) fn is_proven(&self) -> bool {
        let running = self.running.as_ref();
        running.is_some_and(|one| one.ready_for.is_some())
    }

    /// Its process was found to be gone between two games.
    pub(super) async fn bury(&mut self, foul: Foul) {
        let after = self.running.as_ref().and_then(|one| one.ready_for);
        self.death = Some(Death { foul, after });
        self.renew().await;
    }

    /// Whether its process has ended, or does in a moment: its connection breaks
    /// first.
    pub(super) async fn has_ended(&self) -> bool {
        const A_MOMENT: Duration = Duration::from_millis(200);
        let running = self.running.as_ref();
        let Some(process) = running.and_then(|one| one.process.as_ref()) else {
            return false;
        };
        let _ = tokio::time::timeout(A_MOMENT, process.ended()).await;
        process.has_ended()
    }

    /// Stops the process and all that it has started, so that the next look is at a
    /// fresh one.
    pub(super) async fn renew(&mut self) {
        if let Some(running) = self.running.take()
            && let Some(process) = running.process
        {
            process.stop_and_report(STOP_GRACE).await;
            process.ended().await;
        }
    }

    /// What the processes have printed, by size.
    pub(super) fn logs(&self) -> Vec<(PathBuf, u64)> {
        let files = self.start.logs.iter().flat_map(std::fs::read_dir).flatten();
        files
            .filter_map(|file| {
                let path = file.ok()?.path();
                let size = path.metadata().ok()?.len();
                Some((path, size))
            })
            .collect()
    }
}
