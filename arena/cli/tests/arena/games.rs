//! Matches of every game: seatings, openings, set-ups, and bots that leave.

use std::{collections::BTreeSet, fs};

use serde_json::Value;

use crate::vocabulary::*;

/// So many bots of this kind, called a, b, c, d.
fn bots(seats: usize, spec: &str) -> String {
    let bots: Vec<_> = ["a", "b", "c", "d"][..seats]
        .iter()
        .map(|name| format!("--bot {name}={spec}"))
        .collect();
    bots.join(" ")
}

/// The headers of a run's records.
fn headers(arena: &Arena, run: &str) -> Vec<Value> {
    let records = arena.records(run);
    records
        .iter()
        .map(|(_, record)| serde_json::from_str(record.lines().next().unwrap()).unwrap())
        .collect()
}

#[test]
fn four_bots_can_sit_in_twenty_four_orders() {
    // Two deals by rotations have two orders around the table.
    for (seatings, each, distinct) in [("rotations", 4, 8), ("all", 24, 24)] {
        let arena = Arena::new();
        let line = format!(
            "match big-two {} --rounds 2 --seatings {seatings} --format json",
            bots(4, "house:random")
        );
        let events = events(&done(&arena.run(&line)));
        let games = of_type(&events, "game");
        assert_eq!(games.len(), 2 * each);
        let orders: BTreeSet<_> = games
            .iter()
            .map(|game| game["players"].to_string())
            .collect();
        assert_eq!(orders.len(), distinct);
        // A bot against its like comes out even, deal by deal.
        for standing in of_type(&events, "standings")[0]["rows"].as_array().unwrap() {
            assert_eq!(standing["games"], 2 * each);
            assert_eq!(standing["mean_place"], 2.5);
        }
    }
}

/// The gain of one seat is what the others pay, and whoever has most in the end is first.
#[test]
fn a_series_of_paid_rounds_is_ranked_by_the_purse() {
    let arena = Arena::new();
    let line = r#"match big-two --bot a=house:ai1 --bot b=house:ai2 --bot c=house:ai3
        --bot d=house:random --rounds 5 --setup '{"scoring":"payout"}' --format json"#;
    let events = events(&done(&arena.run(line)));
    let mut gained = std::collections::BTreeMap::new();
    for game in of_type(&events, "game") {
        let scores = game["scores"].as_array().unwrap().iter();
        assert_eq!(scores.clone().filter_map(Value::as_i64).sum::<i64>(), 0);
        for (player, score) in game["players"].as_array().unwrap().iter().zip(scores) {
            *gained.entry(player.to_string()).or_insert(1000) += score.as_i64().unwrap();
        }
    }
    let standings = of_type(&events, "standings")[0]["rows"].clone();
    let purses: Vec<i64> = standings
        .as_array()
        .unwrap()
        .iter()
        .map(|standing| {
            let purse = standing["purse"].as_i64().unwrap();
            assert_eq!(purse, gained[&standing["bot"].to_string()]);
            purse
        })
        .collect();
    assert!(purses.is_sorted_by(|a, b| a >= b), "{purses:?}");
    assert_eq!(purses.iter().sum::<i64>(), 4000);
}

#[test]
fn a_table_of_four_seats_fits_eighty_columns() {
    let arena = Arena::new();
    let names = ["first", "second", "third", "fourth"];
    let bots: Vec<_> = names
        .iter()
        .map(|name| format!("--bot {name}-with-a-name-that-is-far-too-long=house:ai2"))
        .collect();
    for more in [
        "--rounds 1",
        "--rounds 120",
        r#"--rounds 120 --setup '{"scoring":"payout"}'"#,
    ] {
        let line = format!(
            "match big-two {} {more} --concurrency 8 --no-records",
            bots.join(" ")
        );
        let text = done(&arena.run(&line));
        assert!(text.contains("1-2-3-4"), "{text}");
        assert!(!text.contains("-0.0"), "{text}");
        fits_eighty_columns(&text);
        for name in names {
            assert!(text.contains(&format!("{name}-")), "{text}");
        }
    }
}

