//! Kills the bots if we die without doing so: a process of its own that holds
//! the other end of a pipe. Whatever happens to us, the pipe closes.

use std::{
    collections::HashSet,
    io::{self, BufRead as _, Write as _},
    os::unix::process::CommandExt as _,
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Mutex, PoisonError},
};

use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};

/// Our end of the pipe.
#[derive(Debug)]
pub struct Supervisor {
    pipe: Mutex<Option<ChildStdin>>,
    child: Mutex<Child>,
}

impl Supervisor {
    /// Starts the process that this command describes, which must end up in
    /// [`supervise`].
    ///
    /// # Errors
    ///
    /// Where it can't be started.
    pub fn start(mut command: Command) -> io::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Out of reach of the terminal's Ctrl-C.
            .process_group(0)
            .spawn()?;
        let pipe = child.stdin.take();
        Ok(Self {
            pipe: Mutex::new(pipe),
            child: Mutex::new(child),
        })
    }

    /// This process group must not outlive us.
    pub(crate) fn watch(&self, group: Pid) {
        self.say('+', group);
    }

    /// It is gone.
    pub(crate) fn forget(&self, group: Pid) {
        self.say('-', group);
    }

    fn say(&self, sign: char, group: Pid) {
        let mut pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipe) = pipe.as_mut()
            && let Err(error) = writeln!(pipe, "{sign}{group}")
        {
            tracing::warn!(%error, "the supervisor is gone");
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.pipe
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = child.wait();
    }
}

/// What the supervising process does: reads `+GROUP` and `-GROUP`, a line
/// each, and at the end of the pipe kills what is left.
///
/// # Errors
///
/// Never for the pipe's sake: a broken one is an ended one.
pub fn supervise() -> io::Result<()> {
    let mut groups = HashSet::new();
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let (sign, group) = line.split_at(line.len().min(1));
        if let Ok(group) = group.parse::<i32>()
            && group > 1
        {
            if sign == "+" {
                groups.insert(group);
            } else {
                groups.remove(&group);
            }
        }
    }
    for group in groups {
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
    Ok(())
}
