//! The behaviour of one bot costs other games nothing.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use futures_util::future::join_all;
use referee::Live;
use referee_core::FoulKind;

use crate::vocabulary::*;

const GAMES: u8 = 20;
const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn a_late_bot_costs_other_games_nothing() {
    for villain in ["late", "busy-late"] {
        let arena = Arena::new().await;
        let honest = bot("honest");
        let name = format!("{villain}-{}", std::process::id());
        let late = bot(&format!("{villain} --name {name}"));
        let mut waiting = game(0, &late, &honest);
        waiting.fixture.limits.per_move = HOUR;
        let mut seen = watched(&mut waiting);
        let waiting = waiting.play(&arena.pool);
        tokio::pin!(waiting);
        // It has given its two points and been answered: now it is late.
        for _ in 0..5 {
            tokio::select! {
                live = seen.recv() => assert!(live.is_some()),
                over = &mut waiting => panic!("{over:?}"),
            }
        }
        let others = (1..=GAMES).map(|seed| arena.play(game(seed, &honest, &honest)));
        tokio::select! {
            others = join_all(others) => {
                for played in others {
                    played_out(&played);
                }
            }
            over = &mut waiting => panic!("{over:?}"),
        }
        assert_eq!(named(&name).len(), 1, "it still thinks");
        late.stop().await;
        until("the late bot is gone", || named(&name).is_empty()).await;
    }
}

#[tokio::test]
async fn a_process_that_was_late_is_gone_and_the_next_game_has_a_fresh_one() {
    let arena = Arena::new().await;
    let honest = bot("honest");
    let name = format!("gone-{}", std::process::id());
    let late = bot(&format!("busy-late --name {name}"));
    let mut before = Vec::new();
    for seed in 0..2 {
        let started = late.started();
        let mut game = game(seed, &honest, &late);
        game.fixture.limits.per_move = KEPT;
        let mut seen = watched(&mut game);
        let playing = arena.play(game);
        let watching = async {
            while let Some(live) = seen.recv().await {
                if matches!(live, Live::Played { .. }) {
                    return named(&name);
                }
            }
            Vec::new()
        };
        let (played, processes) = tokio::join!(playing, watching);
        lost_by(&played, SECOND, FoulKind::Late, &[]);
        // It played by the rules until its time had come, as a fresh one does.
        assert_eq!(points(&played, SECOND), 2);
        assert!(late.started() > started);
        until("the late process is gone", || named(&name).is_empty()).await;
        before.push(processes);
    }
    assert!(before[1].iter().all(|id| !before[0].contains(id)));
}

#[tokio::test]
async fn games_that_want_the_same_bots_the_other_way_round_do_not_wait_for_each_other() {
    let arena = Arena::new().await;
    for _ in 0..5 {
        let (a, b) = (bot("honest --max-games 1"), bot("honest --max-games 1"));
        let games = (0..8).map(|seed| {
            let (first, second) = if seed % 2 == 0 { (&a, &b) } else { (&b, &a) };
            arena.play(game(seed, first, second))
        });
        let games = tokio::time::timeout(AMPLE, join_all(games)).await;
        for played in games.expect("no game waits for ever") {
            played_out(&played);
        }
    }
}

#[tokio::test]
async fn a_bot_can_play_itself_in_two_processes() {
    let arena = Arena::new().await;
    let honest = bot("honest");
    let games = (0..8).map(|seed| arena.play(game(seed, &honest, &honest)));
    for played in join_all(games).await {
        played_out(&played);
    }
    assert_eq!(honest.started(), 2);
}

/// Removing them takes a second or more, and no game waits for it.
#[tokio::test]
async fn a_bot_that_leaves_a_hundred_thousand_files_costs_other_games_nothing() {
    let arena = Arena::new().await;
    let honest = bot("honest");
    played_out(&arena.play(game(0, &honest, &honest)).await);
    let name = format!("clutter-{}", std::process::id());
    let cluttered = bot(&format!("honest --clutter 100000 --name {name}"));
    played_out(&arena.play(game(1, &cluttered, &honest)).await);
    let folder = folder_of(named(&name)[0]);
    assert!(folder.join("99999").exists());
    let mut meanwhile = 0;
    let stopping = tokio::spawn(async move { cluttered.stop().await });
    until("it has ended", || named(&name).is_empty()).await;
    while folder.exists() {
        let played = arena.play(game(2, &honest, &honest)).await;
        played_out(&played);
        meanwhile += u32::from(folder.exists());
    }
    assert!(
        meanwhile > 0,
        "no game was played while the files were removed"
    );
    stopping.await.unwrap();
}

/// The folder of the socket of a process.
fn folder_of(process: i32) -> PathBuf {
    let variables = fs::read(format!("/proc/{process}/environ")).unwrap();
    let variables = String::from_utf8(variables).unwrap();
    let listen = variables
        .split('\0')
        .find_map(|line| line.strip_prefix("BOT_LISTEN=unix:"));
    Path::new(listen.unwrap()).parent().unwrap().to_owned()
}
