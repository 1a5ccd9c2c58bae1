//! Cost of games played by workers elsewhere: a real arena and real workers over loopback.
//!
//! - `cost`: a tournament that a worker plays over gRPC beside the same one in one process, in
//!   CPU of all processes.
//! - `rates`: leases and results a second that one arena takes from workers that don't play
//!   (their games are known beforehand), on SQLite, and on PostgreSQL where
//!   `ARENA_TEST_POSTGRES` names an empty database.
//! - `memory`: what a worker costs that has joined and waits.
//! - `hours`: games an hour for each core, with the strongest built-in bot of every game.
//! - `evictions`: what is lost with a worker that goes.
//!
//! Without a name all are run.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a program")]

#[path = "workers/capacity.rs"]
mod capacity;
#[path = "workers/idle.rs"]
mod idle;
#[path = "workers/known.rs"]
mod known;
#[path = "workers/rates.rs"]
mod rates;
#[path = "common/site.rs"]
#[expect(dead_code, reason = "other benchmarks use the rest of it")]
mod site;
#[path = "common/usage.rs"]
mod usage;

use std::time::Duration;

use self::{site::Site, usage::children};

/// Number of games of each run of `cost`.
const GAMES: u64 = 20_000;
/// Number of times that each is run; the one with the least CPU counts.
const TURNS: usize = 3;
const AT_ONCE: [u64; 2] = [2, 128];
/// An arena that plays nothing itself.
const NO_GAMES: &str = "--concurrency 0";

fn main() {
    site::allow_many_files();
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let runs = |name: &str| wanted.iter().any(|word| word == name);
    let parts: [(&str, fn()); 5] = [
        ("cost", || AT_ONCE.into_iter().for_each(cost)),
        ("rates", rates::measure),
        ("memory", idle::measure),
        ("hours", capacity::hours),
        ("evictions", capacity::evictions),
    ];
    let all = !parts.iter().any(|(name, _)| runs(name));
    for (_, measure) in parts.iter().filter(|(name, _)| all || runs(name)) {
        measure();
    }
}

/// The same tournament in one process, and by a worker over gRPC.
fn cost(at_once: u64) {
    let mut site = Site::new(None);
    site.file("cup", "connect-four", GAMES);
    let mut least = [Duration::MAX; 2];
    // In turns, so that what else the machine does is the same for both.
    for turn in 0..TURNS {
        let before = children();
        site.run(&format!(
            "tournament run cup.toml --name here-{turn} --seed 1 --concurrency {at_once}"
        ));
        least[0] = least[0].min(children() - before);

        site.run(&format!(
            "tournament submit cup.toml --name far-{turn} --seed 1"
        ));
        let before = children();
        let arena = site.serve(NO_GAMES);
        let url = arena.url();
        site.run(&format!(
            "worker --arena {url} --name w --concurrency {at_once} --tournament far-{turn}"
        ));
        arena.stop();
        least[1] = least[1].min(children() - before);
    }
    let each = |cpu: Duration| cpu.as_secs_f64() * 1e6 / GAMES as f64;
    println!(
        "cost     {at_once} games at once: {:.0} us of CPU a game in one process, {:.0} with a \
         worker over gRPC ({:.2} x), all processes",
        each(least[0]),
        each(least[1]),
        each(least[1]) / each(least[0])
    );
}
