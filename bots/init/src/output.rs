//! The bot's output on its way to ours: whole lines, as much as the budget allows. The bot never
//! waits for whoever reads them.

use std::{
    io::{self, Read, Stderr, Stdout},
    os::fd::{AsFd, BorrowedFd},
    process::{ChildStderr, ChildStdout},
    time::Instant,
};

use nix::{
    errno::Errno,
    fcntl::{FcntlArg, OFlag, fcntl},
    poll::{PollFd, PollFlags, PollTimeout, poll},
    unistd::write,
};

use crate::{NAME, budget::LogBudget};

/// A longer line is passed on in parts.
const LONGEST_LINE: usize = 4096;
/// So many bytes wait for a reader; what comes then is left out.
const MOST_WAITING: usize = 64 << 10;
/// So much is written to a pipe at once or not at all (POSIX has no less for PIPE_BUF): a pipe
/// that has room for it does not make us wait.
const WRITTEN_AT_ONCE: usize = 512;

/// Both of its outputs.
pub(crate) struct Output {
    out: Stream<ChildStdout, Stdout>,
    err: Stream<ChildStderr, Stderr>,
    budget: LogBudget,
    /// Number of bytes left out since we said so.
    left_out: u64,
}

/// One of the outputs.
struct Stream<R, W> {
    from: Option<R>,
    to: W,
    /// The bytes that have no end of line yet.
    line: Vec<u8>,
    /// The bytes that wait for their reader.
    waiting: Vec<u8>,
    /// True if anybody reads.
    is_read: bool,
}

impl Output {
    pub(crate) fn new(bytes: u64) -> Self {
        Self {
            out: Stream::new(io::stdout()),
            err: Stream::new(io::stderr()),
            budget: LogBudget::new(bytes, Instant::now()),
            left_out: 0,
        }
    }

    /// Reads from these.
    pub(crate) fn read(
        &mut self,
        out: Option<ChildStdout>,
        err: Option<ChildStderr>,
    ) -> io::Result<()> {
        self.out.open(out)?;
        self.err.open(err)
    }

    /// True if the bot, or a process that it has started, may still say something.
    pub(crate) fn is_open(&self) -> bool {
        self.out.from.is_some() || self.err.from.is_some()
    }

    /// Reads no more from them.
    pub(crate) fn close(&mut self) {
        self.out.from = None;
        self.err.from = None;
        self.take_lines();
        let _ = self.pass_on();
    }

    /// The events to wait for.
    pub(crate) fn waits(&self) -> Vec<PollFd<'_>> {
        let mut waits = self.out.waits();
        waits.extend(self.err.waits());
        waits
    }

    /// Reads what there is and writes what there is room for.
    pub(crate) fn pass_on(&mut self) -> io::Result<()> {
        self.out.fill()?;
        self.err.fill()?;
        self.take_lines();
        self.out.empty();
        self.err.empty();
        Ok(())
    }

    fn take_lines(&mut self) {
        let now = Instant::now();
        let Self {
            out,
            err,
            budget,
            left_out,
        } = self;
        let mut fits = |line: &[u8], waiting: &mut Vec<u8>| {
            if waiting.len() + line.len() > MOST_WAITING || !budget.take(line.len(), now) {
                *left_out += line.len() as u64;
                return;
            }
            if *left_out > 0 {
                let said = format!("{NAME}: {left_out} bytes of output were left out\n");
                *left_out = 0;
                waiting.extend(said.as_bytes());
            }
            waiting.extend(line);
        };
        out.take_lines(&mut fits);
        err.take_lines(&mut fits);
    }
}

impl<R: Read + AsFd, W: AsFd> Stream<R, W> {
    const fn new(to: W) -> Self {
        Self {
            from: None,
            to,
            line: Vec::new(),
            waiting: Vec::new(),
            is_read: true,
        }
    }

    fn open(&mut self, from: Option<R>) -> io::Result<()> {
        if let Some(from) = &from {
            let flags = OFlag::from_bits_retain(fcntl(from.as_fd(), FcntlArg::F_GETFL)?);
            fcntl(from.as_fd(), FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
        }
        self.from = from;
        Ok(())
    }

    fn waits(&self) -> Vec<PollFd<'_>> {
        let mut waits = Vec::new();
        if let Some(from) = &self.from {
            waits.push(PollFd::new(from.as_fd(), PollFlags::POLLIN));
        }
        if !self.waiting.is_empty() {
            waits.push(PollFd::new(self.to.as_fd(), PollFlags::POLLOUT));
        }
        waits
    }

    /// Reads what there is, at most so much that the other stream and signals get their turn.
    fn fill(&mut self) -> io::Result<()> {
        let Some(from) = &mut self.from else {
            return Ok(());
        };
        let mut part = [0; 16 << 10];
        match from.read(&mut part) {
            Ok(0) => self.from = None,
            Ok(read) => self.line.extend(&part[..read]),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn take_lines(&mut self, fits: &mut impl FnMut(&[u8], &mut Vec<u8>)) {
        let mut taken = 0;
        loop {
            let rest = &self.line[taken..];
            let end = rest
                .iter()
                .take(LONGEST_LINE)
                .position(|byte| *byte == b'\n');
            let length = match end {
                Some(end) => end + 1,
                None if rest.len() >= LONGEST_LINE => LONGEST_LINE,
                None if self.from.is_none() && !rest.is_empty() => rest.len(),
                None => break,
            };
            fits(&rest[..length], &mut self.waiting);
            taken += length;
        }
        self.line.drain(..taken);
    }

    /// Writes as much as goes without waiting.
    fn empty(&mut self) {
        let mut written = 0;
        while written < self.waiting.len() && self.is_read && has_room(self.to.as_fd()) {
            let part = &self.waiting[written..];
            match write(&self.to, &part[..part.len().min(WRITTEN_AT_ONCE)]) {
                Ok(bytes) => written += bytes,
                Err(Errno::EAGAIN | Errno::EINTR) => break,
                Err(_) => self.is_read = false,
            }
        }
        self.waiting.drain(..written);
        if !self.is_read {
            self.waiting.clear();
        }
    }
}

fn has_room(to: BorrowedFd<'_>) -> bool {
    let mut wait = [PollFd::new(to, PollFlags::POLLOUT)];
    let found = poll(&mut wait, PollTimeout::ZERO);
    // An error is met when it is written.
    found.is_ok_and(|found| found > 0)
}
