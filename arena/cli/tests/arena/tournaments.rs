//! Tournaments from the file that describes one to what is proved of it in the
//! end.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Output, Stdio},
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};
use sqlx::{Connection as _, Executor as _};

use crate::{site::Site, vocabulary::*};

/// A tournament between bots of these SPECs: a, b, c …
fn cup(game: &str, shape: &str, more: &str, specs: &[&str]) -> String {
    let mut file = format!("game = \"{game}\"\nshape = \"{shape}\"\n{more}\n");
    for (name, spec) in ('a'..).zip(specs) {
        file += &format!("[[bots]]\nname = \"{name}\"\nbot = {}\n", json!(spec));
    }
    file
}

/// The SPEC of `villain LINE`.
fn villain_spec(line: &str) -> String {
    format!("exec:'{}' {line}", villain_program().display())
}

impl Arena {
    /// An arena with this text in `cup.toml`.
    fn with_cup(text: &str) -> Self {
        let arena = Self::new();
        fs::write(arena.path("cup.toml"), text).unwrap();
        arena
    }

    /// The `standings` event of a tournament, without its name.
    fn standings(&self, name: &str) -> Value {
        self.standings_in(name, "arena.sqlite")
    }

    fn standings_in(&self, name: &str, store: &str) -> Value {
        let line = format!("tournament status {name} --format json --store '{store}'");
        let mut event = of_type(&events(&done_or_no(&self.run(&line))), "standings")[0].clone();
        event["tournament"] = Value::Null;
        event
    }

    /// The games that the store has: group and seating.
    fn stored(&self, name: &str) -> BTreeSet<(u64, u64)> {
        let csv = done(&self.run(&format!("tournament export {name} --as csv")));
        let key = |line: &str| {
            let mut cells = line.split(',').map(str::parse);
            (
                cells.next().unwrap().unwrap(),
                cells.next().unwrap().unwrap(),
            )
        };
        csv.lines().skip(1).map(key).collect()
    }

    /// All lines of the tournament's export.
    fn exported(&self, name: &str) -> Vec<Value> {
        events(&done(&self.run(&format!("tournament export {name}"))))
    }

    /// Says that the tournament is proved.
    fn proves(&self, name: &str) {
        let said = done(&self.run(&format!("tournament verify {name}")));
        assert!(said.contains(": proved, "), "{said}");
    }
}

/// Output of a run that ended, whatever the answer.
fn done_or_no(output: &Output) -> String {
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{}",
        err(output)
    );
    out(output)
}

/// Which game an event tells of.
fn game_of(event: &Value) -> (u64, u64) {
    (
        event["group"].as_u64().unwrap(),
        event["seating"].as_u64().unwrap(),
    )
}

/// All `game` events of what was printed.
fn games_told(text: &str) -> BTreeSet<(u64, u64)> {
    of_type(&events(text), "game").iter().map(game_of).collect()
}

/// Reads so many events of a run, and gives them with the rest of its output.
fn first_events(child: &mut Child, count: usize) -> (Vec<Value>, impl FnOnce() -> String + use<>) {
    first_events_until(child, &|told| told.len() == count)
}

/// The same with the events up to the one after which these are enough.
fn first_events_until(
    child: &mut Child,
    enough: &dyn Fn(&[Value]) -> bool,
) -> (Vec<Value>, impl FnOnce() -> String + use<>) {
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut read = Vec::new();
    while !enough(&read) {
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        let event =
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("not an event: {line:?}"));
        read.push(event);
    }
    let rest = move || {
        let mut rest = String::new();
        lines.read_to_string(&mut rest).unwrap();
        rest
    };
    (read, rest)
}

fn send(signal: Signal, process: &Child) {
    kill(Pid::from_raw(process.id() as i32), signal).unwrap();
}

/// Faults of a tournament, in a line each: its place, its kind, the evidence.
fn faults(event: &Value) -> Vec<String> {
    let faults = event["faults"].as_array().unwrap().iter();
    let line = |fault: &Value| {
        let place = match (fault["group"].as_u64(), fault["seating"].as_u64()) {
            (Some(group), Some(seating)) => format!("group {group}, seating {seating}: "),
            (Some(group), None) => format!("group {group}: "),
            _ => String::new(),
        };
        let kind = fault["kind"].as_str().unwrap().replace('_', " ");
        let error = fault["error"].as_str().unwrap_or_default();
        format!("{place}{kind} {error}").trim_end().to_owned()
    };
    faults.map(line).collect()
}

/// Every shape between so many bots, and how many games it has, where that is
/// known from the start, worked out by hand: matches × deals × seatings.
const SHAPES: &[(&str, &str, &str, usize, Option<u64>)] = &[
    (
        "connect-four",
        "round-robin",
        "deals = 2",
        4,
        Some(6 * 2 * 2),
    ),
    (
        "othello",
        "gauntlet",
        "deals = 1\nchallengers = 2",
        5,
        Some(6 * 2),
    ),
    (
        "mahjong",
        "swiss",
        "deals = 2\nrounds = 3",
        5,
        Some(3 * 2 * 2 * 2),
    ),
    (
        "connect-four",
        "single-elimination",
        "deals = 1\nthird_place = true",
        6,
        None,
    ),
    ("connect-four", "double-elimination", "deals = 1", 5, None),
    (
        "connect-four",
        "ladder",
        "deals = 1\nrounds = 3",
        4,
        Some(3 * 2 * 2),
    ),
    ("big-two", "round-robin", "deals = 1", 5, Some(5 * 4)),
    ("big-two", "gauntlet", "deals = 1", 5, Some(4 * 4)),
    (
        "big-two",
        "swiss",
        "deals = 1\nrounds = 2",
        7,
        Some(2 * 2 * 4),
    ),
    ("big-two", "single-elimination", "deals = 1", 6, None),
    ("big-two", "double-elimination", "deals = 1", 6, None),
    (
        "big-two",
        "ladder",
        "deals = 1\nrounds = 2",
        6,
        Some(2 * 2 * 4),
    ),
    (
        "big-two",
        "swiss",
        "deals = 1\nrounds = 1\nseatings = \"all\"",
        4,
        Some(24),
    ),
];

#[test]
fn every_shape_is_played_to_its_end_and_proved() {
    for (game, shape, more, bots, games) in SHAPES {
        let what = format!("{shape} of {game}");
        let arena = Arena::with_cup(&cup(game, shape, more, &vec!["house:random"; *bots]));
        let planned = done(&arena.run("tournament run cup.toml --dry-run --format json"));
        assert!(!arena.path("arena.sqlite").exists(), "{what}");
        let planned = events(&planned)[0].clone();

        let told = done(&arena.run("tournament run cup.toml --format json"));
        let told = games_told(&told);
        let standings = arena.standings("cup");
        let count = &standings["counts"];
        assert_eq!(standings["state"], "over", "{what}");
        assert_eq!(told, arena.stored("cup"), "{what}");
        assert_eq!(count["games"], told.len(), "{what}");
        assert_eq!(
            (&count["half_groups"], &count["excluded_groups"]),
            (&json!(0), &json!(0)),
            "{what}"
        );
        match games {
            Some(games) => {
                assert_eq!(planned["planned_games"], *games, "{what}");
                assert_eq!(count["games"], *games, "{what}");
            }
            // A tie makes more of them, and a clear lead fewer.
            None => assert!(planned["planned_games"].is_u64(), "{what}"),
        }
        // A deal is a group, and each was played from all of its seatings.
        let mut groups: BTreeMap<u64, u64> = BTreeMap::new();
        for (group, _) in &told {
            *groups.entry(*group).or_default() += 1;
        }
        let seatings = match *game {
            _ if more.contains("\"all\"") => 24,
            "big-two" => 4,
            _ => 2,
        };
        assert!(
            groups.values().all(|&games| games == seatings),
            "{what}: {groups:?}"
        );
        // Who fills a seat is in no table.
        let rows = standings["rows"].as_array().unwrap();
        assert_eq!(rows.len(), *bots, "{what}");
        for text in ["status cup", "status cup --schedule", "list"] {
            fits_eighty_columns(&done(&arena.run(&format!("tournament {text}"))));
        }
        arena.proves("cup");
    }
}

