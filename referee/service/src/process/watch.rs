//! Watches over a process until it has ended.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use referee_core::Foul;
use referee_games::SeatReply;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::{
    child::{Child, Leader, ProcessEnd},
    cleanup::OwnFolder,
    group::{LEAVE_GRACE, LeftBehind, ProcessGroup},
    logs::{GameOutput, OutputReaders, ProcessOutput},
    memory::{MemoryEnd, MemoryWall, MemoryWatch},
};
use crate::{
    address::Address,
    connection::Broken,
    proc::OrShortage,
    shortage::{Shortage, lost_walls, no_walls},
    still::Still,
};

/// Longest wait for the end of a process whose connection has broken. An engine of containers
/// takes its time to tell of one.
const DEATH_GRACE: Duration = Duration::from_secs(2);
const CONTAINER_DEATH_GRACE: Duration = Duration::from_secs(10);
/// Time between SIGTERM and SIGKILL for a bot.
pub const STOP_GRACE: Duration = Duration::from_secs(1);

/// A bot process that is listening.
#[derive(Debug)]
pub struct BotProcess {
    ids: Ids,
    address: Address,
    end: watch::Receiver<Option<ProcessEnd>>,
    output: ProcessOutput,
    stop: CancellationToken,
    stop_requests: mpsc::Sender<StopRequest>,
    still: Option<Arc<Still>>,
    wall: Option<MemoryWall>,
}

/// The numbers of a bot's processes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ids {
    /// The one that we have started, which may stand for the bot.
    pub(super) known: u32,
    /// The one that the bot began with, or that starts it; none where we can't see it.
    pub(super) first: Option<u32>,
    /// True if the first of these stands for a container.
    pub(super) is_container: bool,
}

/// The end of a process that was asked to stop, and what it left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopReport {
    /// Time until it ended; none if it had to be killed.
    pub after: Option<Duration>,
    /// Processes that it had started and left running; killed by now.
    pub left_behind: Vec<LeftBehind>,
}

/// A request to stop it within a time and to tell how it ended.
#[derive(Debug)]
struct StopRequest {
    grace: Duration,
    reported: oneshot::Sender<OrShortage<StopReport>>,
}

/// Everything that belongs to a process and is released when it has ended.
pub(super) struct Resources {
    pub(super) child: Child,
    pub(super) group: ProcessGroup,
    pub(super) output: OutputReaders,
    pub(super) sockets: OwnFolder,
    /// The control that holds it still; absent where it may think while others move, or can't be
    /// held.
    pub(super) still: Option<Arc<Still>>,
}

impl BotProcess {
    /// Watches over a process that listens, on this runtime.
    pub(super) fn new(
        ids: Ids,
        address: Address,
        output: ProcessOutput,
        resources: Resources,
        memory: Option<MemoryWatch>,
    ) -> Self {
        let (ended, end) = watch::channel(None);
        let stop = CancellationToken::new();
        let (stop_requests, requested) = mpsc::channel(1);
        let still = resources.still.clone();
        let wall = resources.child.memory_wall().cloned();
        tokio::spawn(resources.watch_over(memory, stop.clone(), requested, ended));
        Self {
            ids,
            address,
            end,
            output,
            stop,
            stop_requests,
            still,
            wall,
        }
    }

    /// The control that holds it still while none of its games waits for it.
    pub(crate) fn still(&self) -> Option<Arc<Still>> {
        self.still.clone()
    }

    /// Its process id, which is that of its group, too.
    #[must_use]
    pub const fn id(&self) -> u32 {
        self.ids.known
    }

    /// The process that listens for it, or has started the one that does; none where we can't see
    /// it. Then nobody else can listen at its address.
    #[must_use]
    pub const fn first_process(&self) -> Option<u32> {
        self.ids.first
    }

    /// The address that it listens at.
    #[must_use]
    pub const fn address(&self) -> &Address {
        &self.address
    }

    /// The last lines that it has printed.
    #[must_use]
    pub fn last_output(&self) -> Vec<String> {
        self.output.all()
    }

    /// What it has printed that belongs to no game.
    pub(crate) fn output(&self) -> String {
        self.output.text()
    }

