//! What is printed is read back, in every game.

use std::fmt::Write as _;

use referee_core::{Dice, Game as _, GameKind, Mark, Seat, Seed, State, Step, TableStep};
use referee_games::{
    GAMES,
    big_two::{BigTwo, Cards},
    game, game_name,
    mahjong::{self, Mahjong},
};
use serde_json::Value;

const PAGE: &str = include_str!("../../../docs/notation.md");

fn seed(number: u8) -> Seed {
    Seed::new([number; 32])
}

/// The scene that a game with this set-up begins with.
fn begun(kind: &dyn GameKind, setup: &Value) -> referee_core::Scene {
    let mut table = kind.deal(setup, &seed(1)).expect("a set-up");
    table.step();
    table.scene()
}

#[test]
fn the_lines_that_errors_and_help_show_are_set_ups() {
    for kind in &GAMES {
        let info = kind.info();
        let lines = info.setup_lines;
        let in_json = lines.iter().filter(|line| line.starts_with('{')).count();
        assert_eq!(in_json, 1, "{}", info.name);
        assert!(lines[lines.len() - 1].starts_with('{'), "{}", info.name);
        for line in lines {
            let setup = kind.opening(line);
            let setup = setup.unwrap_or_else(|error| panic!("{line}: {error}"));
            // Wherever a set-up is a value of TOML or JSON, it may be the line.
            assert_eq!(kind.setup(&Value::String((*line).to_owned())), Ok(setup));
        }
    }
}

/// The blocks of the page that name a game.
#[test]
fn every_line_of_the_page_is_a_set_up() {
    for kind in &GAMES {
        let begins = format!("```{}\n", game_name(kind.info().name));
        let blocks = PAGE.split(&begins).skip(1);
        let lines: Vec<&str> = blocks
            .flat_map(|block| block.split("```").next().unwrap_or_default().lines())
            .collect();
        assert!(lines.len() > 1, "{}", kind.info().name);
        for line in lines {
            if let Err(error) = kind.opening(line) {
                panic!("{line}: {error}");
            }
        }
    }
}

