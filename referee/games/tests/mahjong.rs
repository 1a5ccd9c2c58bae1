//! Rounds of Mahjong by the rules page: what each seat is told and asked, how
//! a round ends, and what a set-up may be.

use arena_proto::games::mahjong::v1::{MahjongCall, mahjong_call::Call};
use prost::Message as _;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use referee_core::{
    Accepted, AnswerRefusal, Dice, FoulKind, Game as _, Outcome, Seat, Seed, Sight as _, Step,
    Table, TableStep, Wire as _, testing::prove,
};
use referee_games::{
    forfeit, game,
    mahjong::{
        Answer, COPIES, Mahjong, MissingSuit, Public, Question, Setup, TILES, Tile, parse, print,
    },
};
use serde_json::{Value, json};

const SEATS: [Seat; 2] = [Seat::new(0), Seat::new(1)];

/// A round whose players answer by a script.
struct Round {
    table: Box<dyn Table>,
    /// The notices and questions that each seat was sent.
    said: [Vec<String>; 2],
}

impl Round {
    fn new(setup: &Value) -> Self {
        let mahjong = game("mahjong").expect("it is listed");
        Self {
            table: mahjong.deal(setup, &Seed::new([7; 32])).expect("a set-up"),
            said: [Vec::new(), Vec::new()],
        }
    }

    /// The seat that is asked next; none when the round is over.
    fn ask(&mut self) -> Result<Seat, Outcome> {
        loop {
            match self.table.step() {
                TableStep::Tell(seats) => seats.into_iter().for_each(|seat| self.call(seat)),
                TableStep::Ask(seats) => {
                    self.call(seats[0]);
                    return Ok(seats[0]);
                }
                TableStep::Over(outcome) => return Err(outcome),
            }
        }
    }

    fn call(&mut self, seat: Seat) {
        let mut bytes = Vec::new();
        self.table.write_call(seat, &mut bytes);
        self.said[seat.index()].push(in_words(&bytes));
    }

    fn answer(&mut self, seat: Seat, notation: &str) -> Accepted {
        let legal = self.table.legal(seat);
        let (_, bytes) = legal
            .iter()
            .find(|(name, _)| name == notation)
            .expect("a legal answer");
        let accepted = self.table.answer(seat, bytes).expect("a legal answer");
        self.table.resolve();
        accepted
    }

    /// Plays to the end; the script is told what a seat heard last. Where it
    /// says nothing, wins are declined and what was drawn is discarded.
    fn play(&mut self, mut script: impl FnMut(Seat, &str) -> Option<&'static str>) -> Outcome {
        loop {
            let seat = match self.ask() {
                Ok(seat) => seat,
                Err(outcome) => return outcome,
            };
            let said = &self.said[seat.index()];
            let answer = match script(seat, said.last().expect("it was asked")) {
                Some(answer) => answer.to_owned(),
                None if said.last().expect("it was asked") == "RequestDiscard" => {
                    let drawn = said.iter().rev().find_map(|it| it.strip_prefix("GetDraw "));
                    drawn.expect("it has drawn").to_owned()
                }
                None => "pass".to_owned(),
            };
            self.answer(seat, &answer);
        }
    }
}

fn in_words(call: &[u8]) -> String {
    let tiles = |numbers: &[i32]| {
        let suits = ["c", "b", "d"];
        let named = |number: &i32| format!("{}{}", number % 10, suits[(number / 10) as usize]);
        print(&parse(&numbers.iter().map(named).collect::<String>()).expect("notation"))
    };
    match MahjongCall::decode(call)
        .expect("a call")
        .call
        .expect("a call of the game's own")
    {
        Call::GetDraw(draw) => format!("GetDraw {}", tiles(&draw.tiles)),
        Call::RequestDiscard(_) => "RequestDiscard".to_owned(),
        Call::GetOppDiscard(discard) => format!("GetOppDiscard {}", tiles(&[discard.tile])),
        Call::RequestWin(win) => {
            let how = if win.is_self_draw {
                "drawn"
            } else {
                "discarded"
            };
            format!("RequestWin {} {how}", tiles(&[win.winning_tile]))
        }
        other => panic!("not a call of the game's own: {other:?}"),
    }
}

