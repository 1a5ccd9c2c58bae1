//! Programs that read and write lines: the programs of the page that explains JSON, an engine that
//! speaks GTP in the ways of several, and what is said of those that fail.

use std::{fs, process::Command};

use serde_json::Value;

use crate::{documents::Page, vocabulary::*};

/// A program of docs/stdio.md.
struct Sample {
    language: String,
    game: String,
    code: String,
}

/// The blocks of the page that name a game.
fn samples() -> Vec<Sample> {
    let blocks = Page::read("docs/stdio.md").blocks.into_iter();
    let samples = blocks.filter_map(|block| {
        let game = block.marks().first().filter(|mark| *mark != "run")?;
        Some(Sample {
            language: block.language().to_owned(),
            game: game.clone(),
            code: block.code,
        })
    });
    samples.collect()
}

impl Sample {
    /// Writes it into the arena's folder; gives the command that runs it.
    fn command(&self, arena: &Arena) -> String {
        let (file, runs) = match &*self.language {
            "python" => ("bot.py", "python3 bot.py"),
            "javascript" => ("bot.js", "node bot.js"),
            "ruby" => ("bot.rb", "ruby bot.rb"),
            "perl" => ("bot.pl", "perl bot.pl"),
            "lua" => ("bot.lua", "lua5.4 bot.lua"),
            "c" => ("bot.c", "./bot"),
            "sh" => ("bot.sh", "sh bot.sh"),
            other => panic!("a language that this test does not know: {other}"),
        };
        fs::write(arena.path(file), &self.code).unwrap();
        if self.language == "c" {
            let compiled = Command::new("gcc")
                .args(["-O1", "-o", "bot", file])
                .current_dir(arena.path("."))
                .output()
                .expect("these tests compile a bot: they need gcc (Debian: the package gcc)");
            assert!(compiled.status.success(), "{}", err(&compiled));
        }
        runs.to_owned()
    }
}

#[test]
fn each_program_of_the_page_plays_its_game_without_a_foul() {
    let samples = samples();
    let languages = |game: &str| samples.iter().filter(|one| one.game == game).count();
    assert_eq!(languages("connect-four"), 7);
    for game in ["othello", "mahjong", "big-two"] {
        assert_eq!(languages(game), 1, "{game}");
    }
    for sample in samples {
        let arena = Arena::new();
        let command = sample.command(&arena);
        let seats = if sample.game == "big-two" { 3 } else { 1 };
        let others: String = (0..seats)
            .map(|at| format!(" --bot r{at}=house:random"))
            .collect();
        for spec in [command.clone(), format!("{command}?keep")] {
            let line = format!(
                "match {} --bot 'me=stdio:{spec}' {others} --deals 2 --seed 1 --format json \
                 --move-limit 60s --concurrency 2",
                sample.game
            );
            let played = of_type(&events(&done(&arena.run(&line))), "game");
            assert_eq!(played.len(), if seats == 3 { 8 } else { 4 }, "{line}");
            for game in played {
                assert_eq!(game["fouls"], Value::Array(Vec::new()), "{line}: {game}");
            }
        }
    }
}

/// The foul of a Python program that answers the start, and then does this at `get_point`.
fn foul_of(body: &str) -> String {
    let arena = Arena::new();
    let code = format!(
        "import json, os, sys, time\n\
         for line in sys.stdin:\n    \
             call = json.loads(line)\n    \
             if call['call'] == 'start':\n        \
                 print('{{\"ready\": {{}}}}', flush=True)\n    \
             elif call['call'] == 'get_point':\n        \
                 y = next(y for y, top in enumerate(call['top']) if top > 0)\n        \
                 answer = json.dumps({{'point': {{'x': call['top'][y] - 1, 'y': y}}}})\n        \
                 {body}\n"
    );
    fs::write(arena.path("bot.py"), code).unwrap();
    let output = arena.run(
        "match connect-four --bot 'me=stdio:python3 bot.py' --bot house:random --deals 1 --seed 1 \
         --format json --move-limit 3s",
    );
    let game = of_type(&events(&done(&output)), "game").remove(0);
    let fouls = game["fouls"].as_array().unwrap();
    assert_eq!(fouls.len(), 1, "{body}: {game}");
    fouls[0].to_string()
}