/// A line of named parts, and the JSON that it stands for.
#[test]
fn named_parts_are_those_of_json() {
    let wall = mahjong::print(
        &mahjong::Tile::all()
            .flat_map(|tile| [tile; 4])
            .collect::<Vec<_>>(),
    );
    for (name, line, json) in [
        (
            "connect_four",
            "6x7",
            r#"{"rows":6,"columns":7,"forbidden":"none"}"#,
        ),
        ("connect_four", "9X10", r#"{"rows":9,"columns":10}"#),
        // A board without one of the sides that are drawn.
        (
            "connect_four",
            "12x8",
            r#"{"rows":12,"columns":8,"forbidden":"none"}"#,
        ),
        (
            "connect_four",
            " forbidden = random , 6x7 ",
            r#"{"rows":6,"columns":7}"#,
        ),
        // With keys it is as in JSON.
        (
            "connect_four",
            "rows=6,columns=7",
            r#"{"rows":6,"columns":7}"#,
        ),
        (
            "connect_four",
            "6x7,forbidden=0:0,moves=3,3 4",
            r#"{"rows":6,"columns":7,"forbidden":"(0, 0)","moves":[3,3,4]}"#,
        ),
        (
            "connect_four",
            "9x9,forbidden=(4, 4)",
            r#"{"rows":9,"columns":9,"forbidden":{"at":{"x":4,"y":4}}}"#,
        ),
        (
            "connect_four",
            r#"FORBIDDEN={"at":{"x":4,"y":5}},rows=Random"#,
            r#"{"forbidden":{"at":{"x":4,"y":5}}}"#,
        ),
        (
            "connect_four",
            "board=..../..O./#XX./XOOX,moves=3 3",
            r##"{"board":["....","..O.","#XX.","XOOX"],"moves":[3,3]}"##,
        ),
        ("othello", "moves=f5, D6, c3", r#"{"moves":"f5, D6, c3"}"#),
        (
            "othello",
            "position=---------------------------OX------XO--------------------------- X,moves=f5",
            r#"{"position":"---------------------------OX------XO--------------------------- X","moves":"f5"}"#,
        ),
        (
            "mahjong",
            "missing-suit=Free,hands=122367c1478b138d | 4589c23569b2579d",
            r#"{"missing_suit":"free","hands":["122367c1478b138d","4589c23569b2579d"]}"#,
        ),
        (
            "mahjong",
            &format!("wall={wall}"),
            &format!(r#"{{"wall":"{wall}"}}"#),
        ),
        (
            "big_two",
            "scoring=PAYOUT,reversal=False",
            r#"{"scoring":"payout","reversal":false}"#,
        ),
        (
            "big_two",
            &format!("reversal=false,hands={}", BigTwo::INFO.setup_lines[0]),
            &format!(
                r#"{{"reversal":false,"hands":"{}"}}"#,
                BigTwo::INFO.setup_lines[0]
            ),
        ),
    ] {
        let kind = game(name).unwrap();
        let expected = kind.opening(json).unwrap();
        assert_eq!(kind.opening(line).as_ref(), Ok(&expected), "{line}");
        assert_eq!(kind.setup(&Value::from(line)), Ok(expected), "{line}");
    }
}

/// An error says what is wrong, and has a whole line that is taken.
#[test]
fn a_line_that_is_refused_is_told_with_one_that_is_taken() {
    for (name, line, says) in [
        ("connect_four", "6x13", "columns must be 4 to 12, found 13"),
        ("connect_four", "300x7", "rows: expected 4 to 12, found 300"),
        (
            "connect_four",
            "6x7,rows",
            "expected KEY=VALUE, found \"rows\"",
        ),
        ("connect_four", "6x7,8x8", "found 6x7 and 8x8"),
        ("connect_four", "rows=6,rows=7", "found rows twice"),
        (
            "connect_four",
            "9x9,forbidden=9:9",
            "the forbidden cell (9, 9) must lie on the board",
        ),
        (
            "connect_four",
            "colums=9",
            "expected one of the parts rows, columns, forbidden, moves, board, turn, found \"colums\"",
        ),
        ("connect_four", "rows=many", "rows: expected 4 to 12, found"),
        (
            "connect_four",
            "forbidden=here",
            "forbidden: expected \"random\"",
        ),
        ("connect_four", "3 3 99", "column 99, does not exist"),
        (
            "connect_four",
            r#"{"rows":3}"#,
            "rows must be 4 to 12, found 3",
        ),
        ("othello", "moves=a1", "Black encloses nothing on a1"),
        ("othello", "f5a1", "White encloses nothing on a1"),
        (
            "othello",
            "=",
            "expected one of the parts position, moves, found \"\"",
        ),
        (
            "mahjong",
            "missing-suit=maybe",
            "missing_suit: unknown variant",
        ),
        (
            "mahjong",
            "wall=123c",
            "the wall must be 108 tiles, found 3",
        ),
        ("big_two", "scoring=chips", "scoring: unknown variant"),
        (
            "big_two",
            "reversal=perhaps",
            "reversal: expected true or false",
        ),
        ("big_two", "hands=3C", "expected four hands"),
    ] {
        let kind = game(name).unwrap();
        let error = kind.opening(line).unwrap_err().to_string();
        assert!(error.contains(says), "{line}: {error}");
        let (_, example) = error.rsplit_once("such as ").unwrap();
        let taken = kind.opening(example);
        assert!(taken.is_ok(), "{line}: {error}");
        // It is in the form of the line that was refused.
        let is_size = |line: &str| {
            let rows = line.split_once('x').map(|(rows, _)| rows.parse::<u32>());
            rows.is_some_and(|rows| rows.is_ok())
        };
        let form = |line: &str| (line.starts_with('{'), line.contains('=') || is_size(line));
        assert_eq!(form(example), form(line), "{line}: {error}");
    }
}

#[test]
fn what_is_no_set_up_is_told_with_one_that_is() {
    for kind in &GAMES {
        let name = kind.info().name;
        for line in [
            "hello",
            "--setup",
            "{",
            r#"{"no such part":1}"#,
            "(",
            "é",
            "=",
            "a=b,",
        ] {
            let error = kind.opening(line).unwrap_err().to_string();
            // The example stands in quotation marks, or is named as such.
            let error = error.replace(", as in ", ", such as ");
            let has_example = error.split("such as ").skip(1).any(|example| {
                let example = example.trim_start_matches('"');
                let ends = example.char_indices().map(|(at, _)| at);
                let ends = ends.chain([example.len()]);
                ends.rev().any(|end| kind.opening(&example[..end]).is_ok())
            });
            let is_of_a_card = name == "big_two" && error.contains("a card such as 3C");
            assert!(has_example || is_of_a_card, "{name}, {line}: {error}");
        }
    }
}

/// After each move of random games the line that an export would write begins a game that stands
/// as this one does, as long as it goes on.
#[test]
fn a_transcript_is_read_back_where_a_set_up_has_moves() {
    let mut read = 0;
    for kind in &GAMES {
        let info = kind.info();
        let has_moves = info.can_begin_with_moves();
        let lines = info
            .setup_lines
            .iter()
            .map(|line| kind.opening(line).unwrap());
        let trials = kind.trials().iter();
        let trials = trials.map(|trial| serde_json::from_str(trial.setup).unwrap());
        for setup in lines.chain(trials) {
            for number in 0..4 {
                let seed = seed(number);
                let mut dice = Dice::new(&seed);
                let mut table = kind.deal(&setup, &seed).unwrap();
                let mut moves: Vec<String> = Vec::new();
                loop {
                    let asked = match table.step() {
                        TableStep::Tell(_) => continue,
                        TableStep::Ask(seats) => seats[0],
                        TableStep::Over(_) => break,
                    };
                    let notations: Vec<&str> = moves.iter().map(String::as_str).collect();
                    let line = kind.transcript((&setup, &seed), &notations).unwrap();
                    if has_moves {
                        let again = kind.opening(&line);
                        let again = again.unwrap_or_else(|error| panic!("{line}: {error}"));
                        // What the last move has turned is no part of a position.
                        let mut scene = table.scene();
                        let cells = scene.areas.iter_mut().flat_map(|area| &mut area.cells);
                        for cell in cells.filter(|cell| cell.mark == Some(Mark::Turned)) {
                            cell.mark = None;
                        }
                        assert_eq!(begun(*kind, &again), scene, "{line}");
                        // The line of what was read is the same.
                        assert_eq!(kind.transcript((&again, &seed), &[]).as_ref(), Ok(&line));
                        read += 1;
                    } else {
                        let back = line.split("; ").filter(|one| !one.is_empty());
                        assert_eq!(back.collect::<Vec<_>>(), notations, "{line}");
                    }
                    let legal = table.legal(asked);
                    let (notation, answer) = &legal[dice.below(legal.len() as u32) as usize];
                    table.answer(asked, answer).unwrap();
                    table.resolve();
                    moves.push(notation.clone());
                }
            }
        }
    }
    assert!(read > 1_000, "{read}");
}

/// A set-up as records, events and errors print it.
#[test]
fn a_set_up_is_read_back_from_its_full_form() {
    for kind in &GAMES {
        let trials = kind.trials().iter().map(|trial| trial.setup);
        for line in trials.chain(kind.info().setup_lines.iter().copied()) {
            let full = kind.opening(line).unwrap();
            assert_eq!(kind.opening(&full.to_string()).as_ref(), Ok(&full));
            // A part that is a list in JSON is read as a text too.
            let Value::Object(parts) = &full else {
                panic!("{full}");
            };
            for (key, part) in parts.iter().filter(|(_, part)| part.is_array()) {
                let text: Vec<String> = part.as_array().unwrap().iter().map(plain).collect();
                let mut changed = parts.clone();
                let between = if key == "hands" { " | " } else { " " };
                changed.insert(key.clone(), text.join(between).into());
                assert_eq!(kind.setup(&changed.into()).as_ref(), Ok(&full), "{key}");
            }
        }
    }
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[test]
fn hands_and_walls_are_read_back() {
    for number in 0..50 {
        let mut state: State<Mahjong> =
            Mahjong::deal(&Default::default(), &mut Dice::new(&seed(number)));
        while let Step::Tell(..) = Mahjong::step(&mut state) {}
        let hands = [0, 1].map(|seat| state.private[Seat::new(seat)].hand);
        let texts = hands.map(|hand| hand.to_string());
        let tiles: Vec<_> = hands.iter().flat_map(|hand| hand.tiles()).collect();
        let apart: String = tiles.iter().fold(String::new(), |mut text, tile| {
            let _ = write!(text, "{tile} ");
            text
        });
        for line in [texts.join(" "), texts.join(" | "), apart.to_uppercase()] {
            let read = Mahjong::opening(&line).unwrap();
            assert_eq!(Mahjong::validate(&read), Ok(()), "{line}");
            let read = read.hands.unwrap();
            let read = read.map(|hand| mahjong::Hand::of(&mahjong::parse(&hand).unwrap()).unwrap());
            assert_eq!(read, hands, "{line}");
        }

        let state: State<BigTwo> = BigTwo::deal(&Default::default(), &mut Dice::new(&seed(number)));
        let hands: Vec<Cards> = state.private.iter().map(|(_, hand)| *hand).collect();
        let texts: Vec<String> = hands.iter().map(Cards::to_string).collect();
        let line = texts.join(" | ");
        for line in [
            line.to_lowercase().replace("10", "T").replace(' ', ", "),
            line,
        ] {
            let read = BigTwo::opening(&line).unwrap();
            assert_eq!(read.hands.unwrap().to_vec(), hands, "{line}");
        }
    }
    // The order of a wall matters.
    let mut tiles: Vec<_> = mahjong::Tile::all().flat_map(|tile| [tile; 4]).collect();
    tiles.reverse();
    let wall = mahjong::print(&tiles);
    for line in [wall.clone(), wall.replace('9', " 9")] {
        let read = Mahjong::opening(&line).unwrap();
        assert_eq!(Mahjong::validate(&read), Ok(()));
        assert_eq!(mahjong::parse(&read.wall.unwrap()), Ok(tiles.clone()));
    }
    let mahjong = game("mahjong").unwrap();
    let error = mahjong.opening("123c").unwrap_err().to_string();
    assert!(
        error.ends_with("or a wall of 108 tiles, found 3 tiles"),
        "{error}"
    );
}
