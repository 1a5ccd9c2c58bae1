//! A bot as a process of its own: started, watched, limited, and never left
//! behind.

use std::{
    collections::VecDeque,
    ffi::OsString,
    io::{self, Write as _},
    os::unix::process::ExitStatusExt as _,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use nix::{
    sys::signal::{Signal, kill, killpg},
    unistd::Pid,
};
use referee_core::Foul;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader},
    process::{Child, Command},
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use crate::{address::Address, supervisor::Supervisor};

/// How much of what a bot prints is kept in its log file.
pub const LOG_LIMIT: usize = 1024 * 1024;
/// How many of its last lines are kept as evidence, and how long one may be.
const LAST_LINES: usize = 5;
const LINE_LIMIT: usize = 400;
/// How often a process with a memory limit is looked at.
const MEMORY_CHECK: Duration = Duration::from_millis(10);
/// How long its last words may take to arrive when it has ended.
const OUTPUT_GRACE: Duration = Duration::from_millis(200);
/// How long its end may take to be known when its connection has broken.
const DEATH_GRACE: Duration = Duration::from_secs(2);
/// How long a bot has between being asked to stop and being stopped.
pub const STOP_GRACE: Duration = Duration::from_secs(1);
/// What the socket of a bot is called in its folder, and how long its path may be:
/// unix(7) has room for 108 bytes, and the last one ends it.
const SOCKET: &str = "bot.sock";
const LONGEST_PATH: usize = 107;
/// How long what it has started may outlive it.
const LEAVE_GRACE: Duration = Duration::from_millis(500);

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

/// What is done about a process's memory: nothing, or it is looked at every few
/// milliseconds and once more before it is stopped. What it has started, and what
/// that has started, counts as its own.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// How much anonymous memory it may add to what it has when it listens, in
    /// bytes.
    pub limit: Option<u64>,
    /// Where the most that a process has added is written down.
    pub gauge: Option<Arc<MemoryGauge>>,
}

/// The most that any process which was looked at has added, in bytes.
#[derive(Debug, Default)]
pub struct MemoryGauge(AtomicU64);

impl MemoryGauge {
    /// The most so far.
    #[must_use]
    pub fn peak(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn seen(&self, bytes: u64) {
        self.0.fetch_max(bytes, Ordering::Relaxed);
    }
}

/// A bot process that is listening.
#[derive(Debug)]
pub struct Process {
    id: Option<u32>,
    address: Address,
    end: watch::Receiver<Option<End>>,
    last_words: LastWords,
    stop: CancellationToken,
    dismissals: mpsc::Sender<Dismissal>,
}

/// How a process went that was asked to stop while somebody looked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Farewell {
    /// How long it took to end; nothing where it had to be killed.
    pub after: Option<Duration>,
    /// What it had started and left running. It is killed.
    pub left: Vec<Left>,
}

/// A process that outlived the one which started it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Its number.
    pub id: i32,
    /// Its command line.
    pub command: String,
    /// Whether it had left the process group too.
    pub outside_group: bool,
}

/// To ask it to stop, to wait so long for it, and to tell how it went.
#[derive(Debug)]
struct Dismissal {
    patience: Duration,
    went: oneshot::Sender<Farewell>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug)]
enum End {
    Exited(ExitStatus),
    Memory { peak: u64, limit: u64 },
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

impl Process {
    /// Its number, which is that of its group too.
    #[must_use]
    pub const fn id(&self) -> Option<u32> {
        self.id
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> &Address {
        &self.address
    }

    /// Whether it has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.end.borrow().is_some()
    }

    /// Whether nothing is left of it.
    pub(crate) fn is_gone(&self) -> bool {
        // The watcher is gone only when the process is.
        self.end.has_changed().is_err()
    }

    /// Tells why a connection to it broke, waiting a moment for its end to be
    /// known.
    pub async fn post_mortem(&self, broken: String) -> Foul {
        let mut end = self.end.clone();
        let known = tokio::time::timeout(DEATH_GRACE, end.wait_for(Option::is_some)).await;
        let end = match known {
            Ok(Ok(end)) => *end,
            _ => None,
        };
        match end {
            Some(End::Memory { peak, limit }) => Foul::MemoryExceeded { peak, limit },
            Some(End::Exited(status)) => Foul::Crashed {
                detail: Foul::evidence(self.last_words.after(describe(status))),
            },
            None => Foul::Crashed {
                detail: Foul::evidence(self.last_words.after(broken)),
            },
        }
    }

