//! Bots that somebody else has started for a worker, as Kubernetes starts the containers of a pod.
//! The tournament knows them as images; here they are built-in bots on sockets.

use std::{
    fs,
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::{Pid, geteuid},
};

use crate::{site::Site, vocabulary::*};

/// Digits of which the images' digests are made, one digit each.
const DIGITS: [char; 2] = ['a', 'b'];

/// An image that nobody has.
fn image(digit: char) -> String {
    let digest = digit.to_string().repeat(64);
    format!("image:bots/{digit}@sha256:{digest}")
}

/// Arguments by which a worker says that it has these images.
fn provided() -> String {
    let labels = DIGITS.map(|digit| format!("--provides image-{}", digit.to_string().repeat(32)));
    labels.join(" ")
}

/// A tournament between the images, which an arena serves and does not play.
fn tournament(more: &str) -> Site {
    let mut site = Site::new();
    let images = DIGITS.map(image);
    site.cup("cup.toml", "connect-four", more, &[&images[0], &images[1]]);
    site.run("tournament submit cup.toml --seed 5");
    site.serve("--open --concurrency 0 --replay all");
    site
}

/// A built-in bot at a socket of this name in the folder of the arena.
fn start_bot(site: &mut Site, name: &str) -> PathBuf {
    let path = site.arena.path(name);
    let program = referee_program();
    let mut bot = Command::new(&program);
    bot.args(["bot", "random"])
        .env("BOT_LISTEN", format!("unix:{}", path.display()));
    let bot = site.launch(bot);
    site.keep(&program, "bot".to_owned(), bot);
    wait_until_or("the bot listens", || site.log(), || path.exists());
    path
}

/// Arguments by which a worker is told of both bots at sockets, which are processes of this user.
fn at_sockets(site: &Site, user: u32) -> String {
    let at = |name: &str| {
        let path = site.arena.path(&format!("{name}.sock"));
        format!("--bot-at {name}=unix:{},uid={user}", path.display())
    };
    format!("{} {}", at("a"), at("b"))
}

/// Waits until a process of a site has ended, and gives its exit code.
fn code_of(site: &mut Site, process: usize) -> Option<i32> {
    let log = site.arena.path("log");
    let child = &mut site.processes[process].child;
    wait_until_or(
        "it has ended",
        || fs::read_to_string(&log).unwrap_or_default(),
        || child.try_wait().unwrap().is_some(),
    );
    child.wait().unwrap().code()
}

#[test]
fn a_referee_plays_with_bots_that_run_already_as_with_those_that_it_starts() {
    let mut site = tournament("deals = 10");
    site.cup(
        "alone.toml",
        "connect-four",
        "deals = 10",
        &["house:random"; 2],
    );
    site.run("tournament run alone.toml --seed 5");
    start_bot(&mut site, "a.sock");
    start_bot(&mut site, "b.sock");
    let bots = at_sockets(&site, geteuid().as_raw());
    let provided = provided();
    let more = format!("--name one --tournament cup --match 0 {bots} {provided}");
    let referee = site.referee(&more);
    site.wait_for("cup", "over");
    assert_eq!(code_of(&mut site, referee), Some(0));
    let courses = site.courses("cup");
    assert_eq!(courses.len(), 20);
    assert_eq!(courses, site.courses("alone"));
}

#[test]
fn a_referee_waits_for_its_bots_and_ends_after_its_chunks() {
    let mut site = tournament("deals = 100");
    let bots = at_sockets(&site, geteuid().as_raw());
    let provided = provided();
    let more = format!(
        "--name one --tournament cup --match 0 --chunks 1 --games 4 --concurrency 2 {bots} {provided}"
    );
    let referee = site.referee(&more);
    let waits = "waiting for bots that others start";
    wait_until_or(waits, || site.log(), || site.log().contains(waits));
    // Nobody has joined while there is a bot to wait for.
    start_bot(&mut site, "a.sock");
    let half = "the bot is there";
    wait_until_or(half, || site.log(), || site.log().contains(half));
    assert!(site.workers().is_empty());
    start_bot(&mut site, "b.sock");
    assert_eq!(code_of(&mut site, referee), Some(0));
    assert_eq!(site.progress("cup"), (4, true), "{}", site.log());
}

