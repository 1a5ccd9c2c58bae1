//! `tenpai` in whole rounds, through the protocol's own bytes.

use std::time::{Duration, Instant};

use house_bots::{LocalPlayer, bot};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use referee_core::{Limits, PerSeat, Seed};
use referee_games::{Fixture, Next, SeatReply, Sitting, game};
use serde_json::{Value, json};

/// The 108 tiles in the order in which they are drawn: 13 for each seat, then one in turn.
fn wall(seed: u64) -> Vec<String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let kinds = ["c", "b", "d"].into_iter().flat_map(|suit| {
        let ranks = (1..=9).map(move |rank| format!("{rank}{suit}"));
        ranks.flat_map(|tile| std::iter::repeat_n(tile, 4))
    });
    let mut tiles: Vec<String> = kinds.collect();
    for at in (1..tiles.len()).rev() {
        tiles.swap(at, rng.random_range(0..=at));
    }
    tiles
}

/// A round with this wall.
fn sitting(wall: &[String], limit: Duration) -> Sitting {
    let setup: Value = json!({ "wall": wall.concat() });
    Sitting::new(Fixture {
        kind: game("mahjong").expect("a game"),
        game_id: "test".to_owned(),
        setup,
        seed: Seed::new([7; 32]),
        players: vec!["tenpai".to_owned(), "other".to_owned()].into(),
        limits: Limits {
            start: Duration::from_mins(1),
            per_move: limit,
            budget: None,
            answer_bytes: 64 * 1024,
        },
        spent: PerSeat::new(2, |_| Duration::ZERO),
    })
    .expect("a wall of 108 tiles")
}

/// The answers of the bot in seat 0, at most so many. The other seat discards what it has drawn and
/// never wins.
fn answers(spec: &str, wall: &[String], limit: Duration, most: usize) -> Vec<Vec<u8>> {
    let path = game("mahjong").expect("a game").path();
    let mut sitting = sitting(wall, limit);
    let mut player: Option<LocalPlayer> = None;
    let mut answers = Vec::new();
    let mut drawn = (13 + 13 + 1..wall.len()).step_by(2);
    loop {
        match sitting.advance() {
            Next::Tell(calls) => {
                for (seat, call) in calls {
                    if seat.index() == 0 {
                        let player = player.as_mut().expect("it sits");
                        player.hear(&call).expect("a call that can be read");
                    }
                }
            }
            Next::Over(_) => return answers,
            Next::Ask(questions) => {
                for question in questions {
                    let answer = if question.number == 0 {
                        if question.seat.index() == 0 {
                            let bot = bot(spec).expect("a bot");
                            player = Some(bot.sit(path, &question.call).expect("it sits down"));
                        }
                        referee_games::ready()
                    } else if question.seat.index() == 0 {
                        if answers.len() == most {
                            return answers;
                        }
                        let player = player.as_mut().expect("it sits");
                        let heard = player.hear(&question.call).expect("a question");
                        let answer = heard.expect("an answer");
                        answers.push(answer.to_vec());
                        answer
                    } else {
                        let legal = sitting.legal(question.seat);
                        let message = legal.iter().find(|(text, _)| text == "pass");
                        let (_, message) = message.unwrap_or_else(|| {
                            let tile = &wall[drawn.next().expect("tiles are left")];
                            let found = legal.iter().find(|(text, _)| text == tile);
                            found.expect("what was drawn can be discarded")
                        });
                        referee_games::answer(question.number, message)
                    };
                    sitting.hear(question.seat, SeatReply::Answer(answer), Duration::ZERO);
                }
            }
        }
    }
}

const MINUTE: Duration = Duration::from_mins(1);

#[test]
fn the_same_work_has_the_same_answers() {
    for spec in ["tenpai?hands=300", "tenpai?level=4"] {
        let wall = wall(1);
        let first = answers(spec, &wall, MINUTE, 30);
        assert!(first.len() > 5, "{}", first.len());
        assert_eq!(first, answers(spec, &wall, MINUTE, 30));
    }
}

#[test]
fn threads_change_no_answer() {
    let wall = wall(1);
    let spec = "tenpai?opponent=0&hands=1000&playouts=300";
    let one = answers(spec, &wall, MINUTE, 4);
    assert_eq!(one, answers(&format!("{spec}&threads=3"), &wall, MINUTE, 4));
}

