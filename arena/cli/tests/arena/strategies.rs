//! Compiled strategies, each with a sin of its own: what it is found guilty of,
//! and that nobody else pays for it. They are compiled here, with g++.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Output},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;

use crate::vocabulary::*;

/// Compiles a source of `tests/strategies` to `strategy.so` in the arena's folder.
fn compile_with(arena: &Arena, source: &str, flags: &[&str]) {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/strategies");
    compile_file(arena, &sources.join(format!("{source}.cpp")), flags);
}

fn compile_file(arena: &Arena, source: &Path, flags: &[&str]) {
    let output = Command::new("g++")
        .args(["-shared", "-fPIC", "-w", "-o"])
        .arg(arena.path("strategy.so"))
        .arg(source)
        .args(flags)
        .output()
        .expect("these tests compile strategies: they need g++ (Debian: the package g++)");
    assert!(output.status.success(), "{}", err(&output));
}

fn compile(arena: &Arena, source: &str) {
    compile_with(arena, source, &["-O2"]);
}

/// Deals whose forbidden cell is in these columns in turn: strategies sin where it
/// is an even one.
fn deals(arena: &Arena, columns: &[u8]) {
    let lines: Vec<_> = columns
        .iter()
        .map(|y| {
            format!("{{\"rows\":9,\"columns\":9,\"forbidden\":{{\"at\":{{\"x\":4,\"y\":{y}}}}}}}")
        })
        .collect();
    fs::write(arena.path("deals"), lines.join("\n")).unwrap();
}

/// The strategy against a house bot that always does the same again.
fn matched(arena: &Arena, spec: &str, more: &str) -> String {
    format!(
        "match connect-four --bot 's=strategy:{}{spec}' --bot other=house:random \
         --seed 1 --openings deals --format json {more} {}",
        arena.path("strategy.so").display(),
        if more.contains("--move-limit") {
            ""
        } else {
            "--move-limit 60s"
        },
    )
}

fn games(output: &Output) -> Vec<Value> {
    of_type(&events(&done(output)), "game")
}

/// Finding of a game: the foul of the strategy, as text.
fn foul(game: &Value) -> Option<String> {
    let fouls = game["fouls"].as_array().unwrap();
    let by = |foul: &Value| game["players"][foul["seat"].as_u64().unwrap() as usize] == "s";
    assert!(fouls.iter().all(by), "the other did nothing wrong: {game}");
    fouls.first().map(Value::to_string)
}

/// The processes that play the strategy of this arena, hosts, adapters and what
/// they have started.
fn alive(arena: &Arena) -> Vec<(i32, Vec<String>)> {
    let object = arena.path("strategy.so").display().to_string();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| {
            let id = entry.file_name().to_str()?.parse().ok()?;
            let words = fs::read_to_string(entry.path().join("cmdline")).ok()?;
            let words: Vec<_> = words.split('\0').map(str::to_owned).collect();
            let ours = words.get(1)?.starts_with("strategy") && words.get(3)?.contains(&object);
            ours.then_some((id, words))
        })
        .collect()
}

fn nothing_is_left(arena: &Arena) {
    wait_until("nothing is left of the strategy", || {
        alive(arena).is_empty()
    });
}

/// All games of one adapter, at once: the guilty ones end by this foul, and the
/// innocent ones are what they are when an innocent strategy plays them.
fn is_found_guilty(source: &str, more: &str, kind: &str, evidence: &str) {
    let run = |source: &str, flags: &[&str]| {
        let arena = Arena::new();
        compile_with(&arena, source, flags);
        deals(&arena, &[2, 3, 4, 5]);
        let line = matched(
            &arena,
            "?max-games=8",
            &format!("--rounds 4 --concurrency 8 {more}"),
        );
        let played = games(&arena.run(&line));
        assert_eq!(played.len(), 8, "{source}");
        nothing_is_left(&arena);
        played
    };
    let innocent = run("innocent", &["-O2"]);
    for flags in [&["-O2"][..], &["-O0", "-Wl,-z,lazy"]] {
        for game in run(source, flags) {
            let same = innocent
                .iter()
                .find(|other| other["game_id"] == game["game_id"])
                .unwrap();
            assert_eq!(foul(same), None);
            if game["group"].as_u64().unwrap() % 2 == 0 {
                let foul = foul(&game).unwrap_or_else(|| panic!("{source}: no foul in {game}"));
                assert!(
                    foul.contains(&format!("\"kind\":\"{kind}\"")),
                    "{source}: {foul}"
                );
                assert!(foul.contains(evidence), "{source}: {foul}");
            } else {
                assert_eq!(foul(&game), None, "{source}");
                assert_eq!(game["play_hash"], same["play_hash"], "{source}");
            }
        }
    }
}

