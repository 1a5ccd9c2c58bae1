//! Sockets of a bot that another user connects to. The system makes a Unix socket with the mode
//! that the umask of its maker leaves, which is usually 755, and connecting needs the right to
//! write. A default ACL does not help: its mask is cut down to the same mode. So a process of the
//! same user opens it.

use std::{
    fs::{self, Permissions},
    io,
    os::{
        fd::AsRawFd as _,
        unix::fs::{FileTypeExt as _, PermissionsExt as _},
    },
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use nix::{
    fcntl::{OFlag, open},
    sys::stat::Mode,
};
use tokio::time::{MissedTickBehavior, interval};

use crate::{End, stop};

/// Interval at which new sockets are looked for.
const INTERVAL: Duration = Duration::from_millis(25);
/// The right of everybody to write, which is the right to connect.
const WRITE: u32 = 0o222;

/// Unix sockets that every user is to be able to connect to.
#[derive(Args, Clone, Debug)]
pub struct SocketsArgs {
    /// The paths of the sockets. They are opened whenever they are made, by a process of the
    /// user that this one runs as.
    #[arg(required = true, value_name = "PATH")]
    sockets: Vec<PathBuf>,
}

impl SocketsArgs {
    /// Opens the sockets, until SIGTERM or SIGINT.
    ///
    /// # Errors
    ///
    /// We fail.
    pub async fn run(self) -> anyhow::Result<End> {
        let stop = stop::at_once_on_signals()?;
        let mut errors: Vec<Option<String>> = vec![None; self.sockets.len()];
        let mut ticks = interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = stop.cutting_off() => return Ok(End::Done),
            }
            for (socket, error) in self.sockets.iter().zip(&mut errors) {
                open_up(socket, error);
            }
        }
    }
}

/// Opens a socket, and tells an error once.
fn open_up(socket: &Path, last: &mut Option<String>) {
    let socket_shown = socket.display();
    match let_all_connect(socket) {
        Ok(true) => {
            *last = None;
            tracing::info!(socket = %socket_shown, "every user can connect to it now");
        }
        Ok(false) => {}
        Err(error) => {
            let error = error.to_string();
            if last.as_ref() != Some(&error) {
                tracing::warn!(
                    socket = %socket_shown, error,
                    "could not let other users connect: expected a socket of this user's own"
                );
                *last = Some(error);
            }
        }
    }
}

/// Lets every user connect to a socket, if there is one and it does not already. Whoever makes
/// it may put a link there, which is not followed.
fn let_all_connect(path: &Path) -> io::Result<bool> {
    let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let socket = match open(path, flags, Mode::empty()) {
        Err(nix::errno::Errno::ENOENT) => return Ok(false),
        opened => fs::File::from(opened?),
    };
    let metadata = socket.metadata()?;
    if !metadata.file_type().is_socket() {
        return Err(io::Error::other("it is no socket"));
    }
    let mode = metadata.permissions().mode() & 0o7777;
    if mode & WRITE == WRITE {
        return Ok(false);
    }
    // The one that was looked at, whatever has its name now.
    let same = format!("/proc/self/fd/{}", socket.as_raw_fd());
    fs::set_permissions(same, Permissions::from_mode(mode | WRITE))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::os::unix::{fs::symlink, net::UnixListener};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_socket_is_opened_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bot.sock");
        assert!(!let_all_connect(&path).unwrap(), "nothing is there");
        let _listener = UnixListener::bind(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
        assert!(let_all_connect(&path).unwrap());
        assert_eq!(mode(&path), 0o722);
        assert!(!let_all_connect(&path).unwrap());
    }

    #[test]
    fn links_and_other_files_stay_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("bot.sock"));
        let socket = folder.path().join("socket");
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        let_all_connect(&file).unwrap_err();
        let _listener = UnixListener::bind(&socket).unwrap();
        fs::set_permissions(&socket, Permissions::from_mode(0o700)).unwrap();
        for target in [&file, &socket] {
            symlink(target, &link).unwrap();
            let_all_connect(&link).unwrap_err();
            fs::remove_file(&link).unwrap();
        }
        assert_eq!((mode(&file), mode(&socket)), (0o600, 0o700));
    }
}
