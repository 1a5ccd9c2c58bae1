//! Fouls before the game begins.

use std::{
    net::TcpListener,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use referee::{Address, Bot, core_count};
use referee_core::{Event, FoulKind};

use crate::vocabulary::*;

/// A limit that runs out.
const SHORT: Duration = Duration::from_millis(300);

#[tokio::test]
async fn a_program_that_does_not_exist_is_unreachable() {
    Trial::of("")
        .program("/no/such/program")
        .by(FoulKind::Unreachable)
        .loses(&["could not start /no/such/program", "No such file"])
        .await;
}

#[tokio::test]
async fn an_address_where_nobody_listens_is_unreachable() {
    let arena = Arena::new().await;
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    for address in ["unix:/no/such/socket".to_owned(), format!("tcp:{port}")] {
        let nobody: Address = address.parse().unwrap();
        let nobody = Arc::new(Bot::at(nobody, AMPLE));
        for seat in [FIRST, SECOND] {
            let record = arena.play(against_honest(1, &nobody, seat)).await;
            let evidence = format!("nothing answers at {address}");
            lost_by(&record, seat, FoulKind::Unreachable, &[&evidence]);
        }
    }
}

#[tokio::test]
async fn a_bot_that_does_not_listen_has_not_started() {
    for (villain, evidence) in [
        ("exit-at-once", "exited with code 3 before it listened"),
        ("exit-at-once", "its last words: no strategy found"),
        ("deaf", "nothing answers at unix:"),
        ("misdirected", "\"the telephone\" is no address"),
    ] {
        loses(villain, &[evidence]).await;
    }
}

#[tokio::test]
async fn a_bot_that_never_says_that_it_listens_has_not_started() {
    for villain in ["silent", "slow-start --delay 1h"] {
        Trial::of(villain)
            .listens_within(SHORT)
            .by(FoulKind::NoStart)
            .loses(&["did not print", "within 300ms"])
            .await;
    }
}

#[tokio::test]
async fn a_bot_that_is_never_ready_has_not_started() {
    for villain in ["never-ready", "mute"] {
        Trial::of(villain)
            .ready_within(KEPT)
            .loses(&["no Ready within", "3s"])
            .await;
    }
}

#[tokio::test]
async fn a_bot_that_answers_the_start_with_a_point_has_not_started() {
    let evidence = "expected Ready as the answer to GameStart";
    loses("not-ready", &[evidence]).await;
}

#[tokio::test]
async fn a_bot_whose_answers_are_compressed_has_not_started() {
    let evidence = ["answer can't be read: Content is compressed with `gzip`"];
    loses("compressed", &evidence).await;
}

#[tokio::test]
async fn a_bot_that_crashes_or_hangs_up_at_the_start_has_not_started() {
    let evidence = ["killed by SIGABRT", "crashing at the start"];
    loses("crash-at-start", &evidence).await;
    loses("hang-up-at-start", &["closed"]).await;
}

#[tokio::test]
async fn a_bot_that_does_not_play_the_game_is_unsupported() {
    loses("unsupported", &["UNIMPLEMENTED"]).await;
}

#[tokio::test]
async fn a_bot_may_take_its_time_to_start_within_the_limit() {
    let arena = Arena::new().await;
    let slow = bot("slow-start --delay 500ms");
    played_out(&arena.play(against_honest(1, &slow, FIRST)).await);
}

#[tokio::test]
async fn as_many_bots_start_at_once_as_there_are_cores() {
    const DELAY: Duration = Duration::from_millis(400);
    let arena = Arena::new().await;
    // Two for each core.
    let games = (0..core_count()).map(|_| {
        let bots = [0, 1].map(|_| bot(&format!("slow-start --delay {}ms", DELAY.as_millis())));
        arena.play(game(1, &bots[0], &bots[1]))
    });
    let began = Instant::now();
    join_all(games).await.iter().for_each(played_out);
    let took = began.elapsed();
    assert!(took >= 2 * DELAY, "{took:?}");
}

#[tokio::test]
async fn bots_that_do_not_start_hold_nobody_up() {
    let arena = Arena::new().await;
    let never: Vec<_> = (0..core_count())
        .map(|_| bot("slow-start --delay 1h"))
        .collect();
    let hanging = never
        .iter()
        .map(|never| arena.play(against_honest(1, never, FIRST)));
    let hanging = join_all(hanging);
    tokio::pin!(hanging);
    assert!(futures_util::poll!(&mut hanging).is_pending());
    until("they begin to start", || {
        never.iter().all(|never| never.started() > 0)
    })
    .await;
    let honest = arena.play(against_honest(2, &bot("honest"), FIRST));
    tokio::select! {
        biased;
        record = honest => played_out(&record),
        _ = hanging => panic!("the honest ones waited for those that did not start"),
    }
}

#[tokio::test]
async fn both_come_last_where_both_fail_at_the_start() {
    let arena = Arena::new().await;
    let (first, second) = (bot("not-ready"), bot("exit-at-once"));
    let record = arena.play(game(1, &first, &second)).await;
    verified(&record);
    let verdict = &record.result.verdict;
    assert_eq!(verdict.outcome().unwrap().places.as_slice(), [2, 2]);
    for seat in [FIRST, SECOND] {
        assert_eq!(verdict.foul(seat).unwrap().kind(), FoulKind::NoStart);
    }
    let told = |event: &Event| matches!(event, Event::Told { .. });
    assert!(!record.events.iter().any(told), "nobody is left to be told");
}