    /// Asks it to stop, and stops it if it does not.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Asks it to stop, and it alone, waits so long for that, looks at what it leaves behind,
    /// and kills what is left. Nothing where it had ended before.
    pub async fn dismiss(&self, patience: Duration) -> Option<Farewell> {
        let (went, farewell) = oneshot::channel();
        let dismissal = Dismissal { patience, went };
        self.dismissals.send(dismissal).await.ok()?;
        farewell.await.ok()
    }

    /// Waits until nothing is left of it.
    pub async fn ended(&self) {
        let mut end = self.end.clone();
        // The watcher is gone only when the process is.
        while end.changed().await.is_ok() {}
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Owns the child until it has been reaped, and its folder with it.
async fn watch_over(
    mut child: Child,
    group: Group,
    output: Output,
    memory: Memory,
    (stop, mut dismissed): (CancellationToken, mpsc::Receiver<Dismissal>),
    ended: watch::Sender<Option<End>>,
    sockets: tempfile::TempDir,
) {
    let watched = Watched::new(child.id(), memory);
    let exceeded = async {
        match &watched {
            Some(watched) => watched.exceeds().await,
            None => std::future::pending().await,
        }
    };
    let end = tokio::select! {
        biased;
        end = exceeded => end,
        () = stop.cancelled() => {
            if let Some(watched) = &watched {
                watched.look();
            }
            group.signal(Signal::SIGTERM);
            match tokio::time::timeout(STOP_GRACE, child.wait()).await {
                Ok(Ok(status)) => End::Exited(status),
                _ => End::Exited(ExitStatus::from_raw(Signal::SIGKILL as i32)),
            }
        }
        Some(Dismissal { patience, went }) = dismissed.recv() => {
            // It alone: what becomes of its children is its own affair.
            group.signal_leader(Signal::SIGTERM);
            let asked = Instant::now();
            let status = tokio::time::timeout(patience, child.wait()).await;
            let (after, end) = match status {
                Ok(Ok(status)) => (Some(asked.elapsed()), End::Exited(status)),
                _ => (None, End::Exited(ExitStatus::from_raw(Signal::SIGKILL as i32))),
            };
            if after.is_none() {
                // Then only what has left the group is left behind.
                group.kill();
                let _ = child.wait().await;
            }
            let left = group.left(sockets.path()).await;
            for one in &left {
                let _ = kill(Pid::from_raw(one.id), Signal::SIGKILL);
            }
            let _ = went.send(Farewell { after, left });
            end
        }
        status = child.wait() => match status {
            Ok(status) => End::Exited(status),
            Err(_) => End::Exited(ExitStatus::from_raw(Signal::SIGKILL as i32)),
        },
    };
    // Whatever it has started goes with it.
    group.kill();
    let _ = child.wait().await;
    // Who asks how it ended wants to know what it said last.
    output.ended().await;
    ended.send_replace(Some(end));
    drop(group);
    drop(sockets);
    drop(ended);
}

/// A process whose memory is looked at, with all processes below it.
struct Watched {
    id: u32,
    at_first: u64,
    memory: Memory,
}

impl Watched {
    fn new(id: Option<u32>, memory: Memory) -> Option<Self> {
        let wanted = memory.limit.is_some() || memory.gauge.is_some();
        let id = id.filter(|_| wanted)?;
        Some(Self {
            id,
            at_first: anonymous_memory(id).unwrap_or(0),
            memory,
        })
    }

    /// How much it has added by now.
    fn look(&self) -> Option<u64> {
        let added = anonymous_memory(self.id)?.saturating_sub(self.at_first);
        if let Some(gauge) = &self.memory.gauge {
            gauge.seen(added);
        }
        Some(added)
    }

    /// Waits until it has added more than it may.
    async fn exceeds(&self) -> End {
        loop {
            tokio::time::sleep(MEMORY_CHECK).await;
            let Some(peak) = self.look() else {
                return std::future::pending().await;
            };
            if let Some(limit) = self.memory.limit.filter(|limit| peak > *limit) {
                return End::Memory { peak, limit };
            }
        }
    }
}

/// The anonymous memory of a process and of all below it, in bytes. What a process
/// has from before it was forked counts for both; what has left the tree, because its
/// parent has died, does not count, nor does memory that is made to be shared.
fn anonymous_memory(id: u32) -> Option<u64> {
    let own = anonymous_memory_alone(id)?;
    // A process can't be below itself, so this ends.
    let below = children(id).filter_map(anonymous_memory);
    Some(own + below.sum::<u64>())
}

/// `RssAnon` of a process in bytes (proc_pid_status(5)). All of its threads have the
/// same; where the first one has ended, only the others tell.
#[must_use]
pub fn anonymous_memory_alone(id: u32) -> Option<u64> {
    let threads = || {
        let threads = std::fs::read_dir(format!("/proc/{id}/task")).ok()?;
        threads
            .flatten()
            .find_map(|thread| anonymous_in(&thread.path()))
    };
    anonymous_in(Path::new(&format!("/proc/{id}"))).or_else(threads)
}

fn anonymous_in(folder: &Path) -> Option<u64> {
    let status = std::fs::read_to_string(folder.join("status")).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("RssAnon:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// What a process has started, by any of its threads (proc_pid_task(5)).
fn children(id: u32) -> impl Iterator<Item = u32> {
    let threads = std::fs::read_dir(format!("/proc/{id}/task"))
        .into_iter()
        .flatten();
    let lists = threads
        .filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("children")).ok());
    lists.flat_map(|list| {
        let ids = list.split_whitespace().filter_map(|id| id.parse().ok());
        ids.collect::<Vec<u32>>()
    })
}

/// A process group, killed when it is dropped.
struct Group {
    leader: Option<Pid>,
    supervisor: Option<Arc<Supervisor>>,
}

impl Group {
    fn new(leader: Option<Pid>, folder: &Path, supervisor: Option<Arc<Supervisor>>) -> Self {
        if let (Some(leader), Some(supervisor)) = (leader, &supervisor) {
            supervisor.watch(leader, folder);
        }
        Self { leader, supervisor }
    }

    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            // It may be gone already.
            let _ = killpg(leader, signal);
        }
    }

