//! A host process as the adapter sees it: started for one game, asked, and killed when
//! it is dropped. How it died, and in which call, becomes the status of its game.

use std::{
    io,
    os::{fd::OwnedFd, unix::net::UnixStream as StdUnixStream},
    process::{ExitStatus, Stdio},
};

use adapter_process::{Descendants, PrintedLines, drain, ended};
use referee_core::with_last_words;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{UnixStream, unix::pipe},
    process::{Child, Command},
};
use tonic::Status;

use crate::{
    file::Strategy,
    wire::{HostReport, PointQuestion},
};

/// The longest text of a report in bytes; of a longer one the rest is left out.
const LONGEST_TEXT: usize = 64 * 1024;

/// A host.
pub(crate) struct HostProcess {
    child: Option<Child>,
    id: u32,
    descendants: Descendants,
    socket: UnixStream,
    /// Bytes from the socket that are not parsed yet.
    unread: Vec<u8>,
    /// The output of the strategy; none when the strategy has closed it.
    output: Option<pipe::Receiver>,
    printed: PrintedLines,
    phase: HostPhase,
}

/// The state of the strategy: the function that runs in it, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HostPhase {
    Loading,
    Waiting,
    GetPoint,
    ClearPoint,
}

/// A point as the strategy gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GivenPoint {
    pub(crate) x: i32,
    pub(crate) y: i32,
}

impl HostProcess {
    /// Starts a host and waits until it has loaded the strategy.
    pub(crate) async fn load(
        strategy: &Strategy,
        descendants: &Descendants,
    ) -> Result<Self, Status> {
        let mut process = Self::start(strategy, descendants).map_err(|error| {
            Status::unavailable(format!(
                "the strategy's process could not be started: {error}"
            ))
        })?;
        process.loaded().await?;
        Ok(process)
    }

