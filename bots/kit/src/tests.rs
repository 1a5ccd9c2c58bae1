//! The callbacks of each game, by bots that are written with nothing else,
//! against the referee's own side of a game.

use std::time::Duration;

use arena_proto::arena::v1::{AnswerEnvelope, CallEnvelope, Ready, call_envelope::Call as Kind};
use bytes::Bytes;
use prost::Message as _;
use referee_core::{Event, Limits, PerSeat, Record, Seat, Seed, Verdict};
use referee_games::{Fixture, Next, SeatReply, Sitting, game};

use crate::{
    Bot, Ending, FoulKind, GameOver, GameStart,
    big_two::{BigTwoBot, Card, GetPlay, RequestPlay, Scoring, Table, get_play},
    connect_four::{ConnectFourBot, GetPoint, Point},
    mahjong::{MahjongBot, Round, Tile},
    othello::{OthelloBot, RequestMove, Square},
    session::{Call, SeatPlayer, numbered},
};

/// Tracks its hand by the callbacks alone, and discards what it drew last.
#[derive(Default)]
struct Brain {
    hand: Vec<Tile>,
    round: Option<Round>,
    over: bool,
}

impl MahjongBot for Brain {
    fn get_round(&mut self, round: &Round) {
        self.round = Some(*round);
    }

    fn get_draw(&mut self, tile: Tile) {
        assert!(self.round.is_some());
        self.hand.push(tile);
    }

    fn request_discard(&mut self, limit: Duration) -> Tile {
        assert_eq!(self.hand.len(), 14);
        assert!(!limit.is_zero());
        self.hand.pop().unwrap()
    }

    fn get_opp_discard(&mut self, tile: Tile) {
        assert_eq!(self.hand.len(), 13);
        assert_ne!(tile, Tile::Unspecified);
    }

    fn request_win(&mut self, _: Tile, _: bool, _: Duration) -> bool {
        assert_eq!(self.hand.len(), 13);
        false
    }

    fn resumed_discard(&mut self, tile: Tile) {
        assert_eq!(self.hand.pop(), Some(tile));
    }

    fn game_over(&mut self, over: &GameOver) {
        assert_eq!(over.results.len(), 2);
        self.over = true;
    }
}

/// Plays its lowest single that is good enough.
struct Singles {
    seat: u32,
    hand: Vec<Card>,
}

impl BigTwoBot for Singles {
    fn get_table(&mut self, table: &Table) {
        assert_eq!(table.scoring(), Scoring::Places);
        assert_eq!(table.cards_left, [14, 14, 13, 13]);
    }

    fn get_deal(&mut self, mut cards: Vec<Card>) {
        cards.sort_unstable();
        self.hand = cards;
    }

    fn get_play(&mut self, play: &GetPlay) {
        if play.seat == self.seat {
            if let Some(get_play::Move::Play(play)) = &play.r#move {
                self.hand
                    .retain(|card| !play.cards().any(|played| played == *card));
            }
            assert_eq!(self.hand.len(), play.cards_left as usize);
        }
    }

    fn request_play(&mut self, ask: &RequestPlay, _: Duration) -> Option<Vec<Card>> {
        let rank = |card: Card| (i32::from(card) - 1) / 4;
        let lowest = match &ask.to_beat {
            None => self.hand.first(),
            Some(beat) if beat.cards.len() == 1 => {
                let beat = beat.cards().next().unwrap();
                self.hand.iter().find(|card| rank(**card) > rank(beat))
            }
            Some(_) => None,
        };
        if ask.must_include_three_of_clubs {
            assert_eq!(lowest, Some(&Card::ThreeOfClubs));
        }
        lowest.map(|card| vec![*card])
    }
}

/// Places its disc on the first square that turns one.
struct FirstSquare;

