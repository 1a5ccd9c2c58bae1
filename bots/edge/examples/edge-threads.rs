//! Measures what threads are worth: the time to the same depth, or to the exact result, with one
//! thread and with more, over positions from games of the engine itself. The runs of a position
//! follow one another, each from an empty table, so that other work on the machine disturbs both.

#![allow(clippy::print_stdout, reason = "a program")]

mod shared;

use std::{num::NonZeroUsize, time::Instant};

use anyhow::Result;
use clap::Parser;
use edge::{Discs, OthelloEngine, OthelloEngineOptions, SearchLimit};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

/// Measures what threads are worth.
#[derive(Parser)]
struct Arguments {
    /// How many threads are compared with one
    #[arg(long, default_value = "2")]
    threads: NonZeroUsize,
    /// How deep to search, in plies
    #[arg(long, default_value_t = 16)]
    depth: u32,
    /// How many empty squares the positions have; with no more than the depth they are solved
    #[arg(long, default_value_t = 40)]
    empties: u32,
    /// How many positions
    #[arg(long, default_value_t = 20)]
    positions: u32,
    /// What positions are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The plies of a game that are random, and the depth of the others.
const RANDOM_PLIES: u32 = 8;
const PLAY: u32 = 4;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let engine = |threads| {
        OthelloEngine::new(OthelloEngineOptions {
            threads,
            ..OthelloEngineOptions::default()
        })
    };
    let mut engines = [engine(NonZeroUsize::MIN)?, engine(arguments.threads)?];
    let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
    let mut seconds = [0.0; 2];
    let mut nodes = [0; 2];
    let mut ratios = Vec::new();
    for _ in 0..arguments.positions {
        let board = position(&mut rng, &mut engines[0], arguments.empties);
        let mut times = [0.0; 2];
        for (at, engine) in engines.iter_mut().enumerate() {
            engine.clear();
            let begin = Instant::now();
            nodes[at] += engine
                .search(board, SearchLimit::depth(arguments.depth))
                .nodes;
            times[at] = begin.elapsed().as_secs_f64();
            seconds[at] += times[at];
        }
        ratios.push((times[0] / times[1]).ln());
    }
    println!("| threads | seconds | nodes | million nodes/s |");
    println!("| ---: | ---: | ---: | ---: |");
    for (threads, (seconds, nodes)) in [1, arguments.threads.get()]
        .iter()
        .zip(seconds.iter().zip(nodes))
    {
        let speed = nodes as f64 / seconds / 1e6;
        println!("| {threads} | {seconds:.3} | {nodes} | {speed:.1} |");
    }
    let count = ratios.len();
    let (mean, error) = shared::mean_and_error(&ratios);
    println!(
        "{} threads are {:.2} times as fast, with 95 % between {:.2} and {:.2} (geometric mean of {count} positions)",
        arguments.threads,
        mean.exp(),
        (mean - error).exp(),
        (mean + error).exp(),
    );
    Ok(())
}

/// A position with so many empty squares in which the side to move has a move.
fn position(rng: &mut ChaCha8Rng, engine: &mut OthelloEngine, empties: u32) -> Discs {
    loop {
        let mut board = shared::random_opening(rng, RANDOM_PLIES);
        while board.empties() > empties && !board.is_over() {
            board = match engine.search(board, SearchLimit::depth(PLAY)).square {
                Some(square) => board.play(square).expect("the engine plays legal moves"),
                None => board.pass(),
            };
        }
        if board.moves() != 0 {
            return board;
        }
    }
}
