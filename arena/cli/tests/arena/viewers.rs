//! Those who look at the page beside games that are played: what they may take.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, Stdio},
    time::Duration,
};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use referee_core::{Limits, PerSeat, Root};
use referee_games::{Fixture, Sitting, game};
use serde_json::{Value, json};

use crate::{site::Site, vocabulary::*};

/// A game of random moves.
fn record() -> String {
    let kind = game("connect_four").unwrap();
    let root: Root = "advice".parse().unwrap();
    let fixture = Fixture {
        kind,
        game_id: "advice".to_owned(),
        setup: Value::Null,
        seed: root.seed("connect_four", 0),
        players: PerSeat::new(2, |seat| format!("p{seat}")),
        limits: Limits::default(),
        spent: PerSeat::default(),
    };
    let sitting = Sitting::new(fixture).unwrap();
    let record = sitting.play_out(|_, number, legal| number as usize * 7 % legal);
    record.to_json_lines()
}

/// A process that gives advice.
fn adviser(arena: &Arena) -> Child {
    let mut command = arena.command_of(&serve_program(), "advise");
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn a_process_that_gives_advice_has_the_lowest_priority_and_bounds_and_ends_with_who_asked() {
    let arena = Arena::new();
    let mut child = adviser(&arena);
    let about = |file: &str| fs::read_to_string(format!("/proc/{}/{file}", child.id()));
    let nice = || {
        let stat = about("stat").unwrap_or_default();
        // After the name, which may have blanks: the 19th field of all.
        let (_, rest) = stat.rsplit_once(") ").unwrap_or_default();
        rest.split(' ').nth(16).map(str::to_owned)
    };
    wait_until("the lowest priority", || nice().as_deref() == Some("19"));
    wait_until("bounds", || {
        let limits = about("limits").unwrap_or_default();
        let has = |name: &str, most: &str| {
            let mut lines = limits.lines().filter(|line| line.starts_with(name));
            lines.any(|line| line.split_whitespace().any(|word| word == most))
        };
        has("Max data size", "1610612736") && has("Max cpu time", "120")
    });
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "{}", json!({ "course": record() })).unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    let advice: Value = serde_json::from_str(&said.next().unwrap().unwrap()).unwrap();
    let course = &advice["Ok"]["course"];
    assert!(course["plies"].as_array().unwrap().len() > 7, "{advice}");
    assert!(course["bot"].as_str().unwrap().starts_with("house:"));
    assert!(child.wait().unwrap().success());

    // Whoever has gone wants no answer.
    let mut child = adviser(&arena);
    let mut stdin = child.stdin.take().unwrap();
    // It is the work of seconds, for which it does not wait.
    writeln!(stdin, "{}", json!({ "course": record() })).unwrap();
    drop(stdin);
    let mut answer = String::new();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_to_string(&mut answer).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(answer, "");
}

#[test]
fn a_thousand_viewers_of_an_arena_with_1024_files_stop_no_game() {
    const VIEWERS: usize = 1_000;
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    if soft < hard {
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
    }
    let mut site = Site::new();
    let page = free_address();
    let line = format!(
        "--nofile=1024:1024 {} serve --listen {} --page {page} --page-proxy 127.0.0.1 \
         --concurrency 2",
        shlex::try_quote(env!("CARGO_BIN_EXE_arena")).unwrap(),
        site.url().trim_start_matches("http://"),
    );
    let prlimit = Path::new("prlimit");
    let child = site.launch(site.command_of(prlimit, &line));
    site.keep(prlimit, line, child);
    // The page listens before the files are divided.
    wait_until_or(
        "a page and its share of the files",
        || site.log(),
        || site.log().contains("1024 files may be open") && TcpStream::connect(page).is_ok(),
    );
    let mut viewers = Vec::new();
    let mut followed = 0;
    for number in 0..VIEWERS {
        let mut viewer = TcpStream::connect(page).unwrap();
        let request = format!(
            "GET /events HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 10.0.{}.{}\r\n\r\n",
            number / 250,
            number % 250
        );
        // Who is too many is cut off.
        let sent = viewer.write_all(request.as_bytes());
        let mut answer = [0; 12];
        viewer
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        if sent.is_ok() && viewer.read_exact(&mut answer).is_ok() && &answer[9..] == b"200" {
            followed += 1;
        }
        viewers.push(viewer);
    }
    assert!((50..500).contains(&followed), "{followed}");
    site.cup(
        "cup.toml",
        "connect-four",
        "deals = 10",
        &["house:random", "house:random"],
    );
    site.run("tournament submit cup.toml");
    site.wait_for("cup", "over");
    assert!(
        !site.log().contains("Too many open files"),
        "{}",
        site.log()
    );
    // Whoever is not too many still sees it.
    drop(viewers);
    wait_until("the page answers", || {
        let Ok(mut viewer) = TcpStream::connect(page) else {
            return false;
        };
        let mut answer = [0; 12];
        let asked = viewer.write_all(b"GET /t/cup HTTP/1.1\r\nHost: localhost\r\n\r\n");
        asked.is_ok() && viewer.read_exact(&mut answer).is_ok() && &answer[9..] == b"200"
    });
}
