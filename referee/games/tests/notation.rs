//! What is printed is read back, in every game.

use std::fmt::Write as _;

use referee_core::{Dice, Game as _, GameKind, Seat, Seed, State, Step, TableStep};
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
    for kind in GAMES {
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
    for kind in GAMES {
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

#[test]
fn what_is_no_set_up_is_told_with_one_that_is() {
    for kind in GAMES {
        let name = kind.info().name;
        for line in ["hello", "--setup", "{", r#"{"no such part":1}"#, "(", "é"] {
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
    for kind in GAMES {
        let info = kind.info();
        let has_moves = info.setup.iter().any(|part| part.english == "moves");
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
                        assert_eq!(begun(*kind, &again), table.scene(), "{line}");
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
    for kind in GAMES {
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
