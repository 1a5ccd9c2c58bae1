//! Workers that are processes of their own: they join and leave, and the table is that of a run
//! without them.

use std::{
    fs,
    process::{Command, Stdio},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::{site::Site, vocabulary::*};

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
    site.is_as("cup", "alone");
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
    let url = site.url();
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
    let server = &mut site.processes[0].child;
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

#[test]
fn http_for_https_and_https_for_http_are_told() {
    let mut with_tls = Site::new();
    with_tls.run("certs init tls");
    with_tls.run("certs server tls --name 127.0.0.1");
    with_tls
        .serve("--open --concurrency 0 --tls-cert tls/127.0.0.1.pem --tls-key tls/127.0.0.1.key");
    with_tls.worker("--name plain");
    let says = "the server speaks TLS: write https:// instead of http://";
    wait_until_or(says, || with_tls.log(), || with_tls.log().contains(says));

    let url = with_tls.url().replace("http:", "https:");
    with_tls.worker_at(&url, "--name stranger");
    let says = "UnknownIssuer; no authority that is trusted here has signed";
    wait_until_or(says, || with_tls.log(), || with_tls.log().contains(says));
    assert!(with_tls.log().contains("--ca FILE"), "{}", with_tls.log());

    let mut plain = Site::new();
    plain.run("certs init tls");
    plain.serve("--open --concurrency 0");
    let url = plain.url().replace("http:", "https:");
    plain.worker_at(&url, "--name with-tls --ca tls/ca.pem");
    for says in [
        "if the server has no TLS, write http:// instead of https://",
        "expected HTTP/2 without TLS, found TLS: connect to http://, not https://",
    ] {
        wait_until_or(says, || plain.log(), || plain.log().contains(says));
    }
}

#[test]
fn workers_dial_the_bots_that_they_may() {
    let mut site = Site::new();
    let address = free_address();
    let mut bot = Command::new(villain_program());
    bot.arg("honest")
        .env("BOT_LISTEN", format!("tcp:{address}"));
    let bot = site.launch(bot);
    site.keep(&villain_program(), "honest".to_owned(), bot);
    let spec = format!("grpc://{address}");
    site.cup(
        "cup.toml",
        "connect-four",
        "deals = 5",
        &[&spec, "house:random"],
    );
    site.run("tournament run cup.toml --name alone --seed 5");
    site.run("tournament submit cup.toml --seed 5");
    site.serve("--open --concurrency 0");
    let other = site.referee("--name other --bots 127.0.0.1:1,10.0.0.0/8:*");
    let waits = || site.run("tournament status cup").replace("\n    ", " ");
    let says = format!("a worker that may dial the bot at tcp:{address}");
    wait_until_or("it waits for such a worker", waits, || {
        waits().contains(&says)
    });
    site.referee(&format!("--name one --bots {address}"));
    site.wait_for("cup", "over");
    site.kill(other);
    site.is_as("cup", "alone");
}

/// The walls are those of the arena itself, which plays.
#[test]
fn an_arena_that_serves_says_what_mends_a_bot() {
    let mut site = Site::new();
    fs::write(site.arena.path("my_bot.py"), "open('debug.txt', 'w')\n").unwrap();
    let bots = ["exec:python3 my_bot.py", "house:random"];
    site.cup("cup.toml", "connect-four", "deals = 1", &bots);
    site.run("tournament submit cup.toml");
    site.serve("--concurrency 1");
    site.wait_for("cup", "over");
    let log = site.log();
    let said = log.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("in the sandbox a bot can write only to /tmp"),
        "{log}"
    );
}
