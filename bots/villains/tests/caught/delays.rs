//! A delay of the referee's own costs no bot a game, and wins none.

use std::time::Duration;

use referee::{Live, Pool};
use referee_core::{Event, FoulKind, Record};

use crate::vocabulary::*;

/// Keeps the pool's only thread from doing anything.
async fn block(pool: &Pool, time: Duration) {
    let _ = pool.run(|_| async move { std::thread::sleep(time) }).await;
}

/// The delays that were excused.
fn excused(record: &Record) -> Vec<Duration> {
    let events = record.events.iter();
    events
        .filter_map(|event| match event {
            Event::Answered { excused, .. } if !excused.is_zero() => Some(*excused),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn a_game_in_which_the_referee_was_late_goes_on() {
    let arena = Arena::alone(1).await;
    let slow = bot("slow --delay 10ms");
    let mut game = game(0, &slow, &slow);
    game.fixture.limits.per_move = Duration::from_secs(3);
    let mut seen = watched(&mut game);
    let blocking = async {
        let mut begun = 0;
        let mut blocked = false;
        while let Some(live) = seen.recv().await {
            begun += u32::from(live == Live::Started);
            if matches!(live, Live::Played { .. }) && !blocked {
                // The other one has been asked and will answer within 10 ms.
                blocked = true;
                block(&arena.pool, Duration::from_secs(5)).await;
            }
        }
        begun
    };
    let (record, begun) = tokio::join!(arena.play(game), blocking);
    assert_eq!(begun, 1);
    played_out(&record);
    let excused = excused(&record);
    assert_eq!(excused.len(), 1, "{excused:?}");
    assert!(excused[0] > Duration::from_secs(4), "{excused:?}");
    until("the delay is known", || {
        arena.pool.worst_delay() > Duration::from_secs(4)
    })
    .await;
}

#[tokio::test]
async fn a_delay_excuses_no_answer_that_was_late_without_it() {
    let arena = Arena::alone(1).await;
    // It answers long after the delay has passed, and too late.
    let late = bot("clockless --delay 3s");
    let mut game = game(0, &late, &bot("honest"));
    game.fixture.limits.per_move = Duration::from_secs(2);
    let mut seen = watched(&mut game);
    let blocking = async {
        // The villain begins, and is being asked.
        assert_eq!(seen.recv().await, Some(Live::Started));
        block(&arena.pool, Duration::from_millis(100)).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        block(&arena.pool, Duration::from_millis(500)).await;
        while seen.recv().await.is_some() {}
    };
    let (record, ()) = tokio::join!(arena.play(game), blocking);
    lost_by(&record, FIRST, FoulKind::Late, &[]);
    assert!(arena.pool.worst_delay() > Duration::from_millis(400));
}

#[tokio::test]
async fn a_foul_that_is_not_about_time_stands_however_late_the_referee_was() {
    let arena = Arena::alone(1).await;
    let not_ready = bot("not-ready");
    // There is time to block the referee before both have answered.
    let mut game = game(0, &not_ready, &bot("slow --delay 1s"));
    let mut seen = watched(&mut game);
    let blocking = async {
        // The bots are being asked whether they are ready.
        assert_eq!(seen.recv().await, Some(Live::Started));
        block(&arena.pool, Duration::from_millis(300)).await;
    };
    let (record, ()) = tokio::join!(arena.play(game), blocking);
    until("the delay is known", || {
        arena.pool.worst_delay() > Duration::from_millis(200)
    })
    .await;
    lost_by(&record, FIRST, FoulKind::NoStart, &["expected Ready"]);
}

/// However large a part of the time the referee is stopped.
#[tokio::test]
async fn a_bot_that_stops_the_referee_when_its_time_is_over_is_found_out() {
    for (time, limit) in [("60ms", 500), ("900ms", 300)] {
        let arena = Arena::alone(1).await;
        let stops = bot(&format!("honest --stops={time}"));
        let mut game = game(7, &stops, &bot("honest"));
        game.fixture.limits.per_move = Duration::from_millis(limit);
        let record = arena.play(game).await;
        let stopped = "answers were late while the referee's process was stopped";
        lost_by(&record, FIRST, FoulKind::Interfered, &[stopped]);
        let excused = excused(&record);
        assert!((1..=3).contains(&excused.len()), "{excused:?}");
        drop(arena);
    }
}
