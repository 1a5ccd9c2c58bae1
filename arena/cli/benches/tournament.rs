//! Cost of a tournament beside the same games without a store, the growth of its memory over
//! 100,000 games, or `BENCH_LONG`, and the time until their table is there.
//!
//! With another build of `arena` in `BENCH_BASE` the costs of both are measured in
//! turns.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a program")]

#[path = "common/usage.rs"]
#[expect(dead_code, reason = "other benchmarks use the rest of it")]
mod usage;

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use self::usage::children;

/// Number of games of each run that is compared.
const COMPARED: u64 = 20_000;
/// Number of times that each is run; the one with the least CPU counts.
const TURNS: usize = 3;
/// The ways to play that are compared.
const WAYS: [&str; 3] = [
    "games alone",
    "with records as files",
    "as a tournament in a store",
];
/// Number of games of the long one, if `BENCH_LONG` does not say another.
const LONG: u64 = 100_000;
const AT_ONCE: u64 = 128;

fn main() {
    let folder = tempfile::tempdir().expect("a folder for the bench");
    let folder = folder.path();
    let here = Path::new(env!("CARGO_BIN_EXE_arena"));
    let base = env::var_os("BENCH_BASE").map(PathBuf::from);
    let programs: Vec<&Path> = [Some(here), base.as_deref()]
        .into_iter()
        .flatten()
        .collect();
    file(folder, "warm", COMPARED / 10);
    file(folder, "compared", COMPARED);
    let bots = "--bot a=house:random --bot b=house:random";
    let rounds = COMPARED / 2;
    let games = format!("match connect-four {bots} --rounds {rounds} --seed 1");
    let mut least = vec![[Duration::MAX; WAYS.len()]; programs.len()];
    // In turns, so that what else the machine does is the same for all.
    for turn in 0..TURNS {
        for (number, program) in programs.iter().enumerate() {
            let name = format!("{turn}-{number}");
            if turn == 0 {
                let line = format!("tournament run warm.toml --name warm-{name} --seed 1");
                spent(program, folder, &line);
            }
            let lines = [
                format!("{games} --no-records"),
                format!("{games} --records records-{name}"),
                format!("tournament run compared.toml --name compared-{name} --seed 1"),
            ];
            for (least, line) in least[number].iter_mut().zip(&lines) {
                *least = (*least).min(spent(program, folder, line));
            }
        }
    }
    let each = |cpu: Duration| cpu.as_secs_f64() * 1e6 / COMPARED as f64;
    for (least, program) in least.iter().zip(&programs) {
        println!("program  {}", program.display());
        for (what, cpu) in WAYS.iter().zip(least) {
            println!(
                "cost     {:.1} us of CPU a game, all processes: {what} ({:.2} x)",
                each(*cpu),
                each(*cpu) / each(least[0])
            );
        }
    }
    long(here, folder);
}

/// Two bots that are done in a moment.
fn file(folder: &Path, name: &str, games: u64) {
    let text = format!(
        "game = \"connect-four\"\nshape = \"round-robin\"\ndeals = {}\n\
         [[bots]]\nname = \"a\"\nbot = \"house:random\"\n\
         [[bots]]\nname = \"b\"\nbot = \"house:random\"\n",
        games / 2
    );
    fs::write(folder.join(format!("{name}.toml")), text).expect("a file in the bench's folder");
}

fn arena(program: &Path, folder: &Path, line: &str) -> Command {
    let mut command = Command::new(program);
    command
        .args(line.split(' '))
        .current_dir(folder)
        .env("ARENA_CONCURRENCY", AT_ONCE.to_string())
        .env_remove("ARENA_STORE")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Runs it, and says what CPU it and its bots took.
fn spent(program: &Path, folder: &Path, line: &str) -> Duration {
    let before = children();
    let status = arena(program, folder, line).stdout(Stdio::null()).status();
    assert!(status.expect("arena runs").success(), "{line}");
    children() - before
}

fn long_games() -> u64 {
    let asked = env::var("BENCH_LONG").ok();
    asked.map_or(LONG, |games| {
        games.parse().expect("BENCH_LONG is a number of games")
    })
}

/// Memory halfway and at the end, then how long the table takes.
fn long(program: &Path, folder: &Path) {
    let all = long_games();
    file(folder, "long", all);
    let begin = Instant::now();
    let mut running = arena(
        program,
        folder,
        "tournament run long.toml --seed 1 --format json",
    )
    .stdout(Stdio::piped())
    .spawn()
    .expect("arena runs");
    let out = running.stdout.take().expect("its output is piped");
    let mut games = 0;
    for line in BufReader::new(out).lines() {
        let line = line.expect("arena writes text");
        games += u64::from(line.contains(r#""type":"game""#));
        if games % (all / 4) == 0 && games > 0 && line.contains(r#""type":"game""#) {
            println!(
                "memory   {} KiB after {games} games",
                anonymous(running.id())
            );
        }
    }
    let status = running.wait().expect("it ends");
    assert!(status.success());
    println!(
        "speed    {:.0} games/s with a store, {AT_ONCE} at once",
        games as f64 / begin.elapsed().as_secs_f64()
    );
    let mut times: Vec<Duration> = (0..5)
        .map(|_| {
            let begin = Instant::now();
            let status = arena(program, folder, "tournament status long")
                .stdout(Stdio::null())
                .status();
            assert!(status.expect("arena runs").success());
            begin.elapsed()
        })
        .collect();
    times.sort_unstable();
    println!(
        "status   {:.0} ms for the whole command over {all} games (median of 5)",
        times[2].as_secs_f64() * 1e3
    );
}

/// Memory of a process of its own, in KiB.
fn anonymous(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or_default()
}
