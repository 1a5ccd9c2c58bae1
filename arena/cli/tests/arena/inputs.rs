//! Harmful input that somebody else wrote. Files are refused at once, and the reason is told; texts
//! are shown without what a terminal obeys.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    process::{Command, Output, Stdio},
};

use referee_core::{Record, pack::pack};
use serde_json::json;

use crate::vocabulary::*;

const RECORD: &str = "run/match-0000-deal-0000-game-0.jsonl.zst";

/// The record of a game.
fn played(arena: &Arena) -> Record {
    done(&arena.run(&format!(
        "match connect-four {RANDOMS} --deals 1 --seed 5 --records run"
    )));
    let (_, text) = arena.records("run").swap_remove(0);
    Record::parse(&text).unwrap()
}

#[test]
fn what_is_no_regular_file_is_not_read() {
    let arena = Arena::new();
    let made = Command::new("mkfifo").arg(arena.path("pipe")).status();
    assert!(made.unwrap().success());
    fs::write(arena.path("cup.toml"), CUP.replace("OPENINGS", "pipe")).unwrap();
    for file in ["pipe", "/dev/zero", "/proc/self/environ"] {
        let told = [
            "match othello --bot a=house:random --bot b=house:random --no-records --openings",
            "match othello --bot a=house:random --bot b=house:random --no-records --seed-file",
            "exam mahjong --bot a=house:shanten --no-records --cases",
            "exam mahjong --bot a=house:shanten --no-records --scores",
            "tournament run",
            "tournament import",
            "replay show",
            "replay explain",
            "replay rerun --seat 0 --bot house:random",
        ];
        for verb in told {
            let output = arena.run(&format!("{verb} {file}"));
            refused(&output, "expected a regular file, found a");
        }
        let output = arena.run(&format!("replay verify {file}"));
        assert_eq!(output.status.code(), Some(2), "{}", err(&output));
        assert!(out(&output).contains("expected a regular file"), "{file}");
    }
    refused(&arena.run("tournament run cup.toml"), "found a pipe");
}

/// `arena` with this text as its standard input.
fn told(arena: &Arena, line: &str, text: &str) -> Output {
    let mut arena = arena.command(line);
    let mut arena = arena
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may have read enough before this is all written.
    let _ = arena.stdin.take().unwrap().write_all(text.as_bytes());
    arena.wait_with_output().unwrap()
}

#[test]
fn a_contest_and_its_people_come_from_standard_input() {
    let arena = Arena::new();
    let contest =
        "game = \"othello\"\nopens = 2020-01-01T00:00:00\ncloses = 2120-01-01T00:00:00\n[final]\n";
    refused(
        &told(&arena, "contest create -", contest),
        "standard input: name: expected 1 to 24 letters",
    );
    let named = format!("name = \"spring\"\n{contest}");
    done(&told(&arena, "contest create -", &named));
    let later = named.replace("2120", "2121");
    let said = done(&told(&arena, "contest change spring -", &later));
    assert!(said.contains("2121"), "{said}");
    let add = "contest people add spring - --tokens -";
    refused(&told(&arena, add, "nom\nAnn\n"), "standard input: ");
    let tokens = done(&told(&arena, add, "name,id\nAnn,7\nBo,8\n"));
    // The list and nothing else.
    let lines: Vec<&str> = tokens.lines().collect();
    assert_eq!(lines.len(), 3, "{tokens}");
    assert!(
        lines[1].contains("Ann") && lines[2].contains("arena_"),
        "{tokens}"
    );
    assert!(done(&arena.run("contest people list spring")).contains("Bo"));
}

#[test]
fn a_tournament_is_submitted_from_standard_input() {
    let arena = Arena::new();
    let submit =
        |text: &str, more: &str| told(&arena, &format!("tournament submit - {more}"), text);
    let cup = CUP.replace("openings = \"OPENINGS\"", "");
    refused(
        &submit(&cup, ""),
        "standard input: expected a name: --name NAME",
    );
    done(&submit(&cup, "--name spring"));
    refused(
        &submit(&cup, "--name spring"),
        "there is a tournament \"spring\" already",
    );
    done(&submit(&format!("name = \"autumn\"\n{cup}"), ""));
    let list = done(&arena.run("tournament list"));
    assert!(list.contains("spring") && list.contains("autumn"), "{list}");
    for (text, says) in [
        ("game = 5", "standard input: "),
        ("name = \"x\"\ngame = \"chess\"", "standard input: "),
        (
            &"#".repeat(5 << 20),
            "standard input: expected a file of at most 4 MiB",
        ),
    ] {
        refused(&submit(text, ""), says);
    }
}

