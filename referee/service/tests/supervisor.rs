//! Bots die with the referee, even where it is killed. This program starts
//! itself in the parts that there are: the referee, its supervisor, a bot, and
//! a process that the bot has started.
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a test")]
#![expect(clippy::unwrap_used, reason = "this is how a test fails")]

use std::{
    env, fs,
    io::{self, BufRead as _, BufReader, Write as _},
    path::PathBuf,
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use referee::{Launch, Supervisor, supervise};

/// Time after which the test gives up waiting.
const HANGS: Duration = Duration::from_secs(30);

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["part", "referee", mark] => play_referee(mark),
        ["part", "supervisor", _] => supervise(),
        ["part", "bot", mark] => play_bot(mark),
        ["part", "child", _] => hang(),
        words if words.contains(&"--list") => {
            println!("bots_die_with_a_referee_that_is_killed: test");
            println!("a_supervisor_that_is_killed_is_started_anew: test");
        }
        _ => {
            bots_die_with_a_referee_that_is_killed();
            a_supervisor_that_is_killed_is_started_anew();
        }
    }
}

/// A supervisor that has not seen the bot start knows of it.
fn a_supervisor_that_is_killed_is_started_anew() {
    let mark = format!("anew-{}", std::process::id());
    let mut referee = part("referee", &mark)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(referee.stdout.take().unwrap()).lines();
    let mut next = || said.next().unwrap().unwrap();
    assert_eq!(next(), "the bot listens");
    // The second time it has lived for less than the pause.
    for bots in 2..4 {
        let [old] = supervisors(&mark)[..] else {
            panic!("there is one supervisor");
        };
        kill(Pid::from_raw(old), Signal::SIGKILL).unwrap();
        until(
            "there is another one",
            || matches!(supervisors(&mark)[..], [new] if new != old),
        );
        // It has been told of the first bots when it is told of this one.
        writeln!(referee.stdin.as_mut().unwrap()).unwrap();
        assert_eq!(next(), "the bot listens");
        until("all run", || running(&mark).len() == 2 + 2 * bots);
    }
    referee.kill().unwrap();
    referee.wait().unwrap();
    until("nobody is left", || running(&mark).is_empty());
    println!("a_supervisor_that_is_killed_is_started_anew ... ok");
}

fn supervisors(mark: &str) -> Vec<i32> {
    let is_one = |process: &PathBuf| {
        let line = fs::read_to_string(process.join("cmdline")).unwrap_or_default();
        line.contains("\0supervisor\0")
    };
    let id = |process: PathBuf| process.file_name()?.to_str()?.parse().ok();
    let processes = running(mark).into_iter().filter(is_one);
    processes.filter_map(id).collect()
}

fn bots_die_with_a_referee_that_is_killed() {
    let mark = format!("mark-{}", std::process::id());
    let mut referee = part("referee", &mark)
        .env("PASSWORD", "geheim")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(referee.stdout.take().unwrap())
        .read_line(&mut said)
        .unwrap();
    assert_eq!(said, "the bot listens\n");
    until("all four run", || running(&mark).len() == 4);
    for process in running(&mark) {
        // Others of this user can't read what is not dumpable; root can.
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        let knows = environment.windows(6).any(|word| word == b"geheim");
        let referee = process.ends_with(referee.id().to_string());
        assert!(
            referee || !knows,
            "{} knows the password",
            process.display()
        );
    }

    // SIGKILL: it can do nothing about it.
    referee.kill().unwrap();
    referee.wait().unwrap();
    until("nobody is left", || running(&mark).is_empty());
    println!("bots_die_with_a_referee_that_is_killed ... ok");
}

/// Starts a bot under a supervisor, another one for each line that it reads, and waits for its own
/// death.
fn play_referee(mark: &str) -> ! {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let launch = Launch {
        program: env::current_exe().unwrap(),
        arguments: ["part", "bot", mark].map(Into::into).to_vec(),
        start_limit: HANGS,
        supervisor: Some(Arc::new(
            Supervisor::start(part("supervisor", mark)).unwrap(),
        )),
        ..Launch::default()
    };
    let mut bots = vec![runtime.block_on(launch.clone().start()).unwrap()];
    say("the bot listens");
    for _ in io::stdin().lines() {
        bots.push(runtime.block_on(launch.clone().start()).unwrap());
        say("the bot listens");
    }
    runtime.block_on(std::future::pending())
}

fn play_bot(mark: &str) -> ! {
    let mut child = part("child", mark).stdout(Stdio::null()).spawn().unwrap();
    say(&format!("listening on {}", env::var("BOT_LISTEN").unwrap()));
    child.wait().unwrap();
    hang()
}

fn part(name: &str, mark: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["part", name, mark]);
    command
}

/// The processes that have this mark as their last argument, as folders of `/proc`.
fn running(mark: &str) -> Vec<PathBuf> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .map(|process| process.path())
        .filter(|process| {
            let line = fs::read_to_string(process.join("cmdline")).unwrap_or_default();
            line.trim_end_matches('\0').ends_with(mark)
        })
        .collect()
}

fn until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < HANGS, "still not: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn say(line: &str) {
    println!("{line}");
    io::stdout().flush().unwrap();
}

fn hang() -> ! {
    loop {
        std::thread::park();
    }
}
