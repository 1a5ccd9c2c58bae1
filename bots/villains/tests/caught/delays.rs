//! A delay of the referee's own costs no bot a game.

use std::time::Duration;

use referee::{Live, Pool};
use referee_core::FoulKind;

use crate::vocabulary::*;

/// Keeps the pool's only thread from doing anything.
async fn block(pool: &Pool, time: Duration) {
    let _ = pool.run(|_| async move { std::thread::sleep(time) }).await;
}

#[tokio::test]
async fn a_game_in_which_the_referee_was_late_is_played_again() {
    let arena = Arena::alone(1).await;
    let slow = bot("slow --delay 10ms");
    let mut game = game(0, &slow, &slow);
    game.fixture.limits.per_move = Duration::from_secs(3);
    let mut seen = watched(&mut game);
    let blocking = async {
        while let Some(live) = seen.recv().await {
            if matches!(live, Live::Played { .. }) {
                // The other one has been asked and will answer within 10 ms.
                block(&arena.pool, Duration::from_secs(5)).await;
                break;
            }
        }
        let mut begun_again = 0;
        while let Some(live) = seen.recv().await {
            begun_again += u32::from(live == Live::Started);
        }
        begun_again
    };
    let (played, begun_again) = tokio::join!(arena.play(game), blocking);
    assert!(played.voided > 0);
    assert_eq!(begun_again, played.voided);
    played_out(&played.record);
    until("the delay is known", || {
        arena.pool.worst_delay() > Duration::from_secs(4)
    })
    .await;
}

#[tokio::test]
async fn the_third_time_that_the_referee_is_late_counts_all_the_same() {
    let arena = Arena::alone(1).await;
    let slow = bot("slow --delay 10ms");
    let mut game = game(0, &slow, &slow);
    game.fixture.limits.per_move = Duration::from_millis(500);
    let mut seen = watched(&mut game);
    let blocking = async {
        let mut blocked = true;
        while let Some(live) = seen.recv().await {
            match live {
                Live::Started => blocked = false,
                Live::Played { .. } if !blocked => {
                    blocked = true;
                    block(&arena.pool, Duration::from_millis(1500)).await;
                }
                Live::Played { .. } => {}
            }
        }
    };
    let (played, ()) = tokio::join!(arena.play(game), blocking);
    assert_eq!(played.voided, 2);
    let verdict = &played.record.result.verdict;
    let fouls = [FIRST, SECOND].map(|seat| verdict.foul(seat).map(|foul| foul.kind()));
    assert!(fouls.contains(&Some(FoulKind::Late)), "{fouls:?}");
    verified(&played.record);
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
    let (played, ()) = tokio::join!(arena.play(game), blocking);
    until("the delay is known", || {
        arena.pool.worst_delay() > Duration::from_millis(200)
    })
    .await;
    assert_eq!(played.voided, 0);
    lost_by(
        &played.record,
        FIRST,
        FoulKind::NoStart,
        &["expected Ready"],
    );
}