#[test]
fn a_bot_that_can_not_be_started_is_set_aside_in_every_shape() {
    for (game, shape, more, bots, _) in SHAPES {
        let what = format!("{shape} of {game}");
        let mut specs = vec!["house:random"; *bots];
        specs[1] = "exec:./not_there";
        let more = format!("{more}\nset_aside = {{ starts = 1 }}");
        let arena = Arena::with_cup(&cup(game, shape, &more, &specs));
        let output = arena.run("tournament run cup.toml");
        assert_eq!(output.status.code(), Some(1), "{what}: {}", err(&output));
        let said = err(&output);
        assert!(
            said.contains("b is set aside: did not start in 1 deal"),
            "{what}: {said}"
        );
        assert!(
            said.contains("could not start ./not_there: No such file"),
            "{what}: {said}"
        );

        let standings = arena.standings("cup");
        assert_eq!(standings["state"], "over", "{what}");
        assert_eq!(standings["set_aside"][0]["bot"], "b", "{what}");
        let rows = standings["rows"].as_array().unwrap();
        assert_eq!(rows.len(), *bots, "{what}");
        let annulled = matches!(*shape, "round-robin" | "gauntlet");
        assert_eq!(standings["set_aside"][0]["annulled"], annulled, "{what}");
        if annulled {
            let out = rows.iter().find(|row| row["bot"] == "b").unwrap();
            assert_eq!(out["rank"], Value::Null, "{what}");
            // The others have what they have from each other.
            let pairs = standings["pairs"].as_array().unwrap();
            for pair in pairs.iter().filter(|pair| pair["groups"] != 0) {
                assert!(
                    pair["first"] != "b" && pair["second"] != "b",
                    "{what}: {pair}"
                );
            }
        }
        arena.proves("cup");
    }
}

#[test]
fn a_file_that_can_not_be_meant_is_refused_and_leaves_nothing() {
    let two = ["house:random", "house:random"];
    let four = ["house:random"; 4];
    let cf = |shape: &str, more: &str| cup("connect-four", shape, more, &two);
    let arena = Arena::new();
    for (text, says) in [
        (String::new(), "missing field `game`"),
        ("game = ".to_owned(), "cup.toml: TOML parse error at line 1"),
        (cf("round-robin", "deal = 3"), "unknown field `deal`"),
        (
            cf("round-robin", "limits.mvoe = \"1s\""),
            "unknown field `mvoe`",
        ),
        (cf("round-robin", "deals = 0"), "1 to 10000000 deals, not 0"),
        (cf("round-robin", "deals = -1"), "deals = -1"),
        (cf("round-robin", "deals = 99999999"), "1 to 10000000 deals"),
        (
            cf("round-robin", "rounds = 2"),
            "rounds: a round-robin has no rounds",
        ),
        (cf("round-robin", "limits.move = \"0s\""), "limits.move: "),
        (cf("round-robin", "limits.move = \"soon\""), "limits.move: "),
        (
            cf("round-robin", "limits.memory_mib = 0"),
            "limits.memory_mib: expected 1 to",
        ),
        (
            cf("round-robin", "name = \"a/b\""),
            "name: expected 1 to 60 letters",
        ),
        (cf("round-robin", "setup = { rows = 1 }"), "setup: "),
        (
            cf("round-robin", "openings = \"none\""),
            "openings none: No such file",
        ),
        (cf("round-robin", "filler = \"exec:\""), "filler: "),
        (
            cf("round-robin", "filler = \"unix:x\""),
            "a bot that the arena starts",
        ),
        (
            cf("round-robni", ""),
            "there is no shape \"round-robni\" (did you mean round-robin?)",
        ),
        (cf("swiss", "rounds = 2"), "at most 1 rounds"),
        (
            cf("swiss", "rounds = 0"),
            "the number of rounds must be at least 1",
        ),
        (
            cf("gauntlet", "challengers = 2"),
            "at least 1 other entrant",
        ),
        (cf("gauntlet", "challengers = -1"), "challengers = -1"),
        (
            cf("swiss", "stop.sprt = { elo0 = 0, elo1 = 10 }"),
            "in a round robin or a gauntlet only",
        ),
        (
            cf("round-robin", "stop.sprt = { elo0 = 10, elo1 = 0 }"),
            "elo0",
        ),
        (
            cup(
                "big-two",
                "round-robin",
                "stop.sprt = { elo0 = 0, elo1 = 10 }",
                &four,
            ),
            "a test of strength stops matches of two",
        ),
        (
            cup("connect-fuor", "swiss", "", &two),
            "(did you mean connect-four?)",
        ),
        (
            cup("connect-four", "swiss", "", &two[..1]),
            "at least 2 entrants, and there are 1",
        ),
        (
            cup("connect-four", "swiss", "", &[]),
            "missing field `bots`",
        ),
        (
            cup("connect-four", "swiss", "", &["house:radnom"; 2]),
            "did you mean random?",
        ),
        (
            cup("connect-four", "swiss", "", &["house:weights?plies=1"; 2]),
            "does not play connect-four",
        ),
        (
            cup("connect-four", "swiss", "", &["nobody"; 2]),
            "nor a registered bot",
        ),
        (
            cf("swiss", "").replace("\"b\"", "\"a\""),
            "two are called \"a\"",
        ),
        (
            cf("swiss", "").replace("\"b\"", "\"a b\""),
            "a name is 1 to 40 letters",
        ),
        (
            cf("swiss", "").replace("\"b\"", "\"filler\""),
            "are reserved for bots that fill seats",
        ),
    ] {
        fs::write(arena.path("cup.toml"), &text).unwrap();
        for more in ["", "--dry-run"] {
            let output = arena.run(&format!("tournament run cup.toml {more}"));
            assert_eq!(output.status.code(), Some(2), "{text}{}", err(&output));
            refused(&output, says);
            assert!(err(&output).contains("cup.toml: "), "{}", err(&output));
        }
        assert!(!arena.path("arena.sqlite").exists(), "{text}");
        assert!(!arena.path("arena-runs").exists(), "{text}");
    }
    fs::create_dir(arena.path("folder")).unwrap();
    for (file, says) in [
        ("nowhere.toml", "No such file"),
        ("folder", "Is a directory"),
    ] {
        refused(&arena.run(&format!("tournament run {file}")), says);
    }
}

#[test]
fn what_is_no_store_is_refused() {
    let arena = Arena::with_cup(&cup("connect-four", "swiss", "", &["house:random"; 2]));
    fs::write(
        arena.path("notes.txt"),
        "this is no database, but a text of some length\n",
    )
    .unwrap();
    for (store, says) in [
        ("notes.txt", "the file is no SQLite database"),
        (".", "it is a folder; expected a file, as in ./arena.sqlite"),
        (
            "mysql://localhost/x",
            "expected a path, sqlite:PATH or postgres://",
        ),
    ] {
        refused(
            &arena.run(&format!("tournament run cup.toml --store {store}")),
            says,
        );
        refused(
            &arena.run(&format!("tournament list --store {store}")),
            "--store",
        );
    }
    let text = fs::read_to_string(arena.path("notes.txt")).unwrap();
    assert!(text.starts_with("this is no database"));
    for verb in [
        "list",
        "status cup",
        "resume cup",
        "verify cup",
        "export cup",
    ] {
        let output = arena.run(&format!("tournament {verb}"));
        refused(&output, "--store arena.sqlite: there is no such file");
        assert!(!arena.path("arena.sqlite").exists(), "{verb}");
    }
    let output = arena.run("tournament list --store sqlite://other.sqlite");
    refused(
        &output,
        "--store sqlite://other.sqlite: there is no such file",
    );
    assert!(!arena.path("other.sqlite").exists());
}

#[test]
fn a_name_is_taken_once_and_a_typo_is_told() {
    let arena = Arena::with_cup(&cup("connect-four", "swiss", "", &["house:random"; 2]));
    done(&arena.run("tournament run cup.toml --name spring"));
    let before = arena.exported("spring");
    refused(
        &arena.run("tournament run cup.toml --name spring"),
        "`arena tournament resume spring` goes on with it",
    );
    refused(
        &arena.run("tournament status sprnig"),
        "did you mean spring?",
    );
    // What is over stays so.
    let output = arena.run("tournament resume spring");
    assert!(done(&output).contains("W-D-L"));
    assert!(err(&output).contains("spring is over; nothing is left to be played"));
    assert_eq!(arena.exported("spring"), before);
}

