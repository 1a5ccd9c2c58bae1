//! The things that a game leaves behind: none.

use std::{fs, time::Duration};

use futures_util::{StreamExt as _, future::join_all, stream};
use referee_core::FoulKind;
use tokio::runtime::Handle;

use crate::vocabulary::*;

const GAMES: usize = 1000;
const AT_ONCE: usize = 32;
const MEBIBYTE: usize = 1 << 20;

#[tokio::test]
async fn a_thousand_games_leave_nothing_behind() {
    let arena = Arena::alone(1).await;
    // What the runtimes set up once is no leak.
    let (first, second) = (bot("honest"), bot("honest"));
    arena.play(game(0, &first, &second)).await;
    first.stop().await;
    second.stop().await;
    drop((first, second));
    until("the heartbeat is alone", || arena.pool.tasks() == 1).await;
    let keeper = Handle::current().metrics();
    let count = || {
        let tasks = arena.pool.tasks() + keeper.num_alive_tasks();
        (tasks, entries("/proc/self/fd"), children())
    };
    let before = count();

    let (first, second) = (bot("honest"), bot("honest"));
    let games = (0..GAMES).map(|seed| arena.play(game(seed as u8, &first, &second)));
    let fouls = stream::iter(games)
        .buffer_unordered(AT_ONCE)
        .filter(|played| {
            let verdict = &played.result.verdict;
            let foul = [FIRST, SECOND].iter().any(|&s| verdict.foul(s).is_some());
            async move { foul }
        })
        .count()
        .await;
    assert_eq!(fouls, 0);
    assert_eq!((first.started(), second.started()), (1, 1));
    first.stop().await;
    second.stop().await;
    until(
        &format!("tasks, descriptors and children are {before:?} again"),
        || count() == before,
    )
    .await;
}

#[tokio::test]
async fn a_flood_of_answers_fills_no_memory() {
    const GAMES: u8 = 16;
    let arena = Arena::alone(1).await;
    let flood = bot("flood");
    // There is time for a flood while the other one thinks.
    let slow = bot("slow --delay 700ms");
    let before = resident();
    let games = join_all((0..GAMES).map(|seed| arena.play(game(seed, &flood, &slow))));
    tokio::pin!(games);
    let mut most = before;
    let games = loop {
        tokio::select! {
            games = &mut games => break games,
            () = tokio::time::sleep(Duration::from_millis(5)) => most = most.max(resident()),
        }
    };
    for played in games {
        lost_by(&played, FIRST, FoulKind::Unsolicited, &[]);
    }
    let grown = most.saturating_sub(before);
    assert!(grown < 64 * MEBIBYTE, "grown by {grown} bytes");
}

/// The memory of this process, in bytes.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    let kibibytes = line.unwrap().trim().trim_end_matches(" kB");
    kibibytes.parse::<usize>().unwrap() * 1024
}
