//! Bots that use all of their time, in games with a budget for all answers.

use std::time::{Duration, Instant};

use house_bots::{LocalPlayer, bot};
use referee_core::{Limits, PerSeat, Seed};
use referee_games::{Fixture, Next, SeatReply, Sitting, game, ready};
use serde_json::json;

/// The time of the first answer to a question in a game with such a budget and no other limit.
fn first_answer(name: &str, spec: &str, budget: Duration) -> Duration {
    let kind = game(name).expect("a game");
    let seats = usize::from(kind.info().seats);
    let specs = vec![spec.to_owned(); seats];
    let mut sitting = Sitting::new(Fixture {
        kind,
        game_id: "budget".to_owned(),
        setup: json!({}),
        seed: Seed::new([7; 32]),
        players: specs.into(),
        limits: Limits {
            per_move: Duration::from_hours(1),
            budget: Some(budget),
            ..Limits::default()
        },
        spent: PerSeat::default(),
    })
    .expect("a game with the standard set-up");
    let mut players: Vec<Option<LocalPlayer>> = (0..seats).map(|_| None).collect();
    loop {
        match sitting.advance() {
            Next::Tell(calls) => {
                for (seat, call) in calls {
                    let player = players[seat.index()].as_mut().expect("it sits there");
                    player.hear(&call).expect("a notice");
                }
            }
            Next::Ask(questions) => {
                for question in questions {
                    let at = question.seat.index();
                    if question.number > 0 {
                        let began = Instant::now();
                        let player = players[at].as_mut().expect("it sits there");
                        let answer = player.hear(&question.call).expect("a question");
                        assert!(answer.is_some());
                        return began.elapsed();
                    }
                    let bot = bot(spec).expect("a built-in bot");
                    players[at] = Some(bot.sit(kind.path(), &question.call).expect("a seat"));
                    sitting.hear(question.seat, SeatReply::Answer(ready()), Duration::ZERO);
                }
            }
            Next::Over(_) => panic!("the game is over before a question"),
        }
    }
}

#[test]
fn the_first_answer_takes_a_small_part_of_a_budget() {
    let budget = Duration::from_secs(20);
    for (name, spec) in [
        ("othello", "edge"),
        ("connect_four", "zugzwang"),
        ("connect_four", "uct?time=1h"),
        ("big_two", "ai4"),
        ("mahjong", "tenpai"),
    ] {
        let time = first_answer(name, spec, budget);
        assert!(time < budget / 4, "{spec}: {time:?}");
    }
}
