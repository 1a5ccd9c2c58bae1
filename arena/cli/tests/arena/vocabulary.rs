//! The vocabulary of the tests: an arena in a folder of its own, what it says, and bots that
//! misbehave.

use std::{
    fs,
    net::{SocketAddr, TcpListener},
    ops::Range,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::atomic::{AtomicU16, Ordering},
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use tempfile::TempDir;

/// No wait in these tests takes nearly as long; it only shows a hang.
const FAR_TOO_LONG: Duration = Duration::from_secs(180);
/// Pauses between two looks at what is waited for, at least and at most.
const LOOK_PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));
/// So many times as long as a look takes is the pause after it.
const LOOK_SHARE: u32 = 4;

pub(crate) struct Arena {
    folder: TempDir,
    walls: bool,
    /// Address of the engine of containers for programs, where they are to have one.
    engine: Option<String>,
}

/// Two bots that are done in a moment.
pub(crate) const RANDOMS: &str = "--bot a=house:random --bot b=house:random";

impl Arena {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            walls: true,
            engine: None,
        }
    }

    /// With this engine for bots in containers: `unix:///PATH`.
    pub(crate) fn with_engine(self, host: String) -> Self {
        let engine = Some(host);
        Self { engine, ..self }
    }

    /// Without walls around bots, for those that write down what the test wants to know.
    pub(crate) fn without_walls(self) -> Self {
        let walls = false;
        Self { walls, ..self }
    }

    /// `arena` with the words of this line, split as a shell would.
    pub(crate) fn command(&self, line: &str) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_arena")), line)
    }

    /// The same of another program.
    pub(crate) fn command_of(&self, program: &Path, line: &str) -> Command {
        let mut command = Command::new(program);
        command
            .args(shlex::split(line).unwrap())
            .current_dir(self.folder.path())
            .env_remove("RUST_LOG")
            // Every arena has a page of its own.
            .env("ARENA_PAGE", "127.0.0.1:0")
            .stdin(Stdio::null());
        match &self.engine {
            Some(engine) => command.env("DOCKER_HOST", engine),
            // Nobody's tests need the engine of the machine.
            None => command.env("DOCKER_HOST", "unix:///there/is/none"),
        };
        if !self.walls {
            command.env("ARENA_SANDBOX", "off");
        }
        command
    }

    pub(crate) fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    pub(crate) fn start(&self, line: &str) -> Child {
        self.command(line)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// All records of a run, by name, unpacked.
    pub(crate) fn records(&self, run: &str) -> Vec<(String, String)> {
        let mut records: Vec<_> = fs::read_dir(self.path(run))
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "zst"))
            .map(|path| {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                let text = zstd::decode_all(&fs::read(&path).unwrap()[..]).unwrap();
                (name, String::from_utf8(text).unwrap())
            })
            .collect();
        records.sort();
        records
    }
}

pub(crate) fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Output on standard error, each line in one piece.
pub(crate) fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).replace("\n    ", " ")
}

/// A record without what was measured: times, and the hash that covers them.
pub(crate) fn without_times(record: &str) -> String {
    let mut lines = Vec::new();
    for line in record.lines() {
        let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
        let object = value.as_object_mut().unwrap();
        object.remove("thought_us");
        if object["type"] == "seal" {
            object.remove("file");
        }
        lines.push(value.to_string());
    }
    lines.join("\n")
}

pub(crate) fn wait_until(what: &str, holds: impl FnMut() -> bool) {
    wait_until_or(what, String::new, holds);
}

/// The same; where it never holds, `why` is shown.
pub(crate) fn wait_until_or(what: &str, why: impl Fn() -> String, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    loop {
        let looked = Instant::now();
        if holds() {
            return;
        }
        assert!(began.elapsed() < FAR_TOO_LONG, "never: {what}\n{}", why());
        // Many looks start a process, or two. What is waited for needs the cores more.
        let pause = (LOOK_SHARE * looked.elapsed()).clamp(LOOK_PAUSES.0, LOOK_PAUSES.1);
        std::thread::sleep(pause);
    }
}

/// Processes that are alive and have this among their words.
pub(crate) fn processes_with(word: &str) -> Vec<i32> {
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let id = path.file_name()?.to_str()?.parse().ok()?;
            let words = fs::read(path.join("cmdline")).ok()?;
            let words = String::from_utf8_lossy(&words).into_owned();
            words.split('\0').any(|w| w == word).then_some(id)
        })
        .collect()
}

/// A bot that misbehaves: `villain LINE`, as `--bot` wants it.
pub(crate) fn villain(name: &str, line: &str) -> String {
    format!(
        "--bot \"{name}=exec:'{}' {line}\"",
        villain_program().display()
    )
}

pub(crate) fn villain_program() -> PathBuf {
    built_beside("villain", "villains")
}

pub(crate) fn referee_program() -> PathBuf {
    built_beside("referee", "referee-cli")
}

/// The program that `arena` becomes to serve.
pub(crate) fn serve_program() -> PathBuf {
    built_beside("arena-serve", "arena-serve")
}

pub(crate) fn xtask_program() -> PathBuf {
    built_beside("xtask", "xtask")
}

/// It is built beside the arena with the rest of the workspace.
fn built_beside(program: &str, package: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_arena")).with_file_name(program);
    assert!(
        path.exists(),
        "these tests need the program {program}: cargo build --package {package}"
    );
    path
}

/// An address at which nobody listens, on this machine. Its port is none that the system gives to
/// others meanwhile, as it may do with one that it has just chosen itself.
pub(crate) fn free_address() -> SocketAddr {
    // Below those that Linux chooses from (ip_local_port_range), and above usual ones.
    const PORTS: Range<u16> = 20_000..32_000;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Other processes of tests begin elsewhere.
    let begin = (std::process::id() * 61) as u16;
    loop {
        let at = begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % PORTS.len() as u16;
        let address = SocketAddr::from(([127, 0, 0, 1], PORTS.start + at));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
}

/// It ended well; what it printed.
pub(crate) fn done(output: &Output) -> String {
    assert!(output.status.success(), "{}{}", err(output), out(output));
    out(output)
}

/// It was asked for something that there is not, and says so.
pub(crate) fn refused(output: &Output, says: &str) {
    assert_eq!(output.status.code(), Some(2), "{}", err(output));
    assert!(
        err(output).contains(says),
        "expected {says:?} in {}",
        err(output)
    );
    assert_eq!(out(output), "");
}

/// Every line as an event.
pub(crate) fn events(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The events of this type.
pub(crate) fn of_type(events: &[Value], kind: &str) -> Vec<Value> {
    let of_type = events.iter().filter(|event| event["type"] == kind);
    of_type.cloned().collect()
}

/// A terminal of the usual width shows it without breaking a line.
pub(crate) fn fits_eighty_columns(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

/// As Ctrl-C does.
pub(crate) fn interrupt(process: &Child) {
    kill(Pid::from_raw(process.id() as i32), Signal::SIGINT).unwrap();
}