/// A tournament that is refused; its words in capitals are to be replaced.
const CUP: &str = r#"
game = "othello"
shape = "ladder"
rounds = 3
deals = 2
openings = "OPENINGS"
bots = [{name = "a", bot = "house:random"}, {name = "b", bot = "house:random"}]
"#;

#[test]
fn a_tournament_is_no_larger_than_can_be_played() {
    let arena = Arena::new();
    fs::write(arena.path("book"), "f5d6c3\n").unwrap();
    let cup = CUP.replace("OPENINGS", "book");
    let bots = "{bot = \"house:random\"},".repeat(5_000);
    let many = "{bot = \"house:random\"},".repeat(333_333);
    let with_bots = |bots: &str| format!("{}\nbots = [{bots}]", cup.split("bots").next().unwrap());
    for (text, says) in [
        (
            cup.replace("= 3", "= 4294967296"),
            "expected a whole number of 0 to 4294967295, found 4294967296",
        ),
        (
            cup.replace("= 3", "= 4294967295"),
            "with 2 entrants there can be at most 1000000 rounds",
        ),
        (
            cup.replace("deals = 2", "deals = 10000001"),
            "a match has 1 to 10000000 deals",
        ),
        (
            cup.replace("deals = 2", "deals = 10000000")
                .replace("= 3", "= 999999"),
            "at most 1000000000000 deals",
        ),
        (with_bots(&bots), "bots: expected at most 4000, found 5000"),
        (with_bots(&many), "expected a file of at most 4 MiB"),
        (
            format!("setup = {}{}", "[".repeat(100_000), "]".repeat(100_000)),
            "recurs",
        ),
    ] {
        fs::write(arena.path("cup.toml"), &text).unwrap();
        refused(&arena.run("tournament run cup.toml"), says);
    }
    for (book, says) in [
        ("f5\n".repeat(100_001), "at most 100000 openings"),
        ("f5".repeat(40_000), "line 1: expected at most 65536 bytes"),
        ("#".repeat(17 << 20), "expected a file of at most 16 MiB"),
        (format!("{{\"a\": {}", "[".repeat(200)), "at most 16 levels"),
    ] {
        fs::write(arena.path("book"), book).unwrap();
        fs::write(arena.path("cup.toml"), &cup).unwrap();
        refused(&arena.run("tournament run cup.toml"), says);
    }
    let output = arena.run(&format!(
        "match othello {RANDOMS} --no-records --setup '{{\"moves\": {}'",
        "[".repeat(200)
    ));
    refused(&output, "expected JSON of at most 16 levels");
}

/// A record of a few kilobytes that takes gigabytes of memory where it is read unbounded.
#[test]
fn a_record_that_unpacks_to_gigabytes_is_refused() {
    let arena = Arena::new();
    let record = played(&arena);
    let whole = record.to_json_lines();
    let zeros = |count: usize| format!("[{}0]", "0,".repeat(count));
    let in_the_header = whole.replacen(
        "\"setup\":",
        &format!("\"setup\":{},\"a\":", zeros(500_000)),
        1,
    );
    let deep = format!("\"setup\":{}{},\"a\":", "[".repeat(100), "]".repeat(100));
    let deep = whole.replacen("\"setup\":", &deep, 1);
    let event = whole.replacen(
        "{\"type\":\"asked\",",
        &format!("{{\"type\":\"asked\",\"a\":{},", zeros(100_000)),
        1,
    );
    let mut long = record.clone();
    long.events = vec![record.events[0].clone(); 100_001];
    for (name, text, says) in [
        (
            "zeros",
            "\0".repeat(70 << 20),
            "unpacks to more than 64 MiB",
        ),
        ("header", in_the_header, "line 1: expected JSON of at most"),
        ("deep", deep, "line 1: expected JSON of at most 32 levels"),
        ("event", event, "expected JSON of at most 20000 values"),
        (
            "long",
            long.to_json_lines(),
            "expected at most 100000 events",
        ),
        (
            "line",
            format!("\"{}\"", "x".repeat(2 << 20)),
            "line 1: expected at most 1048576 bytes of JSON",
        ),
    ] {
        let file = format!("{name}.jsonl.zst");
        let packed = pack(&text);
        assert!(packed.len() < 500_000, "{name}: {}", packed.len());
        fs::write(arena.path(&file), packed).unwrap();
        refused(&arena.run(&format!("replay show {file}")), says);
        let output = arena.run(&format!("replay verify {file}"));
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert!(out(&output).contains(says), "{name}: {}", out(&output));
    }
}

