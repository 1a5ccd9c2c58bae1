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
    "run/match-0000-deal-0000-game-0.jsonl.zst".to_owned()
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

/// Drawings under the labels, for each label.
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

/// To standard output, and to a file whose name says what is written.
#[test]
fn games_are_written_for_other_programs() {
    for (game, bots) in GAMES {
        let arena = Arena::new();
        let record = record(&arena, game, bots);
        let pgn = done(&arena.run(&format!("replay export {record} --as pgn")));
        assert!(
            pgn.starts_with("[Event \"run\"]\n[Site \"?\"]\n[Date \"20"),
            "{pgn}"
        );
        assert!(pgn.contains("[Round \"0.0.0\"]"), "{pgn}");
        assert!(pgn.contains(&format!("[Variant \"{game}\"]")), "{pgn}");
        // All games of the folder.
        done(&arena.run("replay export run --out games.pgn"));
        let all = std::fs::read_to_string(arena.path("games.pgn")).unwrap();
        assert!(all.starts_with(&pgn), "{all}");
        assert_eq!(all.matches("[Event ").count(), arena.records("run").len());
        // A record alone does not say when it was played.
        let name = record.trim_start_matches("run/");
        std::fs::copy(arena.path(&record), arena.path(name)).unwrap();
        let alone = done(&arena.run(&format!("replay export {name} --as pgn")));
        assert!(alone.contains("[Date \"????.??.??\"]"), "{alone}");
        let moves = done(&arena.run(&format!("replay export {record} --as moves")));
        assert_eq!(moves.lines().count(), 2, "{moves}");
    }
}

/// The set-up of a game, as its file has it, begins the same game with other bots.
#[test]
fn a_deal_of_a_file_is_a_set_up() {
    for (game, bots) in GAMES {
        let arena = Arena::new();
        let record = record(&arena, game, bots);
        let pgn = |record: &str| done(&arena.run(&format!("replay export {record} --as pgn")));
        let tag = |pgn: &str| {
            let line = pgn.lines().find_map(|line| line.strip_prefix("[FEN \""));
            line.map(|line| line.trim_end_matches("\"]").to_owned())
        };
        let Some(deal) = tag(&pgn(&record)) else {
            assert_eq!(game, "othello");
            continue;
        };
        done(&arena.run(&format!(
            "match {game} {bots} --deals 1 --records again --setup '{deal}'"
        )));
        let again = pgn(&record.replace("run/", "again/"));
        assert_eq!(tag(&again).as_ref(), Some(&deal), "{again}");
    }
}

#[test]
fn what_a_format_can_not_say_is_left_out_and_told() {
    let arena = Arena::new();
    let (game, bots) = GAMES[0];
    let record = record(&arena, game, bots);
    let columns = |what: &str| arena.run(&format!("replay export {what} --as columns"));
    refused(&columns(&record), "its board has a forbidden cell");
    done(&arena.run(&format!(
        "match {game} {bots} --deals 1 --records small --setup 6x7"
    )));
    let line = done(&columns("small/match-0000-deal-0000-game-0.jsonl.zst"));
    assert!(
        line.trim_end()
            .chars()
            .all(|sign| ('1'..='7').contains(&sign)),
        "{line}"
    );
    // The others are written.
    let output = columns(&format!("{record} small"));
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    assert_eq!(out(&output).lines().count(), 2);
    assert!(err(&output).contains("is not written: its board has a forbidden cell"));
    refused(
        &arena.run(&format!("replay export {record} --as ggf")),
        "games of connect-four are written as pgn, moves, columns, found ggf",
    );
    for (line, says) in [
        (
            "--out game.txt",
            "expected a name that ends in .svg, .png, .apng, .html, .pgn",
        ),
        ("", "expected --as, or --out FILE"),
        ("--as svg", "expected --out FILE"),
        (
            "--as pgn --ply 3",
            "--ply, --seat, --pace and --scale are of pictures",
        ),
        ("--as chess", "[possible values: svg, png"),
    ] {
        refused(&arena.run(&format!("replay export {record} {line}")), says);
    }
    let cup = "game = \"connect-four\"\nshape = \"round-robin\"\ndeals = 3\n\
               openings = \"openings\"\n\
               bots = [{bot = \"house:random\"}, {name = \"b\", bot = \"house:random\"}, \
               {name = \"c\", bot = \"house:random\"}]\n";
    std::fs::write(
        arena.path("openings"),
        "6x7\n9x9,forbidden=4:4\n7x6,moves=3 3\n",
    )
    .unwrap();
    std::fs::write(arena.path("cup.toml"), cup).unwrap();
    done(&arena.run("tournament run cup.toml"));
    let output = arena.run("tournament export cup --as columns");
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    assert!(
        err(&output).contains("games left out; of "),
        "{}",
        err(&output)
    );
    assert_eq!(out(&output).lines().count() + left_out(&err(&output)), 18);
    let pgn = done(&arena.run("tournament export cup --as pgn"));
    assert_eq!(pgn.matches("[Event \"cup\"]").count(), 18, "{pgn}");
    let one = done(&arena.run("replay export cup 0.1 --as pgn"));
    assert!(pgn.contains(&one), "{one}");
    refused(
        &arena.run("tournament export cup --as transcript"),
        "--as transcript: games of connect-four are written as pgn, moves, columns",
    );
    refused(
        &arena.run("replay export cup --as pgn"),
        "`arena tournament export cup --as pgn` writes all its games",
    );
}

