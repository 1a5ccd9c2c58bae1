//! The calling process' end of a sandbox: what holds while the program runs.

use std::{
    io,
    os::unix::process::ExitStatusExt as _,
    path::PathBuf,
    process::{Command, ExitStatus},
    time::Duration,
};

use tempfile::TempDir;

use crate::{
    cgroup::Cgroup,
    channel::{Channel, Received},
    own::TooLarge,
    plan::{EndReport, LeftProcess, ProgramEnd, SandboxReport},
};

/// A sandboxed program that is ready to start.
#[derive(Debug)]
pub struct PreparedSandbox {
    /// Starts it. Standard output and error may be set, and are the program's; standard
    /// input is taken, and the program's own is empty. Drop it after the start.
    ///
    /// Its process stands for the program: SIGTERM and SIGINT are passed on to the
    /// program, SIGKILL ends all, and its exit code is the program's, or 128 plus the
    /// number of the signal that ended the program. Send signals to this process alone,
    /// not to its group.
    pub command: Command,
    /// Keep this as long as the program shall run.
    pub session: SandboxSession,
}

/// Holds a sandbox. When it is dropped, or the process that has it dies, everything that
/// the program has started is killed and its private files are removed.
#[derive(Debug)]
pub struct SandboxSession {
    channel: Option<Channel>,
    cgroup: Option<Cgroup>,
    /// The private folder where there is no private file system.
    private: Option<TempDir>,
    /// True if the program can't signal the processes of its sandbox.
    is_apart: bool,
    shared: Vec<PathBuf>,
    /// Where what is too large by itself is kept for the next programs.
    too_large: TooLarge,
    ended: Option<EndReport>,
}

impl SandboxSession {
    pub(crate) fn new(
        channel: Option<Channel>,
        cgroup: Option<Cgroup>,
        private: Option<TempDir>,
        is_apart: bool,
        too_large: TooLarge,
    ) -> Self {
        Self {
            channel,
            cgroup,
            private,
            is_apart,
            shared: Vec::new(),
            too_large,
            ended: None,
        }
    }

    /// The cgroup of the program, where one could be made.
    #[must_use]
    pub fn cgroup(&self) -> Option<&Cgroup> {
        self.cgroup.as_ref()
    }

    /// The end of the program, when its process has exited with `status`. Unlike the status
    /// this tells a signal from an exit code above 128, and why a program was not started.
    ///
    /// A monitor says how the program has ended before it ends itself, unless it is killed. Where
    /// the program can't signal it ([`Wall::Processes`](crate::Wall::Processes)), that is
    /// [`ProgramEnd::Lost`]. Where it can, nobody knows who has done it, and it counts as the
    /// program's own end: else a program that is about to lose could have itself excused.
    #[must_use]
    pub fn end(&mut self, status: ExitStatus) -> ProgramEnd {
        self.hear();
        if let Some(EndReport { end, .. }) = &self.ended {
            return end.clone();
        }
        if self.is_apart {
            return ProgramEnd::Lost(format!("the monitor of its sandbox has ended ({status})"));
        }
        match (status.code(), status.signal()) {
            (Some(code), _) => ProgramEnd::Exited(code),
            (None, signal) => ProgramEnd::Signaled(signal.unwrap_or_default()),
        }
    }

    /// Reads what has been reported.
    fn hear(&mut self) {
        let Some(channel) = &mut self.channel else {
            return;
        };
        if channel.stream.set_nonblocking(true).is_err() {
            return;
        }
        loop {
            match channel.receive() {
                Ok(Received::Message(SandboxReport::Started { shared, .. })) => {
                    self.too_large.add(shared.too_large);
                    self.shared = shared.all;
                }
                Ok(Received::Message(SandboxReport::Ended(ended))) => self.ended = Some(ended),
                Ok(Received::Nothing | Received::End) | Err(_) => return,
            }
        }
    }

    /// Processes that still ran half a second after the program had ended, known after
    /// [`Self::end`]. None where the program was killed.
    #[must_use]
    pub fn left_behind(&self) -> &[LeftProcess] {
        self.ended.as_ref().map_or(&[], |ended| &ended.left)
    }

    /// Files that the program shares with others that see them, since they are too large for a
    /// copy of its own. Known when the program has said something.
    pub fn shared(&mut self) -> &[PathBuf] {
        self.hear();
        &self.shared
    }

    /// The next report. Only for a probe: it waits.
    pub(crate) fn report(&mut self, limit: Duration) -> io::Result<Option<SandboxReport>> {
        match &mut self.channel {
            Some(channel) => channel.wait_for(limit),
            None => Ok(None),
        }
    }

    /// Drops it, and waits until everything that the program has started is gone, and what it
    /// has read with it. Blocks, some seconds at most.
    pub fn release(mut self) {
        self.remove(|removal| removal());
    }

    /// Ends everything, and has the rest of the removal, which may take its time, run so.
    fn remove(&mut self, run: impl FnOnce(Box<dyn FnOnce() + Send>)) {
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
        run(Box::new(move || {
            if let Some(cgroup) = cgroup {
                let _ = cgroup.remove();
            }
            drop(private);
        }));
    }
}

impl Drop for SandboxSession {
    fn drop(&mut self) {
        self.remove(|removal| {
            let thread = std::thread::Builder::new().name("sandbox-remove".to_owned());
            let _ = thread.spawn(removal);
        });
    }
}
