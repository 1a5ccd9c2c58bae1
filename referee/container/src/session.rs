//! The calling process' end: what is heard of a program while it runs.

use std::{io, os::unix::net, process::ExitStatus, time::Duration};

use referee_sandbox::Cgroup;
use serde::de::DeserializeOwned;
use tokio::net::UnixStream;

use crate::{
    engine::{ContainerEngine, cgroup_of},
    plan::{ContainerEnd, MonitorReport},
};

/// Number of further tries to remove a container, and the pause before each: an hour in all.
const REMOVALS: u32 = 3600;
const REMOVAL_PAUSE: Duration = Duration::from_secs(1);

/// Holds a program in a container. When it is dropped, or the process that has it dies, the
/// program is killed and its container removed.
#[derive(Debug)]
pub struct ContainerSession {
    messages: Messages,
    started: Option<Started>,
    /// The container to remove if the monitor is gone and has not said that it did.
    left: Option<(ContainerEngine, String)>,
}

/// Facts about a program that runs.
#[derive(Clone, Debug)]
pub struct Started {
    /// The process that it began with, where this machine sees it.
    pub process: Option<u32>,
    /// The cgroup of all that it has started, where it can be seen.
    pub cgroup: Option<Cgroup>,
}

impl ContainerSession {
    pub(crate) fn new(
        stream: net::UnixStream,
        engine: ContainerEngine,
        name: String,
    ) -> io::Result<Self> {
        Ok(Self {
            messages: Messages::new(stream)?,
            started: None,
            left: Some((engine, name)),
        })
    }

    /// Waits until the program runs.
    ///
    /// # Errors
    ///
    /// How it ended instead.
    pub async fn started(&mut self) -> Result<&Started, ContainerEnd> {
        if self.started.is_none() {
            let process = match self.messages.next().await {
                Ok(Some(MonitorReport::Started { process })) => process,
                Ok(Some(MonitorReport::Ended { end, removed })) => {
                    self.forget_if(removed);
                    return Err(end);
                }
                Ok(None) => {
                    let why = "the monitor of its container has ended".to_owned();
                    return Err(ContainerEnd::Lost(why));
                }
                Err(error) => return Err(ContainerEnd::NotStarted(error.to_string())),
            };
            let cgroup =
                cgroup_of(process).map_err(|error| ContainerEnd::NotStarted(error.to_string()))?;
            self.started = Some(Started { process, cgroup });
        }
        Ok(self.started.get_or_insert(Started {
            process: None,
            cgroup: None,
        }))
    }

    /// The cgroup of the program, where it runs and that can be seen.
    #[must_use]
    pub fn cgroup(&self) -> Option<&Cgroup> {
        self.started.as_ref()?.cgroup.as_ref()
    }

    fn forget_if(&mut self, removed: bool) {
        if removed {
            self.left = None;
        }
    }

    /// Removes the container if its monitor has ended without doing so. Where the engine is away,
    /// it is tried again in the background.
    pub async fn release(mut self) {
        let Some((engine, name)) = self.left.take() else {
            return;
        };
        let Err(error) = engine.remove(&name).await else {
            return;
        };
        tracing::warn!(name, %error, "a bot's container could not be removed; trying again");
        tokio::spawn(async move {
            for _ in 0..REMOVALS {
                tokio::time::sleep(REMOVAL_PAUSE).await;
                if engine.remove(&name).await.is_ok() {
                    return;
                }
            }
            tracing::warn!(name, "a bot's container is left; the next start removes it");
        });
    }

    /// The end of the program, when its monitor has exited with `status`.
    pub async fn end(&mut self, status: ExitStatus) -> ContainerEnd {
        loop {
            match self.messages.next().await {
                Ok(Some(MonitorReport::Ended { end, removed })) => {
                    self.forget_if(removed);
                    return end;
                }
                Ok(Some(MonitorReport::Started { .. })) => {}
                Ok(None) | Err(_) => {
                    let why = format!("the monitor of its container has ended ({status})");
                    return ContainerEnd::Lost(why);
                }
            }
        }
    }
}

/// Messages of one line each. The end of the stream says that the other side is gone.
#[derive(Debug)]
pub(crate) struct Messages {
    stream: UnixStream,
    buffer: Vec<u8>,
}

impl Messages {
    /// Must be called on a runtime.
    pub(crate) fn new(stream: net::UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream: UnixStream::from_std(stream)?,
            buffer: Vec::new(),
        })
    }

    /// The next message, or none after the other side is gone. May be dropped while it waits.
    pub(crate) async fn next<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Ok(Some(serde_json::from_slice(&line)?));
            }
            self.stream.readable().await?;
            match self.stream.try_read_buf(&mut self.buffer) {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) async fn send(&self, message: &impl serde::Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let mut rest = &line[..];
        while !rest.is_empty() {
            self.stream.writable().await?;
            match self.stream.try_write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
