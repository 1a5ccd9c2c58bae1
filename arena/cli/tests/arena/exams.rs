//! Exams: points that add up, words for every game, limits that are held to.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;

use crate::vocabulary::*;

/// Words that a contestant may get back for a game.
const WORDS: [&str; 9] = [
    "win",
    "draw",
    "loss",
    "runtime_error",
    "time_limit_exceeded",
    "memory_limit_exceeded",
    "output_limit_exceeded",
    "illegal_move",
    "system_error",
];

fn verdicts(events: &[Value]) -> Vec<String> {
    let games = of_type(events, "exam_game");
    let verdicts = games.iter().map(|game| game["verdict"].as_str().unwrap());
    verdicts.map(str::to_owned).collect()
}

fn sum(events: &[Value], field: &str) -> i64 {
    events
        .iter()
        .map(|event| event[field].as_i64().unwrap())
        .sum()
}

/// This field of each game by the file of its record, which names case and round: games are told as
/// they end, in whatever order.
fn by_round(games: &[Value], field: &str) -> BTreeMap<String, Value> {
    let named = games.iter().map(|game| {
        let record = Path::new(game["record"].as_str().unwrap());
        let round = record.file_name().unwrap().to_string_lossy().into_owned();
        (round, game[field].clone())
    });
    named.collect()
}

/// The records that the games name are there, and true.
fn proved(arena: &Arena, games: &[Value]) {
    let records: Vec<_> = games
        .iter()
        .map(|game| game["record"].as_str().unwrap())
        .collect();
    let text = done(&arena.run(&format!("replay verify {}", records.join(" "))));
    assert_eq!(text.matches(": proved, ").count(), games.len(), "{text}");
}

#[test]
fn a_group_of_the_ladder_is_ten_games_whose_points_add_up() {
    let arena = Arena::new();
    let line = "exam connect-four --bot 'me=house:uct?playouts=100' --group 1 --seed 'a word'";
    let events = events(&done(&arena.run(&format!("{line} --format json"))));
    let mut games = of_type(&events, "exam_game");
    assert_eq!(games.len(), 10);
    // They are told of as they end.
    games.sort_by_key(|game| game["record"].to_string());
    for (at, game) in games.iter().enumerate() {
        assert_eq!(game["part"], "group 1");
        assert_eq!(game["opponent"], format!("ladder-{}", at / 2 * 2 + 1));
        assert_eq!(game["seat"], at % 2);
        let points = match game["verdict"].as_str().unwrap() {
            "win" => 10,
            "draw" => 5,
            word => {
                assert!(WORDS.contains(&word), "{word}");
                0
            }
        };
        assert_eq!(game["marks"], points);
    }
    proved(&arena, &games);
    let [exam] = &of_type(&events, "exam")[..] else {
        panic!("one exam");
    };
    assert_eq!(exam["marks"], sum(&games, "marks"));
    assert_eq!(exam["max_marks"], 100);
    assert_eq!(exam["parts"][0]["marks"], exam["marks"]);

    // The same for people: the same boards, the same games.
    let text = done(&arena.run(line));
    fits_eighty_columns(&text);
    let points = &exam["marks"];
    for says in [
        format!("group 1: {points} of 100"),
        format!("me: {points} of 100"),
        "ladder-9  second".to_owned(),
        "group-1-match-0004-game-1".to_owned(),
    ] {
        assert!(text.contains(&says), "expected {says:?} in {text}");
    }
}

/// A class: all on the same boards, each with records of its own, and one table.
#[test]
fn a_list_of_bots_is_examined_on_the_same_boards_and_compared() {
    let arena = Arena::new();
    let bots = "--bot ann=house:random --bot 'bob=house:uct?playouts=100' --bot 'eve=house:random'";
    let line = format!("exam connect-four {bots} --group 1 --seed 7");
    let events = events(&done(
        &arena.run(&format!("{line} --records class --format json")),
    ));
    let exams = of_type(&events, "exam");
    let names: Vec<_> = exams.iter().map(|exam| &exam["bot"]).collect();
    assert_eq!(names, ["ann", "bob", "eve"]);
    assert_eq!(of_type(&events, "exam_game").len(), 30);
    let boards = |name: &str| {
        let records = arena.records(&format!("class/{name}")).into_iter();
        let header =
            |text: String| -> Value { serde_json::from_str(text.lines().next().unwrap()).unwrap() };
        let boards: Vec<Value> = records
            .map(|(_, text)| header(text)["setup"].clone())
            .collect();
        assert_eq!(boards.len(), 10);
        boards
    };
    assert_eq!(boards("ann"), boards("bob"));

    let text = done(&arena.run(&format!("{line} --no-records --scores scores.json")));
    fits_eighty_columns(&text);
    let (_, compared) = text.split_once("all bots of this exam").expect(&text);
    let (compared, scoreboard) = compared
        .split_once("scoreboard, the best of each part")
        .expect(&text);
    let marks = exams[1]["marks"].to_string();
    for table in [compared, scoreboard] {
        let rows = table.lines().filter(|line| !line.trim().is_empty());
        let rows: Vec<Vec<&str>> = rows.map(|row| row.split_whitespace().collect()).collect();
        assert_eq!(rows.len(), 4, "{text}");
        assert_eq!(rows[1], ["1", "bob", &marks, "1"], "{text}");
        // Ann and Eve are one program on the same boards with the same seeds.
        assert_eq!((rows[2][0], rows[3][0]), ("2", "2"), "{text}");
    }
    let twice = arena.run("exam connect-four --bot a=house:random --bot a=house:uct --group 1");
    refused(&twice, "a");
}

