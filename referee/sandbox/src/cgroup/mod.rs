//! A cgroup for each program: limits for all that it starts, and a way to hold it still and
//! to end it whole. Version 1 and version 2, also side by side, as they are mounted.

mod base;
mod name;

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde::{Deserialize, Serialize};

pub(crate) use self::base::CgroupBase;
pub use self::name::Creator;
use crate::{
    limits::ResourceLimits,
    walls::{CgroupVersion, Wall},
};

/// The name of the cgroup inside of that of a program, see [`CgroupFolders::play`].
const PLAY: &str = "play";

/// Longest time that removing waits for processes to end.
const REMOVAL: Duration = Duration::from_secs(5);

/// A controller's folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ControllerFolder {
    pub(crate) version: CgroupVersion,
    pub(crate) path: PathBuf,
}

/// The folders of one program, by what they are for. Some are the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CgroupFolders {
    pub(crate) memory: Option<ControllerFolder>,
    pub(crate) processes: Option<ControllerFolder>,
    pub(crate) cpu: Option<ControllerFolder>,
    pub(crate) freezer: Option<ControllerFolder>,
    /// The folder of version 2, with or without controllers.
    pub(crate) unified: Option<PathBuf>,
}

impl CgroupFolders {
    /// Each folder once.
    fn all(&self) -> BTreeSet<&Path> {
        [&self.memory, &self.processes, &self.cpu, &self.freezer]
            .into_iter()
            .flatten()
            .map(|place| place.path.as_path())
            .chain(self.unified.as_deref())
            .collect()
    }

    /// The same folders below or beside: each path is changed.
    fn each(&self, change: impl Fn(&Path) -> PathBuf) -> Self {
        let place = |place: &Option<ControllerFolder>| {
            place.as_ref().map(|place| ControllerFolder {
                version: place.version,
                path: change(&place.path),
            })
        };
        Self {
            memory: place(&self.memory),
            processes: place(&self.processes),
            cpu: place(&self.cpu),
            freezer: place(&self.freezer),
            unified: self.unified.as_deref().map(change),
        }
    }

    pub(crate) fn add(&self, process: u32) -> io::Result<()> {
        for folder in self.all() {
            write(folder, "cgroup.procs", &process.to_string())?;
        }
        Ok(())
    }

    fn limit(&self, limits: &ResourceLimits, walls: &BTreeSet<Wall>) -> io::Result<()> {
        // A quota is for so long.
        const PERIOD: u64 = 100_000;
        if let (Some(place), Some(bytes)) = (&self.memory, limits.memory)
            && walls.contains(&Wall::Memory)
        {
            let bytes = bytes.to_string();
            match place.version {
                CgroupVersion::V1 => {
                    write(&place.path, "memory.limit_in_bytes", &bytes)?;
                    write_if_there(&place.path, "memory.memsw.limit_in_bytes", &bytes)?;
                }
                CgroupVersion::V2 => {
                    write(&place.path, "memory.max", &bytes)?;
                    write_if_there(&place.path, "memory.swap.max", "0")?;
                }
            }
        }
        if let (Some(place), Some(processes)) = (&self.processes, limits.processes)
            && walls.contains(&Wall::ProcessCount)
        {
            // Bubblewrap, the init and its thread are in it too.
            let processes = u64::from(processes) + 4;
            write(&place.path, "pids.max", &processes.to_string())?;
        }
        if let (Some(place), Some(percent)) = (&self.cpu, limits.cpu_percent)
            && walls.contains(&Wall::Cpu)
        {
            let quota = PERIOD * u64::from(percent) / 100;
            match place.version {
                CgroupVersion::V1 => {
                    write(&place.path, "cpu.cfs_period_us", &PERIOD.to_string())?;
                    write(&place.path, "cpu.cfs_quota_us", &quota.to_string())?;
                }
                CgroupVersion::V2 => write(&place.path, "cpu.max", &format!("{quota} {PERIOD}"))?,
            }
        }
        if let Some(place) = &self.cpu
            && limits.gives_way
        {
            // A tenth of what others have.
            match place.version {
                CgroupVersion::V1 => write(&place.path, "cpu.shares", "102")?,
                CgroupVersion::V2 => write(&place.path, "cpu.weight", "10")?,
            }
        }
        Ok(())
    }

    fn freeze(&self, still: bool) -> io::Result<()> {
        let place = self.freezer.as_ref();
        let place = place.ok_or_else(|| io::Error::other("there is no freezer"))?;
        let (file, word) = place.version.freezes(still);
        write(&place.path, file, word)
    }

