//! Starts a process and waits until it listens.

use std::{
    ffi::{OsStr, OsString},
    fmt, io,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use referee_core::Foul;
use referee_sandbox::{Limits, PrepareError, Prepared, Program, Sandbox, Wall, Walls};
use tokio::{process::Command, sync::oneshot, task::spawn_blocking};

use super::{
    child::{Child, End, Sandboxed},
    cleanup::OwnFolder,
    group::ProcessGroup,
    logs::{LastLines, Output},
    memory::{Memory, MemoryWatch},
    socket::{SOCKET, folder_for_a_socket},
    watch::{Process, Resources, STOP_GRACE},
};
use crate::{
    address::Address,
    cores::BotCores,
    shortage::{Shortage, no_walls},
    still::Still,
    supervisor::Supervisor,
};

/// How much memory a process in a sandbox may take in all, if no limit is set, and how much
/// more than a limit, which is for what it adds after its start.
const MEMORY_IN_ALL: u64 = 1 << 30;

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
    /// The walls around it. Absent for a program that is trusted.
    pub sandbox: Option<BotSandbox>,
    /// It has one of these cores for its own. Absent: it may use all.
    pub cores: Option<Arc<BotCores>>,
    /// What it may read in a sandbox beside what its program and its arguments name.
    pub readable: Vec<PathBuf>,
    /// What must stay as long as it may be started: the lock on its files, for instance.
    pub kept: Option<Arc<dyn Kept>>,
}

/// Something that stays as long as a bot that needs it.
pub trait Kept: fmt::Debug + Send + Sync {}

impl<T: fmt::Debug + Send + Sync> Kept for T {}

/// The walls around a bot.
#[derive(Clone, Debug)]
pub struct BotSandbox {
    /// What builds them.
    pub sandbox: Arc<Sandbox>,
    /// Files and folders that it must not see, wherever it is: the store, records, logs. Those
    /// count that exist when it is started.
    pub hidden: Arc<[PathBuf]>,
    /// Whether it may think while others move.
    pub pondering: bool,
}

