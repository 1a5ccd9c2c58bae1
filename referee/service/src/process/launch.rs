//! Starts a process and waits until it listens.

use std::{ffi::OsString, path::PathBuf, process::Stdio, sync::Arc, time::Duration};

use nix::unistd::Pid;
use referee_core::Foul;
use tokio::{
    process::Command,
    sync::{mpsc, oneshot, watch},
};
use tokio_util::sync::CancellationToken;

use super::{
    group::Group,
    logs::{LastWords, Log, Output, read_output},
    memory::Memory,
    socket::{SOCKET, folder_for_a_socket},
    watch::{Process, STOP_GRACE, describe, watch_over},
};
use crate::{address::Address, supervisor::Supervisor};

/// How to start a bot.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// How long it has until it listens.
    pub start_limit: Duration,
    /// How much anonymous memory it may add to what it has when it listens, with
    /// all that it has started.
    pub memory: Memory,
    /// Where what it prints goes.
    pub log: Option<PathBuf>,
    /// Kills it if we die without doing so.
    pub supervisor: Option<Arc<Supervisor>>,
}

impl Launch {
    /// Starts the process and waits until it says where it listens. Must be
    /// called on the runtime that is to watch over it.
    ///
    /// # Errors
    ///
    /// The foul that a bot commits which does not get so far.
    pub async fn start(self) -> Result<Process, Foul> {
        let sockets = folder_for_a_socket()
            .map_err(|error| unreachable(format!("no folder for its socket: {error}")))?;
        let socket = sockets.path().join(SOCKET);
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .env("BOT_LISTEN", format!("unix:{}", socket.display()))
            // Where results are kept, and perhaps a password, is no bot's business.
            .env_remove("ARENA_STORE")
            .env_remove("PGPASSWORD")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| {
                unreachable(format!(
                    "could not start {}: {error}",
                    self.program.display()
                ))
            })?;
        let id = child.id();
        // The group's number is the leader's.
        let group = id.and_then(|id| i32::try_from(id).ok());
        let group = Group::new(group.map(Pid::from_raw), sockets.path(), self.supervisor);

        let last_words = LastWords::default();
        let log = Log::new(self.log.as_ref(), last_words.clone());
        let (heard, listening) = oneshot::channel();
        let mut output = Output::default();
        if let Some(stdout) = child.stdout.take() {
            output.spawn(read_output(stdout, log.clone(), Some(heard)));
        }
        if let Some(stderr) = child.stderr.take() {
            output.spawn(read_output(stderr, log, None));
        }

        let address = tokio::select! {
            heard = listening => match heard {
                Ok(text) => text
                    .parse::<Address>()
                    .map_err(|error| format!("it printed \"listening on {text}\": {error}")),
                // Its output ended: it has exited, or will not say anything more.
                Err(_) => Err(match tokio::time::timeout(STOP_GRACE, child.wait()).await {
                    Ok(Ok(status)) => format!("{} before it listened", describe(status)),
                    _ => "it closed its output before it listened".to_owned(),
                }),
            },
            () = tokio::time::sleep(self.start_limit) => Err(format!(
                "it did not print \"listening on ADDRESS\" within {:?}",
                self.start_limit
            )),
        };
        let address = match address {
            Ok(address) => address,
            Err(what) => {
                group.kill();
                let _ = child.wait().await;
                output.ended().await;
                return Err(Foul::NoStart {
                    detail: Foul::evidence(last_words.after(what)),
                });
            }
        };
        let (ended, end) = watch::channel(None);
        let stop = CancellationToken::new();
        let (dismissals, dismissed) = mpsc::channel(1);
        tokio::spawn(watch_over(
            child,
            group,
            output,
            self.memory.clone(),
            (stop.clone(), dismissed),
            ended,
            sockets,
        ));
        Ok(Process {
            id,
            address,
            end,
            last_words,
            stop,
            dismissals,
        })
    }
}

fn unreachable(detail: String) -> Foul {
    Foul::Unreachable {
        detail: Foul::evidence(detail),
    }
}