    fn signal_leader(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            let _ = kill(leader, signal);
        }
    }

    fn kill(&self) {
        self.signal(Signal::SIGKILL);
    }

    /// What is still running of all that the leader has started, a moment after
    /// its end: the rest of the group, and whoever has inherited the environment in
    /// which only these have our folder.
    async fn left(&self, folder: &Path) -> Vec<Left> {
        let deadline = Instant::now() + LEAVE_GRACE;
        loop {
            let left = self.running(folder);
            if left.is_empty() || Instant::now() >= deadline {
                return left;
            }
            tokio::time::sleep(MEMORY_CHECK).await;
        }
    }

    fn running(&self, folder: &Path) -> Vec<Left> {
        let Some(leader) = self.leader.map(Pid::as_raw) else {
            return Vec::new();
        };
        let folder = folder.as_os_str().as_encoded_bytes();
        let ids = std::fs::read_dir("/proc").into_iter().flatten();
        let ids = ids.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
        ids.filter(|id| *id != leader)
            .filter_map(|id| {
                let inside = group_of(id)? == leader;
                let inherited = || {
                    let variables = std::fs::read(format!("/proc/{id}/environ"));
                    let listen = [b"BOT_LISTEN=unix:", folder].concat();
                    variables.is_ok_and(|all| {
                        all.split(|byte| *byte == 0)
                            .any(|variable| variable.starts_with(&listen))
                    })
                };
                (inside || inherited()).then(|| Left {
                    id,
                    command: command_line(id),
                    outside_group: !inside,
                })
            })
            .collect()
    }
}

/// The group of a process that is alive (proc_pid_stat(5)).
fn group_of(id: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name before it may have anything in it.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    (!matches!(state, "Z" | "X"))
        .then(|| fields.nth(1)?.parse().ok())
        .flatten()
}

fn command_line(id: i32) -> String {
    let words = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&words);
    let words: Vec<&str> = words.split('\0').filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(LINE_LIMIT).collect()
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        if let (Some(leader), Some(supervisor)) = (self.leader, &self.supervisor) {
            supervisor.forget(leader);
        }
    }
}

/// The last lines that a bot printed.
#[derive(Clone, Debug, Default)]
struct LastWords(Arc<Mutex<VecDeque<String>>>);

impl LastWords {
    fn push(&self, line: &str) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LAST_LINES {
            lines.pop_front();
        }
        lines.push_back(line.chars().take(LINE_LIMIT).collect());
    }

    fn after(&self, what: String) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.is_empty() {
            return what;
        }
        let words = lines.iter().map(String::as_str).collect::<Vec<_>>();
        format!("{what}; its last words: {}", words.join(" / "))
    }
}

/// Where what a bot prints goes, up to a limit.
#[derive(Clone)]
struct Log {
    last_words: LastWords,
    file: Arc<Mutex<LogFile>>,
}

