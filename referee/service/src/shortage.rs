//! The shortages of this machine: open files, processes, memory. That is never a bot's fault.

use std::{error::Error, fs::File, io, time::Duration};

use nix::libc;
use procfs::ProcError;
use referee_sandbox::is_lack;

/// Longest wait of a game for what this machine has run out of, and the pauses between its
/// tries: the first and the longest.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// We lack what is needed to play: open files, processes or memory.
#[derive(Debug, thiserror::Error)]
#[error("could not {what}: {error}{}", self.advice())]
pub struct Shortage {
    what: &'static str,
    error: io::Error,
    /// True if the error says itself what to do.
    is_explained: bool,
}

impl Shortage {
    /// The shortage that this error means; the error itself if it means none. `what` follows
    /// "could not".
    ///
    /// # Errors
    ///
    /// The error, if it is no shortage.
    pub(crate) fn of(what: &'static str, error: io::Error) -> Result<Self, io::Error> {
        let error = match error.downcast::<Self>() {
            Ok(shortage) => return Ok(shortage),
            Err(error) => error,
        };
        if is_lack(&error) {
            Ok(Self {
                what,
                error,
                is_explained: false,
            })
        } else {
            Err(error)
        }
    }

    /// The shortage that is behind this error of a library, if there is one.
    pub(crate) fn behind(what: &'static str, error: &(dyn Error + 'static)) -> Option<Self> {
        let mut cause = Some(error);
        while let Some(error) = cause {
            let ours = |error: &Self| error.error.raw_os_error();
            let number = match (
                error.downcast_ref::<Self>(),
                error.downcast_ref::<io::Error>(),
            ) {
                (Some(shortage), _) => ours(shortage),
                // What an error of this type was made of is not its source.
                (None, Some(error)) => match error.get_ref() {
                    Some(inner) => return Self::behind(what, inner),
                    None => error.raw_os_error(),
                },
                (None, None) => None,
            };
            let lack = number.map(io::Error::from_raw_os_error);
            if let Some(Ok(shortage)) = lack.map(|error| Self::of(what, error)) {
                return Some(shortage);
            }
            cause = error.source();
        }
        None
    }

    /// The present shortage of this machine, found by opening a file. For failures that don't
    /// tell their cause: a name that could not be resolved, a program that did not start.
    #[expect(
        clippy::disallowed_methods,
        reason = "what is opened has no end and no content"
    )]
    pub(crate) fn now(what: &'static str) -> Option<Self> {
        let opened = File::open("/dev/null").err()?;
        Self::of(what, opened).ok()
    }

    fn advice(&self) -> String {
        if self.is_explained {
            return String::new();
        }
        format!("; {}", advice(&self.error))
    }
}

/// Waits for what this machine has run out of, longer each time, and not for ever.
#[derive(Debug)]
pub(crate) struct ShortageWait {
    waited: Duration,
    pause: Duration,
}

impl Default for ShortageWait {
    fn default() -> Self {
        Self {
            waited: Duration::ZERO,
            pause: FIRST_PAUSE,
        }
    }
}

impl ShortageWait {
    /// Waits until it is worth another try.
    ///
    /// # Errors
    ///
    /// The shortage, where it was waited for long enough.
    pub(crate) async fn wait(&mut self, shortage: Shortage) -> Result<(), Shortage> {
        if self.waited >= PATIENCE {
            return Err(shortage);
        }
        tracing::warn!(%shortage, "waiting, and trying again");
        tokio::time::sleep(self.pause).await;
        self.waited += self.pause;
        self.pause = (2 * self.pause).min(LONGEST_PAUSE);
        Ok(())
    }
}

/// The answer to a question about processes, or that it could not be asked. The second is
/// never an answer: nobody is judged by it.
pub type OrShortage<T> = Result<T, Shortage>;

/// The result of a question to `/proc`; none where there is nothing that this user may see: most
/// often the process has ended.
pub(crate) fn found<T>(asked: Result<T, ProcError>) -> OrShortage<Option<T>> {
    match asked {
        Ok(found) => Ok(Some(found)),
        Err(ProcError::Io(error, _)) => match Shortage::of("ask for a process in /proc", error) {
            Ok(shortage) => Err(shortage),
            Err(_) => Ok(None),
        },
        Err(_) => Ok(None),
    }
}

