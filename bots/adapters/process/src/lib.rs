//! A foreign program that an adapter runs for one game: what it prints ([`PrintedLines`]), how it
//! ended ([`ended`]), and the processes that it leaves behind ([`Descendants`]).
//!
//! It knows no game, no message, and not how the program is asked.

mod descendants;
mod printed;

use std::{os::unix::process::ExitStatusExt as _, process::ExitStatus};

use nix::sys::signal::Signal;

pub use descendants::{Descendants, end};
pub use printed::{PrintedLines, drain};

/// The end of a process as words that follow its name: `exited with code 3`.
#[must_use]
pub fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal().map(Signal::try_from)) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(Ok(Signal::SIGABRT))) => "aborted".to_owned(),
        (None, Some(Ok(signal))) => format!("was killed by {signal}"),
        (None, _) => "ended".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_told_by_code_or_signal() {
        for (wait_status, words) in [
            (3 << 8, "exited with code 3"),
            (6, "aborted"),
            (11, "was killed by SIGSEGV"),
        ] {
            assert_eq!(ended(ExitStatus::from_raw(wait_status)), words);
        }
    }
}