#[test]
fn a_bot_of_another_user_is_not_spoken_to() {
    let mut site = tournament("deals = 1");
    start_bot(&mut site, "a.sock");
    start_bot(&mut site, "b.sock");
    let user = geteuid().as_raw();
    let bots = at_sockets(&site, user + 1);
    let provided = provided();
    site.referee(&format!(
        "--tournament cup --match 0 --bots-within 1s {bots} {provided}"
    ));
    site.wait_for("cup", "over");
    let export = site.run("tournament export cup");
    let says = format!(
        "a process of user {user} listens there, expected one of user {}",
        user + 1
    );
    assert!(export.contains(&says), "{export}");
    assert!(site.log().contains(&says), "{}", site.log());
}

#[test]
fn sigterm_ends_the_wait_for_bots() {
    let mut site = tournament("deals = 1");
    let bots = at_sockets(&site, 0);
    let referee = site.referee(&format!("--tournament cup {bots}"));
    let waits = "waiting for bots that others start";
    wait_until_or(waits, || site.log(), || site.log().contains(waits));
    let id = site.processes[referee].child.id();
    kill(Pid::from_raw(id as i32), Signal::SIGTERM).unwrap();
    assert_eq!(code_of(&mut site, referee), Some(130));
}

/// `referee` with these words, to its end.
fn referee(site: &Site, line: &str) -> Output {
    let mut command = site.command_of(&referee_program(), line);
    command.stdin(Stdio::null()).output().unwrap()
}

#[test]
fn a_bot_whose_pod_is_not_there_is_to_be_tried_again() {
    let site = Site::new();
    let log = site.arena.path("termination");
    fs::write(&log, "what was there before").unwrap();
    let port = free_address().port();
    let mut command = site.command_of(
        &referee_program(),
        &format!(
            "work --arena http://127.0.0.1:{port} --bot-at a=unix:/there/is/none --bot-at \
             b=grpc://127.0.0.1:{port} --bots-within 1s"
        ),
    );
    command.env("BOT_ARENA_TERMINATION_LOG", &log);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(75), "{}", err(&output));
    let says =
        format!("could not connect to the bot b at tcp:127.0.0.1:{port}: Connection refused");
    assert!(err(&output).contains(&says), "{}", err(&output));
    let last = fs::read_to_string(&log).unwrap();
    assert!(last.starts_with(&format!("referee: {says}")), "{last}");

    // What is wrong for ever is told in the same place.
    let mut command = site.command_of(&referee_program(), "work --bot-at a=house:random");
    command.env("BOT_ARENA_TERMINATION_LOG", &log);
    let output = command.output().unwrap();
    refused(&output, "\"house:random\" is no address");
    let last = fs::read_to_string(&log).unwrap();
    assert!(last.contains("\"house:random\" is no address"), "{last}");
}

#[test]
fn bots_at_addresses_that_can_not_be_are_refused() {
    let site = Site::new();
    for (bots, says) in [
        (
            "--bot-at a=grpc://h:1,uid=5",
            "only unix:PATH can have uid=N",
        ),
        ("--bot-at a=unix:/x --bot-at a=unix:/y", "a is given twice"),
        (
            "--bot-at a=unix:/x --bot-at b=unix:/x",
            "b and a are both at unix:/x",
        ),
        ("--bot-at a=grpcs://h:1", "--bots-ca FILE"),
    ] {
        let line = format!("work --arena http://127.0.0.1:1 {bots}");
        refused(&referee(&site, &line), says);
    }
}

/// Certificates of an authority, of gates on this machine, and of referees.
fn certificates(site: &Site) {
    site.run("certs init tls");
    site.run("certs server tls --name 127.0.0.1");
    site.run("certs client tls referee");
}

/// A gate on a port of this machine before the socket of this name.
fn start_gate(site: &mut Site, socket: &Path, more: &str) -> u16 {
    let port = free_address().port();
    let line = format!(
        "gate --listen 127.0.0.1:{port} --to unix:{} --tls-cert tls/127.0.0.1.pem --tls-key \
         tls/127.0.0.1.key --tls-client-ca tls/ca.pem {more}",
        socket.display()
    );
    let program = referee_program();
    let gate = site.launch(site.command_of(&program, &line));
    site.keep(&program, line, gate);
    let is_open = || TcpStream::connect(("127.0.0.1", port)).is_ok();
    wait_until_or("the gate listens", || site.log(), is_open);
    port
}

const SHOWS: &str = "--bots-ca tls/ca.pem --bots-cert tls/referee.pem --bots-key tls/referee.key";

