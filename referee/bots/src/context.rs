//! The settings that a machine starts bots with, and how it starts or reaches them.

use std::{
    collections::HashMap,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use referee::{
    Address, Bot, BotContainer, BotDial, BotSandbox, Cores, Excuses, Launch, MemoryGauge,
    MemoryOptions, Supervisor,
};
use tokio::runtime::Handle;

use crate::{
    Entry, Reach, Trust,
    archive::{ArchiveCache, ArchiveHash, CacheError, UnpackedArchive},
    log_name::log_name,
};

/// The settings that the processes of one bot are started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotOptions {
    /// Longest time until a process is ready to play.
    pub start_limit: Duration,
    /// Most anonymous memory that it may add after its start, in bytes.
    pub memory_limit: Option<u64>,
    /// True if the most memory that it adds is measured and reported.
    pub measure_memory: bool,
    /// The folder that it is run in, where that is not the folder of all bots.
    pub directory: Option<PathBuf>,
}

/// A bot that is about to be started or reached.
#[derive(Debug)]
pub enum LaunchTarget {
    /// It is started so.
    Process(Box<Launch>),
    /// It runs there.
    Running(Address),
}

/// The address of a bot that somebody else has started for this worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotAddress {
    /// Its address.
    pub address: Address,
    /// The user whose process must listen there, at a Unix socket; any user's may, if there is
    /// none.
    pub user: Option<u32>,
}

/// With what bots are started and reached, as the arguments of a program say it.
#[derive(Debug)]
pub struct LaunchOptions {
    /// Starts what kills the bots if this process ends without doing so
    /// ([`referee::supervise`]).
    pub supervisor: Command,
    /// Folder of the bots' output.
    pub logs: Option<PathBuf>,
    /// The walls around bots that are somebody's programs.
    pub sandbox: Option<BotSandbox>,
    /// True if bots in containers may think while others move.
    pub pondering: bool,
    /// The cores of the referee's threads and of bots, where each is to have its own.
    pub cores: Option<Cores>,
    /// Settings for dialling bots that run somewhere.
    pub dial: BotDial,
    /// The bots that run already, by name: they are neither started nor looked for where their
    /// SPECs say. Their addresses need not be among those that may be dialled.
    pub addresses: HashMap<String, BotAddress>,
    /// The archives that packed bots are started from.
    pub archives: Option<Arc<ArchiveCache>>,
}

/// Reason why bots can't be started here, whichever they are.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// There is no folder for logs.
    #[error("could not make the folder {}: {error}", path.display())]
    Logs {
        /// The folder.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// The supervisor, which kills bots that are left, did not start.
    #[error("could not start the supervisor: {0}")]
    Supervisor(std::io::Error),
}

impl LaunchOptions {
    /// No logs, no walls, no cores of their own and no packed bots.
    #[must_use]
    pub fn new(supervisor: Command) -> Self {
        Self {
            supervisor,
            logs: None,
            sandbox: None,
            pondering: false,
            cores: None,
            dial: BotDial::default(),
            addresses: HashMap::new(),
            archives: None,
        }
    }

    /// Makes the folder of logs.
    ///
    /// # Errors
    ///
    /// It can't be made.
    pub fn make_logs(&self) -> Result<(), LaunchError> {
        let Some(logs) = &self.logs else {
            return Ok(());
        };
        std::fs::create_dir_all(logs).map_err(|error| LaunchError::Logs {
            path: logs.clone(),
            error,
        })
    }

    /// Makes the folder of logs and starts the supervisor. Bots are run in `directory`, and their
    /// relative paths begin there.
    ///
    /// # Errors
    ///
    /// Either can't be done.
    pub fn open(self, directory: PathBuf) -> Result<LaunchContext, LaunchError> {
        self.make_logs()?;
        let supervisor = Supervisor::start(self.supervisor).map_err(LaunchError::Supervisor)?;
        Ok(LaunchContext {
            supervisor: Arc::new(supervisor),
            logs: self.logs,
            directory,
            sets: AtomicU64::new(0),
            sandbox: self.sandbox,
            pondering: self.pondering,
            cores: self.cores,
            dial: self.dial,
            addresses: self.addresses,
            excuses: Mutex::default(),
            archives: self.archives,
            identities: Mutex::default(),
        })
    }
}