/// The number in `warning: N games left out`.
fn left_out(said: &str) -> usize {
    let (before, _) = said.split_once(" games left out").unwrap();
    before.split_whitespace().last().unwrap().parse().unwrap()
}

#[test]
fn a_game_is_written_as_pictures_and_as_a_page() {
    for (game, bots) in GAMES {
        let arena = Arena::new();
        let record = record(&arena, game, bots);
        let export = |words: &str| arena.run(&format!("replay export {record} --force {words}"));
        let read = |name: &str| std::fs::read(arena.path(name)).unwrap();
        done(&export("--out game.svg --ply 3"));
        assert!(read("game.svg").starts_with(b"<svg "), "{game}");
        done(&export("--out seat.svg --ply 3 --seat 1"));
        let text = String::from_utf8(read("seat.svg")).unwrap();
        assert!(text.contains("<title>"), "{game}");
        done(&export("--out game.png --scale 0.5"));
        assert!(read("game.png").starts_with(b"\x89PNG"), "{game}");
        done(&export("--out moving.svg --as animated-svg"));
        let moving = String::from_utf8(read("moving.svg")).unwrap();
        assert!(moving.contains("@keyframes"), "{game}");
        done(&export("--out game.html"));
        let page = String::from_utf8(read("game.html")).unwrap();
        // Nothing is fetched from anywhere.
        for outside in ["src=\"http", "href=\"http", "@import", "url("] {
            assert!(!page.contains(outside), "{game}: {outside}");
        }
        assert!(page.contains("id=\"evaluation\""), "{game}");
        done(&export("--out game.html --no-evaluation"));
        let page = String::from_utf8(read("game.html")).unwrap();
        assert!(
            page.contains("<svg") && !page.contains("id=\"evaluation\""),
            "{game}"
        );
    }
    let arena = Arena::new();
    let record = record(&arena, GAMES[0].0, GAMES[0].1);
    done(&arena.run(&format!(
        "replay export {record} --out game.apng --scale 0.25"
    )));
    let moving = std::fs::read(arena.path("game.apng")).unwrap();
    assert!(moving.windows(4).any(|chunk| chunk == b"acTL"));
    for (words, expected) in [
        ("--out game.gif", "expected a name that ends in"),
        ("--out game.apng", "is there already"),
        ("--out x.html --ply 3", "of one position"),
        ("--out x.svg --pace 1s", "of a moving picture"),
        ("--out x.svg --scale 1", "of pixels"),
        ("--out x.svg --no-evaluation", "of a page"),
        ("--out x.svg --ply 999", "the game has"),
        ("--out x.svg --seat 2", "seats 0 to 1"),
    ] {
        let output = arena.run(&format!("replay export {record} {words}"));
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(err(&output).contains(expected), "{words}: {}", err(&output));
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
        let moves = of_type(&found, "explained");
        let shown = show(&arena, &record, "--ascii");
        let last = format!("\n{:>4}  ", moves.len());
        let beyond = format!("\n{:>4}  ", moves.len() + 1);
        assert!(shown.contains(&last) && !shown.contains(&beyond), "{shown}");
        for one in &moves {
            let expects = &one["expects"];
            assert!(
                (0.0..=1.0).contains(&expects["score"].as_f64().unwrap()),
                "{one}"
            );
            assert!(expects["error"].as_f64().unwrap() >= 0.0, "{one}");
        }
        let turned = &of_type(&found, "explanation")[0]["turning_point"];
        match turned["number"].as_u64() {
            Some(number) => {
                assert!(words.contains(&format!("move {number} turned the game: ")));
                assert_eq!(moves[number as usize - 1]["player"], turned["player"]);
            }
            None => assert!(words.contains("no single move turned it"), "{words}"),
        }
    }
}

