//! Records of every game, as `arena replay` shows and proves them.

use crate::vocabulary::*;

/// A game that lasts, its bots, and how it is called on its seats.
const GAMES: [(&str, &str); 4] = [
    ("connect-four", "--bot a=house:random --bot b=house:random"),
    (
        "othello",
        "--bot a=house:random --bot b='house:weights?plies=1'",
    ),
    (
        "mahjong",
        "--bot a=house:simple --bot b=house:straightforward",
    ),
    (
        "big-two",
        "--bot a=house:ai1 --bot b=house:ai2 --bot c=house:ai3 --bot d=house:random",
    ),
];

/// Plays one deal and gives the record of its first game.
fn record(arena: &Arena, game: &str, bots: &str) -> String {
    done(&arena.run(&format!(
        "match {game} {bots} --rounds 1 --seed 5 --records run"
    )));
    "run/round-0000-game-0.jsonl.zst".to_owned()
}

fn show(arena: &Arena, record: &str, more: &str) -> String {
    let text = done(&arena.run(&format!("replay show {record} {more}")));
    fits_eighty_columns(&text);
    text
}

#[test]
fn a_record_of_every_game_is_shown_and_proved() {
    for (game, bots) in GAMES {
        let arena = Arena::new();
        let record = record(&arena, game, bots);
        let output = arena.run(&format!("replay verify {record}"));
        assert!(done(&output).contains(": proved, "), "{game}");

        let whole = show(&arena, &record, "--ascii");
        assert!(whole.is_ascii(), "{whole}");
        let (moves, end) = whole.rsplit_once("\n\n").unwrap();
        assert!(moves.contains("\n   1  "), "{whole}");
        assert!(
            end.contains(" won: ") || end.contains("a draw: "),
            "{whole}"
        );

        let beginning = show(&arena, &record, "--ascii --ply 0");
        let later = show(&arena, &record, "--ascii --ply 7");
        assert!(beginning.contains("After 0 moves:"), "{beginning}");
        assert_ne!(beginning, later);
        // As many boards as moves.
        let boards = show(&arena, &record, "--ascii --boards");
        assert!(
            boards.lines().count() > 2 * whole.lines().count(),
            "{boards}"
        );
    }
}

#[test]
fn signs_are_as_the_terminal_s_locale_says() {
    let arena = Arena::new();
    let (game, bots) = GAMES[3];
    let record = record(&arena, game, bots);
    let with = |locale: &str, more: &str| {
        let mut command = arena.command(&format!("replay show {record} --ply 0 {more}"));
        for name in ["LC_ALL", "LC_CTYPE"] {
            command.env_remove(name);
        }
        done(&command.env("LANG", locale).output().unwrap())
    };
    let letters = with("C", "");
    assert!(letters.is_ascii() && letters.contains("3C"), "{letters}");
    assert_eq!(with("C.UTF-8", "--ascii"), letters);
    let suits = with("C.UTF-8", "");
    assert!(suits.contains("3♣"), "{suits}");
    // No terminal, no colours.
    assert!(!suits.contains('\x1b'), "{suits}");
}

/// What is drawn under a label, for each label.
fn areas(text: &str) -> Vec<(String, String)> {
    let lines: Vec<_> = text.lines().collect();
    let mut areas: Vec<(String, String)> = Vec::new();
    for line in lines {
        if !line.starts_with("   ") {
            areas.push((line.to_owned(), String::new()));
        } else if let Some((_, drawn)) = areas.last_mut() {
            drawn.push_str(line);
        }
    }
    areas
}

#[test]
fn a_seat_never_sees_another_hand() {
    for (game, bots) in &GAMES[2..] {
        let arena = Arena::new();
        let record = record(&arena, game, bots);
        // What lies before a seat: its hand, or in Mahjong also its river.
        let hand = |label: &str, seat: usize| {
            label.starts_with(&format!("seat {seat}: ")) && !label.contains("river")
        };
        let seats = bots.matches("--bot").count();
        for ply in ["--ply 0", "--ply 1", "--ply 9", "--ply 12", ""] {
            for seat in 0..seats {
                let told = show(&arena, &record, &format!("--ascii {ply} --seat {seat}"));
                assert!(told.contains(&format!("\nseat {seat}: ")), "{told}");
                for (label, drawn) in areas(&told) {
                    if hand(&label, seat) {
                        assert!(!drawn.contains('?'), "{told}");
                    } else if (0..seats).any(|other| hand(&label, other)) {
                        // Covered, or empty.
                        assert!(drawn.chars().all(|c| " ?-".contains(c)), "{told}");
                    }
                }
            }
        }
        // The whole table lies open only to whoever looks on.
        let open = show(&arena, &record, "--ascii --ply 9");
        assert!(!open.contains('?'), "{open}");
    }
}

