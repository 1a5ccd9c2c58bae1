//! Starts a process and waits until it listens.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    fmt, io,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use referee_container::{Containers, ImageName};
use referee_core::Foul;
use referee_sandbox::{
    Cgroup, PrepareError, PreparedSandbox, Program, ResourceLimits, Sandbox, Wall, Walls,
    absent_interpreter, is_package_variable,
};
use tokio::{process::Command, sync::oneshot, task::spawn_blocking};

use super::{
    child::{Around, Child, ProcessEnd},
    cleanup::OwnFolder,
    group::ProcessGroup,
    logs::{OutputReaders, ProcessOutput},
    memory::{MemoryOptions, MemoryWatch, variables},
    socket::{SOCKET, folder_for_a_socket},
    watch::{BotProcess, Ids, Resources, STOP_GRACE},
};
use crate::{
    address::Address,
    cores::BotCores,
    shortage::{Shortage, lost_walls, no_container, no_walls},
    still::Still,
    supervisor::Supervisor,
};

/// Most memory of a process in a sandbox in all, if no limit is set, and the addition to a limit
/// otherwise, which is for what it adds after its start.
const MEMORY_IN_ALL: u64 = 1 << 30;

/// Most processes and threads of a bot in a container, and most bytes that it may write into
/// each of its private folders, which are in memory.
const CONTAINER_PROCESSES: u32 = 256;
const CONTAINER_DISK: u64 = 64 << 20;

/// The way to start a bot.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// The program; of one in a container, the name of its image.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The container that it is run in. It has walls of its own, and no sandbox.
    pub container: Option<BotContainer>,
    /// The folder that it is run in, where a relative program is looked for too. This
    /// process' own where there is none.
    pub directory: Option<PathBuf>,
    /// Longest time until it listens.
    pub start_limit: Duration,
    /// The limit and the measure of the anonymous memory that it may add to what it has when it
    /// listens, with all that it has started.
    pub memory: MemoryOptions,
    /// The file that gets what it prints, and the number of the process in its name.
    pub log: Option<PathBuf>,
    /// Kills it if this process dies without doing so.
    pub supervisor: Option<Arc<Supervisor>>,
    /// The walls around it. Absent for a program that is trusted.
    pub sandbox: Option<BotSandbox>,
    /// It has one of these cores for its own. Absent: it may use all.
    pub cores: Option<Arc<BotCores>>,
    /// Files and folders that it may read in a sandbox beside what its program and its arguments
    /// name.
    pub readable: Vec<PathBuf>,
    /// The resource that must stay as long as it may be started: the lock on its files, for
    /// instance.
    pub kept: Option<Arc<dyn BotResource>>,
}

/// Something that stays as long as a bot that needs it.
pub trait BotResource: fmt::Debug + Send + Sync {}

impl<T: fmt::Debug + Send + Sync> BotResource for T {}

/// The walls around a bot.
#[derive(Clone, Debug)]
pub struct BotSandbox {
    /// The builder of the walls.
    pub sandbox: Arc<Sandbox>,
    /// Files and folders that it must not see, wherever it is: the store, records, logs. Those
    /// count that exist when it is started.
    pub hidden: Arc<[PathBuf]>,
    /// True if it may think while others move.
    pub pondering: bool,
}

/// The container of a bot.
#[derive(Clone, Debug)]
pub struct BotContainer {
    /// The starter of the container.
    pub containers: Arc<Containers>,
    /// The bot's image.
    pub image: ImageName,
    /// True if it may think while others move.
    pub pondering: bool,
}

impl BotSandbox {
    /// The walls that hold.
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
    pub async fn start(self) -> Result<BotProcess, StartError> {
        self.start_heard(ProcessOutput::default()).await
    }

