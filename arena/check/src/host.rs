//! The bot that is checked: one process of it, started anew when it has ended.

use std::time::Duration;

use referee::Probe;
use referee_bots::{BotOptions, Entry, LaunchContext, RunningBot};
use referee_core::{Foul, GameKind};

use crate::error::Halt;

pub(crate) struct Host<'a> {
    entry: &'a Entry,
    context: &'a LaunchContext,
    options: &'a BotOptions,
    running: Option<ExaminedBot>,
    started: u64,
    death: Option<Death>,
}

/// The end of a process that nobody had stopped.
pub(crate) struct Death {
    pub(crate) foul: Foul,
    /// The game that it was ready for last.
    pub(crate) after: Option<&'static dyn GameKind>,
}

/// The bot as it runs.
pub(crate) struct ExaminedBot {
    pub(crate) bot: RunningBot,
    /// The game that it was ready for last.
    ready_for: Option<&'static dyn GameKind>,
}

impl<'a> Host<'a> {
    pub(crate) const fn new(
        entry: &'a Entry,
        context: &'a LaunchContext,
        options: &'a BotOptions,
    ) -> Self {
        Self {
            entry,
            context,
            options,
            running: None,
            started: 0,
            death: None,
        }
    }

    /// True if we start its processes.
    pub(crate) fn is_started_by_us(&self) -> bool {
        self.context.starts(self.entry)
    }

    /// The process, started where none runs.
    ///
    /// # Errors
    ///
    /// Our own failure, or the foul of a bot that can't be started or reached.
    pub(crate) async fn running(&mut self) -> Result<&ExaminedBot, Halt> {
        let running = self.running.as_ref();
        let process = running.and_then(|one| one.bot.process.clone());
        if let Some(process) = process
            && process.has_ended()
        {
            // Where it was lost with the engine of its container, that is not its foul.
            let foul = process.post_mortem(String::new()).await?;
            self.bury(foul).await;
        }
        if self.running.is_none() {
            self.running = Some(self.start().await?);
        }
        Ok(self.running.as_ref().expect("it was just started"))
    }

    /// The connection to the process.
    ///
    /// # Errors
    ///
    /// As for [`running`](Self::running).
    pub(crate) async fn probe(&mut self) -> Result<&Probe, Halt> {
        Ok(&self.running().await?.bot.probe)
    }

    async fn start(&mut self) -> Result<ExaminedBot, Halt> {
        let started = self
            .context
            .run(self.entry, self.options, self.started)
            .await;
        // Those that did not start are counted, too.
        self.started += 1;
        Ok(ExaminedBot {
            bot: started?,
            ready_for: None,
        })
    }

    /// The end of a process that nobody had stopped, if this was noticed since the last call.
    pub(crate) const fn take_death(&mut self) -> Option<Death> {
        self.death.take()
    }

    /// Notes that its process was ready for this game.
    pub(crate) const fn was_ready(&mut self, kind: &'static dyn GameKind) {
        if let Some(running) = &mut self.running {
            running.ready_for = Some(kind);
        }
    }

    /// The id of its process, where we started it.
    pub(crate) fn process(&self) -> Option<u32> {
        Some(self.running.as_ref()?.bot.process.as_ref()?.id())
    }

    /// The last lines that its process has printed, where we started it. What it printed
    /// before it did something may arrive after what it did.
    pub(crate) async fn last_output(&self) -> Vec<String> {
        const ARRIVES_WITHIN: Duration = Duration::from_millis(50);
        match &self.running {
            Some(running) if running.bot.process.is_some() => {
                tokio::time::sleep(ARRIVES_WITHIN).await;
                running.bot.probe.last_output()
            }
            _ => Vec::new(),
        }
    }

    /// True if its process was ready for a game before.
    pub(crate) fn is_proven(&self) -> bool {
        let running = self.running.as_ref();
        running.is_some_and(|one| one.ready_for.is_some())
    }

    /// Notes that its process had ended between two games.
    pub(crate) async fn bury(&mut self, foul: Foul) {
        let after = self.running.as_ref().and_then(|one| one.ready_for);
        self.death = Some(Death { foul, after });
        self.renew().await;
    }

    /// True if its process has ended, or does in a moment: its connection breaks first.
    pub(crate) async fn has_ended(&self) -> bool {
        const A_MOMENT: Duration = Duration::from_millis(200);
        let running = self.running.as_ref();
        let Some(process) = running.and_then(|one| one.bot.process.as_ref()) else {
            return false;
        };
        let _ = tokio::time::timeout(A_MOMENT, process.ended()).await;
        process.has_ended()
    }

    /// Stops the process and all that it has started, so that the next stage has a new one.
    pub(crate) async fn renew(&mut self) {
        if let Some(running) = self.running.take() {
            running.bot.end().await;
        }
    }

    /// The size of the largest file that its processes have printed to, in bytes.
    pub(crate) fn largest_log(&self) -> u64 {
        let files = self.context.logs().into_iter().flat_map(std::fs::read_dir);
        let sizes = files
            .flatten()
            .filter_map(|file| Some(file.ok()?.path().metadata().ok()?.len()));
        sizes.max().unwrap_or(0)
    }
}
