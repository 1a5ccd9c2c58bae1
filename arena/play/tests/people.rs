//! Games in which people sit in every seat: no bot is needed.

#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::{process::Command, time::Duration};

use arena_play::{NotTakenBack, PeopleGame, PeopleGameError, PeopleTurn, SeatPlayer, Seating};
use referee_bots::{LaunchContext, LaunchOptions};
use referee_core::{Dice, FoulKind, GameKind, Limits, Root, Seat};
use referee_games::{GAMES, verify};
use serde_json::Value;

fn context() -> LaunchContext {
    LaunchOptions::new(Command::new("cat"))
        .open(".".into())
        .unwrap()
}

fn seating(kind: &'static dyn GameKind, seed: u64) -> Seating {
    let root = "people".parse::<Root>().unwrap();
    let people = (0..kind.info().seats).map(|seat| SeatPlayer::Person(format!("p{seat}")));
    Seating {
        kind,
        setup: Value::Null,
        seed: root.seed(kind.info().name, seed),
        game_id: "test".to_owned(),
        limits: Limits::default(),
        people_are_timed: false,
        players: people.collect(),
    }
}

async fn begin(kind: &'static dyn GameKind, seed: u64) -> PeopleGame {
    PeopleGame::begin(seating(kind, seed), &context())
        .await
        .unwrap()
}

/// Plays with any legal moves to the end, or until so many were made.
async fn play(game: &mut PeopleGame, dice: &mut Dice, mut moves: usize) {
    while let PeopleTurn::People(seats) = game.play_on().await.unwrap() {
        for seat in seats {
            if moves == 0 {
                return;
            }
            moves -= 1;
            let legal = game.legal(seat);
            let pick = dice.below(legal.len() as u32) as usize;
            assert_eq!(
                game.move_as_written(seat, &legal[pick]).as_ref(),
                Ok(&legal[pick])
            );
        }
    }
}

fn dice(seed: u64) -> Dice {
    Dice::new(&"dice".parse::<Root>().unwrap().seed("x", seed))
}

#[tokio::test]
async fn every_game_is_played_and_its_record_is_proved() {
    for kind in GAMES.iter().copied() {
        for seed in 0..5 {
            let mut game = begin(kind, seed).await;
            play(&mut game, &mut dice(seed), usize::MAX).await;
            let record = game.record().unwrap();
            verify(record).unwrap();
            assert!(
                record
                    .result
                    .thought_us
                    .iter()
                    .all(|(_, &thought)| thought == 0)
            );
        }
    }
}

#[tokio::test]
async fn moves_are_taken_back_to_the_first_and_the_game_is_as_it_was() {
    for kind in GAMES.iter().copied().filter(|kind| !kind.has_secrets()) {
        for seed in 0..5 {
            let mut game = begin(kind, seed).await;
            let PeopleTurn::People(asked) = game.play_on().await.unwrap() else {
                panic!("the first question");
            };
            let seen = |game: &PeopleGame| -> Vec<_> {
                Seat::all(kind.info().seats)
                    .map(|seat| (game.scene(seat), game.legal(seat)))
                    .collect()
            };
            let first = seen(&game);
            for most in [1, 7, 40, usize::MAX] {
                play(&mut game, &mut dice(seed), most).await;
                // Whoever has moved takes back, until nobody has.
                loop {
                    let mut all = Seat::all(kind.info().seats);
                    let mut taken = false;
                    for seat in all.by_ref() {
                        taken |= game.take_back(seat).await.is_ok();
                    }
                    if !taken {
                        break;
                    }
                }
                assert_eq!(
                    game.play_on().await.unwrap(),
                    PeopleTurn::People(asked.clone())
                );
                assert_eq!(seen(&game), first, "{} {seed}", kind.info().name);
                assert_eq!(game.moves(asked[0]).count(), 0);
            }
            assert_eq!(game.take_back(asked[0]).await, Err(NotTakenBack::NoMove));
            play(&mut game, &mut dice(seed + 9), usize::MAX).await;
            verify(game.record().unwrap()).unwrap();
        }
    }
}

