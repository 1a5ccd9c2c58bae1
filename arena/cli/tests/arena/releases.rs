//! What one downloads: the archive and the wheel of `cargo xtask release`, in a Debian that has Python and
//! nothing of Rust; and what the action for GitHub does with them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::{images::images, vocabulary::*};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of the release that `cargo xtask test` has packed of the programs that are tested.
fn release() -> PathBuf {
    let built = xtask_program();
    let folder = built.ancestors().nth(2).unwrap().join("images/release");
    assert!(
        folder.is_dir(),
        "{} is not there: `cargo xtask test` makes it, and `--skip releases::` leaves these tests out",
        folder.display()
    );
    folder
}

#[test]
fn archive_and_wheel_play_where_there_is_no_rust_and_no_network() {
    let mount = |from: &Path, to: &str| {
        let from = from.canonicalize().unwrap();
        format!("--volume={}:{to}:ro", from.display())
    };
    let release = mount(&release(), "/release");
    let scripts = mount(&root().join("deploy/release"), "/scripts");
    let said = images().run(&[
        "run",
        "--rm",
        "--network=none",
        &release,
        &scripts,
        "localhost/bot-arena/base",
        "/scripts/try.sh",
        "/release",
    ]);
    assert!(said.ends_with("== all is well"), "{said}");
}

#[test]
fn the_wheel_is_one_package_of_one_time() {
    let list = r#"
import sys, zipfile
[wheel] = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    assert archive.testzip() is None
    files = archive.infolist()
    assert len({file.date_time for file in files}) == 1
    names = [file.filename for file in files]
    tops = {name.split("/")[0].split("-")[0] for name in names}
    assert tops == {"bot_arena"}, tops
    modes = {file.filename: file.external_attr >> 16 & 0o777 for file in files}
    for program in "arena", "arena-serve":
        assert modes[f"bot_arena/_bin/{program}"] == 0o755, modes
    [record] = [name for name in names if name.endswith("/RECORD")]
    lines = archive.read(record).decode().splitlines()
    assert {line.split(",")[0] for line in lines} == set(names)
    assert all("sha256=" in line for line in lines if not line.startswith(record))
    [metadata] = [archive.read(name).decode() for name in names if name.endswith("/METADATA")]
    assert "Requires-Dist: grpcio<" in metadata and "Requires-Dist: protobuf<" in metadata
    assert "License-File: crates.txt" in metadata
"#;
    let wheels = fs::read_dir(release()).unwrap();
    let mut wheels = wheels.map(|entry| entry.unwrap().path());
    let is_wheel = |path: &PathBuf| path.extension().is_some_and(|end| end == "whl");
    let wheel = wheels.find(is_wheel).unwrap();
    let mut python = Command::new("python3");
    let said = python.args(["-c", list]).arg(wheel).output().unwrap();
    assert!(said.status.success(), "{}", err(&said));
}

/// A repository of a bot as GitHub checks it out, with what a job has.
struct Job {
    arena: Arena,
    folder: PathBuf,
    base: String,
}

impl Job {
    /// The bot is the ladder's, on this level in the base branch and on that one in the pull request.
    fn new(base: u32, head: u32) -> Self {
        let arena = Arena::new();
        let folder = arena.path("checkout");
        fs::create_dir(&folder).unwrap();
        let mut job = Self {
            arena,
            folder,
            base: String::new(),
        };
        job.git("init --quiet");
        job.commit(base);
        job.base = job.git("rev-parse HEAD");
        job.commit(head);
        job
    }