#[test]
fn bots_that_repeat_themselves_are_told_and_get_no_error_bar() {
    let more = "deals = 10";
    let arena = Arena::with_cup(&cup(
        "othello",
        "round-robin",
        more,
        &["house:weights?plies=1"; 2],
    ));
    let output = arena.run("tournament run cup.toml");
    done(&output);
    let said = err(&output);
    assert!(
        said.contains("the sample is 20 games, but only 1 distinct"),
        "{said}"
    );
    let standings = arena.standings("cup");
    let count = &standings["counts"];
    assert_eq!(
        (&count["distinct_games"], &count["stored_games"]),
        (&json!(1), &json!(20))
    );
    // Every deal came out even, which says nothing of how sure that is.
    let pair = &standings["pairs"][0];
    assert_eq!(pair["comparison"]["group_counts"], json!([0, 0, 10, 0, 0]));
    assert_eq!(pair["comparison"]["score"], 0.5);
    assert_eq!(pair["comparison"]["elo"]["error"], Value::Null, "{pair}");
}

#[test]
fn bots_that_fail_again_and_again_are_set_aside_with_what_they_did() {
    let crashes = villain_spec("crash");
    let late = villain_spec("late");
    let bots = ["house:random", &*crashes, &*late, "house:random"];
    // A fifth of their 12 deals is more than two.
    let more = "deals = 4\nlimits.move = \"200ms\"\nset_aside = { fouls = 2 }";
    let arena = Arena::with_cup(&cup("connect-four", "round-robin", more, &bots));
    let output = arena.run("tournament run cup.toml");
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    let said = err(&output);
    for words in [
        "b is set aside: failed 3 deals; its games do not count",
        "c is set aside: failed 3 deals; its games do not count",
        "crashed: killed by SIGABRT; its last words: crashing in the middle of the game",
        "no answer within 200ms",
    ] {
        assert!(said.contains(words), "no {words:?} in {said}");
    }
    let standings = arena.standings("cup");
    assert_eq!(standings["state"], "over");
    // What a plays against d is left.
    assert_eq!(standings["counts"]["games"], 4 * 2);
    fits_eighty_columns(&out(&output));
    arena.proves("cup");
}

#[test]
fn a_tournament_without_an_end_is_stopped_and_goes_on() {
    let arena = Arena::with_cup(&cup(
        "connect-four",
        "ladder",
        "deals = 1",
        &["house:random"; 3],
    ));
    let mut before = 0;
    for line in ["run cup.toml", "resume cup"] {
        let mut child = arena.start(&format!("tournament {line} --format json"));
        let (_, rest) = first_events(&mut child, 20);
        send(Signal::SIGINT, &child);
        rest();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let games = arena.stored("cup").len();
        assert!(games >= before + 20, "{games} after {before}");
        before = games;
        let said = done(&arena.run("tournament verify cup"));
        assert!(said.contains("cup: proved so far, "), "{said}");
    }
}

#[test]
fn a_run_whose_time_is_up_stops_as_if_it_had_been_asked_to() {
    let slow = villain_spec("slow --delay 50ms");
    let more = "deals = 400\nstop.time = \"1s\"";
    let bots = [&*slow, "house:random"];
    let arena = Arena::with_cup(&cup("connect-four", "round-robin", more, &bots));
    let output = arena.run("tournament run cup.toml");
    assert_eq!(output.status.code(), Some(130), "{}", err(&output));
    for words in [
        "stop.time is up",
        "`arena tournament resume cup` goes on with it",
    ] {
        assert!(err(&output).contains(words), "{}", err(&output));
    }
    assert_eq!(arena.standings("cup")["state"], "stopped");

    let told = events(&out(&arena.run("tournament resume cup --format json")));
    assert_eq!(of_type(&told, "stopping")[0]["reason"], "time_up");
    let ended = &of_type(&told, "run_ended")[0];
    assert_eq!(ended["end"], "timed_out");
    assert_eq!(ended["games"], of_type(&told, "game").len());
    assert_eq!(ended["root"], Value::Null);
}

#[test]
fn a_file_s_name_is_the_tournament_s_as_far_as_it_can_be() {
    let arena = Arena::new();
    let text = cup("connect-four", "swiss", "deals = 1", &["house:random"; 2]);
    fs::write(arena.path("my spring cup (2).toml"), text).unwrap();
    done(&arena.run("tournament run 'my spring cup (2).toml' --store 'a store?.db'"));
    let line = "tournament verify my-spring-cup--2- --store 'a store?.db'";
    assert!(done(&arena.run(line)).contains("proved, 2 games"));
    assert!(arena.path("a store?.db").exists());
    for name in ["../up", ".hidden", "a/b", "''"] {
        refused(
            &arena.run(&format!(
                "tournament run 'my spring cup (2).toml' --name {name}"
            )),
            "--name: expected 1 to 60 letters",
        );
    }
    assert!(!arena.path("arena.sqlite").exists());
}

/// Othello is quick, and `weights` beats `random` soon.
const TESTED: &str = "elo0 = 0, elo1 = 200, model = \"logistic\"";

#[test]
fn a_test_stops_a_match_at_the_same_deal_however_many_are_at_it() {
    let more = format!("deals = 400\nstop.sprt = {{ {TESTED} }}");
    let bots = ["house:weights?plies=1", "house:random"];
    let arena = Arena::with_cup(&cup("othello", "round-robin", &more, &bots));
    let run = |name: &str, concurrency: u32| {
        let line =
            format!("tournament run cup.toml --name {name} --seed 7 --concurrency {concurrency}");
        let said = done(&arena.run(&line));
        assert!(said.contains("H1 accepted"), "{said}");
        arena.proves(name);
        arena.standings(name)
    };
    let (one, many) = (run("one", 1), run("many", 9));
    assert_eq!(one["rows"], many["rows"]);
    assert_eq!(one["pairs"], many["pairs"]);
    assert_eq!(
        one["pairs"][0]["test"]["decision"], "h1",
        "{}",
        one["pairs"]
    );
    let groups = one["counts"]["groups"].as_u64().unwrap();
    assert!(groups < 100, "{groups}");
    for standings in [&one, &many] {
        let count = |what: &str| standings["counts"][what].as_u64().unwrap();
        // What was begun in vain stands apart.
        let all = count("games") + 2 * count("excluded_groups") + count("half_games");
        assert_eq!(count("stored_games"), all);
    }
}

#[test]
fn a_test_of_a_match_counts_the_same_deals_again() {
    let arena = Arena::new();
    let run = |concurrency: u32, more: &str| {
        arena.run(&format!(
            "match othello --bot w=house:weights?plies=1 --bot r=house:random --rounds 400 --seed 7 \
             --sprt elo0=0 elo1=200 model=logistic --no-records --concurrency {concurrency} {more}"
        ))
    };
    let standings = |concurrency: u32| {
        let events = events(&done(&run(concurrency, "--format json")));
        let mut standings = of_type(&events, "standings")[0].clone();
        let played = of_type(&events, "game").len() as u64;
        assert!(standings["counts"]["games"].as_u64().unwrap() <= played);
        assert!(played < 400);
        json!({ "rows": standings["rows"].take(), "pairs": standings["pairs"].take() })
    };
    let (one, many) = (standings(1), standings(9));
    assert_eq!(one, many);
    assert_eq!(one["pairs"][0]["test"]["decision"], "h1", "{one}");
    let table = run(5, "");
    assert!(done(&table).contains("H1 accepted"), "{}", out(&table));
    fits_eighty_columns(&out(&table));
}

/// A bot whose fourth process thinks for an hour about its first point; the processes
/// are counted by folders where the arena runs.
fn slow_in_its_fourth_process() -> String {
    let villain = villain_program();
    let script = format!(
        "n=1; while ! mkdir process-$n 2>/dev/null; do n=$((n + 1)); done; \
         if [ $n -eq 4 ]; then kind='late --after 0'; else kind=honest; fi; \
         exec '{}' $kind --by-callbacks",
        villain.display()
    );
    format!("exec:sh -c {}", shlex::try_quote(&script).unwrap())
}