/// Tiles in the order of the wall, filled up with all others.
fn wall(begins: &str) -> Vec<Tile> {
    let mut wall = parse(begins).expect("notation");
    for tile in Tile::all() {
        let laid = wall.iter().filter(|laid| **laid == tile).count();
        wall.extend(std::iter::repeat_n(tile, usize::from(COPIES) - laid));
    }
    wall
}

fn with_wall(begins: &str) -> Round {
    Round::new(&json!({ "wall": print(&wall(begins)) }))
}

/// 13 tiles that wait for every character.
const NINE_WAITS: &str = "1112345678999c";
/// 13 tiles that wait for none.
const FAR: &str = "147b147d258b258d3b";

#[test]
fn a_win_on_a_tile_drawn_is_asked_for_and_not_told() {
    let mut round = with_wall(&format!("{NINE_WAITS}{FAR}5c"));
    let outcome = round.play(|_, _| Some("win"));
    assert_eq!(
        round.said[0],
        ["GetDraw 1112345678999c", "RequestWin 5c drawn"]
    );
    assert_eq!(round.said[1], ["GetDraw 1234578b124578d"]);
    assert_eq!(outcome.places.as_slice(), [1, 2]);
    // A full flush, 4 faan, and 81 tiles are left.
    assert_eq!(outcome.scores.as_slice(), [3 * 4 + 81, 0]);
    assert_eq!(outcome.reason, "4 faan with 5c by self draw");
}

#[test]
fn a_win_that_is_declined_joins_the_hand_and_is_told() {
    let mut round = with_wall(&format!("{NINE_WAITS}{FAR}5c9d1c"));
    round.play(|_, _| None);
    assert_eq!(
        round.said[0][..6],
        [
            "GetDraw 1112345678999c",
            "RequestWin 5c drawn",
            "GetDraw 5c",
            "RequestDiscard",
            "GetOppDiscard 9d",
            // The wait is still there.
            "RequestWin 1c drawn",
        ]
    );
    assert_eq!(
        round.said[1][1..4],
        ["GetOppDiscard 5c", "GetDraw 9d", "RequestDiscard"]
    );
}

#[test]
fn a_win_on_a_discard_is_asked_for_and_told_only_if_it_is_declined() {
    let begins = format!("{NINE_WAITS}{FAR}9d5c");
    let mut round = with_wall(&begins);
    let outcome = round
        .play(|seat, heard| (seat == SEATS[0] && heard.starts_with("RequestWin")).then_some("win"));
    let told = [
        "GetDraw 1112345678999c",
        "GetDraw 9d",
        "RequestDiscard",
        "RequestWin 5c discarded",
    ];
    assert_eq!(round.said[0], told);
    assert_eq!(outcome.scores.as_slice(), [3 * 4 + 80, 0]);
    assert_eq!(outcome.reason, "4 faan with 5c by discard");

    let mut round = with_wall(&begins);
    round.play(|_, _| None);
    assert_eq!(round.said[0][..4], told);
    assert_eq!(round.said[0][4], "GetOppDiscard 5c");
}

#[test]
fn the_second_seat_wins_as_well() {
    let mut round = with_wall(&format!("{FAR}{NINE_WAITS}5c"));
    let outcome = round.play(|seat, _| (seat == SEATS[1]).then_some("win"));
    assert_eq!(
        round.said[1],
        ["GetDraw 1112345678999c", "RequestWin 5c discarded"]
    );
    assert_eq!(outcome.places.as_slice(), [2, 1]);
    assert_eq!(outcome.scores.as_slice(), [0, 3 * 4 + 81]);
}