/// The operator's file decides the boards, and nothing of it is shown.
#[test]
fn boards_by_a_seed_file_are_the_same_for_everyone() {
    let arena = Arena::new();
    arena.write("secret.txt", "pomegranate\n");
    let root = "pomegranate"
        .parse::<referee_core::Root>()
        .unwrap()
        .reveal();
    let sit = |name: &str| {
        let output = arena.run(&format!(
            "exam connect-four --bot {name}=house:random --group 1 --seed-file secret.txt \
             --records {name} --format json"
        ));
        done(&output);
        let about = fs::read_to_string(arena.path(name).join("run.json")).unwrap();
        for shown in [out(&output), err(&output), about] {
            assert!(!shown.contains("pomegranate"), "{shown}");
            assert!(!shown.contains(&root), "{shown}");
        }
        let records = arena.records(name);
        let seeds = records
            .iter()
            .map(|(_, record)| events(record)[0]["seed"].to_string());
        seeds.collect::<Vec<_>>()
    };
    let first = sit("ann");
    assert_eq!(first.len(), 10);
    assert_eq!(sit("bob"), first);
}

#[test]
fn every_way_to_fail_has_its_word() {
    for (line, word, more) in [
        ("crash", "runtime_error", ""),
        ("hang-up", "runtime_error", ""),
        ("illegal", "illegal_move", ""),
        ("oversized", "output_limit_exceeded", ""),
        (
            "memory --megabytes 64 --max-games 1",
            "memory_limit_exceeded",
            "--memory-limit 16",
        ),
        ("late", "time_limit_exceeded", "--move-limit 700ms"),
    ] {
        let arena = Arena::new();
        let output = arena.run(&format!(
            "exam connect-four {} --group 2 --concurrency 10 --format json {more}",
            villain("me", line)
        ));
        let events = events(&done(&output));
        assert_eq!(verdicts(&events), [word; 10], "{line}");
        assert_eq!(of_type(&events, "exam")[0]["marks"], 0);
        assert!(
            err(&output).contains("me committed 10 fouls"),
            "{}",
            err(&output)
        );
    }
    // The answer is a no where that is asked for.
    let arena = Arena::new();
    for (bot, code) in [
        (villain("me", "illegal"), 1),
        ("--bot house:random".to_owned(), 0),
    ] {
        let output = arena.run(&format!(
            "exam connect-four {bot} --group 1 --no-records --fail-on-foul"
        ));
        assert_eq!(output.status.code(), Some(code), "{}", err(&output));
    }
}

#[test]
fn a_bot_that_never_starts_has_no_points_and_the_answer_is_no() {
    let arena = Arena::new();
    for exam in ["connect-four --group 1", "mahjong --case 'practice 1'"] {
        let output = arena.run(&format!("exam {exam} --bot me=exec:./not_there"));
        assert_eq!(output.status.code(), Some(1), "{}", err(&output));
        assert!(out(&output).contains("runtime error"), "{}", out(&output));
        assert!(
            err(&output).contains("could not start ./not_there: No such file"),
            "{}",
            err(&output)
        );
    }
}

#[test]
fn the_scoreboard_keeps_the_best_of_two_submissions() {
    let arena = Arena::new();
    let submit = |spec: &str| {
        let line = format!(
            "exam connect-four --bot {spec} --group 1 --seed 1 --scores scores.json --format json"
        );
        of_type(&events(&done(&arena.run(&line))), "exam").remove(0)
    };
    let good = submit("'ann=house:uct?playouts=300'");
    let bad = submit("ann=house:random");
    let best = good["marks"].as_i64().unwrap();
    assert!(best > bad["marks"].as_i64().unwrap());
    assert_eq!(bad["scoreboard"][0]["marks"], best);

    let other = submit("bob=house:random");
    let board = other["scoreboard"].as_array().unwrap();
    let ranks: Vec<_> = board
        .iter()
        .map(|rank| (&rank["rank"], &rank["bot"]))
        .collect();
    assert_eq!(
        ranks,
        [(&1.into(), &"ann".into()), (&2.into(), &"bob".into())]
    );

    let output =
        arena.run("exam connect-four --bot eve=house:random --group 2 --scores scores.json");
    let text = done(&output);
    assert!(text.contains("scoreboard, the best of each part"), "{text}");
    for name in ["ann", "bob", "eve"] {
        assert!(text.contains(name), "{text}");
    }
}

