//! The languages whose kits `cargo xtask test` builds, by what `arena bots new` writes.

use std::process::Command;

use arena_build::{BuildLimits, Built, FaultKind, Language};
use referee_bots::{archive::unpack_archive, machine_label};

use crate::{
    common::{build_in, fault, kits, sandbox},
    is_built, text,
};

/// A file of what `arena bots new` writes for Connect Four.
fn template(path: &str) -> String {
    let text = text(&format!("arena/cli/templates/{path}"));
    text.replace("{{name}}", "fresh")
        .replace("{{kit}}", "/srv/kit")
}

/// Builds files for a game with all kits.
fn built(game: &str, files: &[(&str, &str)]) -> Built {
    let built = build_in(sandbox(), files, game, &kits(), &BuildLimits::default());
    built.unwrap_or_else(|error| match error {
        arena_build::BuildError::Fault(fault) => panic!("{fault}\n{}", fault.log),
        other => panic!("{other}"),
    })
}

#[test]
fn a_brain_is_built_into_a_bot() {
    let machine = machine_label();
    for example in ["counting", "distance", "first"] {
        let brain = text(&format!("bots/adapters/brain/examples/{example}/brain.cpp"));
        let built = built("mahjong", &[("brain/brain.cpp", &brain)]);
        is_built(&built, Language::Brain, "exec:./bot", &[&machine], &["bot"]);
    }
    let none = build_in(
        sandbox(),
        &[("brain.cpp", "int x;")],
        "mahjong",
        &kits(),
        &BuildLimits::default(),
    );
    fault(
        none,
        FaultKind::CompileError,
        "your brain.cpp has no `class MyBrain",
    );
}

#[test]
fn a_bot_in_cpp_is_built() {
    let files = [
        "main.cpp",
        "connect_four/bot.hpp",
        "connect_four/bot_test.cpp",
        "CMakeLists.txt",
    ];
    let texts = files.map(|file| (file, template(&format!("cpp/{file}"))));
    let files: Vec<(&str, &str)> = texts
        .iter()
        .map(|(name, text)| (name.trim_start_matches("connect_four/"), &**text))
        .collect();
    let built = built("connect_four", &files);
    let machine = machine_label();
    is_built(&built, Language::Cpp, "exec:./bot", &[&machine], &["bot"]);
}

#[test]
fn a_bot_in_go_is_built() {
    let (bot, test) = (
        template("go/connect_four/bot.go"),
        template("go/connect_four/bot_test.go"),
    );
    let module = template("go/go.mod");
    let files = [
        ("go.mod", &*module),
        ("bot.go", &bot),
        ("bot_test.go", &test),
    ];
    let built = built("connect_four", &files);
    let machine = machine_label();
    is_built(&built, Language::Go, "exec:./bot", &[&machine], &["bot"]);
}

#[test]
fn a_bot_in_java_is_built() {
    let (bot, test) = (
        template("java/connect_four/MyBot.java"),
        template("java/connect_four/MyBotTest.java"),
    );
    let files = [
        ("src/main/java/MyBot.java", &*bot),
        ("src/test/java/MyBotTest.java", &test),
    ];
    let built = built("connect_four", &files);
    let inner = "exec:java '-XX:SharedArchiveFile=bot.jsa' -cp bot.jar:kit.jar MyBot";
    is_built(
        &built,
        Language::Java,
        inner,
        &["java"],
        &["bot.jar", "kit.jar", "bot.jsa"],
    );
    // In another folder than the one in which it was made, Java takes the archive of classes.
    let folder = tempfile::tempdir().unwrap();
    let bot = folder.path().join("bot");
    unpack_archive(&built.packed.bytes, &built.packed.hash, &bot).unwrap();
    let mut java = Command::new("java");
    java.args(["-Xshare:on", "-XX:SharedArchiveFile=bot.jsa"]);
    java.args(["-cp", "bot.jar:kit.jar", "-version"]);
    let said = java.current_dir(&bot).output().unwrap();
    assert!(said.status.success(), "{said:?}");
}

#[test]
fn a_bot_in_typescript_is_built() {
    let (main, bot) = (
        template("typescript/main.ts"),
        template("typescript/connect_four/bot.ts"),
    );
    let test = template("typescript/connect_four/bot.test.ts");
    let package = template("typescript/package.json");
    let files = [
        ("package.json", &*package),
        ("src/main.ts", &main),
        ("src/bot.ts", &bot),
        ("src/bot.test.ts", &test),
    ];
    let built = built("connect_four", &files);
    let files = [
        "dist/main.js",
        "dist/bot.js",
        "node_modules/bot-arena/dist/index.js",
    ];
    is_built(
        &built,
        Language::TypeScript,
        "exec:node dist/main.js",
        &["node"],
        &files,
    );
}

#[test]
fn a_bot_in_javascript_has_its_kit() {
    let bot = text("bots/typescript/samples/careful.js");
    let files = [
        ("package.json", "{\"type\": \"module\"}"),
        ("bot.js", &*bot),
    ];
    let built = built("connect_four", &files);
    let files = ["bot.js", "node_modules/bot-arena/dist/index.js"];
    is_built(
        &built,
        Language::JavaScript,
        "exec:node bot.js",
        &["node"],
        &files,
    );
}

#[test]
fn a_bot_in_rust_is_built_and_its_build_script_is_not_run() {
    let main = template("rust/connect_four/main.rs");
    let manifest = template("rust/Cargo.toml");
    let script = "fn main() { panic!(\"the build script runs\"); }";
    let files = [
        ("Cargo.toml", &*manifest),
        ("src/main.rs", &main),
        ("build.rs", script),
    ];
    let built = built("connect_four", &files);
    let machine = machine_label();
    is_built(&built, Language::Rust, "exec:./bot", &[&machine], &["bot"]);
    assert!(
        !built.log.contains("the build script runs"),
        "{}",
        built.log
    );
}