    pub(crate) fn kill(&self) -> io::Result<()> {
        if let Some(folder) = &self.unified
            && folder.join("cgroup.kill").exists()
        {
            write(folder, "cgroup.kill", "1")?;
        } else {
            self.kill_each()?;
        }
        // What is frozen by version 1 does not end.
        if self.freezer.is_some() {
            self.freeze(false)?;
        }
        Ok(())
    }

    /// The cgroup inside of that for memory in which a program is as soon as it may know a secret.
    fn play(&self) -> Option<ControllerFolder> {
        let place = self.memory.as_ref()?;
        let path = place.path.join(PLAY);
        path.is_dir().then_some(ControllerFolder {
            version: place.version,
            path,
        })
    }

    /// From now on what is charged for memory, the files among it that are read for the first
    /// time, is charged apart from what was before.
    fn begin_to_play(&self) -> io::Result<()> {
        /// While it starts processes as fast as it can, some are missed each time.
        const ROUNDS: usize = 1000;
        let Some(place) = &self.memory else {
            return Ok(());
        };
        let play = place.path.join(PLAY);
        fs::create_dir(&play)?;
        for _ in 0..ROUNDS {
            let outside = processes(&place.path)?;
            if outside.is_empty() {
                if place.version == CgroupVersion::V2 {
                    write(&place.path, "cgroup.subtree_control", "+memory")?;
                }
                return Ok(());
            }
            for process in outside {
                match try_write(&play, "cgroup.procs", &process.to_string()) {
                    // It has ended.
                    Err(error) if is_one_of(&error, &[Errno::ESRCH]) => {}
                    other => other?,
                }
            }
        }
        Err(io::Error::other("it starts processes without end"))
    }

    /// Drops from memory what its processes were the first to read since it plays. They have
    /// ended.
    fn forget_what_was_read(&self) -> io::Result<()> {
        /// The system passes over what somebody reads just then.
        const ROUNDS: usize = 3;
        let Some(ControllerFolder { version, path }) = self.play() else {
            return Ok(());
        };
        for _ in 0..ROUNDS {
            // Not `memory.stat`, which may be seconds old.
            let (usage, drop) = match version {
                CgroupVersion::V1 => ("memory.usage_in_bytes", "memory.force_empty"),
                CgroupVersion::V2 => ("memory.current", "memory.reclaim"),
            };
            let usage = fs::read_to_string(path.join(usage))?;
            let bytes = usage.trim();
            if bytes == "0" {
                break;
            }
            match try_write(&path, drop, bytes) {
                // What is left can't be dropped now.
                Err(error) if is_one_of(&error, &[Errno::EAGAIN, Errno::EBUSY]) => {}
                other => other?,
            }
        }
        Ok(())
    }