/// A bot that has estimates judges the moves unless something else is asked for.
#[test]
fn a_strong_bot_judges_the_moves_of_its_game() {
    for (game, weak, spec) in [
        (
            "othello",
            "house:weights?plies=1",
            "house:edge?nodes=200000",
        ),
        (
            "connect-four",
            "house:random",
            "house:zugzwang?nodes=200000",
        ),
    ] {
        let arena = Arena::new();
        let bots = format!(
            "--bot 'good={}' --bot 'bad={weak}'",
            spec.replace("200000", "500")
        );
        let record = record(&arena, game, &bots);
        let line = format!("replay explain {record}");
        let words = done(&arena.run(&line));
        fits_eighty_columns(&words);
        assert!(
            words.contains(&format!("as {spec} estimates them")),
            "{words}"
        );
        assert!(!words.contains('±'), "{words}");
        assert_eq!(done(&arena.run(&line)), words, "the same again");
        let found = events(&done(&arena.run(&format!("{line} --format json"))));
        let end = &of_type(&found, "explanation")[0];
        assert_eq!(end["bot"], spec);
        assert!(end["playouts"].is_null(), "{end}");
        assert_eq!(end["turning_point"]["player"], "bad", "{words}");
        let moves = of_type(&found, "explained");
        assert!(moves.iter().all(|one| one["expects"]["error"] == 0.0));
        let last = moves.last().unwrap();
        let winner_moved_last = last["player"] == "good";
        let share = last["expects"]["score"].as_f64().unwrap();
        assert_eq!(share > 0.5, winner_moved_last, "{last}");
        for other in ["--search --playouts 4", "--playouts 4"] {
            let words = done(&arena.run(&format!("{line} {other}")));
            assert!(words.contains("8 searches of 4 playouts"), "{words}");
        }
        refused(
            &arena.run(&format!("{line} --search --bot house:random")),
            "cannot be used with",
        );
    }
}

/// Four seats with hidden hands: a bot judges each move from what its seat knew.
#[test]
fn a_strong_bot_judges_the_moves_of_big_two() {
    let arena = Arena::new();
    let bots = "--bot a=house:ai1 --bot b=house:ai2 --bot c=house:ai3 --bot d=house:random";
    let record = record(&arena, "big-two", bots);
    let line = format!("replay explain {record}");
    let words = done(&arena.run(&line));
    fits_eighty_columns(&words);
    let spec = "house:ai4?playouts=400";
    assert!(
        words.contains(&format!("as {spec} estimates them")),
        "{words}"
    );
    assert!(!words.contains('±'), "{words}");
    let found = events(&done(&arena.run(&format!("{line} --format json"))));
    let end = &of_type(&found, "explanation")[0];
    assert_eq!(end["bot"], spec);
    assert!(end["playouts"].is_null(), "{end}");
    if let Some(number) = end["turning_point"]["number"].as_u64() {
        assert!(words.contains(&format!("move {number} turned the game: ")));
    }
    let moves = of_type(&found, "explained");
    for one in &moves {
        let share = one["expects"]["score"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&share), "{one}");
    }
    let differ = |one: &serde_json::Value| !one["better"].is_null();
    assert!(moves.iter().any(differ), "a random seat plays as well");
}

