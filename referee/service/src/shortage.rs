//! What this machine has run out of: open files, processes, memory. That is never a bot's
//! fault.

use std::io;

use nix::libc;

/// We lack what is needed to play: open files, processes or memory.
#[derive(Debug, thiserror::Error)]
#[error("could not {what}: {error}{}", self.advice())]
pub struct Shortage {
    what: &'static str,
    error: io::Error,
    /// Whether the error says itself what to do.
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
        let lacks = matches!(
            error.raw_os_error(),
            Some(
                libc::EMFILE
                    | libc::ENFILE
                    | libc::EAGAIN
                    | libc::ENOMEM
                    | libc::ENOBUFS
                    | libc::ENOSPC
                    | libc::EDQUOT
                    | libc::EADDRNOTAVAIL
            )
        );
        if lacks {
            Ok(Self {
                what,
                error,
                is_explained: false,
            })
        } else {
            Err(error)
        }
    }

    fn advice(&self) -> String {
        if self.is_explained {
            return String::new();
        }
        format!("; {}", advice(&self.error))
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
        what: "build the walls around a bot",
        error: io::Error::other(why),
        is_explained: false,
    }
}

/// What to do.
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
}
