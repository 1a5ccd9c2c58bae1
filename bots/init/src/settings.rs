//! The settings, as the arguments and the environment say.

use std::{env, ffi::OsString, fs, os::unix::fs::FileTypeExt as _, path::PathBuf};

/// Variable that says if a bot that has crashed is started again.
const RESTART: &str = "BOT_RESTART";
/// Variable with the number of MiB of output that go through at once, and in every further hour.
const LOG_MIB: &str = "BOT_LOG_MIB";
const DEFAULT_LOG_MIB: u64 = 4;
/// Variable with the address on which the bot listens.
const LISTEN: &str = "BOT_LISTEN";

pub(crate) struct InitSettings {
    /// The bot: a program and its arguments.
    pub(crate) command: Vec<OsString>,
    pub(crate) restarts: bool,
    pub(crate) log_bytes: u64,
    /// The Unix socket that the bot makes, if it makes one.
    socket: Option<PathBuf>,
}

impl InitSettings {
    pub(crate) fn of_process() -> Result<Self, String> {
        let command: Vec<OsString> = env::args_os().skip(1).collect();
        if command.is_empty() {
            return Err("expected the command of a bot: bot-init COMMAND…".to_owned());
        }
        let restarts = match env::var(RESTART).as_deref() {
            Ok("never") => false,
            Ok("on-crash") | Err(_) => true,
            Ok(other) => {
                return Err(format!(
                    "{RESTART}={other:?}: expected on-crash, which is the default, or never"
                ));
            }
        };
        let log_mib = match env::var(LOG_MIB) {
            Ok(text) => text.parse().ok().filter(|mib| *mib <= 1 << 20).ok_or_else(|| {
                format!(
                    "{LOG_MIB}={text:?}: expected how many MiB of the bot's output are passed on \
                     at once and in every further hour; {DEFAULT_LOG_MIB} is the default"
                )
            })?,
            Err(_) => DEFAULT_LOG_MIB,
        };
        let listen = env::var(LISTEN).unwrap_or_default();
        Ok(Self {
            command,
            restarts,
            log_bytes: log_mib << 20,
            socket: listen.strip_prefix("unix:").map(PathBuf::from),
        })
    }

    /// A bot that has crashed has left its socket, and the next one could not make it.
    pub(crate) fn remove_socket(&self) {
        if let Some(socket) = &self.socket
            && let Ok(about) = socket.symlink_metadata()
            && about.file_type().is_socket()
        {
            let _ = fs::remove_file(socket);
        }
    }
}