/// A bot that crashes makes no move, but what it did counts as one.
#[test]
fn a_seat_s_view_counts_moves_as_the_list_does() {
    let arena = Arena::new();
    let bots = format!(
        "{} --bot b=house:ai1 --bot c=house:ai2 --bot d=house:ai3",
        villain("v", "crash --by-callbacks --after 1")
    );
    let record = record(&arena, "big-two", &bots);
    let whole = show(&arena, &record, "--ascii");
    let moves: Vec<_> = whole
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("  seat"))
        .filter(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit()))
        .collect();
    let crash = moves
        .iter()
        .position(|line| line.contains(" v ") && line.contains("crashed"));
    let crash = crash.expect("it crashes");
    // Each later move is told to all as the last one.
    for (at, line) in moves.iter().enumerate().skip(crash + 1).take(6) {
        let words: Vec<_> = line.split_whitespace().collect();
        let did = match words[2] {
            "pass" => " passed".to_owned(),
            _ => format!(" played {}", words[2..words.len() - 1].join(" ")),
        };
        let seat = ["v", "b", "c", "d"]
            .iter()
            .position(|name| *name == words[1])
            .unwrap();
        let next = (1..4).find(|other| *other != seat).unwrap();
        let told = show(
            &arena,
            &record,
            &format!("--ascii --ply {} --seat {next}", at + 1),
        );
        assert!(
            told.contains(&format!("last: seat {seat}{did}")),
            "{line}\n{told}"
        );
    }
}

#[test]
fn what_can_not_be_shown_is_refused() {
    let arena = Arena::new();
    let (game, bots) = GAMES[0];
    let record = record(&arena, game, bots);
    std::fs::write(arena.path("notes.txt"), "buy milk").unwrap();
    for (line, says) in [
        (format!("{record} --ply 9999"), "--ply 9999: the game has"),
        (format!("{record} --seat 2"), "the game has seats 0 to 1"),
        (format!("{record} --boards --ply 1"), "cannot be used with"),
        ("nowhere.jsonl".to_owned(), "could not read nowhere.jsonl"),
        ("notes.txt".to_owned(), "notes.txt is no record"),
    ] {
        refused(&arena.run(&format!("replay show {line}")), says);
    }
}

#[test]
fn every_game_is_explained_move_by_move() {
    for (game, bots) in GAMES {
        let arena = Arena::new();
        let record = record(&arena, game, bots);
        let line = format!("replay explain {record} --playouts 20");
        let words = done(&arena.run(&line));
        fits_eighty_columns(&words);
        assert_eq!(
            done(&arena.run(&line)),
            words,
            "the same seed, the same words"
        );
        let found = done(&arena.run(&format!("{line} --format json")));
        let found = events(&found);
        let moves = of_type(&found, "move");
        let shown = show(&arena, &record, "--ascii");
        let last = format!("\n{:>4}  ", moves.len());
        let beyond = format!("\n{:>4}  ", moves.len() + 1);
        assert!(shown.contains(&last) && !shown.contains(&beyond), "{shown}");
        for one in &moves {
            let expects = one["expects"].as_f64().unwrap();
            assert!((0.0..=1.0).contains(&expects), "{one}");
            assert!(one["error"].as_f64().unwrap() >= 0.0, "{one}");
        }
        let turned = &of_type(&found, "turned")[0];
        match turned["move"].as_u64() {
            Some(number) => {
                assert!(words.contains(&format!("move {number} turned the game: ")));
                assert_eq!(moves[number as usize - 1]["player"], turned["player"]);
            }
            None => assert!(words.contains("no single move turned it"), "{words}"),
        }
    }
}

/// It stood even, and a move that is against the rules ended it.
#[test]
fn a_foul_turns_a_game() {
    let arena = Arena::new();
    let bots = format!("{} --bot b=house:random", villain("v", "illegal --after 2"));
    let record = record(&arena, "connect-four", &bots);
    let words = done(&arena.run(&format!("replay explain {record}")));
    assert!(
        words.contains("turned the game: v played illegal and"),
        "{words}"
    );
    assert!(words.contains(" could expect 0 ± 0 %;"), "{words}");
}