    /// Keeps what it prints while a game goes on.
    pub(crate) fn of_game(&self) -> GameOutput {
        self.output.of_game()
    }

    /// True if it has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.end.borrow().is_some()
    }

    /// True if nothing is left of it.
    pub(crate) fn is_gone(&self) -> bool {
        // The task that watches it drops the sender last.
        self.end.has_changed().is_err()
    }

    /// Number of its processes that the system has killed so far since they took too much memory.
    pub(crate) fn memory_kills(&self) -> u64 {
        self.wall.as_ref().map_or(0, MemoryWall::kills)
    }

    /// The foul of too much memory, if more of its processes were killed for that than before.
    fn exceeded(&self, kills_before: u64) -> Option<Foul> {
        let wall = self.wall.as_ref()?;
        wall.exceeded(kills_before).map(Foul::from)
    }

    /// The foul of a bot to which no connection can be made, for this reason.
    #[must_use]
    pub fn not_connected(&self, detail: String) -> Foul {
        self.exceeded(0).unwrap_or(Foul::NoStart { detail })
    }

    /// The foul of a bot whose connection broke: how the process ended, if it ends within a
    /// moment.
    ///
    /// # Errors
    ///
    /// It ended for a reason that is not the bot's: its engine is gone, for instance, or the
    /// process of ours that stands for it was killed.
    pub async fn post_mortem(&self, broken: String) -> Result<Foul, Shortage> {
        self.broken(0, broken).await
    }

    async fn broken(&self, kills_before: u64, broken: String) -> Result<Foul, Shortage> {
        let mut end = self.end.clone();
        let grace = if self.ids.is_container {
            CONTAINER_DEATH_GRACE
        } else {
            DEATH_GRACE
        };
        let known = tokio::time::timeout(grace, end.wait_for(Option::is_some)).await;
        let end = match known {
            Ok(Ok(end)) => end.clone(),
            _ => None,
        };
        let how = match end {
            Some(ProcessEnd::Memory(peak)) => return Ok(peak.into()),
            Some(ProcessEnd::NoWalls(why)) => return Err(no_walls(why)),
            Some(ProcessEnd::Lost(why)) => return Err(lost_walls(&why)),
            Some(end) => end.describe(),
            None => broken,
        };
        Ok(self
            .exceeded(kills_before)
            .unwrap_or_else(|| Foul::Crashed {
                detail: Foul::evidence(self.output.after(&how)),
            }))
    }

    /// Asks its group to stop, and kills it if it does not within [`STOP_GRACE`].
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Asks it to stop, but not its children; waits so long for that, looks for what it
    /// leaves behind, and kills that. None if it had ended before.
    ///
    /// # Errors
    ///
    /// What it leaves behind could not be asked for.
    pub async fn stop_and_report(&self, grace: Duration) -> OrShortage<Option<StopReport>> {
        let (reported, report) = oneshot::channel();
        let request = StopRequest { grace, reported };
        if self.stop_requests.send(request).await.is_err() {
            return Ok(None);
        }
        report.await.ok().transpose()
    }

    /// Waits until nothing is left of it.
    pub async fn ended(&self) {
        let mut end = self.end.clone();
        // The task that watches it drops the sender last.
        while end.changed().await.is_ok() {}
    }
}

impl Drop for BotProcess {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Resources {
    /// Waits until it has ended, ends it if asked to, and releases everything.
    async fn watch_over(
        mut self,
        mut memory: Option<MemoryWatch>,
        stop: CancellationToken,
        mut requested: mpsc::Receiver<StopRequest>,
        ended: watch::Sender<Option<ProcessEnd>>,
    ) {
        let watched = async {
            match &mut memory {
                Some(memory) => memory.ends().await,
                None => std::future::pending().await,
            }
        };
        let end = tokio::select! {
            biased;
            end = watched => match end {
                MemoryEnd::Exceeded(peak) => ProcessEnd::Memory(peak),
                MemoryEnd::Unmeasured(shortage) => ProcessEnd::NoWalls(shortage.to_string()),
            },
            () = stop.cancelled() => {
                self.release();
                if let Some(memory) = &mut memory {
                    memory.end().await;
                }
                self.group.signal(Signal::SIGTERM);
                self.exits(STOP_GRACE).await.unwrap_or_else(ProcessEnd::killed)
            }
            Some(request) = requested.recv() => self.stop_and_report(request).await,
            end = self.child.wait() => end,
        };
        self.kill().await;
        ended.send_replace(Some(end));
        drop((self.group, self.output));
        self.child.release().await;
        self.sockets.remove().await;
        // Now nothing is left of it.
        drop(ended);
    }