/// The rules page's example: 8 faan with 14 tiles left are 38.
#[test]
fn a_hand_of_8_faan_with_14_tiles_left_scores_38() {
    let mut tiles = wall(&format!("{FAR}1112223334445c"));
    // The 68th tile that is drawn, the 34th of seat 1, is a 5c.
    let at = tiles.len() - 1 - 14;
    let five = parse("5c").unwrap()[0];
    let other = tiles.iter().rposition(|tile| *tile == five).unwrap();
    tiles.swap(at, other);
    let mut round = Round::new(&json!({ "wall": print(&tiles) }));
    let mut turns = 0;
    let outcome = round.play(|seat, heard| {
        turns += usize::from(seat == SEATS[1] && heard == "RequestDiscard");
        (seat == SEATS[1] && turns == 33 && heard == "RequestWin 5c drawn").then_some("win")
    });
    assert_eq!(outcome.scores.as_slice(), [0, 38], "{}", outcome.reason);
    // Whoever looks on sees as many as are counted.
    assert_eq!(round.table.scene().captions[0].english, "14 tiles left");
}

#[test]
fn the_wall_ends_after_the_last_discard_was_offered_and_told() {
    let mut tiles = wall(&format!("{NINE_WAITS}{FAR}"));
    let five = tiles
        .iter()
        .rposition(|tile| tile.to_string() == "5c")
        .unwrap();
    tiles.swap(five, TILES - 1);
    let setup = json!({ "wall": print(&tiles) });
    let mut round = Round::new(&setup);
    let outcome = round.play(|_, _| None);
    assert_eq!(outcome.places.as_slice(), [1, 1]);
    assert_eq!(outcome.scores.as_slice(), [0, 0]);
    assert_eq!(outcome.reason, "the wall is empty");
    let discards = |seat: usize| {
        round.said[seat]
            .iter()
            .filter(|it| *it == "RequestDiscard")
            .count()
    };
    assert_eq!([discards(0), discards(1)], [41, 41]);
    let last: Vec<_> = round.said[0].iter().rev().take(2).collect();
    assert_eq!(last, ["GetOppDiscard 5c", "RequestWin 5c discarded"]);
    assert_eq!(round.said[1].last().unwrap(), "RequestDiscard");

    // With no tile left it is worth its faan alone.
    let mut round = Round::new(&setup);
    let mut turns = 0;
    let outcome = round.play(|seat, heard| {
        turns += usize::from(seat == SEATS[0] && heard == "RequestDiscard");
        (turns == 41 && heard == "RequestWin 5c discarded").then_some("win")
    });
    assert_eq!(outcome.scores.as_slice(), [3 * 4, 0]);
}

#[test]
fn three_suits_win_only_where_the_set_up_says_so() {
    for (missing_suit, asked) in [("required", "GetDraw 4d"), ("free", "RequestWin 4d drawn")] {
        let begins = wall("123456c789b1123d147b147c258b258c3b4d");
        let setup = json!({ "missing_suit": missing_suit, "wall": print(&begins) });
        let mut round = Round::new(&setup);
        round.ask().unwrap();
        assert_eq!(round.said[0][1], asked);
    }
}

#[test]
fn a_foul_is_credited_with_3_and_the_tiles_left() {
    // (who leaves, after how many answers, what the other gets)
    for (leaver, after, expected) in [
        (0, 0, 3 + 81),
        (1, 0, 3 + 81),
        (1, 1, 3 + 80),
        (0, 2, 3 + 79),
    ] {
        let mut round = with_wall(&format!("{FAR}{}", "147c147d258c258d3c"));
        for _ in 0..after {
            let seat = round.ask().unwrap();
            let (tile, _) = round.table.legal(seat).pop().unwrap();
            round.answer(seat, &tile);
        }
        round.ask().unwrap();
        round.table.forfeit(SEATS[leaver]);
        let outcome = round.ask().unwrap_err();
        let mut scores = [expected, expected];
        scores[leaver] = 0;
        assert_eq!(
            outcome.scores.as_slice(),
            scores,
            "seat {leaver} after {after}"
        );
        assert_eq!(outcome.places.as_slice()[leaver], 2);
    }
    // Before the hands are dealt.
    let mut round = Round::new(&Value::Null);
    round.table.forfeit(SEATS[0]);
    assert_eq!(round.ask().unwrap_err().scores.as_slice(), [0, 3 + 82]);
    round.table.forfeit(SEATS[1]);
    let both = round.ask().unwrap_err();
    assert_eq!(
        (both.places.as_slice(), both.scores.as_slice()),
        (&[2, 2][..], &[0, 0][..])
    );
}