impl BotSandbox {
    /// What holds.
    #[must_use]
    pub fn walls(&self) -> &Walls {
        self.sandbox.walls()
    }
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
        let (mut child, said_socket) = self.spawn(sockets.path()).await?;
        let id = child.process().id().expect("nobody has waited for it yet");
        let supervisor = self.supervisor.clone();
        let group = ProcessGroup::new(id, sockets.path(), supervisor, child.is_sandboxed());
        let last_lines = LastLines::default();
        let (output, said) = Output::of(child.process(), self.log.clone(), last_lines.clone());
        let still = self.still(&child);
        let mut resources = Resources {
            still,
            child,
            group,
            output,
            sockets,
        };
        match self.listens(said, &said_socket, &mut resources.child).await {
            Ok(()) => {
                let cgroup = resources.child.cgroup().cloned();
                let memory = MemoryWatch::start(id, self.memory, cgroup).map_err(|error| {
                    failed("start a thread", "no thread to watch its memory", error)
                })?;
                let address = Address::Unix(socket);
                Ok(Process::new(id, address, last_lines, resources, memory))
            }
            Err(why) => {
                resources.kill().await;
                Err(match why {
                    NotListening::Failed(error) => error,
                    NotListening::Because(what) => StartError::Foul(Foul::NoStart {
                        detail: Foul::evidence(last_lines.after(what)),
                    }),
                })
            }
        }
    }

    /// What holds it still while others move.
    fn still(&self, child: &Child) -> Option<Arc<Still>> {
        let sandbox = self.sandbox.as_ref()?;
        if sandbox.pondering || !sandbox.walls().hold(Wall::Freezer) {
            return None;
        }
        let cgroup = child.cgroup()?.clone();
        Some(Arc::new(Still::new(cgroup)))
    }

    /// Starts the program; gives the path at which it must say that it listens, too.
    async fn spawn(&self, sockets: &Path) -> Result<(Child, PathBuf), StartError> {
        let (mut command, sandboxed, socket) = match &self.sandbox {
            Some(walls) if !walls.sandbox.is_off() => {
                let folder = walls.sandbox.socket_folder_inside(sockets);
                let socket = folder.join(SOCKET);
                let program = self.program(walls, sockets, &socket);
                let sandbox = walls.sandbox.clone();
                // It reads folders and makes cgroups.
                let prepared = spawn_blocking(move || sandbox.prepare(&program)).await;
                let Prepared { command, session } = prepared
                    .map_err(|error| no_walls(error.to_string()))?
                    .map_err(|error| match error {
                        PrepareError::Program(error) => StartError::Foul(Foul::Unreachable {
                            detail: Foul::evidence(format!(
                                "could not start {}: {error}",
                                self.program.display()
                            )),
                        }),
                        PrepareError::System(error) => no_walls(error.to_string()).into(),
                    })?;
                let memory = self.memory_in_all();
                let sandboxed = Sandboxed { session, memory };
                (Command::from(command), Some(sandboxed), socket)
            }
            _ => {
                let socket = sockets.join(SOCKET);
                (self.command(&socket), None, socket)
            }
        };
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let core = self.cores.as_ref().map(BotCores::take);
        let child = match &core {
            Some(core) => core.on_it(|| command.spawn()),
            None => command.spawn(),
        };
        let child = child.map_err(|error| {
            let program = format!("could not start {}", self.program.display());
            failed("start a process", &program, error)
        })?;
        Ok((Child::new(child, sandboxed, core), socket))
    }

    /// The program without walls.
    fn command(&self, socket: &Path) -> Command {
        let mut command = Command::new(&self.program);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command
            .args(&self.arguments)
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, _)| is_passed_on(name)))
            .env(LISTEN, listen(socket))
            .stdin(Stdio::null());
        command
    }

    /// The program as a sandbox starts it.
    fn program(&self, walls: &BotSandbox, sockets: &Path, socket: &Path) -> Program {
        let variables = std::env::vars_os().filter(|(name, _)| {
            // Those are the sandbox' own.
            is_passed_on(name) && name != "HOME" && name != "TMPDIR"
        });
        Program {
            path: self.program.clone(),
            arguments: self.arguments.clone(),
            directory: self.directory.clone(),
            socket_folder: Some(sockets.to_owned()),
            environment: variables
                .chain([(LISTEN.into(), listen(socket).into())])
                .collect(),
            readable: self.readable.clone(),
            hidden: walls.hidden.to_vec(),
            limits: Limits {
                memory: Some(self.memory_in_all()),
                ..Limits::default()
            },
            keeps_its_cores: self.cores.is_some(),
        }
    }

    /// How much memory it may take in a sandbox.
    fn memory_in_all(&self) -> u64 {
        MEMORY_IN_ALL.saturating_add(self.memory.limit.unwrap_or(0))
    }

    /// Waits until the process says that it listens on this socket; why it does not.
    async fn listens(
        &self,
        said: oneshot::Receiver<String>,
        socket: &Path,
        child: &mut Child,
    ) -> Result<(), NotListening> {
        let said = match tokio::time::timeout(self.start_limit, said).await {
            Ok(Ok(said)) => said,
            // Its output has ended, most often because it has exited.
            Ok(Err(_)) => {
                let ended = tokio::time::timeout(STOP_GRACE, child.wait()).await;
                return Err(match ended {
                    Ok(End::Exited(status)) if status.success() => {
                        let how = End::Exited(status).describe();
                        NotListening::Because(format!(
                            "{how} before it listened (with a kit, the program must call the \
                             bot's main(), which does not return)"
                        ))
                    }
                    Ok(End::NoProgram(why)) => {
                        let detail = Foul::evidence(why);
                        NotListening::Failed(StartError::Foul(Foul::Unreachable { detail }))
                    }
                    Ok(End::NoSandbox(why)) => NotListening::Failed(no_walls(why).into()),
                    Ok(End::Memory { peak, limit }) => {
                        NotListening::Failed(StartError::Foul(Foul::MemoryExceeded { peak, limit }))
                    }
                    Ok(end) => {
                        NotListening::Because(format!("{} before it listened", end.describe()))
                    }
                    Err(_) => {
                        NotListening::Because("it closed its output before it listened".to_owned())
                    }
                });
            }
            Err(_) => {
                let limit = self.start_limit;
                return Err(NotListening::Because(format!(
                    "it did not print \"listening on ADDRESS\" within {limit:?}"
                )));
            }
        };
        let wrong = |why: &str| {
            let told = format!("it printed \"listening on {said}\": {why}");
            Err(NotListening::Because(told))
        };
        match said.parse::<Address>() {
            Ok(Address::Unix(path)) if path == socket => Ok(()),
            Ok(_) => wrong("it must listen at the address in BOT_LISTEN and nowhere else"),
            Err(error) => wrong(&error.to_string()),
        }
    }
}

/// Why a process does not listen.
enum NotListening {
    /// It does not start, for this reason. What it has printed says more.
    Because(String),
    Failed(StartError),
}

/// The variable that says where to listen.
const LISTEN: &str = "BOT_LISTEN";

fn listen(socket: &Path) -> String {
    format!("unix:{}", socket.display())
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