/// A seal can be made by anybody, so it proves no figure of a record.
#[test]
fn a_record_whose_figures_are_of_more_seats_is_refused() {
    let arena = Arena::new();
    let record = played(&arena);
    let mut value = serde_json::to_value(&record.result).unwrap();
    value["verdict"]["finished"]["outcome"]["places"] = json!([2, 2, 1]);
    let mut third = record.clone();
    third.result = serde_json::from_value(value).unwrap();
    let mut none = record.clone();
    none.header.players = Vec::new().into();
    none.events.clear();
    let mut many = record.clone();
    many.header.players = vec!["a".to_owned(); 300].into();
    fs::create_dir(arena.path("records")).unwrap();
    for (name, record) in [("third", third), ("none", none), ("many", many)] {
        let file = arena.path(&format!("records/{name}.jsonl"));
        fs::write(file, record.to_json_lines()).unwrap();
        let output = arena.run(&format!("replay show records/{name}.jsonl"));
        refused(&output, "is no record: line ");
    }
    let listed = arena.run("replay show records");
    assert_eq!(listed.status.code(), Some(1), "{}", err(&listed));
}

#[test]
fn the_record_that_was_played_is_read() {
    let arena = Arena::new();
    played(&arena);
    assert!(done(&arena.run(&format!("replay verify {RECORD}"))).contains("proved"));
}

/// A colour, the same as one character, a text from right to left, and what ends a line.
const HOSTILE: &str = "\u{1b}[31mred\u{9b}0m\u{202e}gpj.exe\u{7f}";
const ESCAPED: &str = r"\u{1b}[31mred\u{9b}0m\u{202e}gpj.exe\u{7f}";
/// As a JSON text has the escapes.
const IN_JSON: &str = r"\\u{1b}[31mred\\u{9b}0m\\u{202e}gpj.exe\\u{7f}";

/// Nothing in it is obeyed by a terminal.
fn is_clean(what: &str, text: &str) {
    let found = text
        .chars()
        .find(|c| HOSTILE.contains(*c) && !c.is_ascii_graphic());
    assert_eq!(found, None, "{what}: {text:?}");
}

#[test]
fn what_a_bot_says_is_shown_without_what_a_terminal_obeys() {
    for kind in ["crash", "error-status"] {
        let arena = Arena::new();
        let script = format!(
            "#!/bin/sh\nexec '{}' {kind} --words '{HOSTILE}' --name '{HOSTILE}'\n",
            villain_program().display()
        );
        let program = arena.path("bot.sh");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let bots = "--bot v=exec:./bot.sh --bot r=house:random";
        for (format, shown) in [("text", ESCAPED), ("json", IN_JSON)] {
            let line = format!(
                "match connect-four {bots} --deals 1 --records {format} --format {format} \
                 --log-format {format}"
            );
            let output = arena
                .command(&line)
                .env("RUST_LOG", "info")
                .output()
                .unwrap();
            let told = out(&output) + &err(&output);
            is_clean(kind, &told);
            assert!(told.replace('\n', "").contains("red"), "{told}");
            if format == "json" {
                assert!(told.contains(shown), "{told}");
            }
        }
        for (name, record) in arena.records("text") {
            is_clean(&name, &record);
            assert!(record.contains(IN_JSON), "{record}");
            let shown = done(&arena.run(&format!("replay show text/{name}")));
            is_clean(&name, &shown);
            assert!(
                shown.replace("\n    ", "").contains(r"\u{202e}gpj"),
                "{shown}"
            );
        }
        let log = fs::read_to_string(arena.path("text/logs/v-1.log")).unwrap_or_default();
        is_clean(kind, &log);
        assert_eq!(log.contains(r"\u{202e}gpj"), kind == "crash", "{log}");
        for format in ["text", "json"] {
            let output = arena.run(&format!("check exec:./bot.sh --quick --format {format}"));
            let told = out(&output) + &err(&output);
            is_clean(kind, &told);
            assert!(told.contains("gpj.exe"), "{told}");
        }
    }
}