#[test]
fn a_crash_is_found_in_the_call_that_it_happened_in() {
    for (source, evidence) in [
        ("segfault", "the strategy was killed by SIGSEGV in getPoint"),
        (
            "segfault_free",
            "the strategy was killed by SIGSEGV in clearPoint",
        ),
        // Which signal it is depends on how far a step goes.
        ("deep", " in getPoint"),
        ("raises", "the strategy was killed by SIGSEGV in getPoint"),
        ("leaves", "the strategy exited with code 3 in getPoint"),
    ] {
        is_found_guilty(source, "", "error-status", evidence);
    }
}

#[test]
fn what_the_libraries_say_of_an_end_is_evidence() {
    for (source, evidence) in [
        (
            "double_free",
            "the strategy aborted in clearPoint; its last words: free(): double free detected",
        ),
        ("exception", "what():  the tree is too deep"),
        ("undefined", "undefined symbol: nowhere_to_be_found"),
    ] {
        is_found_guilty(source, "", "error-status", evidence);
    }
}

#[test]
fn no_point_is_an_error_and_a_wrong_one_illegal() {
    is_found_guilty("null", "", "error-status", "getPoint returned NULL");
    is_found_guilty("illegal", "", "illegal", "expected a column of 0 to 8");
}

#[test]
fn a_strategy_that_never_comes_back_is_late_and_gone() {
    is_found_guilty("loops", "--move-limit 3s", "late", "limit_us");
}

/// By processes of one game each: what a game takes is its own. Without a limit of the match the
/// sandbox has one, which the host of the strategy meets, and not the process that plays.
#[test]
fn the_memory_of_a_strategy_is_the_memory_of_its_bot() {
    for (mib, more, limit) in [
        ("-DMIB=256", "--memory-limit 64", 64 << 20),
        ("-DMIB=1200", "", 1 << 30),
    ] {
        let arena = Arena::new();
        compile_with(&arena, "memory", &["-O2", mib]);
        deals(&arena, &[2, 3]);
        let line = matched(&arena, "", &format!("--rounds 2 {more}"));
        for game in games(&arena.run(&line)) {
            let guilty = game["group"] == 0;
            let foul = foul(&game).unwrap_or_default();
            let named = foul.contains("memory-exceeded")
                && foul.contains(&format!("\"limit_bytes\":{limit}"));
            assert_eq!(named, guilty, "{game}");
            assert_eq!(foul.is_empty(), !guilty, "{game}");
        }
        nothing_is_left(&arena);
    }
}

#[test]
fn every_game_has_globals_of_its_own() {
    for spec in ["", "?max-games=4", "?keeps-globals"] {
        let arena = Arena::new();
        compile(&arena, "globals");
        deals(&arena, &[2, 3]);
        let played = games(&arena.run(&matched(&arena, spec, "--rounds 4 --concurrency 4")));
        assert_eq!(played.len(), 8);
        assert!(played.iter().all(|game| foul(game).is_none()), "{played:?}");
    }
}

#[test]
fn globals_from_the_first_move_go_with_no_position_that_has_one() {
    let arena = Arena::new();
    compile(&arena, "globals");
    fs::write(arena.path("deals"), "3 3 4 5\n").unwrap();
    for (spec, kind, evidence) in [
        (
            "?keeps-globals",
            "no-start",
            "(keeps-globals), so it can't begin",
        ),
        ("", "error-status", "another game is in the globals"),
    ] {
        // Without a game there is nothing to count: the exit code is 1.
        let output = arena.run(&matched(&arena, spec, "--rounds 1"));
        for game in of_type(&events(&out(&output)), "game") {
            let foul = foul(&game).unwrap();
            assert!(foul.contains(kind) && foul.contains(evidence), "{foul}");
        }
    }
    compile(&arena, "innocent");
    let played = games(&arena.run(&matched(&arena, "", "--rounds 1")));
    assert!(played.iter().all(|game| foul(game).is_none()), "{played:?}");
}