#[test]
fn a_table_has_whole_deals_only() {
    // One seating of some deals is played by processes of its own before the other.
    // The first two processes play the first deal, the third one seating of the next
    // deals, and the fourth does not get to an end with the other.
    let arena = Arena::with_cup(&cup(
        "mahjong",
        "round-robin",
        "deals = 400\nlimits.move = \"2h\"",
        &["house:random", &slow_in_its_fourth_process()],
    ))
    .without_walls();
    let mut child = arena.start("tournament run cup.toml --format json --concurrency 1");
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let (mut told, rest) = first_events_until(&mut child, &|told| of_type(told, "game").len() == 2);
    wait_until("the fourth process", || arena.path("process-4").exists());
    send(Signal::SIGINT, &child);
    assert!(said.any(|line| line.unwrap().contains("once more cuts them off")));
    send(Signal::SIGINT, &child);
    told.extend(events(&rest()));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let told: BTreeSet<_> = of_type(&told, "game").iter().map(game_of).collect();
    assert_eq!(told, arena.stored("cup"));

    let standings = arena.standings("cup");
    let count = |what: &str| standings["counts"][what].as_u64().unwrap();
    assert_eq!(standings["state"], "stopped");
    assert!(count("half_groups") >= 1, "{}", standings["counts"]);
    assert_eq!(count("games"), 2 * count("groups"));
    assert_eq!(count("half_games"), count("half_groups"));
    // Nobody is told of a game whose deal is still to be played from the other seat.
    assert_eq!(count("games"), told.len() as u64);
    assert_eq!(count("stored_games"), count("games") + count("half_games"));
    let rows = standings["rows"].as_array().unwrap();
    let games: u64 = rows.iter().map(|row| row["games"].as_u64().unwrap()).sum();
    assert_eq!(games, 2 * count("games"));
    let said = done(&arena.run("tournament status cup"));
    assert!(
        said.contains("not been played from every seating"),
        "{said}"
    );
    // Before it is over its root is nowhere, nor a record whose deal is still to
    // be played.
    assert_eq!(standings["root"], Value::Null);
    let exported = arena.exported("cup");
    assert_eq!(exported[0]["root"], Value::Null);
    assert_eq!(of_type(&exported, "game").len() as u64, count("games"));
}

/// A villain that plays on the same in every run, but for that it thinks for an
/// hour about its eighth point while there is a file `slow`.
fn slow_at_times() -> String {
    let villain = villain_program();
    let script = format!(
        "if [ -e slow ]; then kind='late --after 8'; else kind=honest; fi; exec '{}' $kind",
        villain.display()
    );
    format!("exec:sh -c {}", shlex::try_quote(&script).unwrap())
}

#[test]
fn sigterm_keeps_every_game_that_was_told_and_ends_within_its_grace() {
    let bots = [&slow_at_times(), "house:random", "house:random"];
    let more = "deals = 8\nlimits.move = \"2h\"";
    let arena = Arena::with_cup(&cup("connect-four", "round-robin", more, &bots));
    let run = "tournament run cup.toml --seed 5";
    done(&arena.run(&format!("{run} --name whole")));

    fs::write(arena.path("slow"), "").unwrap();
    let line = format!("{run} --format json --concurrency 16 --grace 1s");
    let mut child = arena.start(&line);
    let (mut told, rest) = first_events(&mut child, 4);
    send(Signal::SIGTERM, &child);
    let began = Instant::now();
    told.extend(events(&rest()));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // A second is the grace, and an hour the move.
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
    let told: BTreeSet<_> = of_type(&told, "game").iter().map(game_of).collect();
    assert_eq!(told, arena.stored("cup"));
    assert!(told.len() < 48, "it was over already");

    fs::remove_file(arena.path("slow")).unwrap();
    done(&arena.run("tournament resume cup"));
    assert_eq!(
        arena.standings("cup")["rows"],
        arena.standings("whole")["rows"]
    );
    arena.proves("cup");
}

#[test]
fn ctrl_c_twice_cuts_off_a_game_and_loses_no_other() {
    let villain = villain_spec("late --after 8");
    let more = "deals = 8\nlimits.move = \"2h\"";
    let bots = [&*villain, "house:random", "house:random"];
    let arena = Arena::with_cup(&cup("connect-four", "round-robin", more, &bots));
    let mut child = arena.start("tournament run cup.toml --format json --concurrency 16");
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let (mut told, rest) = first_events(&mut child, 4);
    send(Signal::SIGINT, &child);
    assert!(said.any(|line| line.unwrap().contains("once more cuts them off")));
    send(Signal::SIGINT, &child);
    let said: Vec<String> = said.map(Result::unwrap).collect();
    told.extend(events(&rest()));
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said:?}");
    assert!(
        said.iter()
            .any(|line| line.contains("`arena tournament resume cup` goes on"))
    );
    let told: BTreeSet<_> = of_type(&told, "game").iter().map(game_of).collect();
    assert_eq!(told, arena.stored("cup"));
    assert_eq!(arena.standings("cup")["state"], "stopped");
}

#[test]
fn one_arena_at_a_time_runs_a_tournament_and_two_tournaments_share_a_store() {
    let villain = villain_spec("slow --delay 20ms");
    let bots = [&*villain, "house:random"];
    let arena = Arena::with_cup(&cup("connect-four", "round-robin", "deals = 8", &bots));
    let mut first = arena.start("tournament run cup.toml --format json --concurrency 2");
    let (_, rest) = first_events(&mut first, 1);
    let second = arena.run("tournament resume cup");
    refused(
        &second,
        &format!("cup is being run by process {} on ", first.id()),
    );

    // One of another name does not mind.
    done(&arena.run("tournament run cup.toml --name other"));
    rest();
    assert_eq!(first.wait().unwrap().code(), Some(0));
    for name in ["cup", "other"] {
        assert_eq!(arena.standings(name)["counts"]["games"], 16);
        arena.proves(name);
    }
    let list = events(&done(&arena.run("tournament list --format json")));
    let states = list
        .iter()
        .map(|one| (one["tournament"].as_str(), one["state"].as_str()));
    let states: BTreeSet<_> = states.collect();
    let over = |name| (Some(name), Some("over"));
    assert_eq!(states, BTreeSet::from([over("cup"), over("other")]));
}

#[test]
fn who_reads_no_further_stops_no_tournament() {
    let arena = Arena::with_cup(&cup(
        "othello",
        "round-robin",
        "deals = 10",
        &["house:random"; 2],
    ));
    let mut child = arena.start("tournament run cup.toml --format json");
    let (_, rest) = first_events(&mut child, 1);
    drop(rest);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", err(&output));
    assert!(!err(&output).contains("panicked"), "{}", err(&output));
    assert_eq!(arena.standings("cup")["state"], "over");
    arena.proves("cup");
}

#[test]
fn who_reads_an_export_no_further_is_told_nothing() {
    let (arena, _) = over();
    for how in ["jsonl", "csv", "moves"] {
        let mut child = arena.start(&format!("tournament export cup --as {how}"));
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{how}: {}", err(&output));
        assert_eq!(err(&output), "", "{how}");
    }
}

/// Villains of one kind, and a tournament between them.
fn villains(game: &str, more: &str, kind: &str) -> String {
    let spec = villain_spec(&format!("{kind} --max-games 100"));
    let seats = if game == "big-two" { 5 } else { 3 };
    cup(game, "round-robin", more, &vec![&*spec; seats])
}

#[test]
fn no_process_of_a_tournament_meets_a_deal_twice() {
    for (game, more, kind, games) in [
        ("mahjong", "deals = 5", "knows-rounds", 30),
        ("mahjong", "deals = 5", "knows-hands", 30),
        ("big-two", "deals = 2", "knows-rounds", 40),
        ("big-two", "deals = 1", "knows-hands", 20),
        (
            "big-two",
            "deals = 1\nseatings = \"all\"",
            "knows-rounds",
            120,
        ),
    ] {
        let what = format!("{kind} in {game}");
        let arena = Arena::with_cup(&villains(game, more, kind));
        let mut child = arena.start("tournament run cup.toml --format json --concurrency 3");
        let (_, rest) = first_events(&mut child, 4);
        // What they have met dies with them.
        send(Signal::SIGKILL, &child);
        child.wait().unwrap();
        rest();
        let before = arena.stored("cup").len();
        assert!((4..games).contains(&before), "{what}: {before}");
        let resumed = done(&arena.run("tournament resume cup --format json --concurrency 3"));
        assert_eq!(games_told(&resumed).len(), games - before, "{what}");
        let games_of = arena.exported("cup");
        let games_of = of_type(&games_of, "game");
        assert_eq!(games_of.len(), games, "{what}");
        for game in games_of {
            assert_eq!(game["fouls"], json!([]), "{what}");
        }
        arena.proves("cup");
    }
}

