//! One test for each foul in the middle of a game.

use referee_core::Foul;
use serde_json::json;

use crate::vocabulary::*;

#[tokio::test]
async fn a_bot_that_aborts_has_crashed_and_its_last_words_are_kept() {
    let evidence = ["killed by SIGABRT", "crashing in the middle of the game"];
    loses("crash", &evidence).await;
}

#[tokio::test]
async fn a_bot_that_exits_has_crashed_and_its_exit_code_is_kept() {
    let evidence = ["exited with code 3", "leaving at question 3"];
    loses("exit", &evidence).await;
}

#[tokio::test]
async fn a_bot_that_resets_its_stream_has_crashed_though_its_process_lives() {
    loses("reset", &["stream error received"]).await;
}

#[tokio::test]
async fn a_bot_that_closes_the_stream_in_the_middle_of_the_game_has_hung_up() {
    loses("hang-up", &[]).await;
}

/// More than the transport takes of headers and trailers, which is 16 KiB.
#[tokio::test]
async fn a_status_that_is_too_long_is_still_named() {
    let launched = |launch: referee::Launch| {
        let words = "x".repeat(40_000);
        let arguments = ["error-status", "--words", &words].map(Into::into).to_vec();
        referee::Launch {
            arguments,
            ..launch
        }
    };
    Trial::of("error-status")
        .launched(launched)
        .loses(&["(gRPC status 9)"])
        .await;
}

#[tokio::test]
async fn trailers_that_are_far_too_long_are_named_as_that() {
    for _ in 0..4 {
        loses("large-trailers", &["bytes of headers at once"]).await;
    }
}

#[tokio::test]
async fn a_bot_that_ends_with_an_error_status_loses_by_it() {
    let fouls = Trial::of("error-status")
        .loses(&["no more ideas (gRPC status 9)"])
        .await;
    for foul in &fouls {
        let Foul::ErrorStatus { code, message } = foul else {
            panic!("{foul:?}");
        };
        assert_eq!((*code, &message[..]), (9, "no more ideas"));
    }
    loses("no-status", &["grpc-status"]).await;
}

#[tokio::test]
async fn a_callback_that_panics_is_named_before_the_status() {
    let evidence = ["panic in get_point: no more ideas"];
    loses("error-status --by-callbacks", &evidence).await;
}

#[tokio::test]
async fn an_answer_that_can_not_be_read_is_malformed() {
    for (villain, evidence) in [
        ("malformed", "failed to decode"),
        ("unframed", "invalid compression flag: 7"),
        ("empty", "expected a point, found nothing"),
        ("incomplete", "lacks x or y"),
        ("ready-again", "expected a point, found Ready"),
        ("no-number", "does not say which question"),
    ] {
        loses(villain, &[evidence]).await;
    }
}

#[tokio::test]
async fn an_answer_to_another_question_has_the_wrong_number() {
    let evidence = "answered question 4 when asked question 3";
    loses("wrong-number", &[evidence]).await;
    let evidence = "answered question 2 when asked question 3";
    loses("past-number", &[evidence]).await;
}

#[tokio::test]
async fn a_second_answer_to_one_question_is_unsolicited() {
    loses("unsolicited", &["bytes"]).await;
}

#[tokio::test]
async fn an_answer_of_more_than_64_kib_is_oversized() {
    loses("oversized", &["65536 bytes"]).await;
}

#[tokio::test]
async fn an_answer_of_exactly_64_kib_is_none() {
    let arena = Arena::new().await;
    let game = against_honest(1, &bot("bulky"), SECOND);
    played_out(&arena.play(game).await);
}

#[tokio::test]
async fn a_bot_that_takes_more_memory_than_allowed_is_stopped() {
    const ALLOWED: u64 = 32 << 20;
    let fouls = Trial::of("memory --megabytes 256")
        .memory(ALLOWED)
        .loses(&[])
        .await;
    for foul in &fouls {
        let Foul::MemoryExceeded { peak, limit } = foul else {
            panic!("{foul:?}");
        };
        assert_eq!(*limit, ALLOWED);
        assert!(*peak > ALLOWED, "{peak}");
    }
}

#[tokio::test]
async fn a_bot_may_use_the_memory_that_it_is_allowed() {
    let arena = Arena::new().await;
    let mut launch = launch("honest");
    launch.memory.limit = Some(32 << 20);
    let game = against_honest(1, &started_as(launch), FIRST);
    played_out(&arena.play(game).await);
}

#[tokio::test]
async fn a_move_against_the_rules_is_illegal() {
    for (villain, evidence) in [
        ("illegal", "expected a column of 0 to"),
        ("floating", "the next free cell of column"),
        ("occupied", "the next free cell of column"),
    ] {
        loses(villain, &[evidence]).await;
    }
    // Three free cells in the leftmost column, so that nobody can win there.
    Trial::of("full")
        .setup(json!({"rows": 4, "columns": 12, "forbidden": {"at": {"x": 0, "y": 0}}}))
        .loses(&["column 0 is full"])
        .await;
}

#[tokio::test]
async fn a_bot_that_thinks_for_an_hour_loses_on_time() {
    for villain in ["late", "busy-late"] {
        let fouls = Trial::of(villain)
            .per_move(KEPT)
            .loses(&["no answer within 3s"])
            .await;
        for foul in &fouls {
            assert_eq!(*foul, Foul::Late { limit: KEPT });
        }
    }
}

#[tokio::test]
async fn a_bot_whose_budget_has_run_out_is_late_whatever_the_move_limit() {
    let fouls = Trial::of("late").in_all(KEPT).loses(&[]).await;
    for foul in &fouls {
        // Less than the budget, for it has thought before.
        assert!(matches!(foul, Foul::Late { limit } if *limit < KEPT));
    }
}

#[tokio::test]
async fn a_foul_can_be_the_first_thing_that_a_bot_does() {
    for villain in [
        "crash",
        "hang-up",
        "malformed",
        "past-number",
        "unsolicited",
        "illegal",
    ] {
        loses(&format!("{villain} --after 0"), &[]).await;
    }
}

#[tokio::test]
async fn a_bot_that_is_never_asked_again_has_no_foul() {
    let arena = Arena::new().await;
    let honest = bot("honest");
    let record = arena.play(game(3, &honest, &honest)).await;
    played_out(&record);
    // The winner speaks twice with its last answer; nobody asks it again.
    let winner = [FIRST, SECOND]
        .into_iter()
        .find(|&seat| record.result.verdict.outcome().unwrap().scores[seat] > 0)
        .expect("somebody wins this game");
    let last = points(&record, winner) - 1;
    let babbler = bot(&format!("unsolicited --after {last}"));
    let bots = if winner == FIRST {
        game(3, &babbler, &honest)
    } else {
        game(3, &honest, &babbler)
    };
    let again = arena.play(bots).await;
    played_out(&again);
    assert_eq!(again.result.verdict, record.result.verdict);
}
