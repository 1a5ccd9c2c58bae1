//! The signals that this process gets.

use std::{
    io::{self, Read as _},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::net::UnixStream,
    },
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use nix::sys::signal::Signal;
use signal_hook::{flag, low_level::pipe};

/// The signals that may be sent to the first process of a container, and the one for the end of a
/// child. Signals that say that we have a fault are not among them.
const TAKEN: [Signal; 7] = [
    Signal::SIGCHLD,
    Signal::SIGTERM,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGHUP,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
];

pub(crate) struct Signals {
    /// For each signal, true if it has come.
    come: Vec<(Signal, Arc<AtomicBool>)>,
    /// Has a byte when one has.
    wake: UnixStream,
}

impl Signals {
    /// From now on they are taken here. Handlers are not inherited, other than masks: the bot
    /// begins with the defaults.
    pub(crate) fn new() -> io::Result<Self> {
        let (wake, writer) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let mut come = Vec::new();
        for signal in TAKEN {
            let has_come = Arc::new(AtomicBool::new(false));
            // In this order: who is woken finds it.
            flag::register(signal as i32, has_come.clone())?;
            pipe::register(signal as i32, writer.try_clone()?)?;
            come.push((signal, has_come));
        }
        Ok(Self { come, wake })
    }

    /// Those that have come.
    pub(crate) fn take(&self) -> io::Result<Vec<Signal>> {
        let mut bytes = [0; 64];
        loop {
            match (&self.wake).read(&mut bytes) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let come = self.come.iter();
        let come = come.filter(|(_, come)| come.swap(false, Ordering::Relaxed));
        Ok(come.map(|(signal, _)| *signal).collect())
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}
