//! A folder with a store, and the real program in it.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use nix::{
    sys::{
        resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit},
        signal::{Signal, kill},
    },
    unistd::{Pid, SysconfVar, sysconf},
};

/// A folder with a store.
pub(crate) struct Site {
    folder: tempfile::TempDir,
    store: Option<String>,
}

/// `arena serve`.
pub(crate) struct Serving {
    process: Child,
    url: String,
}

impl Site {
    /// A new folder. The store is a file in it where no other is given.
    pub(crate) fn new(store: Option<String>) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        Self { folder, store }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A tournament of two bots that are done in a moment.
    pub(crate) fn file(&mut self, name: &str, games: u64) {
        let text = format!(
            "game = \"connect-four\"\nshape = \"round-robin\"\ndeals = {}\n\
             [[bots]]\nname = \"a\"\nbot = \"house:random\"\n\
             [[bots]]\nname = \"b\"\nbot = \"house:random\"\n",
            games / 2
        );
        fs::write(self.path(&format!("{name}.toml")), text).expect("a file");
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_arena"));
        command
            .args(line.split(' '))
            .current_dir(self.folder.path())
            .env("ARENA_CACHE", self.path("cache"))
            .env_remove("ARENA_STORE")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if let Some(store) = &self.store {
            command.env("ARENA_STORE", store);
        }
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, line: &str) {
        let status = self.command(line).status();
        assert!(status.expect("arena runs").success(), "{line}");
    }

    /// Starts `arena serve`, which plays nothing itself.
    pub(crate) fn serve(&self, more: &str) -> Serving {
        let line = format!("serve --listen 127.0.0.1:0 --open --concurrency 0 {more}");
        let mut process = self
            .command(line.trim_end())
            .stderr(Stdio::piped())
            .spawn()
            .expect("arena runs");
        let said = process.stderr.take().expect("it is piped");
        let mut said = BufReader::new(said).lines();
        let url = loop {
            let line = said.next().expect("it says where it listens");
            let line = line.expect("text");
            if let Some((_, rest)) = line.split_once("--arena ") {
                let url = rest.split(['`', ' ']).next().expect("a URL");
                break url.to_owned();
            }
        };
        // What else it says is read, or it would wait one day.
        std::thread::spawn(move || said.for_each(drop));
        Serving { process, url }
    }
}

impl Serving {
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// CPU time that it has taken.
    pub(crate) fn cpu(&self) -> Duration {
        let path = format!("/proc/{}/stat", self.process.id());
        let stat = fs::read_to_string(path).unwrap_or_default();
        // The name, which may contain anything, ends with the last parenthesis.
        let after = stat.rsplit(") ").next().unwrap_or_default();
        let ticks = after.split(' ').skip(11).take(2);
        let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
        let each = sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100);
        Duration::from_secs_f64(ticks as f64 / each as f64)
    }

    /// Memory of its own, in KiB.
    pub(crate) fn memory(&self) -> u64 {
        let path = format!("/proc/{}/status", self.process.id());
        let status = fs::read_to_string(path).unwrap_or_default();
        let mut lines = status.lines();
        let line = lines.find_map(|line| line.strip_prefix("RssAnon:"));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
            .unwrap_or_default()
    }

    pub(crate) fn stop(mut self) {
        let id = Pid::from_raw(self.process.id().cast_signed());
        kill(id, Signal::SIGTERM).expect("it is there");
        self.process.wait().expect("it ends");
    }
}

/// CPU time that all processes that have ended took.
pub(crate) fn children() -> Duration {
    used(UsageWho::RUSAGE_CHILDREN)
}

/// CPU time that this process has taken.
pub(crate) fn own() -> Duration {
    used(UsageWho::RUSAGE_SELF)
}

fn used(who: UsageWho) -> Duration {
    let usage = getrusage(who).expect("usage is there");
    let part = |time: nix::sys::time::TimeVal| {
        Duration::new(time.tv_sec() as u64, 1000 * time.tv_usec() as u32)
    };
    part(usage.user_time()) + part(usage.system_time())
}

/// A connection of a worker is a file of this process, and one of the arena's.
pub(crate) fn allow_many_files() {
    if let Ok((_, most)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, most, most);
    }
}

/// Number of bytes of the store in this folder, with the files beside it.
pub(crate) fn bytes(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).expect("the folder").flatten();
    let stored = files.filter(|file| {
        let name = file.file_name();
        name.to_string_lossy().starts_with("arena.sqlite")
    });
    stored
        .filter_map(|file| file.metadata().ok())
        .map(|about| about.len())
        .sum()
}