#[test]
fn a_referee_plays_with_bots_behind_gates() {
    let mut site = tournament("deals = 10");
    certificates(&site);
    site.cup(
        "alone.toml",
        "connect-four",
        "deals = 10",
        &["house:random"; 2],
    );
    site.run("tournament run alone.toml --seed 5");
    // Gates are there before their bots.
    let [a, b] = ["a.sock", "b.sock"].map(|name| {
        let socket = site.arena.path(name);
        start_gate(&mut site, &socket, "--from 127.0.0.1")
    });
    let provided = provided();
    let referee = site.referee(&format!(
        "--tournament cup --match 0 --bot-at a=grpcs://127.0.0.1:{a} --bot-at \
         b=grpcs://127.0.0.1:{b} {SHOWS} {provided}"
    ));
    start_bot(&mut site, "b.sock");
    start_bot(&mut site, "a.sock");
    site.wait_for("cup", "over");
    assert_eq!(code_of(&mut site, referee), Some(0));
    assert_eq!(site.courses("cup"), site.courses("alone"));
    // A gate ends when it is asked to.
    let gate = site.processes.len() - 4;
    let id = site.processes[gate].child.id();
    kill(Pid::from_raw(id as i32), Signal::SIGTERM).unwrap();
    assert_eq!(code_of(&mut site, gate), Some(0));
}

#[test]
fn an_arena_that_serves_plays_with_bots_that_have_tls() {
    let mut site = Site::new();
    certificates(&site);
    let bot = start_bot(&mut site, "a.sock");
    let port = start_gate(&mut site, &bot, "");
    site.serve(&format!("--concurrency 1 {SHOWS}"));
    let far = format!("grpcs://127.0.0.1:{port}");
    for (file, bots) in [
        ("cup.toml", [&*far, "house:random"]),
        ("alone.toml", ["house:random"; 2]),
    ] {
        site.cup(file, "connect-four", "deals = 5", &bots);
        let seed = site.arena.path("seed");
        std::fs::write(&seed, "5").unwrap();
        let name = file.trim_end_matches(".toml");
        site.run(&format!(
            "tournament submit {file} --seed-file {}",
            seed.display()
        ));
        site.wait_for(name, "over");
    }
    assert_eq!(site.courses("cup"), site.courses("alone"));
}

#[test]
fn a_bot_that_is_not_behind_its_gate_loses_its_games() {
    let mut site = tournament("deals = 1");
    certificates(&site);
    let absent = site.arena.path("a.sock");
    let port = start_gate(&mut site, &absent, "");
    let there = start_bot(&mut site, "b.sock");
    let provided = provided();
    site.referee(&format!(
        "--tournament cup --match 0 --bot-at a=grpcs://127.0.0.1:{port} --bot-at b=unix:{} \
         --bots-within 3s {SHOWS} {provided}",
        there.display()
    ));
    site.wait_for("cup", "over");
    let rows = site.rows("cup");
    assert_eq!(rows[0]["bot"], "b", "{rows}");
    let says = "the bot does not answer; its games begin all the same";
    assert!(site.log().contains(says), "{}", site.log());
}

#[test]
fn a_gate_that_does_not_let_the_referee_in_is_to_be_tried_again() {
    let mut site = Site::new();
    certificates(&site);
    site.run("certs init other");
    site.run("certs client other referee");
    let bot = start_bot(&mut site, "a.sock");
    let port = start_gate(&mut site, &bot, "");
    let far = start_gate(&mut site, &bot, "--from 10.0.0.7");
    for (port, shows) in [
        (port, SHOWS.replace("tls/referee", "other/referee")),
        (port, "--bots-ca tls/ca.pem".to_owned()),
        (far, SHOWS.to_owned()),
    ] {
        let line = format!(
            "work --arena http://127.0.0.1:1 --bot-at a=grpcs://127.0.0.1:{port} {shows} \
             --bots-within 2s"
        );
        let output = referee(&site, &line);
        assert_eq!(output.status.code(), Some(75), "{}", err(&output));
        let says = format!("could not connect to the bot a at grpcs://127.0.0.1:{port}: ");
        assert!(err(&output).contains(&says), "{}", err(&output));
    }
}

#[test]
fn a_gate_without_certificates_of_clients_is_refused() {
    let site = Site::new();
    certificates(&site);
    let wants = "a gate lets in only clients that show a certificate";
    let tls = "--tls-cert tls/127.0.0.1.pem --tls-key tls/127.0.0.1.key";
    refused(&referee(&site, "gate --to unix:/x"), wants);
    refused(&referee(&site, &format!("gate --to unix:/x {tls}")), wants);
    let to = format!("gate --to grpc://h:1 {tls} --tls-client-ca tls/ca.pem");
    refused(&referee(&site, &to), "expected the bot's Unix socket");
}
