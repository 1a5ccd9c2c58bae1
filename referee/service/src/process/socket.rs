//! The folder in which a process has its socket.

use std::{io, path::Path};

/// Name of the socket of a bot in its folder, and the longest path of it: unix(7)
/// has room for 108 bytes, and the last one ends it.
pub(super) const SOCKET: &str = "bot.sock";
const LONGEST_PATH: usize = 107;

/// A new folder for a bot's socket among the temporary files; in `/tmp` where the
/// socket's path would be too long there.
///
/// # Errors
///
/// No folder can be made there.
pub fn folder_for_a_socket() -> io::Result<tempfile::TempDir> {
    folder_near(&std::env::temp_dir())
}

fn folder_near(temporary: &Path) -> io::Result<tempfile::TempDir> {
    let mut folder = tempfile::Builder::new();
    folder.prefix("bot-arena-");
    let deep = folder.tempdir_in(temporary)?;
    if deep.path().join(SOCKET).as_os_str().len() <= LONGEST_PATH {
        return Ok(deep);
    }
    folder.tempdir_in("/tmp")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_has_a_path_that_a_socket_can_have() {
        let temporary = tempfile::tempdir().unwrap();
        for deeper in ["", "x", &"y".repeat(120)] {
            let there = temporary.path().join(deeper);
            std::fs::create_dir_all(&there).unwrap();
            let folder = folder_near(&there).unwrap();
            std::os::unix::net::UnixListener::bind(folder.path().join(SOCKET)).unwrap();
            let near = folder.path().parent() == Some(&there);
            assert_eq!(near, deeper.len() < 100, "{}", folder.path().display());
        }
        folder_near(&temporary.path().join("not there")).unwrap_err();
    }
}
