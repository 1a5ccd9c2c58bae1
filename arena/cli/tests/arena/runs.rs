//! Runs as a person starts, stops and repeats them.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::Stdio,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::vocabulary::*;

#[test]
fn the_classic_report_goes_to_a_file_and_nothing_else_does() {
    let arena = Arena::new();
    let output = arena.run("match connect-four --bot 'a=house:uct?playouts=100' --bot b=house:random --rounds 2 --seed 1 --report classic");
    assert!(output.status.success(), "{}", err(&output));
    assert_eq!(
        out(&output),
        "0:\n1\t0\t0\n1\t0\t0\n\n1:\n1\t0\t0\n1\t0\t0\n\nStat:\nratio of A wins : 1\n\
         ratio of B wins : 0\nratio of Tie : 0\n\nratio of (A wins + tie) : 1\n\
         ratio of (B wins + tie) : 0\n"
    );
}

#[test]
fn the_same_seed_gives_the_same_records_at_every_concurrency() {
    let arena = Arena::new();
    let play = |concurrency: &str, run: &str| {
        let output = arena.run(&format!(
            "match connect-four --bot 'a=house:uct?playouts=30' --bot b=house:random --rounds 6 \
             --seed 'a word' --concurrency {concurrency} --records {run}"
        ));
        assert!(output.status.success(), "{}", err(&output));
        let records = arena.records(run);
        assert_eq!(records.len(), 12);
        records
            .into_iter()
            .map(|(name, text)| (name, without_times(&text)))
            .collect::<Vec<_>>()
    };
    let one = play("1", "one");
    assert_eq!(play("3", "three"), one);
    assert_eq!(play("12", "twelve"), one);
}

#[test]
fn the_root_that_is_opened_at_the_end_plays_the_same_deals_again() {
    let arena = Arena::new();
    let play = |run: &str, more: &str| {
        let output = arena.run(&format!(
            "match connect-four {RANDOMS} --rounds 2 --records {run} {more}"
        ));
        assert!(output.status.success(), "{}", err(&output));
        let about = fs::read_to_string(arena.path(run).join("run.json")).unwrap();
        let about: serde_json::Value = serde_json::from_str(&about).unwrap();
        (about, err(&output))
    };
    let (first, said) = play("first", "");
    let root = first["ended"]["root"].as_str().unwrap();
    let commitment = first["started"]["root_commitment"].as_str().unwrap();
    assert!(
        said.contains(&format!("root committed, sha256:\n  {commitment}")),
        "{said}"
    );
    let (second, _) = play("second", &format!("--seed {root}"));
    assert_eq!(second["started"]["root_commitment"], commitment);
    assert_eq!(second["started"]["reproduction"], true);
    let stripped = |run| {
        let records = arena.records(run);
        records
            .iter()
            .map(|(_, text)| without_times(text))
            .collect::<Vec<_>>()
    };
    assert_eq!(stripped("first"), stripped("second"));
}