    /// Starts a host, this same program.
    fn start(strategy: &Strategy, descendants: &Descendants) -> io::Result<Self> {
        let (ours, theirs) = StdUnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let (reader, writer) = io::pipe()?;
        // By this name it is the same program even where the file has been replaced.
        let child = Command::new("/proc/self/exe")
            .arg0("arena")
            .args(["strategy-host", "--", &strategy.to_string()])
            .env_remove("BOT_LISTEN")
            // Older C libraries write what they abort for to the terminal else.
            .env("LIBC_FATAL_STDERR_", "1")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(writer.try_clone()?))
            .stderr(Stdio::from(writer))
            .kill_on_drop(true)
            .spawn()?;
        let id = child
            .id()
            .ok_or_else(|| io::Error::other("it has no number"))?;
        descendants.add(id);
        Ok(Self {
            child: Some(child),
            id,
            descendants: descendants.clone(),
            socket: UnixStream::from_std(ours)?,
            unread: Vec::new(),
            output: Some(pipe::Receiver::from_owned_fd(reader.into())?),
            printed: PrintedLines::default(),
            phase: HostPhase::Loading,
        })
    }

    async fn loaded(&mut self) -> Result<(), Status> {
        match self.report().await? {
            HostReport::Loaded => {
                self.phase = HostPhase::Waiting;
                Ok(())
            }
            HostReport::Refused { bytes } => Err(Status::internal(self.text(bytes).await)),
            // It does not implement this game, as the classic report has it.
            HostReport::Lacks { bytes } => Err(Status::unimplemented(self.text(bytes).await)),
            _ => Err(unexpected()),
        }
    }

    /// The text that follows a report, as far as it can be read.
    async fn text(&mut self, bytes: u32) -> String {
        let mut text = std::mem::take(&mut self.unread);
        let missing = u64::from(bytes).saturating_sub(text.len() as u64);
        let mut rest = (&mut self.socket).take(missing.min(LONGEST_TEXT as u64));
        let _ = rest.read_to_end(&mut text).await;
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Asks for a point. `clearPoint` has been called when it is here, so that its
    /// time is part of the move's, and its failure the failure of this move.
    pub(crate) async fn point(&mut self, question: &PointQuestion) -> Result<GivenPoint, Status> {
        // What is in the pipe was printed before it was asked.
        self.take_output();
        self.printed.forget();
        self.phase = HostPhase::GetPoint;
        // If it can't be written the host is dead, and the report says how.
        let _ = self.socket.write_all(&question.write()).await;
        let given = match self.report().await? {
            HostReport::Point { x, y } => GivenPoint { x, y },
            HostReport::Null => return Err(Status::internal("getPoint returned NULL")),
            _ => return Err(unexpected()),
        };
        self.phase = HostPhase::ClearPoint;
        match self.report().await? {
            HostReport::Cleared => {
                self.phase = HostPhase::Waiting;
                Ok(given)
            }
            _ => Err(unexpected()),
        }
    }

    /// Waits for a failure while nothing is asked. It may be dropped at any await.
    pub(crate) async fn fails(&mut self) -> Status {
        match self.report().await {
            Ok(_) => unexpected(),
            Err(status) => status,
        }
    }

    /// The next report, or how the host died. It may be dropped at any await.
    async fn report(&mut self) -> Result<HostReport, Status> {
        let mut open = true;
        loop {
            if let Some((bytes, _)) = self.unread.split_first_chunk::<{ HostReport::SIZE }>() {
                let report = HostReport::read(*bytes).ok_or_else(unexpected);
                self.unread.drain(..HostReport::SIZE);
                return report;
            }
            let Some(child) = &mut self.child else {
                return Err(Status::internal("the strategy's process is gone"));
            };
            let mut chunk = [0; 4096];
            tokio::select! {
                biased;
                read = self.socket.read_buf(&mut self.unread), if open => {
                    // A closed one: how it died says more.
                    open = read.is_ok_and(|read| read > 0);
                }
                read = read_some(self.output.as_mut(), &mut chunk) => match read {
                    Ok(0) | Err(_) => self.output = None,
                    Ok(read) => self.printed.push(&chunk[..read]),
                },
                status = child.wait() => {
                    // What it wrote before it died is in the pipes, even if the
                    // runtime has not reported it yet.
                    drain(&self.socket, |bytes| self.unread.extend_from_slice(bytes));
                    if self.unread.len() < HostReport::SIZE {
                        return Err(self.post_mortem(status));
                    }
                }
            }
        }
    }

    /// Reads what it has printed so far.
    fn take_output(&mut self) {
        if let Some(output) = &self.output {
            drain(output, |bytes| self.printed.push(bytes));
        }
    }

    /// The way it died, as the status of its game.
    fn post_mortem(&mut self, status: io::Result<ExitStatus>) -> Status {
        self.take_output();
        self.printed.end();
        let status = match status {
            Ok(status) => status,
            Err(error) => return Status::internal(format!("the strategy is gone: {error}")),
        };
        let place = match self.phase {
            HostPhase::Loading => "while it was loaded",
            HostPhase::Waiting => "while nothing was asked of it",
            HostPhase::GetPoint => "in getPoint",
            HostPhase::ClearPoint => "in clearPoint",
        };
        let died = format!("the strategy {} {place}", ended(status));
        Status::internal(with_last_words(&died, self.printed.last()))
    }
}

impl Drop for HostProcess {
    fn drop(&mut self) {
        // What it said last, most of all why it can't be played, belongs to its log.
        self.take_output();
        self.printed.end();
        let Some(mut child) = self.child.take() else {
            return;
        };
        // It may be dead already.
        let _ = child.start_kill();
        let (descendants, id) = (self.descendants.clone(), self.id);
        tokio::spawn(async move {
            let _ = child.wait().await;
            descendants.remove(id);
        });
    }
}

async fn read_some(output: Option<&mut pipe::Receiver>, into: &mut [u8]) -> io::Result<usize> {
    match output {
        Some(output) => output.read(into).await,
        None => std::future::pending().await,
    }
}

fn unexpected() -> Status {
    Status::internal("the strategy wrote to the socket of its adapter")
}
