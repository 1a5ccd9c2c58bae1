//! What the starts of bots cost. In a game with hidden hands each seating of a deal has processes
//! of its own, so a class whose bots are quick waits for starts: two for each game of Mahjong.
//!
//! `cargo xtask bench starts` builds the samples of the kits and runs this; BENCH_SAMPLES has a line
//! `NAME=COMMAND` for each. They play themselves, with a sandbox and without.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a program")]

use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
    thread::available_parallelism,
    time::{Duration, Instant},
};

use nix::sys::resource::{UsageWho, getrusage};

/// Bots of a class, of which each plays each.
const BOTS: usize = 6;
/// Games of all of them: one deal of each pair, from both seatings.
const GAMES: usize = BOTS * (BOTS - 1);

fn main() {
    let folder = tempfile::tempdir().expect("a folder for the bench");
    let samples = env::var("BENCH_SAMPLES")
        .expect("BENCH_SAMPLES names the samples; run `cargo xtask bench starts`");
    println!("| bots in | sandbox | starts a second | CPU a start, ms | of the cores |");
    println!("| --- | --- | ---: | ---: | ---: |");
    let samples = samples.lines().filter_map(|line| line.split_once('='));
    for (number, (name, command)) in samples.enumerate() {
        fs::write(folder.path().join("class.toml"), class(command)).expect("a file");
        for sandbox in ["best", "off"] {
            let (took, spent) = play(folder.path(), &format!("{number}-{sandbox}"), sandbox);
            let starts = 2.0 * GAMES as f64;
            let cores = available_parallelism().map_or(1, usize::from) as f64;
            println!(
                "| {name} | {sandbox} | {:.1} | {:.0} | {:.0} % |",
                starts / took.as_secs_f64(),
                spent.as_secs_f64() * 1000.0 / starts,
                100.0 * spent.as_secs_f64() / took.as_secs_f64() / cores,
            );
        }
    }
}

/// A tournament of bots with this command.
fn class(command: &str) -> String {
    let bots = (1..=BOTS).map(|number| {
        let spec = toml::Value::from(format!("exec:{command}"));
        format!("[[bots]]\nname = \"b{number}\"\nbot = {spec}\n")
    });
    let bots: String = bots.collect();
    format!("game = \"mahjong\"\nshape = \"round-robin\"\ndeals = 1\n{bots}")
}

/// How long it took, and the CPU time of all processes.
fn play(folder: &Path, name: &str, sandbox: &str) -> (Duration, Duration) {
    let (before, begin) = (children(), Instant::now());
    let status = Command::new(env!("CARGO_BIN_EXE_arena"))
        .args(["tournament", "run", "class.toml", "--seed", "1"])
        .args(["--name", name, "--sandbox", sandbox])
        .env_remove("ARENA_STORE")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.expect("arena runs").success(), "{name}");
    (begin.elapsed(), children() - before)
}

/// CPU time that all processes that have ended took.
fn children() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("usage is there");
    let part = |time: nix::sys::time::TimeVal| {
        Duration::new(time.tv_sec() as u64, 1000 * time.tv_usec() as u32)
    };
    part(usage.user_time()) + part(usage.system_time())
}
