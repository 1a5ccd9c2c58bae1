//! The first process of a bot's container: `bot-init COMMAND…`.
//!
//! It starts the bot and passes signals on to it, takes care of processes that the bot has left
//! (a container's first process has to), starts the bot again when it has crashed, and lets only
//! so much of its output through. With the bot it ends, and with its exit code.

#![allow(clippy::disallowed_methods, reason = "a program")]

mod budget;
mod output;
mod settings;
mod signals;

use std::{
    io::{self, Write as _},
    os::{
        fd::AsFd as _,
        unix::process::{CommandExt as _, ExitStatusExt as _},
    },
    process::{self, Command, ExitCode, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{
        prctl,
        signal::{Signal, kill, killpg},
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::Pid,
};

use crate::{output::Output, settings::InitSettings, signals::Signals};

/// The beginning of our own lines.
const NAME: &str = "bot-init";
/// As shells have it: the command can't be run, or is not there.
const NOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;
/// The number added to a signal that has ended a program, for the exit code.
const SIGNALED: i32 = 128;
/// A bot that has lived for so long had no fault at its start.
const LIVED: Duration = Duration::from_secs(60);
/// The pause before the first and before every other start, at most.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// Number of starts in a row that may end soon, before whoever runs the container shall know.
const MOST_STARTS: u32 = 10;
/// Longest wait for the rest of its output when it has ended.
const OUTPUT_GRACE: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    let settings = match InitSettings::of_process() {
        Ok(settings) => settings,
        Err(why) => {
            say(&why);
            return ExitCode::from(2);
        }
    };
    match Init::new(settings).and_then(Init::run) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            say(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

/// Writes one line of ours, if somebody reads.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{NAME}: {line}");
}

struct Init {
    settings: InitSettings,
    signals: Signals,
    output: Output,
    /// True if we were told to end.
    is_ending: bool,
}

/// The decision about a bot that has ended.
enum RestartDecision {
    End(u8),
    Start,
}

impl Init {
    fn new(settings: InitSettings) -> io::Result<Self> {
        // Where we are not the first process, what its children leave comes to us too.
        prctl::set_child_subreaper(true)?;
        Ok(Self {
            signals: Signals::new()?,
            output: Output::new(settings.log_bytes),
            settings,
            is_ending: false,
        })
    }

    fn run(mut self) -> io::Result<u8> {
        let mut soon = 0;
        loop {
            let begun = Instant::now();
            let status = match self.start() {
                Ok(bot) => self.watch(bot)?,
                Err(error) => {
                    say(&format!(
                        "could not run {}: {error}",
                        self.settings.command[0].display()
                    ));
                    let is_absent = error.kind() == io::ErrorKind::NotFound;
                    return Ok(if is_absent { NOT_FOUND } else { NOT_RUN });
                }
            };
            soon = if begun.elapsed() < LIVED { soon + 1 } else { 1 };
            match self.next(status, soon) {
                RestartDecision::End(code) => return Ok(code),
                RestartDecision::Start => {}
            }
            let pause = SHORTEST_PAUSE * 2_u32.pow((soon - 1).min(16));
            if let Some(code) = self.pause(pause.min(LONGEST_PAUSE))? {
                return Ok(code);
            }
            self.settings.remove_socket();
        }
    }

    fn start(&mut self) -> io::Result<Pid> {
        let mut command = Command::new(&self.settings.command[0]);
        command
            .args(&self.settings.command[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // All that it starts can be told to end.
            .process_group(0);
        let mut bot = command.spawn()?;
        self.output.read(bot.stdout.take(), bot.stderr.take())?;
        Ok(Pid::from_raw(bot.id().cast_signed()))
    }

    /// Passes signals and output on until the bot has ended.
    fn watch(&mut self, bot: Pid) -> io::Result<ExitStatus> {
        loop {
            self.wait(None)?;
            for signal in self.signals.take()? {
                match signal {
                    Signal::SIGCHLD => {}
                    signal => {
                        self.is_ending |= ends(signal);
                        // It may have ended.
                        let _ = kill(bot, signal);
                    }
                }
            }
            if let Some(status) = reap(bot) {
                kill_rest(bot);
                let until = Instant::now() + OUTPUT_GRACE;
                while self.output.is_open() && Instant::now() < until {
                    self.wait(Some(until - Instant::now()))?;
                }
                self.output.close();
                return Ok(status);
            }
        }
    }

    /// The decision about a bot that has ended so, for the so-many-th time in a row soon after its
    /// start.
    fn next(&self, status: ExitStatus, soon: u32) -> RestartDecision {
        let code = code(status);
        let again = self.settings.restarts && !self.is_ending && code != 0;
        if !again {
            return RestartDecision::End(code);
        }
        if soon >= MOST_STARTS {
            say(&format!(
                "the bot has ended {soon} times within {LIVED:?} of its start, the last time \
                 with {status}; giving up"
            ));
            return RestartDecision::End(code);
        }
        say(&format!(
            "the bot has ended with {status}; starting it again"
        ));
        RestartDecision::Start
    }

    /// Waits before the next start; gives a code where we are told to end meanwhile.
    fn pause(&mut self, pause: Duration) -> io::Result<Option<u8>> {
        let until = Instant::now() + pause;
        while Instant::now() < until {
            self.wait(Some(until - Instant::now()))?;
            for signal in self.signals.take()? {
                if ends(signal) {
                    return Ok(Some(0));
                }
            }
            reap_all();
        }
        Ok(None)
    }

    /// Waits for a signal, for output or for room for it, so long at most, and passes output on.
    fn wait(&mut self, most: Option<Duration>) -> io::Result<()> {
        let most = match most {
            // A part of a millisecond is one, so that this does not turn in circles.
            Some(most) => {
                PollTimeout::try_from(most + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX)
            }
            None => PollTimeout::NONE,
        };
        let mut waits = vec![PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
        waits.extend(self.output.waits());
        match poll(&mut waits, most) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        drop(waits);
        self.output.pass_on()
    }
}

/// True if a signal tells us to end.
fn ends(signal: Signal) -> bool {
    matches!(
        signal,
        Signal::SIGTERM | Signal::SIGINT | Signal::SIGQUIT | Signal::SIGHUP
    )
}

/// Takes the ends of all processes that have ended; that of the bot is given.
fn reap(bot: Pid) -> Option<ExitStatus> {
    let mut found = None;
    while let Some((ended, status)) = reap_one() {
        if ended == bot {
            found = Some(status);
        }
    }
    found
}

fn reap_all() {
    while reap_one().is_some() {}
}

fn reap_one() -> Option<(Pid, ExitStatus)> {
    match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
        Ok(WaitStatus::Exited(process, code)) => {
            Some((process, ExitStatus::from_raw((code & 0xff) << 8)))
        }
        Ok(WaitStatus::Signaled(process, signal, _)) => {
            Some((process, ExitStatus::from_raw(signal as i32)))
        }
        _ => None,
    }
}

/// Kills the processes that a bot has left running: they would disturb the next one, or hold its
/// socket.
fn kill_rest(bot: Pid) {
    // It may have left nothing.
    if process::id() == 1 {
        // All but ourselves.
        let _ = kill(Pid::from_raw(-1), Signal::SIGKILL);
    } else {
        let _ = killpg(bot, Signal::SIGKILL);
    }
}

fn code(status: ExitStatus) -> u8 {
    let code = status
        .code()
        .or_else(|| Some(SIGNALED + status.signal()?))
        .unwrap_or(1);
    u8::try_from(code).unwrap_or(u8::MAX)
}
