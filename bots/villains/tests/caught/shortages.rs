//! What we lack costs no bot a game, and nobody waits for a bot that is somebody else's.

use std::{env, process::Command, time::Duration};

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::vocabulary::*;

/// The limit is the whole process's: the test plays in a process of its own.
#[test]
fn a_game_waits_for_open_files() {
    const NAME: &str = "shortages::a_game_waits_for_open_files";
    const ALONE: &str = "VILLAINS_ALONE";
    if env::var_os(ALONE).is_some() {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        return runtime.block_on(plays_with_no_file_left());
    }
    let alone = Command::new(env::current_exe().unwrap())
        .args(["--exact", NAME, "--nocapture"])
        .env(ALONE, "1")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&alone.stdout);
    let complained = String::from_utf8_lossy(&alone.stderr);
    assert!(alone.status.success(), "{printed}{complained}");
    assert!(printed.contains("1 passed"), "{printed}");
}

async fn plays_with_no_file_left() {
    let arena = Arena::alone(1).await;
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    let game = game(0, &bot("honest"), &bot("honest"));
    // Not enough for the pipes of one process.
    let open = entries("/proc/self/fd") as u64;
    setrlimit(Resource::RLIMIT_NOFILE, open, hard).unwrap();
    let more_files = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        setrlimit(Resource::RLIMIT_NOFILE, soft, hard).unwrap();
    };
    let (record, ()) = tokio::join!(arena.play(game), more_files);
    played_out(&record);
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
