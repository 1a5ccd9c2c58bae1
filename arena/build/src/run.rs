//! Runs the script of a build in a sandbox, within its limits, and hears what it says.

use std::{
    io::{self, Read},
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::{Child, Stdio},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use referee_core::printable_lines;
use referee_sandbox::{MemoryKills, PrepareError, PreparedSandbox, Program, ProgramEnd, Sandbox};

use crate::fault::BuildError;

/// The interval at which a build looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(50);

/// Longest time that the ends of the pipes are waited for when the build is over: where there is no
/// sandbox, something that it has left may hold them.
const REST: Duration = Duration::from_secs(2);

/// A build that is over.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) end: RunEnd,
    /// What it has written to its standard output.
    pub(crate) output: Vec<u8>,
    /// What it has written to its standard error: printable lines, within bounds.
    pub(crate) log: String,
    /// Number of its processes that the system has killed for memory.
    pub(crate) killed_for_memory: u64,
    /// Number of processes that the system has refused it.
    pub(crate) refused_processes: u64,
}

/// The end of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// By itself.
    Ended(ProgramEnd),
    /// It took too long.
    TooLong,
    /// It wrote too much to its standard output.
    TooMuch,
}

/// Bounds of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunLimits {
    pub(crate) time: Duration,
    /// Bytes of its standard output.
    pub(crate) output: u64,
    /// Bytes of its log.
    pub(crate) log: usize,
}

/// What a reader of a pipe has found.
enum Heard {
    Output(io::Result<Vec<u8>>),
    /// There is more than may be.
    TooMuch,
    Log(String),
}

/// Runs a program to its end.
///
/// # Errors
///
/// It was cancelled, or this machine can't run it.
pub(crate) fn run(
    sandbox: &Sandbox,
    program: &Program,
    limits: RunLimits,
    cancel: &AtomicBool,
) -> Result<Ran, BuildError> {
    let deadline = Instant::now() + limits.time;
    let is_off = sandbox.is_off();
    // Without a sandbox its container may be one.
    let around = is_off.then(MemoryKills::of_this_container).flatten();
    let count = |kills: &MemoryKills| kills.count().unwrap_or(0);
    let killed_before = around.as_ref().map_or(0, count);
    let PreparedSandbox {
        mut command,
        mut session,
    } = sandbox.prepare(program).map_err(|error| match error {
        PrepareError::Program(error) | PrepareError::System(error) => BuildError::from(error),
    })?;
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    if is_off {
        command.process_group(0);
    }
    let mut running = Running {
        child: command.spawn()?,
        is_group: is_off,
    };
    drop(command);
    let heard = listen(&mut running.child, limits)?;

    let mut end = None;
    let mut over = None;
    let (mut output, mut log) = (None, None);
    loop {
        let now = Instant::now();
        if cancel.load(Ordering::Relaxed) {
            return Err(BuildError::Cancelled);
        }
        if end.is_none() && over.is_none() && now >= deadline {
            end = Some(RunEnd::TooLong);
            running.kill();
        }
        if over.is_none() && running.child.try_wait()?.is_some() {
            over = Some(now);
            // Without a sandbox, what it has left holds the pipes.
            running.kill();
        }
        let is_heard = output.is_some() && log.is_some();
        if over.is_some_and(|over| is_heard || now >= over + REST) {
            break;
        }
        match heard.recv_timeout(LOOK) {
            Ok(Heard::Output(read)) => output = Some(read?),
            Ok(Heard::TooMuch) => {
                end = Some(RunEnd::TooMuch);
                output = Some(Vec::new());
                running.kill();
            }
            Ok(Heard::Log(said)) => log = Some(said),
            Err(RecvTimeoutError::Timeout) => {}
            // Both have been heard: it may go on in silence.
            Err(RecvTimeoutError::Disconnected) => thread::sleep(LOOK),
        }
    }
    let cgroup = session.cgroup();
    let killed_for_memory = match cgroup {
        Some(cgroup) => cgroup.memory_kills().as_ref().map_or(0, count),
        None => (around.as_ref().map_or(0, count)).saturating_sub(killed_before),
    };
    let refused_processes = cgroup.and_then(|cgroup| cgroup.refused_processes());
    let status = running.child.wait()?;
    let ran = Ran {
        end: end.unwrap_or_else(|| RunEnd::Ended(session.end(status))),
        output: output.unwrap_or_default(),
        log: log.unwrap_or_default(),
        killed_for_memory,
        refused_processes: refused_processes.unwrap_or(0),
    };
    session.release();
    Ok(ran)
}

