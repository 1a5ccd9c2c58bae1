//! Tests of `referee host`: what it takes, and what it becomes.
#![allow(clippy::disallowed_methods, reason = "a test")]
#![expect(clippy::unwrap_used, reason = "this is how a test fails")]

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command},
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use referee::{Address, BotDial, BotPresence, HostedBot};
use referee_bots::{PackedSpec, archive::pack_folder};
use tempfile::TempDir;

/// Far more than anything here takes.
const AMPLE: Duration = Duration::from_secs(60);

/// A folder for a host, and the file in which its bot says how often it was started.
struct HostFolder {
    folder: TempDir,
}

impl HostFolder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn address(&self) -> Address {
        Address::Unix(self.path("bot.sock"))
    }

    fn start(&self) -> Running {
        let started = Command::new(env!("CARGO_BIN_EXE_referee"))
            .arg("host")
            .env("BOT_LISTEN", self.address().to_string())
            .env("ARENA_CACHE", self.path("cache"))
            .env("STARTS", self.path("starts"))
            .spawn();
        Running(started.unwrap())
    }

    fn starts(&self) -> usize {
        let starts = fs::read_to_string(self.path("starts"));
        starts.map_or(0, |starts| starts.lines().count())
    }
}

/// A process that is killed if it still runs.
struct Running(Child);

impl Running {
    fn ends_well(mut self) {
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn answers(address: &Address) {
    let began = Instant::now();
    while BotDial::default().presence(address, AMPLE).await != BotPresence::Answering {
        assert!(began.elapsed() < AMPLE, "{address} does not answer");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A bot that says that it was started, in the folder that it was started in, and ends.
fn script(folder: &Path) -> HostedBot {
    fs::create_dir(folder).unwrap();
    let program = folder.join("bot");
    fs::write(&program, "#!/bin/sh\ncat words >>\"$STARTS\"\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.join("words"), "started\n").unwrap();
    let packed = pack_folder(folder).unwrap();
    let spec = PackedSpec::new(packed.hash, Vec::new(), "exec:./bot".to_owned());
    HostedBot {
        spec: spec.to_string(),
        archive: packed.bytes.into(),
    }
}

#[tokio::test]
async fn a_host_refuses_what_is_no_packed_bot_and_becomes_what_is_one_again_and_again() {
    let folder = HostFolder::new();
    let bot = script(&folder.path("bot"));
    let host = folder.start();
    let (address, dial) = (folder.address(), BotDial::default());
    answers(&address).await;
    for (wrong, says) in [
        ("exec:./bot".to_owned(), "expected packed:HASH:SPEC"),
        ("packed:1:exec:./bot".to_owned(), "after packed:"),
        (bot.spec.clone(), "archive"),
    ] {
        let wrong = HostedBot {
            spec: wrong,
            archive: b"none".to_vec().into(),
        };
        let refused = dial.hand_over(&address, wrong, Duration::ZERO).await;
        let why = refused.unwrap_err().to_string();
        assert!(why.contains(says) && why.contains("host at unix:"), "{why}");
        // It waits on.
        answers(&address).await;
    }
    assert_eq!(folder.starts(), 0);
    dial.hand_over(&address, bot, Duration::ZERO).await.unwrap();
    host.ends_well();
    assert_eq!(folder.starts(), 1);
    // The container is started again, with its files: nobody hands anything over.
    folder.start().ends_well();
    assert_eq!(folder.starts(), 2);
}

#[tokio::test]
async fn a_host_that_is_told_to_end_leaves_no_socket() {
    let folder = HostFolder::new();
    let host = folder.start();
    answers(&folder.address()).await;
    let process = Pid::from_raw(host.0.id().cast_signed());
    kill(process, Signal::SIGTERM).unwrap();
    host.ends_well();
    assert!(!folder.path("bot.sock").exists());
}

#[test]
fn a_host_removes_no_file_that_is_no_socket() {
    let folder = HostFolder::new();
    fs::write(folder.path("bot.sock"), "mine").unwrap();
    let mut host = folder.start();
    assert!(!host.0.wait().unwrap().success());
    assert_eq!(fs::read_to_string(folder.path("bot.sock")).unwrap(), "mine");
}

#[test]
fn a_host_listens_without_tls_and_says_what_has_it() {
    let said = Command::new(env!("CARGO_BIN_EXE_referee"))
        .args(["host", "--listen", "grpcs://127.0.0.1:1", "--cache"])
        .arg(HostFolder::new().path("cache"))
        .output()
        .unwrap();
    assert_eq!(said.status.code(), Some(2));
    let why = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(why.contains("`referee gate` has TLS"), "{why}");
}
