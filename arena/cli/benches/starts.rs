//! What the starts of bots cost. In a game with hidden hands each seating of a deal has processes
//! of its own, so a class whose bots are quick waits for starts: two for each game of Mahjong.
//!
//! `cargo xtask bench starts` builds the samples of the kits and runs this; BENCH_SAMPLES has a line
//! `NAME=COMMAND` for each. They play themselves, with a sandbox and without. Of a sample that commits
//! fouls, since it does not play Mahjong, there are no figures.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a program")]

#[path = "common/usage.rs"]
#[expect(dead_code, reason = "other benchmarks use the rest of it")]
mod usage;

use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
    thread::available_parallelism,
    time::{Duration, Instant},
};

use self::usage::children;

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
            let name_of_run = format!("{number}-{sandbox}");
            let Some((took, spent)) = play(folder.path(), &name_of_run, sandbox) else {
                println!("| {name} | {sandbox} | fouls | | |");
                break;
            };
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

/// How long it took, and the CPU time of all processes; none where there were fouls.
fn play(folder: &Path, name: &str, sandbox: &str) -> Option<(Duration, Duration)> {
    let (before, begin) = (children(), Instant::now());
    let ran = Command::new(env!("CARGO_BIN_EXE_arena"))
        .args(["tournament", "run", "class.toml", "--seed", "1"])
        .args(["--name", name, "--sandbox", sandbox, "--format", "json"])
        .env_remove("ARENA_STORE")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .expect("arena runs");
    let (took, spent) = (begin.elapsed(), children() - before);
    let events = String::from_utf8_lossy(&ran.stdout);
    let is_played = ran.status.success() && !events.contains(r#""type":"foul""#);
    is_played.then_some((took, spent))
}