#[test]
fn what_a_program_does_wrong_is_named_with_what_came_and_what_to_do() {
    for (body, says) in [
        (
            "print('my move', answer, flush=True)",
            r#"expected one line with a JSON object, as in {\"point\":{\"x\":0,\"y\":0}}"#,
        ),
        (
            "print('3', flush=True)",
            "print everything else on standard error",
        ),
        (
            "print(answer + '\\n' + answer, flush=True)",
            "without being asked",
        ),
        ("print(answer)", "flush standard output"),
        (
            "print(answer, end='', flush=True)",
            "without an end of the line",
        ),
        (
            "sys.stdout.buffer.write(b'\\xff\\n'); sys.stdout.flush()",
            "expected text in UTF-8",
        ),
        (
            "print('x' * 70000, flush=True)",
            "a line of more than 64 KiB",
        ),
        (
            "print('x' * 10000000, flush=True)",
            "a line of more than 64 KiB",
        ),
        ("sys.exit('no luck today')", "no luck today"),
        ("os.kill(os.getpid(), 11)", "was killed by SIGSEGV"),
        ("os.close(1); time.sleep(60)", "closed its standard output"),
        (
            "print('{\"point\": 3}', flush=True)",
            r#"expected an object with \"x\", \"y\", found 3"#,
        ),
        ("print('{\"error\": \"lost\"}', flush=True)", "lost"),
        (
            "print(json.dumps({'error': 'long ' * 10000}), flush=True)",
            "long long",
        ),
        (
            "print('{\"point\": {\"x\": 0, \"y\": 0}}', flush=True)",
            "illegal",
        ),
        ("time.sleep(60)", "late"),
        (
            "print(answer, flush=True) if call['number'] < 2 else print('{\"point\": {}}', flush=True)",
            "malformed",
        ),
        (
            "print('{\"number\": 99, ' + answer[1:], flush=True)",
            "wrong-number",
        ),
    ] {
        let foul = foul_of(body);
        assert!(foul.contains(says), "{body}: {foul}");
    }
}

#[test]
fn a_program_that_does_not_play_a_game_says_so() {
    let arena = Arena::new();
    let command = samples().remove(0).command(&arena);
    let output = arena.run(&format!(
        "match othello --bot 'me=stdio:{command}' --bot house:random --deals 1 --format json"
    ));
    let game = of_type(&events(&out(&output)), "game").remove(0);
    let foul = &game["fouls"][0];
    assert_eq!(foul["kind"], "unsupported", "{game}");
    assert!(foul.to_string().contains("I play connect_four"), "{game}");
}

#[test]
fn windows_line_ends_and_empty_lines_are_no_matter() {
    let arena = Arena::new();
    let code = "import json, sys\n\
                for line in sys.stdin:\n    \
                    call = json.loads(line)\n    \
                    if call['call'] == 'start':\n        \
                        print('{\"ready\": {\"bot\": \"w\"}}\\r\\n\\r\\n', end='', flush=True)\n    \
                    elif call['call'] == 'get_point':\n        \
                        y = next(y for y, top in enumerate(call['top']) if top > 0)\n        \
                        print('\\n' + json.dumps({'point': {'x': call['top'][y] - 1, 'y': y}}) + '\\r', flush=True)\n";
    fs::write(arena.path("bot.py"), code).unwrap();
    let output = arena.run(
        "match connect-four --bot 'me=stdio:python3 bot.py' --bot house:random --deals 1 --seed 1 \
         --format json --move-limit 60s",
    );
    for game in of_type(&events(&done(&output)), "game") {
        assert_eq!(game["fouls"], Value::Array(Vec::new()), "{game}");
    }
}

#[test]
fn a_program_that_does_not_start_is_named_with_what_mends_it() {
    let arena = Arena::new();
    fs::write(arena.path("bot.py"), "print('{}')\n").unwrap();
    for (spec, says) in [
        ("./bot.py", "./bot.py is not an executable program"),
        ("python3 nobody.py", "nobody.py"),
        ("no-such-program", "could not start no-such-program"),
    ] {
        let output = arena.run(&format!(
            "match connect-four --bot 'me=stdio:{spec}' --bot house:random --deals 1 --seed 1"
        ));
        let said = format!("{}{}", out(&output), err(&output));
        assert!(said.contains(says), "{spec}: {said}");
    }
}