#[tokio::test]
async fn where_several_people_play_a_game_with_secrets_no_move_is_taken_back() {
    let mut tried = 0;
    for kind in GAMES.iter().copied().filter(|kind| kind.has_secrets()) {
        let mut game = begin(kind, 2).await;
        let PeopleTurn::People(asked) = game.play_on().await.unwrap() else {
            panic!("the first question");
        };
        assert_eq!(game.take_back(asked[0]).await, Err(NotTakenBack::NoMove));
        for moves in [1, 2, 8] {
            play(&mut game, &mut dice(2), moves).await;
            let before = game.answers().len();
            for seat in Seat::all(kind.info().seats) {
                let has_moved = game.moves(seat).any(|one| one.seat == seat);
                let refused = game.take_back(seat).await;
                let why = if has_moved {
                    NotTakenBack::Secrets
                } else {
                    NotTakenBack::NoMove
                };
                assert_eq!(refused, Err(why), "{} {seat}", kind.info().name);
                assert_eq!(game.answers().len(), before);
                tried += usize::from(has_moved);
            }
        }
    }
    assert!(tried > 10, "{tried}");
}

#[tokio::test]
async fn who_resigns_leaves_and_the_record_is_proved() {
    for kind in GAMES.iter().copied() {
        let mut game = begin(kind, 3).await;
        play(&mut game, &mut dice(3), 5).await;
        let PeopleTurn::People(asked) = game.play_on().await.unwrap() else {
            panic!("nobody is asked");
        };
        game.resign(asked[0]);
        play(&mut game, &mut dice(4), usize::MAX).await;
        let record = game.record().unwrap();
        let foul = record.result.verdict.foul(asked[0]).unwrap();
        assert_eq!(foul.kind(), FoulKind::Resigned);
        verify(record).unwrap();
    }
}

#[tokio::test]
async fn a_game_goes_on_elsewhere_from_its_answers() {
    for kind in GAMES.iter().copied() {
        for moves in [0, 1, 9, usize::MAX] {
            let mut game = begin(kind, 6).await;
            play(&mut game, &mut dice(6), moves).await;
            let turn = game.play_on().await.unwrap();
            // As a file has them.
            let kept = serde_json::to_string(game.answers()).unwrap();
            let answers = serde_json::from_str(&kept).unwrap();
            let again = PeopleGame::resume(seating(kind, 6), answers, &context()).await;
            let mut again = again.unwrap();
            assert_eq!(again.play_on().await.unwrap(), turn);
            for seat in Seat::all(kind.info().seats) {
                assert_eq!(again.scene(seat), game.scene(seat));
                assert_eq!(again.legal(seat), game.legal(seat));
                assert!(again.moves(seat).eq(game.moves(seat)));
            }
            play(&mut again, &mut dice(7), usize::MAX).await;
            verify(again.record().unwrap()).unwrap();
        }
    }
}

#[tokio::test]
async fn answers_of_another_game_are_refused() {
    let mut game = begin(GAMES[0], 6).await;
    play(&mut game, &mut dice(6), 5).await;
    let mut answers = game.answers().to_vec();
    answers.remove(1);
    let again = PeopleGame::resume(seating(GAMES[0], 6), answers, &context()).await;
    assert!(matches!(again, Err(PeopleGameError::Damaged)));
}

#[tokio::test]
async fn whoever_is_timed_loses_when_the_time_is_up() {
    let mut timed = seating(GAMES[0], 6);
    timed.people_are_timed = true;
    timed.limits.per_move = Duration::from_millis(1);
    let mut game = PeopleGame::begin(timed, &context()).await.unwrap();
    assert!(matches!(
        game.play_on().await.unwrap(),
        PeopleTurn::People(_)
    ));
    while std::time::Instant::now() < game.deadline().unwrap() {
        std::thread::yield_now();
    }
    game.time_is_up();
    assert_eq!(game.play_on().await.unwrap(), PeopleTurn::Over);
    let record = game.record().unwrap();
    let foul = record.result.verdict.foul(Seat::new(0)).unwrap();
    assert_eq!(foul.kind(), FoulKind::Late);
    verify(record).unwrap();
}
