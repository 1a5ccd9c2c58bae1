//! Measures what threads are worth: the time to the same depth with one thread and with more, over
//! positions from games of the engine itself. The two runs of a position follow one another, each from an
//! empty table, so that other work on the machine disturbs both.

#![allow(clippy::print_stdout, reason = "a program")]

mod shared;

use std::{num::NonZeroUsize, time::Instant};

use clap::Parser;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use zugzwang::{ConnectFourEngine, ConnectFourEngineOptions, ConnectFourPosition, Limit};

/// Measures what threads are worth.
#[derive(Parser)]
struct Arguments {
    /// How many threads are compared with one
    #[arg(long, default_value = "2")]
    threads: NonZeroUsize,
    /// How deep to search, in plies
    #[arg(long, default_value_t = 18)]
    depth: u8,
    /// How many positions that take at least 10,000 positions of search
    #[arg(long, default_value_t = 40)]
    positions: u32,
    /// What positions are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The most stones of a position, and the work for each of them.
const STONES: u32 = 30;
const PLAY: u64 = 300;
/// A search of fewer positions says nothing of threads.
const LEAST: u64 = 10_000;

fn main() {
    let arguments = Arguments::parse();
    let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
    let (mut seconds, mut nodes) = ([0.0; 2], [0; 2]);
    let mut ratios: Vec<f64> = Vec::new();
    while ratios.len() < arguments.positions as usize {
        let Some(position) = position(&mut rng) else {
            continue;
        };
        let searched = [NonZeroUsize::MIN, arguments.threads].map(|threads| {
            let mut engine = engine(threads);
            let begin = Instant::now();
            let answer = engine.search(&position, &Limit::depth(arguments.depth));
            let answer = answer.expect("the game goes on");
            (begin.elapsed().as_secs_f64(), answer.nodes)
        });
        if searched[0].1 < LEAST {
            continue;
        }
        for (at, (time, looked_at)) in searched.into_iter().enumerate() {
            seconds[at] += time;
            nodes[at] += looked_at;
        }
        ratios.push((searched[0].0 / searched[1].0).ln());
    }
    for (threads, (seconds, nodes)) in [1, arguments.threads.get()]
        .iter()
        .zip(seconds.iter().zip(nodes))
    {
        let speed = nodes as f64 / seconds / 1e6;
        println!("{threads} threads: {seconds:.2} s, {speed:.1} million positions/s");
    }
    let count = ratios.len() as f64;
    let mean = ratios.iter().sum::<f64>() / count;
    let squares: f64 = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum();
    let error = 1.96 * (squares / (count - 1.0) / count).sqrt();
    println!(
        "{} threads are {:.2} times as fast, with 95 % between {:.2} and {:.2} (geometric mean of {count} positions)",
        arguments.threads,
        mean.exp(),
        (mean - error).exp(),
        (mean + error).exp(),
    );
}

fn engine(threads: NonZeroUsize) -> ConnectFourEngine {
    ConnectFourEngine::new(ConnectFourEngineOptions {
        threads,
        ..ConnectFourEngineOptions::default()
    })
}

/// A position of a game in which every fourth stone is random; none if the game ends before.
fn position(rng: &mut ChaCha8Rng) -> Option<ConnectFourPosition> {
    let (mut position, columns) = shared::random_board(rng)?;
    let mut engine = engine(NonZeroUsize::MIN);
    for _ in 0..rng.random_range(0..STONES) {
        let answer = engine.search(&position, &Limit::nodes(PLAY)).ok()?;
        let column = if rng.random_range(0..4) == 0 {
            rng.random_range(0..columns)
        } else {
            answer.column
        };
        position.play(column).ok()?;
    }
    (!position.is_won()).then_some(position)
}