/// A resumed bot sends no Ready, and is asked at once.
#[test]
fn loading_is_starting_and_not_thinking_also_in_the_middle_of_a_game() {
    let arena = Arena::new();
    compile(&arena, "slow_to_load");
    let board = r#"{"rows":4,"columns":4,"forbidden":"none"}"#;
    fs::write(arena.path("board"), board).unwrap();
    done(&arena.run(
        "match connect-four --bot house:random --bot other=house:random --rounds 1 --seed 1 \
         --openings board --records run",
    ));
    let (record, _) = &arena.records("run")[0];
    let again = done(&arena.run(&format!(
        "replay rerun run/{record} --seat 0 --bot strategy:strategy.so --move-limit 2s \
         --format json"
    )));
    let moves = of_type(&events(&again), "rerun_answer");
    assert!(moves.len() > 2, "{again}");
    let other = moves.iter().filter(|one| one["same"] == false);
    assert!(other.count() > 0, "it is never resumed: {again}");
    assert!(moves.iter().all(|one| one["foul"].is_null()), "{again}");
}

#[test]
fn a_strategy_that_keeps_globals_is_told_what_to_say() {
    let arena = Arena::new();
    compile(&arena, "globals");
    let output = arena.run("check strategy:strategy.so --quick --format json");
    assert_eq!(output.status.code(), Some(1), "{}", out(&output));
    let found = of_type(&events(&out(&output)), "finding");
    assert!(!found.is_empty());
    for finding in &found {
        assert_eq!(finding["hint"], "keeps_globals", "{finding}");
        assert_eq!(finding["call"], "get_point", "{finding}");
        assert!(finding["question"].as_u64().unwrap() > 0, "{finding}");
        let position = finding["position"].as_str().unwrap();
        assert!(position.contains('X'), "{position}");
        let said = finding["last_output"].to_string();
        assert!(said.contains("another game is in the globals"), "{finding}");
    }
    let text = out(&arena.run("check strategy:strategy.so --quick"));
    fits_eighty_columns(&text);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("write FILE.so?keeps-globals"), "{text}");
    assert!(
        !words.contains("GameStart") && !words.contains("exception in a callback"),
        "{text}"
    );

    // One that is wrong on every board has other problems.
    compile(&arena, "illegal");
    let output = arena.run("check strategy:strategy.so --quick --format json");
    for finding in of_type(&events(&out(&output)), "finding") {
        assert!(finding["hint"].is_null(), "{finding}");
    }
}

/// Its function is not told the limit, so it can't obey a shorter one.
#[test]
fn a_strategy_is_not_asked_to_obey_what_it_is_not_told() {
    let arena = Arena::new();
    compile_with(&arena, "waits", &["-O2"]);
    let line = "check strategy:strategy.so --quick --move-limit 2s --format json";
    let output = arena.run(line);
    let found = of_type(&events(&done(&output)), "finding");
    assert_eq!(found, Vec::<Value>::new());
}

#[test]
fn a_strategy_that_refuses_positions_is_fit() {
    let arena = Arena::new();
    compile(&arena, "globals");
    let line = "check strategy:strategy.so?keeps-globals --quick --format json";
    let events = events(&done(&arena.run(line)));
    assert_eq!(of_type(&events, "finding"), Vec::<Value>::new());
    let stages = of_type(&events, "check_stage");
    let first = stages
        .iter()
        .find(|stage| stage["stage"] == "first-moves")
        .unwrap();
    assert!(first["figures"]["refused"].as_u64().unwrap() > 0, "{first}");
    let words = done(&arena.run("check strategy:strategy.so?keeps-globals --quick"));
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("refused, as its SPEC says"), "{words}");
}

#[test]
fn what_a_strategy_prints_goes_to_its_log() {
    let arena = Arena::new();
    compile(&arena, "prints");
    deals(&arena, &[3]);
    let played = games(&arena.run(&matched(
        &arena,
        "",
        "--rounds 1 --concurrency 1 --records run",
    )));
    assert!(played.iter().all(|game| foul(game).is_none()), "{played:?}");
    let log = logged(&arena);
    for said in [
        "listening on unix:nowhere\n",
        "thinking of column 0\n",
        "not the end of a line",
    ] {
        assert!(log.contains(said), "{said}");
    }
}