/// All that this machine needs to start bots.
#[derive(Debug)]
pub struct LaunchContext {
    supervisor: Arc<Supervisor>,
    /// Folder of the bots' output.
    logs: Option<PathBuf>,
    /// The folder that bots are run in, and that their relative paths begin at.
    directory: PathBuf,
    /// Number of sets of processes so far.
    sets: AtomicU64,
    /// The walls around bots that are somebody's programs.
    sandbox: Option<BotSandbox>,
    /// True if bots in containers may think while others move.
    pondering: bool,
    /// The cores of the referee, and those that each bot gets one of.
    cores: Option<Cores>,
    /// Settings for dialling bots that run somewhere.
    dial: BotDial,
    /// The bots that run already, by name, whatever their SPECs say.
    addresses: HashMap<String, BotAddress>,
    /// Excuses of the bots for late answers, by name.
    excuses: Mutex<HashMap<String, Arc<Excuses>>>,
    /// The archives that packed bots are started from.
    archives: Option<Arc<ArchiveCache>>,
    identities: Identities,
}

/// The identities of bots that were started, by SPEC, each with what its file was like then.
type Identities = Mutex<HashMap<String, (FileState, Option<String>)>>;

/// The values that change when a file is changed: its device and number, its size, and when it
/// was changed last.
type FileState = Option<(u64, u64, u64, i64, i64)>;

impl LaunchContext {
    /// The cores of the referee's threads and of bots, where each is to have its own.
    #[must_use]
    pub const fn cores(&self) -> Option<&Cores> {
        self.cores.as_ref()
    }

    /// The address of a bot that was said to run already.
    #[must_use]
    pub fn address(&self, entry: &Entry) -> Option<&BotAddress> {
        self.addresses.get(&entry.name)
    }

    /// True if we start the processes of a bot, and so can start fresh ones.
    #[must_use]
    pub fn starts(&self, entry: &Entry) -> bool {
        entry.is_started_by_us() && self.address(entry).is_none()
    }

    /// Settings for dialling bots that run somewhere.
    #[must_use]
    pub const fn dial(&self) -> &BotDial {
        &self.dial
    }

    /// The archives that packed bots are started from.
    #[must_use]
    pub const fn archives(&self) -> Option<&Arc<ArchiveCache>> {
        self.archives.as_ref()
    }

    /// Folder of the bots' output.
    #[must_use]
    pub fn logs(&self) -> Option<&Path> {
        self.logs.as_deref()
    }

    /// The number of the next set of processes, from 0. It is in the names of their
    /// logs.
    #[must_use]
    pub fn next_set(&self) -> u64 {
        self.sets.fetch_add(1, Ordering::Relaxed)
    }

    /// The bot of an entry, none of whose processes has been started. `set` numbers
    /// the processes that it will have. Must be called on the runtime that is to
    /// watch over them.
    ///
    /// # Errors
    ///
    /// There is no room for its socket.
    pub fn bot(
        &self,
        entry: &Entry,
        options: &BotOptions,
        gauge: Option<Arc<MemoryGauge>>,
        set: u64,
    ) -> std::io::Result<Bot> {
        let bot = match self.source(entry, options, gauge, set)? {
            LaunchTarget::Process(launch) => Bot::launched(*launch, Handle::current()),
            LaunchTarget::Running(address) => {
                let dial = self.dial_of(entry);
                Bot::at(address, options.start_limit).with_dial(dial)
            }
        };
        let mut excuses = self.excuses.lock();
        let excuses = excuses.entry(entry.name.clone()).or_default();
        let bot = bot.with_excuses(excuses.clone());
        Ok(bot.with_identity(self.identity(entry)))
    }

    /// Settings for dialling the address of a bot. Whoever said where it runs allows that.
    #[must_use]
    pub fn dial_of(&self, entry: &Entry) -> BotDial {
        let dial = self.dial.clone();
        match self.address(entry) {
            None => dial,
            Some(at) => BotDial {
                allowed: None,
                user: at.user,
                ..dial
            },
        }
    }