#[test]
fn what_is_no_exam_is_refused() {
    let arena = Arena::new();
    arena.write("notes.txt", "buy milk");
    for (line, says) in [
        (
            "connect-four --bot house:random --group 0",
            "expected a whole number of 1 to 5, as in --group 1",
        ),
        (
            "connect-four --bot house:random --group 6",
            "expected a whole number of 1 to 5, as in --group 1",
        ),
        (
            "connect-four --bot house:simple",
            "does not play connect-four",
        ),
        (
            "connect-four --bot ladder-1=house:random --group 1",
            "an opponent is called ladder-1 too",
        ),
        (
            "connect-four --bot house:random --scores notes.txt",
            "that an exam has written",
        ),
        (
            "mahjong --bot me=house:shanten --scores no/where.json",
            "there is no folder no",
        ),
        (
            "mahjong --bot house:simple",
            "name yours, as in me=house:simple",
        ),
        ("mahjong --bot house:uct", "does not play mahjong"),
        (
            "mahjong --bot house:random --case 'practice 0'",
            "there are practice 1",
        ),
        (
            "mahjong --bot house:random --cases nowhere.toml",
            "No such file",
        ),
        ("othello --bot house:random", "othello"),
    ] {
        refused(&arena.run(&format!("exam {line}")), says);
    }
    assert!(!arena.path("arena-runs").exists(), "nothing was begun");
}

/// Two cases with seeds that nobody should read.
const CASES: &str = r#"
[[case]]
name = "easy"
seed = "pomegranate"
minimum = 1

[[case]]
name = "hard"
seed = "quince"
minimum = 10000
"#;

impl Arena {
    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// With the two cases in `cases.toml`.
    fn with_cases() -> Self {
        let arena = Self::new();
        arena.write("cases.toml", CASES);
        arena
    }
}

#[test]
fn a_case_is_passed_when_its_minimum_is_reached() {
    let arena = Arena::with_cases();
    let line = "exam mahjong --cases cases.toml --bot me=house:shanten --format json";
    let passed = arena.run(&format!("{line} --case easy"));
    done(&passed);
    let both = arena.run(&format!("{line} --records run"));
    assert_eq!(both.status.code(), Some(1), "{}", err(&both));

    let events = events(&out(&both));
    let games = of_type(&events, "exam_game");
    assert_eq!(games.len(), 16);
    proved(&arena, &games);
    let [easy, hard] = &of_type(&events, "exam_case")[..] else {
        panic!("two cases");
    };
    assert_eq!(
        (&easy["end"], &hard["end"]),
        (&"passed".into(), &"failed".into())
    );
    assert_eq!(easy["marks"], sum(&games[..8], "marks"));
    assert_eq!(hard["marks"], sum(&games[8..], "marks"));
    assert_eq!(easy["thought_us"], sum(&games[..8], "thought_us"));
    assert!(easy["memory_bytes"].is_u64(), "{easy}");
    let exam = &of_type(&events, "exam")[0];
    assert_eq!(
        (&exam["passed_cases"], &exam["marks"]),
        (&1.into(), &sum(&games, "marks").into())
    );

    // The rounds are the same for everyone, and the seeds stay in their file.
    let again = of_type(&self::events(&out(&passed)), "exam_game");
    assert_eq!(by_round(&games[..8], "marks"), by_round(&again, "marks"));
    let about = fs::read_to_string(arena.path("run/run.json")).unwrap();
    let told: serde_json::Value = serde_json::from_str(&about).unwrap();
    assert!(told["ended"]["setups"][0].is_object(), "{about}");
    for shown in [out(&both), err(&both), about] {
        assert!(
            !shown.contains("pomegranate") && !shown.contains("quince"),
            "{shown}"
        );
    }
}

#[test]
fn a_case_shows_its_time_and_memory() {
    let arena = Arena::with_cases();
    let text =
        done(&arena.run("exam mahjong --cases cases.toml --case easy --bot me=house:shanten"));
    fits_eighty_columns(&text);
    assert!(text.contains("easy: passed, "), "{text}");
    assert!(text.contains("me: 1 of 1 cases passed"), "{text}");
    let sums = text.lines().last().unwrap();
    assert!(sums.contains("ms  ") && sums.ends_with("iB"), "{sums}");
}