/// Output of the strategy, in all of its processes.
fn logged(arena: &Arena) -> String {
    let logs = fs::read_dir(arena.path("run/logs")).unwrap();
    let ours = logs
        .map(|log| log.unwrap().path())
        .filter(|log| log.file_name().unwrap().to_string_lossy().starts_with("s-"));
    ours.map(|log| fs::read_to_string(log).unwrap()).collect()
}

/// The list of what a strategy has started, as it wrote it down.
fn forked(arena: &Arena) -> Vec<(String, i32)> {
    let list = fs::read_to_string(arena.path("forked")).unwrap_or_default();
    list.lines()
        .map(|line| {
            let (what, id) = line.split_once(' ').unwrap();
            (what.to_owned(), id.parse().unwrap())
        })
        .collect()
}

#[test]
fn what_a_strategy_has_started_ends_with_its_game() {
    let arena = Arena::new().without_walls();
    compile(&arena, "forks");
    deals(&arena, &[3, 5]);
    let played = games(&arena.run(&matched(
        &arena,
        "?max-games=2",
        "--rounds 2 --concurrency 2",
    )));
    assert!(played.iter().all(|game| foul(game).is_none()), "{played:?}");
    assert_eq!(forked(&arena).len(), 8, "a child and a daemon in each game");
    nothing_is_left(&arena);
}

/// The processes of a game end with that game, while the adapter plays on.
#[test]
fn what_one_game_has_started_does_not_wait_for_another() {
    let arena = Arena::new().without_walls();
    compile(&arena, "forks");
    // The first deal waits for ever, the second is played to its end.
    deals(&arena, &[2, 3]);
    let mut running = arena.start(&matched(
        &arena,
        "?max-games=4",
        "--rounds 2 --concurrency 4",
    ));
    // Each game has a host, a child and a daemon; two games wait, two have ended.
    wait_until("two games have ended, and nothing is left of them", || {
        let hosts = alive(&arena)
            .iter()
            .filter(|(_, words)| words[1] == "strategy-host")
            .count();
        forked(&arena).len() == 8 && hosts == 6
    });
    let two = alive(&arena)
        .into_iter()
        .filter(|(_, words)| words[1] == "strategy");
    let adapters: Vec<_> = two.map(|(id, _)| id).collect();
    assert_eq!(adapters.len(), 1);

    // The adapter is killed in the middle of two games.
    kill(Pid::from_raw(adapters[0]), Signal::SIGKILL).unwrap();
    nothing_is_left(&arena);
    assert!(running.wait().unwrap().success());
}

#[test]
fn a_strategy_can_signal_neither_its_adapter_nor_the_other_games() {
    let arena = Arena::new();
    compile(&arena, "kills");
    deals(&arena, &[3]);
    let line = matched(&arena, "?max-games=8", "--rounds 4 --concurrency 8");
    let output = arena.run(&line);
    for game in games(&output) {
        assert_eq!(foul(&game), None, "{game}");
    }
}

#[test]
fn nothing_outlives_an_arena_that_is_killed() {
    for arena in [Arena::new(), Arena::new().without_walls()] {
        compile(&arena, "forks");
        deals(&arena, &[2]);
        let mut running = arena.start(&matched(&arena, "", "--rounds 1 --concurrency 2"));
        // Each game has a host, a child and a daemon.
        wait_until("both games wait", || {
            let alive = alive(&arena);
            let hosts = alive
                .iter()
                .filter(|(_, words)| words[1] == "strategy-host");
            hosts.count() == 6
        });
        kill(Pid::from_raw(running.id() as i32), Signal::SIGKILL).unwrap();
        running.wait().unwrap();
        nothing_is_left(&arena);
    }
}

#[test]
fn a_strategy_may_leave_its_libraries_to_the_host() {
    let arena = Arena::new();
    compile_with(&arena, "leans", &["-O2", "-nodefaultlibs", "-lc"]);
    let object = fs::read(arena.path("strategy.so")).unwrap();
    let needs = |name: &str| {
        object
            .windows(name.len())
            .any(|part| part == name.as_bytes())
    };
    assert!(needs("libc.so.6") && !needs("libstdc++.so") && !needs("libm.so"));
    deals(&arena, &[2, 3]);
    let played = games(&arena.run(&matched(&arena, "", "--rounds 2")));
    assert!(played.iter().all(|game| foul(game).is_none()), "{played:?}");
}