#[test]
fn a_bot_that_leaves_a_table_of_four_is_last_and_the_others_play_on() {
    let arena = Arena::new();
    let line = format!(
        "match big-two {} --bot b=house:ai1 --bot c=house:ai2 --bot d=house:ai3 --rounds 2 \
         --records run",
        villain("v", "crash --by-callbacks")
    );
    let output = arena.run(&line);
    let text = done(&output);
    assert!(text.contains("fouls: v: crashed 8"), "{text}");
    let last = text.lines().find(|line| line.starts_with(" 4 ")).unwrap();
    assert!(last.contains("v ") && last.contains("0-0-0-8"), "{text}");
    assert!(
        err(&output).contains("v committed 8 fouls"),
        "{}",
        err(&output)
    );

    let records = arena.records("run");
    assert_eq!(records.len(), 8);
    for (name, record) in records {
        let record = referee_core::Record::parse(&record).unwrap();
        let outcome = record.result.verdict.outcome().unwrap();
        for (seat, place) in outcome.places.iter() {
            let left = record.header.players[seat] == "v";
            assert_eq!(left, *place == 4, "{name}: {:?}", outcome.places);
        }
        let shown = done(&arena.run(&format!("replay show run/{name}")));
        fits_eighty_columns(&shown);
        assert!(
            shown
                .replace("\n    ", " ")
                .contains("crashing in the middle of the game"),
            "{shown}"
        );
        done(&arena.run(&format!("replay verify run/{name}")));
    }
}