/// So the villain does notice in a tournament when it meets a deal twice.
#[test]
fn without_secrets_a_process_of_a_tournament_meets_both_seatings() {
    let arena = Arena::with_cup(&villains("connect-four", "deals = 2", "knows-rounds"));
    let told = events(&done(&arena.run("tournament run cup.toml --format json")));
    let fouls = of_type(&told, "game");
    let fouls = fouls.iter().filter(|game| game["fouls"] != json!([]));
    // One game of each deal, and three play two deals each.
    assert_eq!(fouls.count(), 6);
}

/// Three bots in a quick tournament that is over, and its export.
fn over() -> (Arena, Vec<Value>) {
    let bots = ["house:random"; 3];
    let arena = Arena::with_cup(&cup("connect-four", "round-robin", "deals = 2", &bots));
    done(&arena.run("tournament run cup.toml"));
    let lines = arena.exported("cup");
    assert_eq!(lines.len(), 14);
    (arena, lines)
}

/// Imports these lines as another tournament.
fn import(arena: &Arena, name: &str, lines: &[Value]) -> Output {
    let text: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(arena.path("changed.jsonl"), text.concat()).unwrap();
    arena.run(&format!("tournament import changed.jsonl --name {name}"))
}

/// Faults that are found in these lines.
fn found(arena: &Arena, name: &str, lines: &[Value]) -> Vec<String> {
    done(&import(arena, name, lines));
    let output = arena.run(&format!("tournament verify {name} --format json"));
    assert_eq!(output.status.code(), Some(1), "{name}: {}", err(&output));
    let event = events(&out(&output))[0].clone();
    assert_eq!(event["proved"], false, "{name}");
    let text = arena.run(&format!("tournament verify {name}"));
    assert_eq!(text.status.code(), Some(1), "{name}");
    assert!(out(&text).contains("NOT PROVED"), "{name}: {}", out(&text));
    let lines = out(&text).replace("\n      ", " ");
    let lines: Vec<String> = lines
        .lines()
        .skip(1)
        .map(|line| line.trim().to_owned())
        .collect();
    let told = lines.iter().filter(|line| !line.starts_with("and "));
    assert_eq!(
        told.count(),
        event["faults"].as_array().unwrap().len().min(20)
    );
    lines
}

/// The text of the record in a line, changed.
fn change_record(line: &mut Value, change: impl Fn(&str) -> String) {
    line["record"] = json!(change(line["record"].as_str().unwrap()));
}

#[test]
fn verify_names_what_was_changed() {
    let (arena, lines) = over();
    assert_eq!(found_none(&arena, &lines), [""; 0]);
    let last = lines.len() - 1;
    let numbers = |line: &Value| (line["group"].clone(), line["seating"].clone());
    assert_eq!(numbers(&lines[3]), (json!(1), json!(0)));

    type Change = fn(&mut Vec<Value>);
    let cases: &[(&str, &str, Change)] = &[
        (
            "places",
            "group 1, seating 0: the store counts another result",
            |lines| {
                let places = lines[3]["places"].as_array_mut().unwrap();
                places.reverse();
                if places[0] == places[1] {
                    *places = vec![json!(1), json!(2)];
                }
            },
        ),
        (
            "time",
            "group 1, seating 0: the store counts another result",
            |lines| {
                lines[3]["thought_us"][0] = json!(1);
            },
        ),
        (
            "reason",
            "group 1, seating 0: the store counts another result",
            |lines| {
                lines[3]["reason"] = json!("for luck");
            },
        ),
        (
            "plies",
            "group 1, seating 0: the store counts another result",
            |lines| {
                lines[3]["plies"] = json!(1);
            },
        ),
        ("record", "group 1, seating 0: its record", |lines| {
            change_record(&mut lines[3], |record| {
                record.replacen("\"seat\":0", "\"seat\":1", 1)
            });
        }),
        ("half-record", "group 1, seating 0: its record", |lines| {
            change_record(&mut lines[3], |record| {
                record[..record.len() / 2].to_owned()
            });
        }),
        (
            "other-record",
            "group 1, seating 0: its record is of game match-0000-deal-0001-game-1",
            |lines| {
                lines[3]["record"] = lines[4]["record"].clone();
            },
        ),
        (
            "other-deal",
            "group 1, seating 0: its seed is not the root's",
            |lines| {
                lines[3]["record"] = lines[1]["record"].clone();
            },
        ),
        (
            "seats",
            "group 1, seating 0: others sat there than the schedule says",
            |lines| {
                lines[3]["order"].as_array_mut().unwrap().reverse();
            },
        ),
        (
            "players",
            "group 0: the schedule asked for it between other bots",
            |lines| {
                for line in &mut lines[1..3] {
                    line["lineup"].as_array_mut().unwrap().reverse();
                }
            },
        ),
        (
            "root",
            "group 0, seating 0: its seed is not the root's",
            |lines| {
                // Another tournament's root, and what it was committed by.
                let root = referee_core::Root::new([9; 32]);
                lines[0]["root"] = json!(root.reveal());
                lines[0]["commitment"] = json!(root.commitment());
            },
        ),
        (
            "limits",
            "group 0, seating 0: it was played as another game or with other limits",
            |lines| {
                lines[0]["definition"]["limits"]["move_us"] = json!(7);
            },
        ),
        (
            "game-missing",
            "group 1, seating 0: there is no such game",
            |lines| {
                lines.remove(3);
            },
        ),
        ("group-missing", "group 1: it was not played", |lines| {
            lines.drain(3..5);
        }),
        ("last-missing", "group 5: it was not played", |lines| {
            lines.drain(11..13);
        }),
        (
            "group-too-many",
            "group 99: the schedule never asked for it",
            |lines| {
                for at in [3, 4] {
                    let mut more = lines[at].clone();
                    more["group"] = json!(99);
                    lines.insert(lines.len() - 1, more);
                }
            },
        ),
        (
            "game-too-many",
            "group 99: the schedule never asked for it",
            |lines| {
                let mut more = lines[3].clone();
                more["group"] = json!(99);
                lines.insert(lines.len() - 1, more);
            },
        ),
        (
            "shorter",
            "group 1, seating 1: there is no such game",
            |lines| {
                lines.remove(4);
                lines[3]["games_in_group"] = json!(1);
            },
        ),
        (
            "counted",
            "group 1, seating 0: its counters are not what its record says",
            |lines| {
                let counters = lines[3]["counters"].as_array_mut().unwrap();
                counters.push(json!([0, "foul:late", 3]));
            },
        ),
    ];
    for (name, says, change) in cases {
        let mut changed = lines.clone();
        change(&mut changed);
        let games = changed.len() - 2;
        let end = changed.last_mut().unwrap();
        end["games"] = json!(games);
        let found = found(&arena, name, &changed);
        assert!(
            found.iter().any(|fault| fault.starts_with(says)),
            "{name}: expected {says:?} in {found:#?}"
        );
    }
    for name in ["../../x", "a b"] {
        let said = import(&arena, &format!("'{name}'"), &lines);
        refused(&said, "line 1: name: expected 1 to 60 letters");
    }
    // What can't even be read is refused, and nothing of it stays.
    let cases: &[(&str, &str, Change)] = &[
        (
            "promise",
            "line 1: the root does not match the commitment",
            |lines| {
                lines[0]["root"] = json!(referee_core::Root::new([9; 32]).reveal());
            },
        ),
        ("cut-off", "line 14: the text ends too early", |lines| {
            lines.pop();
        }),
        (
            "lost",
            "there should be 12 games, but there were 11",
            |lines| {
                lines.remove(5);
            },
        ),
        ("twice", "game 1.0 is there twice", |lines| {
            lines[4] = lines[3].clone();
        }),
        (
            "third",
            "line 4: game 1.2 can't be stored: its group has 2 games",
            |lines| {
                lines[3]["seating"] = json!(2);
            },
        ),
        ("stranger", "there is no entrant 7", |lines| {
            lines[3]["lineup"] = json!([0, 7]);
        }),
        ("path", "line 1: a name is 1 to 40 letters", |lines| {
            lines[0]["entrants"][0]["name"] = json!("../../x");
        }),
        ("namesake", "line 1: bots: two are called", |lines| {
            lines[0]["entrants"][0]["name"] = lines[0]["entrants"][1]["name"].clone();
        }),
        ("lines", "line 1: version: expected 1 to 200", |lines| {
            lines[0]["entrants"][0]["version"] = json!("1\n2");
        }),
        ("colour", "line 1: owner: expected 1 to 200", |lines| {
            lines[0]["entrants"][0]["owner"] = json!("\u{1b}[31m");
        }),
        ("command", "line 1: spec: expected 1 to 65536", |lines| {
            lines[0]["entrants"][0]["spec"] = json!("exec:\u{1b}[31m");
        }),
        ("alone", "a tournament needs at least 2 entrants", |lines| {
            lines[0]["entrants"] = json!([]);
        }),
        ("rounds", "with 3 entrants there can be at most", |lines| {
            lines[0]["definition"]["shape"] = json!({"shape": "ladder", "rounds": u32::MAX});
        }),
        (
            "unknown-game",
            "line 1: there is no game \"chess\"",
            |lines| {
                lines[0]["game"] = json!("chess");
                lines[0]["definition"]["game"] = json!("chess");
            },
        ),
        ("setup", "line 1: setup: ", |lines| {
            lines[0]["definition"]["setups"] = json!([{"rows": -1}]);
        }),
        ("undefined", "line 1: its definition: ", |lines| {
            lines[0]["definition"] = json!([]);
        }),
    ];
    for (name, says, change) in cases {
        let mut changed = lines.clone();
        change(&mut changed);
        refused(&import(&arena, name, &changed), says);
        let list = done(&arena.run("tournament list"));
        assert!(!list.contains(name), "{list}");
    }
    assert_eq!(numbers(&lines[last - 1]), (json!(5), json!(1)));
}