/// Processor time, so nothing else on the machine changes it.
#[test]
fn a_strategy_that_counts_thousandths_of_a_second_can_be_told_them() {
    for flags in [
        &["-O2"][..],
        &["-O0", "-Wl,-z,now"],
        &["-O1", "-Wl,-z,lazy", "-Wl,-z,norelro"],
    ] {
        for (spec, scaled) in [("", false), ("?clock-scale=1000", true)] {
            let arena = Arena::new();
            compile_with(&arena, "budgets", flags);
            deals(&arena, &[3]);
            let line = matched(&arena, spec, "--rounds 1 --concurrency 1 --records run");
            games(&arena.run(&line));
            let log = logged(&arena);
            let thought: Vec<u64> = log
                .lines()
                .map(|line| line.strip_prefix("thought ").unwrap().parse().unwrap())
                .collect();
            assert!(thought.len() >= 8, "{log}");
            for time in thought {
                // Counted in whole thousandths, so up to one is missing.
                let expected = if scaled { 99_000..150_000 } else { 100..50_000 };
                assert!(expected.contains(&time), "{flags:?} {spec}: {time} µs");
            }
        }
    }
}

#[test]
fn who_checks_a_strategy_that_calls_clock_is_told_of_its_units() {
    for (source, spec, told) in [
        ("budgets", "", true),
        ("budgets", "?clock-scale=1000", false),
        ("innocent", "", false),
    ] {
        let arena = Arena::new();
        compile(&arena, source);
        let line = format!("check 'strategy:strategy.so{spec}' --quick --games 0");
        let output = arena.run(&line);
        assert!(output.status.success(), "{}", out(&output));
        assert_eq!(
            err(&output).contains("it calls clock()"),
            told,
            "{source}{spec}"
        );
        fits_eighty_columns(&String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_strategy_that_can_t_be_loaded_says_why_before_it_plays() {
    for (source, flags, evidence) in [
        (
            "falls",
            &[][..],
            "the strategy was killed by SIGSEGV while it was loaded",
        ),
        ("unmade", &[], "what():  there is no table"),
        (
            "innocent",
            &["-Wl,--no-as-needed", "-l:libhere.so"],
            "libhere.so: cannot open shared object file",
        ),
    ] {
        let arena = Arena::new();
        let mut flags: Vec<_> = flags.to_vec();
        let here = format!("-L{}", arena.path("").display());
        if source == "innocent" {
            // A library that is there when it is linked and gone when it is played.
            compile(&arena, "half");
            fs::rename(arena.path("strategy.so"), arena.path("libhere.so")).unwrap();
            flags.push(&here);
        }
        compile_with(&arena, source, &flags);
        let _ = fs::remove_file(arena.path("libhere.so"));
        deals(&arena, &[3]);
        let output = arena.run(&matched(&arena, "", "--rounds 1"));
        assert_eq!(output.status.code(), Some(1), "{}", err(&output));
        for game in of_type(&events(&out(&output)), "game") {
            let foul = foul(&game).unwrap();
            assert!(
                foul.contains("no-start") && foul.contains(evidence),
                "{foul}"
            );
        }
    }
}

/// By the codes of the classic report it was loaded, and does not play this game.
#[test]
fn a_strategy_without_a_function_of_the_interface_does_not_play_the_game() {
    for (source, evidence) in [
        (
            "mangled",
            "it has a C++ function getPoint: declare it extern \\\"C\\\"",
        ),
        (
            "half",
            "it has no function clearPoint; a strategy exports extern",
        ),
    ] {
        let arena = Arena::new();
        compile(&arena, source);
        deals(&arena, &[3]);
        let output = arena.run(&matched(&arena, "", "--rounds 1"));
        assert_eq!(output.status.code(), Some(1), "{}", err(&output));
        let played = of_type(&events(&out(&output)), "game");
        assert_eq!(played.len(), 2);
        for game in played {
            let foul = foul(&game).unwrap();
            assert!(
                foul.contains("unsupported") && foul.contains(evidence),
                "{foul}"
            );
        }
        let classic = arena.run(
            "match connect-four --bot house:random --bot strategy:strategy.so --rounds 1 \
             --report classic",
        );
        let said = out(&classic);
        assert!(said.starts_with("0:\n-4\t0\t0\n-4\t0\t0\n\n"), "{said}");
        let classic = arena.run(
            "match connect-four --bot strategy:strategy.so --bot house:random --rounds 1 \
             --report classic",
        );
        let said = out(&classic);
        assert!(said.starts_with("0:\n-3\t0\t0\n-3\t0\t0\n\n"), "{said}");

        // Who checks it is told the same, though no game is named.
        let output = arena.run("check strategy:strategy.so --format json");
        assert_eq!(output.status.code(), Some(1));
        let found = of_type(&events(&out(&output)), "finding");
        let [finding] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(finding["id"], "unsupported");
        assert!(finding.to_string().contains(evidence), "{finding}");
        let output = arena.run("bots add it --bot strategy:strategy.so --store store.db");
        assert_eq!(output.status.code(), Some(1));
        let said = out(&output)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(
            said.contains("has no function") || said.contains("C++ function"),
            "{said}"
        );
    }
}

/// All that it has printed by the time that it is refused is in the log, each time.
#[test]
fn what_is_printed_while_a_strategy_is_loaded_is_never_lost() {
    let arena = Arena::new();
    compile(&arena, "half_and_talks");
    deals(&arena, &[3]);
    for run in 0..20 {
        let line = matched(
            &arena,
            "",
            &format!("--rounds 1 --concurrency 1 --records run-{run}"),
        );
        assert_eq!(arena.run(&line).status.code(), Some(1));
        let log = fs::read_to_string(arena.path(&format!("run-{run}/logs/s-1.log")));
        let log = log.unwrap_or_else(|error| panic!("run {run}: no log: {error}"));
        for said in [
            "undefined symbol: nowhere_to_be_found",
            "loaded, by the C library\n",
            "loaded, at once\n",
            "not the end of a line\n",
        ] {
            assert!(log.contains(said), "run {run}: {said:?} is not in {log:?}");
        }
    }
}

#[test]
fn what_a_strategy_prints_before_it_returns_null_is_in_its_log() {
    let arena = Arena::new();
    compile(&arena, "null_and_talks");
    deals(&arena, &[3]);
    games(&arena.run(&matched(
        &arena,
        "",
        "--rounds 1 --concurrency 1 --records run",
    )));
    let log = logged(&arena);
    assert_eq!(log.matches("no column is left\n").count(), 2, "{log}");
}

#[test]
fn a_file_that_is_no_strategy_is_refused_before_anything_is_played() {
    let arena = Arena::new();
    deals(&arena, &[3]);
    refused(
        &arena.run(&matched(&arena, "", "")),
        "strategy.so: could not be read: No such file",
    );
    for line in [
        "bots add it --bot strategy:strategy.so --store store.db",
        "selftest --bot strategy:strategy.so",
        "exam connect-four --bot strategy:strategy.so",
        "check strategy:strategy.so",
    ] {
        refused(&arena.run(line), "strategy.so: could not be read");
    }
    nix::unistd::mkfifo(&arena.path("strategy.so"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    refused(
        &arena.run(&matched(&arena, "", "")),
        "strategy.so: it is no ordinary file; expected a shared object",
    );
    fs::remove_file(arena.path("strategy.so")).unwrap();
    fs::write(arena.path("strategy.so"), "#!/bin/sh\n").unwrap();
    refused(
        &arena.run(&matched(&arena, "", "")),
        "strategy.so: it is no ELF file; expected a shared object",
    );
    fs::write(arena.path("strategy.so"), "MZ and more").unwrap();
    refused(
        &arena.run(&matched(&arena, "", "")),
        "a program or DLL for Windows",
    );
    refused(
        &arena.run(&matched(&arena, "?speed=1", "")),
        "there are clock-scale, max-games and keeps-globals",
    );
    let line = "match connect-four --bot strategy:strategy.cpp --bot house:random";
    refused(&arena.run(line), "g++ -shared -fPIC");
    let line = "match othello --bot strategy:strategy.so --bot house:random";
    refused(
        &arena.run(line),
        "a compiled strategy plays connect-four, not othello",
    );
}

/// As the tool that the report comes from does it.
#[test]
fn a_classic_report_has_a_code_for_a_file_that_is_not_there() {
    let arena = Arena::new();
    for (bots, codes) in [
        (["strategy:gone.so", "house:random"], "-1"),
        (["house:random", "strategy:gone.so"], "-2"),
        (["strategy:gone.so", "strategy:too.so"], "-1"),
    ] {
        let [a, b] = bots;
        let output = arena.run(&format!(
            "match connect-four --bot {a} --bot {b} --rounds 1 --report classic"
        ));
        assert_eq!(output.status.code(), Some(1), "{}", err(&output));
        let expected = format!("0:\n{codes}\t0\t0\n{codes}\t0\t0\n\nStat:\n");
        assert!(out(&output).starts_with(&expected), "{}", out(&output));
        let said = err(&output)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(
            said.contains("gone.so: could not be read: No such file"),
            "{said}"
        );
    }
    refused(
        &arena.run("match othello --bot strategy:gone.so --bot house:random --report classic"),
        "a compiled strategy plays connect-four, not othello",
    );
}

#[test]
fn a_tournament_does_not_go_on_without_the_file_of_a_strategy() {
    let arena = Arena::new();
    compile(&arena, "innocent");
    let file = "game = \"connect-four\"\nshape = \"round-robin\"\ndeals = 10000\n\
                [[bots]]\nbot = \"strategy:./strategy.so\"\n[[bots]]\nbot = \"house:random\"\n";
    fs::write(arena.path("cup.toml"), file).unwrap();
    let mut run = arena.start("tournament run cup.toml --format json");
    let mut first = String::new();
    BufReader::new(run.stdout.take().unwrap())
        .read_line(&mut first)
        .unwrap();
    interrupt(&run);
    assert_eq!(run.wait().unwrap().code(), Some(130));
    fs::remove_file(arena.path("strategy.so")).unwrap();
    refused(
        &arena.run("tournament resume cup"),
        "strategy.so: could not be read: No such file",
    );
}

/// The sample, and all that a hundred games could leave behind.
#[test]
fn a_hundred_games_leave_nothing_behind() {
    let arena = Arena::new();
    let sample = "../../bots/adapters/strategy/examples/careful.cpp";
    compile_file(
        &arena,
        &Path::new(env!("CARGO_MANIFEST_DIR")).join(sample),
        &["-O2"],
    );
    deals(&arena, &[3]);
    let temporary = arena.path("temporary");
    fs::create_dir(&temporary).unwrap();
    let names = |folder: &Path| -> BTreeSet<_> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    };
    let here = names(&arena.path(""));
    let shared = names(Path::new("/dev/shm"));
    let output = arena
        .command(&matched(&arena, "", "--rounds 50 --no-records"))
        .env("TMPDIR", &temporary)
        .output()
        .unwrap();
    let played = games(&output);
    assert_eq!(played.len(), 100);
    assert!(played.iter().all(|game| foul(game).is_none()), "{played:?}");
    let won = played.iter().filter(|game| {
        let seat = usize::from(game["players"][1] == "s");
        game["places"][seat] == 1
    });
    assert!(won.count() > 80, "careful wins against random: {played:?}");
    nothing_is_left(&arena);
    assert_eq!(names(&arena.path("")), here);
    assert!(names(&temporary).is_empty());
    // Servers that other tests start have theirs there.
    wait_until("no shared memory is left", || {
        let now = names(Path::new("/dev/shm"));
        let mut new = now.difference(&shared);
        new.all(|name| name.to_string_lossy().starts_with("PostgreSQL"))
    });
}

/// A strategy that looks at nothing but its call answers the same when it is put
/// into the middle of a game.
#[test]
fn a_strategy_can_be_resumed() {
    let arena = Arena::new();
    compile(&arena, "innocent");
    deals(&arena, &[3]);
    games(&arena.run(&matched(&arena, "", "--rounds 1 --records run")));
    let line = "replay rerun run/match-0000-deal-0000-game-0.jsonl.zst --seat 0 \
                --bot strategy:strategy.so --format json";
    let found = events(&done(&arena.run(line)));
    let end = &of_type(&found, "rerun")[0];
    assert!(end["asked"].as_u64().unwrap() > 3, "{end}");
    assert_eq!(end["same"], end["asked"], "{end}");
}