/// Bots that go by nothing but what they see: each would do in this process what it
/// did in its own, so there is nothing better to be found.
#[test]
fn a_built_in_bot_would_play_its_own_moves_again() {
    for (game, bot, seats) in [
        ("othello", "house:weights?plies=1", 2),
        ("mahjong", "house:shanten", 2),
        ("big-two", "house:ai2", 4),
    ] {
        let arena = Arena::new();
        let bots: String = (0..seats)
            .map(|seat| format!(" --bot 'b{seat}={bot}'"))
            .collect();
        let record = record(&arena, game, &bots);
        let line = format!("replay explain {record} --bot '{bot}' --playouts 4");
        let found = events(&done(&arena.run(&format!("{line} --format json"))));
        let moves = of_type(&found, "explained");
        assert!(moves.len() > 10, "{game}");
        assert!(moves.iter().all(|one| one["better"].is_null()), "{moves:?}");
        assert!(of_type(&found, "explanation")[0]["turning_point"].is_null());
        let words = done(&arena.run(&line));
        fits_eighty_columns(&words);
        assert!(words.contains("\nno single move turned it\n"), "{words}");
    }
}

/// The winner plays well, the other at random.
#[test]
fn the_one_who_lost_turned_the_game() {
    let arena = Arena::new();
    let bots = "--bot 'good=house:uct?playouts=300' --bot bad=house:random";
    let record = record(&arena, "connect-four", bots);
    for how in [
        "",
        "--search",
        "--search --seed other",
        "--bot 'house:uct?playouts=50' --playouts 40",
    ] {
        let line = format!("replay explain {record} {how} --format json");
        let found = events(&done(&arena.run(&line)));
        let explanation = &of_type(&found, "explanation")[0];
        let turned = &explanation["turning_point"];
        assert_eq!(turned["player"], "bad", "{how}: {turned}");
        let expects = turned["expects"]["score"].as_f64().unwrap();
        let would = turned["better"]["expects"]["score"].as_f64().unwrap();
        let error = explanation["difference_error"].as_f64().unwrap();
        assert!(would - expects >= 0.05 && would - expects > 4.0 * error);
    }
}