    /// The archives that must be fetched before these can be started.
    ///
    /// # Errors
    ///
    /// The folder of archives fails, or somebody has changed an archive that is in use.
    pub fn missing<'e>(
        &self,
        entries: impl IntoIterator<Item = &'e Entry>,
    ) -> Result<Vec<ArchiveHash>, CacheError> {
        let hashes = entries
            .into_iter()
            .filter(|entry| self.address(entry).is_none())
            .filter_map(|entry| entry.launcher().archive().copied());
        match &self.archives {
            Some(archives) => archives.missing(hashes),
            None => Ok(hashes.collect()),
        }
    }

    /// The identity of an entry's bot as it is now; none where that can't be known. A file that
    /// has not changed is read once.
    fn identity(&self, entry: &Entry) -> Option<String> {
        let launcher = entry.launcher();
        let file = launcher.program_file(&self.directory);
        let state = file.and_then(|file| file_state(&file));
        let mut known = self.identities.lock();
        if let Some((before, identity)) = known.get(&entry.spec)
            && *before == state
        {
            return identity.clone();
        }
        let identity = launcher.identity(&self.directory).ok().flatten();
        known.insert(entry.spec.clone(), (state, identity.clone()));
        identity
    }

    /// The unpacked archive of an entry that is in one.
    fn archive(&self, entry: &Entry) -> std::io::Result<Option<UnpackedArchive>> {
        let Some(hash) = entry.launcher().archive() else {
            return Ok(None);
        };
        let held = match &self.archives {
            Some(archives) => archives.get(hash).map_err(std::io::Error::other)?,
            None => None,
        };
        held.map(Some).ok_or_else(|| {
            std::io::Error::other(format!(
                "{}: its archive {hash} is not on this machine; expected it to be fetched before \
                 the bot is started",
                entry.name
            ))
        })
    }

    /// The launch of an entry's process, or the address at which it runs already.
    ///
    /// # Errors
    ///
    /// There is no room for its socket: that is no fault of the bot's.
    pub fn source(
        &self,
        entry: &Entry,
        options: &BotOptions,
        gauge: Option<Arc<MemoryGauge>>,
        set: u64,
    ) -> std::io::Result<LaunchTarget> {
        if let Some(at) = self.address(entry) {
            return Ok(LaunchTarget::Running(at.address.clone()));
        }
        let (program, arguments, container) = match entry.launcher().reach() {
            Reach::Address(address) => return Ok(LaunchTarget::Running(address)),
            Reach::Program { program, arguments } => (program, arguments, None),
            Reach::Container {
                container,
                arguments,
            } => {
                let pondering = self.pondering;
                let program = container.image.to_string().into();
                let container = BotContainer {
                    pondering,
                    ..container
                };
                (program, arguments, Some(container))
            }
        };
        let archive = self.archive(entry)?;
        referee::folder_for_a_socket()?;
        let log = log_name(&entry.name, set);
        Ok(LaunchTarget::Process(Box::new(Launch {
            program,
            arguments,
            container,
            directory: Some(match &archive {
                Some(archive) => archive.files().to_owned(),
                None => options
                    .directory
                    .clone()
                    .unwrap_or_else(|| self.directory.clone()),
            }),
            readable: archive.iter().map(|held| held.files().to_owned()).collect(),
            start_limit: options.start_limit,
            memory: MemoryOptions {
                limit: options.memory_limit,
                gauge,
            },
            log: self.logs.as_ref().map(|logs| logs.join(log)),
            supervisor: Some(self.supervisor.clone()),
            sandbox: match entry.launcher().trust() {
                Trust::Process => self.sandbox(),
                Trust::BuiltIn | Trust::Container | Trust::Remote => None,
            },
            cores: self.cores.as_ref().map(|cores| cores.bots.clone()),
            kept: archive.map(|held| Arc::new(held) as _),
        })))
    }

    /// The walls around a bot, which sees of the archives its own at most.
    fn sandbox(&self) -> Option<BotSandbox> {
        let mut sandbox = self.sandbox.clone()?;
        if let Some(archives) = &self.archives {
            let hidden = sandbox.hidden.iter().cloned();
            let archives = archives.folder().to_owned();
            sandbox.hidden = hidden.chain([archives]).collect();
        }
        Some(sandbox)
    }
}

fn file_state(file: &Path) -> FileState {
    let data = file.metadata().ok()?;
    let changed = (data.ctime(), data.ctime_nsec());
    Some((data.dev(), data.ino(), data.len(), changed.0, changed.1))
}