#[test]
fn what_is_not_in_the_hand_can_not_be_discarded() {
    let mut round = with_wall(&format!("{FAR}{NINE_WAITS}9d"));
    let seat = round.ask().unwrap();
    let discard = |text: &str| {
        let mut bytes = Vec::new();
        Mahjong::write_answer(&Answer::Discard(parse(text).unwrap()[0]), &mut bytes);
        bytes
    };
    assert_eq!(
        round.table.answer(seat, &discard("9c")),
        Err(AnswerRefusal::Illegal(
            "expected a tile of 1234578b1245789d, found 9c".to_owned()
        ))
    );
    let mut win = Vec::new();
    Mahjong::write_answer(&Answer::Win, &mut win);
    let refused = [
        (&b""[..], "expected a discard, found nothing"),
        (&win, "expected a discard, found a claim"),
        // Field 10 holds 30, 0 and 10.
        (&[80, 30], "expected a tile, 10 * suit + rank, found 30"),
        (&[80, 0], "expected a tile, 10 * suit + rank, found 0"),
        (&[80, 10], "expected a tile, 10 * suit + rank, found 10"),
    ];
    for (bytes, why) in refused {
        let refused = AnswerRefusal::Malformed(why.to_owned());
        assert_eq!(round.table.answer(seat, bytes), Err(refused));
    }
    // The tile that was drawn can be.
    assert!(round.table.answer(seat, &discard("9d")).unwrap().public);
}

#[test]
fn a_claim_that_is_declined_is_not_shown() {
    let mut round = with_wall(&format!("{FAR}{NINE_WAITS}5c"));
    let first = round.ask().unwrap();
    round.answer(first, "5c");
    let second = round.ask().unwrap();
    assert_eq!(round.said[1].last().unwrap(), "RequestWin 5c discarded");
    // Field 11 holds no claim.
    for bytes in [&[88, 0][..], &[88, 3]] {
        assert!(matches!(
            round.table.answer(second, bytes),
            Err(AnswerRefusal::Malformed(_))
        ));
    }
    assert!(!round.answer(second, "pass").public);
}

/// Worked out with another implementation of ChaCha20 and of the shuffle: the
/// hands of seed 09…09 and the tiles that are drawn then.
#[test]
fn a_seed_means_the_same_deal_for_ever() {
    let deal = game("mahjong")
        .unwrap()
        .deal(&Value::Null, &Seed::new([9; 32]));
    let mut round = Round {
        table: deal.unwrap(),
        said: [Vec::new(), Vec::new()],
    };
    round.play(|_, _| None);
    assert_eq!(round.said[0][0], "GetDraw 678c2569b123478d");
    assert_eq!(round.said[1][0], "GetDraw 13667c128b16699d");
    let drawn = |seat: usize| {
        let draws = round.said[seat]
            .iter()
            .filter_map(|it| it.strip_prefix("GetDraw "));
        draws.skip(1).take(4).collect::<String>()
    };
    assert_eq!([drawn(0), drawn(1)], ["5c8c4c5d", "7b5b9b6b"]);
}

#[test]
fn what_a_seat_draws_does_not_depend_on_what_is_discarded() {
    let draws = |pick: fn(usize) -> usize| {
        let mut round = Round::new(&Value::Null);
        while let Ok(seat) = round.ask() {
            let legal = round.table.legal(seat);
            let declined = legal.iter().find(|(name, _)| name == "pass");
            let (name, _) = declined.unwrap_or_else(|| &legal[pick(legal.len())]);
            let name = name.clone();
            round.answer(seat, &name);
        }
        round.said.map(|said| {
            let draws = said.into_iter().filter(|it| it.starts_with("GetDraw"));
            draws.collect::<Vec<_>>()
        })
    };
    assert_eq!(draws(|_| 0), draws(|tiles| tiles - 1));
}