#[test]
fn records_are_proved_and_a_changed_one_is_not() {
    let arena = Arena::new();
    let output = arena.run(&format!(
        "match connect-four {RANDOMS} --rounds 1 --records run"
    ));
    assert!(output.status.success(), "{}", err(&output));
    let names = [
        "run/match-0000-deal-0000-game-0.jsonl.zst",
        "run/match-0000-deal-0000-game-1.jsonl.zst",
    ];
    let output = arena.run(&format!("replay verify {} {}", names[0], names[1]));
    assert!(output.status.success(), "{}", out(&output));
    assert_eq!(out(&output).matches(": proved, ").count(), 2);

    let shown = arena.run(&format!("replay show --ascii {}", names[0]));
    assert!(shown.status.success());
    assert!(
        out(&shown).contains("won: four in a line"),
        "{}",
        out(&shown)
    );

    let (_, text) = &arena.records("run")[0];
    // Another winner, a move that was not made, a time that was not measured,
    // the end cut off.
    let move_line = text.lines().find(|line| line.contains("\"move\"")).unwrap();
    for (what, forged) in [
        (
            "winner",
            text.replace("\"places\":[1,2]", "\"places\":[9,9]")
                .replace("\"places\":[2,1]", "\"places\":[1,2]")
                .replace("[9,9]", "[2,1]"),
        ),
        (
            "move",
            text.replace(
                move_line,
                &move_line.replace("\"move\":\"(", "\"move\":\"(1"),
            ),
        ),
        ("time", text.replace("\"thought_us\":", "\"thought_us\":1")),
        ("end", text[..text.len() / 2].to_owned()),
        ("nothing", String::new()),
    ] {
        assert_ne!(&forged, text, "{what}");
        fs::write(arena.path("forged.jsonl"), forged).unwrap();
        let output = arena.run("replay verify forged.jsonl");
        assert_eq!(output.status.code(), Some(1), "{what}: {}", out(&output));
        assert!(
            out(&output).contains("NOT PROVED"),
            "{what}: {}",
            out(&output)
        );
    }
    let output = arena.run("replay verify nowhere.jsonl");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        out(&output).contains("could not read nowhere.jsonl"),
        "{}",
        out(&output)
    );
}

/// Somebody who forges the seal as well is found out by the replay.
#[test]
fn a_forged_record_with_a_good_seal_is_not_proved() {
    let arena = Arena::new();
    let output = arena.run(&format!(
        "match connect-four {RANDOMS} --rounds 1 --records run"
    ));
    assert!(output.status.success(), "{}", err(&output));
    let (_, text) = &arena.records("run")[0];
    let mut record = referee_core::Record::parse(text).unwrap();
    let referee_core::Verdict::Finished { outcome, .. } = &mut record.result.verdict else {
        panic!("it was played");
    };
    outcome.places = outcome
        .places
        .as_slice()
        .iter()
        .rev()
        .copied()
        .collect::<Vec<_>>()
        .into();
    fs::write(arena.path("forged.jsonl"), record.to_json_lines()).unwrap();
    let output = arena.run("replay verify forged.jsonl");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        out(&output).contains("the result: expected"),
        "{}",
        out(&output)
    );
}

#[test]
fn bad_usage_has_its_own_exit_code_and_says_what_to_do() {
    let arena = Arena::new();
    let with = |more: &str| arena.run(&format!("match connect-four {RANDOMS} {more}"));
    for (output, says) in [
        (
            arena.run("match chess --bot house:random"),
            "expected connect-four, othello, mahjong, big-two",
        ),
        (
            arena.run("match connect-four --bot house:random"),
            "expected --bot 2 times, found 1",
        ),
        (
            arena.run("match connect-four --bot house:radnom --bot house:uct"),
            "did you mean random?",
        ),
        (
            with("--move-limit fast"),
            "expected a length of time such as 3s",
        ),
        (with("--move-limit 0s"), "expected a time above 0"),
        (
            with("--rounds 0"),
            "expected a whole number of 1 to 1000000, as in --deals 1",
        ),
        (
            with("--concurrency many"),
            "expected a whole number, as in --concurrency 1",
        ),
        (with("--setup '{'"), "expected a JSON object"),
        (
            with(r#"--setup '{"rows":99}'"#),
            "rows must be 4 to 12, found 99",
        ),
        (with("--seed ''"), "a seed can't be empty"),
        (with("--records ."), ""),
        (arena.run("mach"), "match"),
    ] {
        let code = output.status.code();
        if says.is_empty() {
            // An empty folder may be used.
            assert_eq!(code, Some(0), "{}", err(&output));
            continue;
        }
        assert_eq!(code, Some(2), "{}", err(&output));
        assert!(
            err(&output).contains(says),
            "expected {says:?} in {}",
            err(&output)
        );
        assert_eq!(out(&output), "");
    }
    // Now it is not empty any more.
    let output = with("--records .");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        err(&output).contains("the folder is not empty"),
        "{}",
        err(&output)
    );
}