#[test]
fn what_a_file_says_is_shown_without_what_a_terminal_obeys() {
    let arena = Arena::new();
    let mut record = played(&arena);
    record.header.game_id = HOSTILE.to_owned();
    record.header.players = vec![HOSTILE.to_owned(), "b".to_owned()].into();
    fs::create_dir(arena.path("records")).unwrap();
    let file = arena.path("records").join(format!("{HOSTILE}.jsonl"));
    fs::write(&file, record.to_json_lines()).unwrap();
    let other = r#"{"type":"\u001b[31mred"}"#;
    fs::write(arena.path("records/other.jsonl"), other).unwrap();
    let whole = fs::canonicalize(&file).unwrap().display().to_string();
    for line in [
        "replay show records".to_owned(),
        "replay verify records".to_owned(),
        "replay verify records --format json".to_owned(),
        "replay show records/other.jsonl".to_owned(),
        format!("replay show '{whole}'"),
        format!("replay rerun --seat 0 --bot house:random '{whole}'"),
    ] {
        let output = arena.run(&line);
        let told = out(&output) + &err(&output);
        is_clean(&line, &told);
        assert!(told.contains("[31mred"), "{line}: {told}");
    }
    // JSON has escapes of its own, TOML too.
    let hostile = r"\u001b[31mred\u202e";
    fs::write(arena.path("book"), "f5d6c3\n").unwrap();
    let cup = CUP.replace("OPENINGS", "book");
    for (from, to) in [
        ("name = \"a\"", format!("name = \"{hostile}\"")),
        (
            "name = \"a\"",
            format!("name = \"a\", version = \"{hostile}\""),
        ),
        (
            "name = \"a\"",
            format!("name = \"a\", owner = \"{hostile}\""),
        ),
        ("house:random", format!("exec:{hostile}")),
        ("othello", hostile.to_owned()),
        ("ladder", hostile.to_owned()),
        ("rounds = 3", format!("name = \"{hostile}\"")),
        ("rounds = 3", format!("\"{hostile}\" = 3")),
        ("rounds = 3", "rounds = \u{9b}31m".to_owned()),
    ] {
        fs::write(arena.path("cup.toml"), cup.replacen(from, &to, 1)).unwrap();
        let output = arena.run("tournament run cup.toml");
        assert_eq!(output.status.code(), Some(2), "{to}");
        is_clean(&to, &err(&output));
    }
    let case = format!("[[case]]\nname = \"{hostile}\"\nseed = \"a\"\nminimum = 1\n");
    fs::write(arena.path("cases.toml"), case).unwrap();
    let output = arena.run("exam mahjong --bot house:shanten --no-records --cases cases.toml");
    refused(&output, "a name of 1 to 60 characters");
    is_clean("cases", &err(&output));
    let scores = format!(r#"{{"mahjong": {{"{hostile}": {{"case 1": 5}}}}}}"#);
    fs::write(arena.path("scores.json"), scores).unwrap();
    for format in ["text", "json"] {
        let output = arena.run(&format!(
            "exam mahjong --bot house:simple --case 'practice 1' --no-records --scores scores.json --format {format}"
        ));
        is_clean(format, &(out(&output) + &err(&output)));
    }
}

/// Its last events are missing, and its seal is right.
#[test]
fn a_record_that_does_not_replay_is_no_failure_of_ours() {
    let arena = Arena::new();
    let mut record = played(&arena);
    record.events.truncate(record.events.len() - 4);
    fs::write(arena.path("cut.jsonl"), record.to_json_lines()).unwrap();
    for verb in [
        "show cut.jsonl",
        "verify cut.jsonl",
        "explain cut.jsonl --playouts 2",
        "rerun cut.jsonl --seat 0 --bot house:random",
    ] {
        let output = arena.run(&format!("replay {verb}"));
        assert_eq!(output.status.code(), Some(1), "{verb}: {}", err(&output));
        let told = out(&output) + &err(&output);
        assert!(told.contains("an answer of seat"), "{verb}: {told}");
    }
    // What is no record at all is a mistake in what was typed.
    fs::write(arena.path("notes.jsonl"), "buy milk").unwrap();
    for verb in ["show", "explain", "rerun --seat 0 --bot house:random"] {
        let output = arena.run(&format!("replay {verb} notes.jsonl"));
        refused(&output, "notes.jsonl is no record: line 1");
    }
}