    async fn stop_and_report(
        &mut self,
        StopRequest { grace, reported }: StopRequest,
    ) -> ProcessEnd {
        self.release();
        // Only the process itself: it is tested whether it stops its children.
        self.group.signal_leader(Signal::SIGTERM);
        let asked = Instant::now();
        let sandboxed = self.child.leader() != Leader::Bot;
        // A sandbox waits for what a bot leaves behind before it tells of the bot's end.
        let waits = if sandboxed {
            LEAVE_GRACE
        } else {
            Duration::ZERO
        };
        let end = self.exits(grace + waits).await;
        let mut left_behind = self.child.left_behind();
        let waited = if left_behind.is_empty() {
            Duration::ZERO
        } else {
            waits
        };
        let after = end.as_ref().map(|_| asked.elapsed().saturating_sub(waited));
        let after = after.filter(|after| *after <= grace);
        if end.is_none() {
            // Then only what has left the group counts as left behind.
            self.group.kill();
            self.child.wait().await;
        }
        if !sandboxed {
            left_behind = match self.group.left(self.sockets.path()).await {
                Ok(left) => left,
                Err(shortage) => {
                    let _ = reported.send(Err(shortage));
                    return end.unwrap_or_else(ProcessEnd::killed);
                }
            };
            for one in &left_behind {
                let _ = kill(Pid::from_raw(one.id), Signal::SIGKILL);
            }
        }
        let _ = reported.send(Ok(StopReport { after, left_behind }));
        end.unwrap_or_else(ProcessEnd::killed)
    }

    /// Lets it hear signals.
    fn release(&self) {
        if let Some(still) = &self.still {
            still.release();
        }
    }

    /// The end of the process by itself; none if it does not within this time.
    async fn exits(&mut self, within: Duration) -> Option<ProcessEnd> {
        tokio::time::timeout(within, self.child.wait()).await.ok()
    }

    /// Kills it with its group, and reads the rest of what it printed, which is evidence.
    pub(super) async fn kill(&mut self) {
        self.release();
        self.group.kill();
        self.child.wait().await;
        self.output.ended().await;
    }
}

/// The reply of a bot, with the reason for a failure: the only place where one is judged by what
/// became of the process, if we started it. `kills_before` is what
/// [`BotProcess::memory_kills`] said when the game began: a bot may go on without a process that it
/// has lost in an earlier one.
///
/// # Errors
///
/// It has failed, and that was not the bot's fault.
pub(crate) async fn judged(
    process: Option<&BotProcess>,
    kills_before: u64,
    heard: Result<SeatReply, Broken>,
) -> Result<SeatReply, Shortage> {
    match (heard, process) {
        (Err(Broken::ByUs(shortage)), _) => Err(shortage),
        (Err(Broken::ByBot(how)), Some(process)) => {
            process.broken(kills_before, how).await.map(SeatReply::Foul)
        }
        (Err(Broken::ByBot(how)), None) => Ok(SeatReply::Foul(Foul::Crashed {
            detail: Foul::evidence(format!("the connection broke: {how}")),
        })),
        // A bot that has lost a process says so, hangs up, or waits for it for ever.
        (
            Ok(
                failed @ (SeatReply::Nothing
                | SeatReply::Foul(Foul::ErrorStatus { .. } | Foul::HungUp)),
            ),
            Some(process),
        ) => Ok((process.exceeded(kills_before)).map_or(failed, SeatReply::Foul)),
        (Ok(heard), _) => Ok(heard),
    }
}