/// A tournament that was not changed is proved under another name too.
fn found_none(arena: &Arena, lines: &[Value]) -> Vec<String> {
    done(&import(arena, "again", lines));
    let event = done(&arena.run("tournament verify again --format json"));
    let event = events(&event)[0].clone();
    assert_eq!(
        (&event["proved"], &event["games"]),
        (&json!(true), &json!(12))
    );
    faults(&event)
}

#[test]
fn who_takes_a_seat_that_nobody_has_is_proved_too() {
    let more = "deals = 1\nrounds = 1";
    let arena = Arena::with_cup(&cup("big-two", "swiss", more, &["house:random"; 3]));
    let told = events(&done(&arena.run("tournament run cup.toml --format json")));
    for game in of_type(&told, "game") {
        assert_eq!(game["fillers"].as_array().unwrap().len(), 1, "{game}");
    }
    let mut lines = arena.exported("cup");
    for line in &mut lines {
        if line["type"] == "game" {
            // As if a real one had sat there.
            change_record(line, |record| record.replace("filler-", "visitor-"));
        }
    }
    let found = found(&arena, "changed", &lines);
    assert_eq!(found.len(), 4, "{found:?}");
}

#[test]
fn what_is_exported_and_imported_elsewhere_has_the_same_table() {
    for (game, shape, more, bots) in [
        ("othello", "swiss", "deals = 1\nrounds = 2", 4),
        ("big-two", "ladder", "deals = 1\nrounds = 2", 6),
    ] {
        let arena = Arena::with_cup(&cup(game, shape, more, &vec!["house:random"; bots]));
        done(&arena.run("tournament run cup.toml"));
        done(&arena.run("tournament export cup --output cup.jsonl"));
        let said = done(&arena.run("tournament import cup.jsonl --name copy --store other.db"));
        assert_eq!(
            said,
            "copy: read; `arena tournament verify copy` proves it\n"
        );
        let standings = arena.standings("cup");
        assert_eq!(standings, arena.standings_in("copy", "other.db"), "{game}");
        done(&arena.run("tournament verify copy --store other.db"));
        refused(
            &arena.run("tournament import cup.jsonl --store other.db --name copy"),
            "there is a tournament `copy` already",
        );
        // One row a game, and as many cells in each.
        let csv = done(&arena.run("tournament export cup --as csv"));
        let rows = csv.lines().count() as u64 - 1;
        assert_eq!(standings["counts"]["stored_games"], rows, "{game}");
        let moves = done(&arena.run("tournament export cup --as moves"));
        let games = moves.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(games.count() as u64, rows, "{game}");
    }
}

#[test]
fn moves_of_othello_are_openings_of_other_matches() {
    let arena = Arena::with_cup(&cup(
        "othello",
        "round-robin",
        "deals = 2",
        &["house:random"; 2],
    ));
    done(&arena.run("tournament run cup.toml"));
    let moves = done(&arena.run("tournament export cup --as moves"));
    // The first ten of each game, as a contest would take them.
    let openings: Vec<&str> = moves
        .lines()
        .map(|line| line.get(..20).unwrap_or(line))
        .collect();
    fs::write(arena.path("openings.txt"), openings.join("\n")).unwrap();
    let more = "deals = 4\nopenings = \"openings.txt\"";
    fs::write(
        arena.path("next.toml"),
        cup(
            "othello",
            "round-robin",
            more,
            &["house:weights?plies=1", "house:random"],
        ),
    )
    .unwrap();
    done(&arena.run("tournament run next.toml"));
    arena.proves("next");
    let next = done(&arena.run("tournament export next --as moves"));
    let begins: Vec<&str> = next.lines().filter(|line| !line.starts_with('#')).collect();
    let openings: Vec<&&str> = openings
        .iter()
        .filter(|line| !line.starts_with('#'))
        .collect();
    assert_eq!(begins.len(), 8);
    for (at, line) in begins.iter().enumerate() {
        assert!(line.starts_with(*openings[at / 2]), "{line}");
    }
}

#[test]
fn metrics_are_served_while_it_runs() {
    let villain = villain_spec("slow --delay 20ms");
    let bots = [&*villain, "house:random"];
    let arena = Arena::with_cup(&cup("connect-four", "round-robin", "deals = 200", &bots));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let line = format!("tournament run cup.toml --format json --metrics {address}");
    refused(&arena.run(&line), "Address already in use");
    assert!(!arena.path("arena.sqlite").exists());
    drop(taken);
    let mut child = arena.start(&line);
    let (_, rest) = first_events(&mut child, 2);
    let scrape = || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert!(text.starts_with("HTTP/1.0 200"), "{text}");
        text
    };
    let value = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        let value = line.and_then(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
        value.unwrap_or_else(|| panic!("no {name} in {text}"))
    };
    // Between two games none is running.
    wait_until("a game is running", || {
        value(&scrape(), "arena_games_running") >= 1.0
    });
    let text = scrape();
    send(Signal::SIGINT, &child);
    rest();
    child.wait().unwrap();
    let value = |name: &str| value(&text, name);
    assert!(value("arena_games_total{game=\"connect-four\",ended=") >= 1.0);
    for bot in ["a", "b"] {
        assert!(value(&format!("arena_ask_seconds_count{{bot=\"{bot}\"}}")) >= 1.0);
    }
    for name in [
        "arena_queue_wait_seconds_count",
        "arena_store_commit_seconds_count",
    ] {
        assert!(value(name) >= 1.0, "{name}");
    }
    // Who is asked late is what a slow bot is seen by.
    let slow = "arena_ask_seconds_bucket{bot=\"a\",le=\"0.01\"}";
    assert!(value(slow) < value("arena_ask_seconds_count{bot=\"a\"}"));
}

#[test]
fn logs_are_json_if_wanted_and_tell_no_secret() {
    let arena = Arena::with_cup(&cup(
        "mahjong",
        "round-robin",
        "deals = 2",
        &["house:random"; 2],
    ));
    let output = arena
        .command("tournament run cup.toml --log-format json")
        .env("RUST_LOG", "debug")
        .output()
        .unwrap();
    done(&output);
    let said = err(&output);
    let logs: Vec<&str> = said.lines().filter(|line| line.starts_with('{')).collect();
    let messages: Vec<Value> = events(&logs.join("\n"));
    for wanted in ["a game is stored", "a run has ended"] {
        let is_it = |line: &Value| line["fields"]["message"] == wanted;
        assert!(messages.iter().any(is_it), "no {wanted:?} in {said}");
    }
    let exported = arena.exported("cup");
    let root = exported[0]["root"].as_str().unwrap();
    let mut secrets = vec![root.to_owned()];
    for game in of_type(&exported, "game") {
        let header = events(game["record"].as_str().unwrap())[0].clone();
        secrets.push(header["seed"].as_str().unwrap().to_owned());
    }
    assert_eq!(secrets.len(), 5);
    for secret in secrets {
        assert!(secret.len() >= 64, "{secret}");
        assert!(
            !logs.join("\n").contains(&secret),
            "{secret} is in the logs"
        );
    }
    assert!(said.contains(root), "it is shown to people at the end");
}

