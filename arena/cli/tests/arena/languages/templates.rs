//! `arena bots new`: what it writes is whole, and plays.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{Arena, built, done, err, exec, out, refused, root};

/// The languages and a game for each, so that every game is there.
const BOTS: [(&str, &str); 7] = [
    ("rust", "othello"),
    ("python", "connect-four"),
    ("cpp", "big-two"),
    ("typescript", "mahjong"),
    ("go", "connect-four"),
    ("java", "othello"),
    ("stdio", "big-two"),
];

/// Writes a bot, and gives its folder.
fn written(arena: &Arena, language: &str, game: &str) -> PathBuf {
    let name = format!("{language}-{game}");
    let kit = match language {
        "stdio" => String::new(),
        "rust" => kit("kit"),
        _ => kit(language),
    };
    let line = format!("bots new {name} {game} --lang {language}{kit}");
    let said = done(&arena.run(&line));
    assert!(said.contains(&format!("cd {name}\n")), "{said}");
    arena.path(&name)
}

fn kit(name: &str) -> String {
    let path = root().join("bots").join(name);
    format!(" --kit '{}'", path.display())
}

/// Runs it in a folder; it must end well.
fn succeeds(command: &mut Command, folder: &Path) {
    let output = command.current_dir(folder).output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}{}",
        out(&output),
        err(&output)
    );
}

/// The bot in this folder, started so, is fit for its game.
fn is_fit(arena: &Arena, folder: &Path, game: &str, spec: &str) {
    let mut check = arena.command(&format!("check \"{spec}\" --quick --game {game}"));
    succeeds(&mut check, folder);
}

#[test]
fn a_folder_of_every_language_is_whole() {
    let arena = Arena::new();
    for (language, game) in BOTS {
        let folder = written(&arena, language, game);
        for file in ["README.md", "Dockerfile", ".dockerignore", ".gitignore"] {
            assert!(folder.join(file).is_file(), "{language}: {file}");
        }
        let makefile = fs::read_to_string(folder.join("Makefile")).unwrap();
        let opponents = makefile.matches("house:random").count();
        let expected = if game == "big-two" { 3 } else { 1 };
        assert_eq!(opponents, expected, "{makefile}");
        let words = ["-n", "test", "check", "play"];
        succeeds(Command::new("make").args(words), &folder);
    }
    // Nothing else is left beside them.
    let made = fs::read_dir(arena.path("")).unwrap().count();
    assert_eq!(made, BOTS.len());
}

#[test]
fn a_folder_is_not_written_where_it_should_not_be() {
    let arena = Arena::new();
    let new = |words: &str| arena.run(&format!("bots new {words}"));
    fs::create_dir(arena.path("mine")).unwrap();
    fs::write(arena.path("mine/bot.py"), "").unwrap();
    refused(&new("mine othello --lang stdio"), "is there already");
    assert_eq!(fs::read(arena.path("mine/bot.py")).unwrap(), b"");
    refused(&new("a/b othello --lang stdio"), "a name is");
    refused(&new("b chess --lang stdio"), "there is no game");
    refused(&new("b othello --lang go --kit ."), "expected --kit PATH");
    refused(&new("b othello --lang stdio --kit ."), "has no kit");
    fs::create_dir(arena.path("$HOME")).unwrap();
    fs::write(arena.path("$HOME/go.mod"), "").unwrap();
    refused(
        &new("b othello --lang go --kit '$HOME'"),
        "no other characters",
    );
    assert!(!arena.path("b").exists());
    fs::create_dir(arena.path("empty")).unwrap();
    done(&new("empty othello --lang stdio"));
    assert!(arena.path("empty/bot.py").is_file());
}

#[test]
fn bots_in_python_are_fit() {
    let arena = Arena::new();
    let python = built().join("python/bin/python3");
    for game in ["connect-four", "othello", "mahjong", "big-two"] {
        let folder = written(&arena, "python", game);
        succeeds(Command::new(&python).args(["-m", "unittest"]), &folder);
        let spec = format!("{} bot.py", exec(std::slice::from_ref(&python)));
        is_fit(&arena, &folder, game, &spec);
    }
}

#[test]
fn bots_of_lines_are_fit() {
    let arena = Arena::new();
    for game in ["connect-four", "othello", "mahjong", "big-two"] {
        let folder = written(&arena, "stdio", game);
        succeeds(Command::new("make").arg("test"), &folder);
        is_fit(&arena, &folder, game, "stdio:python3 bot.py");
    }
}

#[test]
fn a_bot_in_rust_is_fit() {
    let arena = Arena::new();
    let folder = written(&arena, "rust", "othello");
    let built = Path::new(env!("CARGO_BIN_EXE_arena"));
    let kit = built.with_file_name("libbot_kit.rlib");
    let dependencies = built.with_file_name("deps");
    let compile = |words: &[&str]| {
        let mut rustc = Command::new("rustc");
        rustc
            .args(["--edition", "2024", "src/main.rs"])
            .args(words)
            .arg(format!("--extern=bot_kit={}", kit.display()))
            .arg(format!("-Ldependency={}", dependencies.display()));
        succeeds(&mut rustc, &folder);
    };
    compile(&["--test", "-o", "tests"]);
    succeeds(&mut Command::new(folder.join("tests")), &folder);
    compile(&["-o", "bot"]);
    is_fit(&arena, &folder, "othello", "exec:./bot");
}

#[test]
fn the_test_of_a_bot_in_cpp_passes() {
    let arena = Arena::new();
    let folder = written(&arena, "cpp", "big-two");
    let kit = built().join("cpp/cpp");
    let mut compiler = Command::new("g++");
    compiler
        .args(["-std=c++17", "-Wall", "-Wextra", "-Werror"])
        .arg("-I")
        .arg(root().join("bots/cpp/include"))
        .arg("-isystem")
        .arg(kit.join("stubs"))
        .args(["-o", "tests", "bot_test.cpp"])
        .arg(kit.join("libbot_arena_kit.a"))
        .args(["-lprotobuf", "-pthread"]);
    succeeds(&mut compiler, &folder);
    succeeds(&mut Command::new(folder.join("tests")), &folder);
}

#[test]
fn a_bot_in_typescript_is_fit() {
    let arena = Arena::new();
    let folder = written(&arena, "typescript", "mahjong");
    let kit = root().join("bots/typescript");
    let mut copy = Command::new("cp");
    copy.arg("-r").arg(kit.join("samples/node_modules"));
    succeeds(copy.arg("."), &folder);
    let mut compiler = Command::new(kit.join("node_modules/.bin/tsc"));
    succeeds(&mut compiler, &folder);
    let words = ["--test", "dist/bot.test.js"];
    succeeds(Command::new("node").args(words), &folder);
    is_fit(&arena, &folder, "mahjong", "exec:node dist/main.js");
}

#[test]
fn a_bot_in_java_is_fit() {
    let arena = Arena::new();
    let folder = written(&arena, "java", "othello");
    // It has the kit in it.
    let kit = built().join("java/random.jar");
    let mut compiler = Command::new("javac");
    compiler.args(["-Xlint:all", "-Werror", "-d", "classes", "-cp"]);
    compiler.arg(&kit).arg("src/main/java/MyBot.java");
    succeeds(&mut compiler, &folder);
    let spec = format!("exec:java -cp '{}':classes MyBot", kit.display());
    is_fit(&arena, &folder, "othello", &spec);
}
