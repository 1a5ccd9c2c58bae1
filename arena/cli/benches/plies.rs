//! How many plies a second are refereed, beside a match runner of chess in the same run: games of 60
//! plies, by bots and engines that cost next to nothing, both with one game at a time and with more.
//!
//! FASTCHESS names the program of <https://github.com/Disservin/fastchess>; `make` builds it. Its
//! engine is `plies/known.c`, which a C compiler builds here; our bot is the built-in `random` in
//! Othello. Records are not kept on either side.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a program")]

use std::{
    env,
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

/// Games at once, each with how many games the chess runner and ours play for one figure.
const SETTINGS: [(u32, u32, u32); 5] = [
    (1, 200, 1_000),
    (2, 400, 2_000),
    (8, 400, 4_000),
    (32, 400, 8_000),
    (128, 400, 8_000),
];
/// Number of times that both take turns; the medians count.
const TURNS: usize = 3;
/// Plies of a game of chess here.
const CHESS_PLIES: u32 = 60;

fn main() {
    let Some(fastchess) = env::var_os("FASTCHESS") else {
        println!("plies    FASTCHESS names no program of fastchess: nothing is measured");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder for the bench");
    let engine = folder.path().join("known");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/plies/known.c");
    run(Command::new("cc")
        .args(["-O2", "-o"])
        .arg(&engine)
        .arg(source));
    println!("| games at once | fastchess, plies/s | arena, plies/s | ratio |");
    println!("| ---: | ---: | ---: | ---: |");
    let mut best = [0.0_f64; 2];
    for (at_once, chess_games, our_games) in SETTINGS {
        let mut rates = [Vec::new(), Vec::new()];
        for _ in 0..TURNS {
            let chess = chess(
                Path::new(&fastchess),
                &engine,
                folder.path(),
                at_once,
                chess_games,
            );
            rates[0].push(chess);
            rates[1].push(ours(folder.path(), at_once, our_games));
        }
        let [chess, ours] = rates.map(median);
        best = [best[0].max(chess), best[1].max(ours)];
        println!(
            "| {at_once} | {chess:.0} | {ours:.0} | {:.1} |",
            ours / chess
        );
    }
    let [chess, ours] = best;
    println!(
        "| the best of each | {chess:.0} | {ours:.0} | **{:.1}** |",
        ours / chess
    );
}

/// Plies a second, starts of engines included.
fn chess(fastchess: &Path, engine: &Path, folder: &Path, at_once: u32, games: u32) -> f64 {
    let command = format!("cmd={}", engine.display());
    let began = Instant::now();
    let said = run(Command::new(fastchess)
        .args(["-engine", &command, "name=a", "-engine", &command, "name=b"])
        .args([
            "-each",
            "tc=60+1",
            "-maxmoves",
            &(CHESS_PLIES / 2).to_string(),
        ])
        .args(["-rounds", &(games / 2).to_string(), "-games", "2"])
        .args(["-concurrency", &at_once.to_string(), "-force-concurrency"])
        .current_dir(folder));
    let seconds = began.elapsed().as_secs_f64();
    let finished = said
        .lines()
        .filter(|line| line.starts_with("Finished game"));
    assert_eq!(finished.count(), games as usize, "{said}");
    f64::from(games * CHESS_PLIES) / seconds
}

/// Plies a second, starts of bots included.
fn ours(folder: &Path, at_once: u32, games: u32) -> f64 {
    let began = Instant::now();
    let said = run(Command::new(env!("CARGO_BIN_EXE_arena"))
        .args([
            "match",
            "othello",
            "--bot",
            "a=house:random",
            "--bot",
            "b=house:random",
        ])
        .args([
            "--deals",
            &(games / 2).to_string(),
            "--seed",
            "1",
            "--no-records",
        ])
        .args(["--concurrency", &at_once.to_string(), "--format", "json"])
        .current_dir(folder));
    let seconds = began.elapsed().as_secs_f64();
    let games = said.lines().filter_map(|line| {
        let event: serde_json::Value = serde_json::from_str(line).expect("an event");
        (event["type"] == "game").then(|| event["plies"].as_u64().expect("a number"))
    });
    games.sum::<u64>() as f64 / seconds
}

/// What it prints.
fn run(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().expect("it starts");
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).expect("a text")
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}