#[test]
fn tables_of_long_names_and_many_games_fit_eighty_columns() {
    for (game, shape, bots, deals) in [
        ("connect-four", "round-robin", 3, 170),
        ("mahjong", "swiss", 4, 60),
        ("big-two", "round-robin", 5, 5),
        ("big-two", "swiss", 8, 5),
    ] {
        let mut text = format!("game = \"{game}\"\nshape = \"{shape}\"\ndeals = {deals}\n");
        for bot in 0..bots {
            text += &format!("[[bots]]\nname = \"{bot:-<40}\"\nbot = \"house:random\"\n");
        }
        let arena = Arena::with_cup(&text);
        let name = "n".repeat(60);
        fits_eighty_columns(&done(
            &arena.run(&format!("tournament run cup.toml --name {name}")),
        ));
        for verb in [
            format!("status {name} --schedule"),
            format!("verify {name}"),
            "list".to_owned(),
            "run cup.toml --dry-run".to_owned(),
        ] {
            fits_eighty_columns(&done(&arena.run(&format!("tournament {verb}"))));
        }
    }
}

/// Folder of the example tournaments.
fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/tournaments")
}

#[test]
fn there_is_an_example_of_every_shape_and_each_can_be_played() {
    let mut shapes = BTreeSet::new();
    for file in fs::read_dir(examples()).unwrap() {
        let file = file.unwrap().path();
        let arena = Arena::new();
        let dry = format!("tournament run '{}' --dry-run", file.display());
        fits_eighty_columns(&done(&arena.run(&dry)));
        let planned = events(&done(&arena.run(&format!("{dry} --format json"))))[0].clone();
        assert!(
            planned["planned_games"].as_u64().is_some(),
            "{}",
            file.display()
        );
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.starts_with("# "),
            "{} does not say what it is",
            file.display()
        );
        let shape = text.lines().find_map(|line| line.strip_prefix("shape = "));
        shapes.insert(shape.unwrap().trim_matches('"').to_owned());
    }
    let all = [
        "double-elimination",
        "gauntlet",
        "ladder",
        "round-robin",
        "single-elimination",
        "swiss",
    ];
    assert_eq!(shapes.iter().map(String::as_str).collect::<Vec<_>>(), all);
}

#[test]
fn the_quick_examples_are_played_to_their_end() {
    for name in ["gauntlet", "swiss", "single-elimination", "ladder"] {
        let arena = Arena::new();
        let file = examples().join(format!("{name}.toml"));
        let output = arena.run(&format!("tournament run '{}'", file.display()));
        fits_eighty_columns(&done(&output));
        assert_eq!(arena.standings(name)["state"], "over", "{name}");
        arena.proves(name);
    }
}

/// A schema of its own on the server that `cargo xtask test` starts.
struct Schema {
    server: String,
    name: String,
}

impl Schema {
    fn new() -> Self {
        let server = std::env::var("ARENA_TEST_POSTGRES").expect(
            "this test needs PostgreSQL: `cargo xtask test` starts one, or ARENA_TEST_POSTGRES \
             names a database that it may use",
        );
        let name = format!("arena_{}", std::process::id());
        let schema = Self { server, name };
        schema.run("CREATE SCHEMA", "");
        schema
    }

    fn url(&self) -> String {
        let and = if self.server.contains('?') { '&' } else { '?' };
        format!(
            "{}{and}options=-c%20search_path%3D{}",
            self.server, self.name
        )
    }

    fn run(&self, what: &str, how: &str) {
        let statement = format!("{what} {} {how}", self.name);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            sqlx::any::install_default_drivers();
            let mut session = sqlx::AnyConnection::connect(&self.server).await.unwrap();
            let statement = sqlx::raw_sql(sqlx::AssertSqlSafe(statement));
            session.execute(statement).await.unwrap();
            session.close().await.unwrap();
        });
    }
}

#[test]
fn a_tournament_is_killed_and_goes_on_on_postgres() {
    let schema = Schema::new();
    // So that it is still running when somebody else has come to the store.
    let slow = villain_spec("slow --delay 5ms");
    let mut bots = ["house:random"; 5];
    bots[0] = &slow;
    let arena = Arena::with_cup(&cup(
        "connect-four",
        "swiss",
        "deals = 6\nrounds = 3",
        &bots,
    ));
    let arena_on = |line: &str| {
        let mut command = arena.command(&format!("tournament {line}"));
        command.env("ARENA_STORE", schema.url());
        command
    };
    done(
        &arena_on("run cup.toml --name whole --seed 3")
            .output()
            .unwrap(),
    );
    let mut child = arena_on("run cup.toml --seed 3 --format json")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (_, rest) = first_events(&mut child, 4);
    let second = arena_on("resume cup").output().unwrap();
    send(Signal::SIGKILL, &child);
    rest();
    child.wait().unwrap();
    refused(&second, "cup is being run by process ");

    // The database lets go when it sees that nobody is there.
    wait_until("the claim is free", || {
        let output = arena_on("resume cup").output().unwrap();
        output.status.success()
    });
    let table = |name: &str| {
        let status = arena_on(&format!("status {name} --format json")).output();
        of_type(&events(&done(&status.unwrap())), "standings")[0]["rows"].clone()
    };
    assert_eq!(table("cup"), table("whole"));
    let proved = arena_on("verify cup").output().unwrap();
    assert!(done(&proved).contains("proved, "), "{}", err(&proved));
    let list = done(&arena_on("list").output().unwrap());
    assert!(list.contains("whole"), "{list}");
    assert!(!arena.path("arena.sqlite").exists());
    schema.run("DROP SCHEMA", "CASCADE");
}

#[test]
fn hundreds_of_games_at_once_come_to_their_end() {
    let arena = Arena::with_cup(&cup(
        "connect-four",
        "round-robin",
        "deals = 1200\nsetup = { rows = 4, columns = 4, forbidden = \"none\" }",
        &["house:random"; 2],
    ));
    done(&arena.run("tournament run cup.toml --concurrency 600"));
    done(&arena.run("tournament verify cup"));
}

#[test]
fn a_tournament_whose_arena_was_killed_is_interrupted_and_can_be_removed() {
    let slow = villain_spec("slow --delay 50ms");
    let arena = Arena::with_cup(&cup(
        "connect-four",
        "round-robin",
        "deals = 50",
        &["house:random", &*slow],
    ));
    let mut child = arena.start("tournament run cup.toml --format json");
    let _ = first_events(&mut child, 2);
    let status = || arena.standings("cup")["state"].clone();
    assert_eq!(status(), "running");
    let refused = arena.run("tournament remove cup --yes");
    assert_eq!(refused.status.code(), Some(2), "{}", err(&refused));
    assert!(
        err(&refused).contains("is being run by"),
        "{}",
        err(&refused)
    );
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("its claim has ended", || status() == "interrupted");
    let said = done(&arena.run("tournament status cup"));
    assert!(said.contains("arena tournament resume cup"), "{said}");
    assert!(done(&arena.run("tournament list")).contains("interrupted"));

    // A file that differs from it now is told so.
    let text = fs::read_to_string(arena.path("cup.toml")).unwrap();
    let again = || err(&arena.run("tournament run cup.toml"));
    assert!(!again().contains("says something else"), "{}", again());
    fs::write(
        arena.path("cup.toml"),
        text.replace("deals = 50", "deals = 60"),
    )
    .unwrap();
    assert!(
        again().contains("cup.toml differs from it now"),
        "{}",
        again()
    );

    let kept = arena.run("tournament remove cup");
    assert_eq!(kept.status.code(), Some(2), "{}", err(&kept));
    done(&arena.run("tournament remove cup --yes"));
    let gone = arena.run("tournament status cup");
    assert_eq!(gone.status.code(), Some(2), "{}", err(&gone));
    assert!(
        err(&gone).contains("there is no tournament"),
        "{}",
        err(&gone)
    );
}