#[test]
fn nothing_of_a_program_outlives_its_game() {
    let mark = format!("7{}", std::process::id());
    let code = format!(
        "import json, subprocess, sys\n\
         subprocess.Popen('sleep {mark} & sleep {mark}', shell=True, start_new_session=True)\n\
         for line in sys.stdin:\n    \
             call = json.loads(line)\n    \
             if call['call'] == 'start':\n        \
                 print('{{\"ready\": {{}}}}', flush=True)\n    \
             elif call['call'] == 'get_point':\n        \
                 y = next(y for y, top in enumerate(call['top']) if top > 0)\n        \
                 print(json.dumps({{'point': {{'x': call['top'][y] - 1, 'y': y}}}}), flush=True)\n"
    );
    for arena in [Arena::new(), Arena::new().without_walls()] {
        fs::write(arena.path("bot.py"), &code).unwrap();
        let output = arena.run(
            "match connect-four --bot 'me=stdio:python3 bot.py' --bot house:random --deals 2 \
             --seed 1 --move-limit 60s",
        );
        done(&output);
        assert!(processes_with(&mark).is_empty());
    }
}

/// The engine of the tests, with these options, as a SPEC.
fn engine(options: &str, parameters: &str) -> String {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gtp/engine.py");
    format!("'e=gtp:python3 {file} {options}{parameters}'")
}

fn engine_games(spec: &str, more: &str) -> Vec<Value> {
    let arena = Arena::new();
    let limit = if more.contains("--move-limit") {
        ""
    } else {
        "--move-limit 20s"
    };
    let line = format!(
        "match othello --bot {spec} --bot house:random --deals 2 --seed 1 --format json {limit} \
         {more}"
    );
    // One that never starts is a failure of the run.
    of_type(&events(&out(&arena.run(&line))), "game")
}

#[test]
fn engines_that_speak_gtp_in_ways_of_their_own_play_without_a_foul() {
    for (options, parameters) in [
        ("", ""),
        ("banner info no-numbers crlf", ""),
        ("no-boardsize no-time refuses-passes", "?keep"),
        ("blank two-seconds", "?time=2"),
        ("plain untimed", "?time=0"),
    ] {
        let spec = engine(options, parameters);
        let games = engine_games(&spec, "");
        assert_eq!(games.len(), 4, "{spec}");
        for game in games {
            assert_eq!(game["fouls"], Value::Array(Vec::new()), "{spec}: {game}");
        }
    }
}

#[test]
fn an_engine_is_told_three_quarters_of_the_limit_of_a_move() {
    for game in engine_games(&engine("two-seconds", ""), "--move-limit 3s") {
        assert_eq!(game["fouls"], Value::Array(Vec::new()), "{game}");
    }
}

#[test]
fn such_bots_are_checked_as_others_are() {
    let arena = Arena::new();
    let sample = samples().remove(0);
    let command = sample.command(&arena);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gtp/engine.py");
    for (spec, game) in [
        (format!("stdio:{command}"), ""),
        (format!("stdio:{command}?max-games=2"), ""),
        (format!("gtp:python3 {file}"), "--game othello"),
    ] {
        let output = arena.run(&format!("check '{spec}' {game} --move-limit 10s"));
        assert!(
            output.status.success(),
            "{spec}: {}{}",
            out(&output),
            err(&output)
        );
    }
}

/// This position is reached by no moves.
const UNREACHABLE: &str =
    "--setup 'X--------XO-----X-------X--OX------XO-------------------------O- X'";

#[test]
fn a_game_that_begins_in_the_middle_is_set_up_by_moves_or_by_a_command() {
    for (options, parameters, setup) in [
        // Black passes after these.
        ("", "", "--setup c4c3f5b4a4a5c2a3"),
        ("setboard", "?setup=setboard", UNREACHABLE),
    ] {
        for game in engine_games(&engine(options, parameters), setup) {
            assert_eq!(game["fouls"], Value::Array(Vec::new()), "{setup}: {game}");
        }
    }
}

