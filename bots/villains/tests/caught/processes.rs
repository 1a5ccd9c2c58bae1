//! Processes that are killed, and processes that are left over.

use std::fs;

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use referee::{Live, SeatedGame};
use referee_core::{FoulKind, Record};

use crate::vocabulary::*;

fn name(what: &str) -> String {
    format!("{what}-{}", std::process::id())
}

fn kill_all(name: &str) {
    for id in named(name) {
        let _ = kill(Pid::from_raw(id), Signal::SIGKILL);
    }
}

/// Kills what is called so as soon as a point has been played.
async fn killed_on_the_way(arena: &Arena, mut game: SeatedGame, name: &str) -> Record {
    let mut seen = watched(&mut game);
    let killing = async {
        while let Some(live) = seen.recv().await {
            if matches!(live, Live::Played { .. }) {
                kill_all(name);
                break;
            }
        }
    };
    tokio::join!(arena.play(game), killing).0
}

#[tokio::test]
async fn a_bot_that_is_killed_in_a_game_loses_that_game_and_no_other() {
    let arena = Arena::new().await;
    let name = name("killed");
    let victim = bot(&format!("slow --delay 100ms --name {name}"));
    let honest = bot("honest");
    let killed = killed_on_the_way(&arena, game(0, &honest, &victim), &name).await;
    lost_by(&killed, SECOND, FoulKind::Crashed, &["killed by SIGKILL"]);
    let next = arena.play(game(1, &honest, &victim)).await;
    played_out(&next);
    assert_eq!(victim.started(), 2);
}

#[tokio::test]
async fn a_bot_that_is_killed_between_two_games_loses_none() {
    let arena = Arena::new().await;
    let name = name("between");
    let victim = bot(&format!("honest --name {name}"));
    let honest = bot("honest");
    for seed in 0..20 {
        let next = arena.play(game(seed, &victim, &honest)).await;
        played_out(&next);
        kill_all(&name);
    }
    assert_eq!(victim.started(), 20);
}

#[tokio::test]
async fn a_bot_is_stopped_with_whatever_it_has_started() {
    let arena = Arena::new().await;
    let name = name("litter");
    let litterer = bot(&format!("litter --name {name}"));
    let record = arena.play(against_honest(0, &litterer, FIRST)).await;
    played_out(&record);
    assert_eq!(named(&name).len(), 2);
    litterer.stop().await;
    until("nothing is left", || named(&name).is_empty()).await;

    // And the same where it ends in another way.
    let litterer = bot(&format!("litter --name {name}"));
    let record = arena.play(against_honest(0, &litterer, FIRST)).await;
    played_out(&record);
    let leader = *named(&name).iter().min().unwrap();
    kill(Pid::from_raw(leader), Signal::SIGKILL).unwrap();
    until("nothing is left", || named(&name).is_empty()).await;
}

#[tokio::test]
async fn a_game_that_nobody_waits_for_is_cut_off_and_its_place_is_free_again() {
    let arena = Arena::new().await;
    let (late, honest) = (bot("late --max-games 1"), bot("honest"));
    let mut cut = game(0, &late, &honest);
    let mut seen = watched(&mut cut);
    {
        let playing = arena.play(cut);
        tokio::pin!(playing);
        for _ in 0..5 {
            tokio::select! {
                live = seen.recv() => assert!(live.is_some()),
                _ = &mut playing => panic!("it should be waiting"),
            }
        }
    }
    let mut next = game(1, &late, &honest);
    next.fixture.limits.per_move = KEPT;
    let next = tokio::time::timeout(AMPLE, arena.play(next)).await.unwrap();
    lost_by(&next, FIRST, FoulKind::Late, &[]);
}

#[tokio::test]
async fn what_a_bot_prints_goes_to_its_log() {
    let arena = Arena::new().await;
    let folder = tempfile::tempdir().unwrap();
    let mut launch = launch("exit");
    launch.log = Some(folder.path().join("bot.log"));
    let bot = started_as(launch);
    for n in 1..=2 {
        arena.play(against_honest(0, &bot, FIRST)).await;
        let log = folder.path().join(format!("bot-{n}.log"));
        let said = fs::read_to_string(log).unwrap();
        assert_eq!(said, "leaving at question 3\n");
    }
}