#[test]
fn a_bot_that_can_not_be_started_loses_and_the_answer_is_no() {
    let arena = Arena::new();
    let output = arena.run("match connect-four --bot a=exec:./not_there --bot b=house:random --rounds 1 --report classic");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        out(&output).starts_with("0:\n-1\t0\t0\n-1\t0\t0\n\n"),
        "{}",
        out(&output)
    );
    assert!(
        err(&output).contains("could not start ./not_there: No such file"),
        "{}",
        err(&output)
    );
}

#[test]
fn what_a_bot_prints_is_in_its_log_and_its_last_words_in_the_record() {
    let arena = Arena::new();
    let output = arena.run(r#"match connect-four --bot 'a=exec:sh -c '"'"'echo no luck today >&2; exit 7'"'"'' --bot b=house:random --rounds 1 --records run"#);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        err(&output)
            .contains("exited with code 7 before it listened; its last words: no luck today"),
        "{}",
        err(&output)
    );
    let log = fs::read_to_string(arena.path("run/logs/a-1.log")).unwrap();
    assert_eq!(log, "no luck today\n");
}

#[test]
fn json_is_one_event_a_line_and_nothing_else() {
    let arena = Arena::new();
    let output = arena.run(&format!(
        "match connect-four {RANDOMS} --rounds 2 --format json"
    ));
    assert!(output.status.success(), "{}", err(&output));
    let events: Vec<serde_json::Value> = out(&output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let types: Vec<_> = events.iter().map(|event| &event["type"]).collect();
    let game = "game";
    let expected = [
        "run_started",
        game,
        game,
        game,
        game,
        "run_ended",
        "standings",
        "figures",
    ];
    assert_eq!(types, expected);
    assert!(events.iter().all(|event| event["version"] == 1));
    let record = events[1]["record"].as_str().unwrap();
    assert!(arena.path(record).exists(), "{record}");
    assert_eq!(events[6]["counts"]["games"], 4);
    // A bot against its like comes out even, round by round.
    assert_eq!(events[6]["rows"][0]["points"], 2.0);
}

#[test]
fn the_table_fits_eighty_columns() {
    let arena = Arena::new();
    let output = arena.run("match connect-four --bot a-name-that-is-rather-too-long=house:random --bot another-name-that-is-too-long=house:random --rounds 60 --concurrency 16 --no-records");
    assert!(output.status.success(), "{}", err(&output));
    assert!(
        out(&output).contains("a-name-that-is-…"),
        "{}",
        out(&output)
    );
    for line in out(&output).lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(!arena.path("arena-runs").exists());
}

#[test]
fn the_demo_plays_and_leaves_records_where_it_says() {
    let arena = Arena::new();
    let output = arena.run("demo --rounds 1");
    assert!(output.status.success(), "{}", err(&output));
    let text = out(&output);
    for word in ["Connect Four", "strong", "weak", "random", "replay show"] {
        assert!(text.contains(word), "{text}");
    }
    let record = text
        .lines()
        .find_map(|line| {
            line.split_once("replay verify ")
                .map(|(_, record)| record.trim())
        })
        .unwrap();
    let output = arena.run(&format!("replay verify {record}"));
    assert!(output.status.success(), "{}", out(&output));
}

/// The parameter tells the processes of one test from those of another.
fn long_match(milliseconds: u32) -> (String, String) {
    let spec = format!("uct?time={milliseconds}ms");
    let line = format!(
        "match connect-four --bot 'a=house:{spec}' --bot b=house:random --rounds 1000 --records run"
    );
    (spec, line)
}

fn some_record(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut files| {
        files.any(|file| file.is_ok_and(|file| file.path().extension().is_some_and(|e| e == "zst")))
    })
}

