//! A folder with a store, and the real program in it.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use nix::{
    sys::{
        resource::{Resource, getrlimit, setrlimit},
        signal::{Signal, kill},
    },
    unistd::{Pid, SysconfVar, sysconf},
};

/// A folder with a store.
pub(crate) struct Site {
    folder: tempfile::TempDir,
    store: Option<String>,
}

/// `arena serve`. It is killed when this is dropped.
pub(crate) struct Serving {
    process: Child,
    url: String,
    page: String,
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
    pub(crate) fn file(&mut self, name: &str, game: &str, games: u64) {
        let text = format!(
            "game = \"{game}\"\nshape = \"round-robin\"\ndeals = {}\n\
             [[bots]]\nname = \"a\"\nbot = \"house:random\"\n\
             [[bots]]\nname = \"b\"\nbot = \"house:random\"\n",
            games / 2
        );
        fs::write(self.path(&format!("{name}.toml")), text).expect("a file");
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_arena"));
        command
            .args(line.split_whitespace())
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

    /// The same, and what it prints.
    pub(crate) fn read(&self, line: &str) -> String {
        let said = self.command(line).stdout(Stdio::piped()).output();
        let said = said.expect("arena runs");
        assert!(said.status.success(), "{line}");
        String::from_utf8_lossy(&said.stdout).into_owned()
    }

    /// Runs the program to its end, which is sent this signal after a while. False where it was.
    pub(crate) fn run_for(&self, line: &str, ends: Option<(Duration, Signal)>) -> bool {
        let mut process = self.command(line).spawn().expect("arena runs");
        let began = Instant::now();
        while let Some((after, signal)) = ends {
            if process.try_wait().expect("it is ours").is_some() {
                break;
            }
            if began.elapsed() >= after {
                send(&process, signal);
                process.wait().expect("it ends");
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        process.wait().expect("it ends").success()
    }

    /// Starts `arena serve`, which lets every worker in.
    pub(crate) fn serve(&self, more: &str) -> Serving {
        let line = format!("serve --listen 127.0.0.1:0 --open {more}");
        let process = self.command(&line).stderr(Stdio::piped()).spawn();
        let mut serving = Serving {
            process: process.expect("arena runs"),
            url: String::new(),
            page: String::new(),
        };
        let said = serving.process.stderr.take().expect("it is piped");
        let mut said = BufReader::new(said).lines();
        while serving.url.is_empty() {
            let line = said.next().expect("it says where it listens");
            let line = line.expect("text");
            if let Some((_, at)) = line.split_once("the web page is at http://") {
                at.trim_end_matches('/').clone_into(&mut serving.page);
            }
            if let Some((_, rest)) = line.split_once("--arena ") {
                let url = rest.split(['`', ' ']).next().expect("a URL");
                url.clone_into(&mut serving.url);
            }
        }
        // What else it says is read, or it would wait one day.
        std::thread::spawn(move || said.for_each(drop));
        serving
    }
}

impl Serving {
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Address of its page; empty where it has none.
    pub(crate) fn page(&self) -> &str {
        &self.page
    }

    /// CPU time that it has taken.
    pub(crate) fn cpu(&self) -> Duration {
        times(&self.place().join("stat"))[0]
    }

    /// CPU time of its children that have ended.
    pub(crate) fn cpu_of_children(&self) -> Duration {
        times(&self.place().join("stat"))[1]
    }

    /// CPU time of its threads by their names.
    pub(crate) fn cpu_by_threads(&self) -> BTreeMap<String, Duration> {
        let mut by_name: BTreeMap<String, Duration> = BTreeMap::new();
        let threads = fs::read_dir(self.place().join("task"));
        for thread in threads.into_iter().flatten().flatten() {
            let name = fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
            let of_name = by_name.entry(name.trim_end().to_owned()).or_default();
            *of_name += times(&thread.path().join("stat"))[0];
        }
        by_name
    }

    /// Memory of its own, in KiB.
    pub(crate) fn memory(&self) -> u64 {
        let status = fs::read_to_string(self.place().join("status")).unwrap_or_default();
        let mut lines = status.lines();
        let line = lines.find_map(|line| line.strip_prefix("RssAnon:"));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
            .unwrap_or_default()
    }

    fn place(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}", self.process.id()))
    }

    /// Asks it to end, and waits until it has.
    pub(crate) fn stop(mut self) {
        send(&self.process, Signal::SIGTERM);
        self.process.wait().expect("it ends");
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn send(process: &Child, signal: Signal) {
    let id = Pid::from_raw(process.id().cast_signed());
    kill(id, signal).expect("it is there");
}

/// CPU time that this process has taken: that of the clients.
pub(crate) fn cpu_of_clients() -> Duration {
    times(Path::new("/proc/self/stat"))[0]
}

/// CPU time of a process or thread, and of the children of a process that have ended, as its file
/// `stat` has it.
fn times(stat: &Path) -> [Duration; 2] {
    let stat = fs::read_to_string(stat).unwrap_or_default();
    // The name, which may contain anything, ends with the last parenthesis.
    let after = stat.rsplit(") ").next().unwrap_or_default();
    let ticks = after.split(' ').skip(11).take(4);
    let ticks: Vec<u64> = ticks.filter_map(|ticks| ticks.parse().ok()).collect();
    let each = sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100);
    let time =
        |ticks: &[u64]| Duration::from_secs_f64(ticks.iter().sum::<u64>() as f64 / each as f64);
    match &ticks[..] {
        [user, system, of_children @ ..] => [time(&[*user, *system]), time(of_children)],
        _ => [Duration::ZERO; 2],
    }
}

/// A connection is a file of this process, and one of the arena's.
pub(crate) fn allow_many_files() {
    if let Ok((_, most)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, most, most);
    }
}