impl OthelloBot for FirstSquare {
    fn request_move(&mut self, ask: &RequestMove, _: Duration) -> Square {
        let turns = |row: i32, column: i32| {
            let at = |row: i32, column: i32| {
                let on = (0..8).contains(&row) && (0..8).contains(&column);
                on.then(|| ask.board[(8 * row + column) as usize])
            };
            let directions = (-1..=1).flat_map(|x| (-1..=1).map(move |y| (x, y)));
            at(row, column) == Some(0)
                && directions.filter(|d| *d != (0, 0)).any(|(x, y)| {
                    let theirs = (1..8)
                        .take_while(|i| at(row + i * x, column + i * y) == Some(1))
                        .count() as i32;
                    let end = at(row + (theirs + 1) * x, column + (theirs + 1) * y);
                    theirs > 0 && end == Some(2)
                })
        };
        let mut squares = (0..8).flat_map(|row| (0..8).map(move |column| (row, column)));
        let (row, column) = squares.find(|(row, column)| turns(*row, *column)).unwrap();
        Square {
            row: row as u32,
            column: column as u32,
        }
    }
}

struct Leftmost;

impl ConnectFourBot for Leftmost {
    fn get_point(&mut self, ask: &GetPoint) -> Point {
        ask.points().next().unwrap()
    }
}

fn bot() -> Bot {
    Bot::new("callbacks", "1")
        .connect_four(|_| Leftmost)
        .mahjong(|_| Brain::default())
        .othello(|_| FirstSquare)
        .big_two(|start: &GameStart| Singles {
            seat: start.seat,
            hand: Vec::new(),
        })
}

impl Bot {
    /// A player of one game, as its first call makes it.
    fn player(&self, path: &str, start: &Bytes) -> Box<dyn SeatPlayer> {
        let Some(Kind::Start(begins)) = CallEnvelope::decode(start.clone()).unwrap().call else {
            panic!("question 0 is the start");
        };
        let game = self.games.iter().find(|game| game.path == path).unwrap();
        (game.new)(&begins, start).unwrap()
    }
}

fn call(bytes: &Bytes, past_answer: Option<Bytes>) -> Call {
    Call {
        bytes: bytes.clone(),
        limit: Duration::from_secs(3),
        past_answer,
    }
}

/// A game of the bot against itself.
fn play(name: &str, number: u8) -> Record {
    let bot = bot();
    let kind = game(name).unwrap();
    let mut sitting = Sitting::new(Fixture {
        kind,
        game_id: "callbacks".to_owned(),
        setup: serde_json::Value::Null,
        seed: Seed::new([number; 32]),
        players: PerSeat::new(kind.info().seats, |seat| seat.to_string()),
        limits: Limits::default(),
        spent: PerSeat::default(),
    })
    .unwrap();
    let mut players: Vec<Box<dyn SeatPlayer>> = Vec::new();
    loop {
        match sitting.advance() {
            Next::Tell(calls) => {
                for (seat, told) in calls {
                    let answer = players[seat.index()].hear(call(&told, None)).unwrap();
                    assert_eq!(answer, None);
                }
            }
            Next::Ask(questions) => {
                for question in questions {
                    let answer = if question.number == 0 {
                        players.push(bot.player(kind.path(), &question.call));
                        let ready = Some(Ready::default());
                        let number = Some(0);
                        AnswerEnvelope { number, ready }.encode_to_vec().into()
                    } else {
                        let player = &mut players[question.seat.index()];
                        let answer = player.hear(call(&question.call, None)).unwrap();
                        numbered(Some(question.number), &answer.unwrap())
                    };
                    sitting.hear(question.seat, SeatReply::Answer(answer), Duration::ZERO);
                }
            }
            Next::Over(finished) => {
                for (seat, told) in finished.last_calls {
                    let Some(Kind::Over(over)) = CallEnvelope::decode(told).unwrap().call else {
                        panic!("the last call is the end");
                    };
                    players[seat.index()].over(&over);
                }
                return finished.record;
            }
        }
    }
}

const GAMES: [&str; 4] = ["connect_four", "mahjong", "othello", "big_two"];

#[test]
fn callbacks_are_enough_to_play_every_game() {
    assert_eq!(GAMES.len(), referee_games::GAMES.len());
    for name in &GAMES {
        for number in 0..20 {
            let record = play(name, number);
            let Verdict::Finished { fouls, .. } = &record.result.verdict else {
                panic!("the game counts");
            };
            assert_eq!(fouls, &[], "{name} with seed {number}");
        }
    }
}