/// A bot that prints nothing leaves no file.
enum LogFile {
    /// Nothing has been printed.
    Unwritten(PathBuf),
    /// It has room for so many bytes.
    Open(std::fs::File, usize),
    /// Nothing more goes there.
    Closed,
}

impl LogFile {
    fn write(self, line: &[u8]) -> io::Result<Self> {
        let (mut file, left) = match self {
            Self::Unwritten(path) => {
                let mut options = std::fs::OpenOptions::new();
                (options.create(true).append(true).open(path)?, LOG_LIMIT)
            }
            Self::Open(file, left) => (file, left),
            Self::Closed => return Ok(Self::Closed),
        };
        let fits = &line[..line.len().min(left)];
        file.write_all(fits)?;
        if fits.len() < left {
            return Ok(Self::Open(file, left - fits.len()));
        }
        file.write_all(b"\n[the log ends here: the bot has printed too much]\n")?;
        Ok(Self::Closed)
    }
}

impl Log {
    fn new(path: Option<&PathBuf>, last_words: LastWords) -> Self {
        let file = path.map_or(LogFile::Closed, |path| LogFile::Unwritten(path.clone()));
        Self {
            last_words,
            file: Arc::new(Mutex::new(file)),
        }
    }

    fn line(&self, line: &[u8]) {
        let mut slot = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let file = std::mem::replace(&mut *slot, LogFile::Closed);
        *slot = file.write(line).unwrap_or_else(|error| {
            tracing::warn!(%error, "no log");
            LogFile::Closed
        });
        drop(slot);
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end();
        if !text.is_empty() {
            self.last_words.push(text);
        }
    }
}

/// What reads its output.
#[derive(Default)]
struct Output(Vec<JoinHandle<io::Result<()>>>);

impl Output {
    fn spawn(&mut self, reading: impl Future<Output = io::Result<()>> + Send + 'static) {
        self.0.push(tokio::spawn(reading));
    }

    /// Waits until all of it has been read; not for long, since a process that
    /// has left the group may hold on to it.
    async fn ended(self) {
        let _ = tokio::time::timeout(OUTPUT_GRACE, join_all(self.0)).await;
    }
}

/// Reads to the end, so that a bot that prints a lot is never held up by it.
async fn read_output(
    output: impl AsyncRead + Unpin,
    log: Log,
    mut heard: Option<oneshot::Sender<String>>,
) -> io::Result<()> {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A line without an end must not fill the memory.
        let read = (&mut output)
            .take(64 * 1024)
            .read_until(b'\n', &mut line)
            .await?;
        if read == 0 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&line);
        if let Some(address) = text.trim().strip_prefix("listening on ")
            && let Some(heard) = heard.take()
        {
            let _ = heard.send(address.to_owned());
            continue;
        }
        log.line(&line);
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => match Signal::try_from(signal) {
            Ok(name) => format!("killed by {name}"),
            Err(_) => format!("killed by signal {signal}"),
        },
        (None, None) => "ended".to_owned(),
    }
}

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

fn unreachable(detail: String) -> Foul {
    Foul::Unreachable {
        detail: Foul::evidence(detail),
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufRead as _;

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

    #[test]
    fn the_memory_of_a_process_is_that_of_its_whole_tree() {
        // A shell below a shell below a shell: each says that it is there, and the
        // innermost one waits for our end of the pipe to close.
        let innermost = "echo; read never";
        let inner = format!("echo; sh -c '{innermost}'; exit");
        let script = format!("echo; sh -c \"{inner}\"; exit");
        let mut outer = std::process::Command::new("sh")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = std::io::BufReader::new(outer.stdout.take().unwrap());
        assert_eq!(output.lines().take(3).count(), 3);

        let id = outer.id();
        let [child] = children(id).collect::<Vec<_>>()[..] else {
            panic!("a shell that runs one command has one child");
        };
        let [grandchild] = children(child).collect::<Vec<_>>()[..] else {
            panic!("a shell that runs one command has one child");
        };
        assert_eq!(children(grandchild).count(), 0);
        let alone = [id, child, grandchild].map(|id| anonymous_memory_alone(id).unwrap());
        assert!(alone.iter().all(|memory| *memory > 0), "{alone:?}");
        // They all wait, so nothing changes between two looks.
        assert_eq!(anonymous_memory(id).unwrap(), alone.iter().sum::<u64>());
        assert_eq!(anonymous_memory(grandchild).unwrap(), alone[2]);

        drop(outer.stdin.take());
        outer.wait().unwrap();
        assert_eq!(anonymous_memory(id), None);
    }
}