#[test]
fn what_an_engine_does_wrong_is_named() {
    for (options, more, says) in [
        (
            "resigns",
            "",
            r#"answered \"resign\" to \"genmove black\": expected a square"#,
        ),
        ("illegal", "", "illegal"),
        ("no-flush", "--start-limit 2s", "flush standard output"),
        ("slow", "--move-limit 1s", "late"),
        ("", UNREACHABLE, "this position can't be set up"),
    ] {
        let game = engine_games(&engine(options, ""), more).remove(0);
        let foul = game["fouls"][0].to_string();
        assert!(foul.contains(says), "{options}: {foul}");
    }
    let arena = Arena::new();
    let line = format!(
        "match connect-four --bot {} --bot house:random",
        engine("", "")
    );
    refused(
        &arena.run(&line),
        "engines that play othello, not connect-four",
    );
}

/// An agent of Kaggle's ConnectX as they are written there: helpers first, the agent last; it keeps
/// what it likes, and prints.
const AGENT: &str = "
import random
from dataclasses import dataclass

@dataclass
class Memory:
    asked: int = 0

memory = Memory()

def valid(board, columns: int):
    return [c for c in range(columns) if board[c] == 0]

def my_agent(observation, configuration):
    memory.asked += 1
    print('asked', memory.asked)
    assert valid.__annotations__['columns'] is int
    assert (configuration.rows, configuration['columns'], configuration.inarow) == (6, 7, 4)
    assert memory.asked <= 21, 'not run anew'
    assert observation.step % 2 == observation.mark - 1
    assert observation.board.count(observation.mark) == observation['step'] // 2
    return random.choice(valid(observation.board, configuration.columns))
";

#[test]
fn an_agent_of_kaggle_plays_on_its_board() {
    let arena = Arena::new();
    fs::write(arena.path("submission.py"), AGENT).unwrap();
    let file = "game = \"connect-four\"\nshape = \"round-robin\"\ndeals = 2\n\
                bots = [{bot = \"kaggle:submission.py\"}, {bot = \"house:random\"}]\n";
    fs::write(arena.path("cup.toml"), file).unwrap();
    for line in [
        "match connect-four --bot kaggle:submission.py --bot house:random --deals 2",
        "match connect-four --bot kaggle:submission.py?function=my_agent --bot house:random \
         --deals 2",
        "tournament run cup.toml",
    ] {
        let output = arena.run(&format!("{line} --seed 1 --format json"));
        let games = of_type(&events(&done(&output)), "game");
        assert_eq!(games.len(), 4, "{line}");
        for game in games {
            assert_eq!(game["fouls"], Value::Array(Vec::new()), "{line}: {game}");
        }
    }
    let checked = arena.run("check kaggle:submission.py --quick --move-limit 10s");
    done(&checked);
}

#[test]
fn what_is_wrong_with_an_agent_is_told_with_its_own_line() {
    let arena = Arena::new();
    let line = |spec: &str, more: &str| {
        let line = format!("match connect-four --bot me={spec} --bot house:random --deals 1");
        let output = arena.run(&format!("{line} --no-records --format json {more}"));
        format!("{}{}", out(&output), err(&output))
    };
    for (code, function, says) in [
        ("def f(o, c):\n    return 1 / 0\n", "", "(me.py:2)"),
        ("def f(o, c)\n    return 0\n", "", "SyntaxError"),
        ("x = 3\n", "", "me.py has nothing that can be called"),
        (
            "def f(o): return 0\n",
            "?function=g",
            "me.py has no function g",
        ),
        (
            "def f(o): return 9\n",
            "",
            "the agent returned 9: expected a column that is not full: 0, 1, 2, 3, 4, 5, 6",
        ),
        ("def f(o): return None\n", "", "the agent returned None"),
        (
            "def f(o): return 0\nfrom math import sqrt\n",
            "",
            "its agent is sqrt, the last thing in the file that can be called",
        ),
        ("import nothing_of_this_name\n", "", "nothing_of_this_name"),
    ] {
        fs::write(arena.path("me.py"), code).unwrap();
        let said = line(&format!("kaggle:me.py{function}"), "");
        assert!(said.contains(says), "{code}: {said}");
    }
    fs::write(arena.path("me.py"), AGENT).unwrap();
    for (spec, more, says) in [
        (
            "kaggle:me.py",
            "--setup 9x9",
            "expected a set-up without one, such as 6x7",
        ),
        ("kaggle:nobody.py", "", "there is no such file"),
        ("kaggle:me.tar.gz", "", "expected one file of Python"),
    ] {
        let said = line(spec, more);
        assert!(said.contains(says), "{spec}: {said}");
    }
}
