//! Starts a process and waits until it listens.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use referee_core::Foul;
use tokio::{
    process::{Child, Command},
    sync::oneshot,
};

use super::{
    cleanup::OwnFolder,
    group::ProcessGroup,
    logs::{LastLines, Output},
    memory::{Memory, MemoryWatch},
    socket::{SOCKET, folder_for_a_socket},
    watch::{Process, Resources, STOP_GRACE, describe},
};
use crate::{address::Address, supervisor::Supervisor};

/// How to start a bot.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The folder that it is run in, where a relative program is looked for too. This
    /// process' own where there is none.
    pub directory: Option<PathBuf>,
    /// How long it has until it listens.
    pub start_limit: Duration,
    /// How much anonymous memory it may add to what it has when it listens, with
    /// all that it has started.
    pub memory: Memory,
    /// The file that gets what it prints, and the number of the process in its name.
    pub log: Option<PathBuf>,
    /// Kills it if this process dies without doing so.
    pub supervisor: Option<Arc<Supervisor>>,
}

impl Launch {
    /// Starts the process and waits until it says where it listens. Must be called on the
    /// runtime that shall watch over it.
    ///
    /// # Errors
    ///
    /// The foul of a bot that does not start or does not listen.
    pub async fn start(self) -> Result<Process, Foul> {
        let sockets = folder_for_a_socket()
            .map(OwnFolder::new)
            .map_err(|error| unreachable(format!("no folder for its socket: {error}")))?;
        let mut child = self.spawn(&sockets.path().join(SOCKET)).map_err(|error| {
            let program = self.program.display();
            unreachable(format!("could not start {program}: {error}"))
        })?;
        let id = child.id().expect("nobody has waited for it yet");
        let group = ProcessGroup::new(id, sockets.path(), self.supervisor.clone());
        let last_lines = LastLines::default();
        let (output, said) = Output::of(&mut child, self.log.clone(), last_lines.clone());
        let mut resources = Resources {
            child,
            group,
            output,
            sockets,
        };
        match self.address(said, &mut resources.child).await {
            Ok(address) => {
                let memory = MemoryWatch::start(id, self.memory).map_err(|error| {
                    unreachable(format!("no thread to watch its memory: {error}"))
                })?;
                Ok(Process::new(id, address, last_lines, resources, memory))
            }
            Err(what) => {
                resources.kill().await;
                Err(Foul::NoStart {
                    detail: Foul::evidence(last_lines.after(what)),
                })
            }
        }
    }

    fn spawn(&self, socket: &Path) -> io::Result<Child> {
        let mut command = Command::new(&self.program);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command
            .args(&self.arguments)
            .env("BOT_LISTEN", format!("unix:{}", socket.display()))
            // These tell where results are stored, perhaps with a password.
            .env_remove("ARENA_STORE")
            .env_remove("PGPASSWORD")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
    }

    /// Where the process says that it listens, or why it does not say so.
    async fn address(
        &self,
        said: oneshot::Receiver<String>,
        child: &mut Child,
    ) -> Result<Address, String> {
        let said = match tokio::time::timeout(self.start_limit, said).await {
            Ok(Ok(said)) => said,
            // Its output has ended, most often because it has exited.
            Ok(Err(_)) => {
                return Err(match tokio::time::timeout(STOP_GRACE, child.wait()).await {
                    Ok(Ok(status)) if status.success() => format!(
                        "{} before it listened (with a kit, the program must call the \
                         bot's main(), which does not return)",
                        describe(status)
                    ),
                    Ok(Ok(status)) => format!("{} before it listened", describe(status)),
                    _ => "it closed its output before it listened".to_owned(),
                });
            }
            Err(_) => {
                let limit = self.start_limit;
                return Err(format!(
                    "it did not print \"listening on ADDRESS\" within {limit:?}"
                ));
            }
        };
        said.parse()
            .map_err(|error| format!("it printed \"listening on {said}\": {error}"))
    }
}

fn unreachable(detail: String) -> Foul {
    Foul::Unreachable {
        detail: Foul::evidence(detail),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_program_that_ends_at_once_is_told_what_it_may_have_forgotten() {
        let launch = Launch {
            program: "true".into(),
            start_limit: Duration::from_secs(60),
            ..Launch::default()
        };
        let Err(Foul::NoStart { detail }) = launch.start().await else {
            panic!("it can't have listened");
        };
        let begins = "exited with code 0 before it listened (with a kit, the program must call";
        assert!(detail.starts_with(begins), "{detail}");
    }
}
