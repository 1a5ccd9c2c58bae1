//! `arena check`: every finding has a villain that shows it, and it alone; honest
//! bots show none.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use parking_lot::Mutex;
use serde_json::Value;
use villains::Kind;

use crate::vocabulary::*;

/// Nothing honest takes nearly so long, even where the machine is busy.
const LIMITS: &str = "--move-limit 2s --start-limit 5s --patience 12s --games 0";

/// A villain as `arena check` wants it.
fn spec(kind: &str) -> String {
    format!("\"exec:'{}' {kind}\"", villain_program().display())
}

fn check(line: &str) -> Output {
    Arena::new().run(&format!("check {line} --format json"))
}

/// Names of the findings.
fn found(output: &Output) -> BTreeSet<String> {
    let events = events(&out(output));
    assert_eq!(of_type(&events, "check_ended").len(), 1, "{}", err(output));
    of_type(&events, "finding")
        .iter()
        .map(|finding| finding["id"].as_str().unwrap().to_owned())
        .collect()
}

/// Arguments that its check needs beside the usual limits.
fn needs(kind: Kind) -> &'static str {
    match kind {
        Kind::Memory => "--memory-limit 64",
        Kind::Leaks => "--games 400 --patience 20s",
        Kind::LastMinute | Kind::Clockless => "--move-limit 3s",
        _ => "",
    }
}

/// With the usual limits where nothing else is asked for.
fn line(kind: Kind) -> String {
    let spec = spec(&match kind {
        // Far from the shortest limit that it is asked for: a tenth of two seconds.
        Kind::Slow => "slow --delay 50ms".to_owned(),
        kind => kind.name(),
    });
    with_limits(spec, kind)
}

fn with_limits(mut line: String, kind: Kind) -> String {
    let needs = needs(kind);
    let limits: Vec<&str> = LIMITS.split(' ').collect();
    for limit in limits.chunks(2) {
        if !needs.contains(limit[0]) {
            line += &format!(" {} {}", limit[0], limit[1]);
        }
    }
    format!("{line} {needs}")
}

/// Findings of a kind.
fn expected(kind: Kind) -> Option<BTreeSet<String>> {
    let finding = match kind {
        // What they wait for is to meet a deal twice, and the check has deals that
        // each seat is dealt.
        Kind::KnowsRounds | Kind::KnowsHands | Kind::Whispers => return None,
        kind => kind.finding(),
    };
    Some(finding.map(str::to_owned).into_iter().collect())
}

