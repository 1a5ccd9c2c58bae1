//! The calling process' end of a sandbox: what holds while the program runs.

use std::{
    io,
    os::unix::process::ExitStatusExt as _,
    process::{Command, ExitStatus},
    time::Duration,
};

use tempfile::TempDir;

use crate::{
    cgroup::Cgroup,
    channel::{Channel, Received},
    plan::{End, Ended, LeftBehind, Report},
};

/// A sandboxed program that is ready to start.
#[derive(Debug)]
pub struct Prepared {
    /// Starts it. Standard output and error may be set, and are the program's; standard
    /// input is taken, and the program's own is empty. Drop it after the start.
    ///
    /// Its process stands for the program: SIGTERM and SIGINT are passed on to the
    /// program, SIGKILL ends all, and its exit code is the program's, or 128 plus the
    /// number of the signal that ended the program. Send signals to this process alone,
    /// not to its group.
    pub command: Command,
    /// Keep this as long as the program shall run.
    pub session: Session,
}

/// Holds a sandbox. When it is dropped, or the process that has it dies, everything that
/// the program has started is killed and its private files are removed.
#[derive(Debug)]
pub struct Session {
    channel: Option<Channel>,
    cgroup: Option<Cgroup>,
    /// Where there is no private file system.
    private: Option<TempDir>,
    left: Vec<LeftBehind>,
}

impl Session {
    pub(crate) fn new(
        channel: Option<Channel>,
        cgroup: Option<Cgroup>,
        private: Option<TempDir>,
    ) -> Self {
        Self {
            channel,
            cgroup,
            private,
            left: Vec::new(),
        }
    }

    /// The cgroup of the program, where one could be made.
    #[must_use]
    pub fn cgroup(&self) -> Option<&Cgroup> {
        self.cgroup.as_ref()
    }

    /// How the program ended, when its process has exited with `status`. Unlike the status
    /// this tells a signal from an exit code above 128, and why a program was not started.
    #[must_use]
    pub fn end(&mut self, status: ExitStatus) -> End {
        if let Some(Ended { end, left }) = self.told() {
            self.left = left;
            return end;
        }
        match (status.code(), status.signal()) {
            (Some(code), _) => End::Exited(code),
            (None, signal) => End::Signaled(signal.unwrap_or_default()),
        }
    }

    fn told(&mut self) -> Option<Ended> {
        let channel = self.channel.as_mut()?;
        channel.stream.set_nonblocking(true).ok()?;
        loop {
            match channel.receive() {
                Ok(Received::Message(Report::Ended(ended))) => return Some(ended),
                Ok(Received::Message(Report::Started { .. })) => {}
                Ok(Received::Nothing | Received::End) | Err(_) => return None,
            }
        }
    }

    /// What still ran half a second after the program had ended, known after [`Self::end`].
    /// None where the program was killed.
    #[must_use]
    pub fn left_behind(&self) -> &[LeftBehind] {
        &self.left
    }

    /// The next report. Only for a probe: it waits.
    pub(crate) fn report(&mut self, limit: Duration) -> io::Result<Option<Report>> {
        match &mut self.channel {
            Some(channel) => channel.wait_for(limit),
            None => Ok(None),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The monitor hears this, kills what is left and exits.
        drop(self.channel.take());
        let cgroup = self.cgroup.take();
        let private = self.private.take();
        if cgroup.is_none() && private.is_none() {
            return;
        }
        if let Some(cgroup) = &cgroup {
            // What is left is swept at the next start.
            let _ = cgroup.kill();
        }
        // Removing waits for processes to end, and for the disk.
        let _ = std::thread::Builder::new()
            .name("sandbox-remove".to_owned())
            .spawn(move || {
                if let Some(cgroup) = cgroup {
                    let _ = cgroup.remove();
                }
                drop(private);
            });
    }
}
