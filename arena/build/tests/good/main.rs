//! Entries that are built as their authors mean them, and the SPECs that start them.
#![allow(clippy::print_stderr, clippy::disallowed_methods, reason = "a test")]
#![expect(clippy::unwrap_used, reason = "a failure is the test's")]

#[path = "../common/mod.rs"]
mod common;

mod languages;

use std::{fs, path::Path};

use arena_build::{BuildLimits, Built, FaultKind, Language};
use common::{build_files, build_in, checkout, fault, no_sandbox, sandbox_of, system, tight};
use referee_bots::{PackedSpec, archive::unpack_archive, machine_label};
use referee_sandbox::Outer;

fn text(path: &str) -> String {
    fs::read_to_string(checkout().join(path)).unwrap()
}

/// Builds files for a game with what the system has.
fn built(game: &str, files: &[(&str, &str)]) -> Built {
    let sandbox = common::sandbox();
    let limits = BuildLimits::default();
    build_in(sandbox, files, game, &system(), &limits).unwrap()
}

/// Checks what a bot is started by, and which files it has.
#[track_caller]
fn is_built(built: &Built, language: Language, inner: &str, needs: &[&str], files: &[&str]) {
    assert_eq!(built.language, language);
    assert_eq!(built.spec.inner, inner);
    assert_eq!(built.spec.needs, needs);
    // It is a SPEC that is read again, and names its archive.
    let read: PackedSpec = built.spec.to_string().parse().unwrap();
    assert_eq!((&read, read.hash), (&built.spec, built.packed.hash));
    let folder = tempfile::tempdir().unwrap();
    let bot = folder.path().join("bot");
    unpack_archive(&built.packed.bytes, &built.packed.hash, &bot).unwrap();
    let missing = files.iter().filter(|file| !bot.join(file).is_file());
    assert_eq!(missing.count(), 0, "{files:?}\n{}", built.log);
}

#[test]
fn a_strategy_of_one_file_is_compiled() {
    let careful = text("bots/adapters/strategy/examples/careful.cpp");
    let machine = machine_label();
    for name in ["careful.cpp", "Strategy/Strategy.cpp"] {
        let built = built("connect_four", &[(name, &careful)]);
        is_built(
            &built,
            Language::Strategy,
            "strategy:strategy.so",
            &[&machine],
            &["strategy.so"],
        );
    }
    let files = [("careful.cpp", &*careful)];
    let other = build_in(common::sandbox(), &files, "othello", &system(), &tight());
    fault(
        other,
        FaultKind::WrongGame,
        "a strategy plays connect_four, not othello",
    );
}

#[test]
fn a_strategy_of_several_files_in_gbk_is_compiled() {
    // The comment ends in a byte that reads as a backslash, which would swallow the next line.
    let header = b"struct Point { int x, y; };\n// \xd5\x5c\nint column();\n";
    let main = "\
#include \"Point.h\"
extern \"C\" Point *getPoint(int, int, const int *top, const int *, int, int, int, int) {
    return new Point{top[column()] - 1, column()};
}
extern \"C\" void clearPoint(Point *point) { delete point; }
";
    let mut tar = tar::Builder::new(Vec::new());
    for (path, bytes) in [
        ("Strategy/Point.h", &header[..]),
        ("Strategy/Strategy.cpp", main.as_bytes()),
        ("Strategy/column.cc", b"int column() { return 3; }\n"),
    ] {
        let mut header = common::header(tar::EntryType::Regular, bytes.len() as u64);
        tar.append_data(&mut header, path, bytes).unwrap();
    }
    let upload = tar.into_inner().unwrap();
    let limits = BuildLimits::default();
    let sources = arena_build::Sources::read("Strategy.tar", &upload, &limits).unwrap();
    let cancel = std::sync::atomic::AtomicBool::new(false);
    let built = arena_build::build(
        &sources,
        "connect_four",
        &system(),
        common::sandbox(),
        &limits,
        &cancel,
    );
    let built = built.unwrap();
    assert_eq!(built.spec.inner, "strategy:strategy.so");
}

#[test]
fn the_same_sources_are_the_same_bot() {
    let careful = text("bots/adapters/strategy/examples/careful.cpp");
    let files = [("careful.cpp", &*careful)];
    let [one, other] = [0, 1].map(|_| built("connect_four", &files));
    assert_eq!(one.packed.hash, other.packed.hash);
}

#[test]
fn every_kind_of_sandbox_builds_the_same() {
    let careful = text("bots/adapters/strategy/examples/careful.cpp");
    let files = [("careful.cpp", &*careful)];
    let whole = built("connect_four", &files);
    for sandbox in [
        sandbox_of(Outer::Own),
        sandbox_of(Outer::None),
        no_sandbox(),
    ] {
        let limits = BuildLimits::default();
        let built = build_in(&sandbox, &files, "connect_four", &system(), &limits);
        let built = built.unwrap_or_else(|error| panic!("{}: {error}", sandbox.walls()));
        assert_eq!(built.packed.hash, whole.packed.hash, "{}", sandbox.walls());
    }
}