/// A case with the arcade's limits.
fn enforced(line: &str) -> Vec<Value> {
    let arena = Arena::with_cases();
    let output = arena.run(&format!(
        "exam mahjong --cases cases.toml --case easy --enforce --format json {}",
        villain("me", line)
    ));
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    assert!(err(&output).contains("me committed"), "{}", err(&output));
    events(&out(&output))
}

/// A round takes it more than eight tenths of a second: in the fifth, or sooner
/// on a busy machine, the four are used up.
#[test]
fn four_seconds_are_for_all_rounds_of_a_case() {
    let events = enforced("slow --by-callbacks --delay 20ms");
    let verdicts = verdicts(&events);
    let began = verdicts
        .iter()
        .position(|word| word == "time_limit_exceeded");
    let began = began.expect("its time runs out");
    assert!((1..5).contains(&began), "{verdicts:?}");
    // It never claims a win.
    assert!(
        verdicts[..began].iter().all(|word| word == "draw"),
        "{verdicts:?}"
    );
    assert!(
        verdicts[began..]
            .iter()
            .all(|word| word == "time_limit_exceeded"),
        "{verdicts:?}"
    );
    let case = &of_type(&events, "exam_case")[0];
    assert!(case["thought_us"].as_u64() >= Some(4_000_000), "{case}");
}

#[test]
fn two_mebibytes_are_all_that_a_case_allows() {
    let events = enforced("memory --by-callbacks --megabytes 8 --after 0");
    assert_eq!(verdicts(&events), ["memory_limit_exceeded"; 8]);
    let case = &of_type(&events, "exam_case")[0];
    assert!(
        case["memory_bytes"].as_u64() > Some(2 * 1024 * 1024),
        "{case}"
    );
}

#[test]
fn a_file_of_cases_that_is_wrong_is_refused_by_its_line() {
    let arena = Arena::new();
    for (wrong, says) in [
        (
            CASES.replace("minimum = 10000", "minimum = \"much\""),
            "line 10: ",
        ),
        (CASES.replace("\"quince\"", "\"quince"), "line 9: "),
        (CASES.replace("minimum = 1\n", "minimal = 1\n"), "line 5: "),
        (
            CASES.replace("\"hard\"", "\"easy\""),
            "two cases are called \"easy\"",
        ),
        (
            CASES.replace("\"quince\"", "\"\""),
            "case \"hard\": a seed can't be empty",
        ),
        (String::new(), "expected one [[case]] or more"),
    ] {
        arena.write("cases.toml", &wrong);
        let output = arena.run("exam mahjong --bot house:shanten --cases cases.toml");
        refused(&output, says);
        // A seed that is not closed is still a seed.
        assert!(!err(&output).contains("quince"), "{}", err(&output));
    }
}

#[test]
fn ctrl_c_in_an_exam_shows_what_there_is_and_keeps_no_score() {
    for (line, says, never) in [
        // Longer than anybody wants to wait, if nobody interrupts it.
        (
            format!(
                "connect-four --concurrency 1 {}",
                villain("me", "slow --delay 100ms")
            ),
            "group 1: ",
            "group 5: ",
        ),
        (
            format!(
                "mahjong {}",
                villain("me", "slow --by-callbacks --delay 30ms")
            ),
            "practice 1: stopped, ",
            "not passed",
        ),
    ] {
        let arena = Arena::new();
        let line = format!("exam {line} --scores scores.json --records run");
        let child = arena.start(&line);
        wait_until("a record", || !arena.records("run").is_empty());
        interrupt(&child);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", err(&output));
        assert!(out(&output).contains(says), "{}", out(&output));
        assert!(!out(&output).contains(never), "{}", out(&output));
        assert!(err(&output).contains("stopped after"), "{}", err(&output));
        assert!(!arena.path("scores.json").exists());
    }
}

/// Whoever knows the seed of a case knows its walls.
#[test]
fn a_bot_in_a_sandbox_does_not_see_the_seeds_of_its_exam() {
    let script = format!(
        "cat exam.toml; exec '{}' honest --by-callbacks",
        villain_program().display()
    );
    let script = shlex::try_quote(&script).unwrap();
    let bot = format!("me=exec:sh -c {script}");
    let bot = shlex::try_quote(&bot).unwrap();
    let sees = |arena: Arena| {
        let case = "[[case]]\nname = \"one\"\nseed = \"a-secret\"\nminimum = -1000\n";
        fs::write(arena.path("exam.toml"), case).unwrap();
        let line = format!("exam mahjong --cases exam.toml --records run --bot {bot}");
        done(&arena.run(&line));
        let logs = fs::read_dir(arena.path("run/logs")).unwrap();
        let logs: String = logs
            .map(|log| fs::read_to_string(log.unwrap().path()).unwrap())
            .collect();
        assert!(logs.contains(" plays "), "{logs}");
        logs.contains("a-secret")
    };
    assert!(!sees(Arena::new()));
    assert!(sees(Arena::new().without_walls()));
}
