//! Sockets that one user makes and another one connects to. Only root can become both.
#![allow(clippy::disallowed_methods, reason = "a test")]
#![expect(clippy::unwrap_used, reason = "this is how a test fails")]

use std::{
    fs::{self, Permissions},
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::{Pid, geteuid},
};
use tempfile::TempDir;

/// No wait takes nearly as long.
const FAR_TOO_LONG: Duration = Duration::from_secs(60);
const BOT: u32 = 10_100;
const REFEREE: u32 = 10_001;

/// A folder as a pod's volume is, with a program that everybody may run.
struct Pod {
    folder: TempDir,
    children: Vec<Child>,
}

impl Pod {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let open = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode));
        let program = folder.path().join("referee");
        // Not by this process: what another test starts meanwhile would hold the file open for
        // writing for a moment, and a file that is open for writing can't be executed.
        let copied = Command::new("cp")
            .arg(env!("CARGO_BIN_EXE_referee"))
            .arg(&program)
            .status();
        assert!(copied.unwrap().success());
        open(&program, 0o755).unwrap();
        fs::create_dir(folder.path().join("volume")).unwrap();
        open(&folder.path().join("volume"), 0o777).unwrap();
        open(folder.path(), 0o755).unwrap();
        Self {
            folder,
            children: Vec::new(),
        }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("volume/bot.sock")
    }

    /// The program with these words as this user, with this umask; its words go into a file.
    fn start(&mut self, user: u32, umask: &str, line: &str) -> (usize, PathBuf) {
        let program = self.folder.path().join("referee");
        let number = self.children.len();
        let log = self.folder.path().join(format!("log-{number}"));
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(format!(
                "umask {umask}; exec '{}' {line}",
                program.display()
            ))
            .uid(user)
            .gid(user)
            .current_dir("/")
            .env_clear()
            .env("HOME", self.folder.path())
            .env("PATH", "/usr/bin:/bin")
            .env("DOCKER_HOST", "unix:///there/is/none")
            .env("BOT_LISTEN", format!("unix:{}", self.socket().display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(&log).unwrap());
        self.children.push(command.spawn().unwrap());
        (number, log)
    }

    /// A referee of this user that waits so long for the bot of that user.
    fn referee(&mut self, user: u32, bot: u32, within: &str) -> PathBuf {
        let line = format!(
            "work --arena http://127.0.0.1:1 --bot-at a=unix:{},uid={bot} --bots-within {within}",
            self.socket().display()
        );
        self.start(user, "077", &line).1
    }
}

impl Drop for Pod {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn wait_until(what: &str, log: &Path, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        let said = fs::read_to_string(log).unwrap_or_default();
        assert!(began.elapsed() < FAR_TOO_LONG, "never: {what}\n{said}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn says(log: &Path, words: &str) {
    wait_until(words, log, || {
        fs::read_to_string(log).is_ok_and(|said| said.contains(words))
    });
}

#[test]
fn a_socket_of_a_bot_is_opened_for_the_referee_whenever_it_is_made() {
    if !geteuid().is_root() {
        eprintln!("skipped: only root can run processes of several users");
        return;
    }
    for umask in ["077", "022"] {
        let mut pod = Pod::new();
        let socket = pod.socket();
        let (bot, log) = pod.start(BOT, umask, "bot random");
        wait_until("the bot listens", &log, || socket.exists());
        let shut_out = pod.referee(REFEREE, BOT, "1s");
        says(&shut_out, "Permission denied");

        let (opens, log) = pod.start(BOT, "077", &format!("sockets '{}'", socket.display()));
        says(&log, "every user can connect to it now");
        let let_in = pod.referee(REFEREE, BOT, "60s");
        says(&let_in, "the bot is there");
        let betrayed = pod.referee(REFEREE, REFEREE, "1s");
        says(&betrayed, "a process of user 10100 listens there");

        // The bot crashes and is started again.
        let before = fs::metadata(&socket).unwrap().modified().unwrap();
        pod.children[bot].kill().unwrap();
        pod.children[bot].wait().unwrap();
        let (_, again) = pod.start(BOT, umask, "bot random");
        wait_until("the bot listens again", &again, || {
            fs::metadata(&socket).is_ok_and(|now| now.modified().unwrap() > before)
        });
        let let_in = pod.referee(REFEREE, BOT, "60s");
        says(&let_in, "the bot is there");

        let id = pod.children[opens].id();
        kill(Pid::from_raw(id as i32), Signal::SIGTERM).unwrap();
        let opens = &mut pod.children[opens];
        wait_until("it has ended", &log, || opens.try_wait().unwrap().is_some());
        assert_eq!(opens.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn somebody_elses_socket_is_told_once() {
    if !geteuid().is_root() {
        eprintln!("skipped: only root can run processes of several users");
        return;
    }
    let mut pod = Pod::new();
    let socket = pod.socket();
    let (_, log) = pod.start(BOT, "022", "bot random");
    wait_until("the bot listens", &log, || socket.exists());
    let (_, log) = pod.start(REFEREE, "022", &format!("sockets '{}'", socket.display()));
    says(&log, "expected a socket of this user's own");
}
