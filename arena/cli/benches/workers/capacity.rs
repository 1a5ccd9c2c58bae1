//! Games an hour for each core, and what of them is lost with a worker.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::{NO_GAMES, site::Site};

/// A game, its number of seats, the strongest built-in bot, and how many deals are played.
const GAMES: [(&str, usize, &str, u32); 4] = [
    ("connect-four", 2, "zugzwang", 20),
    ("othello", 2, "edge", 8),
    ("mahjong", 2, "tenpai", 40),
    ("big-two", 4, "ai4", 5),
];
/// Time that a bot has for a move.
const TIME: &str = "50ms";
/// Games of each run of `evictions`.
const LOST_OF: u64 = 48;
/// A worker is there for so long.
const THERE: Duration = Duration::from_secs(10);

/// Plays every game as often at once as there are cores, in one process.
pub(crate) fn hours() {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    for (game, seats, bot, deals) in GAMES {
        let site = Site::new(None);
        let bots: Vec<String> = (0..seats)
            .map(|seat| format!("--bot b{seat}=house:{bot}?time={TIME}"))
            .collect();
        let began = Instant::now();
        let said = site.read(&format!(
            "match {game} {} --deals {deals} --concurrency {cores} --seed 1 --no-records --format json",
            bots.join(" ")
        ));
        let took = began.elapsed().as_secs_f64();
        let events = said
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let games: Vec<Value> = events
            .filter(|event: &Value| event["type"] == "game")
            .collect();
        let number = games.len() as f64;
        let plies: u64 = games.iter().filter_map(|game| game["plies"].as_u64()).sum();
        let thought = games
            .iter()
            .filter_map(|game| game["thought_us"].as_array());
        let thought: u64 = thought.flatten().filter_map(Value::as_u64).sum();
        println!(
            "hours    {game}: {bot} with {TIME} a move: {number} games, {:.0} moves and {:.2} s of thinking a \
             game, {:.0} games an hour for each core",
            plies as f64 / number,
            thought as f64 / 1e6 / number,
            3600.0 * number / took / cores as f64
        );
    }
}

/// A tournament that one worker after the other plays, one game at a time: each is there for a while, and
/// then told to end, or killed. How much longer it takes than with one that stays, for each that goes.
pub(crate) fn evictions() {
    let stays = play("stays", None);
    println!(
        "evictions {LOST_OF} games of {:.2} s each, one at a time",
        stays.took / LOST_OF as f64
    );
    for (name, signal) in [
        ("told to end", Signal::SIGTERM),
        ("killed", Signal::SIGKILL),
    ] {
        let goes = play(name, Some(signal));
        println!(
            "evictions {} workers, each {name} after {} s: {:.2} s lost with each",
            goes.gone,
            THERE.as_secs(),
            (goes.took - stays.took) / goes.gone.max(1) as f64
        );
    }
}

struct Run {
    /// Seconds from the first worker's start to the end of the last game.
    took: f64,
    /// How many workers went.
    gone: u32,
}

fn play(name: &str, leaves: Option<Signal>) -> Run {
    let site = Site::new(None);
    let file = format!(
        "game = \"connect-four\"\nshape = \"round-robin\"\ndeals = {}\n\
         [[bots]]\nname = \"a\"\nbot = \"house:zugzwang?time={TIME}\"\n\
         [[bots]]\nname = \"b\"\nbot = \"house:zugzwang?time={TIME}\"\n",
        LOST_OF / 2
    );
    fs::write(site.path("cup.toml"), file).expect("a file");
    site.run("tournament submit cup.toml --name cup --seed 1");
    let arena = site.serve(NO_GAMES);
    let worker = |number: u32| {
        let url = arena.url();
        // A name that a worker had is free when the arena knows that it is gone: another node has its own.
        let line =
            format!("worker --arena {url} --name w{number} --concurrency 1 --tournament cup");
        site.run_for(&line, leaves.map(|signal| (THERE, signal)))
    };
    let began = Instant::now();
    let mut gone = 0;
    // Without a signal the first one stays until all is played, as it does with the last one.
    while !worker(gone) {
        gone += 1;
    }
    let took = began.elapsed().as_secs_f64();
    arena.stop();
    let status = site.read("tournament status cup --format json");
    assert!(status.contains("\"over\""), "{name}: {status}");
    Run { took, gone }
}