/// A process that is killed when this is dropped.
struct Running {
    child: Child,
    /// True if what it starts is in its process group, and nothing else ends it.
    is_group: bool,
}

impl Running {
    fn kill(&mut self) {
        if self.is_group
            && let Ok(id) = i32::try_from(self.child.id())
        {
            // There may be none any more.
            let _ = killpg(Pid::from_raw(id), Signal::SIGKILL);
        }
        let _ = self.child.kill();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
        let _ = self.child.wait();
    }
}

/// Reads both pipes, each on a thread of its own, to their ends.
fn listen(child: &mut Child, limits: RunLimits) -> io::Result<Receiver<Heard>> {
    let (heard, hear) = channel();
    if let Some(pipe) = child.stdout.take() {
        let heard = heard.clone();
        spawn("build-output", move || {
            let mut bytes = Vec::new();
            let read = pipe.take(limits.output + 1).read_to_end(&mut bytes);
            let too_much = bytes.len() as u64 > limits.output;
            // Nobody may listen any more.
            let _ = heard.send(match too_much {
                true => Heard::TooMuch,
                false => Heard::Output(read.map(|_| bytes)),
            });
        })?;
    }
    if let Some(pipe) = child.stderr.take() {
        spawn("build-log", move || {
            let _ = heard.send(Heard::Log(read_log(pipe, limits.log)));
        })?;
    }
    Ok(hear)
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(work).map(drop)
}

/// Reads a log to its end, and keeps its beginning and its end.
fn read_log(mut pipe: impl Read, most: usize) -> String {
    let half = most / 2;
    let (mut first, mut last) = (Vec::new(), Vec::new());
    let mut left_out = 0;
    let mut read = [0; 8192];
    // What can't be read is the end of it.
    while let Ok(count @ 1..) = pipe.read(&mut read) {
        let room = count.min(half - first.len());
        first.extend_from_slice(&read[..room]);
        last.extend_from_slice(&read[room..count]);
        let more = last.len().saturating_sub(half);
        left_out += more;
        last.drain(..more);
    }
    let between = match left_out {
        0 => String::new(),
        _ => format!("\n… {left_out} bytes are left out here …\n"),
    };
    let mut text = String::from_utf8_lossy(&first).into_owned();
    if left_out == 0 {
        first.extend_from_slice(&last);
        text = String::from_utf8_lossy(&first).into_owned();
    } else {
        text.push_str(&between);
        text.push_str(&String::from_utf8_lossy(&last));
    }
    // Tabs are in every compiler's messages.
    printable_lines(&text.replace('\t', "    "))
}

/// The program that runs a script, a file, in the folder that it lies in.
pub(crate) fn shell(script: PathBuf, folder: PathBuf) -> Program {
    Program {
        path: "/bin/sh".into(),
        arguments: vec![script.into()],
        directory: Some(folder),
        ..Program::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_log_keeps_its_ends() {
        let log = |text: &str| read_log(text.as_bytes(), 20);
        assert_eq!(log("error:\tno\x1b[1m"), "error:    no\\u{1b}[1m");
        assert_eq!(log(&"x".repeat(20)), "x".repeat(20));
        let long = format!("{}{}{}", "a".repeat(10), "-".repeat(9000), "z".repeat(10));
        let expected = "aaaaaaaaaa\n… 9000 bytes are left out here …\nzzzzzzzzzz";
        assert_eq!(log(&long), expected);
    }
}
