//! Bots that are registered with their files, and play when these are gone.

use std::{fs, path::Path, process::Command, process::Output};

use sqlx::{Connection as _, Executor as _};

use crate::vocabulary::*;

/// An arena with a cache of its own, in which files are read-only.
struct Packing(Arena);

impl Packing {
    fn new() -> Self {
        let arena = Self(Arena::new());
        fs::create_dir(arena.0.path("bots")).unwrap();
        arena
    }

    fn command(&self, line: &str) -> Command {
        let mut command = self.0.command(line);
        command.env("ARENA_CACHE", self.0.path("cache"));
        command
    }

    fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    /// The sample strategy, compiled as its author would.
    fn compile(&self, file: &str) {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let compiled = Command::new("g++")
            .args(["-shared", "-fPIC", "-O2", "-o"])
            .arg(self.0.path(file))
            .arg(root.join("bots/adapters/strategy/examples/careful.cpp"))
            .status()
            .expect("g++ is installed");
        assert!(compiled.success());
    }

    /// A small tournament of these bots.
    fn cup(&self, bots: &[&str]) {
        let mut text = "game = \"connect-four\"\nshape = \"round-robin\"\ndeals = 1\n".to_owned();
        for bot in bots {
            text += &format!("[[bots]]\nbot = \"{bot}\"\n");
        }
        fs::write(self.0.path("cup.toml"), text).unwrap();
    }

    /// Changes the store behind the arena's back.
    fn change(&self, statement: &str) {
        let url = format!("sqlite://{}", self.0.path("arena.sqlite").display());
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            sqlx::any::install_default_drivers();
            let mut session = sqlx::AnyConnection::connect(&url).await.unwrap();
            let statement = sqlx::raw_sql(sqlx::AssertSqlSafe(statement.to_owned()));
            session.execute(statement).await.unwrap();
            session.close().await.unwrap();
        });
    }
}

impl Drop for Packing {
    fn drop(&mut self) {
        let folder = self.0.path(".");
        let _ = Command::new("chmod")
            .args(["-R", "u+w"])
            .arg(folder)
            .status();
    }
}

#[test]
fn a_strategy_plays_when_its_folder_is_gone() {
    let arena = Packing::new();
    arena.compile("bots/my.so");
    fs::create_dir(arena.0.path("bots/.git")).unwrap();
    let said = done(&arena.run("bots add one --pack --bot strategy:./bots/my.so?clock-scale=1"));
    let said = said.replace("\n    ", " ");
    let kind = format!("it needs linux-{}", std::env::consts::ARCH);
    for says in [
        "packed 1 file",
        &kind,
        "one version 1 is registered for connect-four",
    ] {
        assert!(said.contains(says), "{said}");
    }
    let line = "bots add all --dir bots --bot strategy:my.so --needs gpu";
    let said = done(&arena.run(line)).replace("\n    ", " ");
    assert!(said.contains("left out: .git"), "{said}");
    assert!(said.contains("it needs gpu, linux-"), "{said}");
    fs::remove_dir_all(arena.0.path("bots")).unwrap();
    // The cache is only a cache.
    let _ = Command::new("chmod")
        .args(["-R", "u+w"])
        .arg(arena.0.path("cache"))
        .status();
    fs::remove_dir_all(arena.0.path("cache")).unwrap();

    let bots = events(&done(&arena.run("bots list --format json")));
    let hash = bots[0]["archive"]["hash"].as_str().unwrap().to_owned();
    // The same files are the same archive, however they were packed.
    assert_eq!(bots[1]["archive"]["hash"], *hash);
    assert!(
        bots[0]["archive"]["packed_by"]
            .as_str()
            .unwrap()
            .contains('@')
    );
    let list = done(&arena.run("bots list"));
    fits_eighty_columns(&list);
    assert!(list.contains(&hash[..12]) && list.contains("KiB"), "{list}");

    arena.cup(&["one", "all", "house:random"]);
    done(&arena.run("tournament run cup.toml"));
    assert!(done(&arena.run("tournament verify cup")).contains("proved"));
    let export = done(&arena.run("tournament export cup"));
    let identity = format!("sha256:{hash}");
    assert!(export.matches(&identity).count() > 2, "every record has it");
    assert!(export.contains("built-in "));
    done(&arena.run("bots check one"));
}

#[test]
fn a_bot_that_has_changed_is_told_when_it_goes_on_and_found_by_verify() {
    let arena = Packing::new();
    arena.compile("bots/my.so");
    arena.cup(&["strategy:bots/my.so", "house:random"]);
    let output = arena.run("tournament run cup.toml");
    done(&output);
    assert!(!err(&output).contains("has changed"), "{}", err(&output));
    assert!(done(&arena.run("tournament verify cup")).contains("proved"));
    // As if it had been stopped before its last game.
    arena.change("UPDATE tournaments SET state = 'stopped', over_ms = NULL");
    for table in [
        "games WHERE seating = 1",
        "records WHERE seating = 1",
        "groups",
    ] {
        arena.change(&format!("DELETE FROM {table}"));
    }
    let mut object = fs::read(arena.0.path("bots/my.so")).unwrap();
    object.extend(b"another");
    fs::write(arena.0.path("bots/my.so"), object).unwrap();
    let output = arena.run("tournament resume cup");
    done(&output);
    let warned = err(&output);
    assert!(warned.contains("my has changed since the tournament was made: it was sha256:"));
    let output = arena.run("tournament verify cup --format json");
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    let faults = events(&out(&output))[0]["faults"].clone();
    let wrong: Vec<_> = faults.as_array().unwrap().iter().collect();
    let of_kind: Vec<_> = wrong
        .iter()
        .filter(|fault| fault["kind"] == "wrong_identity")
        .collect();
    assert_eq!(of_kind.len(), 1, "{faults}");
    assert_eq!(of_kind[0]["seating"], 1);
    assert_ne!(of_kind[0]["entered"], of_kind[0]["played"]);
    let output = arena.run("tournament verify cup");
    assert!(
        out(&output).contains("is another one than entered"),
        "{}",
        out(&output)
    );
}