    fn git(&self, words: &str) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=me", "-c", "user.email=me@example.com"]);
        git.args(words.split(' ')).current_dir(&self.folder);
        let said = git.output().unwrap();
        assert!(said.status.success(), "{}", err(&said));
        out(&said).trim().to_owned()
    }

    fn commit(&self, level: u32) {
        let bot = format!("#!/bin/sh\nexec \"${{0%/*}}/program\" 'ladder?level={level}'\n");
        fs::write(self.folder.join("bot.sh"), bot).unwrap();
        self.git("add bot.sh");
        self.git("commit --quiet --allow-empty --message bot");
    }

    /// Runs the action's script with inputs, and gives the summary of the job too.
    fn run(&self, inputs: &[(&str, &str)]) -> (Output, String) {
        let program = xtask_program().with_file_name("bot");
        let build = format!("cp '{}' program", program.display());
        let summary = self.arena.path("summary.md");
        let mut script = Command::new("python3");
        script
            .arg(root().join(".github/actions/bot/run.py"))
            .current_dir(&self.folder)
            .env("ARENA", env!("CARGO_BIN_EXE_arena"))
            .env("BOT", "exec:sh {folder}/bot.sh")
            .env("GAME", "connect-four")
            .env("BUILD", build)
            .env("BASE", &self.base)
            .env("SPRT", "elo0=-10 elo1=0")
            .env("DEALS", "20")
            .env("MOVE_LIMIT", "3s")
            .env("RUNNER_TEMP", self.arena.path("."))
            .env("GITHUB_STEP_SUMMARY", &summary)
            .env("GITHUB_OUTPUT", self.arena.path("outputs"));
        for (name, value) in inputs {
            script.env(name, value);
        }
        let said = script.output().unwrap();
        (said, fs::read_to_string(summary).unwrap_or_default())
    }

    fn outputs(&self) -> String {
        fs::read_to_string(self.arena.path("outputs")).unwrap()
    }
}

#[test]
fn the_action_fails_a_bot_that_has_become_weaker() {
    let job = Job::new(20, 1);
    let (said, summary) = job.run(&[("SPRT", "elo0=-200 elo1=0"), ("DEALS", "100")]);
    assert_eq!(said.status.code(), Some(1), "{}{}", out(&said), err(&said));
    assert!(
        summary.contains("| the bot is fit | severity |"),
        "{summary}"
    );
    assert!(summary.contains("| head against base |"), "{summary}");
    assert!(summary.contains("H0 is accepted"), "{summary}");
    let outputs = job.outputs();
    assert!(outputs.contains("fit=true\ndecision=h0\n"), "{outputs}");
}

#[test]
fn the_action_passes_a_bot_that_is_not_known_to_be_weaker() {
    let job = Job::new(1, 1);
    let (said, summary) = job.run(&[("DEALS", "2")]);
    assert!(said.status.success(), "{}{}", out(&said), err(&said));
    assert!(summary.contains("no decision"), "{summary}");
    // No worktree is left, so that the next run of a job makes its own.
    assert_eq!(job.git("worktree list").lines().count(), 1);
}

#[test]
fn the_action_says_what_is_wrong_with_a_bot_and_plays_no_match() {
    let job = Job::new(1, 1);
    let (said, summary) = job.run(&[("BOT", "exec:sh {folder}/nothing.sh")]);
    assert_eq!(said.status.code(), Some(1), "{}{}", out(&said), err(&said));
    assert!(
        summary.contains("| the bot is not fit | severity |"),
        "{summary}"
    );
    assert!(summary.contains("| `no-start` | fault |"), "{summary}");
    assert!(!summary.contains("head against base"), "{summary}");
}

#[test]
fn the_action_says_which_step_failed() {
    let job = Job::new(1, 1);
    for (input, value, says) in [
        ("BUILD", "exit 7", "the build ended with 7 in"),
        (
            "BASE",
            "no-such-branch",
            "there is no commit `no-such-branch`",
        ),
        ("GAME", "chess", "`arena check` failed"),
    ] {
        let (said, _) = job.run(&[(input, value)]);
        assert_eq!(said.status.code(), Some(2), "{input}: {}", err(&said));
        assert!(err(&said).contains(says), "{input}: {}", err(&said));
    }
}

#[test]
fn without_a_base_the_action_checks_alone() {
    let job = Job::new(1, 1);
    let (said, summary) = job.run(&[("BASE", "")]);
    assert!(said.status.success(), "{}{}", out(&said), err(&said));
    assert!(!summary.contains("head against base"), "{summary}");
}