#[test]
fn a_program_in_python_is_checked_and_started_as_it_is_written() {
    let lines = text("bots/adapters/lines/samples/random_bot.py");
    let one = built("othello", &[("random_bot.py", &lines)]);
    let files = ["random_bot.py"];
    is_built(
        &one,
        Language::Python,
        "stdio:python3 random_bot.py",
        &["python3"],
        &files,
    );
    let kit = text("bots/python/samples/careful.py");
    let files = [
        ("my/bot.py", &*kit),
        ("my/data/book.txt", "d3"),
        ("my/util.py", ""),
    ];
    let by_kit = built("othello", &files);
    let files = ["bot.py", "data/book.txt"];
    is_built(
        &by_kit,
        Language::Python,
        "exec:python3 bot.py",
        &["python3"],
        &files,
    );
    let wrong = [("bot.py", "def f(:\n    pass\n")];
    let wrong = build_files(&wrong, &system(), &tight());
    fault(
        wrong,
        FaultKind::CompileError,
        "SyntaxError: invalid syntax",
    );
    let which = [("a.py", ""), ("b.py", "")];
    let which = build_files(&which, &system(), &tight());
    fault(which, FaultKind::NoRecipe, "bot.py or main.py");
}

#[test]
fn a_program_in_javascript_is_checked_and_started() {
    let one = built("othello", &[("main.mjs", "console.log(1);")]);
    is_built(
        &one,
        Language::JavaScript,
        "stdio:node main.mjs",
        &["node"],
        &["main.mjs"],
    );
    let wrong = build_files(&[("main.js", "let = ;")], &system(), &tight());
    fault(wrong, FaultKind::CompileError, "SyntaxError");
}

#[test]
fn a_script_and_a_command_speak_lines() {
    let script = built("othello", &[("bot", "#!/usr/bin/env python3\nprint(1)\n")]);
    is_built(
        &script,
        Language::Stdio,
        "stdio:./bot",
        &["python3"],
        &["bot"],
    );
    let c = text("bots/adapters/lines/samples/random_bot.c");
    let settings = "build = \"cc -O2 -o bot random_bot.c\"\nrun = \"./bot --fast\"\n";
    let files = [("random_bot.c", &*c), ("entry.toml", settings)];
    let compiled = built("othello", &files);
    let machine = machine_label();
    is_built(
        &compiled,
        Language::Stdio,
        "stdio:./bot --fast",
        &[&machine],
        &["bot"],
    );
    let no_script = build_files(&[("bot", "\x7fELF")], &system(), &tight());
    fault(
        no_script,
        FaultKind::NoRecipe,
        "a script bot that begins with #!",
    );
}

#[test]
fn settings_say_what_is_not_seen() {
    let settings = "language = \"python\"\nrun = \"python3 src/play.py --depth 3\"\n";
    // Numbers that a sandbox would hide from a bot, since an arena's seed looks so.
    let seed = "7".repeat(64);
    let files = [
        ("entry.toml", settings),
        ("src/play.py", ""),
        ("x.ts", ""),
        ("seed", &*seed),
    ];
    let built = built("othello", &files);
    assert_eq!(built.packed.entries, 5);
    assert_eq!(built.spec.inner, "stdio:python3 src/play.py --depth 3");
    let nothing = build_files(&[("README.md", "hello")], &system(), &tight());
    let fault = fault(nothing, FaultKind::NoRecipe, "expected brain.cpp");
    assert!(fault.why.ends_with("found README.md"), "{fault}");
}

#[test]
fn a_compilers_error_is_told_with_its_line() {
    let careful = text("bots/adapters/strategy/examples/careful.cpp");
    let broken = format!("int x = nothing;\n{careful}");
    let built = build_files(&[("my.cpp", &broken)], &system(), &tight());
    let fault = fault(built, FaultKind::CompileError, "./my.cpp:1:9: error:");
    assert!(fault.why.contains("./my.cpp:1:9: error:"), "{fault}");
    assert!(Path::new(&fault.why).is_relative());
}

#[test]
fn what_the_image_lacks_is_not_the_authors_fault() {
    let nothing = arena_build::Toolchain {
        path: vec!["/bin".into(), "/usr/lib".into()],
        ..arena_build::Toolchain::default()
    };
    let error = build_files(&[("brain.cpp", "")], &nothing, &tight())
        .map(drop)
        .unwrap_err();
    assert!(
        error.to_string().contains("a brain plays mahjong"),
        "{error}"
    );
    for (name, lacks) in [
        ("bot.go", "kit for Go"),
        ("Bot.java", "kit for Java"),
        ("bot.ts", "kit for TypeScript"),
        ("main.rs", "kit for Rust"),
        ("main.cpp", "kit for C++"),
    ] {
        let error = build_files(&[(name, "")], &nothing, &tight())
            .map(drop)
            .unwrap_err();
        let expected = format!("System Error: this machine has no {lacks}");
        assert_eq!(error.to_string(), expected);
    }
    let nowhere = arena_build::Toolchain::default();
    let error = build_files(&[("bot.py", "")], &nowhere, &tight())
        .map(drop)
        .unwrap_err();
    assert!(error.to_string().contains("has no program sh"), "{error}");
}
