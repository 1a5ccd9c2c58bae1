//! Starts a process and waits until it listens.

use std::{
    ffi::{OsStr, OsString},
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
use crate::{address::Address, shortage::Shortage, supervisor::Supervisor};

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
    /// [`StartError`].
    pub async fn start(self) -> Result<Process, StartError> {
        let sockets = folder_for_a_socket()
            .map(OwnFolder::new)
            .map_err(|error| failed("make a folder for a socket", "no folder for it", error))?;
        let socket = sockets.path().join(SOCKET);
        let mut child = self.spawn(&socket).map_err(|error| {
            let program = format!("could not start {}", self.program.display());
            failed("start a process", &program, error)
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
        match self.listens(said, &socket, &mut resources.child).await {
            Ok(()) => {
                let memory = MemoryWatch::start(id, self.memory).map_err(|error| {
                    failed("start a thread", "no thread to watch its memory", error)
                })?;
                let address = Address::Unix(socket);
                Ok(Process::new(id, address, last_lines, resources, memory))
            }
            Err(what) => {
                resources.kill().await;
                Err(StartError::Foul(Foul::NoStart {
                    detail: Foul::evidence(last_lines.after(what)),
                }))
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
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, _)| is_passed_on(name)))
            .env("BOT_LISTEN", format!("unix:{}", socket.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
    }

    /// Waits until the process says that it listens on this socket; why it does not.
    async fn listens(
        &self,
        said: oneshot::Receiver<String>,
        socket: &Path,
        child: &mut Child,
    ) -> Result<(), String> {
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
        let wrong = |why: &str| Err(format!("it printed \"listening on {said}\": {why}"));
        match said.parse::<Address>() {
            Ok(Address::Unix(path)) if path == socket => Ok(()),
            Ok(_) => wrong("it must listen at the address in BOT_LISTEN and nowhere else"),
            Err(error) => wrong(&error.to_string()),
        }
    }
}

/// What a bot may know of our environment: where programs and libraries are, the language and
/// the time zone. All else stays with us: it may hold passwords.
fn is_passed_on(name: &OsStr) -> bool {
    const PASSED_ON: [&str; 12] = [
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "LD_LIBRARY_PATH",
        "PYTHONPATH",
        "JAVA_HOME",
        "NODE_PATH",
    ];
    let name = name.to_str().unwrap_or_default();
    PASSED_ON.contains(&name) || name.starts_with("LC_")
}

/// Why a process does not play.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It can't be started, or does not listen.
    #[error("{0}")]
    Foul(Foul),
    /// We lack what it needs.
    #[error(transparent)]
    Shortage(#[from] Shortage),
}

/// Our shortage, or else the foul of a bot that can't be started.
fn failed(what: &'static str, words: &str, error: io::Error) -> StartError {
    match Shortage::of(what, error) {
        Ok(shortage) => shortage.into(),
        Err(error) => StartError::Foul(Foul::Unreachable {
            detail: Foul::evidence(format!("{words}: {error}")),
        }),
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
        let Err(StartError::Foul(Foul::NoStart { detail })) = launch.start().await else {
            panic!("it can't have listened");
        };
        let begins = "exited with code 0 before it listened (with a kit, the program must call";
        assert!(detail.starts_with(begins), "{detail}");
    }
}
