//! The bot that is looked at: one process of it, started anew when it has ended.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use referee::{Memory, Probe, Process};
use referee_core::Foul;

use crate::entry::{Entry, Had, Start};

pub(super) struct Host<'a> {
    entry: &'a Entry,
    start: &'a Start,
    running: Option<Running>,
    started: u64,
}

/// A process that listens, and our connection to it.
pub(super) struct Running {
    pub(super) probe: Probe,
    /// Where it is ours.
    pub(super) process: Option<Arc<Process>>,
    /// From starting it until it took our connection.
    pub(super) took: Duration,
}

impl<'a> Host<'a> {
    pub(super) const fn new(entry: &'a Entry, start: &'a Start) -> Self {
        Self {
            entry,
            start,
            running: None,
            started: 0,
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
        let gone = |running: &Running| {
            let process = running.process.as_ref();
            process.is_some_and(|process| process.has_ended())
        };
        if self.running.as_ref().is_some_and(gone) {
            self.running = None;
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
            }),
            Err(detail) if process.is_some() => Err(Foul::NoStart { detail }),
            Err(detail) => Err(Foul::Unreachable { detail }),
        })
    }

    /// Stops the process, so that the next look is at a fresh one.
    pub(super) async fn renew(&mut self) {
        if let Some(running) = self.running.take()
            && let Some(process) = running.process
        {
            process.stop();
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