    /// Kills what is listed until nothing is. While all are frozen none can start another
    /// one, nor end and leave its number to a stranger.
    fn kill_each(&self) -> io::Result<()> {
        let deadline = Instant::now() + REMOVAL;
        loop {
            if self.freezer.is_some() {
                self.freeze(true)?;
                self.wait_until_frozen();
            }
            let listed = self.processes()?;
            for process in &listed {
                let _ = kill(*process, Signal::SIGKILL);
            }
            if self.freezer.is_some() {
                self.freeze(false)?;
            }
            if listed.is_empty() || Instant::now() > deadline {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn wait_until_frozen(&self) {
        let Some(place) = &self.freezer else {
            return;
        };
        let (file, word) = match place.version {
            CgroupVersion::V1 => ("freezer.state", "FROZEN"),
            CgroupVersion::V2 => ("cgroup.events", "frozen 1"),
        };
        for _ in 0..100 {
            let state = fs::read_to_string(place.path.join(file)).unwrap_or_default();
            if state.lines().any(|line| line == word) {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// All its processes, each once.
    fn processes(&self) -> io::Result<BTreeSet<Pid>> {
        let play = self.play();
        let folders = self.all().into_iter().map(Path::to_owned);
        let folders = folders.chain(play.map(|place| place.path));
        let mut all = BTreeSet::new();
        for folder in folders {
            all.extend(processes(&folder)?);
        }
        Ok(all)
    }

    /// Removes it when its processes, which were killed, have ended; and before that what they
    /// have read from memory.
    pub(crate) fn remove(&self) -> io::Result<()> {
        let deadline = Instant::now() + REMOVAL;
        let play = self.play().map(|place| place.path);
        if let Some(play) = &play {
            while !processes(play)?.is_empty() && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(1));
            }
            self.forget_what_was_read()?;
        }
        for folder in play.as_deref().into_iter().chain(self.all()) {
            loop {
                match fs::remove_dir(folder) {
                    Ok(()) => break,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                    Err(error) if Instant::now() > deadline => return Err(error),
                    Err(_) => thread::sleep(Duration::from_millis(1)),
                }
            }
        }
        Ok(())
    }
}

/// The cgroup of one program. A clone is the same cgroup.
#[derive(Clone, Debug)]
pub struct Cgroup {
    pub(crate) folders: CgroupFolders,
    /// True if what its processes have read is to be dropped from memory.
    drops_pages: bool,
}

impl Cgroup {
    /// Makes one with its limits.
    pub(crate) fn create(
        base: &CgroupBase,
        limits: &ResourceLimits,
        walls: &BTreeSet<Wall>,
    ) -> io::Result<Self> {
        let name = base.next_name();
        let folders = base.folders.each(|folder| folder.join(&name));
        let drops_pages = walls.contains(&Wall::PageCache);
        let cgroup = Self {
            folders,
            drops_pages,
        };
        let made = cgroup
            .folders
            .all()
            .into_iter()
            .try_for_each(fs::create_dir)
            .and_then(|()| cgroup.folders.limit(limits, walls));
        if let Err(error) = made {
            let _ = cgroup.folders.remove();
            return Err(error);
        }
        Ok(cgroup)
    }

    /// The cgroup of a process that somebody else has started, a container's for instance. It
    /// is theirs: it can be looked at and held still, and is not to be killed or removed.
    ///
    /// # Errors
    /// Where the process has ended.
    pub fn of_process(process: u32) -> io::Result<Self> {
        let folders = base::folders_of(process)?;
        Ok(Self {
            folders,
            drops_pages: false,
        })
    }

    /// Says that its program may know secrets from now on. What it is the first to read of the
    /// machine's files is dropped from memory when it has ended ([`Wall::PageCache`]), so that
    /// nobody can tell by how long a read takes what it has read. Whatever it needs to start stays
    /// there, for the next one.
    ///
    /// # Errors
    /// Where it starts processes without end, or the cgroup is gone.
    pub fn begin_to_play(&self) -> io::Result<()> {
        if self.drops_pages {
            self.folders.begin_to_play()?;
        }
        Ok(())
    }

    /// The freezer that holds it still, ready for use: it needs nothing of this process any more.
    ///
    /// # Errors
    /// Where there is no freezer ([`Wall::Freezer`]), the program has ended, or this process
    /// may not open another file.
    pub fn freezer(&self) -> io::Result<Freezer> {
        let place = self.folders.freezer.as_ref();
        let place = place.ok_or_else(|| io::Error::other("there is no freezer"))?;
        let (file, _) = place.version.freezes(true);
        let file = fs::OpenOptions::new()
            .write(true)
            .open(place.path.join(file))?;
        Ok(Freezer {
            file,
            version: place.version,
        })
    }

    /// True if it can be held still.
    #[must_use]
    pub fn has_freezer(&self) -> bool {
        self.folders.freezer.is_some()
    }

    /// Holds all its processes still. They may run on for an instant after this returns.
    ///
    /// # Errors
    /// Where there is no freezer ([`Wall::Freezer`]) or the program has ended.
    pub fn freeze(&self) -> io::Result<()> {
        self.folders.freeze(true)
    }

    /// Lets its processes go on.
    ///
    /// # Errors
    /// Where there is no freezer ([`Wall::Freezer`]) or the program has ended.
    pub fn thaw(&self) -> io::Result<()> {
        self.folders.freeze(false)
    }

    /// Kills all its processes, also those that are frozen.
    ///
    /// # Errors
    /// Where the cgroup is gone.
    pub fn kill(&self) -> io::Result<()> {
        self.folders.kill()
    }

    /// The most memory that it had at one time, in bytes, shared memory and files that it
    /// read included. Nothing where it is not counted.
    #[must_use]
    pub fn memory_peak(&self) -> Option<u64> {
        let place = self.folders.memory.as_ref()?;
        let file = match place.version {
            CgroupVersion::V1 => "memory.max_usage_in_bytes",
            CgroupVersion::V2 => "memory.peak",
        };
        let text = fs::read_to_string(place.path.join(file)).ok()?;
        text.trim().parse().ok()
    }

    /// The shared memory that it has now, in bytes: of files in memory and of memory that
    /// processes share. Nothing where it is not counted.
    ///
    /// # Errors
    /// It could not be asked for: the cgroup is gone, or this process may not open another
    /// file.
    pub fn shared_memory(&self) -> io::Result<Option<u64>> {
        let Some(place) = &self.folders.memory else {
            return Ok(None);
        };
        let text = fs::read_to_string(place.path.join("memory.stat"))?;
        // With what is in cgroups below.
        Ok(match place.version {
            CgroupVersion::V1 => number_of(&text, "total_shmem "),
            CgroupVersion::V2 => number_of(&text, "shmem "),
        })
    }

    /// The count of its processes that the system kills for memory, ready for use: it needs nothing
    /// of this process any more. Open it again after [`begin_to_play`](Self::begin_to_play).
    ///
    /// # Errors
    /// As for [`shared_memory`](Self::shared_memory).
    pub fn memory_kills(&self) -> io::Result<MemoryKills> {
        let (memory, play) = (self.folders.memory.clone(), self.folders.play());
        let file = |place: ControllerFolder| {
            let file = match place.version {
                // It counts each process where it was.
                CgroupVersion::V1 => "memory.oom_control",
                CgroupVersion::V2 => "memory.events",
            };
            File::open(place.path.join(file))
        };
        let play = play.filter(|place| place.version == CgroupVersion::V1);
        let files = memory.into_iter().chain(play).map(file);
        let files = files.collect::<io::Result<_>>()?;
        Ok(MemoryKills { files })
    }

    /// Number of processes and threads that the system has refused it since there were too many.
    /// Nothing where they are not counted, or the system does not say it.
    #[must_use]
    pub fn refused_processes(&self) -> Option<u64> {
        let place = self.folders.processes.as_ref()?;
        let text = fs::read_to_string(place.path.join("pids.events")).ok()?;
        number_of(&text, "max ")
    }

    /// Removes it. Waits some seconds for processes that were killed.
    ///
    /// # Errors
    /// Where processes are left after that.
    pub fn remove(&self) -> io::Result<()> {
        self.folders.remove()
    }
}

/// Counts the processes of a cgroup that the system has killed for memory.
#[derive(Debug)]
pub struct MemoryKills {
    files: Vec<File>,
}

impl MemoryKills {
    /// Counts those of the container that this process is in: of the cgroup that it sees as the root.
    /// None where the system does not say it.
    #[must_use]
    pub fn of_this_container() -> Option<Self> {
        const FILES: [&str; 2] = [
            "/sys/fs/cgroup/memory.events",
            "/sys/fs/cgroup/memory/memory.oom_control",
        ];
        let file = FILES.iter().find_map(|file| File::open(file).ok())?;
        Some(Self { files: vec![file] })
    }

    /// Number of processes so far. Each is counted before anybody can see that it has ended.
    ///
    /// # Errors
    /// Where the cgroup is gone.
    pub fn count(&self) -> io::Result<u64> {
        // A few lines of a word and a number.
        let mut text = [0; 1024];
        let counts = self.files.iter().map(|file| {
            let read = file.read_at(&mut text, 0)?;
            let text = String::from_utf8_lossy(&text[..read]);
            Ok(number_of(&text, "oom_kill ").unwrap_or(0))
        });
        counts.sum()
    }
}

/// Holds all processes of a cgroup still. Its file is open, so that a process that is held can
/// always be let go.
#[derive(Debug)]
pub struct Freezer {
    file: File,
    version: CgroupVersion,
}

impl Freezer {
    /// As [`Cgroup::freeze`].
    ///
    /// # Errors
    /// Where the program has ended.
    pub fn freeze(&self) -> io::Result<()> {
        self.set(true)
    }

    /// As [`Cgroup::thaw`].
    ///
    /// # Errors
    /// Where the program has ended.
    pub fn thaw(&self) -> io::Result<()> {
        self.set(false)
    }

    fn set(&self, still: bool) -> io::Result<()> {
        let (_, word) = self.version.freezes(still);
        self.file.write_all_at(word.as_bytes(), 0)
    }
}

impl CgroupVersion {
    /// The file that holds a cgroup still or lets it go, and what to write into it.
    const fn freezes(self, still: bool) -> (&'static str, &'static str) {
        match (self, still) {
            (Self::V1, true) => ("freezer.state", "FROZEN"),
            (Self::V1, false) => ("freezer.state", "THAWED"),
            (Self::V2, true) => ("cgroup.freeze", "1"),
            (Self::V2, false) => ("cgroup.freeze", "0"),
        }
    }
}

/// The number after a word at the beginning of a line.
fn number_of(text: &str, word: &str) -> Option<u64> {
    let mut lines = text.lines();
    lines.find_map(|line| line.strip_prefix(word))?.parse().ok()
}

fn processes(folder: &Path) -> io::Result<Vec<Pid>> {
    let text = match fs::read_to_string(folder.join("cgroup.procs")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text?,
    };
    let numbers = text.lines().filter_map(|line| line.parse::<i32>().ok());
    // Those of another pid namespace are listed as 0, which would be our own group.
    Ok(numbers.filter(|pid| *pid > 0).map(Pid::from_raw).collect())
}

fn write_if_there(folder: &Path, file: &str, text: &str) -> io::Result<()> {
    if folder.join(file).exists() {
        write(folder, file, text)?;
    }
    Ok(())
}

/// Writes into a file that the kernel has made.
fn write(folder: &Path, file: &str, text: &str) -> io::Result<()> {
    try_write(folder, file, text).map_err(|error| {
        let path = folder.join(file);
        let path = path.display();
        io::Error::new(
            error.kind(),
            format!("could not write \"{text}\" to {path}: {error}"),
        )
    })
}

/// The same with the system's own error.
fn try_write(folder: &Path, file: &str, text: &str) -> io::Result<()> {
    let mut opened = fs::OpenOptions::new().write(true).open(folder.join(file))?;
    io::Write::write_all(&mut opened, text.as_bytes())
}

fn is_one_of(error: &io::Error, codes: &[Errno]) -> bool {
    let code = error.raw_os_error().map(Errno::from_raw);
    code.is_some_and(|code| codes.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with files as version 2 has them. This machine need not have it.
    fn version_2(files: &[&str]) -> (tempfile::TempDir, CgroupFolders) {
        let folder = tempfile::tempdir().expect("a folder");
        for file in files {
            fs::write(folder.path().join(file), "").expect("a file");
        }
        let place = Some(ControllerFolder {
            version: CgroupVersion::V2,
            path: folder.path().to_owned(),
        });
        let folders = CgroupFolders {
            memory: place.clone(),
            processes: place.clone(),
            cpu: place.clone(),
            freezer: place,
            unified: Some(folder.path().to_owned()),
        };
        (folder, folders)
    }

    #[test]
    fn version_2_has_its_limits_in_its_own_words() {
        let files = [
            "memory.max",
            "memory.swap.max",
            "pids.max",
            "cpu.max",
            "cpu.weight",
        ];
        let (folder, folders) = version_2(&files);
        let limits = ResourceLimits {
            memory: Some(1 << 30),
            processes: Some(100),
            cpu_percent: Some(150),
            gives_way: true,
            ..ResourceLimits::default()
        };
        let all = Wall::ALL.into_iter().collect();
        folders.limit(&limits, &all).expect("all files are there");
        let text = |file: &&str| fs::read_to_string(folder.path().join(file)).expect("it is");
        let written: Vec<String> = files.iter().map(text).collect();
        assert_eq!(written, ["1073741824", "0", "104", "150000 100000", "10"]);
    }

    #[test]
    fn version_2_freezes_and_kills() {
        let (folder, folders) = version_2(&["cgroup.freeze", "cgroup.kill", "cgroup.procs"]);
        let text = |file| fs::read_to_string(folder.path().join(file)).expect("it is there");
        folders.freeze(true).expect("the file is there");
        assert_eq!(text("cgroup.freeze"), "1");
        let freezer = Cgroup {
            drops_pages: false,
            folders: folders.clone(),
        }
        .freezer();
        let freezer = freezer.expect("the file is there");
        freezer.thaw().expect("the file is open");
        assert_eq!(text("cgroup.freeze"), "0");
        freezer.freeze().expect("the file is open");
        assert_eq!(text("cgroup.freeze"), "1");
        folders.add(4711).expect("the file is there");
        assert_eq!(text("cgroup.procs"), "4711");
        folders.kill().expect("the file is there");
        assert_eq!(text("cgroup.kill"), "1");
        assert_eq!(text("cgroup.freeze"), "0");
    }

    #[test]
    fn what_version_2_says_of_memory_is_read() {
        let (folder, folders) = version_2(&[]);
        let cgroup = Cgroup {
            folders,
            drops_pages: false,
        };
        assert_eq!(cgroup.memory_peak(), None);
        // What is not there says nothing.
        cgroup.memory_kills().unwrap_err();
        cgroup.shared_memory().unwrap_err();
        let events = folder.path().join("memory.events");
        fs::write(&events, "max 7\noom 1\noom_kill 0\noom_group_kill 0\n").expect("a file");
        let kills = cgroup.memory_kills().expect("the file is there");
        assert_eq!(kills.count().expect("the file is open"), 0);
        fs::write(&events, "max 7\noom 1\noom_kill 2\n").expect("a file");
        assert_eq!(kills.count().expect("the file is open"), 2);
        fs::write(folder.path().join("memory.peak"), "123456\n").expect("a file");
        assert_eq!(cgroup.memory_peak(), Some(123_456));
    }
}