#[test]
fn what_can_t_be_packed_is_refused() {
    let arena = Packing::new();
    fs::write(arena.0.path("bots/my.so"), "no object").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", arena.0.path("bots/secret")).unwrap();
    for (line, says) in [
        (
            "--dir bots --run 'python3 my_bot.py'",
            "bots/secret: it is a link to an absolute path",
        ),
        ("--dir bots --run /usr/bin/python3", "found an absolute one"),
        ("--dir none --run ./bot", "none: expected a folder"),
        ("--dir bots --bot house:random", "can't be in an archive"),
        ("--dir bots --bot strategy:my.so", "my.so"),
        (
            "--dir bots --run ./bot --needs 'a b'",
            "--needs a b: expected",
        ),
        (
            "--bot house:random --needs gpu",
            "--needs is for bots that are packed",
        ),
        ("--pack --bot house:random", "names no file"),
        ("--run ./bot", "--dir"),
        ("--dir bots", "--bot"),
    ] {
        refused(&arena.run(&format!("bots add x {line}")), says);
    }
    let hash = "0".repeat(64);
    let bot = format!("packed:{hash}:exec:./bot");
    refused(
        &arena.run(&format!(
            "match connect-four --bot a={bot} --bot b=house:random"
        )),
        "a bot that is packed is in a store",
    );
    arena.cup(&[&bot, "house:random"]);
    refused(
        &arena.run("tournament run cup.toml"),
        "archive 000000000000 is not in",
    );
    assert!(!arena.0.path("cache").join(hash).exists());
}

/// With the kit for Python, which `cargo xtask test` installs.
mod languages {
    use std::env;

    use super::*;
    use crate::languages::built;

    /// A bot that says what it sees of the machine, and then plays.
    const CURIOUS: &str = r#"
import os, sys
from bot_arena import Bot, ConnectFourBot, GetPoint, Point
from helper import first

here = os.getcwd()
print("here", sorted(os.listdir(here)), file=sys.stderr)
cache = os.path.dirname(os.path.dirname(here))
for folder in sorted(os.listdir(cache)):
    try:
        seen = os.listdir(os.path.join(cache, folder, "files"))
    except OSError:
        continue
    print("sees", folder, sorted(seen), file=sys.stderr)
for name in ("more", "my_bot.py"):
    try:
        open(os.path.join(here, name), "a").write("x")
        print("wrote", name, file=sys.stderr)
    except OSError as error:
        print("refused", name, file=sys.stderr)
print("done", file=sys.stderr, flush=True)


class Curious(ConnectFourBot):
    def get_point(self, ask: GetPoint) -> Point:
        return first(ask)


if __name__ == "__main__":
    Bot("curious", "1.0").connect_four(Curious).main()
"#;

    const HELPER: &str = "\
from bot_arena import Point


def first(ask):
    column = next(column for column, top in enumerate(ask.top) if top > 0)
    return Point(ask.top[column] - 1, column)
";

    #[test]
    fn a_python_bot_plays_when_its_folder_is_gone_and_sees_its_own_archive_only() {
        let arena = Packing::new();
        let path = format!(
            "{}/python/bin:{}",
            built().display(),
            env::var("PATH").unwrap()
        );
        let run = |line: &str| arena.command(line).env("PATH", &path).output().unwrap();
        fs::write(arena.0.path("bots/my_bot.py"), CURIOUS).unwrap();
        fs::write(arena.0.path("bots/helper.py"), HELPER).unwrap();
        let said = done(&run(
            "bots add curious --dir bots --run 'python3 my_bot.py' --game connect-four",
        ));
        assert!(said.contains("it needs python3"), "{said}");
        arena.compile("bots/my.so");
        done(&run("bots add careful --pack --bot strategy:bots/my.so"));
        fs::remove_dir_all(arena.0.path("bots")).unwrap();
        arena.cup(&["curious", "careful", "house:random"]);
        let output = run("tournament run cup.toml --logs logs");
        done(&output);
        assert!(done(&run("tournament verify cup")).contains("proved"));
        // Both are in the cache.
        let archives = fs::read_dir(arena.0.path("cache")).unwrap();
        let names = archives.map(|entry| entry.unwrap().file_name());
        assert_eq!(names.filter(|name| name.len() == 64).count(), 2);
        let logs = fs::read_dir(arena.0.path("logs")).unwrap();
        let mut logs = logs.map(|entry| entry.unwrap().path());
        let of_it = |log: &std::path::PathBuf| log.to_string_lossy().contains("/curious");
        let log = fs::read_to_string(logs.find(of_it).unwrap()).unwrap();
        assert!(log.contains("here ['helper.py', 'my_bot.py']"), "{log}");
        assert!(log.contains("done"), "{log}");
        assert_eq!(log.matches("sees ").count(), 1, "{log}");
        assert!(
            log.contains("refused more") && log.contains("refused my_bot.py"),
            "{log}"
        );
    }
}
