//! Tournaments that are stopped at any moment, in any way, and go on: the table
//! at the end is the one of a tournament that nobody has stopped.

use std::{
    process::Child,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde_json::Value;

use crate::vocabulary::*;

/// The tournaments that are played, and their number of bots: `random` alone, since it does the
/// same again when it is given the same seed.
const SHAPES: &[(&str, &str, &str, usize)] = &[
    ("round-robin", "connect-four", "deals = 6", 4),
    ("gauntlet", "othello", "deals = 4\nchallengers = 2", 5),
    ("swiss", "mahjong", "deals = 3\nrounds = 3", 6),
    ("swiss", "big-two", "deals = 1\nrounds = 3", 7),
    (
        "single-elimination",
        "connect-four",
        "deals = 3\nthird_place = true",
        6,
    ),
    ("double-elimination", "othello", "deals = 2", 5),
    ("single-elimination", "big-two", "deals = 2", 9),
    ("ladder", "mahjong", "deals = 2\nrounds = 6", 5),
    ("ladder", "connect-four", "deals = 3\nrounds = 8", 5),
    (
        "round-robin",
        "connect-four",
        "deals = 40\nstop.sprt = { elo0 = 0, elo1 = 100 }",
        3,
    ),
];

/// A tournament of this shape, and what is on its table if nobody stops it.
struct Whole {
    arena: Arena,
    seed: String,
    table: Value,
    took: Duration,
}

impl Whole {
    fn play(shape: &(&str, &str, &str, usize), seed: &str) -> Self {
        let (shape, game, more, bots) = shape;
        let arena = Arena::new();
        let mut file = format!("game = \"{game}\"\nshape = \"{shape}\"\n{more}\n");
        for bot in 0..*bots {
            file += &format!("[[bots]]\nname = \"bot{bot}\"\nbot = \"house:random\"\n");
        }
        std::fs::write(arena.path("cup.toml"), file).unwrap();
        let began = Instant::now();
        done(&arena.run(&format!(
            "tournament run cup.toml --name whole --seed {seed}"
        )));
        let took = began.elapsed();
        let table = table(&arena, "whole");
        assert_eq!(table["state"], "over");
        Self {
            arena,
            seed: seed.to_owned(),
            table,
            took,
        }
    }

    /// Plays the same again as another tournament, sends the signal after so
    /// long, and goes on until it is over.
    fn stopped(&self, name: &str, signal: Signal, after: Duration) {
        let Self { arena, seed, .. } = self;
        let run = format!("tournament run cup.toml --name {name} --seed {seed}");
        let mut running = arena.start(&run);
        std::thread::sleep(after);
        let _ = kill(Pid::from_raw(running.id() as i32), signal);
        let stopped = waited(&mut running, signal);
        if arena
            .run(&format!("tournament status {name}"))
            .status
            .success()
        {
            done(&arena.run(&format!("tournament resume {name}")));
        } else {
            // It was stopped before it had begun.
            assert!(!stopped, "{name}");
            done(&arena.run(&run));
        }
        assert_eq!(table(arena, name), self.table, "{name}");
        done(&arena.run(&format!("tournament verify {name}")));
    }
}

/// True if it went on to its end all the same.
fn waited(running: &mut Child, signal: Signal) -> bool {
    let began = Instant::now();
    let status = running.wait().unwrap();
    // What was running is a few moves; the grace is 10 s, and far more would be a
    // hang.
    assert!(began.elapsed() < Duration::from_secs(40), "after {signal}");
    status.success()
}

/// The table without what differs between two tournaments of the same root: the
/// name, and what was begun in vain when it was stopped.
fn table(arena: &Arena, name: &str) -> Value {
    let status = done(&arena.run(&format!("tournament status {name} --format json")));
    let mut table = of_type(&events(&status), "standings")[0].clone();
    table["tournament"] = Value::Null;
    for count in [
        "excluded_groups",
        "half_groups",
        "half_games",
        "stored_games",
        "distinct_games",
    ] {
        table["counts"][count] = Value::Null;
    }
    if let Some(warnings) = table["warnings"].as_array_mut() {
        warnings.retain(|warning| warning["kind"] != "half_played");
    }
    table
}

/// Stops each shape so many times, with these seeds.
fn stops(shapes: &[(&str, &str, &str, usize)], times: u32, seed: u64) {
    println!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed);
    for (number, shape) in shapes.iter().enumerate() {
        let whole = Whole::play(shape, &format!("{seed}-{number}"));
        for time in 0..times {
            let signals = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGKILL];
            let signal = signals[random.random_range(0..signals.len())];
            let after = whole.took.mul_f64(random.random_range(0.0..1.0));
            println!("{} {}: {signal} after {after:?}", shape.0, shape.1);
            whole.stopped(&format!("stopped-{time}"), signal, after);
        }
    }
}

#[test]
fn a_tournament_that_is_stopped_goes_on_to_the_same_table() {
    stops(SHAPES, 1, 1);
}

/// `cargo xtask soak` runs it: 20 stops of each shape, or as many as
/// ARENA_SOAK_STOPS says, with the seed ARENA_SOAK_SEED.
#[test]
#[ignore = "it takes minutes: cargo xtask soak"]
fn soak_every_shape_is_stopped_many_times() {
    let number = |name: &str, standard: u64| {
        std::env::var(name).map_or(standard, |text| text.parse().expect(name))
    };
    let times = number("ARENA_SOAK_STOPS", 20) as u32;
    stops(SHAPES, times, number("ARENA_SOAK_SEED", 4));
}