#[test]
fn every_villain_shows_its_finding_and_no_other() {
    // Most of them wait most of the time.
    const AT_ONCE: usize = 6;
    let kinds: Vec<(Kind, BTreeSet<String>)> = Kind::all()
        .iter()
        .filter_map(|kind| Some((*kind, expected(*kind)?)))
        .collect();
    let next = Mutex::new(kinds.iter());
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let kind = next.lock().next();
                    let Some((kind, expected)) = kind else { return };
                    let output = check(&line(*kind));
                    let found = found(&output);
                    if found != *expected {
                        let mut wrong = wrong.lock();
                        wrong.push(format!("{kind:?}: {found:?}\n{}", out(&output)));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A place that is not free yet is not asked for again.
#[test]
fn who_is_slow_to_close_is_not_given_more_games_than_it_can_play() {
    std::thread::scope(|scope| {
        for most in [1, 2] {
            scope.spawn(move || {
                let bot = spec(&format!("never-closes --max-games {most}"));
                let output = check(&format!("{bot} {LIMITS} --quick"));
                let shown = out(&output);
                assert_eq!(found(&output), ["half-closed".to_owned()].into(), "{shown}");
                assert_eq!(output.status.code(), Some(0), "{shown}");
            });
        }
    });
}

/// Everything that can be found, from the program itself.
fn catalogue() -> Vec<Value> {
    events(&done(&Arena::new().run("check --list --format json")))
}

#[test]
fn every_finding_has_a_villain() {
    let known: BTreeSet<String> = catalogue()
        .iter()
        .map(|possible| possible["id"].as_str().unwrap().to_owned())
        .collect();
    let mut shown: BTreeSet<String> = Kind::all()
        .iter()
        .filter_map(|kind| kind.finding().map(str::to_owned))
        .collect();
    // No process can be unreachable: see the next test.
    shown.insert("unreachable".to_owned());
    assert_eq!(shown, known);
}

#[test]
fn a_bot_that_is_not_there_is_unreachable() {
    for spec in ["exec:./no-such-bot", "unix:/no/such/bot.sock"] {
        let output = check(spec);
        assert_eq!(found(&output), ["unreachable".to_owned()].into());
        assert_eq!(output.status.code(), Some(1));
    }
}

#[test]
fn a_game_that_is_asked_for_must_be_played() {
    let output = check(&format!("{} --game othello", spec("honest")));
    assert_eq!(found(&output), ["unsupported".to_owned()].into());
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn bots_of_the_house_are_fit() {
    for (bot, games) in [
        ("random", 4),
        ("uct?playouts=50", 1),
        ("weights?plies=1", 1),
        ("shanten", 1),
        ("ai1", 1),
    ] {
        let output = check(&format!("house:{bot} --games 120 --patience 5s --strict"));
        assert_eq!(output.status.code(), Some(0), "{bot}: {}", out(&output));
        assert_eq!(found(&output), BTreeSet::new(), "{bot}");
        let events = events(&out(&output));
        let stages = of_type(&events, "check_stage");
        let started = stages.iter().filter(|stage| stage["stage"] == "start");
        assert_eq!(started.count(), games, "{bot}");
        // All calls of a game are sent, whoever plays it.
        for stage in stages.iter().filter(|stage| stage["stage"] == "calls") {
            let calls = stage["calls"].as_object().unwrap();
            assert!(calls.values().all(|sent| sent != 0), "{bot}: {stage}");
        }
    }
}

#[test]
fn a_warning_is_a_fault_where_that_is_asked_for() {
    let line = format!("{} {LIMITS}", spec("nameless"));
    assert_eq!(check(&line).status.code(), Some(0));
    assert_eq!(check(&format!("{line} --strict")).status.code(), Some(1));
}

#[test]
fn what_is_no_bot_is_refused() {
    let refuses = |line: &str, says: &str| {
        refused(&Arena::new().run(&format!("check {line}")), says);
    };
    refuses("", "SPEC");
    refuses("./my_bot", "expected SPEC or NAME=SPEC");
    refuses("--list ./my_bot", "cannot be used with");
    refuses("house:random --game chess", "there is no game \"chess\"");
    refuses("house:uct --game othello", "does not play othello");
}

#[test]
fn people_read_it_on_eighty_columns() {
    let arena = Arena::new();
    let output = arena.run(&format!(
        "check {} {LIMITS} --records kept",
        spec("illegal")
    ));
    assert_eq!(output.status.code(), Some(1));
    let text = out(&output);
    // What comes from outside may be longer than a line.
    fits_eighty_columns(&text);
    for words in [
        "whole-games  fault",
        "fault illegal (connect-four)",
        "  skipped  ",
        "not fit to enter: 1 fault, 0 warnings",
        "kept/connect_four-",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    // They can be looked at and played again, from whichever seat.
    let kept = arena.records("kept");
    assert_eq!(kept.len(), 2);
    for (name, _) in kept {
        done(&arena.run(&format!("replay verify kept/{name}")));
    }
    fits_eighty_columns(&done(&arena.run("check --list")));
}

/// A folder for what is kept can be named again where nothing was.
#[test]
fn where_nothing_is_kept_the_folder_is_empty() {
    let arena = Arena::new();
    for _ in 0..2 {
        done(&arena.run("check house:random --game othello --quick --records kept"));
        assert_eq!(fs::read_dir(arena.path("kept")).unwrap().count(), 0);
    }
}

#[test]
fn a_check_that_is_refused_makes_no_folder() {
    let arena = Arena::new();
    for more in ["--game chess", "--seed ''", "--game mahjong"] {
        let line = format!("check house:weights?plies=1 --records kept {more}");
        assert_eq!(arena.run(&line).status.code(), Some(2), "{more}");
        assert!(!arena.path("kept").exists(), "{more}");
    }
}

/// Played to its end this would take an hour.
#[test]
fn a_check_that_nobody_reads_ends() {
    let arena = Arena::new();
    let mut check = arena
        .start("check house:random --game othello --games 1000000 --patience 1h --format json");
    drop(check.stdout.take());
    wait_until("the check ends", || check.try_wait().unwrap().is_some());
}

/// A folder for temporary files that is too deep for a socket, or can't be, is no bot's fault.
#[test]
fn the_folder_for_temporary_files_is_ours() {
    let arena = Arena::new();
    let deep = arena.path(&"deep".repeat(30));
    fs::create_dir(&deep).unwrap();
    for (temporary, code) in [(deep, 0), (arena.path("not there"), 3)] {
        for line in [
            "check house:random --game othello --quick",
            "match othello --bot house:random --bot other=house:random --rounds 1 --no-records",
        ] {
            let output = arena.command(line).env("TMPDIR", &temporary).output();
            let output = output.unwrap();
            let said = err(&output);
            assert_eq!(output.status.code(), Some(code), "{line}: {said}");
            assert_eq!(said.contains("(TMPDIR)"), code == 3, "{said}");
        }
    }
}

/// A slip that its author may have overlooked is told with the finding.
#[test]
fn a_file_that_is_no_program_is_named_with_what_runs_it() {
    let arena = Arena::new();
    fs::write(arena.path("bot.py"), "print()\n").unwrap();
    let output = arena.run("check exec:./bot.py");
    let text = out(&output);
    fits_eighty_columns(&text);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("hint ./bot.py is not an executable"),
        "{text}"
    );
    assert!(words.contains("use 'exec:python3 ./bot.py'"), "{text}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_missing_package_is_named_with_the_python_that_lacks_it() {
    let arena = Arena::new();
    fs::write(arena.path("bot.py"), "import no_such_package\n").unwrap();
    let text = out(&arena.run("check 'exec:python3 bot.py'"));
    fits_eighty_columns(&text);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let says = "hint python3 finds no module no_such_package: install it for that python";
    assert!(words.contains(says), "{text}");
}

/// What a check says of a bot that does not start, in one line.
fn said_of(arena: &Arena, spec: &str, variables: &[(&str, &Path)]) -> String {
    let mut check = arena.command(&format!("check '{spec}' --quick"));
    let output = check.envs(variables.iter().copied()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    let text = out(&output);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The folder below a home in which pip installs packages for the python of PATH.
fn user_packages(home: &Path) -> PathBuf {
    let code = "import sys; print(f'python{sys.version_info[0]}.{sys.version_info[1]}')";
    let output = Command::new("python3").args(["-c", code]).output().unwrap();
    let python = out(&output);
    let packages = home.join(".local/lib").join(python.trim());
    let packages = packages.join("site-packages");
    fs::create_dir_all(&packages).unwrap();
    packages
}

#[test]
fn a_kit_that_pip_has_installed_for_the_user_is_found() {
    for arena in [Arena::new(), Arena::new().without_walls()] {
        let home = arena.path("home");
        let kit = user_packages(&home).join("my_kit.py");
        fs::write(kit, "raise SystemExit('the kit was found')").unwrap();
        fs::write(arena.path("bot.py"), "import my_kit\n").unwrap();
        let said = said_of(&arena, "exec:python3 bot.py", &[("HOME", &home)]);
        assert!(said.contains("the kit was found"), "{said}");
        assert!(!said.contains("hint"), "{said}");
    }
}

#[test]
fn a_kit_in_a_folder_that_the_sandbox_does_not_show_is_named_with_the_way_out() {
    let arena = Arena::new();
    let (home, project) = (arena.path("home"), arena.path("project"));
    let line = user_packages(&home).join("__editable__.my_kit-1.pth");
    fs::create_dir(&project).unwrap();
    fs::write(line, project.to_str().unwrap()).unwrap();
    let kit = "raise SystemExit('the kit was found')";
    fs::write(project.join("my_kit.py"), kit).unwrap();
    fs::write(arena.path("bot.py"), "import my_kit\n").unwrap();
    let mut variables = vec![("HOME", &*home)];
    let said = said_of(&arena, "exec:python3 bot.py", &variables);
    let named = format!("PYTHONPATH={} arena", project.display());
    assert!(
        said.contains("hint my_kit is installed in editable mode"),
        "{said}"
    );
    assert!(
        said.replace(' ', "").contains(&named.replace(' ', "")),
        "{said}"
    );
    // That is the way out.
    variables.push(("PYTHONPATH", &project));
    let said = said_of(&arena, "exec:python3 bot.py", &variables);
    assert!(said.contains("the kit was found"), "{said}");
    // Above its own folder.
    let course = arena.path("course");
    fs::create_dir_all(course.join("mine")).unwrap();
    fs::rename(arena.path("bot.py"), course.join("mine/bot.py")).unwrap();
    fs::rename(project.join("my_kit.py"), course.join("my_kit.py")).unwrap();
    let said = said_of(&arena, "exec:python3 course/mine/bot.py", &variables[..1]);
    assert!(said.contains("hint my_kit is in "), "{said}");
    variables[1].1 = &course;
    let said = said_of(&arena, "exec:python3 course/mine/bot.py", &variables);
    assert!(said.contains("the kit was found"), "{said}");
}

/// A folder with a bot that lacks a module of its language, and a home.
struct Lacking {
    arena: Arena,
    spec: String,
    bot: &'static str,
}

impl Lacking {
    fn of(runtime: &str, bot: &'static str) -> Self {
        let arena = Arena::new();
        for folder in ["mine", "home"] {
            fs::create_dir(arena.path(folder)).unwrap();
        }
        let spec = format!("exec:{runtime} {bot}");
        Self { arena, spec, bot }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.arena.path(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        file
    }

    /// With this text, and this variable if it is not empty, the bot is told so.
    fn is_told(&self, text: &str, (variable, value): (&str, &str), expected: &str) {
        self.write(self.bot, text);
        let home = self.arena.path("home");
        let mut variables = vec![("HOME", &*home)];
        if !variable.is_empty() {
            variables.push((variable, Path::new(value)));
        }
        let said = said_of(&self.arena, &self.spec, &variables);
        // A path that is too long for a line is broken.
        let without_blanks = |text: &str| text.replace(' ', "");
        assert!(
            without_blanks(&said).contains(&without_blanks(expected)),
            "{expected}\n{said}"
        );
    }
}

/// No variable.
const NONE: (&str, &str) = ("", "");
const FOUND: &str = "the kit was found";

#[test]
fn a_package_that_node_lacks_is_named_with_what_mends_it() {
    let kit = format!("throw Error('{FOUND}')");
    for (bot, needs, needs_file) in [
        ("mine/bot.js", "require('my_kit')", "require('./my_kit.js')"),
        ("mine/bot.mjs", "import 'my_kit'", "import './my_kit.js'"),
    ] {
        let lacking = Lacking::of("node", bot);
        let install = "hint node finds no package my_kit: run npm install my_kit in the folder of";
        lacking.is_told(needs, NONE, install);
        let beside = lacking.write("mine/my_kit.js", &kit);
        let by_path = "does not look for my_kit in the folder of the bot's file: name it by its \
                       path, as './my_kit.js'";
        lacking.is_told(needs, NONE, by_path);
        lacking.is_told(needs_file, NONE, FOUND);
        fs::remove_file(beside).unwrap();
        // As `npm install ../kit` does it.
        lacking.write("kit/index.js", &kit);
        let target = lacking.arena.path("kit").canonicalize().unwrap();
        let packages = lacking.arena.path("mine/node_modules");
        fs::create_dir(&packages).unwrap();
        symlink(&target, packages.join("my_kit")).unwrap();
        let link = format!(
            "hint my_kit is a link to {}, which a sandbox",
            target.display()
        );
        lacking.is_told(needs, NONE, &link);
        fs::remove_file(packages.join("my_kit")).unwrap();
        fs::rename(&target, packages.join("my_kit")).unwrap();
        lacking.is_told(needs, NONE, FOUND);
    }
}

#[test]
fn a_file_that_ruby_lacks_is_named_with_what_mends_it() {
    let lacking = Lacking::of("ruby", "mine/bot.rb");
    let kit = format!("raise '{FOUND}'");
    let install = "hint ruby finds no file my_kit/a: install its gem for that ruby";
    lacking.is_told("require 'my_kit/a'", NONE, install);
    let gem = "home/.local/share/gem/ruby/9.9.0/gems/my_kit-1/lib";
    lacking.write(&format!("{gem}/my_kit/a.rb"), &kit);
    let other = format!("{gem} has one, which it does not read: install its gem");
    lacking.is_told("require 'my_kit/a'", NONE, &other);
    lacking.write("mine/my_kit/a.rb", &kit);
    let relative = "hint ruby does not look for my_kit/a in the folder of the bot's file: write \
                    require_relative 'my_kit/a'";
    lacking.is_told("require 'my_kit/a'", NONE, relative);
    lacking.is_told("require_relative 'my_kit/a'", NONE, FOUND);
    // In a folder that a sandbox does not show.
    lacking.write("other/a.rb", &kit);
    let elsewhere = "not in the folder of the bot's file: put it there, and write require_relative";
    lacking.is_told("require_relative '../other/a'", NONE, elsewhere);
}

#[test]
fn a_module_that_perl_lacks_is_named_with_what_mends_it() {
    let lacking = Lacking::of("perl", "mine/bot.pl");
    let kit = format!("die '{FOUND}';");
    let install = "hint perl finds no module My::Kit: install it for that perl";
    lacking.is_told("use My::Kit;", NONE, install);
    let file = lacking.write("home/perl5/lib/perl5/My/Kit.pm", &kit);
    let packages = file.ancestors().nth(2).unwrap().to_str().unwrap();
    let other = format!("{packages} has one, which it does not read: name that folder, as in");
    lacking.is_told("use My::Kit;", NONE, &other);
    lacking.is_told("use My::Kit;", NONE, &format!("PERL5LIB={packages} arena"));
    lacking.is_told("use My::Kit;", ("PERL5LIB", packages), FOUND);
    lacking.write("mine/My/Kit.pm", &kit);
    let library = "use FindBin; use lib $FindBin::Bin;";
    let beside = format!("in the folder of the bot's file: write {library} above");
    lacking.is_told("use My::Kit;", NONE, &beside);
    lacking.is_told(&format!("{library} use My::Kit;"), NONE, FOUND);
}

#[test]
fn a_module_that_lua_lacks_is_named_with_what_mends_it() {
    let lacking = Lacking::of("lua5.4", "mine/bot.lua");
    let kit = format!("error('{FOUND}')");
    let needs = "require 'my.kit'";
    let install = "hint lua5.4 finds no module my.kit: install it for that lua";
    lacking.is_told(needs, NONE, install);
    for (place, says) in [
        (
            "home/.luarocks/share/lua/5.4",
            "has one, which it does not read",
        ),
        (
            "mine",
            "hint lua does not look for my.kit in the folder of the bot's file",
        ),
    ] {
        lacking.write(&format!("{place}/my/kit.lua"), &kit);
        lacking.is_told(needs, NONE, says);
        let folder = lacking.arena.path(place);
        let templates = format!("{0}/?.lua;{0}/?/init.lua;;", folder.display());
        lacking.is_told(needs, NONE, &format!("LUA_PATH='{templates}' arena"));
        lacking.is_told(needs, ("LUA_PATH", &templates), FOUND);
    }
}

#[test]
fn a_first_line_that_names_no_program_is_named_with_the_way_out() {
    for arena in [Arena::new(), Arena::new().without_walls()] {
        for (text, expected) in [
            (
                "#!/bin/sh\r\nexit 3\r\n",
                r"ends in a carriage return, so that its interpreter would be /bin/sh",
            ),
            (
                "#!/usr/bin/env sh\r\nexit 3\r\n",
                "hint the first line of ./bot ends in a carriage return",
            ),
            (
                "#!/no/such/python3\n",
                "names the interpreter /no/such/python3, which is not there",
            ),
        ] {
            let bot = arena.path("bot");
            fs::write(&bot, text).unwrap();
            fs::set_permissions(&bot, fs::Permissions::from_mode(0o755)).unwrap();
            let said = said_of(&arena, "exec:./bot", &[]);
            assert!(said.contains(expected), "{said}");
            assert!(
                !said.contains("No such file or directory (os error"),
                "{said}"
            );
            let mends = said.contains("sed -i 's/");
            assert_eq!(mends, text.contains('\r'), "{said}");
            if mends {
                // What is to be typed mends it.
                let typed = r"sed -i 's/\r$//' ./bot";
                let mut shell = Command::new("sh");
                let mended = shell.args(["-c", typed]).current_dir(arena.path(""));
                assert!(mended.status().unwrap().success());
                let said = said_of(&arena, "exec:./bot", &[]);
                assert!(said.contains("exited with code 3"), "{said}");
            }
        }
    }
}

#[test]
fn a_file_that_may_be_executed_and_names_no_interpreter_is_told_so() {
    for arena in [Arena::new(), Arena::new().without_walls()] {
        let bot = arena.path("bot.py");
        fs::write(&bot, "\u{feff}#!/usr/bin/env python3\nimport os\n").unwrap();
        fs::set_permissions(&bot, fs::Permissions::from_mode(0o755)).unwrap();
        let said = said_of(&arena, "exec:./bot.py", &[]);
        assert!(
            said.contains("hint ./bot.py may be executed, but"),
            "{said}"
        );
        assert!(said.contains("use 'exec:python3 ./bot.py'"), "{said}");
    }
}

/// A bot that nobody but this test has started.
struct Elsewhere(Child);

impl Elsewhere {
    fn start(arena: &Arena, words: [&str; 2]) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_arena"))
            .args(words)
            .env("BOT_LISTEN", listen(arena))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        wait_until("it listens", || arena.path("bot.sock").exists());
        Self(child)
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn listen(arena: &Arena) -> String {
    format!("unix:{}", arena.path("bot.sock").display())
}

#[test]
fn of_a_bot_that_runs_elsewhere_the_process_is_not_checked() {
    let arena = Arena::new();
    let _bot = Elsewhere::start(&arena, ["bot", "random"]);
    let line = format!("check {} --game connect-four --format json", listen(&arena));
    let output = arena.run(&line);
    assert_eq!(found(&output), BTreeSet::new());
    let results: BTreeMap<String, String> = of_type(&events(&out(&output)), "check_stage")
        .iter()
        .map(|stage| {
            let word = |key: &str| stage[key].as_str().unwrap().to_owned();
            (word("stage"), word("result"))
        })
        .collect();
    for (stage, result) in &results {
        let ours = ["memory", "stop", "output"].contains(&stage.as_str());
        let expected = if ours { "skipped" } else { "ok" };
        assert_eq!(result, expected, "{stage}");
    }
}

/// Nobody starts it again: that is what is wrong, whatever would be looked at next.
#[test]
fn a_bot_that_is_gone_is_unreachable_and_nothing_else() {
    let arena = Arena::new();
    let _bot = Elsewhere::start(&arena, ["villain", "exit-when-over"]);
    let line = format!(
        "check {} --game connect-four --game connect-four --start-limit 5s --format json",
        listen(&arena)
    );
    let output = arena.run(&line);
    let text = out(&output);
    assert_eq!(found(&output), ["unreachable".to_owned()].into(), "{text}");
    // A game that is named twice is looked at once.
    let events = events(&text);
    let starts = of_type(&events, "check_stage");
    let starts = starts.iter().filter(|stage| stage["stage"] == "start");
    assert_eq!(starts.count(), 1, "{text}");
}

/// It has left its group, so that only its environment tells whose it is.
#[test]
fn what_a_bot_leaves_behind_is_named_and_killed() {
    let arena = Arena::new();
    let script = format!(
        "setsid sleep 98765 &\nexec '{}' bot uct?playouts=20\n",
        env!("CARGO_BIN_EXE_arena")
    );
    fs::write(arena.path("bot.sh"), script).unwrap();
    let output = arena.run("check 'exec:sh bot.sh' --quick --format json");
    assert_eq!(found(&output), ["leftovers".to_owned()].into());
    let finding = &of_type(&events(&out(&output)), "finding")[0];
    let actual = finding["actual"].as_str().unwrap();
    assert!(actual.contains("sleep 98765"), "{actual}");
    let stages = of_type(&events(&out(&output)), "check_stage");
    let stop = stages
        .iter()
        .find(|stage| stage["stage"] == "stop")
        .unwrap();
    assert_eq!(stop["figures"]["left_processes"], 1, "{stop}");
    assert!(actual.contains("outside its process group"), "{actual}");
    wait_until("it is killed", || processes_with("98765").is_empty());
}

/// Memory that is not collected yet looks like memory that is never freed.
#[test]
fn growth_is_no_finding_where_a_runtime_collects_late() {
    let arena = Arena::new();
    // Any library will do: a runtime is known by the name.
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let libraries = maps.lines().filter_map(|line| line.split_once('/'));
    let mut libraries = libraries.map(|(_, path)| format!("/{path}"));
    let library = libraries
        .find(|path| path.contains("/libgcc_s.so"))
        .unwrap();
    fs::copy(library, arena.path("libjvm.so")).unwrap();
    let script = format!(
        "export LD_PRELOAD=$PWD/libjvm.so\nexec '{}' leaks\n",
        villain_program().display()
    );
    fs::write(arena.path("bot.sh"), script).unwrap();
    let line = with_limits("'exec:sh bot.sh'".to_owned(), Kind::Leaks);
    let output = arena.run(&format!("check {line} --format json"));
    let text = out(&output);
    assert_eq!(found(&output), BTreeSet::new(), "{text}");
    let events = events(&text);
    let stages = of_type(&events, "check_stage");
    let memory = stages
        .iter()
        .find(|stage| stage["stage"] == "memory")
        .unwrap();
    assert_eq!(memory["skipped"], "heap_not_collected", "{memory}");
    let grown = |figure: &str| memory["figures"][figure].as_u64().unwrap();
    assert!(grown("last_bytes") > grown("first_bytes"), "{memory}");
}

#[test]
fn a_check_that_is_stopped_leaves_nothing_behind() {
    let arena = Arena::new();
    let name = format!("stopped-{}", std::process::id());
    let bot = spec(&format!("clockless --name {name}"));
    let mut running = arena.start(&format!("check {bot}"));
    wait_until("the bot runs", || !processes_with(&name).is_empty());
    kill(Pid::from_raw(running.id() as i32), Signal::SIGINT).unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(130));
    wait_until("nothing is left", || processes_with(&name).is_empty());
}

#[test]
fn the_page_has_every_finding() {
    let page =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/check.md")).unwrap();
    let rows: Vec<String> = catalogue()
        .iter()
        .map(|possible| {
            let word = |key: &str| possible[key].as_str().unwrap().to_owned();
            format!(
                "| `{}` | {} | {} | {} |",
                word("id"),
                word("severity"),
                word("expected"),
                word("fix")
            )
        })
        .collect();
    let (_, table) = page.split_once("\n## What can be found\n").unwrap();
    let there: Vec<&str> = table
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    assert_eq!(there, rows, "the table should be:\n{}", rows.join("\n"));
}