#[test]
fn ctrl_c_finishes_what_runs_prints_the_table_and_leaves_nobody_behind() {
    let arena = Arena::new();
    let (spec, line) = long_match(41);
    let child = arena.start(&line);
    wait_until("a record", || some_record(&arena.path("run")));
    assert!(!processes_with(&spec).is_empty());
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", err(&output));
    assert!(out(&output).contains("W-D-L"), "{}", out(&output));
    assert!(err(&output).contains("stopped after"), "{}", err(&output));
    assert_eq!(processes_with(&spec), Vec::<i32>::new());
    // Everything that was written is whole.
    for (name, text) in arena.records("run") {
        referee_core::Record::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn ctrl_c_twice_cuts_off_what_runs() {
    let arena = Arena::new();
    // A move takes longer than anybody wants to wait.
    let (spec, line) = long_match(2_900);
    let mut child = arena.start(&line);
    wait_until("a bot", || !processes_with(&spec).is_empty());
    interrupt(&child);
    let said = BufReader::new(child.stderr.take().unwrap()).lines();
    let heard = said
        .map_while(Result::ok)
        .find(|line| line.contains("once more cuts them off"));
    assert!(heard.is_some(), "the first was not heard");
    let id = Pid::from_raw(child.id() as i32);
    kill(id, Signal::SIGTERM).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", err(&output));
    wait_until("nobody left", || processes_with(&spec).is_empty());
}

#[test]
fn a_terminal_that_goes_ends_a_match_with_its_table() {
    let arena = Arena::new();
    let (spec, line) = long_match(42);
    // Also where the tests are run by nohup.
    let child = arena
        .command_of("env".as_ref(), "--default-signal=HUP")
        .arg(env!("CARGO_BIN_EXE_arena"))
        .args(shlex::split(&line).unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("a record", || some_record(&arena.path("run")));
    // The system tells of it, and so does the shell.
    for _ in 0..4 {
        kill(Pid::from_raw(child.id() as i32), Signal::SIGHUP).unwrap();
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", err(&output));
    assert!(out(&output).contains("W-D-L"), "{}", out(&output));
    assert!(err(&output).contains("stopped after"), "{}", err(&output));
    assert_eq!(processes_with(&spec), Vec::<i32>::new());
}

#[test]
fn a_match_that_ignores_the_end_of_its_terminal_goes_on() {
    let arena = Arena::new();
    let line = "match connect-four --bot 'a=house:uct?time=44ms' --bot b=house:random --deals 4 \
                --concurrency 1 --records run";
    // As nohup does.
    let script = format!("trap '' HUP; exec \"$0\" {line}");
    let mut command = arena.command_of("sh".as_ref(), "-c");
    command.arg(script).arg(env!("CARGO_BIN_EXE_arena"));
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("a record", || some_record(&arena.path("run")));
    kill(Pid::from_raw(child.id() as i32), Signal::SIGHUP).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert_eq!(arena.records("run").len(), 8);
}

#[test]
fn bots_do_not_outlive_an_arena_that_is_killed() {
    let arena = Arena::new();
    let (spec, line) = long_match(43);
    let mut child = arena.start(&line);
    wait_until("a record", || some_record(&arena.path("run")));
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("nobody left", || processes_with(&spec).is_empty());
}

#[test]
fn completions_and_the_manual_page_are_made() {
    let arena = Arena::new();
    for (line, says) in [("completions bash", "_arena"), ("man", ".TH arena")] {
        let output = arena.run(line);
        assert!(output.status.success());
        assert!(out(&output).contains(says), "{}", out(&output));
    }
}

/// Whoever reads only the first line has read enough.
#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let arena = Arena::new();
    for line in [
        format!("match connect-four {RANDOMS} --rounds 200 --format json --no-records"),
        "exam mahjong --bot me=house:shanten --no-records".to_owned(),
    ] {
        let mut child = arena.start(&line);
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", err(&output));
        for word in ["panicked", "arena: ", "pipe"] {
            assert!(!err(&output).contains(word), "{}", err(&output));
        }
    }
}

#[test]
fn every_verb_has_help_with_examples() {
    let arena = Arena::new();
    for (verb, says) in [
        ("", "arena demo"),
        ("match", "arena match big-two"),
        ("exam connect-four", "--group 1"),
        ("exam mahjong", "--enforce"),
    ] {
        let text = done(&arena.run(&format!("{verb} --help")));
        let (_, examples) = text.split_once("Examples:").unwrap();
        assert!(examples.contains(says), "{text}");
        if let Some((_, written_by_us)) = text.split_once("Games:") {
            fits_eighty_columns(written_by_us);
        }
    }
}

/// Words that users of other programs type, and the first slips of a beginner.
#[test]
fn a_slip_gets_the_word_that_was_meant() {
    let arena = Arena::new();
    for (line, says) in [
        (
            "match connect-four --bot random --bot house:uct",
            "did you mean house:random?",
        ),
        ("match connect-four --games 10", "--deals N"),
        ("match connect-four --engine a", "--bot NAME=SPEC"),
        (
            "tournament status x --format csv",
            "arena tournament export NAME --as csv",
        ),
        (
            "match --sprt elo0=0 elo1=10 connect-four --bot house:random --bot house:uct",
            "the game before --sprt",
        ),
        ("man matsch", "did you mean match?"),
    ] {
        let output = arena.run(line);
        assert_eq!(output.status.code(), Some(2), "{line}: {}", err(&output));
        assert!(err(&output).contains(says), "{line}: {}", err(&output));
    }
}

#[test]
fn a_file_that_is_no_program_is_told_how_to_be_started() {
    let arena = Arena::new();
    fs::write(arena.path("bot.py"), "print('hello')\n").unwrap();
    for spec in ["exec:./bot.py", "exec:bot.py"] {
        let line = format!("match connect-four --bot {spec} --bot house:random --deals 1");
        let output = arena.run(&line);
        assert_eq!(output.status.code(), Some(1), "{}", err(&output));
        assert!(err(&output).contains("bot.py"), "{}", err(&output));
        assert!(err(&output).contains("use "), "{}", err(&output));
    }
}

#[test]
fn manual_pages_go_down_to_a_verb_of_a_verb_and_shells_complete_games_and_bots() {
    let arena = Arena::new();
    let page = done(&arena.run("man tournament run"));
    assert!(page.contains("dry\\-run"), "{page}");
    let script = done(&arena.run("completions bash"));
    for word in ["big-two", "house:uct"] {
        assert!(script.contains(word), "no {word}");
    }
}

/// Two bots that are read off one table: where zero is, and whose figure has no error bar.
#[test]
fn a_table_of_two_says_what_its_elo_is_and_why_a_figure_has_no_error_bar() {
    let arena = Arena::new();
    let play = |deals: u32| {
        let line = format!("match othello {RANDOMS} --deals {deals} --seed 7 --no-records");
        let text = done(&arena.run(&line));
        fits_eighty_columns(&text);
        in_one_line(&text)
    };
    let text = play(40);
    for said in ["Elo difference ", "counts from the mean of both bots"] {
        assert!(text.contains(said), "{text}");
    }
    let text = play(8);
    assert!(text.contains("set deals to 10 or more"), "{text}");
}

/// A text whose lines are broken between words.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// With `--fail-on-foul` a foul is a no, and only then.
#[test]
fn a_match_of_fouls_is_told_in_words_and_fails_where_that_is_asked_for() {
    let arena = Arena::new();
    let run = |game: &str, bot: &str, more: &str| {
        arena.run(&format!(
            "match {game} {bot} --bot house:random --deals 2 --no-records {more}"
        ))
    };
    let crashes = villain("me", "crash --by-callbacks");
    let output = run("connect-four", &crashes, "");
    done(&output);
    let said = in_one_line(&err(&output));
    assert!(
        said.contains("me committed 4 fouls, one in every game that it played"),
        "{said}"
    );
    let output = run("connect-four", &crashes, "--fail-on-foul --format json");
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    let warnings = of_type(&events(&out(&output)), "standings")[0]["warnings"].clone();
    assert_eq!(
        (&warnings[0]["fouls"], &warnings[0]["games"]),
        (&4.into(), &4.into())
    );
    // It does not play Othello, so no discs are counted: zeros would be read as draws.
    let output = run("othello", &crashes, "--format json");
    for game in of_type(&events(&out(&output)), "game") {
        assert_eq!(game["scores"], serde_json::Value::Null, "{game}");
        let mut places: Vec<_> = game["places"].as_array().unwrap().clone();
        places.sort_by_key(serde_json::Value::as_u64);
        assert_eq!(places, [1, 2], "{game}");
    }
    let output = run("othello", "--bot house:weights", "--fail-on-foul");
    assert!(!err(&output).contains("foul"), "{}", err(&output));
    done(&output);
}

/// One object for scripts, which is the event of the standings.
#[test]
fn a_summary_is_one_object_and_nothing_else() {
    let arena = Arena::new();
    let line = "match othello --bot new=house:weights --bot old=house:random --seed 1 --no-records";
    let output = arena.run(&format!(
        "{line} --deals 200 --summary json --sprt elo0=0 elo1=10"
    ));
    let text = done(&output);
    let summary = events(&text);
    assert_eq!(summary.len(), 1, "{text}");
    let pair = &summary[0]["pairs"][0];
    assert_eq!(summary[0]["type"], "standings");
    assert!(summary[0]["counts"]["games"].as_u64() > Some(0), "{text}");
    assert!(pair["comparison"]["score"].as_f64() > Some(0.5), "{text}");
    assert!(pair["test"]["llr"].as_f64() > Some(0.0), "{text}");
    assert_eq!(pair["test"]["decision"], "h1", "{text}");
    // It is the same as among all events.
    let output = arena.run(&format!("{line} --deals 3 --summary json"));
    let summary = events(&done(&output));
    let output = arena.run(&format!("{line} --deals 3 --format json"));
    assert_eq!(of_type(&events(&done(&output)), "standings"), summary);
    assert!(summary[0]["pairs"][0]["comparison"]["elo"].is_object());
    // The exit code says what it says without a summary.
    let lost = "match othello --bot new=house:random --bot old=house:weights --no-records";
    let output = arena.run(&format!(
        "{lost} --deals 200 --summary json --sprt elo0=0 elo1=10"
    ));
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    assert_eq!(
        events(&out(&output))[0]["pairs"][0]["test"]["decision"],
        "h0"
    );
    refused(
        &arena.run(&format!("{line} --summary json --format json")),
        "cannot be used with",
    );
}

/// A match can't be resumed; the tournament whose file it prints can.
#[test]
fn a_test_that_is_stopped_shows_the_tournament_that_can_go_on() {
    let arena = Arena::new();
    let child = arena.start(
        "match connect-four --bot 'new=house:uct?playouts=300' --bot old=house:uct?playouts=300 \
         --deals 100000 --sprt elo0=0 elo1=1 --move-limit 2s --memory-limit 900 --records run",
    );
    wait_until("a record", || some_record(&arena.path("run")));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", err(&output));
    let said = err(&output);
    let (_, file) = said
        .split_once("sprt.toml\n\n")
        .unwrap_or_else(|| panic!("{said}"));
    let (file, how) = file
        .split_once("\n\narena ")
        .unwrap_or_else(|| panic!("{said}"));
    assert!(how.contains("arena tournament resume sprt "), "{said}");
    fs::write(arena.path("sprt.toml"), file).unwrap();
    let plan = in_one_line(&done(&arena.run("tournament run sprt.toml --dry-run")));
    assert!(plan.contains("at most 100000 deals"), "{plan}");
    let child = arena.start("tournament run sprt.toml --format json");
    wait_until("a store with games", || {
        let status = arena.run("tournament status sprt --format json");
        let standings = of_type(&events(&out(&status)), "standings");
        let games = standings
            .first()
            .and_then(|it| it["counts"]["stored_games"].as_u64());
        games > Some(0)
    });
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", err(&output));
    let started = of_type(&events(&out(&output)), "run_started")[0].clone();
    assert_eq!(started["sprt"]["elo1"], 1.0);
    assert_eq!(started["limits"]["move_us"], 2_000_000);
    assert_eq!(started["limits"]["memory_bytes"], 900 * 1024 * 1024);
    assert!(
        err(&output).contains("`arena tournament resume sprt` goes on"),
        "{}",
        err(&output)
    );
}

/// The words that a shell has before the cursor, as bash splits them, and what it offers.
#[test]
fn bash_completes_what_follows_a_colon() {
    let arena = Arena::new();
    let script = done(&arena.run("completions bash"));
    fs::write(arena.path("completions"), script).unwrap();
    for (line, words, offered) in [
        ("--bot house:ra", "--bot house : ra", "random"),
        ("--bot me=house:zug", "--bot me = house : zug", "zugzwang"),
        ("--bot house:", "--bot house :", "ladder"),
        ("--bot hou", "--bot hou", "house:random"),
        ("conn", "conn", "connect-four"),
    ] {
        let (all, count) = (format!("arena match {words}"), words.split(' ').count() + 1);
        let typed = format!(
            ". ./completions; COMP_LINE='arena match {line}'; COMP_WORDS=({all}); \
             COMP_CWORD={count}; _arena_joined arena; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let output = std::process::Command::new("bash")
            .args(["--norc", "-c", &typed])
            .current_dir(arena.path("."))
            .output()
            .unwrap();
        let said = out(&output);
        assert!(
            said.lines().any(|word| word == offered),
            "{line}: {said}{}",
            err(&output)
        );
    }
    // Each shell has it as it ends words.
    assert!(done(&arena.run("completions fish")).contains("house:random"));
}

#[test]
fn what_is_missing_or_no_number_is_told_with_what_would_be_taken() {
    let arena = Arena::new();
    let games = "expected the game: connect-four, othello, mahjong or big-two, as in";
    for (line, says) in [
        ("play", &[games, "arena play connect-four"][..]),
        (
            "match",
            &[
                games,
                "arena match connect-four --bot me=exec:./my_bot --bot house:random",
            ],
        ),
        (
            "exam othello --bot house:random",
            &["arena exam: expected connect-four or mahjong"],
        ),
        ("replay shw x", &["similar subcommand exists: 'show'"]),
    ] {
        let output = arena.run(line);
        for part in says {
            refused(&output, part);
        }
        assert!(!err(&output).contains("'help'"), "{}", err(&output));
    }
    for (game, setup, says) in [
        (
            "connect-four",
            r#"{"rows":300}"#,
            r#"expected a JSON object such as "{"rows":9,"columns":9,"forbidden":{"at":{"x":4,"y":4}}}": expected 4 to 12, found 300"#,
        ),
        (
            "othello",
            r#"{"position":5}"#,
            r#"expected a JSON object such as "{"moves":"f5d6c3"}": expected a text, found 5"#,
        ),
        (
            "big-two",
            r#"{"hands":1}"#,
            "hands: expected a card such as 3C",
        ),
    ] {
        let output = arena.run(&format!("match {game} {RANDOMS} --setup '{setup}'"));
        refused(&output, says);
    }
}

/// A bot that never starts proves nothing about the other.
#[test]
fn a_test_of_a_bot_that_does_not_start_ends_without_a_verdict() {
    let arena = Arena::new();
    let output = arena.run(
        "match connect-four --bot new=exec:./not_there --bot house:random --deals 400 \
         --sprt elo0=0 elo1=10 --no-records --format json",
    );
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    let events = events(&out(&output));
    assert_eq!(of_type(&events, "run_ended")[0]["end"], "not_started");
    let played = of_type(&events, "game").len();
    assert!(played < 100, "{played} games were played");
    let foul = &of_type(&events, "foul")[0];
    assert_eq!(
        (&foul["bot"], &foul["kind"]),
        (&"new".into(), &"unreachable".into())
    );
    let pairs = of_type(&events, "standings")[0]["pairs"].clone();
    let decided = |pair: &serde_json::Value| !pair["test"]["decision"].is_null();
    assert!(!pairs.as_array().unwrap().iter().any(decided), "{pairs}");
}