/// Hands that are often complete, so that claims are offered, declined and
/// taken while the unseen is dealt again.
#[test]
fn nothing_leaks_where_claims_are_common() {
    for (first, second) in [
        (NINE_WAITS, "1112345678999b"),
        ("2223334445556c", "2223334445556b"),
        ("123456789c1112b", "1112345678999d"),
        (FAR, "4445556667778d"),
    ] {
        let setup = Setup {
            hands: Some([first, second].map(str::to_owned)),
            ..Setup::default()
        };
        for i in 0..250_u16 {
            let mut bytes = [1; 32];
            bytes[..2].copy_from_slice(&i.to_le_bytes());
            let left = |seat, place| forfeit(seat, FoulKind::Crashed, place).to_vec();
            if let Err(why) = prove::<Mahjong>(&setup, &Seed::new(bytes), left) {
                panic!("{first} {second}, seed {i}: {why}");
            }
        }
    }
}

/// The tiles that are dealt again must be consistent, and another deal.
#[test]
fn what_is_dealt_again_can_be_played_alike() {
    let mut rng = StdRng::seed_from_u64(5);
    let mut different = 0;
    for round in 0..200_u8 {
        let mut dice = Dice::new(&Seed::new([round; 32]));
        let beginning = Mahjong::deal(&Setup::default(), &mut dice);
        let mut state = beginning.clone();
        let mut answers = Vec::new();
        let mut stop = rng.random_range(0..90);
        let hands = loop {
            match Mahjong::step(&mut state) {
                Step::Tell(..) => {}
                Step::Over(_) => break state.private,
                Step::Ask(_) if stop == 0 => break state.private,
                Step::Ask(asked) => {
                    stop -= 1;
                    let (seat, question) = asked[0];
                    let legal = Mahjong::legal(&state.observe(seat), question);
                    let answer = legal[rng.random_range(0..legal.len())];
                    answers.push((seat, question, answer));
                    Mahjong::resolve(&mut state, &[(seat, answer)]);
                }
            }
        };
        for seat in SEATS {
            let mut again = Mahjong::redeal(&beginning, &answers, seat, &mut dice);
            let mut given = answers
                .iter()
                .filter(|(.., answer)| *answer != Answer::Pass)
                .peekable();
            loop {
                match Mahjong::step(&mut again) {
                    Step::Tell(..) => {}
                    Step::Over(_) => break,
                    Step::Ask(asked) => {
                        let (asked, question) = asked[0];
                        let answer = match (given.peek(), question) {
                            (Some((.., Answer::Win)), _) => Answer::Win,
                            (_, Question::Win { .. }) => Answer::Pass,
                            (Some((.., answer)), _) => *answer,
                            (None, _) => break,
                        };
                        Mahjong::judge(&again.observe(asked), question, &answer).unwrap();
                        if answer != Answer::Pass {
                            given.next();
                        }
                        Mahjong::resolve(&mut again, &[(asked, answer)]);
                    }
                }
            }
            assert!(given.next().is_none(), "round {round}, seat {seat}");
            assert_eq!(again.private[seat].hand, hands[seat].hand, "round {round}");
            let other = seat.other();
            different += u32::from(again.private[other].hand != hands[other].hand);
        }
    }
    assert!(different > 300, "{different}");
}