/// The other seat's first 13 tiles stay in its hand; they are exchanged for some that nobody draws.
#[test]
fn tiles_that_it_cannot_see_change_no_answer() {
    for seed in 0..4 {
        let wall = wall(seed);
        let mut other = wall.clone();
        let most = 12;
        for at in 0..13 {
            other.swap(13 + at, 26 + 2 * most + 4 + at);
        }
        assert_ne!(wall, other);
        let spec = "tenpai?hands=300";
        let first = answers(spec, &wall, MINUTE, most);
        assert_eq!(first, answers(spec, &other, MINUTE, most));
        // Its own tiles do.
        let mut other = wall.clone();
        for at in 0..13 {
            other.swap(at, 26 + 2 * most + 4 + at);
        }
        assert_ne!(first, answers(spec, &other, MINUTE, most));
    }
}

/// With much room for a busy machine: a search that does not look at the clock would take minutes.
#[test]
fn it_answers_in_time() {
    for limit in [40, 400].map(Duration::from_millis) {
        let began = Instant::now();
        let count = answers("tenpai?time=1m", &wall(3), limit, 6).len();
        let most = limit * u32::try_from(count).expect("few answers");
        assert!(
            began.elapsed() < 10 * most + MINUTE / 6,
            "{:?}",
            began.elapsed()
        );
    }
}

#[test]
fn wrong_parameters_are_refused() {
    for (spec, expected) in [
        ("tenpai?level=11", "a level of 1 to 10"),
        ("tenpai?level=0", "a level of 1 to 10"),
        ("tenpai?hands=0", "a number of hands, at least 1"),
        ("tenpai?threads=0", "a number of threads, 1 to 64"),
        ("tenpai?opponent=1.5", "a chance from 0 to 1"),
        ("tenpai?opponent=NaN", "a chance from 0 to 1"),
        (
            "tenpai?without=luck",
            "some of ahead, waiting, danger, chances",
        ),
        ("tenpai?depth=3", "time"),
    ] {
        let error = bot(spec).err().expect("no such bot").to_string();
        assert!(error.contains(expected), "{spec}: {error}");
    }
}

/// The bot's values of all legal answers to the first question, and these answers.
fn first_values(spec: &str, wall: &[String]) -> (Vec<f64>, Vec<String>) {
    let path = game("mahjong").expect("a game").path();
    let mut sitting = sitting(wall, MINUTE);
    let mut player: Option<LocalPlayer> = None;
    loop {
        match sitting.advance() {
            Next::Tell(calls) => {
                for (seat, call) in calls {
                    if seat.index() == 0 {
                        let player = player.as_mut().expect("it sits");
                        player.hear(&call).expect("a call that can be read");
                    }
                }
            }
            Next::Over(_) => panic!("seat 0 is asked for a discard"),
            Next::Ask(questions) => {
                for question in questions {
                    let is_own = question.seat.index() == 0;
                    if is_own && question.number > 0 {
                        let player = player.as_mut().expect("it sits");
                        let values = player.values(&question.call).expect("a question");
                        let legal = sitting.legal(question.seat);
                        let names = legal.into_iter().map(|(name, _)| name).collect();
                        return (values.expect("estimates"), names);
                    }
                    if is_own {
                        let bot = bot(spec).expect("a bot");
                        player = Some(bot.sit(path, &question.call).expect("it sits down"));
                    }
                    let ready = referee_games::ready();
                    sitting.hear(question.seat, SeatReply::Answer(ready), Duration::ZERO);
                }
            }
        }
    }
}

#[test]
fn every_legal_answer_has_a_value() {
    let (values, legal) = first_values("tenpai", &wall(5));
    assert_eq!(values.len(), legal.len());
    assert!(values.iter().all(|value| (0.0..=1.0).contains(value)));
    let best = values.iter().copied().fold(0.0, f64::max);
    assert!(
        values.iter().any(|&value| value < best - 0.01),
        "{values:?}"
    );

    // The 7c that it draws first completes seven pairs.
    let mut winning = wall(5);
    let wanted = "1c 1c 3c 3c 5c 5c 7c 1b 1b 2b 2b 3b 3b".split(' ');
    for (at, tile) in wanted.enumerate() {
        let found = winning[at..].iter().position(|other| other == tile);
        winning.swap(at, at + found.expect("there are four of each"));
    }
    let seventh = winning[26..].iter().position(|other| other == "7c");
    winning.swap(26, 26 + seventh.expect("not all are dealt"));
    let (values, legal) = first_values("tenpai", &winning);
    let of = |name: &str| values[legal.iter().position(|it| it == name).expect("legal")];
    assert!(of("win") > of("pass"), "{legal:?} {values:?}");
}
