//! Positions, hands and set-ups as people type them, and what is read back of what is printed.

use std::fs;

use serde_json::Value;

use crate::vocabulary::*;

/// The position that a solve in JSON was about.
fn solved(arena: &Arena, arguments: &str) -> String {
    let line = format!("solve othello {arguments} --time 50ms --format json");
    let events = events(&done(&arena.run(&line)));
    events[0]["position"].as_str().unwrap().to_owned()
}

/// Each is a way to write one position.
#[test]
fn a_position_is_solved_however_it_is_written() {
    let arena = Arena::new();
    let position = "OX---XX-OOXO-XX--OOX-XX---OOXXX--XOOXOOO--OO-OXX--X-OX---X------ X";
    let moves = "f5f4f3f6d3f2g6c3b3b2g4g3b1d2c4c5f1g2g1g5c6a1h6a2b5c7f7d6c2h5b8e7";
    for written in [
        // 32 moves have as many letters as a board has squares.
        moves,
        position,
        &position.to_lowercase().replace('-', "."),
        &position.replace(' ', "  "),
        &moves.to_uppercase(),
        &format!("{} b8 e7", &moves[..60]),
        &format!(r#"{{"moves":"{moves}"}}"#),
    ] {
        assert_eq!(
            solved(&arena, &format!("'{written}'")),
            position,
            "{written}"
        );
    }
    // What is printed is read back.
    let three = solved(&arena, "'f5 d6 c3'");
    assert_eq!(solved(&arena, "f5 d6 c3"), three);
    assert_eq!(solved(&arena, &position.replace(' ', "   ")), position);
    assert_eq!(solved(&arena, &format!("'{three}'")), three);
    let from = solved(&arena, "f5d6");
    assert_eq!(solved(&arena, &format!("'{from} c3'")), three);
}

/// Six of eight well-known endgames do.
#[test]
fn a_position_may_begin_with_a_hyphen_and_an_option_is_none() {
    let arena = Arena::new();
    for position in [
        "--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X",
        "-OOOOO----OOOOX--OOOOOO-XXXXXOO--XXOOX--OOXOXX----OXXO---OOO--O- X",
        "---------------------------OX------XO--------------------------- X",
        "-X.O---------------------..OX------XO--------------------------- X",
    ] {
        assert_eq!(
            solved(&arena, &format!("'{position}'")),
            position.replace('.', "-")
        );
    }
    let output = arena.run(
        "match othello --bot a=house:random --bot b=house:random --deals 1 --no-records --setup \
         '--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X'",
    );
    done(&output);
    for (line, says) in [
        (
            "solve othello --tim 10s",
            "a similar argument exists: '--time'",
        ),
        ("solve othello --what", "unexpected argument '--what' found"),
        ("solve othello '--XX X'", "found 4 squares"),
        (
            "match othello --bot a=house:random --bot b=house:random --setup --no-records",
            "a value is required for '--setup <SETUP>' but none was supplied",
        ),
        (
            "play othello --setup --start",
            "a value is required for '--setup <SETUP>' but none was supplied",
        ),
    ] {
        refused(&arena.run(line), says);
    }
    assert!(done(&arena.run("solve othello --help")).contains("Usage"));
}

/// In each game a line of its notation is a set-up for the command line, a list of openings and a
/// tournament's file.
#[test]
fn one_line_is_a_set_up_everywhere() {
    for (game, seats, line, part) in [
        ("othello", 2, "F5 d6 c3", "moves"),
        ("othello", 2, "moves=F5,d6,c3", "moves"),
        ("connect-four", 2, "6x7,forbidden=0:3", "rows"),
        ("mahjong", 2, "missing-suit=free", "missing_suit"),
        ("big-two", 4, "scoring=payout", "scoring"),
        (
            "othello",
            2,
            "------------------X--------XX------OXX-----O-------------------- O d3",
            "position",
        ),
        ("connect-four", 2, "3 3 4", "moves"),
        ("connect-four", 2, "..../..../..../XO.. 2 3", "board"),
        ("mahjong", 2, "122367c1478b138d 4589c23569b2579d", "hands"),
        (
            "big-two",
            4,
            referee_games::GAMES[3].info().setup_lines[0],
            "hands",
        ),
    ] {
        let arena = Arena::new();
        let bots = ["a", "b", "c", "d"].map(|name| format!("--bot {name}=house:random"));
        let bots = bots[..seats].join(" ");
        let of = |run: &str| -> Value {
            let records = arena.records(run);
            let header = records[0].1.lines().next().unwrap();
            serde_json::from_str::<Value>(header).unwrap()["setup"].clone()
        };
        let play = format!("match {game} {bots} --deals 1");
        done(&arena.run(&format!("{play} --records typed --setup '{line}'")));
        let typed = of("typed");
        assert!(!typed[part].is_null(), "{typed}");
        fs::write(arena.path("openings"), format!("# one\n{line}\n")).unwrap();
        done(&arena.run(&format!("{play} --records listed --openings openings")));
        assert_eq!(of("listed"), typed, "{game}");
        // A record prints the set-up as JSON, which is read back.
        done(&arena.run(&format!("{play} --records again --setup '{typed}'")));
        assert_eq!(of("again"), typed, "{game}");
    }
    let arena = Arena::new();
    fs::write(
        arena.path("cup.toml"),
        "game = \"othello\"\nshape = \"round-robin\"\ndeals = 1\nsetup = \"f5 d6 c3\"\n\
         bots = [{bot = \"house:random\"}, {name = \"b\", bot = \"house:random\"}]\n",
    )
    .unwrap();
    done(&arena.run("tournament run cup.toml"));
    let moves = done(&arena.run("tournament export cup --as moves"));
    let games: Vec<&str> = moves
        .lines()
        .filter(|line| !line.starts_with("# "))
        .collect();
    assert_eq!(games.len(), 2);
    assert!(
        games.iter().all(|game| game.starts_with("f5d6c3")),
        "{moves}"
    );
}

/// Without its last move an exported game is the opening of another match, on the same board.
#[test]
fn an_exported_game_is_an_opening() {
    for (game, setup) in [
        ("connect-four", ""),
        ("connect-four", "setup = \"..../..../..../XO.. 2 3\"\n"),
        (
            "othello",
            "setup = \"------------------X--------XX------OXX-----O-------------------- O d3\"\n",
        ),
    ] {
        let arena = Arena::new();
        fs::write(
            arena.path("cup.toml"),
            format!(
                "game = \"{game}\"\nshape = \"round-robin\"\ndeals = 2\n{setup}\
                 bots = [{{bot = \"house:random\"}}, {{name = \"b\", bot = \"house:random\"}}]\n"
            ),
        )
        .unwrap();
        done(&arena.run("tournament run cup.toml"));
        let moves = done(&arena.run("tournament export cup --as moves"));
        let lines = moves.lines().filter(|line| !line.starts_with("# "));
        let openings: Vec<String> = lines
            .map(|line| match game {
                "othello" => line[..line.len() - 2].to_owned(),
                _ => line.rsplit_once(' ').unwrap().0.to_owned(),
            })
            .collect();
        assert_eq!(openings.len(), 4, "{moves}");
        fs::write(arena.path("openings"), openings.join("\n")).unwrap();
        done(&arena.run(&format!(
            "match {game} {RANDOMS} --deals 4 --openings openings --no-records"
        )));
        if game == "othello" {
            // A game that is over is a position too.
            let whole = moves.lines().find(|line| !line.starts_with("# ")).unwrap();
            let said = done(&arena.run(&format!("solve othello '{whole}'")));
            assert!(said.contains("the game is over"), "{said}");
        }
    }
}

/// An error has an example that is taken.
#[test]
fn an_error_shows_what_would_be_taken() {
    let arena = Arena::new();
    refused(
        &arena.run("solve othello hello"),
        "such as \"---------------------------OX------XO--------------------------- X\"",
    );
    for (game, setup, says) in [
        (
            "connect-four",
            "9x9,forbidden=9:9",
            "such as 9x9,forbidden=4:4",
        ),
        ("connect-four", "6x13", "such as 6x7"),
        ("big-two", "scoring=chips", "such as scoring=payout"),
        (
            "connect-four",
            "d4",
            "columns from 0 with blanks between them, such as 3 3 4",
        ),
        (
            "connect-four",
            "(8, 3)",
            "of a point write the column alone, 3 for (8, 3)",
        ),
        (
            "mahjong",
            "1c",
            "such as \"122367c1478b138d 4589c23569b2579d\"",
        ),
        ("othello", "{", "such as \"{\"moves\":\"f5d6c3\"}\""),
    ] {
        refused(
            &arena.run(&format!(
                "match {game} {RANDOMS} --no-records --setup '{setup}'"
            )),
            says,
        );
    }
}