#[test]
fn a_set_up_that_can_not_be_is_refused_with_the_reason() {
    let refused = |setup: Value| {
        game("mahjong")
            .unwrap()
            .setup(&setup)
            .unwrap_err()
            .to_string()
    };
    let full = print(&wall(""));
    assert_eq!(
        refused(json!({ "wall": &full[2..] })),
        "the wall must be 108 tiles, found 106"
    );
    assert_eq!(
        refused(json!({ "wall": full.replacen('2', "1", 1) })),
        "there are four of each tile, found 5 of 1c in the wall"
    );
    assert_eq!(
        refused(json!({ "wall": "12x" })),
        "the wall: expected ranks 1 to 9 followed by their suit c, b or d, such as 123c45b6d, found 'x'"
    );
    assert_eq!(
        refused(json!({ "hands": [NINE_WAITS, "123c"] })),
        "the hand of seat 1 must be 13 tiles, found 3"
    );
    assert_eq!(
        refused(json!({ "hands": [NINE_WAITS, NINE_WAITS] })),
        "there are four of each tile, found 6 of 1c in both hands together"
    );
    assert_eq!(
        refused(json!({ "hands": [NINE_WAITS, FAR], "wall": full })),
        "expected a wall or hands, found both: the wall has the hands in it"
    );
    assert!(refused(json!({ "missing": "free" })).contains("unknown field"));
    assert!(refused(json!({ "missing_suit": "no" })).contains("unknown variant"));
}

#[test]
fn an_opening_is_two_hands() {
    let opening = Mahjong::opening(&format!("{NINE_WAITS} {FAR}")).unwrap();
    assert_eq!(opening.hands, Some([NINE_WAITS, FAR].map(str::to_owned)));
    assert_eq!(Mahjong::validate(&opening), Ok(()));
    let mut round = Round::new(&serde_json::to_value(&opening).unwrap());
    round.ask().unwrap();
    assert_eq!(round.said[0][0], "GetDraw 1112345678999c");
    assert_eq!(
        Mahjong::opening(r#"{"missing_suit": "free"}"#)
            .unwrap()
            .missing_suit,
        MissingSuit::Free
    );
    assert!(
        Mahjong::opening("123c")
            .unwrap_err()
            .0
            .starts_with("expected two hands")
    );
}

/// A view is built from what another process sends.
#[test]
fn calls_that_make_no_sense_are_refused_and_nothing_panics() {
    let mut rng = StdRng::seed_from_u64(6);
    let mut start = Vec::new();
    let state = Mahjong::deal(&Setup::default(), &mut Dice::new(&Seed::new([0; 32])));
    Mahjong::write_start(&state.observe(SEATS[0]), &mut start);
    let mut heard = 0;
    for _ in 0..20_000 {
        let mut view = Mahjong::begin(SEATS[0], &start).unwrap();
        for _ in 0..40 {
            // Mostly calls of the game, with tiles that may not be.
            let tile = rng.random_range(0..=30);
            let tiles = if rng.random_bool(0.5) { 1 } else { 13 };
            let mut draw = vec![82, tiles];
            draw.extend((0..tiles).map(|_| rng.random_range(1..30_u8)));
            draw.splice(..0, [82, tiles + 2]).for_each(drop);
            draw[2] = 10;
            let call = match rng.random_range(0..5) {
                0 => draw,
                1 => vec![90, 0],
                2 => vec![98, 2, 8, tile],
                3 => vec![106, 4, 8, tile, 16, rng.random_range(0..2)],
                _ => (0..rng.random_range(0..9)).map(|_| rng.random()).collect(),
            };
            let Ok(question) = Mahjong::hear(&mut view, &call) else {
                continue;
            };
            heard += 1;
            if let Some(question) = question {
                let kinds: Vec<Tile> = Tile::all().collect();
                let answer = match rng.random_range(0..4) {
                    0 => Answer::Win,
                    1 => Answer::Pass,
                    _ => Answer::Discard(kinds[rng.random_range(0..kinds.len())]),
                };
                Mahjong::answered(&mut view, question, &answer);
            }
            let (public, private): (Public, _) = Mahjong::known(&view);
            let _ = Mahjong::scene(&public, &[(SEATS[0], &private)]);
        }
    }
    assert!(heard > 100_000, "{heard}");
}