    /// The same, where `kept` gets what it prints.
    pub(crate) async fn start_heard(self, kept: ProcessOutput) -> Result<BotProcess, StartError> {
        let sockets = folder_for_a_socket()
            .map(OwnFolder::new)
            .map_err(|error| failed("make a folder for a socket", "no folder for it", error))?;
        let socket = sockets.path().join(SOCKET);
        let (mut child, said_socket) = self.spawn(sockets.path()).await?;
        let id = child.process().id().expect("nobody has waited for it yet");
        let supervisor = self.supervisor.clone();
        let group = ProcessGroup::new(id, sockets.path(), supervisor, child.leader());
        let (output, said) = OutputReaders::of(child.process(), self.log.clone(), kept.clone());
        let mut resources = Resources {
            still: None,
            child,
            group,
            output,
            sockets,
        };
        match self.listens(said, &said_socket, &mut resources).await {
            Ok(first) => {
                let cgroup = resources.child.cgroup().cloned();
                let begun = begin_to_play(cgroup.clone()).await;
                let begun = begun.map_err(|error| no_walls(error.to_string()));
                if let Err(shortage) = begun.and_then(|()| resources.child.count_memory_kills()) {
                    resources.kill().await;
                    resources.child.release().await;
                    return Err(shortage.into());
                }
                self.say_what_is_shared(&mut resources.child);
                let memory = match first {
                    Some(first) => MemoryWatch::start(first, self.memory, cgroup).await,
                    // It can't be measured from here; its container has a limit.
                    None => Ok(None),
                };
                let memory = memory.map_err(|error| {
                    failed("start a thread", "no thread to watch its memory", error)
                })?;
                let address = Address::Unix(socket);
                let ids = Ids {
                    known: id,
                    first,
                    is_container: self.container.is_some(),
                };
                Ok(BotProcess::new(ids, address, kept, resources, memory))
            }
            Err(why) => {
                resources.kill().await;
                let wall = resources.child.memory_wall();
                let exceeded = wall.and_then(|wall| wall.exceeded(0));
                resources.child.release().await;
                Err(match (why, exceeded) {
                    (NotListening::Failed(error), _) => error,
                    (NotListening::Because(_), Some(peak)) => StartError::Foul(peak.into()),
                    // Where the system has no file left, the bot had none either.
                    (NotListening::Because(what), None) => match Shortage::now("start a bot") {
                        Some(shortage) => shortage.into(),
                        None => StartError::Foul(Foul::NoStart {
                            detail: Foul::evidence(kept.after(&what)),
                        }),
                    },
                })
            }
        }
    }

    /// Says which files all its processes share, once for each.
    fn say_what_is_shared(&self, child: &mut Child) {
        static SAID: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
        let mut said = SAID.lock();
        for path in child.shared_files() {
            if said.insert(path.clone()) {
                tracing::info!(
                    path = %path.display(),
                    "too large to be copied for each process of a bot: they share it"
                );
            }
        }
    }

    /// The control that holds it still while others move, where it is to be held still.
    ///
    /// # Errors
    ///
    /// It can't be held still, and should be.
    fn still(&self, child: &Child) -> Result<Option<Arc<Still>>, Shortage> {
        let Some(cgroup) = child.cgroup() else {
            return Ok(None);
        };
        let is_held = match (&self.container, &self.sandbox) {
            (Some(container), _) => !container.pondering && cgroup.has_freezer(),
            (None, Some(sandbox)) => !sandbox.pondering && sandbox.walls().hold(Wall::Freezer),
            (None, None) => false,
        };
        if !is_held {
            return Ok(None);
        }
        match cgroup.freezer() {
            Ok(freezer) => Ok(Some(Arc::new(Still::new(freezer)))),
            Err(error) => match Shortage::of("hold a bot still", error) {
                Ok(shortage) => Err(shortage),
                // It has just ended, which is found out soon.
                Err(error) => {
                    tracing::debug!(%error, "a process can't be held still");
                    Ok(None)
                }
            },
        }
    }

    /// Starts the program; gives the path at which it must say that it listens, too.
    async fn spawn(&self, sockets: &Path) -> Result<(Child, PathBuf), StartError> {
        let core = self.cores.as_ref().map(BotCores::take);
        let (mut command, around, socket) = match (&self.container, &self.sandbox) {
            (Some(container), _) => {
                let own = core.as_ref().map(|core| vec![core.number()]);
                let program = self.contained(container, sockets, own);
                let prepared = container.containers.prepare(&program).await;
                let prepared = prepared.map_err(|error| no_container(error.to_string()))?;
                let command = Command::from(prepared.command);
                let socket = Path::new(Containers::socket_folder_inside()).join(SOCKET);
                (command, Around::Container(prepared.session), socket)
            }
            (None, Some(walls)) if !walls.sandbox.is_off() => {
                let folder = walls.sandbox.socket_folder_inside(sockets);
                let socket = folder.join(SOCKET);
                let program = self.program(walls, sockets, &socket);
                let sandbox = walls.sandbox.clone();
                // It reads folders and makes cgroups.
                let prepared = spawn_blocking(move || sandbox.prepare(&program)).await;
                let PreparedSandbox { command, session } = prepared
                    .map_err(|error| no_walls(error.to_string()))?
                    .map_err(|error| match error {
                        PrepareError::Program(error) => {
                            let program = format!("could not start {}", self.program.display());
                            failed(LOOKING, &program, error)
                        }
                        PrepareError::System(error) => no_walls(error.to_string()).into(),
                    })?;
                (Command::from(command), Around::Sandbox(session), socket)
            }
            _ => {
                let socket = sockets.join(SOCKET);
                (self.command(&socket), Around::Nothing, socket)
            }
        };
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            // What stands for a container removes it when its session is dropped.
            .kill_on_drop(!matches!(around, Around::Container(_)));
        let child = match &core {
            Some(core) => core.on_it(|| command.spawn()),
            None => command.spawn(),
        };
        let child = child.map_err(|error| {
            let program = format!("could not start {}", self.program.display());
            failed("start a process", &program, self.explained(error))
        })?;
        Ok((Child::new(child, around, self.memory_kept(), core), socket))
    }