#[test]
fn only_a_built_in_bot_explains() {
    let arena = Arena::new();
    let (game, bots) = GAMES[0];
    let record = record(&arena, game, bots);
    for (bot, says) in [
        ("exec:true", "expected a built-in bot"),
        ("house:nobody", "nobody"),
        ("house:shanten", "does not play connect-four"),
    ] {
        refused(
            &arena.run(&format!("replay explain {record} --bot {bot}")),
            says,
        );
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
    assert!(words.contains(" could expect 0 %;"), "{words}");
    let words = done(&arena.run(&format!("replay explain {record} --search")));
    assert!(words.contains(" could expect 0 ± 0 %;"), "{words}");
}

/// The events of a rerun, and its last one.
fn rerun(arena: &Arena, line: &str) -> (Vec<serde_json::Value>, serde_json::Value) {
    let found = events(&done(
        &arena.run(&format!("replay rerun {line} --format json")),
    ));
    let mut end = of_type(&found, "rerun");
    (of_type(&found, "rerun_answer"), end.remove(0))
}

/// The specs of these bots, in order of their seats.
fn specs(bots: &str) -> Vec<String> {
    let words = shlex::split(bots).unwrap();
    let bots = words.iter().filter(|word| *word != "--bot");
    bots.map(|bot| bot.split_once('=').unwrap().1.to_owned())
        .collect()
}

#[test]
fn a_bot_in_its_own_place_answers_as_it_did() {
    for (game, bots) in GAMES {
        let arena = Arena::new();
        let record = record(&arena, game, bots);
        for (seat, spec) in specs(bots).iter().enumerate() {
            let (answers, end) = rerun(&arena, &format!("{record} --seat {seat} --bot '{spec}'"));
            assert!(!answers.is_empty(), "{game}, seat {seat}");
            for answer in &answers {
                assert_eq!(answer["notation"], answer["played"], "{game}: {answer}");
                assert_eq!(answer["same"], true);
            }
            assert_eq!(end["asked"], end["same"], "{game}, seat {seat}");
            assert_eq!(end["asked"], answers.len());
            assert!(end["first_difference"].is_null());
            assert_eq!(end["end"]["kind"], "completed");
        }
    }
}

/// A bot that took its own answers for what was played would hold another hand, and
/// play what it does not have.
#[test]
fn a_bot_that_answers_otherwise_is_resumed_in_what_was_played() {
    for (game, others, bot) in [
        ("mahjong", 1, "house:shanten"),
        ("big-two", 3, "house:ai3"),
        ("othello", 1, "house:weights?plies=1"),
    ] {
        let arena = Arena::new();
        let others: String = (0..others)
            .map(|other| format!(" --bot o{other}=house:random"))
            .collect();
        let record = record(&arena, game, &format!("--bot played=house:random{others}"));
        let moves = show(&arena, &record, "--ascii");
        let moves = moves.matches("  played           ").count();
        let (answers, end) = rerun(&arena, &format!("{record} --seat 0 --bot '{bot}'"));
        assert_eq!(answers.len(), moves, "{game}");
        assert!(end["same"].as_u64().unwrap() + 3 < end["asked"].as_u64().unwrap());
        assert_eq!(end["fouls"], 0, "{game}: {answers:?}");
        let first = answers.iter().find(|answer| answer["same"] == false);
        assert_eq!(end["first_difference"], first.unwrap()["number"]);

        let words = done(&arena.run(&format!("replay rerun {record} --seat 0 --bot '{bot}'")));
        fits_eighty_columns(&words);
        let sum = format!(
            "\n{} of {} the same; first difference at move {}\n",
            end["same"], end["asked"], end["first_difference"]
        );
        assert!(words.ends_with(&sum), "{words}");
    }
}

/// The villain says that it can't be resumed.
#[test]
fn a_bot_that_can_not_be_resumed_is_asked_until_it_differs() {
    let arena = Arena::new();
    let (game, bots) = GAMES[0];
    let record = record(&arena, game, bots);
    let villain = villain_program();
    for (kind, foul, says) in [
        ("honest", None, ""),
        (
            "illegal --after 0",
            Some("illegal"),
            "illegal move: expected a column",
        ),
        (
            "crash --after 0",
            Some("crashed"),
            "crashed: killed by SIGABRT",
        ),
    ] {
        let line = format!(
            "{record} --seat 0 --bot \"exec:'{}' {kind}\"",
            villain.display()
        );
        let (answers, end) = rerun(&arena, &line);
        let (last, before) = answers.split_last().unwrap();
        assert!(before.iter().all(|answer| answer["same"] == true));
        assert_eq!(last["same"], false);
        assert_eq!(last["foul"]["kind"].as_str(), foul, "{last}");
        assert_eq!(end["end"]["kind"], "can_not_resume");
        let words = done(&arena.run(&format!("replay rerun {line}")));
        fits_eighty_columns(&words);
        assert!(words.contains(says), "{words}");
    }
}

/// Late at every question, so each is put to another process, which is resumed.
#[test]
fn another_limit_makes_another_late() {
    let arena = Arena::new();
    let (game, bots) = GAMES[1];
    let record = record(&arena, game, bots);
    let (answers, end) = rerun(
        &arena,
        &format!("{record} --seat 1 --bot house:random --move-limit 1us"),
    );
    assert!(answers.len() > 20);
    for answer in &answers {
        assert_eq!(answer["foul"]["kind"], "late", "{answer}");
        assert_eq!(answer["limit_us"], 1);
    }
    assert_eq!(end["fouls"], answers.len());
    assert_eq!(end["end"]["kind"], "completed");
}

#[test]
fn what_can_not_be_rerun_is_refused() {
    let arena = Arena::new();
    let (game, bots) = GAMES[0];
    let record = record(&arena, game, bots);
    for (line, says) in [
        (
            format!("{record} --seat 2 --bot house:random"),
            "--seat 2: the game has seats 0 to 1",
        ),
        (
            format!("{record} --seat 0 --bot house:ai1"),
            "does not play connect-four",
        ),
        (
            "nowhere.jsonl --seat 0 --bot house:random".to_owned(),
            "could not read nowhere.jsonl",
        ),
    ] {
        refused(&arena.run(&format!("replay rerun {line}")), says);
    }
    let output = arena.run(&format!("replay rerun {record} --seat 0 --bot exec:false"));
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    assert!(out(&output).contains("did not start: "), "{}", out(&output));
}

#[test]
fn a_folder_is_listed_and_proved() {
    let arena = Arena::new();
    let bots = format!("{} --bot b=house:random", villain("v", "illegal --after 2"));
    done(&arena.run(&format!(
        "match connect-four {bots} --rounds 1 --seed 5 --records run"
    )));
    let list = show(&arena, "run", "");
    let rows: Vec<&str> = list.lines().skip(1).collect();
    assert_eq!(rows.len(), 2, "{list}");
    for row in rows {
        let words: Vec<&str> = row.split_whitespace().collect();
        assert!(
            words.contains(&"b") && words.ends_with(&["illegal"]),
            "{row}"
        );
        let plies: usize = words[words.len() - 2].parse().unwrap();
        assert!((3..6).contains(&plies), "{row}");
    }
    let proved = done(&arena.run("replay verify run"));
    assert!(proved.ends_with("\n2 of 2 games proved\n"), "{proved}");
    assert_eq!(proved.matches(": proved, ").count(), 2);
    for (line, says) in [
        ("show run --ply 1", "expected one game with --ply"),
        ("explain run", "`arena replay show run` lists"),
        ("show run/logs", "the folder has no records"),
    ] {
        refused(&arena.run(&format!("replay {line}")), says);
    }
}

#[test]
fn a_game_of_a_tournament_is_named_as_warnings_name_it() {
    let arena = Arena::new();
    std::fs::write(
        arena.path("cup.toml"),
        "game = \"othello\"\nshape = \"round-robin\"\ndeals = 2\n\
         [[bots]]\nname = \"a\"\nbot = \"house:random\"\n\
         [[bots]]\nname = \"b\"\nbot = \"house:random\"\n",
    )
    .unwrap();
    done(&arena.run("tournament run cup.toml"));
    let shown = show(&arena, "cup 1.0", "--ascii");
    assert!(shown.contains("\n   1  "), "{shown}");
    let proved = done(&arena.run("replay verify cup 0.0 0.1 1.0"));
    assert_eq!(proved.matches(": proved, ").count(), 3, "{proved}");
    assert!(proved.starts_with("cup 0.0: proved, "), "{proved}");
    let explained = done(&arena.run("replay explain cup 0.1 --playouts 4"));
    assert!(explained.contains("\nshares of the points"), "{explained}");
    rerun(&arena, "cup 0.0 --seat 0 --bot house:random");
    let list = show(&arena, "cup", "");
    let names: Vec<&str> = list
        .lines()
        .skip(1)
        .take(4)
        .map(|line| line.trim())
        .collect();
    for (name, line) in ["0.0", "0.1", "1.0", "1.1"].iter().zip(&names) {
        assert!(
            line.starts_with(name) && line.contains("a, b") | line.contains("b, a"),
            "{list}"
        );
    }
    assert!(
        list.ends_with("a game: arena replay show cup 0.0\n"),
        "{list}"
    );
    for (game, says) in [
        (
            "cup 7.0",
            "cup 7.0: there is no such game in the tournament",
        ),
        (
            "spring 0.0",
            "spring: there is no such file and no such tournament",
        ),
        (
            "spring",
            "spring: there is no such file and no such tournament",
        ),
        ("cup --ply 1", "expected one game with --ply"),
        ("cup 0.0 --store no.sqlite", "there is no such file"),
        ("cup 0.0 0.1", "expected one game, found 2"),
    ] {
        refused(&arena.run(&format!("replay show {game}")), says);
    }
}
