//! The entry point of the hidden verb.

use std::{
    fs::File,
    io::{self, stdin},
    os::{fd::AsFd as _, unix::net::UnixStream},
    process::ExitCode,
};

use nix::{
    sys::signal::{SigSet, Signal},
    unistd::dup2_stdin,
};

use crate::{
    channel::Channel,
    init, monitor,
    plan::{EndReport, ProgramEnd, SandboxOrder, SandboxReport},
};

/// Runs one part of a sandbox: the program that [`crate::Sandbox`] starts must call this for
/// the verb that was named to it, before it starts a thread, and exit with what it gives.
#[must_use]
pub fn enter() -> ExitCode {
    let mut channel = match take_channel() {
        Ok(channel) => channel,
        Err(error) => return misused(&error),
    };
    let signals = SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT, Signal::SIGCHLD]);
    let end = match channel.wait() {
        Ok(Some(SandboxOrder::Monitor(plan))) => signals
            .thread_block()
            .map_err(io::Error::from)
            .and_then(|()| monitor::run(*plan, &mut channel, &signals)),
        Ok(Some(SandboxOrder::Init(plan))) => signals
            .thread_block()
            .map_err(io::Error::from)
            .and_then(|()| init::run(&plan, &mut channel, &signals)),
        // The other side is gone before it has said anything.
        Ok(Some(SandboxOrder::Signal(_)) | None) => return ExitCode::FAILURE,
        Err(error) => return misused(&error),
    };
    let ended: EndReport =
        end.unwrap_or_else(|error| ProgramEnd::NotStarted(error.to_string()).into());
    let code = ended.end.code();
    // If nobody listens any more, the code alone must do.
    let _ = channel.send(&SandboxReport::Ended(ended));
    ExitCode::from(code)
}

/// Takes the standard input, which nothing that is started may have.
fn take_channel() -> io::Result<Channel> {
    let stream = UnixStream::from(stdin().as_fd().try_clone_to_owned()?);
    stream.peer_addr()?;
    dup2_stdin(File::open("/dev/null")?)?;
    Ok(Channel::new(stream))
}

#[expect(
    clippy::disallowed_methods,
    reason = "this process is the sandbox's own"
)]
fn misused(error: &io::Error) -> ExitCode {
    // This is the program's own error stream, and there is no other way to tell it.
    let text = format!("this verb is for the sandbox, which starts it itself: {error}\n");
    let _ = io::Write::write_all(&mut io::stderr(), text.as_bytes());
    ExitCode::FAILURE
}