    /// The program as a container is started with it.
    fn contained(
        &self,
        container: &BotContainer,
        sockets: &Path,
        cores: Option<Vec<usize>>,
    ) -> referee_container::ContainerProgram {
        let socket = Path::new(Containers::socket_folder_inside()).join(SOCKET);
        let arguments = self.arguments.iter();
        referee_container::ContainerProgram {
            image: container.image.clone(),
            arguments: arguments
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            socket_folder: sockets.to_owned(),
            environment: vec![
                (LISTEN.to_owned(), listen(&socket)),
                // A crash is ours to see and to judge; `bot-init` would hide it.
                (RESTART.to_owned(), "never".to_owned()),
            ],
            defaults: (self.memory_variables())
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            limits: ResourceLimits {
                memory: Some(self.memory_in_all()),
                processes: Some(CONTAINER_PROCESSES),
                cpu_percent: Some(100),
                disk: CONTAINER_DISK,
                file_size: CONTAINER_DISK,
                ..ResourceLimits::default()
            },
            cores,
        }
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
            .envs(self.memory_variables())
            .stdin(Stdio::null());
        command
    }

    /// The error of a program without walls that does not start: its file may be there, and what
    /// interprets it not.
    fn explained(&self, error: io::Error) -> io::Error {
        if error.kind() != io::ErrorKind::NotFound || self.container.is_some() {
            return error;
        }
        let directory = self.directory.as_deref().unwrap_or(Path::new("."));
        let file = match self.program.components().count() {
            1 => std::env::var_os("PATH").and_then(|path| {
                let mut files = std::env::split_paths(&path).map(|at| at.join(&self.program));
                files.find(|file| directory.join(file).is_file())
            }),
            _ => Some(self.program.clone()),
        };
        match file.and_then(|file| absent_interpreter(&file, directory)) {
            Some(why) => io::Error::new(error.kind(), why),
            None => error,
        }
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
                .chain((self.memory_variables()).map(|(name, value)| (name.into(), value.into())))
                .collect(),
            home: std::env::home_dir(),
            readable: self.readable.clone(),
            hidden: walls.hidden.to_vec(),
            limits: ResourceLimits {
                memory: Some(self.memory_in_all()),
                ..ResourceLimits::default()
            },
            keeps_its_cores: self.cores.is_some(),
        }
    }

    /// Most memory that it may take in a sandbox or a container, in bytes.
    fn memory_in_all(&self) -> u64 {
        MEMORY_IN_ALL.saturating_add(self.memory.limit.unwrap_or(0))
    }

    /// The same where the system keeps that limit.
    fn memory_kept(&self) -> Option<u64> {
        let is_kept = match (&self.container, &self.sandbox) {
            (Some(_), _) => true,
            (None, Some(sandbox)) => sandbox.walls().hold(Wall::Memory),
            (None, None) => false,
        };
        is_kept.then(|| self.memory_in_all())
    }

    /// The variables that tell it how much memory it may have: what it may add where that is
    /// limited, since a program does not know what it has when it listens; else all of it. Its author
    /// sets others by `exec:env NAME=VALUE COMMAND`.
    fn memory_variables(&self) -> impl Iterator<Item = (&'static str, String)> {
        let limit = self.memory.limit.or_else(|| self.memory_kept());
        limit.map(variables).into_iter().flatten()
    }

    /// Waits until the bot runs and says that it listens on this socket; why it does not. Gives
    /// the process that it began with, as far as that can be seen.
    async fn listens(
        &self,
        said: oneshot::Receiver<String>,
        socket: &Path,
        resources: &mut Resources,
    ) -> Result<Option<u32>, NotListening> {
        let child = &mut resources.child;
        // What the engine of containers takes is not the bot's time.
        let first = match child.started().await {
            Ok(first) => first,
            Err(ProcessEnd::NoWalls(why)) => {
                return Err(NotListening::Failed(no_container(why).into()));
            }
            Err(end) => return Err(not_started(end)),
        };
        let still = self.still(child);
        let counted = child.count_memory_kills();
        resources.still = counted
            .and(still)
            .map_err(|shortage| NotListening::Failed(shortage.into()))?;
        let said = match tokio::time::timeout(self.start_limit, said).await {
            Ok(Ok(said)) => said,
            // Its output has ended, most often because it has exited.
            Ok(Err(_)) => {
                let ended = tokio::time::timeout(STOP_GRACE, child.wait()).await;
                return Err(match ended {
                    Ok(end) => not_started(end),
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
            Ok(Address::Unix(path)) if path == socket => Ok(first),
            Ok(_) => wrong("it must listen at the address in BOT_LISTEN and nowhere else"),
            Err(error) => wrong(&error.to_string()),
        }
    }
}

/// From now on the process may know secrets.
async fn begin_to_play(cgroup: Option<Cgroup>) -> io::Result<()> {
    let Some(cgroup) = cgroup else {
        return Ok(());
    };
    let begun = spawn_blocking(move || cgroup.begin_to_play()).await;
    begun.map_err(io::Error::other)?
}

/// Reason why a process does not listen.
enum NotListening {
    /// It does not start, for this reason. What it has printed says more.
    Because(String),
    Failed(StartError),
}

/// Reason why a bot does not listen that has ended.
fn not_started(end: ProcessEnd) -> NotListening {
    match end {
        ProcessEnd::Exited(status) if status.success() => {
            let how = ProcessEnd::Exited(status).describe();
            NotListening::Because(format!(
                "{how} before it listened (with a kit, the program must call the bot's main(), \
                 which does not return)"
            ))
        }
        ProcessEnd::NoProgram(why) => {
            let detail = Foul::evidence(why);
            NotListening::Failed(StartError::Foul(Foul::Unreachable { detail }))
        }
        ProcessEnd::NoWalls(why) => NotListening::Failed(no_walls(why).into()),
        ProcessEnd::Lost(why) => NotListening::Failed(lost_walls(&why).into()),
        ProcessEnd::Memory(peak) => NotListening::Failed(StartError::Foul(peak.into())),
        end => NotListening::Because(format!("{} before it listened", end.describe())),
    }
}

/// The variable that says where to listen.
const LISTEN: &str = "BOT_LISTEN";
/// The variable that says whether a bot that has crashed is started again in its container.
const RESTART: &str = "BOT_RESTART";

fn listen(socket: &Path) -> String {
    format!("unix:{}", socket.display())
}

/// True if a bot may know this variable of our environment: where programs, libraries and
/// packages are, the language and the time zone. All else stays with us: it may hold passwords.
fn is_passed_on(name: &OsStr) -> bool {
    const PASSED_ON: [&str; 9] = [
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "LD_LIBRARY_PATH",
    ];
    let text = name.to_str().unwrap_or_default();
    PASSED_ON.contains(&text) || text.starts_with("LC_") || is_package_variable(name)
}

/// Reason why a process does not play.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It can't be started, or does not listen.
    #[error("{0}")]
    Foul(Foul),
    /// We lack what it needs.
    #[error(transparent)]
    Shortage(#[from] Shortage),
}

/// The step that a shortage keeps us from before a program is started.
const LOOKING: &str = "look for a bot's files";

/// Our shortage, or else the foul of a bot that can't be started.
fn failed(what: &'static str, words: &str, error: io::Error) -> StartError {
    let error = match Shortage::of(what, error) {
        Ok(shortage) => return shortage.into(),
        Err(error) => error,
    };
    // An error that was put into other words does not tell its number.
    if error.raw_os_error().is_none()
        && let Some(shortage) = Shortage::now(what)
    {
        return shortage.into();
    }
    StartError::Foul(Foul::Unreachable {
        detail: Foul::evidence(format!("{words}: {error}")),
    })
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