#[test]
fn a_tournament_plays_a_bot_that_lies_beside_its_runs() {
    let arena = Arena::new();
    // The folder that the bot sees holds the store and the logs, which it must not see.
    std::fs::copy(villain_program(), arena.path("bot")).unwrap();
    let text = "game = \"connect-four\"\nshape = \"round-robin\"\ndeals = 1\n\
        [[bots]]\nname = \"me\"\nbot = \"exec:./bot honest\"\n\
        [[bots]]\nname = \"other\"\nbot = \"house:random\"\n";
    std::fs::write(arena.path("cup.toml"), text).unwrap();
    let table = done(&arena.run("tournament run cup.toml --name beside"));
    assert!(!table.contains("fouls"), "{table}");
}

/// What a teacher does with the bots of a class: played every week, summed up, handed out.
#[test]
fn a_class_has_a_table_over_weeks_and_a_report_for_each_author() {
    let arena = Arena::new();
    for (file, kind) in [
        ("class/ann", "honest"),
        ("class/bob", "exit"),
        ("eve/bot", "honest"),
    ] {
        let path = arena.path(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let villain = villain_program();
        let script = format!(
            "#!/bin/sh\necho greetings from {file}\nexec {} {kind}\n",
            villain.display()
        );
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let text = "game = \"connect-four\"\nshape = \"round-robin\"\ndeals = 1\n\
                [[bots]]\nname = \"ann\"\nbot = \"exec:class/ann\"\n\
                [[bots]]\nname = \"bob\"\nbot = \"exec:class/bob\"\n\
                [[bots]]\nname = \"eve\"\nbot = \"exec:eve/bot\"\n";
    std::fs::write(arena.path("class.toml"), text).unwrap();
    let arena = arena.without_walls();
    for week in ["week-1", "week-2"] {
        let output = arena.run(&format!("tournament run class.toml --name {week}"));
        let said = err(&output);
        let warned = "bots in one folder can read each other's files: ann (ann), bob (bob) in";
        assert!(said.replace("\n    ", " ").contains(warned), "{said}");
    }
    // Bob's program ends, and so loses four games a week; Ann and Eve share the rest.
    let table = done(&arena.run("tournament status week-1 week-2"));
    fits_eighty_columns(&table);
    let both = arena.run("tournament status week-1 week-2 --schedule");
    refused(
        &both,
        "--schedule shows the matches of one tournament: name one",
    );
    let one = arena.run("tournament status week-1 --schedule --format json");
    let schedules = of_type(&events(&done(&one)), "schedule");
    let [schedule] = &schedules[..] else {
        panic!("{schedules:?}");
    };
    assert_eq!(schedule["planned_games"], 6, "{schedule}");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|row| row.split_whitespace().collect())
        .collect();
    assert_eq!(rows[0], ["#", "bot", "week-1", "week-2", "games", "points"]);
    assert_eq!(rows[3], ["3", "bob", "0", "0", "8", "0"], "{table}");
    let sum: f64 = rows[1..3]
        .iter()
        .map(|row| row[5].parse::<f64>().unwrap())
        .sum();
    assert_eq!(sum, 12.0, "{table}");

    done(&arena.run("tournament report week-1 --bot bob --html bob.html"));
    let page = std::fs::read_to_string(arena.path("bob.html")).unwrap();
    for expected in [
        "<h2>Fouls</h2>",
        "code 3",
        "run it by hand and read the last lines of its output",
        "greetings from class/bob",
    ] {
        assert!(page.contains(expected), "{expected} in {page}");
    }
    for other in ["greetings from class/ann", "href=", "src="] {
        assert!(!page.contains(other), "{other} in {page}");
    }
    let nobody = arena.run("tournament report week-1 --bot zoe --html zoe.html");
    assert!(
        err(&nobody).contains("its bots are ann, bob, eve"),
        "{}",
        err(&nobody)
    );
    assert!(!arena.path("zoe.html").exists());
}

#[test]
fn a_tournament_with_a_foul_fails_where_that_is_asked_for() {
    let specs = ["house:random", &villain_spec("crash --by-callbacks")];
    let arena = Arena::with_cup(&cup("connect-four", "round-robin", "deals = 1", &specs));
    done(&arena.run("tournament run cup.toml"));
    done(&arena.run("tournament resume cup"));
    for line in ["run cup.toml --name again", "resume cup"] {
        let output = arena.run(&format!("tournament {line} --fail-on-foul"));
        assert_eq!(output.status.code(), Some(1), "{line}: {}", err(&output));
    }
    // Moves are events, which are not printed without --format json.
    let output = arena.run("tournament run cup.toml --name live --live");
    refused(&output, "--live prints events: expected --format json");
    let output = arena.run(&format!("match connect-four {RANDOMS} --live"));
    refused(&output, "--live prints events: expected --format json");
}

#[test]
fn a_tournament_is_watched_plotted_and_handed_out() {
    let arena = Arena::new();
    let text = "game = \"othello\"\nshape = \"round-robin\"\ndeals = 4\n\
                [[bots]]\nname = \"a\"\nbot = \"house:random\"\n\
                [[bots]]\nname = \"b\"\nbot = \"house:weights?plies=1\"\n\
                [[bots]]\nname = \"c\"\nbot = \"house:random\"\n";
    std::fs::write(arena.path("cup.toml"), text).unwrap();
    done(&arena.run("tournament run cup.toml"));
    let said = done(&arena.run("watch cup"));
    assert!(
        said.starts_with("cup: over, 24 games, 12 of 12 deals: "),
        "{said}"
    );
    let said = done(&arena.run("watch cup --format json"));
    assert!(!of_type(&events(&said), "standings").is_empty(), "{said}");
    done(&arena.run("tournament report cup --html cup.html"));
    let page = std::fs::read_to_string(arena.path("cup.html")).unwrap();
    for expected in ["Standings", "Who beat whom", "0.0", "class=\"plot\""] {
        assert!(page.contains(expected), "{expected}");
    }
    for outside in ["src=", "href=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    done(&arena.run("tournament plot cup --out ratings.svg"));
    let plot = std::fs::read_to_string(arena.path("ratings.svg")).unwrap();
    assert!(
        plot.starts_with("<svg ") && plot.contains("xmlns="),
        "{plot}"
    );
    let output = arena.run("tournament plot cup --out ratings.svg");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn tournaments_that_files_of_a_folder_declare_are_queued_once() {
    let mut site = Site::new();
    let folder = site.arena.path("declared");
    fs::create_dir(&folder).unwrap();
    let declare = |name: &str, deals: u32| {
        let bots = ["house:random"; 2];
        site.cup("cup.toml", "othello", &format!("deals = {deals}"), &bots);
        fs::rename(site.arena.path("cup.toml"), folder.join(name)).unwrap();
    };
    declare("spring.toml", 2);
    fs::write(folder.join("wrong.toml"), "game = \"chess\"").unwrap();
    fs::write(folder.join("notes.txt"), "no tournament").unwrap();
    let refused_line = "serve --open --listen 127.0.0.1:0 --tournaments nowhere";
    let output = site.command(refused_line).output().unwrap();
    refused(&output, "expected a folder with files of tournaments");
    let arena = site.serve("--open --concurrency 2 --tournaments declared");
    let says = "spring.toml declares spring, which is queued once";
    wait_until_or(says, || site.log(), || site.log().contains(says));
    assert!(
        site.log().contains("wrong.toml is not accepted: "),
        "{}",
        site.log()
    );
    site.wait_for("spring", "over");
    assert_eq!(site.progress("spring").0, 4);
    let stored = |site: &Site| events(&site.run("tournament list --format json")).len();
    assert_eq!(stored(&site), 1);
    // The file is another one now. What is stored stays.
    let bots = ["house:random"; 2];
    site.cup("declared/spring.toml", "othello", "deals = 3", &bots);
    site.restart(arena);
    let says = "the file differs from the tournament of this name";
    let log = || site.log().replace("\n    ", " ");
    wait_until_or(says, log, || log().contains(says));
    assert_eq!(stored(&site), 1);
    assert_eq!(site.progress("spring").0, 4);
}