/// A player that is resumed hears the same calls, each old question with the
/// answer that was given, and answers nothing.
#[test]
fn a_player_can_be_caught_up_in_every_game() {
    let bot = bot();
    for name in &GAMES {
        let record = play(name, 7);
        let path = game(name).unwrap().path();
        for seat in Seat::all(record.header.players.seats()) {
            let mut player: Option<Box<dyn SeatPlayer>> = None;
            let mut asked: Option<&Bytes> = None;
            for event in &record.events {
                match event {
                    Event::Asked {
                        seat: s,
                        call,
                        number,
                    } if *s == seat => match &mut player {
                        None => {
                            assert_eq!(*number, 0);
                            player = Some(bot.player(path, call));
                        }
                        Some(_) => asked = Some(call),
                    },
                    Event::Told {
                        seat: s,
                        call: told,
                    } if *s == seat => {
                        let envelope = CallEnvelope::decode(told.clone()).unwrap();
                        if envelope.call.is_none() {
                            let player = player.as_mut().unwrap();
                            assert_eq!(player.hear(call(told, None)).unwrap(), None);
                        }
                    }
                    Event::Answered {
                        seat: s, answer, ..
                    } if *s == seat => {
                        if let Some(asked) = asked.take() {
                            let again = call(asked, Some(answer.clone()));
                            let player = player.as_mut().unwrap();
                            assert_eq!(player.hear(again).unwrap(), None);
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Without a stream, and with the messages of one.
#[test]
fn a_local_player_answers_as_it_did_on_its_stream() {
    let bot = bot();
    for name in &GAMES {
        let record = play(name, 3);
        let path = game(name).unwrap().path();
        for seat in Seat::all(record.header.players.seats()) {
            let mut player = None;
            let mut said = None;
            let mut answers = 0;
            for event in &record.events {
                match event {
                    Event::Asked { seat: s, call, .. } if *s == seat => match &mut player {
                        None => player = Some(bot.sit(path, call).unwrap()),
                        Some(player) => said = player.hear(call).unwrap(),
                    },
                    Event::Told { seat: s, call } if *s == seat => {
                        let envelope = CallEnvelope::decode(call.clone()).unwrap();
                        if envelope.call.is_none() {
                            assert_eq!(player.as_mut().unwrap().hear(call).unwrap(), None);
                        }
                    }
                    Event::Answered {
                        seat: s,
                        answer,
                        number,
                        ..
                    } if *s == seat && *number > 0 => {
                        assert_eq!(said.take().as_ref(), Some(answer), "{name}");
                        answers += 1;
                    }
                    _ => {}
                }
            }
            assert!(answers > 0, "{name}, seat {seat}");
        }
    }
}

#[test]
fn a_foul_and_an_ending_of_a_newer_referee_are_unspecified() {
    let over = GameOver::decode(&b"\x0a\x02\x18\x63\x10\x63"[..]).unwrap();
    assert_eq!((over.results[0].foul, over.ending), (Some(99), 99));
    assert_eq!(over.results[0].foul(), FoulKind::Unspecified);
    assert_eq!(over.ending(), Ending::Unspecified);
}

#[test]
fn a_bot_sits_down_where_it_plays_and_by_a_start() {
    let record = play("othello", 3);
    let Event::Asked { call: start, .. } = &record.events[0] else {
        panic!("a game begins with a question");
    };
    let path = game("othello").unwrap().path();
    let refused = |path: &str, start: &[u8]| bot().sit(path, start).err().unwrap();
    assert_eq!(
        refused("/no.such.Game/Play", start).code(),
        tonic::Code::Unimplemented
    );
    for no_start in [&b""[..], b"\xff"] {
        let status = refused(path, no_start);
        assert_eq!(status.code(), tonic::Code::InvalidArgument, "{status}");
    }
}

#[test]
fn a_local_player_that_panics_is_an_error() {
    let bot = Bot::new("says", "1").mahjong(|_: &GameStart| -> Says<Tile> {
        panic!("no memory");
    });
    let record = play("mahjong", 7);
    let Event::Asked { call: start, .. } = &record.events[0] else {
        panic!("a game begins with a question");
    };
    let path = game("mahjong").unwrap().path();
    let status = bot.sit(path, start).err().unwrap();
    assert_eq!(status.message(), "panic in the constructor: no memory");
}

/// A bot that answers one question so, and does nothing else.
struct Says<T>(T);

impl MahjongBot for Says<Tile> {
    fn get_draw(&mut self, _: Tile) {}
    fn request_discard(&mut self, _: Duration) -> Tile {
        self.0
    }
    fn get_opp_discard(&mut self, _: Tile) {
        panic!("not that one");
    }
    fn request_win(&mut self, _: Tile, _: bool, _: Duration) -> bool {
        false
    }
}

impl BigTwoBot for Says<Vec<Card>> {
    fn get_deal(&mut self, _: Vec<Card>) {}
    fn get_play(&mut self, _: &GetPlay) {}
    fn request_play(&mut self, _: &RequestPlay, _: Duration) -> Option<Vec<Card>> {
        Some(self.0.clone())
    }
}

impl OthelloBot for Says<Square> {
    fn request_move(&mut self, _: &RequestMove, _: Duration) -> Square {
        self.0
    }
}

/// The answer to the first question that seat 0 is asked in a game, or the error of the first
/// notice before it that fails.
fn first_answer(bot: &Bot, name: &str) -> Result<Option<Vec<u8>>, tonic::Status> {
    let record = play(name, 7);
    let path = game(name).unwrap().path();
    let calls = record.events.iter().filter_map(|event| match event {
        Event::Asked { seat, call, .. } | Event::Told { seat, call } if seat.index() == 0 => {
            Some(call)
        }
        _ => None,
    });
    let mut calls = calls.cloned();
    let mut player = bot.player(path, &calls.next().unwrap());
    for told in calls {
        let heard = player.hear(call(&told, None))?;
        if heard.is_some() {
            return Ok(heard);
        }
    }
    Ok(None)
}

#[test]
fn an_invalid_answer_is_the_authors_error() {
    let (three, four) = (Card::ThreeOfClubs, Card::FourOfClubs);
    let cards =
        |cards: Vec<Card>| Bot::new("says", "1").big_two(move |_: &GameStart| Says(cards.clone()));
    let square = |row, column| {
        Bot::new("says", "1").othello(move |_: &GameStart| Says(Square { row, column }))
    };
    let tile = |tile| Bot::new("says", "1").mahjong(move |_: &GameStart| Says(tile));
    for (bot, name, words) in [
        (
            tile(Tile::Unspecified),
            "mahjong",
            "request_discard returned Unspecified: expected a tile of the hand",
        ),
        (
            cards(vec![three, three]),
            "big_two",
            "request_play returned [ThreeOfClubs, ThreeOfClubs]: expected cards, each once",
        ),
        (cards(vec![]), "big_two", "request_play returned []"),
        (
            cards(vec![Card::Unspecified]),
            "big_two",
            "request_play returned [Unspecified]",
        ),
        (square(8, 0), "othello", "request_move returned Square"),
        (square(0, 8), "othello", "0 to 7"),
    ] {
        let status = first_answer(&bot, name).unwrap_err();
        assert_eq!(status.code(), tonic::Code::Internal);
        assert!(status.message().contains(words), "{status}");
    }
    // Whether the rules allow it, the referee decides.
    for (bot, name) in [
        (cards(vec![four]), "big_two"),
        (square(7, 7), "othello"),
        (tile(Tile::C1), "mahjong"),
    ] {
        assert!(first_answer(&bot, name).unwrap().is_some());
    }
}

#[test]
fn a_callback_that_panics_is_named() {
    let bot = Bot::new("says", "1").mahjong(|_: &GameStart| Says(Tile::C1));
    let record = play("mahjong", 7);
    let mut player = None;
    let mut said = None;
    for event in &record.events {
        match (event, &mut player) {
            (Event::Asked { seat, call, .. }, None) if seat.index() == 1 => {
                player = Some(bot.player(game("mahjong").unwrap().path(), call));
            }
            (Event::Told { seat, call: told }, Some(player)) if seat.index() == 1 => {
                if let Err(status) = player.hear(call(told, None)) {
                    said = Some(status);
                    break;
                }
            }
            _ => {}
        }
    }
    let said = said.expect("the other seat discards");
    assert_eq!(said.message(), "panic in get_opp_discard: not that one");
}
