//! Workers that are processes of their own: they join, leave, are killed, and the table is
//! that of a run without them.

use std::{
    fs,
    net::TcpListener,
    process::{Child, Command, Stdio},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde_json::{Value, json};

use crate::vocabulary::*;

/// How many kills a usual run of the tests has; `cargo xtask soak kills` sets more.
const KILLS: &str = "ARENA_TEST_KILLS";

/// An arena that serves, and its workers; all are killed when this is dropped.
pub(crate) struct Site {
    pub(crate) arena: Arena,
    port: u16,
    /// The server and the workers, each with how it is started.
    pub(crate) processes: Vec<(String, Child)>,
}

impl Site {
    pub(crate) fn new() -> Self {
        // A port that nobody has, which a restarted arena has again.
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        Self {
            arena: Arena::new(),
            port: free.local_addr().unwrap().port(),
            processes: Vec::new(),
        }
    }

    pub(crate) fn cup(&self, file: &str, game: &str, more: &str, bots: &[&str]) {
        let mut text = format!("game = \"{game}\"\nshape = \"round-robin\"\n{more}\n");
        for (name, spec) in ('a'..).zip(bots) {
            text += &format!("[[bots]]\nname = \"{name}\"\nbot = {}\n", json!(spec));
        }
        fs::write(self.arena.path(file), text).unwrap();
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = self.arena.command(line);
        command.env("ARENA_CACHE", self.arena.path("cache"));
        command
    }

    pub(crate) fn run(&self, line: &str) -> String {
        done(&self.command(line).output().unwrap())
    }

    fn start(&mut self, line: String) -> usize {
        let child = self.spawn(&line);
        self.processes.push((line, child));
        self.processes.len() - 1
    }

    fn spawn(&self, line: &str) -> Child {
        self.launch(self.command(line))
    }

    /// Starts a command that writes into the log.
    pub(crate) fn launch(&self, mut command: Command) -> Child {
        let mut log = fs::File::options();
        let log = log.create(true).append(true);
        let log = log.open(self.arena.path("log")).unwrap();
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap()
    }

    /// What the server and the workers have said.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.arena.path("log")).unwrap_or_default()
    }

    /// `arena serve` with these words.
    fn serve(&mut self, more: &str) -> usize {
        let port = self.port;
        self.start(format!("serve --listen 127.0.0.1:{port} --lease 2s {more}"))
    }

    /// A worker with these words.
    fn worker(&mut self, more: &str) -> usize {
        let port = self.port;
        self.start(format!("worker --arena http://127.0.0.1:{port} {more}"))
    }

    /// Kills a process and starts it again.
    fn restart(&mut self, at: usize) {
        let (line, child) = &mut self.processes[at];
        child.kill().unwrap();
        child.wait().unwrap();
        let line = line.clone();
        self.processes[at].1 = self.spawn(&line);
    }

    pub(crate) fn state(&self, name: &str) -> String {
        let list = events(&self.run("tournament list --format json"));
        let mut list = list.iter();
        let one = list.find(|one| one["tournament"] == *name).unwrap();
        one["state"].as_str().unwrap().to_owned()
    }

    pub(crate) fn wait_for(&self, name: &str, state: &str) {
        wait_until_or(
            &format!("{name} is {state}"),
            || self.log(),
            || self.state(name) == state,
        );
    }

    pub(crate) fn rows(&self, name: &str) -> Value {
        let line = format!("tournament status {name} --format json");
        let output = self.command(&line).output().unwrap();
        let mut rows = of_type(&events(&out(&output)), "standings")[0]["rows"].clone();
        for row in rows.as_array_mut().unwrap() {
            // How long they thought is another time in every run.
            row.as_object_mut().unwrap().remove("thinking");
            row.as_object_mut().unwrap().remove("thinking_us");
        }
        rows
    }

    pub(crate) fn workers(&self) -> Vec<Value> {
        of_type(&events(&self.run("workers --format json")), "worker")
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        for (_, child) in &mut self.processes {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn a_tournament_that_workers_play_has_the_table_of_one_that_is_played_alone() {
    let mut site = Site::new();
    let bots = ["house:ai1", "house:ai2", "house:ai3", "house:random"];
    site.cup("cup.toml", "big-two", "deals = 20", &bots);
    site.run("tournament run cup.toml --name alone --seed 5");
    site.run("tournament submit cup.toml --seed 5");
    site.serve("--open --concurrency 0 --replay all");
    for name in ["one", "two"] {
        site.worker(&format!("--name {name}"));
    }
    site.wait_for("cup", "over");
    assert_eq!(site.rows("cup"), site.rows("alone"));
    assert!(site.run("tournament verify cup").contains("proved, "));
    let workers = site.workers();
    let played: Vec<u64> = workers
        .iter()
        .map(|worker| worker["accepted"].as_u64().unwrap())
        .collect();
    // What is known of workers is written down every two seconds.
    assert_eq!(workers.len(), 2, "{workers:?}");
    assert!(played.iter().sum::<u64>() <= 80, "{workers:?}");
}

#[test]
fn kills_of_the_arena_and_of_workers_leave_the_table_unchanged() {
    let kills: u32 = std::env::var(KILLS).map_or(12, |kills| kills.parse().unwrap());
    let mut site = Site::new();
    let bots = ["house:random", "house:ladder", "house:random"];
    let more = format!("deals = {}", 20 * kills);
    site.cup("cup.toml", "connect-four", &more, &bots);
    site.run("tournament run cup.toml --name alone --seed 11");
    site.run("tournament submit cup.toml --seed 11");
    site.serve("--open --concurrency 0");
    for name in ["one", "two", "three"] {
        site.worker(&format!("--name {name}"));
    }
    let mut random = StdRng::seed_from_u64(17);
    for _ in 0..kills {
        std::thread::sleep(Duration::from_millis(random.random_range(50..700)));
        // Most often a worker: it begins anew with a session of its own.
        site.restart(random.random_range(0..4));
    }
    site.wait_for("cup", "over");
    assert_eq!(site.rows("cup"), site.rows("alone"));
    assert!(site.run("tournament verify cup").contains("proved, "));
}

#[test]
fn a_worker_needs_a_token_and_one_that_is_revoked_has_to_leave() {
    let mut site = Site::new();
    site.cup(
        "cup.toml",
        "othello",
        "deals = 100000",
        &["house:random"; 2],
    );
    site.run("tournament submit cup.toml");
    site.serve("--concurrency 0");
    let port = site.port;
    let url = format!("http://127.0.0.1:{port}");
    site.run("workers add one");
    let mut stranger = site.command(&format!("worker --arena {url} --name one"));
    refused(&stranger.output().unwrap(), "there is no token");
    site.run("workers add two --token-file other.token");
    fs::write(
        site.arena.path("wrong.token"),
        format!("arena_{}\n", "0".repeat(64)),
    )
    .unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs::set_permissions(site.arena.path("wrong.token"), mode).unwrap();
    let mut wrong = site.command(&format!("worker --arena {url} --token-file wrong.token"));
    refused(&wrong.output().unwrap(), "no worker has this token");

    let mut worker = site
        .command(&format!("worker --arena {url} --token-file one.token"))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("it works", || {
        site.workers()
            .iter()
            .any(|one| one["worker"] == "one" && one["state"] == "working")
    });
    site.run("workers revoke one");
    wait_until("it has left", || worker.try_wait().unwrap().is_some());
    let left = worker.wait_with_output().unwrap();
    refused(&left, "one was revoked");
    let state = |name: &str| {
        let workers = site.workers();
        let mut workers = workers.iter();
        workers.find(|one| one["worker"] == name).unwrap()["state"].clone()
    };
    assert_eq!(
        (state("one"), state("two")),
        ("revoked".into(), "away".into())
    );
    // Nothing of a token is in a process's command line, nor in the arena's log.
    let token = fs::read_to_string(site.arena.path("one.token")).unwrap();
    let log = fs::read_to_string(site.arena.path("log")).unwrap();
    assert!(
        !log.contains(token.trim()) && !log.contains("arena_0"),
        "{log}"
    );
}

#[test]
fn a_bot_travels_to_a_worker_that_has_never_seen_it() {
    let mut site = Site::new();
    let bots = site.arena.path("bots");
    fs::create_dir(&bots).unwrap();
    fs::copy(villain_program(), bots.join("bot")).unwrap();
    let line = "bots add traveller --dir bots --run './bot slow --delay 0ms' --game connect-four";
    site.run(line);
    fs::remove_dir_all(&bots).unwrap();
    site.cup(
        "cup.toml",
        "connect-four",
        "deals = 3",
        &["traveller", "house:random"],
    );
    site.run("tournament submit cup.toml --seed 2");
    site.serve("--open --concurrency 0");
    let far = tempfile::tempdir().unwrap();
    site.worker(&format!("--name far --cache '{}'", far.path().display()));
    site.wait_for("cup", "over");
    assert!(
        site.run("tournament verify cup")
            .contains("proved, 6 games")
    );
    let row = site.rows("cup");
    let games: Vec<u64> = row
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["games"].as_u64().unwrap())
        .collect();
    assert_eq!(games, [6, 6]);
    let _ = Command::new("chmod")
        .args(["-R", "u+w"])
        .arg(far.path())
        .status();
    let _ = Command::new("chmod")
        .args(["-R", "u+w"])
        .arg(site.arena.path("cache"))
        .status();
}

#[test]
fn what_nobody_can_play_waits_and_says_for_what() {
    let mut site = Site::new();
    let slow = format!("exec:'{}' slow --delay 1ms", villain_program().display());
    site.cup(
        "cup.toml",
        "connect-four",
        "deals = 2",
        &[&slow, "house:random"],
    );
    site.run("tournament submit cup.toml");
    let status = |site: &Site| {
        let output = site.command("tournament status cup").output().unwrap();
        out(&output).replace("\n    ", " ")
    };
    let said = status(&site);
    assert!(said.contains("it waits for `arena serve`"), "{said}");
    site.serve("--open --concurrency 0");
    wait_until("it waits for a worker", || {
        status(&site).contains("it waits for a worker: none has joined")
    });
    site.worker("--name one");
    wait_until("it waits for this machine", || {
        status(&site).contains("it waits for the arena's own machine, because exec:")
    });
    // It is paused, goes on where it can be played, and is over.
    site.run("tournament pause cup");
    site.wait_for("cup", "paused");
    let server = &mut site.processes[0].1;
    kill(Pid::from_raw(server.id() as i32), Signal::SIGTERM).unwrap();
    server.wait().unwrap();
    site.run("tournament submit cup --priority 3");
    site.serve("--open --concurrency 2");
    site.wait_for("cup", "over");
}

#[test]
fn a_cancelled_tournament_keeps_its_results_and_is_played_no_more() {
    let mut site = Site::new();
    site.cup(
        "cup.toml",
        "othello",
        "deals = 100000",
        &["house:random"; 2],
    );
    site.run("tournament submit cup.toml");
    site.serve("--open --concurrency 1");
    let games = |site: &Site| {
        let list = events(&site.run("tournament list --format json"));
        list[0]["games"].as_u64().unwrap()
    };
    wait_until("games are played", || games(&site) > 4);
    site.run("tournament cancel cup");
    site.wait_for("cup", "cancelled");
    let now = games(&site);
    assert!(now > 4);
    let resumed = site.command("tournament submit cup").output().unwrap();
    refused(&resumed, "cup is cancelled");
    assert_eq!(games(&site), now);
    assert!(site.run("tournament verify cup").contains("proved, "));
}