#[test]
fn each_opening_is_played_from_both_sides() {
    for (game, openings, field, expected) in [
        (
            "othello",
            "# two of them\nf5d6\n\nf5f6e6\n",
            "moves",
            [r#""f5d6""#, r#""f5f6e6""#],
        ),
        (
            "connect-four",
            "3 3 4\n# and a shorter one\n  5\n",
            "moves",
            ["[3,3,4]", "[5]"],
        ),
        (
            "othello",
            "{\"moves\":\"c4\"}\n---------------------------OX------XO--------------------------- X\n",
            "moves",
            [r#""c4""#, "null"],
        ),
    ] {
        let arena = Arena::new();
        fs::write(arena.path("openings"), openings).unwrap();
        let bots = bots(2, "house:random");
        done(&arena.run(&format!(
            "match {game} {bots} --rounds 3 --openings openings --records run"
        )));
        let begun: Vec<_> = headers(&arena, "run")
            .iter()
            .map(|header| {
                (
                    header["setup"][field].to_string(),
                    header["players"].to_string(),
                )
            })
            .collect();
        let (one, other) = (r#"["a","b"]"#, r#"["b","a"]"#);
        let [first, second] = expected;
        let rounds = [first, second, first];
        let expected: Vec<_> = rounds
            .iter()
            .flat_map(|moves| [one, other].map(|seats| ((*moves).to_owned(), seats.to_owned())))
            .collect();
        assert_eq!(begun, expected, "{game}");
    }
}

#[test]
fn an_opening_that_is_wrong_is_named_with_its_line() {
    let arena = Arena::new();
    for (game, seats, openings, says) in [
        (
            "othello",
            2,
            "f5d6\n\n# no\nf5a1\n",
            "line 4: move 2 of the transcript",
        ),
        ("othello", 2, "hello\n", "line 1: "),
        ("connect-four", 2, "3 3\n3 x\n", "line 2: expected columns"),
        (
            "connect-four",
            2,
            "\n0 99\n",
            "line 2: move 2 of the opening, column 99, does not exist",
        ),
        (
            "mahjong",
            2,
            "1c 2c\n",
            "line 1: the hand of seat 0 must be 13 tiles",
        ),
        ("big-two", 4, "3C\n", "line 1: "),
        (
            "othello",
            2,
            "# nothing\n\n",
            "expected one opening a line, found none",
        ),
    ] {
        fs::write(arena.path("openings"), openings).unwrap();
        let bots = bots(seats, "house:random");
        let output = arena.run(&format!("match {game} {bots} --openings openings"));
        refused(&output, says);
        assert!(
            err(&output).contains("openings openings"),
            "{}",
            err(&output)
        );
    }
}

#[test]
fn a_set_up_that_can_not_be_is_refused_with_the_reason() {
    let arena = Arena::new();
    let five_of_a_tile = format!(r#"{{"wall":"11111c{}"}}"#, "2c".repeat(103));
    let full = "X".repeat(64);
    let full_board = format!(r#"{{"position":"{full} X"}}"#);
    for (game, seats, setup, says) in [
        (
            "mahjong",
            2,
            &*five_of_a_tile,
            "there are four of each tile, found 5 of 1c",
        ),
        (
            "mahjong",
            2,
            r#"{"wall":"123c"}"#,
            "must be 108 tiles, found 3",
        ),
        ("mahjong", 2, r#"{"wall":"10x"}"#, "expected ranks 1 to 9"),
        (
            "mahjong",
            2,
            r#"{"missing_suit":"maybe"}"#,
            "expected `required` or `free`",
        ),
        (
            "connect-four",
            2,
            r#"{"board":["....","....","X...","...."]}"#,
            "no stone can lie on (2, 0) while (3, 0) is free",
        ),
        (
            "connect-four",
            2,
            r#"{"board":["....","....","....","XXXO"]}"#,
            "seat 0 begins and has as many stones",
        ),
        (
            "connect-four",
            2,
            r#"{"rows":13}"#,
            "rows must be 4 to 12, found 13",
        ),
        (
            "connect-four",
            2,
            r#"{"forbidden":{"at":{"x":40,"y":1}}}"#,
            "must lie on the board",
        ),
        (
            "othello",
            2,
            r#"{"moves":"a1"}"#,
            "Black encloses nothing on a1",
        ),
        ("othello", 2, &full_board, "the game would be over at once"),
        (
            "othello",
            2,
            r#"{"position":"X","moves":"f5"}"#,
            "expected 64 squares and X or O for the side to move",
        ),
        (
            "big-two",
            4,
            r#"{"scoring":"gold"}"#,
            "expected `places` or `payout`",
        ),
        (
            "big-two",
            4,
            r#"{"hands":["3C","","",""]}"#,
            "3D is missing",
        ),
        (
            "big-two",
            4,
            r#"{"colour":"red"}"#,
            "unknown field `colour`",
        ),
        ("othello", 2, "5", "expected moves such as f5d6c3"),
    ] {
        let bots = bots(seats, "house:random");
        let output = arena.run(&format!("match {game} {bots} --setup '{setup}'"));
        refused(&output, says);
    }
    assert!(!arena.path("arena-runs").exists(), "nothing was begun");
}

#[test]
fn the_set_up_decides_the_deal() {
    for (game, seats, setup) in [
        (
            "connect-four",
            2,
            r#"{"board":["....","....","....","XO.."]}"#,
        ),
        ("othello", 2, r#"{"moves":"f5f6e6"}"#),
        ("mahjong", 2, r#"{"missing_suit":"free"}"#),
        ("big-two", 4, r#"{"scoring":"payout","reversal":false}"#),
    ] {
        let arena = Arena::new();
        let bots = bots(seats, "house:random");
        done(&arena.run(&format!(
            "match {game} {bots} --rounds 1 --setup '{setup}' --records run"
        )));
        let chosen: Value = serde_json::from_str(setup).unwrap();
        for header in headers(&arena, "run") {
            for (name, value) in chosen.as_object().unwrap() {
                assert_eq!(&header["setup"][name], value, "{game}");
            }
        }
    }
}

#[test]
fn openings_may_come_from_any_editor() {
    let arena = Arena::new();
    std::fs::write(
        arena.path("openings"),
        "\u{feff}f5d6\r\n\r\n# two\r\nf5f6\r\n",
    )
    .unwrap();
    let line = format!("match othello {RANDOMS} --rounds 2 --openings openings --records run");
    done(&arena.run(&line));
    let records = arena.records("run");
    let with = |moves: &str| {
        let begins = format!("\"moves\":\"{moves}\"");
        records
            .iter()
            .filter(|(_, record)| record.contains(&begins))
            .count()
    };
    assert_eq!([with("f5d6"), with("f5f6")], [2, 2]);
}

#[test]
fn a_margin_in_othello_is_in_discs() {
    let arena = Arena::new();
    let line = "match othello --bot w=house:weights?plies=1 --bot r=house:random --rounds 12 \
                --seed 1 --no-records";
    let events = events(&done(&arena.run(&format!("{line} --format json"))));
    let games = of_type(&events, "game");
    let mut discs = 0;
    for game in &games {
        let seat = usize::from(game["players"][1] == "w");
        let [black, white] = [0, 1].map(|seat| game["scores"][seat].as_i64().unwrap());
        assert_eq!(black, -white, "{game}");
        discs += game["scores"][seat].as_i64().unwrap();
    }
    let mean = discs as f64 / games.len() as f64;
    assert!(mean > 1.0, "{mean}");
    let rows = of_type(&events, "standings")[0]["rows"].clone();
    let of_w = rows
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["bot"] == "w");
    let margin = &of_w.unwrap()["margin"];
    assert!(
        (margin["value"].as_f64().unwrap() - mean).abs() < 1e-6,
        "{margin} {mean}"
    );
    let error = margin["error"].as_f64().unwrap();
    // No lead is more than 64 discs, so no mean of 12 deals is less certain than this.
    assert!(
        error > 0.0 && error < 2.0 * 64.0 / 12_f64.sqrt(),
        "{margin}"
    );
    let table = done(&arena.run(line));
    assert!(table.contains(&format!("{mean:.1} ±")), "{mean}: {table}");
}
