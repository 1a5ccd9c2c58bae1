//! A shortage of ours costs no bot a game, and nobody waits for a bot that is somebody else's.

use std::{env, fs::File, process::Command, sync::Arc, time::Duration};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use referee::{ConnectError, Live, Probe};
use referee_core::FoulKind;

use crate::{sandboxes, vocabulary::*};

/// Plays in a process of its own: the limit of open files is the whole process's.
fn alone(name: &str, playing: impl Future<Output = ()>) {
    const ALONE: &str = "VILLAINS_ALONE";
    if env::var_os(ALONE).is_some() {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        return runtime.enable_all().build().unwrap().block_on(playing);
    }
    let alone = Command::new(env::current_exe().unwrap())
        .args(["--exact", &format!("shortages::{name}"), "--nocapture"])
        .env(ALONE, "1")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&alone.stdout);
    let complained = String::from_utf8_lossy(&alone.stderr);
    assert!(alone.status.success(), "{printed}{complained}");
    assert!(printed.contains("1 passed"), "{printed}");
}

/// As long as this is kept, this process may open so many files more and no others.
struct Starved {
    _files: Vec<File>,
    before: (u64, u64),
}

impl Starved {
    fn to(free: usize) -> Self {
        let before = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        let last = std::fs::read_dir("/proc/self/fd").unwrap();
        let numbers = last.map(|one| one.unwrap().file_name().to_str().unwrap().parse().unwrap());
        let last: u64 = numbers.max().unwrap();
        let limit = last + 1 + free as u64;
        setrlimit(Resource::RLIMIT_NOFILE, limit, before.1).unwrap();
        let mut files: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
        files.truncate(files.len() - free);
        let _files = files;
        Self { _files, before }
    }
}

impl Drop for Starved {
    fn drop(&mut self) {
        let (soft, hard) = self.before;
        setrlimit(Resource::RLIMIT_NOFILE, soft, hard).unwrap();
    }
}

/// Long enough that whoever gives up soon has given up.
const WHILE: Duration = Duration::from_millis(300);

#[test]
fn a_game_waits_for_open_files() {
    alone("a_game_waits_for_open_files", async {
        let arena = Arena::alone(1).await;
        let game = game(0, &bot("honest"), &bot("honest"));
        // Not enough for the pipes of one process.
        let starved = Starved::to(0);
        let more_files = async {
            tokio::time::sleep(WHILE).await;
            drop(starved);
        };
        let (record, ()) = tokio::join!(arena.play(game), more_files);
        played_out(&record);
    });
}

#[test]
fn nobody_is_accused_of_what_could_not_be_asked_for() {
    alone("nobody_is_accused_of_what_could_not_be_asked_for", async {
        let honest = Arc::new(launch("honest").start().await.unwrap());
        let mut lacking = 0;
        // For a connection, and for what is read to know whose it is.
        for free in 0..6 {
            let starved = Starved::to(free);
            match Probe::of(honest.clone(), AMPLE).await {
                Ok(_) => {}
                Err(ConnectError::Shortage(shortage)) => {
                    lacking += 1;
                    let said = shortage.to_string();
                    assert!(said.contains("ulimit -n"), "{said}");
                }
                Err(ConnectError::Failed(why)) => panic!("with {free} files: {why}"),
            }
            drop(starved);
        }
        assert!((1..6).contains(&lacking), "{lacking}");
    });
}

#[test]
fn memory_is_measured_again_when_there_are_files_again() {
    alone(
        "memory_is_measured_again_when_there_are_files_again",
        async {
            const ALLOWED: u64 = 32 << 20;
            let arena = Arena::alone(1).await;
            let mut launch = launch("memory --megabytes 256");
            launch.memory.limit = Some(ALLOWED);
            let mut game = game(0, &started_as(launch), &bot("honest"));
            let mut seen = watched(&mut game);
            let no_files = async {
                assert_eq!(seen.recv().await, Some(Live::Started));
                let starved = Starved::to(0);
                tokio::time::sleep(WHILE).await;
                drop(starved);
            };
            let (record, ()) = tokio::join!(arena.play(game), no_files);
            lost_by(&record, FIRST, FoulKind::MemoryExceeded, &[]);
        },
    );
}

#[test]
fn a_bot_that_is_held_still_is_let_go_without_a_file() {
    alone("a_bot_that_is_held_still_is_let_go_without_a_file", async {
        let arena = Arena::alone(1).await;
        // Each is held still at every move of the other.
        let bots = [0, 1].map(|_| sandboxes::sandboxed("slow --delay 20ms"));
        let mut game = game(0, &bots[0], &bots[1]);
        game.fixture.limits.per_move = Duration::from_secs(5);
        let mut seen = watched(&mut game);
        let no_files = async {
            assert_eq!(seen.recv().await, Some(Live::Started));
            let _starved = Starved::to(0);
            while seen.recv().await.is_some() {}
        };
        let (record, ()) = tokio::join!(arena.play(game), no_files);
        played_out(&record);
    });
}

#[tokio::test]
async fn a_game_that_waits_for_one_bot_keeps_no_place_of_another() {
    let arena = Arena::new().await;
    // The first in the order in which slots are taken.
    let victim = bot("honest --max-games 1");
    let silent = bot("silent");
    let honest = bot("honest");
    // Its process has said how many games it can play.
    played_out(&arena.play(game(0, &victim, &honest)).await);
    let blocked = arena.play(game(1, &victim, &silent));
    tokio::pin!(blocked);
    let others = async {
        for seed in 2..5 {
            played_out(&arena.play(game(seed, &victim, &honest)).await);
        }
    };
    tokio::select! {
        () = others => {}
        record = &mut blocked => panic!("{record:?}"),
    }
}