impl From<Shortage> for io::Error {
    fn from(shortage: Shortage) -> Self {
        Self::other(shortage)
    }
}

/// The engine of containers could not start a bot's, for a reason that is not the bot's.
pub(crate) fn no_container(why: String) -> Shortage {
    Shortage {
        what: "start a bot's container",
        error: io::Error::other(why),
        is_explained: true,
    }
}

/// The bots of a game were lost again and again, for reasons that are not theirs.
pub(crate) fn lost_too_often(times: u32) -> Shortage {
    Shortage {
        what: "play a game",
        error: io::Error::other(format!("its bots were lost {times} times")),
        is_explained: true,
    }
}

/// The walls around a bot could not be built, though they could when the machine was probed.
pub(crate) fn no_walls(why: String) -> Shortage {
    Shortage {
        what: "isolate a bot",
        error: io::Error::other(why),
        is_explained: false,
    }
}

/// The walls around a bot are gone: the process of ours that holds them was killed. Where the bot could
/// have done that itself it is a crash, see `SandboxSession::end`. The game is played again, like every
/// game that a shortage ends, and after [`PATIENCE`] the run ends with this error: a bot that has
/// found a way to do it wins nothing.
pub(crate) fn lost_walls(why: &str) -> Shortage {
    Shortage {
        what: "keep a bot isolated",
        error: io::Error::other(format!(
            "{why}. The bot can't do that: look for what ends processes on this machine, such as \
             the kernel for lack of memory (journalctl -k)"
        )),
        is_explained: true,
    }
}

/// The advice for the user.
fn advice(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EMFILE) => "allow more open files (ulimit -n) or play fewer games at once",
        Some(libc::ENFILE) => "allow more open files (sysctl fs.file-max)",
        Some(libc::EAGAIN) => "allow more processes (ulimit -u) or play fewer games at once",
        Some(libc::ENOSPC | libc::EDQUOT) => "make room among the temporary files",
        Some(libc::EADDRNOTAVAIL) => "all local ports are in use: play fewer games at once",
        None => "play fewer games at once; `arena selftest` shows what this machine allows",
        _ => "free memory or play fewer games at once",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_says_what_to_do() {
        let full = io::Error::from_raw_os_error(libc::EMFILE);
        let shortage = Shortage::of("start a process", full).unwrap().to_string();
        assert!(
            shortage.starts_with("could not start a process: "),
            "{shortage}"
        );
        assert!(shortage.contains("ulimit -n"), "{shortage}");
        let missing = io::Error::from_raw_os_error(libc::ENOENT);
        Shortage::of("start a process", missing).unwrap_err();
    }

    #[test]
    fn a_shortage_is_found_behind_the_errors_of_libraries() {
        let full = || io::Error::from_raw_os_error(libc::EMFILE);
        let shortage = || Shortage::of("ask", full()).unwrap();
        // As an error of a connection may be wrapped.
        let wrapped = io::Error::other(io::Error::other(tonic::Status::from_error(full().into())));
        for error in [full(), wrapped, shortage().into()] {
            let found = Shortage::behind("connect", &error).unwrap().to_string();
            assert!(found.contains("ulimit -n"), "{found}");
        }
        assert!(Shortage::behind("connect", &shortage()).is_some());
        let refused = io::Error::from_raw_os_error(libc::ECONNREFUSED);
        assert!(Shortage::behind("connect", &refused).is_none());
        // It stays what it was on its way through io::Error.
        let said = shortage().to_string();
        assert_eq!(
            Shortage::of("something else", shortage().into())
                .unwrap()
                .to_string(),
            said
        );
    }

    #[test]
    fn what_could_not_be_asked_is_no_answer() {
        let io = |error| ProcError::Io(io::Error::from_raw_os_error(error), None);
        for full in [libc::EMFILE, libc::ENFILE, libc::ENOMEM, libc::EAGAIN] {
            assert!(found::<()>(Err(io(full))).is_err(), "{full}");
        }
        for gone in [
            io(libc::ESRCH),
            ProcError::NotFound(None),
            ProcError::PermissionDenied(None),
        ] {
            assert_eq!(found::<()>(Err(gone)).unwrap(), None);
        }
        assert_eq!(found(Ok(7)).unwrap(), Some(7));
    }
}
